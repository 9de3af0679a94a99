//! Attacks on the seats of a server: blind guesses from forged addresses, and many ports of one address.

use crate::lab::{
    ClientNode, FRAME, Field, Format, Lab, Named, Node, SERVER, client_addr, for_wires, ms, server_addr,
};
use rebout::Protocol;
use rebout::authority::{Body, ClientConfig, Server, ServerConfig, ServerEvent};
use rebout::lab::link::LinkConfig;
use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::time::Duration;

/// The seats of the attacked server. Fewer than the default, so that a sweep for each of them takes little time.
const SEATS: u8 = 4;

/// The datagrams of an attacker in each frame: 100,000 a second.
const A_FRAME: usize = 1_666;

/// A request to join.
pub(crate) fn request(wire: impl Named, sequence: u16) -> Vec<u8> {
    let [s0, s1] = sequence.to_be_bytes();
    match wire.format() {
        Format::Game => [b"GAME", &[s0, s1, 0, 0, 0, 0, 0, 0, 1, 0, 0][..]].concat(),
        _ => vec![0x10, 1, s0, s1, 1, b'x'],
    }
}

/// The shortest packet that acknowledges `named`.
pub(crate) fn ack(wire: impl Named, sequence: u16, named: u16) -> Vec<u8> {
    let ([s0, s1], [n0, n1]) = (sequence.to_be_bytes(), named.to_be_bytes());
    match wire.format() {
        Format::Game => [b"GAME", &[s0, s1, n0, n1, 0, 0, 0, 0, 9, 0, 0][..]].concat(),
        _ => vec![0x01, 0, s0, s1, n0, n1],
    }
}

/// The sequence number of a server's packet, and whether a client that follows the format acknowledges it.
pub(crate) fn asks_ack(wire: impl Named, datagram: &[u8]) -> Option<u16> {
    match wire.format() {
        Format::Game => Some(u16::from_be_bytes([datagram[4], datagram[5]])),
        _ => (datagram[1] == 1).then(|| u16::from_be_bytes([datagram[2], datagram[3]])),
    }
}

fn forged(n: u32) -> SocketAddr {
    SocketAddr::from(((0x0B00_0000 + n).to_be_bytes(), 7))
}

/// The bytes between the server and one address.
#[derive(Clone, Copy, Debug, Default)]
struct Bytes {
    to_server: usize,
    from_server: usize,
}

/// A server, and the bytes of each address that is no honest player's.
pub(crate) struct Target<W: Named> {
    pub(crate) wire: W,
    pub(crate) server: Server<W>,
    pub(crate) field: Field,
    pub(crate) now: Duration,
    sent: usize,
    /// The most seats that were taken at any time.
    taken: usize,
    bytes: BTreeMap<SocketAddr, Bytes>,
}

impl<W: Named> Target<W> {
    pub(crate) fn new(wire: W, change: impl FnOnce(&mut ServerConfig)) -> Self {
        let mut config = ServerConfig::new(9);
        config.max_clients = SEATS;
        change(&mut config);
        let server = Server::new(config).expect("a config");
        let (sent, taken, bytes) = (0, 0, BTreeMap::new());
        Self { wire, server, field: Field::default(), now: ms(1_000), sent, taken, bytes }
    }

    /// Sends a datagram; a frame passes when the attacker's rate is used up.
    pub(crate) fn send(&mut self, from: SocketAddr, datagram: &[u8]) {
        self.bytes.entry(from).or_default().to_server += datagram.len();
        self.server.handle_datagram(self.now, from, datagram);
        self.sent += 1;
        if self.sent.is_multiple_of(A_FRAME) {
            self.frame();
        }
    }

    /// Steps a frame and returns all that the server sends.
    pub(crate) fn frame(&mut self) -> Vec<(SocketAddr, Vec<u8>)> {
        self.now += FRAME;
        self.server.advance(self.now, &mut self.field);
        self.taken = self.taken.max(self.server.clients());
        self.received()
    }

