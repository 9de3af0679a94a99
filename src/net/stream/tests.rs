//! Streams between real sockets on this machine: what arrives, what is bounded, and how each failure is told.

use super::*;
use crate::net::datagrams::RECEIVE_BYTES;
use std::net::{TcpListener as StdListener, TcpStream as StdStream};
use std::path::PathBuf;

/// No test takes this long: it only ends one that hangs.
const PATIENCE: u32 = 20_000;

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/net/certs").join(name)
}

/// One side, whose clock is the test's.
struct Side {
    streams: Streams,
    poll: Poll,
    events: Events,
    now: Duration,
    inbox: VecDeque<(SocketAddr, Vec<u8>)>,
}

impl Side {
    fn new() -> Self {
        let poll = Poll::new().unwrap();
        Self {
            streams: Streams::new(&poll).unwrap(),
            poll,
            events: Events::with_capacity(64),
            now: Duration::ZERO,
            inbox: VecDeque::new(),
        }
    }

    fn client(name: &str) -> Self {
        let mut side = Self::new();
        side.streams.trust(Trust::new(name, Some(&file("authority.pem"))).unwrap());
        side
    }

    /// A listener with this certificate, and the address of streams to it.
    fn server(certificate: &str, max_streams: usize) -> (Self, SocketAddr) {
        let mut side = Self::new();
        let any = "127.0.0.1:0".parse().unwrap();
        let at = side.streams.listen(any, &file(certificate), &file("server.key"), max_streams).unwrap();
        (side, stream_addr(at))
    }

    fn send(&mut self, to: SocketAddr, datagram: &[u8]) {
        self.streams.send(self.now, to, datagram);
    }

    /// Everything that is there now, as datagrams.
    fn receive(&mut self) -> Vec<(SocketAddr, Vec<u8>)> {
        let (mut found, mut buf) = (Vec::new(), [0; RECEIVE_BYTES]);
        for _ in 0..256 {
            match self.streams.receive(self.now, &mut self.poll, &mut self.events, &mut buf) {
                Received::Datagram(from, len) => found.push((from, buf[..len].to_vec())),
                Received::Nothing => {}
                Received::Empty => break,
            }
        }
        found
    }

    /// Receives until something comes, with another side that is run meanwhile.
    fn next(&mut self, mut other: impl FnMut()) -> (SocketAddr, Vec<u8>) {
        for _ in 0..PATIENCE {
            other();
            let found = self.receive();
            self.inbox.extend(found);
            if let Some(found) = self.inbox.pop_front() {
                return found;
            }
            std::thread::sleep(Duration::from_micros(100));
        }
        panic!("nothing came");
    }

    fn notice(&mut self, other: impl FnMut()) -> Notice {
        let (_, datagram) = self.next(other);
        Notice::read(&datagram).unwrap_or_else(|| panic!("{datagram:?} is no notice"))
    }

    fn open(&self) -> usize {
        self.streams.places.len()
    }
}

/// A client with an open stream to a server.
fn connected() -> (Side, Side, SocketAddr) {
    let (mut server, to) = Side::server("server.pem", 100);
    let mut client = Side::client("play.test");
    client.send(to, &[0xE9]);
    assert_eq!(client.notice(|| assert!(server.receive().is_empty())), Notice::Opened);
    (client, server, to)
}

#[test]
fn datagrams_go_both_ways() {
    let (mut client, mut server, to) = connected();
    for len in [2, 122, 1_264, 2_046] {
        client.send(to, &vec![0xE9; len]);
        let (from, datagram) = server.next(|| assert!(client.receive().is_empty()));
        assert_eq!(datagram, vec![0xE9; len]);
        assert!(crate::protocol::stream_addr::is_stream(from));
        server.send(from, &datagram[..len.min(85)]);
        assert_eq!(client.next(|| assert!(server.receive().is_empty())), (to, vec![0xE9; len.min(85)]));
    }
    assert_eq!((client.streams.dropped(), server.streams.dropped()), (0, 0));
}

#[test]
fn first_datagrams_wait_for_the_handshake() {
    let (mut server, to) = Side::server("server.pem", 100);
    let mut client = Side::client("127.0.0.1");
    client.send(to, b"\xE9first");
    client.send(to, b"\xE9second");
    let (_, first) = server.next(|| client.receive().clear());
    let (_, second) = server.next(|| client.receive().clear());
    assert_eq!((&first[..], &second[..]), (&b"\xE9first"[..], &b"\xE9second"[..]));
}

