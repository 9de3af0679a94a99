//! Barriers: a state that is stepped once, on confirmed inputs, also if a prediction had led past it.

use games::handle::{Core, CoreState, Step, direct, held};
use proptest::prelude::*;
use rebout::rollback::{Advance, EngineConfig, Rollback};
use rebout::{Buttons, CueChange, CueEvent, CueId, Cues, Frame, Game, Player, Rng, Saving, SyncTest};
use std::collections::BTreeMap;

/// Barriers that depend on the inputs, and therefore come and go with predictions; that come at known frames; and that
/// come several in a row.
const RULES: [fn(CoreState) -> bool; 4] = [
    |state| state.sum % 11 == 3,
    |state| state.frame % 40 == 39,
    |state| state.sum % 5 == 0,
    |state| state.sum % 64 < 8 || state.frame < 3,
];

const FRAMES: u32 = 300;

/// What a run has shown.
#[derive(Debug, Default)]
struct Seen {
    went_back: u32,
    stalled: u32,
    barriers: usize,
}

/// The steps of barriers in a match that is played directly.
fn expected(rule: fn(CoreState) -> bool) -> Vec<(u32, rebout::Inputs)> {
    let states = direct(FRAMES);
    let barriers = (0..FRAMES).filter(|frame| rule(states[*frame as usize]));
    barriers.map(|frame| (frame, held(frame))).collect()
}

fn at_barriers(steps: &[Step]) -> Vec<(u32, rebout::Inputs)> {
    steps.iter().filter(|step| step.at_barrier).map(|step| (step.frame, step.inputs)).collect()
}

/// The picture is that of the state in which the game is, unless a barrier led there, which is not stepped twice.
fn assert_picture(core: &Core) {
    let Some(last) = core.state.frame.checked_sub(1) else { return };
    let led_here = core.steps.iter().rev().find(|step| step.frame == last).unwrap();
    let picture = core.steps.iter().rev().find(|step| step.is_shown);
    let is_current =
        picture.is_some_and(|step| (step.frame, step.inputs) == (led_here.frame, led_here.inputs));
    assert!(is_current || led_here.at_barrier, "{picture:?} is not {led_here:?}");
}

/// Follows each cue from its start to its end.
fn follow(events: &[CueEvent], open: &mut BTreeMap<CueId, Frame>, confirmed: &mut u32) {
    for event in events {
        match event.change {
            CueChange::Start { .. } => assert!(open.insert(event.id, event.frame).is_none()),
            CueChange::Cancel => assert!(open.remove(&event.id).is_some()),
            CueChange::Confirm => {
                assert!(open.remove(&event.id).is_some());
                *confirmed += 1;
            }
        }
    }
}

/// Plays with player two's inputs late by up to `max_lag` frames, drawn from a seed.
fn play(rule: fn(CoreState) -> bool, config: EngineConfig, max_lag: u32, seed: u32) -> Seen {
    let mut core = Core { barrier: rule, ..Core::default() };
    let mut engine = Rollback::new(config, &core);
    let (mut rng, mut seen) = (Rng::new(seed).unwrap(), Seen::default());
    let mut open = BTreeMap::new();
    let mut confirmed = 0;
    for _ in 0..100 * FRAMES {
        let before = engine.current();
        if before.0 == FRAMES {
            break;
        }
        for frame in engine.next_input(Player::One).until(before.next()) {
            engine.confirm(Player::One, frame, held(frame.0)[Player::One]).unwrap();
        }
        let arrived = Frame((before.0 + 1).saturating_sub(rng.below(max_lag + 1)));
        for frame in engine.next_input(Player::Two).until(arrived) {
            engine.confirm(Player::Two, frame, held(frame.0)[Player::Two]).unwrap();
        }
        let advance = engine.advance(&mut core);
        seen.went_back += u32::from(engine.current() < before);
        seen.stalled += u32::from(advance == Advance::Stalled);
        assert_eq!(core.state.frame, engine.current().0, "the game is in the state of the current frame");
        assert!(
            advance != Advance::Stalled || engine.snapshot(engine.current()).is_none(),
            "a stale snapshot"
        );
        follow(engine.cues(), &mut open, &mut confirmed);
        if config.look_ahead == 0 {
            assert_picture(&core);
        } else {
            let state = core.state;
            engine.look_ahead(&mut core, |core| assert_picture(core));
            assert_eq!(core.state, state);
        }
    }
    assert_eq!(engine.current(), Frame(FRAMES), "{seen:?}");
    for player in Player::BOTH {
        for frame in engine.next_input(player).until(Frame(FRAMES)) {
            engine.confirm(player, frame, held(frame.0)[player]).unwrap();
        }
    }
    engine.mend(&mut core);
    follow(engine.cues(), &mut open, &mut confirmed);
    assert_eq!((engine.settled(), core.state), (Frame(FRAMES), direct(FRAMES)[FRAMES as usize]));
    assert_eq!((confirmed, open.len()), (FRAMES, 0), "each frame has one cue");
    let barriers = at_barriers(&core.steps);
    seen.barriers = barriers.len();
    assert_eq!(barriers, expected(rule), "each once, in order, on its true inputs");
    seen
}

