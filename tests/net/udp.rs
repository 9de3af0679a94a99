//! The driver and the relay on real sockets of this machine.

use rebout::lab::link::{Chance, LinkConfig};
use rebout::lab::relay::Relay;
use rebout::net::Datagrams;
use rebout::net::udp::UdpDriver;
use rebout::{MAX_DATAGRAM, Protocol};
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

/// Far enough that a test which reaches it has failed.
const NEVER: Duration = Duration::from_secs(60);

/// Answers every datagram, sends what it is told to, and keeps what it got.
#[derive(Default)]
struct Echo {
    got: Vec<(Duration, SocketAddr, Vec<u8>)>,
    answers: bool,
    outgoing: Vec<(SocketAddr, Vec<u8>)>,
    /// Wants attention once it has got this many.
    wants: Option<usize>,
    /// Has something to deliver until it has got this many.
    lingers_until: usize,
    timer: Option<Duration>,
    timers_served: usize,
    polled: usize,
}

impl Protocol for Echo {
    fn handle_datagram(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        self.got.push((now, from, datagram.to_vec()));
        if self.answers {
            self.outgoing.push((from, datagram.to_vec()));
        }
    }

    fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        self.polled += 1;
        if self.timer.is_some_and(|at| at <= now) {
            self.timer = None;
            self.timers_served += 1;
        }
        let (to, bytes) = self.outgoing.pop()?;
        buf[..bytes.len()].copy_from_slice(&bytes);
        Some((to, bytes.len()))
    }

    fn poll_timeout(&self) -> Option<Duration> {
        self.timer
    }

    fn wants_attention(&self, _: Duration) -> bool {
        self.wants.is_some_and(|count| self.got.len() >= count)
    }

    fn lingers(&self) -> bool {
        self.got.len() < self.lingers_until
    }
}

fn bind(addr: &str) -> UdpDriver {
    UdpDriver::bind(addr.parse().unwrap()).unwrap()
}

/// A plain socket on the other side.
fn plain(addr: &str) -> UdpSocket {
    let socket = UdpSocket::bind(addr).unwrap();
    socket.set_read_timeout(Some(NEVER)).unwrap();
    socket
}

fn has_ipv6() -> bool {
    UdpSocket::bind("[::1]:0").is_ok()
}

/// Sends a datagram from `from` to `to`, and an answer back; says whom each saw.
fn exchange(one: &mut UdpDriver, two: &mut UdpDriver, to: SocketAddr) -> (SocketAddr, SocketAddr) {
    let mut asks = Echo { outgoing: vec![(to, b"hello".to_vec())], wants: Some(1), ..Echo::default() };
    let mut answers = Echo { answers: true, wants: Some(1), ..Echo::default() };
    one.flush(&mut asks).unwrap();
    two.run_until(&mut answers, two.now() + NEVER).unwrap();
    two.flush(&mut answers).unwrap();
    one.run_until(&mut asks, one.now() + NEVER).unwrap();
    assert_eq!((&asks.got[0].2[..], asks.got.len()), (&b"hello"[..], 1));
    (answers.got[0].1, asks.got[0].1)
}

#[test]
fn datagrams_go_both_ways_over_ipv4() {
    let (mut one, mut two) = (bind("127.0.0.1:0"), bind("127.0.0.1:0"));
    let to = two.local_addr();
    assert_eq!(exchange(&mut one, &mut two, to), (one.local_addr(), two.local_addr()));
    assert_eq!((one.stats().sent, one.stats().sent_bytes), (1, 5));
    assert_eq!((one.stats().received, one.stats().received_bytes), (1, 5));
}

#[test]
fn datagrams_go_both_ways_over_ipv6() {
    if !has_ipv6() {
        return;
    }
    let (mut one, mut two) = (bind("[::1]:0"), bind("[::1]:0"));
    let to = two.local_addr();
    assert_eq!(exchange(&mut one, &mut two, to), (one.local_addr(), two.local_addr()));
    assert!(!one.options().dual_stack);
}

