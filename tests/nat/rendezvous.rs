//! The rendezvous in the simulator: registering, asking, posting and answering, over loss, restarts and moves.

use crate::hostile::{Desk, bytes, registration};
use crate::meeting::{LATENCY, Meeting, Party, addr, config, init, ms, secs, server_addr, signal};
use rebout::Randomness;
use rebout::lab::link::{Chance, LinkConfig};
use rebout::lab::rendezvous::{Credentials, Registration, RendezvousEvent};
use rebout::lab::sim::{EntryKind, NatKind, Recording};
use rebout::lab::wire::rendezvous::{self as wire, Denial, Outcome, Packet};
use rebout::rendezvous::{RendezvousConfig, RoomRefusal};
use rebout::{MAX_DATAGRAM, Protocol};
use std::time::Duration;

#[test]
fn joiner_finds_its_host_in_four_round_trips() {
    let mut meeting = Meeting::new(1, config());
    meeting.run(secs(1));
    assert_eq!(meeting.host().observed(), Some(addr(1)));
    let joiner = meeting.join(9);
    let started = meeting.world.now();
    meeting.run(secs(2));
    let found = meeting.joiner(joiner);
    // A cookie, a ticket, and two round trips from joiner to host and back.
    assert_eq!(found.answered_at(), Some(started + LATENCY * 8));
    assert_eq!(found.ticket(), Some(meeting.host().tickets));
    assert_eq!(meeting.host().delivered(), [init(9)]);
    let stats = meeting.server().stats();
    assert_eq!((stats.rooms_opened, stats.delivered, stats.answered, stats.asks), (1, 1, 1, 1));
    assert!(stats.bytes_sent <= stats.bytes_received);
}

#[test]
fn both_sides_learn_their_outside_address_and_get_credentials() {
    let mut meeting = Meeting::new(1, config());
    let nat = meeting.world.network_mut().add_nat([198, 51, 100, 7].into(), NatKind::Symmetric);
    meeting.world.network_mut().place_behind(1, nat);
    let joiner = meeting.join(9);
    meeting.run(secs(2));
    let seen = meeting.host().observed().expect("registered");
    assert_eq!(seen.ip().to_string(), "198.51.100.7");
    let Some(RendezvousEvent::Registered { credentials: Some(host), .. }) = meeting.host().events.first()
    else {
        panic!("{:?}", meeting.host().events)
    };
    let found = meeting.joiner(joiner).events.iter().find_map(|(_, event)| match event {
        RendezvousEvent::Ticket { observed, credentials: Some(credentials), .. } => {
            Some((*observed, credentials))
        }
        _ => None,
    });
    let (observed, join) = found.expect("a ticket with credentials");
    assert_eq!(observed, addr(9));
    for credentials in [host, join] {
        let (expiry, id) = credentials.user.split_once(':').expect("an expiry and an id");
        assert_eq!((expiry, id.len()), ("1700000600", 12));
        assert_eq!((credentials.password.len(), credentials.valid), (28, secs(600)));
        assert_eq!(credentials.server, "203.0.113.1:3478".parse().unwrap());
    }
    assert_ne!(host.user, join.user, "a quota of the TURN server counts each source apart");
}

#[test]
fn server_without_turn_gives_no_credentials() {
    let mut meeting = Meeting::new(1, RendezvousConfig::default());
    meeting.run(secs(1));
    assert!(matches!(meeting.host().events[0], RendezvousEvent::Registered { credentials: None, .. }));
}

#[test]
fn host_and_joiner_meet_at_25_percent_loss() {
    let mut longest = ms(0);
    for seed in 1..=30 {
        let mut meeting = Meeting::new(seed, config());
        let link = LinkConfig { loss: Chance::percent(25), jitter: ms(10), ..LinkConfig::new(LATENCY) };
        meeting.world.network_mut().set_default_link(link);
        for endpoint in 0..2 {
            meeting.world.network_mut().set_links(0, endpoint, link);
        }
        meeting.run(secs(14));
        assert!(meeting.host().observed().is_some(), "seed {seed}");
        let joiner = meeting.join(9);
        meeting.world.network_mut().set_links(0, joiner, link);
        let started = meeting.world.now();
        meeting.run(secs(20));
        let took = meeting.joiner(joiner).answered_at().expect("an answer") - started;
        longest = longest.max(took);
        assert_eq!(meeting.host().delivered(), [init(9)], "each guest is told once: seed {seed}");
    }
    assert!(longest > ms(200) && longest < secs(15), "{longest:?}");
}

