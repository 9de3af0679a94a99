//! A rendezvous server among hostile clients, with two honest ones that register and ask.
//!
//! Nothing is amplified, every list is bounded, and nobody gets more than its quota of signature checks, posts and STUN answers.

use crate::attack::{MAX_ATTACKS, damage, random_seeds};
use crate::bytes::Bytes;
use crate::memory::Kept;
use crate::rendezvous_packets::{signals, written};
use rebout::lab::rendezvous::{JoinRequest, Registration, RendezvousEvent};
use rebout::lab::wire::rendezvous::{Answer, Ask, Cookie, Outcome, Packet, Post, Register, Reply, decode};
use rebout::lab::wire::stun::request;
use rebout::rendezvous::{RendezvousConfig, RendezvousServer, TurnService};
use rebout::{MAX_DATAGRAM, Protocol, Randomness};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

const MAX_KEPT: i64 = 1 << 20;
const MAX_ROOMS: usize = 6;
const MAX_GUESTS: usize = 8;
/// Requests of one source, and signatures of all, in a second.
const PER_SOURCE: u8 = 3;
const SIGNATURES: u32 = 5;
/// The datagrams that a call may leave to be sent.
const MAX_SENT: usize = 512;

fn server_addr() -> SocketAddr {
    ([203, 0, 113, 1], 3_479).into()
}

/// Four machines, two of them with one address.
fn source(number: u8) -> SocketAddr {
    ([192, 0, 2 + number % 3, 1], 7_000 + u16::from(number % 4)).into()
}

/// The server, and what was said.
struct Desk {
    server: RendezvousServer,
    now: Duration,
    cookies: BTreeMap<SocketAddr, u64>,
    seen: Vec<Vec<u8>>,
    /// Answers to posts and to STUN requests in this second, by address.
    posted: BTreeMap<IpAddr, u32>,
    bound: BTreeMap<IpAddr, u32>,
    /// The signatures that were checked before this second.
    signatures: u64,
    guests: Vec<u64>,
}

impl Desk {
    fn new() -> Self {
        let turn = TurnService { server: ([203, 0, 113, 1], 3_478).into(), secret: b"north".to_vec() };
        let config = RendezvousConfig {
            turn: Some(turn),
            max_rooms: MAX_ROOMS,
            max_rooms_per_source: 2,
            max_guests: MAX_GUESTS,
            max_signatures_per_second: SIGNATURES,
            max_requests_per_source: PER_SOURCE,
            reports_meetings: true,
            ..RendezvousConfig::default()
        };
        Self {
            server: RendezvousServer::new(config, Randomness::Seeded(5)).expect("a seed"),
            now: Duration::from_secs(1),
            cookies: BTreeMap::new(),
            seen: Vec::new(),
            posted: BTreeMap::new(),
            bound: BTreeMap::new(),
            signatures: 0,
            guests: Vec::new(),
        }
    }

    fn wait(&mut self, time: Duration) {
        if (self.now + time).as_secs() != self.now.as_secs() {
            self.posted.clear();
            self.bound.clear();
            self.signatures = self.server.stats().signatures;
        }
        self.now += time;
    }

    /// Hands in a datagram, and returns the answers to its sender.
    fn say(&mut self, from: SocketAddr, datagram: &[u8]) -> Vec<Vec<u8>> {
        self.server.handle_datagram(self.now, from, datagram);
        if self.seen.len() < 32 {
            self.seen.push(datagram.to_vec());
        }
        let (mut buf, mut answers) = ([0; MAX_DATAGRAM], Vec::new());
        for count in 0.. {
            let Some((to, len)) = self.server.poll_transmit(self.now, &mut buf) else { break };
            assert!(count < MAX_SENT, "datagrams without end");
            self.hear(to, &buf[..len]);
            if to == from {
                answers.push(buf[..len].to_vec());
            }
        }
        let answered: usize = answers.iter().map(Vec::len).sum();
        assert!(answered <= datagram.len(), "{from} was sent {answered} bytes for {}", datagram.len());
        while self.server.poll_meeting().is_some() {}
        self.check();
        answers
    }

    fn hear(&mut self, to: SocketAddr, answer: &[u8]) {
        match decode(answer) {
            Ok(Packet::Cookie(Cookie { cookie, observed, .. })) => {
                assert_eq!(observed, to);
                self.cookies.insert(to, cookie);
            }
            Ok(Packet::Reply(Reply { outcome: Outcome::Posted, .. })) => {
                let count = self.posted.entry(to.ip()).or_default();
                *count += 1;
                assert!(*count <= u32::from(PER_SOURCE), "{to} has posted {count} times in a second");
            }
            Ok(Packet::Deliver(deliver)) => self.guests.push(deliver.guest),
            Ok(_) => {}
            Err(_) if answer.first() == Some(&1) => {
                let count = self.bound.entry(to.ip()).or_default();
                *count += 1;
                assert!(*count <= u32::from(PER_SOURCE), "{to} got {count} STUN answers in a second");
            }
            Err(error) => panic!("the server said {answer:02X?}: {error}"),
        }
    }