#[test]
fn one_socket_serves_both_families_and_shows_ipv4_as_ipv4() {
    let mut host = bind("[::]:0");
    let port = host.local_addr().port();
    assert_ne!(port, 0);
    let v4 = SocketAddr::from(([127, 0, 0, 1], port));
    let mut joiner = bind("127.0.0.1:0");
    let (joiner_addr, host_addr) = exchange(&mut joiner, &mut host, v4);
    assert_eq!((joiner_addr, host_addr), (joiner.local_addr(), v4));
    assert!(joiner_addr.is_ipv4());

    // The other way round: the dual socket speaks first, to a plain address and to one in IPv6's clothes.
    let to = joiner.local_addr();
    assert_eq!(exchange(&mut host, &mut joiner, to).1, to);
    let mapped = SocketAddr::from(([0, 0, 0, 0, 0, 0xffff, 0x7f00, 1], to.port()));
    assert_eq!(exchange(&mut host, &mut joiner, mapped).1, to);
    assert_eq!(
        exchange(&mut joiner, &mut host, SocketAddr::from(([0, 0, 0, 0, 0, 0xffff, 0x7f00, 1], port))).1,
        v4
    );

    if has_ipv6() {
        assert!(host.options().dual_stack);
        let mut joiner = bind("[::1]:0");
        let v6 = SocketAddr::from(([0, 0, 0, 0, 0, 0, 0, 1], port));
        assert_eq!(exchange(&mut joiner, &mut host, v6), (joiner.local_addr(), v6));
    }
}

#[test]
fn taken_port_is_an_error_and_no_fallback() {
    let first = bind("[::]:0");
    let again = UdpDriver::bind(first.local_addr());
    assert_eq!(again.unwrap_err().kind(), std::io::ErrorKind::AddrInUse);
}

#[test]
fn granted_socket_options_can_be_read() {
    for addr in ["127.0.0.1:0", "[::]:0"] {
        let options = *bind(addr).options();
        assert!(options.receive_buffer_bytes.unwrap() >= 64 * 1024, "{options:?}");
        assert!(options.send_buffer_bytes.unwrap() >= 32 * 1024, "{options:?}");
        if cfg!(target_os = "linux") {
            assert!(options.expedited, "{addr}: {options:?}");
        }
    }
}

#[test]
fn oversize_datagrams_are_cut_and_counted() {
    let mut udp = bind("127.0.0.1:0");
    let sender = plain("127.0.0.1:0");
    for len in [2_049, 60_000, 0, 1, MAX_DATAGRAM, MAX_DATAGRAM + 1, 2_048] {
        sender.send_to(&vec![7; len], udp.local_addr()).unwrap();
    }
    // Windows drops what is longer than the buffer.
    let dropped = if cfg!(windows) { 2 } else { 0 };
    let mut echo = Echo { wants: Some(7 - dropped), ..Echo::default() };
    udp.run_until(&mut echo, NEVER).unwrap();
    let lengths: Vec<_> = echo.got.iter().map(|(_, _, bytes)| bytes.len()).collect();
    assert_eq!(lengths, [2_048, 2_048, 0, 1, 1_200, 1_201, 2_048][dropped..]);
    assert_eq!((udp.stats().received, udp.stats().oversize), (7 - dropped as u64, 4));
}

#[test]
fn failed_sends_are_counted_and_not_fatal() {
    let mut udp = bind("127.0.0.1:0");
    let receiver = plain("127.0.0.1:0");
    let nobody = SocketAddr::from(([127, 0, 0, 1], 9));
    // Last first: the good one goes out after all of the others.
    let outgoing = vec![
        (receiver.local_addr().unwrap(), b"still here".to_vec()),
        (nobody, b"refused".to_vec()),
        (nobody, b"refused".to_vec()),
        ("[2001:db8::1]:9".parse().unwrap(), b"wrong family".to_vec()),
        ("255.255.255.255:9".parse().unwrap(), b"not allowed".to_vec()),
        ("127.0.0.1:0".parse().unwrap(), b"port zero".to_vec()),
    ];
    let mut echo = Echo { outgoing, ..Echo::default() };
    udp.poll(&mut echo).unwrap();
    udp.poll(&mut echo).unwrap();
    let mut buf = [0; 64];
    let (len, _) = receiver.recv_from(&mut buf).unwrap();
    assert_eq!(&buf[..len], b"still here");
    let stats = udp.stats();
    // A system may tell of the refusal (then the datagram went out at the second attempt), or not.
    assert_eq!(stats.sent, 3);
    assert_eq!(stats.unreachable + stats.other_errors, 3, "{stats:?}");
    assert!(stats.unreachable >= 1, "{stats:?}");
}

