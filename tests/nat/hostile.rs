//! A rendezvous among strangers, watchers and invited guests: no room is taken over, nothing grows, nothing is amplified.

use crate::meeting::{Meeting, Party, addr, config, init, ms, resp, secs, server_addr, signal};
use rebout::Randomness;
use rebout::lab::rendezvous::{Denial, JoinRequest, Registration, RendezvousEvent};
use rebout::lab::sim::{Clock, EntryKind, NatKind, Recording};
use rebout::lab::wire::rendezvous::{
    self as wire, Answer, Ask, Cookie, Deliver, Grant, Outcome, Packet, Register, Reply, encode,
};
use rebout::rendezvous::{RendezvousConfig, RendezvousServer, RoomRefusal};
use rebout::{MAX_DATAGRAM, Protocol, Rng};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

pub(crate) fn bytes(packet: &Packet<'_>) -> Vec<u8> {
    let mut buf = [0; MAX_DATAGRAM];
    let len = encode(packet, &mut buf).unwrap();
    buf[..len].to_vec()
}

/// A server that is spoken to directly, and the bytes that went each way.
pub(crate) struct Desk {
    pub(crate) server: RendezvousServer,
    pub(crate) now: Duration,
    received: BTreeMap<SocketAddr, usize>,
    sent: BTreeMap<SocketAddr, usize>,
}

impl Desk {
    pub(crate) fn new(config: RendezvousConfig) -> Self {
        let server = RendezvousServer::new(config, Randomness::Seeded(5)).unwrap();
        Self { server, now: secs(1), received: BTreeMap::new(), sent: BTreeMap::new() }
    }

    /// Hands in a datagram, and returns the answers.
    pub(crate) fn say(&mut self, from: SocketAddr, datagram: &[u8]) -> Vec<(SocketAddr, Vec<u8>)> {
        *self.received.entry(from).or_default() += datagram.len();
        self.server.handle_datagram(self.now, from, datagram);
        let mut buf = [0; MAX_DATAGRAM];
        let mut answers = Vec::new();
        while let Some((to, len)) = self.server.poll_transmit(self.now, &mut buf) {
            *self.sent.entry(to).or_default() += len;
            answers.push((to, buf[..len].to_vec()));
        }
        let stats = self.server.stats();
        assert!(stats.bytes_sent <= stats.bytes_received, "more was sent than came");
        answers
    }

    /// A cookie for an address.
    pub(crate) fn cookie(&mut self, from: SocketAddr) -> u64 {
        let ask = bytes(&Packet::Ask(Ask { nonce: 1, cookie: 0, room: [0; 16] }));
        let answers = self.say(from, &ask);
        match wire::decode(&answers[0].1) {
            Ok(Packet::Cookie(Cookie { cookie, .. })) => cookie,
            other => panic!("{other:?}"),
        }
    }

    /// Runs a registration until the server has granted or refused it.
    pub(crate) fn register(
        &mut self,
        from: SocketAddr,
        registration: &mut Registration,
    ) -> Option<RendezvousEvent> {
        registration.set_ticket(7);
        let mut buf = [0; MAX_DATAGRAM];
        for _ in 0..4 {
            while let Some((_, len)) = registration.poll_transmit(self.now, &mut buf) {
                for (to, datagram) in self.say(from, &buf[..len]) {
                    assert_eq!(to, from);
                    registration.handle_datagram(self.now, server_addr(), &datagram);
                }
            }
        }
        registration.poll_event()
    }
}

pub(crate) fn registration(seed: u64) -> Registration {
    let mut secret = [0; 32];
    secret[..8].copy_from_slice(&seed.to_be_bytes());
    Registration::new(server_addr(), &secret, Randomness::Seeded(seed)).unwrap()
}

pub(crate) fn source(number: u32) -> SocketAddr {
    (std::net::Ipv4Addr::from(0x0A00_0000 + number), 7_000).into()
}

