//! The rendezvous over WebSocket: a page meets a host over UDP, and hostile clients lose their own socket alone.

use crate::program::program;
use rebout::Randomness;
use rebout::lab::rendezvous::{JoinRequest, Registration, RendezvousEvent};
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::process::Command;
use std::time::{Duration, Instant};
use support::program::Running;
use tungstenite::{Bytes, Error, Message, WebSocket};

/// A server on free ports, and the addresses of its two doors.
fn start(args: &[&str]) -> (Running, SocketAddr, SocketAddr) {
    let mut command = Command::new(program("rendezvous"));
    command.args(["--bind", "127.0.0.1:0", "--web", "127.0.0.1:0"]).args(args);
    let mut server = Running::start(&mut command);
    let mut addr = || {
        let line = server.line().replace("ws://", "");
        line.split(['"', ' ', ',']).find_map(|word| word.parse().ok()).expect("an address")
    };
    let (udp, web) = (addr(), addr());
    (server, udp, web)
}

/// A client whose socket does not block.
fn client(web: SocketAddr) -> WebSocket<TcpStream> {
    let stream = TcpStream::connect(web).expect("connected");
    let (socket, _) = tungstenite::client(format!("ws://{web}/rebout"), stream).expect("a handshake");
    socket.get_ref().set_nonblocking(true).expect("set");
    socket
}

/// Whether the server closes the socket, within a minute.
fn is_closed(socket: &mut WebSocket<TcpStream>) -> bool {
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(60) {
        match socket.read() {
            Err(Error::Io(error)) if error.kind() == ErrorKind::WouldBlock => {
                std::thread::sleep(Duration::from_millis(2));
            }
            Err(_) => return true,
            Ok(_) => {}
        }
    }
    false
}

/// Whether the server ends a connection, within a minute.
fn is_ended(mut stream: &TcpStream) -> bool {
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("set");
    let ended = stream.read_to_end(&mut Vec::new());
    !ended.is_err_and(|error| matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut))
}

/// Lets a host over UDP and a joiner over WebSocket meet. Returns the joiner's address as the server saw it.
fn meet(udp: SocketAddr, web: SocketAddr, secret: u8) -> SocketAddr {
    let host_socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
    host_socket.set_read_timeout(Some(Duration::from_millis(5))).expect("a timeout");
    let mut page = client(web);
    let mut host = Registration::new(udp, &[secret; 32], Randomness::System).unwrap();
    let mut joiner = JoinRequest::new(udp, host.room(), Randomness::System).unwrap();
    host.set_ticket(42);
    let (mut is_open, mut seen) = (false, None);
    let (init, resp) = ([0xE2; 333], [0xE3; 309]);
    let (began, mut buf) = (Instant::now(), [0; 1_200]);
    loop {
        let now = began.elapsed();
        assert!(now < Duration::from_secs(60), "they do not meet");
        while let Some((to, len)) = host.poll_transmit(now, &mut buf) {
            host_socket.send_to(&buf[..len], to).expect("sent");
        }
        while let Ok((len, from)) = host_socket.recv_from(&mut buf) {
            host.handle_datagram(now, from, &buf[..len]);
        }
        match host.poll_event() {
            Some(RendezvousEvent::Registered { .. }) => is_open = true,
            Some(RendezvousEvent::Delivered { guest, signal }) => {
                assert_eq!(signal, init);
                assert!(host.answer(guest, &resp));
            }
            _ => {}
        }
        while is_open && let Some((_, len)) = joiner.poll_transmit(now, &mut buf) {
            page.send(Message::Binary(Bytes::copy_from_slice(&buf[..len]))).expect("sent");
        }
        while let Ok(message) = page.read() {
            let Message::Binary(datagram) = message else { panic!("{message:?}") };
            joiner.handle_datagram(now, udp, &datagram);
        }
        match joiner.poll_event() {
            Some(RendezvousEvent::Ticket { ticket, observed, .. }) => {
                assert_eq!(ticket, 42);
                seen = Some(observed);
                assert!(joiner.post(&init));
            }
            Some(RendezvousEvent::Answered { signal }) => {
                assert_eq!(signal, resp);
                return seen.expect("a ticket before");
            }
            _ => {}
        }
    }
}