#[test]
fn host_repeats_its_answer_when_that_was_lost() {
    let mut meeting = Meeting::new(1, config());
    meeting.run(secs(1));
    let joiner = meeting.join(9);
    // The first two REPLYs that have a RESP.
    meeting.world.network_mut().lose(0, 2, |datagram| datagram[0] == 0xEF && datagram.len() > 300);
    meeting.run(secs(3));
    assert!(meeting.joiner(joiner).answered_at().is_some());
    assert_eq!(meeting.host().delivered().len(), 1);
    assert_eq!(meeting.server().stats().answered, 3);
}

#[test]
fn room_comes_back_after_a_restart_of_the_server() {
    let mut meeting = Meeting::new(1, config());
    meeting.run(secs(5));
    meeting.world.restart(0, Party::server(config(), 77));
    assert_eq!(meeting.server().rooms(), 0);
    let joiner = meeting.join(9);
    // The host asks for its room every 3 s, registers by two round trips, and the joiner posts every second.
    meeting.run(ms(4_200));
    assert_eq!((meeting.server().rooms(), meeting.server().stats().rooms_opened), (1, 1));
    assert!(meeting.joiner(joiner).answered_at().is_some(), "posted on until then");
}

#[test]
fn open_room_is_asked_for_without_a_signature() {
    let mut meeting = Meeting::new(1, config());
    meeting.world.network_mut().record(Recording::Full);
    meeting.run(secs(60));
    let said = |first: u8| {
        let entries = meeting.world.network().transcript().entries().iter();
        entries
            .filter(|one| one.kind == EntryKind::Sent && one.from == addr(1) && one.datagram[0] == first)
            .count()
    };
    let stats = meeting.server().stats();
    assert_eq!((stats.rooms_opened, stats.refreshes, meeting.host().tickets), (1, 3, 4));
    // Four questions between two registrations, each second or third with a cookie of its own.
    assert_eq!(stats.asks, 16);
    assert!((16..=28).contains(&said(0xE9)), "{} ASKs", said(0xE9));
    assert_eq!(said(0xE8), 8, "two REGISTERs for each registration");
    assert_eq!(meeting.host().events.len(), 4 + 16, "with fresh credentials");
}

#[test]
fn host_registers_at_the_first_sign_of_another_address() {
    let (mut desk, mut host, mut buf) = (Desk::new(config()), registration(1), [0; MAX_DATAGRAM]);
    desk.register(addr(1), &mut host);
    desk.now += secs(3);
    let (_, len) = host.poll_transmit(desk.now, &mut buf).expect("an ASK");
    assert_eq!(buf[0], 0xE9);
    for (_, answer) in desk.say(addr(2), &buf[..len]) {
        assert_eq!(answer[0], 0xEC, "a COOKIE, and no GRANT yet");
        host.handle_datagram(desk.now, server_addr(), &answer);
    }
    assert!(host.poll_transmit(desk.now, &mut buf).is_some() && buf[0] == 0xE8, "a REGISTER");
}

#[test]
fn room_that_is_lost_again_and_again_is_registered_every_3_s() {
    let mut meeting = Meeting::new(1, config());
    meeting.run(secs(1));
    let mut opened = 0;
    for round in 0..100 {
        meeting.world.restart(0, Party::server(config(), 100 + round));
        meeting.run(ms(100));
        opened += meeting.server().stats().rooms_opened;
    }
    assert!((2..=4).contains(&opened), "{opened} in 10 s");
}

#[test]
fn host_that_moves_registers_from_its_new_address() {
    let mut meeting = Meeting::new(1, config());
    let nat = meeting.world.network_mut().add_nat([198, 51, 100, 7].into(), NatKind::PortRestricted);
    meeting.world.network_mut().place_behind(1, nat);
    meeting.run(secs(5));
    let before = meeting.host().observed().unwrap();
    meeting.world.network_mut().forget(nat, secs(5));
    let joiner = meeting.join(9);
    // The next question for the room shows the new address, which is signed half a second later. The server then brings INITs to
    // both addresses in turn.
    meeting.run(ms(4_900));
    assert!(meeting.joiner(joiner).answered_at().is_some());
    meeting.run(secs(4));
    let after = meeting.host().observed().unwrap();
    assert_ne!(before, after);
    assert_eq!(meeting.server().rooms(), 1);
}