/// All REGISTERs that a watcher has seen.
fn seen_registers(meeting: &Meeting) -> Vec<Vec<u8>> {
    let entries = meeting.world.network().transcript().entries().iter();
    let registers = entries.filter(|entry| entry.kind == EntryKind::Sent && entry.datagram[0] == 0xE8);
    registers.map(|entry| entry.datagram.clone()).collect()
}

#[test]
fn eavesdropper_cannot_take_over_a_room() {
    let mut meeting = Meeting::new(1, config());
    meeting.world.network_mut().record(Recording::Full);
    let thief = meeting.world.add_stranger(addr(66));
    meeting.run(ms(200));
    for round in 0_u64..12 {
        let now = meeting.world.now();
        // Everything that the host has ever said, from the thief's own address and from forged ones.
        for datagram in seen_registers(&meeting) {
            meeting.world.network_mut().send(now, thief, server_addr(), &datagram);
            meeting.world.network_mut().inject(now, addr(67), server_addr(), &datagram);
            meeting.world.network_mut().inject(now, addr(1), server_addr(), &datagram);
        }
        // The thief's own cookie with the host's key, and a signature that is the host's for another cookie.
        let mut cookies = meeting.world.mail().iter().filter_map(|mail| match wire::decode(&mail.datagram) {
            Ok(Packet::Cookie(cookie)) => Some(cookie.cookie),
            _ => None,
        });
        if let (Some(cookie), Some(seen)) = (cookies.next_back(), seen_registers(&meeting).last()) {
            let Ok(Packet::Register(theirs)) = wire::decode(seen) else { panic!() };
            let forged = Register { cookie, nonce: round, ..theirs };
            let forged = bytes(&Packet::Register(forged));
            meeting.world.network_mut().send(now, thief, server_addr(), &forged);
        }
        meeting.run(secs(4));
    }
    assert!(meeting.server().stats().refused(RoomRefusal::Signature) >= 5);
    assert!(meeting.server().stats().cookies > 100);
    let joiner = meeting.join(9);
    meeting.run(secs(2));
    assert!(meeting.joiner(joiner).answered_at().is_some());
    assert_eq!(meeting.host().delivered(), [init(9)]);
    let stolen = meeting.world.mail().iter().filter(|mail| mail.datagram[0] == 0xEE).count();
    assert_eq!(stolen, 0, "no INIT reached the thief");
}

#[test]
fn recorded_registration_does_not_bring_a_moved_host_back() {
    let mut meeting = Meeting::new(1, config());
    meeting.world.network_mut().record(Recording::Full);
    let nat = meeting.world.network_mut().add_nat([198, 51, 100, 7].into(), NatKind::PortRestricted);
    meeting.world.network_mut().place_behind(1, nat);
    meeting.run(secs(1));
    let old = meeting.host().observed().unwrap();
    let recorded = seen_registers(&meeting).pop().unwrap();
    let now = meeting.world.now();
    meeting.world.network_mut().forget(nat, now);
    meeting.host_mut().registration.refresh();
    meeting.run(secs(5));
    assert_ne!(meeting.host().observed(), Some(old));
    // The cookie is still good, and its address is the forged one.
    let now = meeting.world.now();
    meeting.world.network_mut().inject(now, old, server_addr(), &recorded);
    meeting.run(secs(1));
    assert_eq!(meeting.server().stats().refused(RoomRefusal::Stale), 1);
    let joiner = meeting.join(9);
    meeting.run(secs(1));
    assert!(meeting.joiner(joiner).answered_at().is_some());
}

