//! A relay that sends anything: random, damaged and well-formed messages, many of them signed as the relay itself would sign.

use super::allocation::{Allocation, Heard, State};
use super::origin::turn;
use crate::Rng;
use crate::connect::rendezvous::Credentials;
use crate::protocol::time::{Span, Time};
use core::time::Duration;
use std::collections::{BTreeSet, VecDeque};
use std::net::SocketAddr;
use turn_client_proto::types::stun::message::{IntegrityAlgorithm, Message, MessageWriteVec};
use turn_client_proto::types::stun::prelude::{MessageWrite, MessageWriteExt};
use turn_client_proto::types::{TransportType, TurnCredentials};
use turn_server_proto::api::{Transmit, TurnServerApi, TurnServerPollRet};
use turn_server_proto::server::TurnServer;

pub(super) const RELAY: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1)), 3478);
const METHODS: [u16; 10] = [1, 3, 4, 6, 7, 8, 9, 10, 11, 12];
const CLASSES: [u16; 6] = [0x000, 0x010, 0x100, 0x110, 0x110, 0x100];
const ERRORS: [u16; 9] = [401, 401, 401, 438, 438, 437, 400, 442, 508];
const LIFETIMES: [u32; 7] = [0, 1, 59, 60, 600, u32::MAX / 2, u32::MAX];
/// Attributes of STUN and TURN.
const KNOWN: [u16; 21] = [
    0x01, 0x06, 0x08, 0x09, 0x0A, 0x0C, 0x0D, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x19, 0x1C, 0x1D, 0x1E,
    0x20, 0x22, 0x8002, 0x8028,
];
/// The first bytes of a request for a permission, and for a channel.
const CREATE_PERMISSION: [u8; 2] = [0x00, 0x08];
const CHANNEL_BIND: [u8; 2] = [0x00, 0x09];
/// Those that end a message.
const INTEGRITY: [u16; 3] = [0x08, 0x1C, 0x8028];
/// Those of a refusal that asks for credentials.
const REFUSAL: [u16; 3] = [0x09, 0x14, 0x15];
/// Nonces with and without the characters that announce features, the last one with a character of two bytes across their end.
const NONCES: [&str; 6] =
    ["nonce", "obMatJos2", "obMatJos2AAAA", "obMatJos2/==/", "obMatJos2wAAA1", "obMatJos2abc\u{e9}"];

/// A relay with a right server inside, whose answers it mixes with others.
pub(super) struct Liar {
    server: TurnServer,
    rng: Rng,
    /// The methods and identifiers of the newest requests, and answers of the right server.
    ids: VecDeque<(u16, [u8; 12])>,
    seen: VecDeque<Vec<u8>>,
    /// The first port that it gives away.
    pub(super) first_port: u16,
}

