//! Tests of silence: interruptions, outages, standstills and suspended machines.

use super::*;
use core::time::Duration;

const LIMITS: SilenceLimits = SilenceLimits {
    interrupted: Span::from_millis(750),
    lost: Span::from_secs(30),
    no_progress: Span::from_secs(30),
    too_slow: Span::from_secs(30),
};

const FRAME: Span = Span::from_micros(16_667);

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// Lets time pass in steps of 50 ms and gathers what is said.
fn run(silence: &mut Silence, from: u64, to: u64) -> Vec<(u64, SilenceChange)> {
    let mut said = Vec::new();
    for at in (from..=to).step_by(50) {
        silence.pass(ms(at));
        said.extend(silence.change().map(|change| (at, change)));
    }
    said
}

#[test]
fn silence_is_interrupted_then_lost() {
    let mut silence = Silence::new(ms(0), LIMITS, FRAME);
    assert_eq!(run(&mut silence, 50, 700), []);
    let said = run(&mut silence, 750, 30_000);
    assert_eq!(said[0], (750, SilenceChange::Interrupted { disconnect_at: ms(30_000) }));
    assert_eq!(said[1..], [(30_000, SilenceChange::Lost)]);
}

#[test]
fn new_frame_resumes_it_once() {
    let mut silence = Silence::new(ms(0), LIMITS, FRAME);
    silence.pass(ms(50));
    silence.heard();
    silence.progressed(1, || None);
    assert_eq!(run(&mut silence, 100, 900).len(), 1);
    silence.heard();
    assert_eq!(run(&mut silence, 950, 1_000), [], "a packet without one says nothing");
    silence.heard();
    silence.progressed(8, || None);
    assert_eq!(run(&mut silence, 1_050, 1_500), [(1_050, SilenceChange::Resumed)]);
}

#[test]
fn suspended_machine_does_not_blame_the_peer() {
    let mut silence = Silence::new(ms(0), LIMITS, FRAME);
    silence.pass(ms(60_000));
    assert_eq!(silence.change(), None);
    let said = run(&mut silence, 60_050, 60_500);
    assert!(matches!(said[..], [(60_500, SilenceChange::Interrupted { .. })]), "{said:?}");
}

#[test]
fn listening_only_game_does_not_blame_the_peer() {
    let mut silence = Silence::new(ms(0), LIMITS, FRAME);
    for at in (50..60_000).step_by(50) {
        silence.listen(ms(at));
        silence.heard();
        assert_eq!(silence.change(), None, "at {at} ms");
    }
    assert!(silence.unmoved() > Span::from_secs(59) && silence.stuck() == Listening::MAX_GAP);
    silence.pass(ms(60_000));
    assert_eq!((silence.change(), silence.stuck()), (None, Listening::MAX_GAP));
    assert!(silence.was_away(ms(60_000)), "a peer that gave up on this machine is believed");
    silence.progressed(8, || None);
    assert_eq!(silence.standstills.sum, Span::ZERO);
}

#[test]
fn excused_standstill_ends_nothing_and_silence_in_it_does() {
    let mut silence = Silence::new(ms(0), LIMITS, FRAME);
    for at in (50..60_000).step_by(50) {
        silence.pass(ms(at));
        silence.heard();
        silence.excuse_standstill();
        assert_eq!((silence.change(), silence.stuck()), (None, Span::ZERO));
    }
    silence.progressed(1, || None);
    assert_eq!(silence.standstills.sum, Span::ZERO);
    let mut said = (60_000..91_000).step_by(50).filter_map(|at| {
        silence.pass(ms(at));
        silence.excuse_standstill();
        silence.change().map(|change| (at, change))
    });
    assert!(matches!(said.next(), Some((60_700, SilenceChange::Interrupted { .. }))));
    assert_eq!(said.next(), Some((89_950, SilenceChange::Lost)));
}