#[test]
fn only_the_host_of_a_guest_answers_it() {
    let mut desk = Desk::new(config());
    let (mut honest, mut other) = (registration(1), registration(2));
    assert!(matches!(desk.register(addr(1), &mut honest), Some(RendezvousEvent::Registered { .. })));
    assert!(matches!(desk.register(addr(2), &mut other), Some(RendezvousEvent::Registered { .. })));
    let cookie = desk.cookie(addr(9));
    let post = wire::Post { nonce: 3, cookie, room: honest.room(), signal: &init(9) };
    let answers = desk.say(addr(9), &bytes(&Packet::Post(post)));
    let guest = answers.iter().find_map(|(to, datagram)| match wire::decode(datagram) {
        Ok(Packet::Deliver(deliver)) if *to == addr(1) => Some(deliver.guest),
        _ => None,
    });
    let guest = guest.expect("the host has a guest");
    let answer = bytes(&Packet::Answer(Answer { guest, signal: &resp(&init(9)) }));
    for stranger in [addr(2), addr(3), addr(9)] {
        assert_eq!(desk.say(stranger, &answer), []);
    }
    for guess in 1..=100 {
        let answer = Answer { guest: guest.wrapping_add(guess), signal: &resp(&init(9)) };
        assert_eq!(desk.say(addr(1), &bytes(&Packet::Answer(answer))), []);
    }
    assert_eq!(desk.server.stats().refused(RoomRefusal::NoGuest), 103);
    let right = desk.say(addr(1), &answer);
    assert_eq!((right.len(), right[0].0), (1, addr(9)));
}

#[test]
fn flood_of_rooms_is_bounded_and_leaves_open_rooms_alone() {
    let limits =
        RendezvousConfig { max_rooms: 40, max_rooms_per_source: 8, max_requests_per_source: 250, ..config() };
    let mut desk = Desk::new(limits);
    let mut honest = registration(1);
    desk.register(addr(1), &mut honest);
    let mut refused = 0;
    for number in 0_u32..300 {
        let event = desk.register(source(number / 20), &mut registration(1_000 + u64::from(number)));
        refused += usize::from(event == Some(RendezvousEvent::Refused(Denial::Full)));
        assert!(desk.server.rooms() <= 40);
    }
    assert_eq!((desk.server.rooms(), refused), (40, 300 - 39));
    assert_eq!(desk.server.stats().refused(RoomRefusal::Full), 300 - 39);
    desk.now += secs(16);
    assert!(matches!(desk.register(addr(1), &mut honest), Some(RendezvousEvent::Registered { .. })));
    desk.now += secs(59);
    desk.say(addr(1), b"");
    assert_eq!(desk.server.rooms(), 1, "the others are forgotten");
}

#[test]
fn signatures_cost_the_server_a_bounded_time() {
    let limits = RendezvousConfig { max_signatures_per_second: 30, max_requests_per_source: 10, ..config() };
    let mut desk = Desk::new(limits);
    for number in 0_u32..100 {
        let from = source(number % 20);
        let cookie = desk.cookie(from);
        let register = Register { nonce: 1, cookie, key: [9; 32], ticket: 1, signature: [9; 64] };
        desk.say(from, &bytes(&Packet::Register(register)));
    }
    let stats = desk.server.stats();
    assert_eq!(stats.refused(RoomRefusal::Signature), 7, "a quarter of a second at once");
    assert_eq!(stats.refused(RoomRefusal::Busy), 93);
}

#[test]
fn flood_of_join_requests_is_bounded_and_a_joiner_connects() {
    let mut meeting = Meeting::new(1, RendezvousConfig { max_guests: 64, ..config() });
    meeting.world.network_mut().record(Recording::Off);
    meeting.run(secs(1));
    // Three machines that were invited too, each with as many cookies and nonces as it likes.
    let crowd: Vec<usize> = (0..3).map(|id| meeting.world.add_stranger(addr(60 + id))).collect();
    let room = meeting.host().registration.room();
    let (mut nonce, init) = (0, init(6));
    let mut flood = |meeting: &mut Meeting, rounds: usize| {
        for _ in 0..rounds {
            let now = meeting.world.now();
            let cookies: BTreeMap<usize, u64> = meeting
                .world
                .mail()
                .iter()
                .filter_map(|mail| match wire::decode(&mail.datagram) {
                    Ok(Packet::Cookie(cookie)) => Some((mail.to, cookie.cookie)),
                    _ => None,
                })
                .collect();
            meeting.world.clear_mail();
            for from in &crowd {
                for _ in 0..10 {
                    nonce += 1;
                    let cookie = cookies.get(from).copied().unwrap_or(0);
                    let post = Packet::Post(wire::Post { nonce, cookie, room, signal: &init });
                    meeting.world.network_mut().send(now, *from, server_addr(), &bytes(&post));
                }
            }
            meeting.run(ms(100));
            assert!(meeting.server().guests() <= 17);
        }
    };
    flood(&mut meeting, 30);
    let joiner = meeting.join(9);
    let started = meeting.world.now();
    flood(&mut meeting, 50);
    let answered = meeting.joiner(joiner).answered_at().expect("an answer");
    assert!(answered - started < secs(3), "{:?}", answered - started);
    let stats = *meeting.server().stats();
    assert!(stats.refused(RoomRefusal::Crowded) + stats.refused(RoomRefusal::Busy) > 100, "{stats:?}");
    assert!(stats.bytes_sent <= stats.bytes_received);
    assert!(meeting.host().delivered().len() < 40, "{}", meeting.host().delivered().len());
}

