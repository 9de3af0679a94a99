//! Spectators that join late, follow live, go back, and see the next match.

use crate::stage::{Stage, link, ms};
use rebout::replay::{Recording, Tail, Viewing};
use rebout::{BroadcastConfig, Frame, Watching};

/// Ten minutes at 60 frames a second.
const TEN_MINUTES: u32 = 36_000;

/// The time until a spectator that joins after ten minutes is live.
fn time_until_live(latency_ms: u64, loss_percent: u32) -> u64 {
    let mut stage = Stage::new(u32::MAX, Some(BroadcastConfig::default()));
    assert!(stage.run_until(ms(700_000), |stage| stage.settled() >= TEN_MINUTES));
    let begun = stage.world.now();
    let id = stage.watch(0, None, link(latency_ms, loss_percent));
    assert!(stage.run_until(ms(60_000), |stage| stage.watcher(id).live_at.is_some()));
    let took = stage.watcher(id).live_at.unwrap() - begun;
    let viewer = stage.watcher(id).viewer.as_ref().unwrap();
    let lag = stage.settled() - viewer.frame().0;
    assert!(lag <= 180, "live, but {lag} frames behind the players");
    assert!(viewer.verified().is_ok_and(|compared| compared >= 599), "{:?}", viewer.verified());
    let bytes = stage.watcher(id).spectator.bytes().len();
    println!(
        "{latency_ms} ms, {loss_percent} % loss: live after {took:?}, {bytes} bytes, {lag} frames behind"
    );
    took.as_millis() as u64
}

#[test]
fn joining_after_ten_minutes_takes_two_seconds() {
    assert!(time_until_live(10, 0) <= 2_000);
}

#[test]
fn joining_a_bad_link_after_ten_minutes_takes_ten_seconds() {
    assert!(time_until_live(100, 5) <= 10_000);
}

#[test]
fn spectator_receives_the_file_and_sees_the_verdict() {
    let mut stage = Stage::new(900, Some(BroadcastConfig::default()));
    let early = stage.watch(0, None, link(30, 0));
    stage.run_for(ms(8_000));
    let late = stage.watch(0, None, link(60, 2));
    assert!(stage.run_until(ms(20_000), |stage| [early, late].iter().all(|id| stage.has_seen_the_end(*id))));
    for id in [early, late] {
        let watcher = stage.watcher(id);
        assert_eq!(watcher.spectator.state(), Watching::Complete);
        let recording = Recording::open(watcher.spectator.bytes().to_vec()).unwrap();
        assert_eq!((recording.tail(), recording.frames()), (Tail::Whole, 900));
        assert_eq!(recording.header().names, ["Ada", "Bob"]);
        assert!(stage.broadcast().is_received());
    }
}

#[test]
fn live_spectator_shows_every_frame_a_second_behind() {
    let mut stage = Stage::new(u32::MAX, Some(BroadcastConfig::default()));
    let id = stage.watch(0, None, link(40, 0));
    stage.run_for(ms(6_000));
    let mut last = stage.watcher(id).viewer.as_ref().unwrap().frame().0;
    let mut most = 0;
    for _ in 0..600 {
        stage.run_for(ms(17));
        let watcher = stage.watcher(id);
        let viewer = watcher.viewer.as_ref().unwrap();
        assert_eq!(viewer.state(), Viewing::Live);
        let frame = viewer.frame().0;
        assert!(frame.wrapping_sub(last) <= 3, "{last} to {frame} in a frame");
        most = most.max(stage.settled() - frame);
        last = frame;
    }
    assert!(most <= 150, "{most} frames behind the players");
}

#[test]
fn spectator_goes_back_while_the_match_goes_on() {
    let mut stage = Stage::new(u32::MAX, Some(BroadcastConfig::default()));
    let id = stage.watch(0, None, link(40, 0));
    stage.run_for(ms(20_000));
    let viewer = stage.watcher_mut(id).viewer.as_mut().unwrap();
    viewer.seek(Frame(100));
    assert_eq!((viewer.state(), viewer.frame()), (Viewing::Behind, Frame(100)));
    let newest = viewer.newest();
    stage.run_for(ms(5_000));
    let viewer = stage.watcher_mut(id).viewer.as_mut().unwrap();
    assert!((390..=401).contains(&viewer.frame().0), "{} at normal speed", viewer.frame());
    assert!(viewer.newest() > newest, "the match goes on");
    viewer.pause();
    let paused = viewer.frame();
    stage.run_for(ms(2_000));
    let viewer = stage.watcher_mut(id).viewer.as_mut().unwrap();
    assert_eq!((viewer.state(), viewer.frame()), (Viewing::Paused, paused));
    viewer.go_live();
    stage.run_for(ms(1_000));
    let viewer = stage.watcher(id).viewer.as_ref().unwrap();
    assert_eq!(viewer.state(), Viewing::Live);
    assert!(viewer.behind_frames() <= 120);
}

#[test]
fn spectator_waits_for_a_match_that_has_not_begun() {
    let mut stage = Stage::new(600, Some(BroadcastConfig::default()));
    let id = stage.watch(0, None, link(1, 0));
    stage.run_for(ms(15));
    assert_eq!(stage.watcher(id).spectator.state(), Watching::Waiting { until: None });
    assert!(stage.run_until(ms(30_000), |stage| stage.has_seen_the_end(id)));
}

#[test]
fn spectators_beyond_the_limit_are_told() {
    let mut stage = Stage::new(u32::MAX, Some(BroadcastConfig::default()));
    let ids: Vec<_> = (0..9).map(|_| stage.watch(0, None, link(20, 0))).collect();
    stage.run_for(ms(3_000));
    let refused: Vec<_> = ids.iter().filter(|id| stage.watcher(**id).spectator.state().is_over()).collect();
    assert_eq!((refused.len(), stage.broadcast().stats().spectators), (1, 8));
    assert_eq!(stage.watcher(*refused[0]).spectator.state(), Watching::Refused(rebout::Bye::Full));
}
