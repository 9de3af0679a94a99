//! A watcher between a host and its rendezvous: it sees every packet, injects its own, and stops none.

use crate::hostile::{Desk, bytes, registration};
use crate::internet::{HOST, Internet, Plan, RENDEZVOUS, Router};
use crate::meeting::{LATENCY, Meeting, addr, config, ms, secs, server_addr};
use rebout::MAX_DATAGRAM;
use rebout::lab::link::LinkConfig;
use rebout::lab::rendezvous::{Denial, RendezvousEvent};
use rebout::lab::sim::{Entry, EntryKind, Recording};
use rebout::lab::wire::rendezvous::{self as wire, Ask, Outcome, Packet, Register, Reply};
use rebout::rendezvous::RoomRefusal;
use std::time::Duration;

/// A repeat of a REGISTER is due when its GRANT was lost. The times are no multiples of a cookie's unit.
#[test]
fn identical_registers_are_all_granted() {
    let mut desk = Desk::new(config());
    let mut host = registration(1);
    let mut buf = [0; MAX_DATAGRAM];
    host.set_ticket(7);
    for _ in 0..2 {
        let (_, len) = host.poll_transmit(desk.now, &mut buf).unwrap();
        for (_, answer) in desk.say(addr(1), &buf[..len]) {
            host.handle_datagram(desk.now, server_addr(), &answer);
        }
    }
    let signed = buf;
    let granted = (0..27).filter(|round| {
        desk.now += ms(200) + Duration::from_nanos(31_337 * (round % 5) + 1);
        desk.say(addr(1), &signed[..wire::REGISTER_LEN]).iter().any(|(_, answer)| answer[0] == 0xED)
    });
    assert_eq!(granted.count(), 27);
    assert_eq!(desk.server.stats().refused(RoomRefusal::Stale), 0);
}

#[test]
fn lost_grant_is_made_up_for_within_a_second() {
    for seed in 1..=8 {
        let mut meeting = Meeting::new(seed, config());
        let link = LinkConfig { jitter: ms(10), ..LinkConfig::new(LATENCY) };
        meeting.world.network_mut().set_links(0, 1, link);
        meeting.world.network_mut().lose(0, 1, |datagram| datagram[0] == 0xED);
        meeting.run(secs(1));
        assert_eq!(meeting.host().observed(), Some(addr(1)), "seed {seed}");
        let joiner = meeting.join(9);
        meeting.run(secs(1));
        assert!(meeting.joiner(joiner).answered_at().is_some(), "seed {seed}");
    }
}

#[test]
fn forged_refusal_does_not_cancel_the_grant() {
    let mut meeting = Meeting::new(1, config());
    meeting.world.network_mut().record(Recording::Full);
    let mut read = 0;
    for _ in 0..12_000 {
        let now = meeting.world.now();
        for register in registers(&meeting, &mut read) {
            let outcome = Outcome::Refused(Denial::Full);
            let forged = bytes(&Packet::Reply(Reply { nonce: register.nonce, outcome }));
            meeting.world.network_mut().inject(now, server_addr(), addr(1), &forged);
        }
        meeting.run(ms(10));
    }
    let stats = meeting.server().stats();
    let grants = stats.rooms_opened + stats.refreshes;
    assert!((7..=9).contains(&grants), "{grants} registrations in 120 s");
}

/// The REGISTERs that the host has sent since the last call.
fn registers(meeting: &Meeting, read: &mut usize) -> Vec<Register> {
    let entries = meeting.world.network().transcript().entries();
    let new = &entries[*read..];
    *read = entries.len();
    let sent = |entry: &&Entry| entry.kind == EntryKind::Sent && entry.from == addr(1);
    new.iter()
        .filter(sent)
        .filter_map(|entry| match wire::decode(&entry.datagram) {
            Ok(Packet::Register(register)) => Some(register),
            _ => None,
        })
        .collect()
}

/// A watcher who has cookies for its own address, hands them to the host in the server's name, and sends from its own
/// address everything that the host has signed.
struct Thief {
    endpoint: usize,
    read: usize,
    /// The newest COOKIE for the thief's address.
    cookie: Option<Vec<u8>>,
    stolen: usize,
}