#[test]
fn host_can_register_again_at_once() {
    let mut meeting = Meeting::new(1, config());
    meeting.run(secs(1));
    meeting.host_mut().registration.refresh();
    meeting.run(ms(100));
    assert_eq!(meeting.host().events.len(), 2);
    assert_eq!(meeting.host().tickets, 2, "with a new ticket");
}

#[test]
fn each_refresh_brings_a_new_ticket() {
    let mut meeting = Meeting::new(1, config());
    meeting.run(secs(100));
    assert_eq!((meeting.host().tickets, meeting.server().stats().refreshes), (7, 6));
    let joiner = meeting.join(9);
    meeting.run(secs(1));
    assert_eq!(meeting.joiner(joiner).ticket(), Some(7));
}

#[test]
fn rooms_and_guests_are_forgotten_in_time() {
    let mut meeting = Meeting::new(1, config());
    meeting.run(secs(1));
    let joiner = meeting.join(9);
    meeting.run(secs(1));
    meeting.world.stop(1);
    meeting.world.stop(joiner);
    assert_eq!((meeting.server().rooms(), meeting.server().guests()), (1, 1));
    meeting.run(secs(12));
    assert_eq!((meeting.server().rooms(), meeting.server().guests()), (1, 0));
    meeting.run(secs(48));
    assert_eq!((meeting.server().rooms(), meeting.server().guests()), (0, 0));
}

/// The answers that a joiner gets in five seconds: each one's delay, kind and length; and its TURN credentials.
fn answers(room_exists: bool) -> (Vec<(Duration, u8, usize)>, Credentials) {
    let mut meeting = Meeting::new(1, config());
    meeting.host_mut().is_silent = true;
    meeting.world.network_mut().record(Recording::Full);
    meeting.run(secs(1));
    let room = if room_exists { meeting.host().registration.room() } else { [7; 16] };
    let joiner = meeting.join_room(9, room);
    let started = meeting.world.now();
    meeting.run(secs(5));
    assert_eq!(meeting.host().delivered().len(), usize::from(room_exists));
    let Some((_, RendezvousEvent::Ticket { credentials: Some(credentials), .. })) =
        meeting.joiner(joiner).events.first()
    else {
        panic!("no ticket")
    };
    let credentials = credentials.clone();
    let transcript = meeting.world.network().transcript();
    let mut to_joiner = Vec::new();
    for entry in transcript.entries().iter().filter(|entry| entry.kind == EntryKind::Sent) {
        if entry.from == server_addr() && entry.to == addr(9) {
            to_joiner.push((entry.at - started, entry.datagram[0], entry.datagram.len()));
        }
    }
    (to_joiner, credentials)
}

#[test]
fn unknown_room_is_answered_like_any_other() {
    let ((there, of_room), (elsewhere, of_no_room)) = (answers(true), answers(false));
    assert_eq!(there, elsewhere);
    assert_eq!(of_room, of_no_room, "the TURN server does not reveal whether the room exists");
    let first: Vec<(u8, usize)> = there.iter().take(3).map(|(_, kind, len)| (*kind, *len)).collect();
    assert_eq!(first, [(0xEC, 35), (0xED, 85), (0xEF, 10)], "a cookie, a grant, and that it was posted");
    assert!(there.len() > 5);
}

#[test]
fn silence_of_server_and_host_are_told_apart() {
    let mut meeting = Meeting::new(1, config());
    meeting.host_mut().is_silent = true;
    meeting.run(secs(1));
    let joiner = meeting.join(9);
    meeting.run(secs(10));
    let told: Vec<_> = meeting.joiner(joiner).events.iter().map(|(_, event)| event.clone()).skip(1).collect();
    assert_eq!(told, [RendezvousEvent::HostSilent]);
    let mut meeting = Meeting::new(1, config());
    meeting.world.stop(0);
    let joiner = meeting.join(9);
    meeting.run(secs(20));
    assert_eq!(meeting.host().events, [RendezvousEvent::ServerSilent]);
    let (at, told) = &meeting.joiner(joiner).events[0];
    assert_eq!((told, meeting.joiner(joiner).events.len()), (&RendezvousEvent::ServerSilent, 1));
    assert!((secs(5)..secs(7)).contains(at), "{at:?}");
}