/// Junk, changed packets and right ones in a wrong order, from many addresses.
#[test]
fn no_address_that_echoed_no_cookie_gets_more_than_it_sent() {
    let mut desk = Desk::new(config());
    let mut rng = Rng::new(11).unwrap();
    let mut honest = registration(1);
    desk.register(addr(1), &mut honest);
    let signed = honest.room();
    let (control, handshake) = (signal(3), (init(3), resp(&init(3))));
    let mut draw = move |below: u32| rng.below(below);
    for round in 0..20_000_u32 {
        desk.now += ms(u64::from(draw(4)));
        let from = source(draw(500));
        let cookie = u64::from(draw(3)) << 60 | u64::from(draw(1 << 30));
        let room = if draw(2) == 0 { signed } else { [draw(256) as u8; 16] };
        let (nonce, guest) = (u64::from(round), u64::from(draw(1 << 30)));
        let signals = if draw(2) == 0 { (&control, &control) } else { (&handshake.0, &handshake.1) };
        let mut datagram = match draw(9) {
            0 => stun(draw(12) as usize * 4),
            kind => bytes(&match kind - 1 {
                0 => {
                    Packet::Register(Register { nonce, cookie, key: [3; 32], ticket: 1, signature: [7; 64] })
                }
                1 => Packet::Ask(Ask { nonce, cookie, room }),
                2 => Packet::Post(wire::Post { nonce, cookie, room, signal: signals.0 }),
                3 => Packet::Answer(Answer { guest, signal: signals.1 }),
                4 => Packet::Cookie(Cookie { nonce, cookie: cookie | 1, observed: from }),
                5 => Packet::Grant(Grant { nonce, observed: from, ticket: 1, turn: None }),
                6 => Packet::Deliver(Deliver { nonce, guest, signal: signals.0 }),
                _ => Packet::Reply(Reply { nonce, outcome: Outcome::Posted }),
            }),
        };
        for _ in 0..draw(3) {
            let at = draw(datagram.len() as u32) as usize;
            datagram[at] = draw(256) as u8;
        }
        if draw(8) == 0 {
            datagram.truncate(draw(datagram.len() as u32) as usize);
        }
        for (to, answer) in desk.say(from, &datagram) {
            assert!(to == from && answer.len() < datagram.len(), "{} for {}", answer.len(), datagram.len());
        }
        assert!(desk.sent.get(&from) <= desk.received.get(&from));
    }
    let stats = desk.server.stats();
    assert!(stats.cookies > 3_000 && stats.refused(RoomRefusal::Malformed) > 1_000, "{stats:?}");
    assert!(stats.refused(RoomRefusal::Unexpected) > 1_000 && stats.refused(RoomRefusal::Version) > 10);
    assert_eq!((stats.delivered, stats.answered, stats.rooms_opened), (0, 0, 1));
    assert!(stats.bindings > 300, "{stats:?}");
}

/// A STUN Binding request with an attribute, in all of this many bytes after its head.
pub(crate) fn stun(len: usize) -> Vec<u8> {
    let mut request = vec![0x00, 0x01, 0x00, len as u8, 0x21, 0x12, 0xA4, 0x42];
    request.extend([7; 12]);
    request.extend([[0x80, 0x22, 0, len.saturating_sub(4) as u8]].concat().iter().take(len));
    request.resize(20 + len, b'x');
    request
}