#[test]
fn listening_only_game_notices_silence() {
    let mut silence = Silence::new(ms(0), LIMITS, FRAME);
    let mut said = (50..31_000).step_by(50).filter_map(|at| {
        silence.listen(ms(at));
        silence.change().map(|change| (at, change))
    });
    assert_eq!(said.next(), Some((750, SilenceChange::Interrupted { disconnect_at: ms(30_000) })));
    assert_eq!(said.next(), Some((30_000, SilenceChange::Lost)));
}

#[test]
fn endless_limit_does_not_overflow() {
    let never = SilenceLimits {
        lost: Duration::MAX.into(),
        no_progress: Duration::MAX.into(),
        too_slow: Duration::MAX.into(),
        ..LIMITS
    };
    let mut silence = Silence::new(ms(0), never, FRAME);
    let said = run(&mut silence, 50, 2_000);
    assert_eq!(said, [(750, SilenceChange::Interrupted { disconnect_at: Time::NEVER })]);
}

#[test]
fn packets_without_new_frames_end_it_too() {
    let mut silence = Silence::new(ms(0), LIMITS, FRAME);
    let mut said = (50..=30_000).step_by(50).filter_map(|at| {
        silence.pass(ms(at));
        silence.heard();
        silence.change().map(|change| (at, change))
    });
    assert_eq!(said.next(), Some((30_000, SilenceChange::NoProgress)));
}

#[test]
fn peer_that_is_heard_and_brings_no_frame_is_waited_for() {
    let mut silence = Silence::new(ms(0), LIMITS, FRAME);
    run(&mut silence, 0, 50);
    silence.heard();
    silence.progressed(1, || None);
    let mut said = (100..=40_000).step_by(50).filter_map(|at| {
        silence.pass(ms(at));
        silence.heard();
        silence.change().map(|change| (at, change))
    });
    let interrupted = SilenceChange::Interrupted { disconnect_at: ms(30_050) };
    assert_eq!(said.next(), Some((800, interrupted)), "the peer may not hear this machine");
    assert_eq!(said.next(), Some((30_050, SilenceChange::NoProgress)));
}

/// The change that ends the match, if this is one.
fn ending(at: u64, change: Option<SilenceChange>) -> Option<(u64, SilenceChange)> {
    let goes_on =
        |change: &SilenceChange| matches!(change, SilenceChange::Interrupted { .. } | SilenceChange::Resumed);
    change.filter(|change| !goes_on(change)).map(|change| (at, change))
}

/// Sends a new frame every `every` ms for a minute, and answers how the match is ended.
fn ended_at(every: u64) -> Option<(u64, SilenceChange)> {
    let mut silence = Silence::new(ms(0), LIMITS, FRAME);
    (0..60_000).step_by(10).find_map(|at| {
        silence.pass(ms(at));
        silence.heard();
        if at % every == 0 {
            silence.progressed(1, || None);
        }
        ending(at, silence.change())
    })
}

#[test]
fn occasional_frame_is_no_progress() {
    assert_eq!(ended_at(60), None, "a little over a quarter of the rate");
    let rare = ended_at(9_500);
    assert!(matches!(rare, Some((30_000..35_000, SilenceChange::NoProgress))), "{rare:?}");
    let half = ended_at(140);
    assert!(matches!(half, Some((50_000.., SilenceChange::TooSlow))), "half of that: {half:?}");
}

/// Falls silent for `silent` of every `cycle` ms, and brings the frames that it held back after that. Answers how the match is
/// ended, in ten minutes.
fn switched_off(silent: u64, cycle: u64, rtt: Option<u64>) -> Option<(u64, SilenceChange)> {
    let mut silence = Silence::new(ms(0), LIMITS, FRAME);
    let rtt = rtt.map(Span::from_millis);
    (0..600_000).step_by(10).find_map(|at| {
        silence.pass(ms(at));
        if at % cycle >= silent {
            silence.heard();
            silence.progressed(if at % cycle == silent { 20 } else { 1 }, || rtt);
        }
        ending(at, silence.change())
    })
}

