//! A watcher that acts before the peer does: a handshake of its own in the peer's name, and copies of packets that win every
//! race, from addresses that it makes up.

use crate::net::{Machine, addr, both_agreed, invited, ms, open};
use core::time::Duration;
use games::playground::{PLAY, Playground};
use rebout::Randomness;
use rebout::lab::link::LinkConfig;
use rebout::lab::seal::{Seal, SealRefusal};
use rebout::lab::sim::{EntryKind, NatKind, Recording};
use rebout::lab::{HOST, JOINER, Setup, SimMatch, addresses};
use std::net::SocketAddr;

const SECOND: Duration = Duration::from_secs(1);

fn sim_match(open: bool) -> SimMatch<Playground> {
    let setup =
        Setup::new(5, LinkConfig::new(ms(40))).configure(|config| config.rollback.delay_frames = Some(4));
    let mut sim = SimMatch::new(setup, PLAY);
    if open {
        sim.seal_open(5);
    } else {
        sim.seal(5);
    }
    sim.world.network_mut().record(Recording::Full);
    sim
}

/// The nonce of a REQUEST.
fn nonce(request: &[u8]) -> u64 {
    assert_eq!(request[0], 0xE0);
    u64::from_be_bytes(*request[5..].first_chunk().unwrap())
}

/// A machine that joins `to` with a smaller nonce than this: of two that join each other, the one that is hosted. And its
/// REQUEST.
fn smaller(than: u64, to: SocketAddr, now: Duration) -> (Machine, Vec<u8>) {
    let requested = |id| {
        let mut machine = Machine::join_open(id, to);
        let (_, request) = machine.poll(now)?;
        (nonce(&request) < than).then_some((machine, request))
    };
    (100..200).find_map(requested).unwrap()
}

/// What a machine has sent to the other one since `seen` entries.
fn overheard(sim: &SimMatch<Playground>, by: usize, seen: &mut usize) -> Vec<Vec<u8>> {
    let entries = sim.world.network().transcript().entries();
    let sent = entries[*seen..].iter().filter(|entry| entry.kind == EntryKind::Sent);
    let of = sent.filter(|entry| entry.from == addresses()[by] && entry.to == addresses()[1 - by]);
    *seen = entries.len();
    of.map(|entry| entry.datagram.clone()).collect()
}

/// A joiner by address would host whoever joins it from the address that it joins. The watcher does so in the middle of a
/// match, with the host's address as its own, and reads the answers off the line.
#[test]
fn eavesdropper_posing_as_the_host_is_refused() {
    let mut sim = sim_match(true);
    assert!(sim.run_until_frame(120), "{sim:?}");
    let mut seen = 0;
    let said = overheard(&sim, JOINER, &mut seen);
    let now = sim.local_now(JOINER);
    let (mut watcher, request) = smaller(nonce(&said[0]), addresses()[JOINER], now);
    let before = sim.machine(JOINER).seal.as_ref().unwrap().stats().refused.of(SealRefusal::Unexpected);
    sim.inject(JOINER, addresses()[HOST], &request);
    let mut sent = 1;
    for _ in 0..5_000 {
        sim.run_for(ms(1));
        let now = sim.local_now(JOINER);
        for packet in overheard(&sim, JOINER, &mut seen) {
            watcher.hand_in(now, addresses()[JOINER], &packet);
        }
        while let Some((_, packet)) = watcher.poll(now) {
            sim.inject(JOINER, addresses()[HOST], &packet);
            sent += 1;
        }
    }
    let stats = sim.machine(JOINER).seal.as_ref().unwrap().stats();
    assert_eq!((stats.handshakes, stats.connections), (0, 1), "{stats:?}");
    assert_eq!((watcher.seal.stats().connections, watcher.agreed()), (0, false));
    assert_eq!(stats.refused.of(SealRefusal::Unexpected) - before, sent);
    assert!(sent > 20, "{sent}");
    assert_eq!((sim.flaw(false), sim.told(HOST).count(), sim.told(JOINER).count()), (None, 0, 0));
    assert!(sim.checked().0 > 400, "{sim:?}");
}