    fn check(&self) {
        let stats = self.server.stats();
        assert!(stats.bytes_sent <= stats.bytes_received, "more was sent than came");
        assert!(self.server.rooms() <= MAX_ROOMS && self.server.guests() <= MAX_GUESTS, "{:?}", self.server);
        // A room is kept open by one signature in two seconds besides. The bucket of all sources holds those of a second.
        let checked = stats.signatures - self.signatures;
        let allowed = u64::from(2 * SIGNATURES) + self.server.rooms() as u64 + 1;
        assert!(checked <= allowed, "{checked} signatures were checked in a second");
    }
}

fn registration(number: u8) -> Registration {
    let mut host =
        Registration::new(server_addr(), &[number; 32], Randomness::Seeded(number.into())).expect("a seed");
    host.set_ticket(7);
    host
}

/// Lets an honest client say what it has to.
fn serve_host(desk: &mut Desk, from: SocketAddr, host: &mut Registration) {
    let (mut buf, [_, resp]) = ([0; MAX_DATAGRAM], signals());
    for _ in 0..8 {
        let Some((to, len)) = host.poll_transmit(desk.now, &mut buf) else { break };
        assert_eq!(to, server_addr());
        for answer in desk.say(from, &buf[..len]) {
            host.handle_datagram(desk.now, server_addr(), &answer);
        }
    }
    while let Some(event) = host.poll_event() {
        if let RendezvousEvent::Delivered { guest, .. } = event {
            host.answer(guest, &resp);
        }
    }
    if host.wants_ticket(desk.now) {
        host.set_ticket(8);
    }
}

fn serve_joiner(desk: &mut Desk, from: SocketAddr, joiner: &mut JoinRequest) {
    let (mut buf, [init, _]) = ([0; MAX_DATAGRAM], signals());
    for _ in 0..8 {
        let Some((_, len)) = joiner.poll_transmit(desk.now, &mut buf) else { break };
        for answer in desk.say(from, &buf[..len]) {
            joiner.handle_datagram(desk.now, server_addr(), &answer);
        }
    }
    while let Some(event) = joiner.poll_event() {
        if let RendezvousEvent::Ticket { .. } = event {
            joiner.post(&init);
        }
    }
}

/// A request with the cookie that its sender was given, and everything else as the fuzzer chooses.
fn fitting(desk: &Desk, from: SocketAddr, room: [u8; 16], bytes: &mut Bytes<'_>) -> Vec<u8> {
    let cookie = desk.cookies.get(&from).copied().unwrap_or(0);
    let cookie = if bytes.u8().is_multiple_of(8) { bytes.u64() } else { cookie };
    let (nonce, [init, resp]) = (bytes.u64(), signals());
    let room = if bytes.flag() { room } else { [bytes.u8(); 16] };
    let guest = desk.guests.last().copied().unwrap_or_else(|| bytes.u64());
    let packet = match bytes.below(5) {
        0 => Packet::Ask(Ask { nonce, cookie, room }),
        1 => Packet::Post(Post { nonce, cookie, room, signal: &init }),
        2 => Packet::Answer(Answer { guest, signal: &resp }),
        3 => return request(&[bytes.u8(); 12]).to_vec(),
        _ => Packet::Register(Register {
            nonce,
            cookie,
            key: [bytes.u8(); 32],
            ticket: 1,
            signature: [bytes.u8(); 64],
        }),
    };
    written(&packet)
}

pub fn run(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let mut desk = Desk::new();
    let (mut host, honest) = (registration(1), [source(0), source(1)]);
    let room = host.room();
    let mut joiner = JoinRequest::new(server_addr(), room, Randomness::Seeded(2)).expect("a seed");
    let mut others = [2, 3].map(registration);
    let kept = Kept::new(MAX_KEPT);
    for _ in 0..4 * MAX_ATTACKS {
        if bytes.is_empty() {
            break;
        }
        let from = source(bytes.u8());
        match bytes.below(8) {
            0 => serve_host(&mut desk, honest[0], &mut host),
            1 => serve_joiner(&mut desk, honest[1], &mut joiner),
            // Another host, at an address that may change.
            2 => serve_host(&mut desk, from, &mut others[usize::from(bytes.flag())]),
            3 => {
                let mut datagram = desk.seen.get(bytes.below(32)).cloned().unwrap_or_default();
                let seen = desk.seen.clone();
                damage(&mut bytes, &mut datagram, &seen);
                desk.say(from, &datagram);
            }
            4 => {
                let datagram = fitting(&desk, from, room, &mut bytes);
                for _ in 0..=bytes.below(16) {
                    desk.say(from, &datagram);
                }
            }
            5 => desk.wait(bytes.wait()),
            _ => {
                let datagram = fitting(&desk, from, room, &mut bytes);
                desk.say(from, &datagram);
            }
        }
        kept.check();
    }
    // Whoever left is forgotten.
    desk.wait(Duration::from_secs(120));
    desk.say(source(3), &[]);
    assert_eq!((desk.server.rooms(), desk.server.guests()), (0, 0));
}

pub fn seeds() -> Vec<Vec<u8>> {
    let honest = [0, 0, 0, 0, 0, 1, 0, 5, 80, 0, 0, 0, 1];
    random_seeds(&[&[], &honest, &honest.repeat(3)])
}
