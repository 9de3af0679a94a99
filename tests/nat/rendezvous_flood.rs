//! Floods at a rendezvous from many networks: of registrations, of rooms and of guests.

use crate::hostile::{Desk, bytes, registration, source};
use crate::meeting::{Meeting, addr, config, init, ms, secs, server_addr};
use rebout::MAX_DATAGRAM;
use rebout::lab::rendezvous::{Denial, Registration, RendezvousEvent};
use rebout::lab::sim::Recording;
use rebout::lab::wire::rendezvous::{self as wire, Packet, Register};
use rebout::rendezvous::{RendezvousConfig, RoomRefusal};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

/// An address in a /64 of a /48.
fn v6(site: u16, subnet: u16) -> SocketAddr {
    (std::net::Ipv6Addr::new(0x2001, 0xdb8, site, subnet, 0, 0, 0, 1), 7_000).into()
}

/// Hosts at a desk, and a flood of registrations with wrong signatures.
struct Siege {
    desk: Desk,
    hosts: Vec<(SocketAddr, Registration, Vec<RendezvousEvent>)>,
    attackers: Vec<SocketAddr>,
    cookies: Vec<u64>,
}

impl Siege {
    /// One hundredth of the default limits, and of the flood that exceeds them: 1 a second of each source, 20 in all.
    fn new(attackers: Vec<SocketAddr>) -> Self {
        let limits =
            RendezvousConfig { max_signatures_per_second: 20, max_requests_per_source: 1, ..config() };
        Self { desk: Desk::new(limits), hosts: Vec::new(), attackers, cookies: Vec::new() }
    }

    fn add_hosts(&mut self, numbers: core::ops::Range<u32>) {
        for number in numbers {
            let mut host = registration(number.into());
            host.set_ticket(7);
            self.hosts.push((source(number << 12), host, Vec::new()));
        }
    }

    fn run_hosts(&mut self) {
        let mut buf = [0; MAX_DATAGRAM];
        for (from, host, events) in &mut self.hosts {
            while let Some((_, len)) = host.poll_transmit(self.desk.now, &mut buf) {
                for (_, answer) in self.desk.say(*from, &buf[..len]) {
                    host.handle_datagram(self.desk.now, server_addr(), &answer);
                }
            }
            while let Some(event) = host.poll_event() {
                events.push(event);
            }
        }
    }

    /// Each attacker spends its whole quota at the start of each second, before the hosts come.
    fn run(&mut self, time: Duration) {
        for step in 0..time.as_millis() / 100 {
            if step % 50 == 0 {
                self.cookies =
                    self.attackers.clone().into_iter().map(|from| self.desk.cookie(from)).collect();
            }
            if step % 10 == 0 {
                for (from, cookie) in self.attackers.iter().zip(&self.cookies) {
                    let register =
                        Register { nonce: 1, cookie: *cookie, key: [9; 32], ticket: 1, signature: [9; 64] };
                    self.desk.say(*from, &bytes(&Packet::Register(register)));
                }
            }
            self.run_hosts();
            self.desk.now += ms(100);
        }
    }
}

fn registered(events: &[RendezvousEvent]) -> usize {
    events.iter().filter(|event| matches!(event, RendezvousEvent::Registered { .. })).count()
}

#[test]
fn open_rooms_are_refreshed_during_a_flood_of_signatures() {
    let mut siege = Siege::new((0..128).map(|site| v6(site, 0)).collect());
    siege.add_hosts(1..51);
    // Before the flood, in some seconds, because 50 hosts are more than 20 signatures.
    let flood = core::mem::take(&mut siege.attackers);
    siege.run(secs(20));
    assert_eq!(siege.desk.server.rooms(), 50);
    siege.attackers = flood;
    siege.run(secs(90));
    assert_eq!(siege.desk.server.rooms(), 50, "open rooms after 90 s");
    for (from, _, events) in &siege.hosts {
        assert!(registered(events) >= 7, "{from}: {events:?}");
        assert!(!events.iter().any(|event| matches!(event, RendezvousEvent::Lapsed { .. })));
    }
    let stats = siege.desk.server.stats();
    assert!(stats.refused(RoomRefusal::Busy) > 5_000, "{stats:?}");
    assert!(stats.refused(RoomRefusal::Signature) <= 20 * 91 + 5, "{stats:?}");
}

#[test]
fn new_host_registers_during_a_flood_of_signatures() {
    let mut siege = Siege::new((0..128).map(|site| v6(site, 0)).collect());
    siege.run(secs(3));
    siege.add_hosts(1..6);
    siege.run(secs(120));
    for (from, _, events) in &siege.hosts {
        assert!(registered(events) >= 1, "{from}: {events:?}");
    }
}

