//! Stalls at the end of the prediction window, and the send rate on a congested link.

use crate::pair::ms;
use crate::round::{ENDLESS, Round};
use core::time::Duration;
use rebout::Refusal;
use rebout::lab::link::{Bandwidth, LinkConfig};
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
    for (window, delay) in [(22, 8), (16, 14), (8, 22), (16, 0)] {
        for stalled in 0..2 {
            let mut sim = playing(ms(30), window, delay);
            let (from, until) = (sim.world.now(), sim.world.now() + ms(1_000));
            sim.world.network_mut().cut(1 - stalled, stalled, from, until);
            sim.run_for(ms(990));
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
            // Unacknowledged inputs that do not fit one packet leave a gap until their oldest part comes.
            let refused = sim.machine(stalled).refused();
            assert_eq!(refused.total(), refused.of(Refusal::InputGap), "{sim:?}");
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

/// Packets a second of the first machine over the next 20 s.
fn packets_a_second(sim: &mut SimMatch<Round>) -> u64 {
    let before = sim.machine(0).stats().packets_out;
    sim.run_for(Duration::from_secs(20));
    (sim.machine(0).stats().packets_out - before) / 20
}

#[test]
fn congested_link_gets_a_packet_every_second_frame() {
    let mut sim = playing(ms(60), 8, 8);
    assert_eq!(packets_a_second(&mut sim), 60);
    // Too narrow for one packet a frame, with a queue of more than a second.
    let bandwidth = Some(Bandwidth { bits_per_s: 26_000, queue_bytes: 4_096 });
    for (from, to) in [(0, 1), (1, 0)] {
        sim.world.network_mut().set_link(from, to, LinkConfig { bandwidth, ..LinkConfig::new(ms(60)) });
    }
    let narrow = packets_a_second(&mut sim);
    assert!((30..45).contains(&narrow), "{narrow} packets a second");
    for (from, to) in [(0, 1), (1, 0)] {
        sim.world.network_mut().set_link(from, to, LinkConfig::new(ms(60)));
    }
    sim.run_for(Duration::from_secs(5));
    assert_eq!(packets_a_second(&mut sim), 60);
    assert_eq!(sim.divergence(), None);
}