#[test]
fn stun_requests_are_answered_up_to_a_quota() {
    let mut desk = Desk::new(config());
    let answers = (0..100).flat_map(|_| desk.say(addr(9), &stun(28))).collect::<Vec<_>>();
    assert_eq!(answers.len(), 16, "of one source in a second");
    let mapped = [0x00, 0x20, 0, 8, 0, 1, 0x1B ^ 0x21, 0x58 ^ 0x12, 192 ^ 0x21, 0x12, 2 ^ 0xA4, 9 ^ 0x42];
    assert_eq!(answers[0].1, [&[0x01, 0x01, 0, 12], &stun(0)[4..], &mapped].concat());
    assert_eq!(desk.server.stats().refused(RoomRefusal::Busy), 84);
    // The source may be forged: its requests of a rendezvous have limits of their own.
    assert!(desk.register(addr(9), &mut registration(1)).is_some());
    assert_eq!(desk.say(addr(8), &stun(28)).len(), 1, "another source");
    assert!(desk.say(addr(7), &stun(8)).is_empty(), "its answer would be longer");
}

/// The INITs that a host gets.
fn delivered(answers: &[(SocketAddr, Vec<u8>)]) -> usize {
    answers.iter().filter(|(_, datagram)| datagram[0] == 0xEE).count()
}

#[test]
fn one_source_brings_a_host_three_inits_whatever_it_posts() {
    let mut desk = Desk::new(config());
    let mut honest = registration(1);
    desk.register(addr(1), &mut honest);
    let cookie = desk.cookie(addr(6));
    let mut brought = 0;
    for round in 0..100_u64 {
        desk.now += ms(100);
        let init = init(round as u8);
        let post = wire::Post { nonce: 7, cookie, room: honest.room(), signal: &init };
        brought += delivered(&desk.say(addr(6), &bytes(&Packet::Post(post))));
    }
    assert_eq!(brought, 3, "in ten seconds");
}

/// Damaged copies of everything that a host and its guests say, from addresses that have their own cookies.
#[test]
fn altered_packets_take_no_room_and_are_not_amplified() {
    let mut desk = Desk::new(RendezvousConfig { max_rooms: 20, max_guests: 30, ..config() });
    let mut rng = Rng::new(17).unwrap();
    let mut draw = move |below: u32| rng.below(below);
    let mut honest = registration(1);
    desk.register(addr(1), &mut honest);
    let mut buf = [0; MAX_DATAGRAM];
    honest.refresh();
    let (_, len) = honest.poll_transmit(desk.now, &mut buf).unwrap();
    let mut said = vec![buf[..len].to_vec()];
    let room = honest.room();
    for number in 0..20_000_u32 {
        desk.now += ms(u64::from(draw(5)));
        let from = source(draw(60));
        if number % 100 == 0 {
            honest.refresh();
            desk.register(addr(1), &mut honest);
        }
        let mut datagram = said[draw(said.len() as u32) as usize].clone();
        if draw(3) == 0 {
            let cookie = desk.cookie(from);
            let (init, nonce) = (init(draw(4) as u8), draw(3).into());
            datagram = bytes(&match draw(3) {
                0 => Packet::Ask(Ask { nonce, cookie, room }),
                _ => Packet::Post(wire::Post { nonce, cookie, room, signal: &init }),
            });
            said.push(datagram.clone());
            said.drain(1..said.len().saturating_sub(50).max(1));
        }
        for _ in 0..draw(4) {
            let at = draw(datagram.len() as u32) as usize;
            datagram[at] = draw(256) as u8;
        }
        for (to, answer) in desk.say(from, &datagram) {
            assert!(to == from || to == addr(1) && answer[0] == 0xEE, "{to} {answer:02X?}");
        }
        assert!(desk.server.rooms() == 1 && desk.server.guests() <= 30);
    }
    let stats = desk.server.stats();
    assert!(stats.delivered > 30 && stats.refused(RoomRefusal::Crowded) > 1_000, "{stats:?}");
    assert!(stats.cookies > 1_000 && stats.refused(RoomRefusal::Malformed) > 500, "{stats:?}");
}

