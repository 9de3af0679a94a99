//! A stranger who sees everything and can send anything: each packet changed, repeated, turned round or sent from elsewhere.

use crate::net::{Machine, Net, addr, both_agreed, config, invited, ms, open};
use core::time::Duration;
use games::playground::{PLAY, Playground};
use rebout::lab::link::LinkConfig;
use rebout::lab::seal::SealRefusal;
use rebout::lab::sim::{EntryKind, Recording};
use rebout::lab::{HOST, JOINER, Setup, SimMatch, addresses};
use rebout::{Event, Frame, Lobby};
use std::net::SocketAddr;
use support::repeats;

const SECOND: Duration = Duration::from_secs(1);

fn stranger() -> SocketAddr {
    SocketAddr::from(([203, 0, 113, 9], 9_999))
}

/// Hands all that a stranger can make of one packet by changing one bit of a byte to a machine, and expects that nothing
/// happens but one count each.
fn flipped(machine: &mut Machine, now: Duration, from: SocketAddr, packet: &[u8]) {
    assert_eq!(machine.poll(now), None);
    let (stats, refused) = (*machine.seal.stats(), machine.lobby.refused().total());
    let state = format!("{:?}", machine.lobby);
    for at in 0..packet.len() {
        for bit in [0, 3, 7] {
            let mut bad = packet.to_vec();
            bad[at] ^= 1 << bit;
            machine.hand_in(now, from, &bad);
        }
    }
    for cut in 0..packet.len() {
        machine.hand_in(now, from, &packet[..cut]);
    }
    let after = machine.seal.stats();
    assert_eq!(after.refused.total() - stats.refused.total(), packet.len() as u64 * 4, "{after:?}");
    assert_eq!((after.handshakes, after.connections), (stats.handshakes, stats.connections));
    assert_eq!(machine.lobby.refused().total(), refused, "the lobby has seen none of it");
    assert_eq!(format!("{:?}", machine.lobby), state);
    assert_eq!(machine.poll(now), None, "{:02X?}", &packet[..1]);
}

#[test]
fn each_byte_of_each_packet_of_a_handshake_flipped_is_refused() {
    for (make, kinds) in [(invited as fn() -> Net, 5), (open, 6)] {
        let mut net = make();
        let mut seen = std::collections::BTreeSet::new();
        let mut flying: Vec<(Duration, usize, Vec<u8>)> = Vec::new();
        for millis in 1..800 {
            let now = ms(millis);
            for (_, to, packet) in flying.extract_if(.., |(at, ..)| *at <= now).collect::<Vec<_>>() {
                let from = addr(1 - to);
                while let Some((_, said)) = net.machines[to].poll(now) {
                    flying.push((now + ms(40), 1 - to, said));
                }
                flipped(&mut net.machines[to], now, from, &packet);
                seen.insert(packet[0]);
                net.machines[to].hand_in(now, from, &packet);
            }
            for id in 0..2 {
                while let Some((_, said)) = net.machines[id].poll(now) {
                    flying.push((now + ms(40), 1 - id, said));
                }
            }
        }
        assert!(both_agreed(&net), "it goes on as if nothing had been");
        assert_eq!(seen.len(), kinds, "{seen:02X?}");
    }
}

fn playing(open: bool) -> SimMatch<Playground> {
    let mut sim = SimMatch::new(Setup::new(5, LinkConfig::new(ms(40))), PLAY);
    if open {
        sim.seal_open(5);
    } else {
        sim.seal(5);
    }
    sim.world.network_mut().record(Recording::Full);
    assert!(sim.run_until_frame(120), "{sim:?}");
    sim
}

/// Every datagram that has arrived: who sent it, and what.
fn recorded(sim: &SimMatch<Playground>) -> Vec<(usize, Vec<u8>)> {
    let entries = sim.world.network().transcript().entries().iter();
    let arrived = entries.filter(|entry| entry.kind == EntryKind::Delivered);
    arrived.map(|entry| (usize::from(entry.from != addresses()[0]), entry.datagram.clone())).collect()
}