    pub(crate) fn received(&mut self) -> Vec<(SocketAddr, Vec<u8>)> {
        let (mut buf, mut all) = ([0; 1_200], Vec::new());
        while let Some((to, len)) = self.server.poll_transmit(self.now, &mut buf) {
            self.bytes.entry(to).or_default().from_server += len;
            all.push((to, buf[..len].to_vec()));
        }
        all
    }

    pub(crate) fn wait(&mut self, time: Duration) {
        let until = self.now + time;
        while self.now < until {
            self.frame();
        }
    }
}

/// Joins from `addr`, and returns the id and the next sequence number. No frame passes.
pub(crate) fn join(target: &mut Target<impl Named>, addr: SocketAddr) -> (u8, u16) {
    let wire = target.wire;
    target.send(addr, &request(wire, 0));
    for sequence in 1.. {
        for (to, datagram) in target.received() {
            if let Some(number) = asks_ack(wire, &datagram).filter(|_| to == addr) {
                target.send(addr, &ack(wire, sequence, number));
            }
        }
        target.now += ms(25);
        if let Some(ServerEvent::Joined { id, .. }) = target.server.poll_event() {
            return (id, sequence + 1);
        }
        assert!(sequence < 20, "no seat");
    }
    unreachable!()
}

/// Names every `step`-th number from a forged address. All sequence numbers are near to each other: any that was taken lets
/// the others through.
fn sweep(target: &mut Target<impl Named>, n: u32, step: usize) {
    for named in (0..=u16::MAX).step_by(step) {
        let datagram = ack(target.wire, (target.sent % 60) as u16, named);
        target.send(forged(n), &datagram);
    }
}

/// Takes seats from forged addresses: names every number for each, one of which is the proof, and then those that the
/// server may have sent since. Any of the newest is good enough for GAME.
fn take_seats(target: &mut Target<impl Named>) {
    for n in 0..u32::from(SEATS) + 1 {
        sweep(target, n, 1);
        sweep(target, n, if target.wire.format() == Format::Game { 16 } else { 1 });
    }
}

/// Holds the seats for 27 s with a coarse sweep for each in every 9 s.
fn hold_seats(target: &mut Target<impl Named>) {
    target.bytes.clear();
    for _ in 0..3 {
        (0..u32::from(SEATS) + 1).for_each(|n| sweep(target, n, 160));
        target.wait(ms(9_000));
    }
}

#[test]
fn sweeps_from_forged_addresses_take_no_seat() {
    for_wires!(|wire| {
        let mut target = Target::new(wire, |_| {});
        take_seats(&mut target);
        let taken = target.taken;
        hold_seats(&mut target);
        let held = target.server.clients();
        let all = |bytes: fn(&Bytes) -> usize| target.bytes.values().map(bytes).sum::<usize>();
        let (to_server, from_server) = (all(|bytes| bytes.to_server), all(|bytes| bytes.from_server));
        println!(
            "{wire:?}: {taken} of {SEATS} seats taken, {held} held; {from_server} bytes for {to_server}"
        );
        assert_eq!((taken, held), (0, 0), "{wire:?}");
        for (addr, Bytes { to_server, from_server }) in &target.bytes {
            assert!(from_server <= to_server, "{wire:?}: {from_server} bytes to {addr} for {to_server}");
        }
    });
}

