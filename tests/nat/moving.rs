//! Players whose outside addresses change in mid-match: no path is left, and they find each other again through the rendezvous.

use super::internet::{HOST, Internet, JOINER, Plan, RENDEZVOUS, Router, at, ms, rendezvous_addr};
use core::time::Duration;
use rebout::Event;
use rebout::lab::link::{Chance, LinkConfig};
use rebout::lab::sim::{NatKind, Recording};
use rebout::lab::wire::rendezvous::{Deliver, Packet, decode, encode};

const BOTH: [usize; 2] = [HOST, JOINER];

/// How a player moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Move {
    /// Its router forgets all mappings.
    Rebind,
    /// It is behind another router from now on, such as that of a phone.
    NewAddress,
}

fn plan(host: Router, joiner: Router, has_relay: bool) -> Plan {
    Plan { has_relay, waits: true, frames: 60_000, ..Plan::new(host, joiner) }
}

fn names(internet: &Internet) -> [&'static str; 2] {
    BOTH.map(|id| internet.player(id).progress().name())
}

pub(crate) fn move_player(internet: &mut Internet, id: usize, how: Move) {
    let now = internet.world.now();
    let network = internet.world.network_mut();
    match how {
        Move::Rebind => network.forget(internet.nats[id].unwrap(), now),
        Move::NewAddress => {
            let outside = at(&format!("203.0.113.{}:1", 101 + id)).ip();
            network.forget(internet.nats[id].unwrap(), now);
            let nat = network.add_nat(outside, NatKind::PortRestricted);
            network.place_behind(id, nat);
            internet.nats[id] = Some(nat);
        }
    }
}

/// How long the players waited for each other. Nobody's match has ended.
fn outage(internet: &Internet) -> Duration {
    for id in BOTH {
        let has_ended = |(_, event): &(Duration, Event)| matches!(event, Event::Ended(_));
        assert!(!internet.player(id).peer.events.iter().any(has_ended), "{}", internet.report());
    }
    BOTH.map(|id| internet.player(id).gap).into_iter().max().unwrap()
}

/// A match in which these players move at once, and the time that it then stood still. Both have a direct path again.
fn moved(plan: Plan, moves: &[(usize, Move)], disturb: impl Fn(&mut Internet)) -> Duration {
    let mut internet = Internet::new(plan);
    internet.begin();
    internet.run_for(ms(2_000));
    assert_eq!(names(&internet), ["direct"; 2]);
    let before = BOTH.map(|id| internet.player(id).seal().stats().connections);
    moves.iter().for_each(|(id, how)| move_player(&mut internet, *id, *how));
    disturb(&mut internet);
    internet.run_for(ms(15_000));
    let outage = outage(&internet);
    assert_eq!(names(&internet), ["direct"; 2], "{moves:?} {}", internet.report());
    let frames = BOTH.map(|id| internet.player(id).peer.session().unwrap().settled().0);
    internet.run_for(ms(1_000));
    for id in BOTH {
        let settled = internet.player(id).peer.session().unwrap().settled().0 - frames[id];
        assert!((55..=65).contains(&settled), "{settled} frames in a second: {}", internet.report());
    }
    let after = BOTH.map(|id| internet.player(id).seal().stats().connections);
    assert_eq!(before, after, "with the keys that the match began with");
    println!("{:?} relay {}: {moves:?} after {outage:?}", plan.routers, plan.has_relay);
    outage
}

#[test]
fn both_move_at_once_without_a_relay() {
    let plan = plan(Router::Cone, Router::Cone, false);
    for how in [Move::Rebind, Move::NewAddress] {
        assert!(moved(plan, &BOTH.map(|id| (id, how)), |_| {}) < ms(5_000));
    }
    assert!(moved(plan, &[(HOST, Move::Rebind), (JOINER, Move::NewAddress)], |_| {}) < ms(5_000));
}

#[test]
fn one_moves_without_a_relay() {
    let plan = plan(Router::Cone, Router::Cone, false);
    for id in BOTH {
        for how in [Move::Rebind, Move::NewAddress] {
            assert!(moved(plan, &[(id, how)], |_| {}) < ms(5_000));
        }
    }
}

#[test]
fn both_move_at_once_with_a_relay() {
    let plan = plan(Router::Cone, Router::Cone, true);
    for how in [Move::Rebind, Move::NewAddress] {
        assert!(moved(plan, &BOTH.map(|id| (id, how)), |_| {}) < ms(5_000));
    }
}

#[test]
fn both_move_while_the_rendezvous_loses_packets() {
    for seed in 0..support::repeats(8) {
        let plan = Plan { seed, ..plan(Router::Cone, Router::Cone, false) };
        let lossy = LinkConfig { loss: Chance::percent(30), ..LinkConfig::new(ms(20)) };
        let lose =
            |internet: &mut Internet| BOTH.iter().for_each(|id| internet.set_line(*id, RENDEZVOUS, lossy));
        assert!(moved(plan, &BOTH.map(|id| (id, Move::NewAddress)), lose) < ms(12_000));
    }
}

/// Who has recorded all signals sends them again in the name of the rendezvous, as they were and changed.
#[test]
fn recorded_and_forged_signals_move_nothing() {
    let mut internet = Internet::new(plan(Router::Cone, Router::Cone, false));
    internet.begin();
    internet.run_for(ms(1_000));
    internet.world.network_mut().record(Recording::Full);
    BOTH.iter().for_each(|id| move_player(&mut internet, *id, Move::NewAddress));
    internet.run_for(ms(8_000));
    assert_eq!(names(&internet), ["direct"; 2], "{}", internet.report());
    let entries = internet.world.network().transcript().entries().to_vec();
    let stranger = internet.world.add_stranger(at("192.0.2.66:7000"));
    let state = |internet: &Internet| {
        BOTH.map(|id| {
            let player = internet.player(id);
            let inner = player.peer.session().unwrap().peer();
            (player.nat().stats().searches, player.seal().outer_addr(inner))
        })
    };
    let before = state(&internet);
    let refused = BOTH.map(|id| internet.player(id).nat().stats().signals_refused);
    let (outside, mut sent) = (BOTH.map(|id| internet.outside(id)), 0);
    for (number, entry) in entries.iter().enumerate() {
        let Ok(packet) = decode(&entry.datagram) else { continue };
        let now = internet.world.now();
        for guest in [number as u64, 7 << 40 | number as u64] {
            let (to, forged) = match packet {
                // Another number makes it a new guest to the host.
                Packet::Deliver(deliver) => (HOST, Packet::Deliver(Deliver { guest, ..deliver })),
                Packet::Reply(reply) => (JOINER, Packet::Reply(reply)),
                _ => continue,
            };
            let mut bytes = [0; 600];
            let len = encode(&forged, &mut bytes).unwrap();
            if guest >> 40 == 7 {
                bytes[len - 1] ^= 1;
            }
            internet.world.network_mut().inject(now + ms(1), rendezvous_addr(), outside[to], &bytes[..len]);
            sent += 1;
        }
        internet.run_for(ms(2));
    }
    internet.run_for(ms(3_000));
    assert!(sent >= 8, "{sent} packets");
    let now_refused = BOTH.map(|id| internet.player(id).nat().stats().signals_refused);
    assert!(BOTH.iter().all(|id| now_refused[*id] > refused[*id]), "{refused:?} {now_refused:?}");
    assert_eq!(state(&internet), before, "{}", internet.report());
    assert_eq!(internet.world.mail().iter().filter(|mail| mail.to == stranger).count(), 0);
    assert!(outage(&internet) < ms(5_000));
}