#[test]
fn another_version_is_refused_by_name() {
    let mut desk = Desk::new(config());
    let mut ask = bytes(&Packet::Ask(Ask { nonce: 0x0102, cookie: 0, room: [0; 16] }));
    ask[1] = 2;
    let answers = desk.say(addr(9), &ask);
    let refused = Reply { nonce: 0x0102, outcome: Outcome::Refused(Denial::Version) };
    assert_eq!(wire::decode(&answers[0].1), Ok(Packet::Reply(refused)));
    assert_eq!(desk.say(addr(9), &[0xE8, 2, 1, 2, 3]), [], "too short to be answered");
}

/// Somebody who knows both addresses, and not the nonces.
#[test]
fn blind_forger_of_answers_is_not_believed() {
    let mut meeting = Meeting::new(1, config());
    let joiner = meeting.join(9);
    let (init, resp) = (init(66), resp(&init(66)));
    for round in 0..2_000 {
        let now = meeting.world.now();
        for to in [addr(1), addr(9)] {
            let packets = [
                Packet::Cookie(Cookie { nonce: round, cookie: 7, observed: addr(66) }),
                Packet::Grant(Grant { nonce: round, observed: addr(66), ticket: 66, turn: None }),
                Packet::Deliver(Deliver { nonce: round, guest: 66, signal: &init }),
                Packet::Reply(Reply { nonce: round, outcome: Outcome::Answered(&resp) }),
                Packet::Reply(Reply { nonce: round, outcome: Outcome::Refused(Denial::Full) }),
            ];
            for packet in packets {
                meeting.world.network_mut().inject(now, server_addr(), to, &bytes(&packet));
            }
        }
        meeting.run(ms(1));
    }
    meeting.run(secs(1));
    assert!(meeting.joiner(joiner).answered_at().is_some());
    assert_eq!(meeting.joiner(joiner).events.len(), 2, "a ticket and an answer");
    assert_eq!(meeting.joiner(joiner).ticket(), Some(1));
    assert_eq!((meeting.host().events.len(), meeting.host().observed()), (2, Some(addr(1))));
}

/// A server, or somebody on the way to it, that answers with a RESP of its own first.
#[test]
fn wrong_answer_does_not_keep_out_the_right_one() {
    let mut post = JoinRequest::new(server_addr(), [1; 16], Randomness::Seeded(1)).unwrap();
    let mut buf = [0; MAX_DATAGRAM];
    assert!(post.post(&init(9)));
    let (_, len) = post.poll_transmit(ms(1), &mut buf).unwrap();
    let Ok(Packet::Post(sent)) = wire::decode(&buf[..len]) else { panic!() };
    let nonce = sent.nonce;
    for answer in [init(66), init(9)] {
        let resp = resp(&answer);
        let reply = bytes(&Packet::Reply(Reply { nonce, outcome: Outcome::Answered(&resp) }));
        post.handle_datagram(ms(2), addr(66), &reply);
        assert_eq!(post.poll_event(), None, "from somewhere else");
        post.handle_datagram(ms(2), server_addr(), &reply);
        post.handle_datagram(ms(2), server_addr(), &reply);
        assert_eq!(
            post.poll_event(),
            Some(rebout::lab::rendezvous::RendezvousEvent::Answered { signal: resp })
        );
        assert_eq!(post.poll_event(), None, "told once");
    }
    assert!(post.poll_transmit(ms(2_000), &mut buf).is_some(), "posted on until it is settled");
}

#[test]
fn crowd_of_rooms_is_served() {
    let mut meeting = Meeting::new(1, config());
    for id in 100..150 {
        meeting.world.add(addr(id), Clock::default(), ms(u64::from(id)), Party::host(id));
    }
    meeting.run(secs(40));
    assert_eq!(meeting.server().rooms(), 51);
    assert_eq!(meeting.server().stats().refreshes, 51 * 2);
}