#[test]
fn run_until_returns_at_its_deadline_and_not_before() {
    let mut udp = bind("127.0.0.1:0");
    let mut echo = Echo::default();
    for micros in [0, 50, 999, 1_000, 1_001, 3_700, 16_667] {
        let deadline = udp.now() + Duration::from_micros(micros);
        udp.run_until(&mut echo, deadline).unwrap();
        assert!(udp.now() >= deadline);
    }
}

#[test]
fn run_until_moves_packets_even_when_it_is_late() {
    let mut udp = bind("127.0.0.1:0");
    let sender = plain("127.0.0.1:0");
    sender.send_to(b"x", udp.local_addr()).unwrap();
    let mut echo = Echo { answers: true, ..Echo::default() };
    udp.run_until(&mut echo, Duration::ZERO).unwrap();
    assert_eq!(sender.recv(&mut [0; 8]).unwrap(), 1);
}

#[test]
fn run_until_returns_early_when_the_protocol_wants_attention() {
    let mut udp = bind("127.0.0.1:0");
    let to = udp.local_addr();
    let sender = plain("127.0.0.1:0");
    let thread = std::thread::spawn(move || {
        // The second one comes while the driver sleeps: the first was answered before it slept.
        sender.send_to(b"first", to).unwrap();
        sender.recv(&mut [0; 8]).unwrap();
        sender.send_to(b"second", to).unwrap();
    });
    let mut echo = Echo { answers: true, wants: Some(2), ..Echo::default() };
    udp.run_until(&mut echo, NEVER).unwrap();
    assert!(udp.now() < NEVER);
    assert_eq!(echo.got.len(), 2);
    assert!(echo.got[0].0 <= echo.got[1].0);
    thread.join().unwrap();
}

#[test]
fn timers_are_served_while_the_driver_waits() {
    let mut udp = bind("127.0.0.1:0");
    let mut echo = Echo { timer: Some(udp.now() + Duration::from_micros(2_300)), ..Echo::default() };
    let deadline = udp.now() + Duration::from_millis(20);
    udp.run_until(&mut echo, deadline).unwrap();
    assert_eq!((echo.timer, echo.timers_served), (None, 1));
}

/// Wants to be polled in the past, for ever.
struct Impatient(u32);

impl Protocol for Impatient {
    fn handle_datagram(&mut self, _: Duration, _: SocketAddr, _: &[u8]) {}

    fn poll_transmit(&mut self, _: Duration, _: &mut [u8]) -> Option<(SocketAddr, usize)> {
        self.0 += 1;
        None
    }

    fn poll_timeout(&self) -> Option<Duration> {
        Some(Duration::ZERO)
    }
}

#[test]
fn timer_in_the_past_does_not_make_the_driver_spin() {
    let mut udp = bind("127.0.0.1:0");
    let polls = loop {
        let mut impatient = Impatient(0);
        let deadline = udp.now() + Duration::from_millis(20);
        udp.run_until(&mut impatient, deadline).unwrap();
        // One poll alone tells nothing: this thread did not run before the deadline.
        if impatient.0 > 1 {
            break impatient.0;
        }
    };
    // One nap of a quarter of a millisecond at least between two polls: a slow machine makes fewer.
    assert!(polls <= 82, "{polls} polls");
}

#[test]
fn drain_that_is_cut_short_goes_on_without_new_datagrams() {
    let mut udp = bind("127.0.0.1:0");
    let sender = plain("127.0.0.1:0");
    // Empty ones cost the least of the socket's buffer.
    for _ in 0..270 {
        sender.send_to(b"", udp.local_addr()).unwrap();
    }
    let mut echo = Echo::default();
    udp.poll(&mut echo).unwrap();
    assert_eq!((echo.got.len(), udp.stats().cut_short), (256, 1));
    udp.poll(&mut echo).unwrap();
    assert_eq!((echo.got.len(), udp.stats().cut_short), (270, 1));
}