#[test]
fn meetings_are_logged_only_on_request() {
    for reports_meetings in [false, true] {
        let mut meeting = Meeting::new(1, RendezvousConfig { reports_meetings, ..config() });
        meeting.run(secs(1));
        meeting.join(9);
        meeting.run(secs(1));
        let shown = format!("{:?}", meeting.server());
        assert!(shown.contains("rooms: 1") && !shown.contains("192.0.2."), "{shown}");
        let met = meeting.server_mut().poll_meeting();
        assert_eq!(met.map(|met| (met.host, met.guest)), reports_meetings.then_some((addr(1), addr(9))));
    }
}

#[test]
fn credentials_are_renewed_on_demand() {
    let mut meeting = Meeting::new(1, config());
    meeting.run(secs(1));
    let joiner = meeting.join(9);
    meeting.run(secs(300));
    let Party::Joiner(party) = meeting.world.machine_mut(joiner) else { panic!() };
    party.post.renew_credentials();
    meeting.run(secs(1));
    let users = meeting.joiner(joiner).events.iter().filter_map(|(_, event)| match event {
        RendezvousEvent::Ticket { credentials: Some(credentials), .. } => Some(&*credentials.user),
        _ => None,
    });
    let expiries: Vec<_> = users.map(|user| user.split(':').next().unwrap()).collect();
    assert_eq!(expiries, ["1700000601", "1700000901"]);
}

#[test]
fn registration_succeeds_after_minutes_of_lost_answers() {
    let mut meeting = Meeting::new(1, config());
    meeting.world.network_mut().lose(0, 350, |datagram| datagram[0] == 0xED);
    meeting.run(secs(120));
    assert_eq!(meeting.host().observed(), None);
    meeting.run(secs(60));
    assert_eq!(meeting.host().observed(), Some(addr(1)));
}

/// The answers to the next two packets of a host that sends from `from`: its COOKIE is taken, the last answers are returned.
fn claim(desk: &mut Desk, host: &mut Registration, from: u8) -> Vec<(std::net::SocketAddr, Vec<u8>)> {
    let mut buf = [0; MAX_DATAGRAM];
    let (_, len) = host.poll_transmit(desk.now, &mut buf).expect("a cookie is asked for");
    let answers = desk.say(addr(from), &buf[..len]);
    host.handle_datagram(desk.now, server_addr(), &answers[0].1);
    let (_, len) = host.poll_transmit(desk.now, &mut buf).expect("a signed registration");
    desk.say(addr(from), &buf[..len])
}

#[test]
fn claim_of_a_held_room_is_refused_and_its_holder_challenged() {
    let mut desk = Desk::new(config());
    let mut hosts = [1, 2].map(|seed| {
        let mut host = Registration::new(server_addr(), &[7; 32], Randomness::Seeded(seed)).unwrap();
        host.set_ticket(seed);
        host
    });
    let granted = claim(&mut desk, &mut hosts[0], 1);
    let Ok(Packet::Grant(grant)) = wire::decode(&granted[0].1) else { panic!("{granted:02X?}") };
    assert_eq!((granted.len(), granted[0].0, grant.ticket, grant.observed), (1, addr(1), 1, addr(1)));
    desk.now += secs(1);
    let held = claim(&mut desk, &mut hosts[1], 2);
    let to: Vec<_> = held.iter().map(|(to, _)| *to).collect();
    assert_eq!(to, [addr(2), addr(1)]);
    let refused = wire::decode(&held[0].1);
    assert!(matches!(refused, Ok(Packet::Reply(reply)) if reply.outcome == Outcome::Refused(Denial::Held)));
    let Ok(Packet::Cookie(challenge)) = wire::decode(&held[1].1) else { panic!("{held:02X?}") };
    assert_eq!((challenge.nonce, challenge.observed), (grant.nonce, addr(1)));
}

