//! Stalls at the end of the prediction window, and the send rate on a very slow link.

use crate::pair::ms;
use crate::round::{ENDLESS, Round};
use core::time::Duration;
use rebout::Refusal;
use rebout::lab::link::LinkConfig;
use rebout::lab::{Setup, SimMatch};

/// A match of 120 frames at least on a clean link.
fn playing(latency: Duration, window_frames: u8, delay_frames: u8) -> SimMatch<Round> {
    let setup = Setup::new(u64::from(window_frames), LinkConfig::new(latency)).configure(|config| {
        (config.rollback.window_frames, config.rollback.delay_frames) = (window_frames, Some(delay_frames));
    });
    let mut sim = SimMatch::new(setup, ENDLESS);
    assert!(sim.run_until_frame(120), "the match never began");
    sim
}

#[test]
fn full_stall_at_the_largest_window_and_delay_is_bounded() {
    for (window, delay) in [(8, 8), (12, 4), (16, 0)] {
        for stalled in 0..2 {
            let mut sim = playing(ms(30), window, delay);
            let (from, until) = (sim.world.now(), sim.world.now() + ms(700));
            sim.world.network_mut().cut(1 - stalled, stalled, from, until);
            sim.run_for(ms(600));
            let session = sim.machine(stalled).session().expect("a match");
            assert!(session.is_stalled(), "no stall: this test shows nothing");
            // The other side has every input: both stand still, each with the other's last step.
            let ahead = session.current().since(session.settled());
            assert_eq!(ahead, u32::from(window), "window {window}: predicted to its end");
            sim.run_for(Duration::from_secs(3));
            assert_eq!(
                sim.machine(1 - stalled).refused().total(),
                0,
                "window {window}, delay {delay}: {sim:?}"
            );
            // Packets that were sent before the first ack came through begin 32 frames back, and bring nothing new.
            let refused = sim.machine(stalled).refused();
            assert_eq!(refused.total(), refused.of(Refusal::InputOutdated), "{sim:?}");
            assert_eq!(sim.flaw(true), None);
        }
    }
}

#[test]
fn stalled_frame_is_stepped_when_its_input_arrives() {
    // In lockstep every frame waits: it is due after 16.7 ms, its input comes 20 ms later, and that is when it is stepped.
    let mut sim = playing(ms(20), 0, 0);
    let before = sim.checked();
    sim.run_for(Duration::from_secs(20));
    let frames = sim.checked().since(before);
    assert!((535..=550).contains(&frames), "{frames} frames in 20 s instead of one every 36.7 ms");
}

#[test]
fn a_very_slow_link_gets_a_packet_every_second_frame() {
    for (latency, share) in [(ms(100), 1.0), (ms(200), 0.5)] {
        let mut sim = playing(latency, 8, 8);
        sim.run_for(Duration::from_secs(5));
        let figures = |sim: &SimMatch<Round>| sim.machine(0).stats();
        let before = figures(&sim);
        sim.run_for(Duration::from_secs(20));
        let after = figures(&sim);
        assert_eq!(after.stalled_frames, before.stalled_frames, "the link is slow, and the match is not");
        let frames = (after.frames - before.frames) as f64;
        let packets = (after.packets_out - before.packets_out) as f64;
        // Reports, pings and their answers come on top.
        let a_frame = packets / frames;
        assert!((share..share + 0.06).contains(&a_frame), "{latency:?}: {a_frame} packets a frame");
        assert_eq!(sim.flaw(false), None);
    }
}