/// The watcher has the nonce and the address of the joiner, and a cookie that it reads off the line, so that the host
/// takes its INIT for one of the joiner's. It has none of the joiner's keys: a decoy makes it draw others.
#[test]
fn eavesdropper_posing_as_the_guest_is_refused() {
    let mut sim = sim_match(true);
    assert!(sim.run_until_frame(120), "{sim:?}");
    let mut seen = 0;
    let honest = overheard(&sim, JOINER, &mut seen);
    let now = sim.local_now(HOST);
    let seal = Seal::join_open(Randomness::Seeded(!5), addresses()[HOST]).unwrap();
    let lobby = rebout::Lobby::join(crate::net::config(9), addresses()[HOST]).unwrap();
    let mut watcher = Machine::new(9, seal, lobby);
    let (_, request) = watcher.poll(now).unwrap();
    assert_eq!(nonce(&request), nonce(&honest[0]));
    let mut decoy = Machine::host_open(8);
    decoy.hand_in(now, addresses()[JOINER], &request);
    watcher.hand_in(now, addresses()[HOST], &decoy.poll(now).unwrap().1);
    assert_eq!(watcher.poll(now).unwrap().1[0], 0xE2, "an INIT for nobody");
    let stats = *sim.machine(HOST).seal.as_ref().unwrap().stats();
    sim.inject(HOST, addresses()[JOINER], &request);
    sim.run_for(ms(1));
    let retry = overheard(&sim, HOST, &mut seen).into_iter().find(|packet| packet[0] == 0xE1).unwrap();
    watcher.hand_in(now, addresses()[HOST], &retry);
    let (_, init) = watcher.poll(now).unwrap();
    assert!(init[0] == 0xE2 && honest.iter().all(|packet| packet.get(21..53) != init.get(21..53)));
    sim.inject(HOST, addresses()[JOINER], &init);
    sim.run_for(2 * SECOND);
    let after = sim.machine(HOST).seal.as_ref().unwrap().stats();
    assert_eq!((after.handshakes, after.connections), (stats.handshakes, stats.connections));
    assert_eq!(after.refused.total(), stats.refused.total() + 1);
    assert_eq!(after.refused.of(SealRefusal::Unexpected), stats.refused.of(SealRefusal::Unexpected) + 1);
    assert_eq!((sim.flaw(false), sim.told(HOST).count(), sim.told(JOINER).count()), (None, 0, 0));
}

/// The same, but the watcher's handshake was done before the host's, and its DATA comes after it.
#[test]
fn handshake_of_an_impostor_is_void_once_the_host_answered() {
    let mut net = open();
    net.step();
    let than = nonce(&net.sent_by(1, 0xE0)[0].datagram);
    let (mut watcher, request) = smaller(than, addr(1), net.now);
    net.machines[1].hand_in(net.now, addr(0), &request);
    let mut late = Vec::new();
    while net.machines[1].seal.stats().connections == 0 {
        assert!(net.now < SECOND, "the host answers");
        let seen = net.sent.len();
        net.step();
        for flying in net.sent[seen..].iter().filter(|flying| flying.from == addr(1)) {
            watcher.hand_in(net.now, addr(1), &flying.datagram);
        }
        while let Some((_, packet)) = watcher.poll(net.now) {
            if packet[0] >= 0xE4 {
                late.push(packet);
            } else {
                net.machines[1].hand_in(net.now, addr(0), &packet);
            }
        }
    }
    assert!(watcher.seal.stats().connections == 1 && !late.is_empty(), "the watcher was first");
    let unknown = net.machines[1].refused(SealRefusal::UnknownIndex);
    for packet in &late {
        net.machines[1].hand_in(net.now, addr(0), packet);
    }
    assert_eq!(net.machines[1].refused(SealRefusal::UnknownIndex) - unknown, late.len() as u64);
    assert_eq!(net.machines[1].seal.stats().connections, 1);
}