/// Waits until the server has noticed that clients are gone.
fn await_place(web: SocketAddr) {
    let began = Instant::now();
    while TcpStream::connect(web)
        .is_ok_and(|stream| tungstenite::client(format!("ws://{web}/"), stream).is_err())
    {
        assert!(began.elapsed() < Duration::from_secs(60), "no place is free again");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn stop(server: Running) -> String {
    server.ask_to_end();
    let (said, code, error) = server.end();
    assert_eq!((code, &*error), (Some(0), ""));
    said
}

#[test]
fn page_over_web_socket_meets_a_host_over_udp() {
    let (server, udp, web) = start(&[]);
    let seen = meet(udp, web, 7);
    // That of a stream at 127.0.0.1, which no datagram of UDP has.
    assert!(seen.ip().to_string().starts_with("a002:7f00:1:"), "{seen}");
    let said = stop(server);
    assert!(said.contains("pages: 1 opened, 0 turned away, 0 broken"), "{said}");
}

/// A STUN Binding request without attributes, as browsers send it.
fn short_stun(id: u8) -> Vec<u8> {
    [&[0, 1, 0, 0, 0x21, 0x12, 0xA4, 0x42][..], &[id; 12]].concat()
}

#[test]
fn short_stun_requests_are_answered_to_sources_of_pages_alone() {
    let (server, udp, web) = start(&[]);
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
    socket.set_read_timeout(Some(Duration::from_millis(50))).expect("a timeout");
    let mut buf = [0; 100];
    // A request that is longer than its answer is answered in any case. The answer to the short one before it would come first.
    let long = [&[0, 1, 0, 28][..], &short_stun(2)[4..], &[0x80, 0x22, 0, 24], &[b' '; 24]].concat();
    let mut ask = |requests: &[&[u8]], wanted: u8| {
        let began = Instant::now();
        while buf[8] != wanted {
            assert!(began.elapsed() < Duration::from_secs(60), "no answer");
            requests.iter().for_each(|request| drop(socket.send_to(request, udp)));
            if let Ok((len, _)) = socket.recv_from(&mut buf) {
                assert_eq!((&buf[..2], len), (&[1, 1][..], 32));
                assert_ne!(buf[8], 1, "the short request of a stranger");
            }
        }
    };
    ask(&[&short_stun(1), &long], 2);
    let page = client(web);
    ask(&[&short_stun(3)], 3);
    drop(page);
    let said = stop(server);
    assert!(said.contains("pages: 1 opened"), "{said}");
}

#[test]
fn hostile_web_sockets_are_closed_and_end_nothing() {
    let (server, udp, web) = start(&[]);
    let binary = |len: usize| Message::Binary(Bytes::from(vec![0xE9; len]));
    for message in [Message::text("hello"), binary(513), binary(1), binary(0), binary(100_000)] {
        let mut socket = client(web);
        let _ = socket.send(message);
        assert!(is_closed(&mut socket));
    }
    // Too many messages in a second, although each is a datagram.
    let mut flood = client(web);
    while flood.send(binary(88)).is_ok() && flood.can_write() {}
    assert!(is_closed(&mut flood));
    // No WebSocket at all, and a request that is too long.
    for request in [&b"GET /metrics HTTP/1.1\r\n\r\n"[..], &[0x16, 3, 1, 2, 0, 1, 0, 1], &[b'a'; 100_000]] {
        let mut stream = TcpStream::connect(web).expect("connected");
        let _ = stream.write_all(request);
        assert!(is_ended(&stream), "{request:?}");
    }
    // Handshakes that say nothing fill the places of one source; those beyond are turned away.
    let silent: Vec<TcpStream> = (0..40).map(|_| TcpStream::connect(web).expect("connected")).collect();
    assert!(is_ended(&silent[39]), "it is turned away");
    // A handshake that never ends is closed.
    assert!(is_ended(&silent[0]));
    drop(silent);
    // The server goes on.
    await_place(web);
    meet(udp, web, 8);
    let said = stop(server);
    let broken: u64 =
        said.split(" broken").next().and_then(|text| text.rsplit(' ').next()?.parse().ok()).unwrap();
    assert!(broken >= 8 && !said.contains(" 0 turned away"), "{said}");
}

#[test]
fn idle_and_surplus_web_sockets_are_closed() {
    let (server, _, web) = start(&["--web-idle", "1", "--max-web", "2"]);
    assert!(is_closed(&mut client(web)), "an idle one");
    let open = [TcpStream::connect(web).expect("connected"), TcpStream::connect(web).expect("connected")];
    let third = TcpStream::connect(web).expect("connected");
    assert!(is_ended(&third));
    drop(open);
    await_place(web);
    let said = stop(server);
    assert!(!said.contains(" 0 turned away"), "{said}");
}