/// 128 networks of one site get no more than a few of them.
#[test]
fn registrations_of_one_network_are_bounded() {
    let mut siege = Siege::new((0..128).map(|subnet| v6(7, subnet)).collect());
    siege.run(secs(10));
    assert_eq!(siege.desk.server.stats().refused(RoomRefusal::Signature), 4 * 10);
}

#[test]
fn registrations_of_one_source_are_bounded() {
    let mut desk = Desk::new(config());
    let (from, mut answers) = (source(1), Vec::new());
    for _ in 0..100 {
        let cookie = desk.cookie(from);
        let register = Register { nonce: 1, cookie, key: [9; 32], ticket: 1, signature: [9; 64] };
        answers
            .extend(desk.say(from, &bytes(&Packet::Register(register))).iter().map(|(_, answer)| answer[9]));
    }
    let stats = desk.server.stats();
    assert_eq!((stats.refused(RoomRefusal::Signature), stats.refused(RoomRefusal::Busy)), (16, 84));
    assert_eq!(answers, [vec![3; 16], vec![5; 84]].concat(), "a wrong signature, and too many requests");
}

/// The default limits by a hundredth: 100 rooms, and 25 networks that register 4 each.
#[test]
fn rooms_of_few_networks_make_room_for_others() {
    let limits = RendezvousConfig { max_rooms: 100, max_rooms_per_source: 4, ..config() };
    let mut desk = Desk::new(limits);
    let mut early = registration(1);
    desk.register(addr(1), &mut early);
    let mut seed = 1_000;
    for round in 0..4 {
        for site in 0..26 {
            seed += 1;
            desk.now += ms(1);
            desk.register(v6(site, round), &mut registration(seed));
        }
    }
    assert_eq!(desk.server.rooms(), 100);
    for number in 0..10_u32 {
        let event = desk.register(source(number << 12), &mut registration(100 + u64::from(number)));
        assert!(matches!(event, Some(RendezvousEvent::Registered { .. })), "{event:?}");
        assert_eq!(desk.server.rooms(), 100);
    }
    desk.now += secs(20);
    let opened = desk.server.stats().rooms_opened;
    assert!(matches!(desk.register(addr(1), &mut early), Some(RendezvousEvent::Registered { .. })));
    assert_eq!(desk.server.stats().rooms_opened, opened, "the room of the early host was kept");
}

/// A room that a guest was brought to is closed after one of the same source that nobody uses.
#[test]
fn unused_room_makes_room_first() {
    let mut desk = Desk::new(RendezvousConfig { max_rooms: 2, ..config() });
    let [mut unused, mut used] = [1, 2].map(registration);
    for host in [&mut unused, &mut used] {
        desk.now += secs(1);
        desk.register(addr(1), host);
    }
    let cookie = desk.cookie(addr(9));
    let post = wire::Post { nonce: 1, cookie, room: used.room(), signal: &init(9) };
    desk.say(addr(9), &bytes(&Packet::Post(post)));
    desk.register(source(1), &mut registration(3));
    desk.now += secs(15);
    assert!(matches!(desk.register(addr(1), &mut used), Some(RendezvousEvent::Registered { .. })));
    assert_eq!((desk.server.stats().refreshes, desk.server.rooms()), (1, 2), "its room was kept");
}

#[test]
fn rooms_of_one_network_are_bounded() {
    let limits = RendezvousConfig { max_rooms: 1_000, max_rooms_per_source: 4, ..config() };
    for at in [|number| v6(7, number), |number| source(u32::from(number))] {
        let mut desk = Desk::new(limits.clone());
        let mut refused = 0;
        for number in 0..48 {
            desk.now += ms(100);
            let event = desk.register(at(number / 4), &mut registration(number.into()));
            refused += usize::from(event == Some(RendezvousEvent::Refused(Denial::Full)));
        }
        assert_eq!((desk.server.rooms(), refused), (32, 16));
    }
}

#[test]
fn lapsed_registration_is_told() {
    let mut siege = Siege::new(Vec::new());
    siege.add_hosts(1..2);
    siege.run(secs(1));
    assert_eq!(registered(&siege.hosts[0].2), 1);
    // The server has forgotten everything, and is busy.
    let limits = RendezvousConfig { max_signatures_per_second: 0, ..config() };
    let now = siege.desk.now;
    siege.desk = Desk::new(limits);
    siege.desk.now = now;
    siege.run(secs(59));
    let lapsed = RendezvousEvent::Lapsed { why: Some(Denial::Busy) };
    assert!(!siege.hosts[0].2.contains(&lapsed));
    siege.run(secs(3));
    let told = siege.hosts[0].2.iter().filter(|event| **event == lapsed).count();
    assert_eq!(told, 1, "{:?}", siege.hosts[0].2);
}