/// The poller tells once of everything that is there, so that only the third go shows who forgets.
#[cfg(target_os = "linux")]
#[test]
fn driver_does_not_sleep_on_datagrams_that_it_left_behind() {
    /// The bytes that a small datagram takes in a socket's buffer.
    const COST_BYTES: usize = 768;
    let mut udp = bind("127.0.0.1:0");
    let count = (udp.options().receive_buffer_bytes.unwrap() / COST_BYTES - 2).min(600);
    if count <= 512 {
        return;
    }
    let sender = plain("127.0.0.1:0");
    for _ in 0..count {
        sender.send_to(b"", udp.local_addr()).unwrap();
    }
    let mut echo = Echo { wants: Some(count), ..Echo::default() };
    udp.run_until(&mut echo, NEVER).unwrap();
    assert_eq!(echo.got.len(), count);
    assert!(udp.now() < NEVER);
}

#[test]
fn poll_and_flush_never_block() {
    let mut udp = bind("127.0.0.1:0");
    let mut echo = Echo { timer: Some(NEVER), ..Echo::default() };
    for _ in 0..100 {
        udp.poll(&mut echo).unwrap();
        udp.flush(&mut echo).unwrap();
    }
    assert_eq!((echo.polled, echo.got.len()), (200, 0));
    assert!(udp.now() < NEVER);
}

#[test]
fn flush_takes_nothing_in() {
    let mut udp = bind("127.0.0.1:0");
    plain("127.0.0.1:0").send_to(b"x", udp.local_addr()).unwrap();
    let mut echo = Echo::default();
    udp.flush(&mut echo).unwrap();
    assert_eq!(echo.got.len(), 0);
    udp.poll(&mut echo).unwrap();
    assert_eq!(echo.got.len(), 1);
}

#[test]
fn close_lingers_until_all_is_delivered_or_its_time_is_over() {
    let mut udp = bind("127.0.0.1:0");
    let to = udp.local_addr();
    let sender = plain("127.0.0.1:0");
    let thread = std::thread::spawn(move || {
        for text in [b"1", b"2"] {
            sender.send_to(text, to).unwrap();
            assert_eq!(sender.recv(&mut [0; 8]).unwrap(), 1, "the answer went out");
        }
    });
    // Attention is for those who advance frames: closing does not stop for it.
    let mut echo = Echo { answers: true, wants: Some(0), lingers_until: 2, ..Echo::default() };
    assert!(udp.close(&mut echo, NEVER).unwrap());
    assert!(udp.now() < NEVER);
    thread.join().unwrap();

    let start = udp.now();
    let mut echo = Echo { lingers_until: 1, ..Echo::default() };
    assert!(!udp.close(&mut echo, Duration::from_millis(5)).unwrap());
    assert!(udp.now() >= start + Duration::from_millis(5));
}

#[test]
fn rebound_driver_keeps_its_clock_and_statistics() {
    let (mut one, mut two) = (bind("127.0.0.1:0"), bind("127.0.0.1:0"));
    let to = two.local_addr();
    exchange(&mut one, &mut two, to);
    let (before, old) = (one.now(), one.local_addr());
    assert_eq!(one.rebind(old).unwrap_err().kind(), std::io::ErrorKind::AddrInUse);
    assert_eq!(one.local_addr(), old, "a failure changes nothing");
    one.rebind("127.0.0.1:0".parse().unwrap()).unwrap();
    assert!(one.now() >= before);
    assert_ne!(one.local_addr(), old);
    assert_eq!(exchange(&mut one, &mut two, to), (one.local_addr(), to));
    assert_eq!((one.stats().sent, one.stats().received), (2, 2));
    assert!(UdpSocket::bind(old).is_ok(), "the old socket is closed");
}

#[test]
fn rebound_driver_wakes_for_its_new_socket() {
    let mut udp = bind("127.0.0.1:0");
    udp.transport_mut().wait(Duration::ZERO).unwrap();
    udp.rebind("127.0.0.1:0".parse().unwrap()).unwrap();
    plain("127.0.0.1:0").send_to(b"x", udp.local_addr()).unwrap();
    udp.transport_mut().wait(NEVER).unwrap();
    assert!(udp.now() < NEVER);
}