impl Thief {
    fn new(meeting: &mut Meeting, id: u8) -> Self {
        meeting.world.network_mut().record(Recording::Full);
        Self { endpoint: meeting.world.add_stranger(addr(id)), read: 0, cookie: None, stolen: 0 }
    }

    /// Attacks for a while. Everything that it injects arrives before the server's own answer.
    fn run(&mut self, meeting: &mut Meeting, time: Duration) {
        let until = meeting.world.now() + time;
        while meeting.world.now() < until {
            let now = meeting.world.now();
            let mut relayed = Vec::new();
            for mail in meeting.world.mail().iter().filter(|mail| mail.to == self.endpoint) {
                match mail.datagram[0] {
                    0xEC if mail.datagram[1..9] == [0x66; 8] => self.cookie = Some(mail.datagram.clone()),
                    0xEE => self.stolen += 1,
                    // Challenges and grants for the stolen address.
                    _ => relayed.push(mail.datagram.clone()),
                }
            }
            meeting.world.clear_mail();
            let network = meeting.world.network_mut();
            for datagram in relayed {
                network.inject(now, server_addr(), addr(1), &datagram);
            }
            // A cookie is handed on while it is new, because a room keeps the registration with the newest.
            let ask = bytes(&Packet::Ask(Ask { nonce: 0x6666_6666_6666_6666, cookie: 0, room: [0; 16] }));
            network.send(now, self.endpoint, server_addr(), &ask);
            for register in registers(meeting, &mut self.read) {
                let network = meeting.world.network_mut();
                if register.cookie != 0 {
                    network.send(now, self.endpoint, server_addr(), &bytes(&Packet::Register(register)));
                }
                if let Some(mut forged) = self.cookie.clone() {
                    forged[1..9].copy_from_slice(&register.nonce.to_be_bytes());
                    network.inject(now, server_addr(), addr(1), &forged);
                }
            }
            meeting.run(ms(10));
        }
    }
}

/// Joiners one after the other while the thief works: the longest time until one has its answer.
fn joins(meeting: &mut Meeting, thief: &mut Thief) -> Option<Duration> {
    let mut longest = Duration::ZERO;
    for id in 10..30 {
        let joiner = meeting.join(id);
        let started = meeting.world.now();
        thief.run(meeting, secs(5));
        longest = longest.max(meeting.joiner(joiner).answered_at()? - started);
    }
    Some(longest)
}

fn contested(meeting: &Meeting) -> bool {
    meeting.host().events.iter().any(|event| matches!(event, RendezvousEvent::Contested { .. }))
}

#[test]
fn watcher_takes_no_init_of_a_registered_host() {
    let mut meeting = Meeting::new(1, config());
    let mut thief = Thief::new(&mut meeting, 66);
    meeting.run(secs(20));
    let longest = joins(&mut meeting, &mut thief);
    assert_eq!(thief.stolen, 0, "INITs went to the watcher");
    assert!(longest.is_some_and(|longest| longest < ms(200)), "{longest:?}");
    assert!(contested(&meeting), "the host is told");
}

#[test]
fn watcher_that_registers_first_keeps_no_joiner_out() {
    let mut meeting = Meeting::new(1, config());
    let mut thief = Thief::new(&mut meeting, 66);
    // The watcher has its cookie before the host starts.
    meeting.world.network_mut().cut_both(0, 1, ms(0), ms(100));
    thief.run(&mut meeting, secs(30));
    assert!(contested(&meeting), "the host is told");
    let longest = joins(&mut meeting, &mut thief);
    assert!(longest.is_some_and(|longest| longest < secs(2)), "{longest:?}, {} stolen", thief.stolen);
}

/// The registration that the host gets a second later has the credentials that the relay asks for.
#[test]
fn joiner_connects_a_second_after_a_lost_grant() {
    for seed in 1..=4 {
        let plan = Plan { seed, ..Plan::new(Router::Symmetric, Router::Symmetric) };
        let mut internet = Internet::new(plan);
        let link = LinkConfig { jitter: ms(10), ..LinkConfig::new(ms(plan.latency_millis)) };
        internet.world.network_mut().set_links(HOST, RENDEZVOUS, link);
        internet.world.network_mut().lose(RENDEZVOUS, 1, |datagram| datagram[0] == 0xED);
        internet.begin();
        assert!(internet.world.now() < secs(3), "seed {seed}: {}", internet.report());
    }
}
