//! The input delay: measured by both sides in the lobby, and adapted during a match where the link changes.

use crate::round::{ENDLESS, Round};
use core::time::Duration;
use rebout::lab::link::{Bandwidth, Burst, Chance, LinkConfig};
use rebout::lab::{HOST, JOINER, Setup, SimMatch, addresses};
use rebout::{Config, Event};

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

fn stalls(sim: &SimMatch<Round>) -> u64 {
    [HOST, JOINER].into_iter().map(|id| sim.machine(id).stats().stalled_frames).sum()
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

#[test]
fn host_takes_the_measurement_in_a_hello() {
    let mut sim = SimMatch::new(measuring(1, link(400, 0)), ENDLESS);
    sim.lose(JOINER, "PONG", u32::MAX);
    while sim.lobby_mut(HOST).incoming().is_none() {
        sim.run_for(ms(1));
    }
    // The handshake took 400 ms, and only the joiner measures the 40 ms of the line from now on.
    sim.world.network_mut().set_links(HOST, JOINER, link(40, 0));
    assert!(sim.run_until_frame(10));
    assert_eq!(delays(&sim), [0, 0]);
}

/// A match on a line of 40 ms, on which the host's uplink has 1 Mbit/s and a queue of half a second.
fn on_narrow_uplink(change: impl Fn(&mut Config)) -> SimMatch<Round> {
    let mut setup = measuring(1, link(40, 0)).configure(change);
    setup.links[HOST].bandwidth = Some(Bandwidth { bits_per_s: 1_000_000, queue_bytes: 62_500 });
    let mut sim = SimMatch::new(setup, ENDLESS);
    assert!(sim.run_until_frame(120), "the match never began");
    sim
}

/// Fills the queue of the host's uplink with traffic that is not the match's. Returns the stalled frames of both machines.
fn fill_queue(sim: &mut SimMatch<Round>, time: Duration) -> u64 {
    let (end, before) = (sim.world.now() + time, stalls(sim));
    while sim.world.now() < end {
        let now = sim.world.now();
        (0..2).for_each(|_| sim.world.network_mut().send(now, HOST, addresses()[JOINER], &[0; 1_000]));
        sim.run_for(ms(15));
    }
    stalls(sim) - before
}

/// The delays that a machine was told of: its own.
fn told(sim: &SimMatch<Round>, id: usize) -> Vec<u8> {
    let own = |event: &Event| match event {
        Event::DelayChanged { delay_frames } => Some(*delay_frames),
        _ => None,
    };
    sim.told(id).filter_map(own).collect()
}

#[test]
fn bufferbloat_raises_the_delay_until_it_is_over() {
    let mut fixed = on_narrow_uplink(|config| config.rollback.added_delay_frames = 0);
    let without = [fill_queue(&mut fixed, secs(6)), fill_queue(&mut fixed, secs(12))];
    let mut sim = on_narrow_uplink(|_| {});
    let with = [fill_queue(&mut sim, secs(6)), fill_queue(&mut sim, secs(12))];
    assert!(without[0] > 400 && without[1] > 1_000, "{without:?}: the link is not as bad as it should be");
    assert!(with[0] < 260 && with[1] < 100, "{with:?} stalled frames, {without:?} with a fixed delay");
    let raised = delays(&sim);
    assert!(raised[0].abs_diff(raised[1]) <= 1 && raised[0] >= 9 && raised[0] <= 12, "{raised:?}");
    // The queue is empty again.
    sim.run_for(secs(90));
    assert_eq!((delays(&sim), delays(&fixed)), ([0, 0], [0, 0]));
    assert_eq!((told(&fixed, HOST), told(&fixed, JOINER)), (vec![], vec![]));
    for id in [HOST, JOINER] {
        let changes = told(&sim, id);
        let steps = core::iter::once(0).chain(changes.iter().copied()).zip(&changes);
        assert!(steps.clone().all(|(before, after)| before.abs_diff(*after) == 1), "{changes:?}");
        let turns = changes.windows(3).filter(|three| three[0] == three[2]).count();
        assert!(turns <= 2, "up and down: {changes:?}");
        let peers = sim.told(1 - id).filter(|event| matches!(event, Event::PeerDelay { .. })).count();
        assert_eq!(peers, changes.len(), "the peer is told of each");
    }
    assert_eq!(sim.flaw(true), None);
}

#[test]
fn delay_that_was_chosen_is_never_changed() {
    let chosen = on_narrow_uplink(|config| config.rollback.delay_frames = Some(1));
    let mut set = on_narrow_uplink(|_| {});
    for id in [HOST, JOINER] {
        let now = set.local_now(id);
        set.session_mut(id).set_delay(now, 1).expect("a valid delay");
    }
    for mut sim in [chosen, set] {
        assert!(fill_queue(&mut sim, secs(4)) > 100);
        assert_eq!((delays(&sim), told(&sim, HOST), told(&sim, JOINER)), ([1, 1], vec![], vec![]));
    }
}

#[test]
fn delay_stays_within_the_window_and_the_limit() {
    let mut sim = on_narrow_uplink(|config| {
        (config.rollback.window_frames, config.rollback.added_delay_frames) = (22, 24);
    });
    sim.world.network_mut().set_links(HOST, JOINER, link(1_200, 0));
    sim.run_for(secs(20));
    assert_eq!(delays(&sim), [8, 8], "with a window of 22");
    let mut sim = on_narrow_uplink(|config| config.rollback.added_delay_frames = 2);
    sim.world.network_mut().set_links(HOST, JOINER, link(600, 0));
    sim.run_for(secs(20));
    assert_eq!((delays(&sim), told(&sim, HOST)), ([2, 2], vec![1, 2]));
}

#[test]
fn neither_outage_nor_claim_raises_the_delay() {
    let mut sim = SimMatch::new(measuring(1, link(40, 0)), ENDLESS);
    assert!(sim.run_until_frame(120));
    let now = sim.local_now(JOINER);
    sim.session_mut(JOINER).set_delay(now, 22).expect("a valid delay");
    sim.run_for(secs(4));
    assert_eq!(delays(&sim), [0, 22], "the peer's delay alone is a claim");
    for _ in 0..4 {
        let now = sim.world.now();
        sim.world.network_mut().cut_both(HOST, JOINER, now, now + secs(1));
        sim.run_for(secs(3));
    }
    assert!(stalls(&sim) > 100, "{}", stalls(&sim));
    assert_eq!((delays(&sim), told(&sim, HOST)), ([0, 22], vec![]));
}