impl Liar {
    pub(super) fn new(seed: u32) -> Self {
        let mut server = TurnServer::new(TransportType::Udp, RELAY, "town".to_owned());
        server.add_user("user".to_owned(), "password".to_owned());
        let rng = Rng::new(seed).unwrap();
        Self { server, rng, ids: VecDeque::new(), seen: VecDeque::new(), first_port: 50_000 }
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.rng.below(from.len() as u32) as usize]
    }

    fn bytes(&mut self, below: u32) -> Vec<u8> {
        (0..self.rng.below(below)).map(|_| self.rng.below(256) as u8).collect()
    }

    /// The right answers to a request.
    fn answer(&mut self, now: Time, request: &[u8]) -> Vec<Vec<u8>> {
        self.answer_to(now, 999, request)
    }

    /// The right answers to a request that was sent from this port. Each port has an allocation of its own.
    pub(super) fn answer_to(&mut self, now: Time, port: u16, request: &[u8]) -> Vec<Vec<u8>> {
        let now = turn(now);
        let transmit = Transmit::new(request, TransportType::Udp, ([10, 0, 0, 9], port).into(), RELAY);
        let answer = self.server.recv(transmit, now).map(|answer| answer.build().data);
        let mut answers: Vec<Vec<u8>> = answer.into_iter().collect();
        while let TurnServerPollRet::AllocateSocket {
            transport,
            listen_addr: at,
            client_addr,
            allocation_transport: kind,
            family,
        } = self.server.poll(now)
        {
            let made = Ok(([10, 0, 0, 1], self.first_port + client_addr.port() - 999).into());
            self.server.allocated_socket(transport, at, client_addr, kind, family, made, now);
        }
        answers.extend(core::iter::from_fn(|| self.server.poll_transmit(now)).map(|sent| sent.data));
        self.seen.extend(answers.iter().cloned());
        self.seen.drain(..self.seen.len().saturating_sub(20));
        answers
    }

    /// Notes a request, for answers that are made up.
    fn note(&mut self, request: &[u8]) {
        let method = request.get(1).copied().map(u16::from);
        self.ids.extend(method.zip(request.get(8..20).and_then(|id| id.first_chunk().copied())));
        self.ids.drain(..self.ids.len().saturating_sub(6));
    }

    /// A message that no relay has to send.
    fn lie(&mut self) -> Vec<u8> {
        match self.rng.below(10) {
            0 => self.channel_data(),
            1 => self.damaged(),
            _ => self.made_up(),
        }
    }

    fn channel_data(&mut self) -> Vec<u8> {
        let payload = self.bytes(40);
        let len = if self.rng.chance(1, 2) { payload.len() as u16 } else { self.rng.below(1 << 16) as u16 };
        let mut datagram = vec![self.pick(&[0x40, 0x40, 0x41, 0x4F]), self.rng.below(4) as u8];
        datagram.extend(len.to_be_bytes());
        datagram.extend(payload);
        datagram.truncate(self.rng.below(50) as usize);
        datagram
    }

    /// A right answer with other bytes and the identifier of any request.
    fn damaged(&mut self) -> Vec<u8> {
        let Some(mut datagram) = self.seen.get(self.rng.below(20) as usize).cloned() else {
            return Vec::new();
        };
        for _ in 0..self.rng.below(4) {
            let at = self.rng.below(datagram.len() as u32) as usize;
            datagram[at] = self.rng.below(256) as u8;
        }
        if let (Some((_, id)), Some(place)) = (self.asked(), datagram.get_mut(8..20)) {
            place.copy_from_slice(&id);
        }
        if self.rng.chance(1, 3) {
            datagram.truncate(self.rng.below(datagram.len() as u32 + 1) as usize);
        }
        datagram
    }

    fn asked(&mut self) -> Option<(u16, [u8; 12])> {
        self.ids.get(self.rng.below(self.ids.len() as u32) as usize).copied()
    }

    fn made_up(&mut self) -> Vec<u8> {
        let mut kinds: Vec<u16> = (0..self.rng.below(5)).map(|_| self.pick(&KNOWN)).collect();
        if self.rng.chance(1, 3) {
            kinds.extend(REFUSAL);
        }
        let mut attributes = Vec::new();
        for kind in kinds {
            let value = self.value(kind);
            let lies = self.rng.chance(1, 30);
            let len = if lies { self.rng.below(1 << 16) as u16 } else { value.len() as u16 };
            attributes.extend([kind, len].into_iter().flat_map(u16::to_be_bytes));
            attributes.extend(value);
            attributes.resize(attributes.len().next_multiple_of(4), 0);
        }
        let (method, id) = self.asked().unwrap_or_default();
        let method = if self.rng.chance(3, 4) { method } else { self.pick(&METHODS) };
        let kind = method | self.pick(&CLASSES);
        let mut datagram: Vec<u8> =
            [kind, attributes.len() as u16].into_iter().flat_map(u16::to_be_bytes).collect();
        datagram.extend([0x21, 0x12, 0xA4, 0x42]);
        datagram.extend(id);
        datagram.extend(attributes);
        self.signed(&datagram).unwrap_or(datagram)
    }

    /// The value of an attribute, mostly one that it may have.
    fn value(&mut self, kind: u16) -> Vec<u8> {
        match kind {
            0x09 => {
                let code = self.pick(&ERRORS);
                vec![0, 0, (code / 100) as u8, (code % 100) as u8]
            }
            0x0C => vec![0x40, self.rng.below(3) as u8, 0, 0],
            0x0D => self.pick(&LIFETIMES).to_be_bytes().to_vec(),
            0x01 | 0x12 | 0x16 | 0x20 => {
                let mut value = vec![0, 1, 0xA1, 0x47, 0x21 ^ 10, 0x12, 0xA4, 0x42 ^ self.rng.below(4) as u8];
                value.truncate(value.len() - self.rng.below(8) as usize / 7);
                value
            }
            0x14 if self.rng.chance(5, 6) => b"town".to_vec(),
            0x15 if self.rng.chance(1, 9) => vec![b'x'; 763],
            0x15 => self.pick(&NONCES).as_bytes().to_vec(),
            0x1D | 0x8002 => [0, self.rng.below(4) as u8, 0, 0].repeat(self.pick(&[0, 1, 2, 300])),
            _ => self.bytes(44),
        }
    }

    /// Every second message with the integrity that the credentials of the allocation give it.
    fn signed(&mut self, datagram: &[u8]) -> Option<Vec<u8>> {
        if self.rng.chance(1, 2) {
            return None;
        }
        let algorithm = self.pick(&[IntegrityAlgorithm::Sha1, IntegrityAlgorithm::Sha256]);
        self.sign(datagram, algorithm)
    }

    fn sign(&self, datagram: &[u8], algorithm: IntegrityAlgorithm) -> Option<Vec<u8>> {
        let message = Message::from_bytes(datagram).ok()?;
        let mut writer =
            Message::builder(message.get_type(), message.transaction_id(), MessageWriteVec::new());
        for (_, attribute) in message.iter_attributes() {
            if !INTEGRITY.contains(&attribute.header.get_type().value()) {
                let _ = writer.add_attribute(&attribute);
            }
        }
        let key = TurnCredentials::new("user", "password").into_long_term_credentials("town");
        writer.add_message_integrity(&key.into(), algorithm).ok()?;
        Some(writer.finish())
    }
}