#[test]
fn server_wakes_to_send_and_to_forget() {
    let mut desk = Desk::new(config());
    let mut host = registration(1);
    desk.register(addr(1), &mut host);
    assert_eq!(desk.server.poll_timeout(), Some(secs(61)));
    let cookie = desk.cookie(addr(9));
    let post = wire::Post { nonce: 1, cookie, room: host.room(), signal: &init(9) };
    let answers = desk.say(addr(9), &bytes(&Packet::Post(post)));
    assert_eq!(desk.server.poll_timeout(), Some(secs(13)));
    let Ok(Packet::Deliver(deliver)) = wire::decode(&answers[1].1) else { panic!("{answers:02X?}") };
    let answer = wire::Answer { guest: deliver.guest, signal: &crate::meeting::resp(&init(9)) };
    desk.server.handle_datagram(desk.now, addr(1), &bytes(&Packet::Answer(answer)));
    assert_eq!(
        (desk.server.poll_timeout(), desk.server.poll_meeting()),
        (Some(ms(0)), None),
        "not asked for"
    );
    desk.say(addr(1), b"");
    for (at, next) in [(13, Some(secs(61))), (61, None)] {
        assert_eq!(desk.server.poll_transmit(secs(at), &mut [0; MAX_DATAGRAM]), None);
        assert_eq!((desk.server.guests(), desk.server.poll_timeout()), (0, next));
    }
    assert_eq!(desk.server.rooms(), 0);
}

/// SIGNALs of a connection that exists are carried like handshakes, within the same limits.
#[test]
fn sealed_signals_travel_within_the_limits_of_guests() {
    let mut desk = Desk::new(config());
    let mut host = registration(1);
    desk.register(addr(1), &mut host);
    let cookie = desk.cookie(addr(9));
    let post = |id: u8| {
        bytes(&Packet::Post(wire::Post { nonce: id.into(), cookie, room: host.room(), signal: &signal(id) }))
    };
    let answers = desk.say(addr(9), &post(1));
    let Ok(Packet::Deliver(deliver)) = wire::decode(&answers[1].1) else { panic!("{answers:02X?}") };
    assert_eq!((answers[1].0, deliver.signal), (addr(1), &signal(1)[..]));
    for id in 2..50 {
        let answer = wire::Answer { guest: deliver.guest, signal: &signal(id) };
        let replies = desk.say(addr(1), &bytes(&Packet::Answer(answer)));
        let expected = wire::Reply { nonce: 1, outcome: wire::Outcome::Answered(&signal(id)) };
        let expected = (addr(9), bytes(&Packet::Reply(expected)));
        assert_eq!(replies, if id < 34 { vec![expected] } else { Vec::new() }, "32 answers");
    }
    // One new guest of a source in a second, three in 12 s.
    let mut delivered = |ms_later: u64, id: u8| {
        desk.now += ms(ms_later);
        let cookie = desk.cookie(addr(9));
        let post = wire::Post { nonce: id.into(), cookie, room: host.room(), signal: &signal(id) };
        desk.say(addr(9), &bytes(&Packet::Post(post))).len() == 2
    };
    let delivered = [(999, 2), (1, 2), (1_000, 3), (1_000, 4), (9_000, 4)].map(|(at, id)| delivered(at, id));
    assert_eq!(delivered, [false, true, true, false, true]);
}

/// A dual-stack socket shows IPv4 addresses as mapped ones.
#[test]
fn mapped_address_is_the_same_source() {
    let mut desk = Desk::new(config());
    let mapped = "[::ffff:192.0.2.77]:7000".parse().unwrap();
    let cookie = desk.cookie(mapped);
    let ask = bytes(&Packet::Ask(wire::Ask { nonce: 1, cookie, room: [0; 16] }));
    for from in [mapped, addr(77)] {
        let answers = desk.say(from, &ask);
        assert_eq!((answers[0].0, answers[0].1[0]), (addr(77), wire::GRANT));
    }
}

#[test]
fn question_for_an_unknown_room_is_counted() {
    let mut desk = Desk::new(config());
    let mut host = registration(1);
    desk.register(addr(1), &mut host);
    let cookie = desk.cookie(addr(9));
    for (room, unknown) in [(host.room(), 0), ([7; 16], 1)] {
        let ask = bytes(&Packet::Ask(wire::Ask { nonce: 1, cookie, room }));
        assert_eq!(desk.say(addr(9), &ask)[0].1[0], wire::GRANT);
        assert_eq!(desk.server.stats().refused(RoomRefusal::NoRoom), unknown);
    }
}