#[test]
fn outages_again_and_again_are_waited_for_less() {
    let ended = switched_off(25_000, 60_000, Some(80));
    assert!(matches!(ended, Some((70_000..75_000, SilenceChange::Lost))), "{ended:?}");
    let ended = switched_off(9_000, 30_000, Some(80));
    assert!(matches!(ended, Some((120_000..240_000, SilenceChange::Lost))), "{ended:?}");
    assert_eq!(switched_off(29_000, 300_000, Some(80)), None, "an eighth of the time is forgiven");
    assert_eq!(switched_off(4_900, 50_000, Some(80)), None);
}

#[test]
fn outage_after_a_slow_time_is_waited_for() {
    let mut silence = Silence::new(ms(0), LIMITS, FRAME);
    for at in (0..20_000).step_by(10) {
        silence.pass(ms(at));
        silence.heard();
        if at % 200 == 0 {
            silence.progressed(1, || None);
        }
        assert_eq!(silence.change(), None);
    }
    let said = run(&mut silence, 20_000, 48_000);
    assert!(matches!(said[..], [(_, SilenceChange::Interrupted { .. })]), "{said:?}");
    silence.heard();
    silence.progressed(8, || None);
    assert_eq!(run(&mut silence, 48_050, 48_100), [(48_050, SilenceChange::Resumed)]);
}

#[test]
fn hiccup_after_an_outage_ends_nothing() {
    let mut silence = Silence::new(ms(0), LIMITS, FRAME);
    run(&mut silence, 50, 29_000);
    silence.heard();
    silence.progressed(8, || None);
    let said = run(&mut silence, 29_050, 34_300);
    let hiccup = SilenceChange::Interrupted { disconnect_at: ms(34_000) };
    assert_eq!(said[1], (29_750, hiccup));
    assert!(matches!(said[2..], [(34_000..=34_300, SilenceChange::Lost)]), "{said:?}");
}

#[test]
fn standstills_again_and_again_are_too_slow() {
    let ended = switched_off(600, 2_000, Some(80));
    assert!(matches!(ended, Some((45_000..60_000, SilenceChange::TooSlow))), "{ended:?}");
    let ended = switched_off(400, 1_000, Some(80));
    assert!(matches!(ended, Some((0..45_000, SilenceChange::TooSlow))), "{ended:?}");
    assert_eq!(switched_off(600, 5_000, Some(80)), None, "an eighth of the time is forgiven");
    assert_eq!(switched_off(600, 2_000, Some(400)), None, "a long way explains it");
    assert_eq!(switched_off(200, 600, None), None, "jitter");
}

#[test]
fn each_limit_may_be_the_shortest() {
    let ended = |limits: SilenceLimits, heard: bool, progresses: bool| {
        let mut silence = Silence::new(ms(0), limits, FRAME);
        (50..20_000).step_by(50).find_map(|at| {
            silence.pass(ms(at));
            if heard {
                silence.heard();
            }
            if progresses && at % 400 == 0 {
                // No standstill on a link with this RTT.
                silence.progressed(1, || Some(Span::from_millis(200)));
            }
            silence.change().map(|change| (at, change))
        })
    };
    let short = Span::from_millis(500);
    let no_progress = SilenceLimits { no_progress: short, ..LIMITS };
    assert_eq!(ended(no_progress, true, false), Some((500, SilenceChange::NoProgress)));
    let too_slow = SilenceLimits { too_slow: short, ..LIMITS };
    // A frame at 400 ms makes up for 67 ms.
    assert_eq!(ended(too_slow, true, true), Some((600, SilenceChange::TooSlow)));
    let lost = SilenceLimits { lost: short, interrupted: short, ..LIMITS };
    assert_eq!(ended(lost, false, false), Some((500, SilenceChange::Lost)));
}