/// `sources` machines that were invited too post new INITs all the time. How long an honest joiner waits for its answer.
fn wait_among(sources: u8) -> Option<Duration> {
    let mut meeting = Meeting::new(1, config());
    meeting.world.network_mut().record(Recording::Off);
    meeting.run(secs(1));
    let crowd: Vec<usize> =
        (0..sources).map(|id| meeting.world.add_stranger(source(u32::from(id) << 12))).collect();
    let room = meeting.host().registration.room();
    let (mut nonce, mut cookies, init) = (0, BTreeMap::new(), init(6));
    let mut flood = |meeting: &mut Meeting, rounds: usize| {
        for _ in 0..rounds {
            let now = meeting.world.now();
            for mail in meeting.world.mail() {
                if let Ok(Packet::Cookie(cookie)) = wire::decode(&mail.datagram) {
                    cookies.insert(mail.to, cookie.cookie);
                }
            }
            meeting.world.clear_mail();
            for from in &crowd {
                nonce += 1;
                let cookie = cookies.get(from).copied().unwrap_or(0);
                let post = Packet::Post(wire::Post { nonce, cookie, room, signal: &init });
                meeting.world.network_mut().send(now, *from, server_addr(), &bytes(&post));
            }
            meeting.run(ms(100));
        }
    };
    flood(&mut meeting, 150);
    let joiner = meeting.join(9);
    let started = meeting.world.now();
    flood(&mut meeting, 200);
    meeting.joiner(joiner).answered_at().map(|at| at - started)
}

#[test]
fn posting_sources_leave_an_honest_joiner_its_share() {
    for (sources, longest) in [(4, 5), (8, 8), (16, 14)] {
        let waited = wait_among(sources);
        assert!(waited.is_some_and(|waited| waited < secs(longest)), "{sources} sources: {waited:?}");
    }
}

/// A cookie of one address is worth nothing at another.
#[test]
fn cookie_of_another_address_is_not_accepted() {
    let mut desk = Desk::new(config());
    let cookie = desk.cookie(addr(1));
    let ask = bytes(&Packet::Ask(wire::Ask { nonce: 1, cookie, room: [0; 16] }));
    let post = bytes(&Packet::Post(wire::Post { nonce: 1, cookie, room: [0; 16], signal: &init(9) }));
    for datagram in [ask, post] {
        let answers = desk.say(addr(2), &datagram);
        assert!(answers.len() == 1 && answers[0].1[0] == 0xEC, "{answers:02X?}");
        assert_ne!(desk.say(addr(1), &datagram)[0].1[0], 0xEC);
    }
}

#[test]
fn posts_of_one_source_are_bounded() {
    let mut desk = Desk::new(config());
    let cookie = desk.cookie(addr(1));
    for nonce in 0..100 {
        let post = wire::Post { nonce, cookie, room: [0; 16], signal: &init(9) };
        desk.say(addr(1), &bytes(&Packet::Post(post)));
    }
    let stats = desk.server.stats();
    assert_eq!((stats.refused(RoomRefusal::NoRoom), stats.refused(RoomRefusal::Busy)), (16, 84));
    let registered = desk.register(addr(1), &mut registration(1));
    assert!(matches!(registered, Some(RendezvousEvent::Registered { .. })), "posts are counted apart");
}

#[test]
fn answers_and_meetings_that_nobody_fetches_are_bounded() {
    let mut desk = Desk::new(RendezvousConfig { reports_meetings: true, ..config() });
    let mut host = registration(1);
    desk.register(addr(1), &mut host);
    let mut guests = Vec::new();
    for number in 0..40_u32 {
        let from = source(number << 12);
        let cookie = desk.cookie(from);
        let post = wire::Post { nonce: 1, cookie, room: host.room(), signal: &init(9) };
        for (_, answer) in desk.say(from, &bytes(&Packet::Post(post))) {
            if let Ok(Packet::Deliver(deliver)) = wire::decode(&answer) {
                guests.push(deliver.guest);
            }
        }
        desk.now += ms(1_000);
        if number % 15 == 0 {
            desk.register(addr(1), &mut host);
        }
        for guest in &guests {
            let answer = wire::Answer { guest: *guest, signal: &crate::meeting::resp(&init(9)) };
            (0..40).for_each(|_| drop(desk.say(addr(1), &bytes(&Packet::Answer(answer)))));
        }
    }
    let answered = desk.server.stats().answered;
    assert!(answered > 256 && answered == guests.len() as u64 * 32, "{answered}");
    let meetings: Vec<_> = core::iter::from_fn(|| desk.server.poll_meeting()).collect();
    assert_eq!((meetings.len(), meetings[0].host, meetings[0].guest), (256, addr(1), source(0)));
    let ask = bytes(&Packet::Ask(wire::Ask { nonce: 1, cookie: 0, room: [0; 16] }));
    for _ in 0..600 {
        rebout::Protocol::handle_datagram(&mut desk.server, desk.now, addr(2), &ask);
    }
    assert_eq!(desk.server.stats().refused(RoomRefusal::Overflow), 600 - 512);
}