fn refused(sim: &SimMatch<Playground>, id: usize) -> u64 {
    sim.machine(id).seal.as_ref().unwrap().stats().refused.total()
}

#[test]
fn replayed_and_reflected_packets_change_one_counter() {
    for open in [false, true] {
        let mut sim = playing(open);
        let recorded = recorded(&sim);
        assert!(recorded.len() > 250);
        let before = [0, 1].map(|id| refused(&sim, id));
        let mut sent = [0; 2];
        for (by, packet) in &recorded {
            for (to, from) in [
                (1 - by, addresses()[*by]),
                (1 - by, stranger()),
                (*by, addresses()[1 - by]),
                (*by, stranger()),
            ] {
                // An INIT or REQUEST that comes again is answered, by less than it has; it changes nothing either.
                if !matches!(packet[0], 0xE0 | 0xE2) {
                    sim.inject(to, from, packet);
                    sent[to] += 1;
                }
            }
        }
        for id in [HOST, JOINER] {
            assert_eq!(refused(&sim, id) - before[id], sent[id], "open: {open}");
        }
        sim.run_for(5 * SECOND);
        assert_eq!(sim.flaw(true), None);
        assert!(sim.checked() > Frame(400));
        let events = [0, 1].map(|id| sim.told(id).count());
        assert_eq!(events, [0, 0], "no event");
    }
}

#[test]
fn repeated_requests_and_inits_are_not_amplified() {
    for open in [false, true] {
        let mut sim = playing(open);
        let requests: Vec<_> =
            recorded(&sim).into_iter().filter(|(_, packet)| matches!(packet[0], 0xE0 | 0xE2)).collect();
        let stats = *sim.machine(HOST).seal.as_ref().unwrap().stats();
        for _ in 0..20 {
            for (_, packet) in &requests {
                sim.inject(HOST, stranger(), packet);
            }
            sim.run_for(ms(100));
        }
        sim.run_for(20 * SECOND);
        assert!(
            sim.to_strangers() > 0 && sim.to_strangers() < sim.from_strangers(),
            "{}",
            sim.to_strangers()
        );
        let after = sim.machine(HOST).seal.as_ref().unwrap().stats();
        assert_eq!((after.handshakes, after.connections), (stats.handshakes, stats.connections));
        assert_eq!((sim.flaw(true), sim.told(HOST).count()), (None, 0));
    }
}

#[test]
fn packets_out_of_order_are_taken_once_each() {
    let link = LinkConfig { jitter: ms(80), keep_order: false, ..LinkConfig::new(ms(40)) };
    let mut sim = SimMatch::new(Setup::new(9, link), PLAY);
    sim.seal(9);
    assert!(sim.run_until_frame(1_200), "{sim:?}");
    assert_eq!(sim.flaw(true), None);
    for id in [HOST, JOINER] {
        // DATA may overtake the RESP before it.
        let stats = sim.machine(id).seal.as_ref().unwrap().stats();
        assert_eq!((stats.refused.of(SealRefusal::Replayed), stats.refused.of(SealRefusal::BadTag)), (0, 0));
    }
}

#[test]
fn bare_packets_do_nothing_to_a_sealed_match() {
    let mut sim = playing(false);
    let mut bare = SimMatch::new(Setup::new(5, LinkConfig::new(ms(40))), PLAY);
    bare.eavesdrop();
    assert!(bare.run_until_frame(120));
    // The packets of the same match without a seal, and its goodbye: the numbers in them are right.
    bare.session_mut(JOINER).leave();
    bare.run_for(SECOND);
    let said: Vec<_> = bare.said().map(|said| (said.by, said.datagram.to_vec())).collect();
    assert!(bare.ending(HOST).is_some() && said.len() > 200);
    for (by, packet) in &said {
        sim.inject(1 - by, addresses()[*by], packet);
    }
    sim.run_for(5 * SECOND);
    assert_eq!((sim.flaw(true), sim.told(HOST).count(), sim.told(JOINER).count()), (None, 0, 0));
    let bare = |id: usize| sim.machine(id).seal.as_ref().unwrap().stats().refused.of(SealRefusal::Bare);
    assert_eq!((bare(HOST) + bare(JOINER)) as usize, said.len());
}