/// The same with an INIT that waits for its turn, because two of one source are worked off in a second, until the host has
/// answered.
#[test]
fn queued_init_is_dropped_once_the_host_has_answered() {
    let mut net = open();
    net.step();
    let mut than = nonce(&net.sent_by(1, 0xE0)[0].datagram);
    let mut watchers = Vec::new();
    for _ in 0..3 {
        let (watcher, request) = smaller(than, addr(1), net.now);
        than = nonce(&request);
        net.machines[1].hand_in(net.now, addr(0), &request);
        watchers.push(watcher);
    }
    for _ in 0..2_000 {
        let seen = net.sent.len();
        net.step();
        for watcher in &mut watchers {
            for flying in net.sent[seen..].iter().filter(|flying| flying.from == addr(1)) {
                watcher.hand_in(net.now, addr(1), &flying.datagram);
            }
            while let Some((_, packet)) = watcher.poll(net.now).filter(|_| net.now < ms(100)) {
                net.machines[1].hand_in(net.now, addr(0), &packet);
            }
        }
    }
    let stats = net.machines[1].seal.stats();
    assert_eq!(stats.handshakes, 2, "{stats:?}");
}

/// Of two that join each other, the one that hosts is not joined again by somebody with the address of its guest, but by
/// its guest with another seal once both look for each other.
#[test]
fn of_two_that_joined_each_other_none_is_joined_by_a_third() {
    for ids in [[2, 3], [4, 5], [6, 7]] {
        let machines = [Machine::join_open(ids[0], addr(ids[1])), Machine::join_open(ids[1], addr(ids[0]))];
        let mut net = crate::net::Net::new(machines.into());
        assert!(net.run_until(2 * SECOND, both_agreed));
        let stats = [0, 1]
            .map(|at| (net.machines[at].seal.stats().handshakes, net.machines[at].seal.stats().connections));
        for at in [0, 1] {
            let than = nonce(&net.sent_by(at, 0xE0)[0].datagram);
            let (mut watcher, request) = smaller(than, net.machines[at].addr, net.now);
            let peer = net.machines[1 - at].addr;
            net.machines[at].hand_in(net.now, peer, &request);
            for _ in 0..1_500 {
                let from = net.sent.len();
                net.step();
                let ours = net.machines[at].addr;
                for flying in net.sent[from..].iter().filter(|flying| flying.from == ours) {
                    watcher.hand_in(net.now, ours, &flying.datagram);
                }
                while let Some((_, packet)) = watcher.poll(net.now) {
                    net.machines[at].hand_in(net.now, peer, &packet);
                }
            }
            assert_eq!(watcher.seal.stats().connections, 0);
        }
        let after = [0, 1]
            .map(|at| (net.machines[at].seal.stats().handshakes, net.machines[at].seal.stats().connections));
        assert_eq!(after, stats);
        // One of them starts again, and the other one's lobby looks for it by its old seal.
        for at in [0, 1] {
            let (this, other) = (ids[at], ids[1 - at]);
            net.machines[at] = Machine { addr: addr(this), ..Machine::join_open(this + 300, addr(other)) };
            let target = net.machines[1 - at].seal.target().unwrap();
            net.machines[1 - at].lobby = rebout::Lobby::join(crate::net::config(other + 40), target).unwrap();
            assert!(net.run_until(5 * SECOND, both_agreed), "{this} anew, {other} by its old seal");
        }
    }
}

/// A copy of every tenth packet is at the host first, from the address of somebody who never asked for anything, another one
/// after a while.
#[test]
fn forged_address_gets_at_most_three_times_what_came_from_it() {
    let mut sim = sim_match(false);
    assert!(sim.run_until_frame(120), "{sim:?}");
    let (mut seen, mut count) = (0, 0_u64);
    overheard(&sim, JOINER, &mut seen);
    for millis in 0..20_000_u64 {
        sim.run_for(ms(1));
        let forged = SocketAddr::from(([203, 0, 113, (millis / 2_500) as u8], 9_999));
        for packet in overheard(&sim, JOINER, &mut seen) {
            count += 1;
            if count.is_multiple_of(10) {
                sim.inject(HOST, forged, &packet);
            }
        }
        let machine = sim.machine(HOST);
        let outer = machine.seal.as_ref().unwrap().outer_addr(machine.agreed().unwrap().peer);
        assert_eq!(outer, Some(addresses()[JOINER]));
    }
    let (there, back) = (sim.from_strangers(), sim.to_strangers());
    assert!(back > there * 2 && back <= there * 3, "{back} bytes for {there}");
    assert_eq!((sim.flaw(false), sim.told(HOST).count(), sim.told(JOINER).count()), (None, 0, 0));
}

