//! Games that read two clocks, or that ask for no frames: the words for it on each of the two machines.

use crate::pair::ms;
use crate::round::{ENDLESS, Round};
use core::time::Duration;
use rebout::lab::link::LinkConfig;
use rebout::lab::{HOST, JOINER, Setup, SimMatch};
use rebout::{Event, Reason};

const fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

fn playing(seed: u64) -> SimMatch<Round> {
    let mut sim = SimMatch::new(Setup::new(seed, LinkConfig::new(ms(30))), ENDLESS);
    assert!(sim.run_until_frame(60), "the match never began");
    sim
}

/// The reason for which the match is over for a machine, whose game may not ask for it.
fn reason(sim: &mut SimMatch<Round>, id: usize) -> Option<Reason> {
    let told = sim.ending(id).cloned();
    let session = sim.session_mut(id);
    let polled = std::iter::from_fn(|| session.poll_event());
    told.into_iter().chain(polled).find_map(|event| match event {
        Event::Disconnected { reason } => Some(reason),
        _ => None,
    })
}

fn clock_mistake(sim: &SimMatch<Round>, id: usize) -> Option<(Duration, bool)> {
    sim.told(id).find_map(|event| match event {
        Event::ClockMistake { offset, is_ahead } => Some((*offset, *is_ahead)),
        _ => None,
    })
}

/// A machine whose frames are 200 ms ahead makes up for enough of them to play on, at a quarter of the rate.
#[test]
fn frames_ahead_of_the_clock_are_told_where_they_are() {
    for (wrong, ahead, ends) in
        [(HOST, 200, false), (JOINER, 200, false), (HOST, 400, true), (JOINER, 400, true)]
    {
        let mut sim = playing(3);
        sim.machine_mut(wrong).frames_ahead_by = ms(ahead);
        assert!(sim.run_until(secs(3), |sim| clock_mistake(sim, wrong).is_some()), "{sim:?}");
        assert_eq!(clock_mistake(&sim, wrong), Some((ms(ahead), true)));
        assert_eq!(clock_mistake(&sim, 1 - wrong), None);
        if ends {
            assert!(sim.run_until(secs(90), |sim| sim.machine(HOST).ended() && sim.machine(JOINER).ended()));
            assert_eq!(reason(&mut sim, wrong), Some(Reason::ClockMistake), "{sim:?}");
            let other = reason(&mut sim, 1 - wrong);
            assert!(matches!(other, Some(Reason::TooSlow | Reason::GaveUp)), "{other:?}");
        }
    }
}

#[test]
fn slow_machines_are_not_accused_of_a_clock_mistake() {
    for (seed, length) in [(1, 20), (2, 50), (3, 200), (4, 600)] {
        let mut sim = playing(seed);
        sim.machine_mut(JOINER).min_frame_length = ms(length);
        sim.run_for(secs(8));
        for id in [HOST, JOINER] {
            assert_eq!(clock_mistake(&sim, id), None, "frames of {length} ms: {sim:?}");
        }
    }
}

#[test]
fn game_that_asks_for_no_frames_does_not_blame_the_peer() {
    for still in [HOST, JOINER] {
        for comes_back in [false, true] {
            let mut sim = playing(5);
            let other = 1 - still;
            sim.machine_mut(still).min_frame_length = secs(3_600);
            assert!(sim.run_until(secs(35), |sim| sim.machine(other).ended()));
            if comes_back {
                sim.machine_mut(still).min_frame_length = Duration::ZERO;
            }
            sim.run_for(secs(2));
            assert_eq!(reason(&mut sim, other), Some(Reason::NoProgress));
            assert_eq!(reason(&mut sim, still), Some(Reason::GaveUp), "{sim:?}");
        }
    }
}

#[test]
fn game_that_asks_for_no_frames_learns_that_the_peer_left() {
    for still in [HOST, JOINER] {
        let mut sim = playing(7);
        sim.machine_mut(still).min_frame_length = secs(3_600);
        sim.run_for(secs(2));
        sim.session_mut(1 - still).leave();
        sim.run_for(ms(400));
        assert_eq!(reason(&mut sim, still), Some(Reason::Left));
        let mut sim = playing(8);
        sim.machine_mut(still).min_frame_length = secs(3_600);
        sim.run_for(secs(1));
        sim.world.stop(1 - still);
        sim.run_for(secs(31));
        assert_eq!(reason(&mut sim, still), Some(Reason::TimedOut));
    }
}