/// The HELLO that a recorded INIT brings is of a guest that never answers: nobody waits for it, and nobody hears "full".
#[test]
fn recorded_init_for_a_minute_keeps_nobody_out() {
    let mut net = invited();
    net.filter = Box::new(|_, flying| flying.datagram[0] <= 0xE2);
    net.run(ms(300));
    let init = net.sent_by(1, 0xE2)[0].datagram.clone();
    net.machines.remove(1);
    net.filter = Box::new(|_, _| true);
    let key = net.machines[0].seal.public_key().unwrap();
    for second in 0..60 {
        // A new honest joiner every five seconds, and the seat is free again for the next one.
        if second % 5 == 0 {
            net.machines.truncate(1);
            net.machines[0].lobby = Lobby::host(config(0)).unwrap();
            net.machines.push(Machine::join(second + 2, key, &[addr(0)]));
            net.machines[1].done_at = None;
        }
        let begun = net.now;
        while net.now < begun + SECOND {
            net.machines[0].hand_in(net.now, stranger(), &init);
            net.step();
        }
        assert!(both_agreed(&net), "second {second}");
        if second % 5 == 0 {
            let took = net.machines[1].done_at.unwrap() - begun;
            assert!(took <= ms(500), "{took:?}");
        }
    }
    assert_eq!(net.machines[0].seal.stats().handshakes, 13);
}

#[test]
fn corrupting_link_makes_no_sealed_match_diverge() {
    let mut damaged = [0; 2];
    for seed in 0..20 {
        let matches = [false, true].map(|sealed| {
            let mut sim = SimMatch::new(Setup::new(seed, LinkConfig::corrupting()), PLAY);
            match sealed {
                true if seed.is_multiple_of(2) => sim.seal(seed),
                true => sim.seal_open(seed),
                false => {}
            }
            sim.run_until_frame(600);
            let told = sim.told(HOST).chain(sim.told(JOINER));
            let alarm = told.filter(|event| matches!(event, Event::Desync(_) | Event::InputConflict { .. }));
            (sim.divergence().is_some() || alarm.count() > 0, sim.checked())
        });
        damaged[0] += u32::from(matches[0].0);
        damaged[1] += u32::from(matches[1].0);
        assert!(matches[1].1 >= Frame(600));
    }
    assert!(damaged[0] > 10, "the link does damage: {damaged:?}");
    assert_eq!(damaged[1], 0);
}

/// Packets of every kind and length with random bytes, from both addresses and from elsewhere, during a match.
#[test]
fn blind_packets_change_one_counter_each_and_nothing_else() {
    let mut sim = playing(false);
    let before = [0, 1].map(|id| refused(&sim, id));
    let mut state = 7_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 24
    };
    let mut sent = [0; 2];
    let lengths = [0, 1, 5, 21, 24, 27, 32, 40, 47, 53, 59, 64, 120, 200, 332, 333, 334, 1_200];
    for round in 0..repeats(1_000) {
        for _ in 0..1_000 {
            let len = lengths[next() as usize % lengths.len()];
            let mut packet: Vec<u8> = (0..len).map(|_| next() as u8).collect();
            if let Some(first) = packet.first_mut() {
                *first = 0xE0 + (*first & 7);
            }
            // Half of the handshakes have a version and pattern that are known.
            if packet.len() > 2 && next() % 2 == 0 {
                (packet[1], packet[2]) = (1, 1 + (next() % 2) as u8);
            }
            let to = next() as usize % 2;
            let from = if next() % 2 == 0 { addresses()[1 - to] } else { stranger() };
            sim.inject(to, from, &packet);
            sent[to] += 1;
        }
        if round % 50 == 0 {
            sim.run_for(ms(100));
        }
    }
    for id in [HOST, JOINER] {
        assert_eq!(refused(&sim, id) - before[id], sent[id]);
    }
    assert_eq!((sim.flaw(true), sim.told(HOST).count(), sim.told(JOINER).count()), (None, 0, 0));
    assert_eq!(sim.to_strangers(), 0, "nobody is answered");
}
