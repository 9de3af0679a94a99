//! A peer whose address changes plays on, and an attacker that forwards its packets takes no path over.

use crate::net::ms;
use core::time::Duration;
use games::playground::{PLAY, Playground};
use rebout::lab::link::{Chance, LinkConfig};
use rebout::lab::sim::NatKind;
use rebout::lab::{HOST, JOINER, Setup, SimMatch, addresses};
use std::cell::Cell;
use std::net::SocketAddr;
use std::rc::Rc;

const SECOND: Duration = Duration::from_secs(1);

/// A match with an input delay of four frames, by invite with an even seed and by address with an odd one. If `behind` is a machine, it is behind a NAT that filters by address and
/// port, with the outside address that the machine would have without it.
fn playing(seed: u64, link: LinkConfig, behind: Option<usize>) -> SimMatch<Playground> {
    let setup = Setup::new(seed, link).configure(|config| config.rollback.delay_frames = Some(4));
    let mut sim = SimMatch::new(setup, PLAY);
    if seed.is_multiple_of(2) {
        sim.seal(seed);
    } else {
        sim.seal_open(seed);
    }
    if let Some(id) = behind {
        let network = sim.world.network_mut();
        let nat = network.add_nat(addresses()[id].ip(), NatKind::PortRestricted);
        network.place_behind(id, nat);
        let outside = network.map(Duration::ZERO, id, addresses()[1 - id]);
        assert_eq!(outside, addresses()[id]);
    }
    assert!(sim.run_until_frame(180), "{sim:?}");
    sim
}

/// The longest time between two frames that were stepped, on each machine, from now on.
fn gaps(sim: &mut SimMatch<Playground>) -> [Rc<Cell<Duration>>; 2] {
    [HOST, JOINER].map(|id| {
        let longest = Rc::new(Cell::new(Duration::ZERO));
        let (writer, mut last) = (Rc::clone(&longest), None);
        sim.world.machine_mut(id).watch = Some(Box::new(move |now, advanced, _, _| {
            if advanced == rebout::Advanced::Stepped {
                if let Some(last) = last {
                    writer.set(writer.get().max(now - last));
                }
                last = Some(now);
            }
        }));
        longest
    })
}

#[test]
fn port_change_of_either_side_is_no_event() {
    for id in [HOST, JOINER] {
        for seed in 0..6 {
            let link = LinkConfig { loss: Chance::percent(5), ..LinkConfig::new(ms(100)) };
            let mut sim = playing(seed, link, Some(id));
            let gaps = gaps(&mut sim);
            let outer = |sim: &SimMatch<Playground>| {
                let machine = sim.machine(1 - id);
                machine.seal.as_ref().unwrap().outer_addr(machine.agreed().unwrap().peer).unwrap()
            };
            let mut ports = vec![outer(&sim).port()];
            for change in 1..4 {
                let now = sim.world.now();
                sim.world.network_mut().forget(0, now + ms(10));
                sim.run_for(10 * SECOND);
                assert!(!ports.contains(&outer(&sim).port()), "change {change} of machine {id}, seed {seed}");
                ports.push(outer(&sim).port());
            }
            assert_eq!(sim.flaw(true), None);
            assert_eq!((sim.told(HOST).count(), sim.told(JOINER).count()), (0, 0), "{sim:?}");
            let longest = gaps.map(|gap| gap.get());
            assert!(longest.iter().all(|gap| *gap < ms(300)), "{longest:?} for machine {id}, seed {seed}");
        }
    }
}

#[test]
fn racing_forwarder_does_not_take_over_the_path() {
    let longest = against_a_forwarder(2, ms(80), 60 * SECOND);
    assert!(longest.iter().all(|gap| *gap < ms(40)), "no stall: {longest:?}");
}

/// On a link so long that the forwarder has always answered a challenge that the joiner itself has not.
#[test]
fn faster_forwarder_does_not_take_over_the_path() {
    against_a_forwarder(2, ms(130), 10 * SECOND);
    against_a_forwarder(3, ms(130), 10 * SECOND);
}

/// Lets a forwarder race for a while, and returns the longest times between two frames. Everything that the joiner says is
/// at the host first from another address, and everything that the host says there is forwarded too.
fn against_a_forwarder(seed: u64, latency: Duration, time: Duration) -> [Duration; 2] {
    let mut sim = playing(seed, LinkConfig::new(latency), None);
    let forwarder = sim.world.add_stranger(SocketAddr::from(([198, 51, 100, 7], 666)));
    sim.world.network_mut().set_links(forwarder, HOST, LinkConfig::new(ms(1)));
    sim.world.network_mut().set_links(forwarder, JOINER, LinkConfig::new(ms(1)));
    sim.world.network_mut().record(rebout::lab::sim::Recording::Full);
    let gaps = gaps(&mut sim);
    let (mut seen, mut mailed) = (0, 0);
    let end = sim.world.now() + time;
    while sim.world.now() < end {
        sim.run_for(ms(1));
        for id in [HOST, JOINER] {
            let machine = sim.machine(id);
            let outer = machine.seal.as_ref().unwrap().outer_addr(machine.agreed().unwrap().peer);
            assert_eq!(outer, Some(addresses()[1 - id]), "at machine {id}, {:?}", sim.world.now());
        }
        let now = sim.world.now();
        let entries = sim.world.network().transcript().entries();
        let sent: Vec<_> = entries[seen..]
            .iter()
            .filter(|entry| entry.kind == rebout::lab::sim::EntryKind::Sent)
            .filter(|entry| entry.from == addresses()[JOINER] && entry.to == addresses()[HOST])
            .map(|entry| entry.datagram.clone())
            .collect();
        seen = entries.len();
        for packet in sent {
            sim.world.network_mut().send(now, forwarder, addresses()[HOST], &packet);
        }
        let mail: Vec<_> =
            sim.world.mail()[mailed..].iter().map(|mail| (mail.from, mail.datagram.clone())).collect();
        mailed += mail.len();
        for (from, packet) in mail {
            let to = if from == addresses()[HOST] { JOINER } else { HOST };
            sim.world.network_mut().send(now, forwarder, addresses()[to], &packet);
        }
        if mailed > 2_000 {
            sim.world.clear_mail();
            mailed = 0;
        }
    }
    assert_eq!(sim.flaw(false), None);
    assert_eq!((sim.told(HOST).count(), sim.told(JOINER).count()), (0, 0));
    let forwarded = u128::from(sim.world.network().received(forwarder).datagrams);
    assert!(forwarded > time.as_millis() / 20, "it was taken for a second address: {forwarded}");
    gaps.map(|gap| gap.get())
}