pub(super) fn credentials() -> Credentials {
    let (user, password) = ("user".to_owned(), "password".to_owned());
    Credentials { server: RELAY, user, password, valid: Duration::from_secs(100) }
}

fn allocation() -> Allocation {
    Allocation::new(&credentials(), RELAY)
}

/// The results of one allocation.
#[derive(Default)]
struct Run {
    made: bool,
    failed: bool,
    believed: usize,
    data: usize,
}

/// Runs an allocation for 150 steps of anything from nothing to an hour.
fn run(seed: u32) -> Run {
    let (mut liar, mut allocation) = (Liar::new(seed), allocation());
    let (mut now, mut run) = (Time::ZERO + Span::from_millis(5), Run::default());
    for _ in 0..150 {
        allocation.run(now);
        let requests: Vec<_> = core::iter::from_fn(|| allocation.poll_transmit(now)).take(1_000).collect();
        assert!(requests.len() < 1_000, "seed {seed}: requests without end");
        for request in requests {
            liar.note(&request);
            if !seed.is_multiple_of(3) && liar.rng.chance(7, 8) {
                for answer in liar.answer(now, &request) {
                    allocation.handle(now, &answer);
                }
            }
        }
        run.made |= allocation.relayed().is_some();
        for _ in 0..liar.rng.below(6) {
            let lie = liar.lie();
            match allocation.handle(now, &lie) {
                Heard::Nothing | Heard::Seen(_) => {}
                Heard::Own => run.believed += 1,
                Heard::From(_, range) => {
                    assert!(lie.get(range).is_some(), "seed {seed}: bytes that are not there");
                    run.data += 1;
                }
            }
        }
        let peer = SocketAddr::from(([10, 0, 0, liar.rng.below(4) as u8], liar.rng.below(3) as u16));
        let (datagram, mut buf) = (liar.bytes(100), [0; 120]);
        match liar.rng.below(4) {
            0 => allocation.permit(now, peer.ip(), peer),
            1 => allocation.bind(now, peer),
            _ => assert!(allocation.wrap(now, peer, &datagram, &mut buf).is_none_or(|len| len <= buf.len())),
        }
        let pause = liar.rng.below(300).into();
        now = now + Span::from_millis(liar.pick(&[0, pause, pause, pause, pause, pause, 61_000, 3_000_000]));
        if allocation.state() == State::Failed {
            break;
        }
    }
    run.failed = allocation.state() == State::Failed;
    let _ = allocation.delete(now);
    run
}

/// An answer to the first request needs no integrity: an observer of that request can forge it.
#[test]
fn nonce_with_a_character_of_two_bytes_is_refused() {
    let mut allocation = allocation();
    allocation.run(Time::ZERO);
    let request = allocation.poll_transmit(Time::ZERO).unwrap();
    let refusal = |nonce: &str| {
        let mut refusal = [&[0x01, 0x13, 0, 36], &request[4..20], &[0, 0x09, 0, 4, 0, 0, 4, 1]].concat();
        refusal.extend([0, 0x14, 0, 4, b't', b'o', b'w', b'n', 0, 0x15, 0, nonce.len() as u8]);
        refusal.extend(nonce.as_bytes());
        refusal.resize(20 + 36, 0);
        refusal
    };
    assert_eq!(allocation.handle(Time::ZERO, &refusal("obMatJos2abc\u{e9}")), Heard::Nothing);
    assert_eq!(
        allocation.handle(Time::ZERO, &refusal("obMatJos2AAAA1")),
        Heard::Own,
        "the right one still counts"
    );
}

#[test]
fn relay_messages_never_panic_or_cause_endless_sending() {
    let runs: Vec<Run> = (1..=400).map(run).collect();
    let count = |is: fn(&Run) -> bool| runs.iter().filter(|run| is(run)).count();
    assert!(count(|run| run.made) > 100 && count(|run| run.failed) > 50);
    let (believed, data) = (count(|run| run.believed > 0), count(|run| run.data > 0));
    assert!(believed > 100 && data > 5, "{believed}, {data}");
}

