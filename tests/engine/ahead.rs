//! Look-ahead: frames that are stepped only to be drawn, and leave no trace in the match.

use core::time::Duration;
use games::handle::{Core, CoreState, Step, held};
use rebout::rollback::{Advance, EngineConfig, Rollback};
use rebout::{Config, CueEvent, Cues, Frame, Game, Inputs, Offline, Player, Saving};

fn config(look_ahead: u32, saving: Saving) -> EngineConfig {
    EngineConfig { look_ahead, saving, ..EngineConfig::default() }
}

/// Everything that shows of a match of 200 frames with player two `lag` frames late.
fn play(config: EngineConfig, lag: u32) -> (Vec<CoreState>, Vec<CueEvent>, String) {
    let mut core = Core { ends_at: 150, ..Core::default() };
    let mut engine = Rollback::new(config, &core);
    let (mut states, mut cues) = (Vec::new(), Vec::new());
    for now in 0..200 {
        if engine.current() == engine.next_input(Player::One) {
            let frame = engine.current();
            engine.confirm(Player::One, frame, held(frame.0)[Player::One]).unwrap();
        }
        // A standstill of 20 frames, in which the window fills up.
        if let Some(late) = Frame(now).checked_sub(lag + if (60..80).contains(&now) { 20 } else { 0 }) {
            for frame in engine.next_input(Player::Two).until(late.next()) {
                engine.confirm(Player::Two, frame, held(frame.0)[Player::Two]).unwrap();
            }
        }
        engine.advance(&mut core);
        cues.extend_from_slice(engine.cues());
        let before = core.state;
        engine.look_ahead(&mut core, |core| assert!(core.state.frame >= before.frame));
        assert_eq!(core.state, before);
        states.push(before);
    }
    assert_eq!(engine.ended(), Some(Frame(150)));
    (states, cues, format!("{:?}", engine.stats()))
}

#[test]
fn look_ahead_leaves_no_trace() {
    for saving in [Saving::Every, Saving::Sparse] {
        for lag in [0, 3, 7] {
            let plain = play(config(0, saving), lag);
            for frames in [1, 4, 8, 9] {
                assert_eq!(play(config(frames, saving), lag), plain, "{saving:?}, lag {lag}, {frames} ahead");
            }
        }
    }
}

#[test]
fn frames_ahead_are_stepped_on_the_newest_inputs() {
    let mut core = Core::default();
    let mut engine = Rollback::new(config(3, Saving::Every), &core);
    for frame in 0..5 {
        // Player one has an input delay of 2: two more of its inputs are known.
        for known in engine.next_input(Player::One).until(Frame(frame + 3)) {
            engine.confirm(Player::One, known, held(known.0)[Player::One]).unwrap();
        }
        if frame < 3 {
            engine.confirm(Player::Two, Frame(frame), held(frame)[Player::Two]).unwrap();
        }
        assert_eq!(engine.advance(&mut core), Advance::Stepped);
    }
    let mut direct = core.clone();
    core.steps.clear();
    let mut drawn = CoreState::default();
    engine.look_ahead(&mut core, |core| drawn = core.state);

    let two = held(2)[Player::Two];
    for frame in 5..8 {
        direct.step(Inputs([held(frame.min(6))[Player::One], two]), &mut Cues::new());
    }
    assert_eq!(drawn, direct.state);
    let seen: Vec<_> = core.steps.iter().map(|Step { frame, is_shown, .. }| (*frame, *is_shown)).collect();
    assert_eq!(seen, [(5, false), (6, false), (7, true)]);
}

#[test]
fn newest_frame_is_not_shown_with_a_look_ahead() {
    let mut core = Core::default();
    let mut engine = Rollback::new(config(2, Saving::Every), &core);
    for frame in 0..4 {
        engine.confirm(Player::One, Frame(frame), held(frame)[Player::One]).unwrap();
        engine.advance(&mut core);
    }
    engine.confirm(Player::Two, Frame(0), held(0)[Player::Two]).unwrap();
    engine.mend(&mut core);
    assert!(core.steps.iter().all(|step| !step.is_shown));
    engine.look_ahead(&mut core, |_| {});
    assert_eq!(core.steps.iter().filter(|step| step.is_shown).count(), 1);
}

#[test]
fn look_ahead_of_none_draws_the_game_as_it_is() {
    let mut core = Core { ends_at: 3, ..Core::default() };
    let mut engine = Rollback::new(config(0, Saving::Every), &core);
    engine.advance(&mut core);
    let (steps, state, mut drawn) = (core.steps.len(), core.state, None);
    engine.look_ahead(&mut core, |core| drawn = Some(core.state));
    assert_eq!((core.steps.len(), drawn), (steps, Some(state)));
}

#[test]
fn state_that_fails_in_a_look_ahead_ends_the_match() {
    for (unsaved, unrestored) in [(10..11, 0..0), (0..0, 10..11)] {
        let mut core = Core { unsaved, unrestored, ..Core::default() };
        let saving = Saving::Sparse;
        let mut engine = Rollback::new(EngineConfig { window: 0, ..config(2, saving) }, &core);
        for frame in 0..10 {
            for player in Player::BOTH {
                engine.confirm(player, Frame(frame), held(frame)[player]).unwrap();
            }
            assert_eq!(engine.advance(&mut core), Advance::Stepped);
        }
        engine.look_ahead(&mut core, |_| {});
        assert!(engine.failure().is_some());
        assert_eq!(engine.advance(&mut core), Advance::Failed);
    }
}

#[test]
fn offline_match_looks_ahead() {
    let config = Config::new(1).with(|config| config.rollback.look_ahead_frames = 2);
    let mut core = Core { ends_at: 40, ..Core::default() };
    let mut offline = Offline::new(Duration::ZERO, &config, &core).unwrap();
    while !offline.ended() {
        offline.advance(offline.next_frame_at(), &mut core, held(offline.current().0));
        let (before, ended, mut drawn) = (core.state, offline.ended(), 0);
        offline.look_ahead(&mut core, |core| drawn = core.state.frame);
        assert_eq!((core.state, drawn), (before, before.frame + if ended { 0 } else { 2 }));
    }
    assert_eq!(core.state, games::handle::direct(40)[40]);
}

/// Nothing is saved offline but the last state, and a barrier is not stepped ahead of its inputs.
#[test]
fn offline_look_ahead_shows_the_barrier_that_it_stops_at() {
    let config = Config::new(1).with(|config| config.rollback.look_ahead_frames = 2);
    let mut core = Core { barrier: |state| state.frame % 5 == 4, ..Core::new(40) };
    let mut offline = Offline::new(Duration::ZERO, &config, &core).unwrap();
    let mut at_barrier = 0;
    while offline.current().0 < 39 {
        offline.advance(offline.next_frame_at(), &mut core, held(offline.current().0));
        let before = core.state;
        offline.look_ahead(&mut core, |core| {
            let led_here = core.steps.iter().rev().find(|step| step.frame + 1 == core.state.frame).unwrap();
            let picture = core.steps.iter().rev().find(|step| step.is_shown).unwrap();
            assert_eq!((picture.frame, picture.inputs), (led_here.frame, led_here.inputs));
            at_barrier += u32::from(core.state.frame == before.frame);
        });
        assert_eq!(core.state, before);
    }
    assert_eq!((at_barrier, core.state), (8, games::handle::direct(39)[39]));
    let barriers = core.steps.iter().filter(|step| step.at_barrier);
    assert!(barriers.map(|step| step.frame).eq((4..39).step_by(5)), "each is stepped once");
}
