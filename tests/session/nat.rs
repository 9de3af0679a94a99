//! Matches through NATs: they play like others, and a NAT that forgets ends a bare match, which knows its peer by the
//! address alone.

use core::time::Duration;
use games::playground::{PLAY, Playground};
use rebout::lab::sim::NatKind;
use rebout::lab::{Bout, HOST, JOINER, Setup};
use rebout::net::link::LinkConfig;
use rebout::{Event, Reason};

const KINDS: [NatKind; 3] = [NatKind::FullCone, NatKind::PortRestricted, NatKind::Symmetric];

fn bout() -> Bout<Playground> {
    Bout::new(Setup::new(5, LinkConfig::new(Duration::from_millis(40))), PLAY)
}

#[test]
fn match_plays_through_every_pair_of_nats_once_open() {
    for hosts in KINDS {
        for joiners in KINDS {
            let mut bout = bout();
            bout.place_behind_nat(HOST, hosts);
            bout.place_behind_nat(JOINER, joiners);
            assert!(bout.run_until_frame(300), "{hosts:?} {joiners:?}: {bout:?}");
            assert_eq!(bout.flaw(true), None, "{hosts:?} {joiners:?}");
            let stats = bout.world.network().stats();
            assert_eq!((stats.filtered, stats.unmapped), (0, 0), "{hosts:?} {joiners:?}");
        }
    }
}

#[test]
fn a_nat_that_forgets_ends_a_bare_match_for_both() {
    for id in [HOST, JOINER] {
        for kind in KINDS {
            let mut bout = bout();
            let nat = bout.place_behind_nat(id, kind);
            assert!(bout.run_until_frame(120), "{kind:?}: {bout:?}");
            let now = bout.world.now();
            bout.world.network_mut().forget(nat, now);
            bout.run_for(Duration::from_secs(20));
            let lost = Event::Disconnected { reason: Reason::TimedOut };
            assert_eq!([HOST, JOINER].map(|id| bout.ending(id)), [Some(&lost); 2], "{kind:?}");
            assert!(bout.world.network().stats().unmapped > 0, "{kind:?}");
        }
    }
}

#[test]
fn expired_mapping_cuts_two_port_restricted_nats() {
    let mut bout = bout();
    let nats = [HOST, JOINER].map(|id| bout.place_behind_nat(id, NatKind::PortRestricted));
    assert!(bout.run_until_frame(120), "{bout:?}");
    bout.run_for(Duration::from_millis(500));
    let now = bout.world.now();
    bout.world.network_mut().forget(nats[JOINER], now);
    bout.run_for(Duration::from_millis(100));
    let received = |bout: &Bout<Playground>| [HOST, JOINER].map(|id| bout.world.network().received(id));
    let before = received(&bout);
    bout.run_for(Duration::from_secs(4));
    assert_eq!(received(&bout), before, "neither machine can know, however it authenticates");
    let stats = bout.world.network().stats();
    assert!(stats.filtered > 100 && stats.unmapped > 100, "{stats:?}");
}