#[test]
fn barrier_is_stepped_once_on_its_true_inputs() {
    let (mut went_back, mut barriers) = (0, 0);
    for (number, rule) in RULES.into_iter().enumerate() {
        for saving in [Saving::Every, Saving::Sparse] {
            for window in [0, 1, 4, 8] {
                for lag in [0, 2, 6, 15] {
                    let config = EngineConfig { window, saving, ..EngineConfig::default() };
                    let seen = play(rule, config, lag, 7 + number as u32);
                    went_back += seen.went_back;
                    barriers += seen.barriers;
                }
            }
        }
    }
    assert!(went_back > 100, "{went_back} predictions hid a barrier, of {barriers}");
}

#[test]
fn look_ahead_does_not_step_a_barrier() {
    for rule in RULES {
        for saving in [Saving::Every, Saving::Sparse] {
            let config = EngineConfig { look_ahead: 3, saving, ..EngineConfig::default() };
            play(rule, config, 6, 3);
        }
    }
}

#[test]
fn checkpoints_of_a_sparse_engine_stay() {
    for cadence_frames in [1, 2, 7, 30] {
        let config = EngineConfig { saving: Saving::Sparse, cadence_frames, ..EngineConfig::default() };
        play(RULES[0], config, 6, 5);
    }
}

#[test]
fn last_step_ahead_of_a_barrier_is_shown() {
    let mut core = Core { barrier: |state| state.frame == 12, ..Core::default() };
    let config = EngineConfig { look_ahead: 4, ..EngineConfig::default() };
    let mut engine = Rollback::new(config, &core);
    for frame in 0..12 {
        engine.confirm(Player::One, Frame(frame), Buttons(1)).unwrap();
        if frame < 9 {
            engine.confirm(Player::Two, Frame(frame), Buttons(1)).unwrap();
        }
        assert_eq!(engine.advance(&mut core), Advance::Stepped);
        core.steps.clear();
        let mut drawn = 0;
        engine.look_ahead(&mut core, |core| drawn = core.state.frame);
        assert_eq!(drawn, (frame + 5).min(12));
        let shown: Vec<u32> =
            core.steps.iter().filter(|step| step.is_shown).map(|step| step.frame + 1).collect();
        assert_eq!(shown, [drawn], "at frame {frame}");
    }
    assert_eq!(engine.advance(&mut core), Advance::Stalled);
    assert!(!engine.may_step() && engine.ended().is_none());
}

#[test]
fn barrier_that_was_mispredicted_is_not_waited_for() {
    // The prediction leads to a barrier, and the true input does not.
    let mut core = Core { barrier: |state| state.frame == 5 && state.sum % 2 == 0, ..Core::default() };
    let mut engine = Rollback::new(EngineConfig::default(), &core);
    for frame in 0..8 {
        engine.confirm(Player::One, Frame(frame), Buttons(0)).unwrap();
    }
    for frame in 0..2 {
        engine.confirm(Player::Two, Frame(frame), Buttons(2)).unwrap();
    }
    for _ in 0..5 {
        assert_eq!(engine.advance(&mut core), Advance::Stepped);
    }
    assert_eq!((engine.advance(&mut core), engine.current()), (Advance::Stalled, Frame(5)));
    engine.confirm(Player::Two, Frame(2), Buttons(3)).unwrap();
    assert_eq!((engine.advance(&mut core), engine.current()), (Advance::Stepped, Frame(6)));
    assert!(at_barriers(&core.steps).is_empty());
}

#[test]
fn cues_beyond_a_hidden_barrier_are_cancelled() {
    let mut core = Core { barrier: |state| state.frame == 5 && state.sum % 2 == 1, ..Core::default() };
    let mut engine = Rollback::new(EngineConfig::default(), &core);
    for frame in 0..8 {
        engine.confirm(Player::One, Frame(frame), Buttons(0)).unwrap();
        if frame < 2 {
            engine.confirm(Player::Two, Frame(frame), Buttons(2)).unwrap();
        }
        assert_eq!(engine.advance(&mut core), Advance::Stepped);
    }
    engine.confirm(Player::Two, Frame(2), Buttons(3)).unwrap();
    assert_eq!((engine.advance(&mut core), engine.current()), (Advance::Stalled, Frame(5)));
    let told = |change: fn(CueChange) -> bool| {
        let events = engine.cues().iter().filter(move |event| change(event.change));
        events.map(|event| event.frame.0).collect::<Vec<_>>()
    };
    assert_eq!(told(|change| change == CueChange::Cancel), [2, 3, 4, 5, 6, 7]);
    assert_eq!(told(|change| matches!(change, CueChange::Start { .. })), [2, 3, 4]);
}

#[test]
fn sync_test_steps_barriers_like_any_other_state() {
    let mut core = Core { barrier: RULES[0], ..Core::default() };
    let mut test = SyncTest::new(&core, 8, 1);
    (0..200).for_each(|frame| test.advance(&mut core, held(frame)).unwrap());
    assert!(test.finish().is_ok() && at_barriers(&core.steps).len() > 20);
    core.step(held(0), &mut Cues::new());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn barriers_hold_at_any_lag(
        rule in 0..RULES.len(),
        window in 0_u32..=16,
        lag in 0_u32..20,
        seed in 1_u32..,
        sparse in any::<bool>(),
        cadence_frames in prop::sample::select(vec![0_u32, 3, 30]),
    ) {
        let saving = if sparse { Saving::Sparse } else { Saving::Every };
        play(RULES[rule], EngineConfig { window, saving, cadence_frames, ..EngineConfig::default() }, lag, seed);
    }
}