/// Plays on many ports of one address, as the format says: acknowledges all that it is sent.
fn many_ports(target: &mut Target<impl Named>, addr: impl Fn(u16) -> SocketAddr, ports: u16) {
    let wire = target.wire;
    let mut sequences = vec![0_u16; usize::from(ports)];
    let mut named: Vec<VecDeque<u16>> = vec![VecDeque::new(); usize::from(ports)];
    for frame in 0..180 {
        for port in 0..ports {
            let (sequence, named) = (&mut sequences[usize::from(port)], &mut named[usize::from(port)]);
            let mut send = |datagram: &dyn Fn(u16) -> Vec<u8>| {
                *sequence += 1;
                target.send(addr(port), &datagram(*sequence));
            };
            match named.front() {
                None if frame % 6 == 0 => send(&|sequence| request(wire, sequence)),
                None => {}
                Some(_) => {
                    named.iter().for_each(|number| send(&|sequence| ack(wire, sequence, *number)));
                    named.drain(..named.len() - 1);
                }
            }
        }
        for (to, datagram) in target.received().into_iter().chain(target.frame()) {
            let port = (0..ports).find(|port| addr(*port) == to).expect("a port of ours");
            let is_refusal = wire.format() == Format::Game && datagram[12] == 3;
            if let Some(number) = asks_ack(wire, &datagram).filter(|_| !is_refusal) {
                named[usize::from(port)].push_back(number);
            }
        }
    }
}

#[test]
fn one_address_with_many_ports_takes_a_bounded_number_of_seats() {
    for_wires!(|wire| {
        for (limit, expected) in [(None, 8), (Some(3), 3), (Some(255), 32)] {
            let mut target = Target::new(wire, |config| {
                config.max_clients = 32;
                config.max_clients_per_source = limit.unwrap_or(config.max_clients_per_source);
            });
            many_ports(&mut target, |port| SocketAddr::from(([192, 0, 2, 66], 10_000 + port)), 40);
            let taken = target.server.clients();
            println!("{wire:?}: 40 ports of one address took {taken} of 32 seats with a limit of {limit:?}");
            // A port whose offered id somebody else took in the meantime does not ask again.
            assert!((expected - 2..=expected).contains(&taken), "{wire:?}: {taken}");
        }
        // An IPv6 customer has a /48.
        let mut target = Target::new(wire, |config| config.max_clients = 32);
        many_ports(&mut target, |n| SocketAddr::from(([0x2001, 0xDB8, 7, n, 0, 0, 0, 1], 7_000)), 40);
        assert!((6..=8).contains(&target.server.clients()), "{wire:?}: {}", target.server.clients());
    });
}

#[test]
fn source_gets_exactly_as_many_seats_as_the_limit() {
    for_wires!(|wire| {
        let mut target = Target::new(wire, |config| config.max_clients_per_source = 2);
        let addr = |port| SocketAddr::from(([192, 0, 2, 66], port));
        (1..=2).for_each(|port| {
            join(&mut target, addr(port));
        });
        let mapped = "[::ffff:192.0.2.66]:4".parse().unwrap();
        for from in [addr(3), mapped] {
            target.send(from, &request(wire, 0));
            let mut answers = target.received();
            answers.retain(|(to, _)| *to == from);
            let is_refusal = |datagram: &[u8]| match wire.format() {
                Format::Game => datagram[12] == 3,
                _ => datagram[0] == 0x02,
            };
            let refusals: Vec<bool> = answers.iter().map(|(_, bytes)| is_refusal(bytes)).collect();
            assert_eq!(refusals, [true], "{wire:?}: {from}");
        }
        join(&mut target, forged(1));
        assert_eq!(target.server.clients(), 3, "{wire:?}");
    });
}

/// Says hello from a forged address, and returns the number of the answer, which a forger does not see.
fn proof(target: &mut Target<impl Named>, from: SocketAddr) -> u16 {
    target.send(from, &request(target.wire, 0));
    let answers = target.received();
    let (_, answer) = answers.last().expect("an answer");
    asks_ack(target.wire, answer).expect("a proof")
}

#[test]
fn lucky_proof_and_any_number_of_acks_take_no_seat() {
    for_wires!(|wire| {
        let mut target = Target::new(wire, |_| {});
        for n in 0..u32::from(SEATS) {
            let number = proof(&mut target, forged(n));
            target.bytes.clear();
            // The proof is right, and so is each sequence number; the numbers of the challenges are guesses.
            for _ in 0..30 {
                target.send(forged(n), &ack(wire, 1, number));
                target.frame();
            }
            for named in (0..=u16::MAX).map(|n| number.wrapping_add(n)) {
                target.send(forged(n), &ack(wire, 1, named));
            }
            let Bytes { to_server, from_server } = target.bytes[&forged(n)];
            assert!(from_server > 0 && from_server * 10 < to_server, "{wire:?}: {from_server}");
        }
        assert_eq!((target.taken, target.server.poll_event()), (0, None), "{wire:?}");
    });
}