/// The first DATA of the joiner comes from a watcher's address first, so that the host takes that for the joiner's. The
/// watcher then says nothing more.
#[test]
fn first_data_alone_does_not_take_over_the_path() {
    let mut sim = sim_match(false);
    let watcher = SocketAddr::from(([203, 0, 113, 9], 9_999));
    let mut seen = 0;
    let mut raced = false;
    while !raced {
        sim.run_for(ms(1));
        if let Some(first) = overheard(&sim, JOINER, &mut seen).iter().find(|packet| packet[0] >= 0xE4) {
            sim.inject(HOST, watcher, first);
            raced = true;
        }
    }
    assert!(sim.run_until_frame(300), "{sim:?}");
    let machine = sim.machine(HOST);
    let outer = machine.seal.as_ref().unwrap().outer_addr(machine.agreed().unwrap().peer);
    assert_eq!(outer, Some(addresses()[JOINER]), "the joiner's own address");
    assert_eq!((sim.flaw(false), sim.told(HOST).count(), sim.told(JOINER).count()), (None, 0, 0));
    assert!(sim.world.now() < 7 * SECOND, "{:?}", sim.world.now());
}

/// While the joiner's router gives it another port, a watcher's copies are at the host first, and it answers for nobody. The
/// joiner's own new address is taken when the watcher stops.
#[test]
fn race_with_a_moving_peer_only_delays_it() {
    let mut sim = sim_match(false);
    let nat = sim.place_behind_nat(JOINER, NatKind::PortRestricted);
    assert!(sim.run_until_frame(120), "{sim:?}");
    let now = sim.world.now();
    sim.world.network_mut().forget(nat, now + ms(1));
    let watcher = SocketAddr::from(([203, 0, 113, 9], 9_999));
    let mut seen = sim.world.network().transcript().entries().len();
    for _ in 0..1_000 {
        sim.run_for(ms(1));
        let entries = sim.world.network().transcript().entries();
        let of = |entry: &&rebout::lab::sim::Entry| {
            entry.kind == EntryKind::Sent && entry.to == addresses()[HOST] && entry.datagram[0] >= 0xE4
        };
        let copies: Vec<_> = entries[seen..].iter().filter(of).map(|entry| entry.datagram.clone()).collect();
        seen = entries.len();
        for packet in copies {
            sim.inject(HOST, watcher, &packet);
        }
    }
    sim.run_for(2 * SECOND);
    let machine = sim.machine(HOST);
    let outer = machine.seal.as_ref().unwrap().outer_addr(machine.agreed().unwrap().peer).unwrap();
    assert!(outer != watcher && outer != addresses()[JOINER], "{outer}");
    let stood = sim.checked();
    sim.run_for(2 * SECOND);
    assert!(sim.checked().since(stood) > 100, "{sim:?}");
    assert_eq!(sim.flaw(false), None);
}

/// By address a RETRY proves nothing, and four INITs may wait: whoever answers each REQUEST at once with four keys of its own
/// keeps a joiner from its host for as long as it does so. By invite no such RETRY has a good mac.
#[test]
fn answering_every_request_first_blocks_only_joins_by_address() {
    for (mut net, kept_out) in [(open(), true), (invited(), false)] {
        let mut decoys: Vec<_> = (50..54).map(Machine::host_open).collect();
        while net.now < 4 * SECOND {
            let seen = net.sent.len();
            net.step();
            let (now, sent) = (net.now, net.sent[seen..].to_vec());
            for request in sent.iter().filter(|flying| flying.from == addr(1) && flying.datagram[0] == 0xE0) {
                for decoy in &mut decoys {
                    decoy.hand_in(now, addr(1), &request.datagram);
                    if let Some((_, retry)) = decoy.poll(now) {
                        net.machines[1].hand_in(now, addr(0), &retry);
                    }
                }
            }
        }
        assert_eq!(both_agreed(&net), !kept_out);
        assert!(net.run_until(4 * SECOND, both_agreed), "it gets in when the watcher stops");
    }
}
