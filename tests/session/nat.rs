//! Matches through NATs: they play like others, and a NAT that forgets ends a bare match, which knows its peer by the
//! address alone.

use crate::round::{ENDLESS, Round};
use core::time::Duration;
use rebout::lab::link::LinkConfig;
use rebout::lab::sim::NatKind;
use rebout::lab::{HOST, JOINER, Setup, SimMatch};
use rebout::{Event, Reason};

const KINDS: [NatKind; 3] = [NatKind::FullCone, NatKind::PortRestricted, NatKind::Symmetric];

fn sim_match() -> SimMatch<Round> {
    SimMatch::new(Setup::new(5, LinkConfig::new(Duration::from_millis(40))), ENDLESS)
}

#[test]
fn match_plays_through_every_pair_of_nats_once_open() {
    for hosts in KINDS {
        for joiners in KINDS {
            let mut sim = sim_match();
            sim.place_behind_nat(HOST, hosts);
            sim.place_behind_nat(JOINER, joiners);
            assert!(sim.run_until_frame(300), "{hosts:?} {joiners:?}: {sim:?}");
            assert_eq!(sim.flaw(true), None, "{hosts:?} {joiners:?}");
            let stats = sim.world.network().stats();
            assert_eq!((stats.filtered, stats.unmapped), (0, 0), "{hosts:?} {joiners:?}");
        }
    }
}

#[test]
fn nat_that_forgets_ends_a_bare_match_for_both() {
    for id in [HOST, JOINER] {
        for kind in KINDS {
            let mut sim = sim_match();
            let nat = sim.place_behind_nat(id, kind);
            assert!(sim.run_until_frame(120), "{kind:?}: {sim:?}");
            let now = sim.world.now();
            sim.world.network_mut().forget(nat, now);
            sim.run_for(Duration::from_secs(35));
            let lost = Event::Disconnected { reason: Reason::TimedOut };
            assert_eq!([HOST, JOINER].map(|id| sim.ending(id)), [Some(&lost); 2], "{kind:?}");
            assert!(sim.world.network().stats().unmapped > 0, "{kind:?}");
        }
    }
}

#[test]
fn expired_mapping_cuts_two_port_restricted_nats() {
    let mut sim = sim_match();
    let nats = [HOST, JOINER].map(|id| sim.place_behind_nat(id, NatKind::PortRestricted));
    assert!(sim.run_until_frame(120), "{sim:?}");
    sim.run_for(Duration::from_millis(500));
    let now = sim.world.now();
    sim.world.network_mut().forget(nats[JOINER], now);
    sim.run_for(Duration::from_millis(100));
    let received = |sim: &SimMatch<Round>| [HOST, JOINER].map(|id| sim.world.network().received(id));
    let before = received(&sim);
    sim.run_for(Duration::from_secs(4));
    assert_eq!(received(&sim), before, "neither machine can know, however it authenticates");
    let stats = sim.world.network().stats();
    assert!(stats.filtered > 100 && stats.unmapped > 100, "{stats:?}");
}
