//! The input delay: measured by both sides in the lobby.

use crate::round::{ENDLESS, Round};
use core::time::Duration;
use rebout::lab::link::{Burst, Chance, LinkConfig};
use rebout::lab::{HOST, JOINER, Setup, SimMatch};

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

const fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

/// A link with this RTT and a loss in percent.
fn link(rtt_ms: u64, percent: u32) -> LinkConfig {
    LinkConfig { loss: Chance::percent(percent), ..LinkConfig::new(ms(rtt_ms) / 2) }
}

/// A match whose machines measure their delays.
fn measuring(seed: u64, link: LinkConfig) -> Setup {
    Setup::new(seed, link).configure(|config| config.rollback.delay_frames = None)
}

fn delays(sim: &SimMatch<Round>) -> [u8; 2] {
    [HOST, JOINER].map(|id| sim.machine(id).session().expect("a match").delay_frames())
}

/// Plays until both machines are in the match, bare or sealed; their delays, and when the match began.
fn begin(setup: Setup, sealed: bool) -> ([u8; 2], Duration) {
    let seed = setup.seed;
    let mut sim = SimMatch::new(setup, ENDLESS);
    if sealed {
        sim.seal(seed);
    }
    let begun = |sim: &SimMatch<Round>| [HOST, JOINER].iter().all(|id| sim.machine(*id).session().is_some());
    assert!(sim.step_until(secs(20), begun), "seed {seed}: {sim:?}");
    (delays(&sim), sim.world.now())
}

#[test]
fn lost_packets_do_not_lengthen_the_delay() {
    let jittery = LinkConfig { jitter: ms(4), ..link(74, 10) };
    let burst = Burst { mean_gap: secs(1), mean_length: ms(300), loss: Chance::ALWAYS };
    let bursts = LinkConfig { burst: Some(burst), ..link(40, 0) };
    for (name, link) in [
        ("40 ms, 5 %", link(40, 5)),
        ("40 ms, 10 %", link(40, 10)),
        ("near 80 ms", jittery),
        ("bursts", bursts),
    ] {
        for (seed, sealed) in (0..32).flat_map(|seed| [(seed, false), (seed, true)]) {
            let (delays, _) = begin(measuring(seed, link), sealed);
            assert_eq!(delays, [0, 0], "{name}, seed {seed}, sealed: {sealed}");
        }
    }
}

#[test]
fn measured_delays_differ_by_one_frame_at_most() {
    for (name, link) in LinkConfig::presets() {
        for seed in 0..8 {
            let (delays, _) = begin(measuring(seed, link), seed % 2 == 0);
            assert!(delays[0].abs_diff(delays[1]) <= 1, "{name}, seed {seed}: {delays:?}");
        }
    }
}

#[test]
fn measuring_takes_eight_pings_on_a_clean_link() {
    for (rtt_ms, sealed, least) in
        [(40, false, 510), (40, true, 550), (200, false, 1_140), (200, true, 1_350)]
    {
        let (_, began) = begin(measuring(1, link(rtt_ms, 0)), sealed);
        assert!((ms(least)..ms(least + 30)).contains(&began), "{rtt_ms} ms, sealed: {sealed}: {began:?}");
    }
}

#[test]
fn joiner_measures_beside_a_host_that_chose_its_delay() {
    for seed in 0..32 {
        let mut setup = measuring(seed, link(40, 10));
        setup.configs[HOST].rollback.delay_frames = Some(6);
        assert_eq!(begin(setup, true).0, [6, 0], "seed {seed}");
    }
}
