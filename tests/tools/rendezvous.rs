//! The rendezvous as a program: a host and a joiner over UDP, the counters at the end, and words for bad arguments.

use crate::program::program;
use rebout::Randomness;
use rebout::lab::rendezvous::{JoinRequest, Registration, RendezvousEvent};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::process::Command;
use std::time::{Duration, Instant};
use support::program::Running;

/// A server on a free port, and its address.
fn start(args: &[&str]) -> (Running, SocketAddr) {
    let mut command = Command::new(program("rendezvous"));
    command.args(["--bind", "127.0.0.1:0"]).args(args).env("REBOUT_TURN_SECRET", "north");
    let mut server = Running::start(&mut command);
    let line = server.line();
    let addr = line.split(['"', ' ', ',']).find_map(|word| word.parse().ok());
    (server, addr.expect("an address"))
}

/// Asks a server to end, and returns everything that it has said since the first line.
fn stop(server: Running) -> String {
    server.ask_to_end();
    let (said, code, error) = server.end();
    assert_eq!((code, &*error), (Some(0), ""));
    said
}

fn socket() -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
    socket.set_read_timeout(Some(Duration::from_millis(5))).expect("a timeout");
    socket
}

/// Lets a host and a joiner meet, and returns the address of the host that the server saw, and the TURN user of the joiner.
fn meet(server: SocketAddr) -> (SocketAddr, String) {
    let (host_socket, joiner_socket) = (socket(), socket());
    let mut host = Registration::new(server, &[7; 32], Randomness::System).unwrap();
    let mut joiner = JoinRequest::new(server, host.room(), Randomness::System).unwrap();
    host.set_ticket(42);
    let (mut seen, mut user) = (None, None);
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
            Some(RendezvousEvent::Registered { observed, .. }) => seen = Some(observed),
            Some(RendezvousEvent::Delivered { guest, signal: found }) => {
                assert_eq!(found, init);
                assert!(host.answer(guest, &resp));
            }
            _ => {}
        }
        if let Some(observed) = seen {
            assert_eq!(observed, host_socket.local_addr().unwrap());
            while let Some((to, len)) = joiner.poll_transmit(now, &mut buf) {
                joiner_socket.send_to(&buf[..len], to).expect("sent");
            }
            while let Ok((len, from)) = joiner_socket.recv_from(&mut buf) {
                joiner.handle_datagram(now, from, &buf[..len]);
            }
            match joiner.poll_event() {
                Some(RendezvousEvent::Ticket { ticket, credentials, .. }) => {
                    assert_eq!(ticket, 42);
                    user = credentials.map(|credentials| credentials.user);
                    assert!(joiner.post(&init));
                }
                Some(RendezvousEvent::Answered { signal: found }) => {
                    assert_eq!(found, resp);
                    return (observed, user.unwrap_or_default());
                }
                _ => {}
            }
        }
    }
}

#[test]
fn host_and_a_joiner_meet_and_nobody_records_it() {
    let unix = || std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs();
    let begun = unix();
    let (server, addr) = start(&["--turn", "192.0.2.9:3478"]);
    let (host, user) = meet(addr);
    let expiry: u64 = user.split(':').next().and_then(|expiry| expiry.parse().ok()).expect("an expiry");
    assert!((begun + 600..=unix() + 600).contains(&expiry), "{expiry} is ten minutes after {begun}");
    let said = stop(server);
    assert!(said.starts_with("rooms: 1 opened, 1 open; 1 asked for a ticket; 1 INITs delivered"), "{said}");
    assert!(!said.contains(&host.to_string()) && !said.contains("met"), "{said}");
}

#[test]
fn meetings_and_counters_are_json_if_they_are_asked_for() {
    let (server, addr) = start(&["--json", "--log-meetings"]);
    let (host, user) = meet(addr);
    assert_eq!(user, "", "there is no TURN server");
    let said = stop(server);
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[0].starts_with(&format!("{{\"event\":\"met\",\"host\":\"{host}\",\"guest\":\"127.0.0.1:")));
    let closed = lines.last().expect("the counters");
    assert!(
        closed.starts_with("{\"event\":\"closed\",\"rooms\":1,\"guests\":1,\"rooms_opened\":1,"),
        "{closed}"
    );
}

/// Sends `request` to the page of counters, and returns the whole answer.
fn ask(page: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(page).expect("a page");
    stream.write_all(request.as_bytes()).expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer
}

#[test]
fn counters_are_served_to_prometheus() {
    let (mut server, addr) = start(&["--metrics", "127.0.0.1:0"]);
    let line = server.line();
    let page = line.split('/').find_map(|part| part.parse().ok()).expect("the address of the page");
    // The first reader says nothing, and the page goes on with the next one once its time is over.
    let _silent = TcpStream::connect(page).expect("a page");
    meet(addr);
    let answer = ask(page, "GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    assert!(head.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\n"), "{head}");
    assert!(head.contains(&format!("Content-Length: {}", body.len())), "{head}");
    for line in [
        "# TYPE rebout_rendezvous_rooms gauge",
        "rebout_rendezvous_rooms 1",
        "# TYPE rebout_rendezvous_signatures_total counter",
        "rebout_rendezvous_signatures_total 1",
        "rebout_rendezvous_grants_total 2",
        "rebout_rendezvous_refused_total{reason=\"busy\"} 0",
    ] {
        assert!(body.lines().any(|found| found == line), "no {line} in\n{body}");
    }
    let page_words = include_str!("../../docs/NAT.md").split(|c: char| !(c.is_ascii_lowercase() || c == '_'));
    let named: Vec<&str> = page_words.filter(|word| word.starts_with("rebout_rendezvous_")).collect();
    assert!(named.len() >= 7, "{named:?}");
    for name in named {
        assert!(body.contains(&format!("# TYPE {name} ")), "NAT.md names {name}, which is not served");
    }
    // Each line is a comment or a name with a number.
    for line in body.lines().filter(|line| !line.starts_with("# ")) {
        let (name, value) = line.split_once(' ').expect("a name and a value");
        assert!(name.starts_with("rebout_rendezvous_") && value.parse::<u64>().is_ok(), "{line}");
    }
    assert!(ask(page, "GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
    assert!(ask(page, "POST /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 400 "));
    stop(server);
}

#[test]
fn bad_arguments_are_explained() {
    let said = |args: &[&str]| {
        let run = Command::new(program("rendezvous")).args(args).env_remove("REBOUT_TURN_SECRET").output();
        let run = run.expect("the rendezvous runs");
        assert!(!run.status.success());
        String::from_utf8(run.stderr).expect("text")
    };
    assert!(said(&["--turn", "192.0.2.9:3478"]).contains("set REBOUT_TURN_SECRET"));
    assert!(said(&["--turn", "north"]).contains("'north' is not an address with a port"));
    assert!(said(&["--bind", "192.0.2.9:1"]).contains("cannot listen on 192.0.2.9:1"));
    assert!(said(&["--metrics", "192.0.2.9:1"]).contains("cannot serve metrics at 192.0.2.9:1"));
    assert!(said(&["--turn-secret-file", "x"]).contains("--turn <ADDRESS>"));
    let nowhere = said(&["--turn", "192.0.2.9:3478", "--turn-secret-file", "nowhere"]);
    assert!(nowhere.starts_with("rendezvous: cannot read the secret in nowhere: "), "{nowhere}");
}