#[test]
fn certificate_that_cannot_be_trusted_is_told() {
    for (certificate, name, why) in [
        ("other.pem", "play.test", Notice::WrongName),
        ("server.pem", "127.0.0.2", Notice::WrongName),
        ("expired.pem", "play.test", Notice::Expired),
    ] {
        let (mut server, to) = Side::server(certificate, 100);
        let mut client = Side::client(name);
        client.send(to, b"\xE9secret");
        let told = client.notice(|| assert!(server.receive().is_empty(), "nothing is sent to it"));
        assert_eq!(told, why, "{certificate} for {name}");
    }
    let (mut server, to) = Side::server("server.pem", 100);
    let mut client = Side::new();
    client.streams.trust(Trust::new("play.test", None).unwrap());
    client.send(to, b"\xE9secret");
    assert_eq!(client.notice(|| assert!(server.receive().is_empty())), Notice::UnknownIssuer);
}

#[test]
fn other_servers_at_the_port_are_told_apart() {
    let plain = StdListener::bind("127.0.0.1:0").unwrap();
    let to = stream_addr(plain.local_addr().unwrap());
    let mut client = Side::client("play.test");
    client.send(to, &[0xE9]);
    let mut accepted = None;
    let told = client.notice(|| {
        accepted.get_or_insert_with(|| {
            let (mut tcp, _) = plain.accept().unwrap();
            io::Write::write_all(&mut tcp, b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
            tcp
        });
    });
    assert_eq!(told, Notice::NoTls);
    drop((plain, accepted));
    client.now = Duration::from_secs(100);
    client.send(to, &[0xE9]);
    assert_eq!(client.notice(|| {}), Notice::Unreachable, "nobody listens");
}

#[test]
fn server_that_says_nothing_is_given_up() {
    let plain = StdListener::bind("127.0.0.1:0").unwrap();
    let mut client = Side::client("play.test");
    client.send(stream_addr(plain.local_addr().unwrap()), &[0xE9]);
    let _silent = plain.accept().unwrap();
    client.now = CONNECT_TIMEOUT - Duration::from_millis(1);
    assert!(client.receive().is_empty());
    client.now = CONNECT_TIMEOUT + SWEEP;
    assert_eq!(client.notice(|| {}), Notice::NoTls);
    assert_eq!(client.open(), 0);
}

#[test]
fn failed_streams_are_tried_again_at_doubling_intervals() {
    let plain = StdListener::bind("127.0.0.1:0").unwrap();
    let to = stream_addr(plain.local_addr().unwrap());
    drop(plain);
    let (mut client, mut tried) = (Side::client("play.test"), Vec::new());
    for ms in (0..40_000).step_by(100) {
        client.now = Duration::from_millis(ms);
        let before = client.streams.dropped();
        client.send(to, &[0xE9]);
        if client.streams.dropped() == before {
            tried.push(ms);
            assert_eq!(client.notice(|| {}), Notice::Unreachable);
        }
    }
    assert_eq!(tried, [0, 500, 1_500, 3_500, 7_500, 15_500, 31_500]);
}

#[test]
fn peer_that_does_not_read_costs_a_bounded_buffer() {
    let (mut client, server, to) = connected();
    let mut sent = 0;
    while client.streams.dropped() == 0 {
        client.send(to, &[0xE9; 1_200]);
        sent += 1;
        assert!(sent < 100_000, "all of it was taken");
    }
    let slot = client.streams.slots[0].as_ref().unwrap();
    assert!(slot.session.waiting() <= session::MAX_WAITING);
    (0..1_000).for_each(|_| client.send(to, &[0xE9; 1_200]));
    let slot = client.streams.slots[0].as_ref().unwrap();
    assert!(slot.session.waiting() <= session::MAX_WAITING, "{}", slot.session.waiting());
    assert_eq!(slot.session.stuck_since(), Some(Duration::ZERO));
    client.now = STUCK_TIMEOUT + SWEEP;
    assert_eq!(client.notice(|| {}), Notice::Closed, "the network is gone");
    drop(server);
}

#[test]
fn endless_bytes_without_a_frame_end_the_stream() {
    let (mut client, mut server, to) = connected();
    client.send(to, &[0xE9; 60]);
    let (from, _) = server.next(|| {});
    // A frame of 65,535 bytes, begun by hand.
    let at = server.streams.places[&from];
    server.streams.slots[at].as_mut().unwrap().session.send_raw(&[0xFF; 100]);
    assert_eq!(client.notice(|| {}), Notice::Malformed);
    assert_eq!(client.open(), 0);
}

#[test]
fn half_a_frame_is_kept_until_the_rest_comes() {
    let (mut client, mut server, to) = connected();
    client.send(to, &[0xE9; 60]);
    let (from, _) = server.next(|| {});
    let at = server.streams.places[&from];
    let mut raw = |bytes: &[u8]| server.streams.slots[at].as_mut().unwrap().session.send_raw(bytes);
    raw(&[0, 5, 1, 2]);
    for _ in 0..50 {
        assert!(client.receive().is_empty());
        std::thread::sleep(Duration::from_micros(100));
    }
    raw(&[3, 4, 5, 0]);
    assert_eq!(client.next(|| {}).1, [1, 2, 3, 4, 5]);
}

#[test]
fn streams_of_a_listener_are_bounded() {
    for (max_streams, open) in [(3, 3), (100, MAX_PER_SOURCE)] {
        let (mut server, to) = Side::server("server.pem", max_streams);
        let tcp = tcp_addr(to).unwrap();
        let _held: Vec<StdStream> = (0..20).map(|_| StdStream::connect(tcp).unwrap()).collect();
        for _ in 0..50 {
            server.receive();
        }
        assert_eq!(server.open(), open);
        server.now = ACCEPT_TIMEOUT + SWEEP;
        server.receive();
        assert_eq!(server.open(), 0, "none has finished its handshake");
    }
}

#[test]
fn client_that_sends_no_datagram_is_closed() {
    let (mut client, mut server, to) = connected();
    client.send(to, &[0xE9; 60]);
    server.next(|| {});
    // Half of a frame each time is not a datagram.
    for secs in [20, 40, 59] {
        server.now = Duration::from_secs(secs);
        client.streams.slots[0].as_mut().unwrap().session.send_raw(&[2, 0, 7]);
        assert!(server.receive().is_empty());
        assert_eq!(server.open(), 1);
    }
    server.now = IDLE_TIMEOUT + SWEEP;
    server.receive();
    assert_eq!(server.open(), 0);
    assert_eq!(client.notice(|| {}), Notice::Closed);
}

#[test]
fn client_has_few_streams_and_trusts_nobody_by_itself() {
    let plain = StdListener::bind("127.0.0.1:0").unwrap();
    let to = stream_addr(plain.local_addr().unwrap());
    let mut stranger = Side::new();
    stranger.send(to, &[0xE9; 60]);
    assert_eq!((stranger.open(), stranger.streams.dropped()), (0, 1), "it has no name to ask for");
    let listeners: Vec<_> = (0..10).map(|_| StdListener::bind("127.0.0.1:0").unwrap()).collect();
    let mut client = Side::client("play.test");
    for listener in &listeners {
        client.send(stream_addr(listener.local_addr().unwrap()), &[0xE9; 60]);
    }
    assert_eq!((client.open(), client.streams.dropped()), (MAX_OPENED, 6));
    client.streams.reset();
    assert_eq!(client.open(), 0);
    client.send(stream_addr(listeners[0].local_addr().unwrap()), &[0xE9; 60]);
    assert_eq!(client.open(), 1, "another network may do better, at once");
}

#[test]
fn files_that_cannot_be_used_are_named() {
    let words = |result: io::Result<SocketAddr>| result.unwrap_err().to_string();
    let any = "127.0.0.1:0".parse().unwrap();
    let mut side = Side::new();
    let missing = words(side.streams.listen(any, &file("none.pem"), &file("server.key"), 1));
    assert!(missing.contains("none.pem"), "{missing}");
    let no_key = words(side.streams.listen(any, &file("server.pem"), &file("authority.pem"), 1));
    assert!(no_key.contains("authority.pem"), "{no_key}");
    let other = words(side.streams.listen(any, &file("authority.pem"), &file("server.key"), 1));
    assert!(other.contains("authority.pem"), "{other}");
    let roots = Trust::new("play.test", Some(&file("server.key"))).unwrap_err().to_string();
    assert!(roots.contains("server.key: it has no certificate"), "{roots}");
    assert!(Trust::new("no name", None).is_err());
}
