//! Counters beyond their low bits, a blackout of ten minutes, and hours of play.

use crate::net::ms;
use core::time::Duration;
use games::playground::PLAY;
use rebout::lab::link::{Chance, LinkConfig};
use rebout::lab::{HOST, JOINER, Setup, SimMatch};

const SECOND: Duration = Duration::from_secs(1);

fn refused(sim: &SimMatch<games::playground::Playground>) -> [u64; 2] {
    [HOST, JOINER].map(|id| sim.machine(id).seal.as_ref().unwrap().stats().refused.total())
}

#[test]
fn match_goes_on_beyond_65_536_packets() {
    let link = LinkConfig { loss: Chance::percent(2), ..LinkConfig::new(ms(30)) };
    let mut sim = SimMatch::new(Setup::new(1, link), PLAY);
    sim.seal(1);
    assert!(sim.run_until_frame(70_000), "{sim:?}");
    assert!(sim.world.traffic(HOST).0.datagrams > 70_000);
    assert_eq!((sim.flaw(true), refused(&sim)), (None, [0, 0]));
}

#[test]
fn after_a_blackout_of_ten_minutes_both_find_the_counters_again() {
    let patient = |config: &mut rebout::Config| {
        let long = Duration::from_secs(3_600);
        (config.timeouts.lost_after, config.timeouts.no_progress_after, config.timeouts.too_slow_after) =
            (long, long, long);
    };
    let mut sim = SimMatch::new(Setup::new(2, LinkConfig::new(ms(40))).configure(patient), PLAY);
    sim.seal(2);
    assert!(sim.run_until_frame(120));
    let now = sim.world.now();
    sim.world.network_mut().cut_both(0, 1, now, now + 600 * SECOND);
    sim.run_for(601 * SECOND);
    let stood = sim.checked();
    sim.run_for(10 * SECOND);
    assert!(sim.checked().since(stood) > 300, "it goes on: {sim:?}");
    assert_eq!(sim.divergence(), None);
}

#[test]
fn peer_that_is_gone_gets_nothing_for_ever() {
    let mut sim = SimMatch::new(Setup::new(4, LinkConfig::new(ms(40))), PLAY);
    sim.seal(4);
    assert!(sim.run_until_frame(120));
    let now = sim.world.now();
    sim.world.network_mut().cut_both(0, 1, now, now + 600 * SECOND);
    sim.run_for(100 * SECOND);
    let sent = |sim: &SimMatch<_>| [HOST, JOINER].map(|id| sim.world.traffic(id).0.datagrams);
    let before = sent(&sim);
    assert!(sim.ending(HOST).is_some() && sim.ending(JOINER).is_some());
    sim.run_for(100 * SECOND);
    assert_eq!(sent(&sim), before, "the sessions are over, and still kept");
}

/// Two million frames: run it by hand, `cargo test --release --test seal -- --ignored hours`.
#[test]
#[ignore = "takes minutes"]
fn ten_hours_of_play() {
    let link = LinkConfig { loss: Chance::percent(2), jitter: ms(5), ..LinkConfig::new(ms(30)) };
    let mut sim = SimMatch::new(Setup::new(3, link), PLAY);
    sim.seal(3);
    sim.run_for(36_000 * SECOND);
    assert!(sim.checked().0 > 2_140_000, "{sim:?}");
    assert_eq!((sim.flaw(true), refused(&sim)), (None, [0, 0]));
}