#[test]
fn relay_carries_datagrams_both_ways_after_their_latency() {
    let target = plain("127.0.0.1:0");
    let latency = Duration::from_millis(15);
    let relay = Relay::start(
        "127.0.0.1:0".parse().unwrap(),
        target.local_addr().unwrap(),
        LinkConfig::new(latency),
        1,
    )
    .unwrap();
    let mut udp = bind("127.0.0.1:0");
    let mut echo =
        Echo { outgoing: vec![(relay.addr(), b"ping".to_vec())], wants: Some(1), ..Echo::default() };
    let start = udp.now();
    udp.flush(&mut echo).unwrap();
    let mut buf = [0; 16];
    let (len, from) = target.recv_from(&mut buf).unwrap();
    assert_eq!(&buf[..len], b"ping");
    assert!(udp.now() >= start + latency);
    target.send_to(b"pong", from).unwrap();
    udp.run_until(&mut echo, NEVER).unwrap();
    assert!(udp.now() >= start + latency * 2);
    assert_eq!((echo.got[0].1, &echo.got[0].2[..]), (relay.addr(), &b"pong"[..]));
    let stats = relay.handle().stats();
    assert_eq!((stats[0].arriving, stats[1].arriving), (1, 1));
}

#[test]
fn relay_answers_the_newest_client() {
    let target = plain("127.0.0.1:0");
    let addr = target.local_addr().unwrap();
    let relay = Relay::start("127.0.0.1:0".parse().unwrap(), addr, LinkConfig::default(), 1).unwrap();
    let mut buf = [0; 16];
    for client in [plain("127.0.0.1:0"), plain("127.0.0.1:0")] {
        client.send_to(b"ping", relay.addr()).unwrap();
        let (_, from) = target.recv_from(&mut buf).unwrap();
        target.send_to(b"pong", from).unwrap();
        assert_eq!(client.recv_from(&mut buf).unwrap(), (4, relay.addr()));
    }
}

#[test]
fn links_of_a_relay_change_while_it_runs() {
    let target = plain("127.0.0.1:0");
    let addr = target.local_addr().unwrap();
    let relay = Relay::start("127.0.0.1:0".parse().unwrap(), addr, LinkConfig::default(), 1).unwrap();
    let handle = relay.handle();
    let client = plain("127.0.0.1:0");
    let mut buf = [0; 16];
    let mut pass = |text: &[u8]| {
        client.send_to(text, relay.addr()).unwrap();
        let (len, from) = target.recv_from(&mut buf).unwrap();
        (buf[..len].to_vec(), from)
    };
    assert_eq!(pass(b"1").0, b"1");
    handle.set(LinkConfig { duplicate: Chance::ALWAYS, ..LinkConfig::default() });
    assert_eq!(pass(b"2").0, b"2");
    handle.set(LinkConfig { loss: Chance::ALWAYS, ..LinkConfig::default() });
    client.send_to(b"3", relay.addr()).unwrap();
    // Counted means gone: only then may the link be changed back.
    while handle.stats()[0].lost == 0 {
        std::thread::yield_now();
    }
    handle.set(LinkConfig::default());
    assert_eq!(pass(b"4").0, b"2", "the copy of the second one");
    let (len, from) = target.recv_from(&mut buf).unwrap();
    assert_eq!(&buf[..len], b"4");

    // Somebody who found the relay's other port is not the target.
    plain("127.0.0.1:0").send_to(b"forged", from).unwrap();
    target.send_to(b"answer", from).unwrap();
    let (len, _) = client.recv_from(&mut buf).unwrap();
    assert_eq!(&buf[..len], b"answer");
    assert_eq!(handle.error(), None);
}

#[test]
fn dropped_relay_is_gone() {
    let target = plain("127.0.0.1:0").local_addr().unwrap();
    let relay = Relay::start("127.0.0.1:0".parse().unwrap(), target, LinkConfig::default(), 1).unwrap();
    let addr = relay.addr();
    assert!(UdpDriver::bind(addr).is_err());
    drop(relay);
    assert!(UdpDriver::bind(addr).is_ok(), "its thread has ended and closed its socket");
}