/// An allocation on a right relay, with the requests of one kind that were made so far.
struct Made {
    relay: Liar,
    allocation: Allocation,
    now: Time,
    kind: [u8; 2],
    /// Whether the relay refuses requests of the kind.
    refuses: bool,
    asked: BTreeSet<Vec<u8>>,
}

impl Made {
    fn new(kind: [u8; 2]) -> Self {
        let (relay, allocation) = (Liar::new(1), allocation());
        let asked = BTreeSet::new();
        let mut made = Self { relay, allocation, now: Time::ZERO, kind, refuses: false, asked };
        while made.allocation.relayed().is_none() {
            assert_eq!(made.run(), 0);
        }
        made
    }

    /// Lets a tenth of a second pass. Returns how many requests there were.
    fn run(&mut self) -> usize {
        self.now = self.now + Span::from_millis(100);
        self.allocation.run(self.now);
        while let Some(request) = self.allocation.poll_transmit(self.now) {
            let is_counted = request.starts_with(&self.kind);
            if is_counted {
                self.asked.insert(request[8..20].to_vec());
            }
            if is_counted && self.refuses {
                // FORBIDDEN.
                let mut refusal = [&[0x01, 0x10 | request[1], 0, 8], &request[4..20]].concat();
                refusal.extend([0x00, 0x09, 0x00, 0x04, 0, 0, 4, 3]);
                let refusal = self.relay.sign(&refusal, IntegrityAlgorithm::Sha1).unwrap();
                assert_eq!(self.allocation.handle(self.now, &refusal), Heard::Own);
                continue;
            }
            for answer in self.relay.answer(self.now, &request) {
                self.allocation.handle(self.now, &answer);
            }
        }
        self.asked.len()
    }
}

/// A guest that names new machines in each of its signals, and others that come after it.
#[test]
fn endless_candidates_leave_permissions_to_others() {
    let mut made = Made::new(CREATE_PERMISSION);
    let mut granted = |peer: u8| {
        let before = made.run();
        for last in 0..200 {
            let now = made.now;
            made.allocation.permit(now, [192, peer, 0, last].into(), ([192, 0, 2, peer], 7).into());
        }
        (0..20).map(|_| made.run() - before).max().unwrap()
    };
    assert_eq!([1, 2, 3, 4, 1].map(&mut granted), [64, 32, 16, 8, 0]);
}

#[test]
fn refused_permission_is_asked_for_again() {
    let mut made = Made::new(CREATE_PERMISSION);
    let permit = |made: &mut Made| {
        let now = made.now;
        made.allocation.permit(now, [192, 0, 2, 7].into(), ([192, 0, 2, 7], 7).into());
        made.run();
        made.run()
    };
    made.refuses = true;
    assert_eq!(permit(&mut made), 1);
    made.refuses = false;
    assert_eq!(permit(&mut made), 2, "it may be granted now");
    assert_eq!(permit(&mut made), 2, "it is granted");
}

#[test]
fn channels_of_an_allocation_are_bounded() {
    let mut made = Made::new(CHANNEL_BIND);
    for round in 0..30 {
        for port in 1..=10 {
            let now = made.now;
            made.allocation.bind(now, ([192, 0, 2, 7], round * 10 + port).into());
        }
        made.run();
    }
    assert_eq!(made.run(), 128);
}

/// The answer to a request for a channel is lost, and the relay uses the channel already.
#[test]
fn data_on_a_channel_counts_before_its_answer_has_come() {
    let mut made = Made::new(CHANNEL_BIND);
    let (now, peer) = (made.now, SocketAddr::from(([192, 0, 2, 7], 7)));
    made.allocation.bind(now, peer);
    let request = loop {
        made.now = made.now + Span::from_millis(100);
        made.allocation.run(made.now);
        let requests: Vec<_> = core::iter::from_fn(|| made.allocation.poll_transmit(made.now)).collect();
        if let Some(request) = requests.into_iter().find(|request| request.starts_with(&CHANNEL_BIND)) {
            break request;
        }
    };
    let at = request.windows(4).position(|part| part == [0x00, 0x0C, 0x00, 0x04]).unwrap();
    let data = |number: &[u8]| [number, &[0, 3, 7, 8, 9]].concat();
    let number = &request[at + 4..at + 6];
    assert_eq!(made.allocation.handle(now, &data(number)), Heard::From(peer, 4..7));
    assert_eq!(made.allocation.handle(now, &data(&[0x4F, 0xFF])), Heard::Nothing, "nobody has asked for it");
    assert_eq!(made.allocation.handle(now, &data(number)[..6]), Heard::Nothing, "it is cut");
}