#[test]
fn unconfirmed_address_gets_no_more_bytes_than_it_sent() {
    for_wires!(|wire| {
        let mut target = Target::new(wire, |_| {});
        target.field.extra.push((1, |stage| while stage.spawn(1, Body::at(1.0, 1.0)).is_some() {}));
        target.field.extra.push((2, |stage| (1..=9).for_each(|id| assert!(stage.remove(id)))));
        target.wait(ms(3_000));
        for n in 0..4 {
            // A request: GAME's answer is a byte longer, R-Type's two answers are 15 bytes for at least 6.
            let number = proof(&mut target, forged(n));
            let request = target.bytes[&forged(n)];
            let longest = if wire.format() == Format::Game { 16 } else { 15 };
            assert!(request.from_server <= longest, "{wire:?}: {request:?}");
            // From the proof on: no byte and no datagram more than came, however often it is repeated.
            target.bytes.clear();
            let (mut sent, mut answers) = (0, 0);
            for _ in 0..60 {
                for _ in 0..=n {
                    target.send(forged(n), &ack(wire, 1, number));
                    sent += 1;
                }
                answers += target.received().len() + target.frame().len();
                let Bytes { to_server, from_server } = target.bytes[&forged(n)];
                assert!(from_server <= to_server, "{wire:?}: {from_server} bytes for {to_server}");
            }
            assert!((10..=sent).contains(&answers), "{wire:?}: {answers} datagrams for {sent}");
            // Once it is silent it gets nothing.
            target.bytes.clear();
            target.wait(ms(3_000));
            assert_eq!(target.bytes.len(), 0, "{wire:?}");
        }
        assert_eq!(target.taken, 0, "{wire:?}");
    });
}

#[test]
fn wrong_proofs_in_a_players_name_do_not_lock_it_out() {
    for_wires!(|wire| {
        let mut lab = Lab::speaking(wire, 1, LinkConfig::new(ms(30)));
        let client = lab.client(ms(200));
        let mut address = client_addr(client);
        for n in 0..300 {
            lab.run_until(ms(10 * n));
            let now = lab.world.local_now(SERVER);
            // 100,000 a second from its address, on every port but its own.
            for n in (n * 1_000..).take(1_000) {
                address.set_port(10_000 + (n % 50_000) as u16);
                let datagram = ack(wire, 1, n as u16);
                lab.server_mut().server.handle_datagram(now, address, &datagram);
            }
        }
        assert_eq!(lab.server().server.clients(), 1, "{wire:?}");
        assert!(lab.client_at(client).client.predicted().is_some(), "{wire:?}");
    });
}

#[test]
fn seat_that_was_left_is_free_for_its_source_again() {
    for_wires!(|wire| {
        let mut config = ServerConfig::new(1);
        config.max_clients_per_source = 1;
        let mut lab = Lab::with_server(wire, 1, LinkConfig::new(ms(30)), config);
        let clients = [lab.client(ms(200)), lab.client(ms(200))];
        lab.run_until(ms(2_000));
        assert_eq!(lab.server().server.clients(), 2, "{wire:?}: two sources");
        let now = lab.world.local_now(clients[0]);
        lab.client_mut(clients[0]).client.leave(now);
        lab.run_until(ms(4_000));
        let config = ClientConfig::new(777);
        lab.world.restart(clients[0], Node::Client(ClientNode::new(config, server_addr(), 5)));
        lab.run_until(ms(6_000));
        assert_eq!(lab.server().server.clients(), 2, "{wire:?}");
    });
}
