//! A step knows whether the state that it leads to is drawn.

use core::time::Duration;
use games::handle::{Core, CoreState, Step, direct, held};
use rebout::replay::{End, Header, Outcome, Playback, Recording, Replay, StreamRecorder, Winner, verify};
use rebout::rollback::{Advance, EngineConfig, Rollback};
use rebout::{Buttons, Config, Cues, Frame, Game, Offline, Player, Saving, SyncTest, SyncTestError};

/// The frames that were stepped, and which of them were shown.
fn seen(core: &Core) -> Vec<(u32, bool)> {
    core.steps.iter().map(|Step { frame, is_shown, .. }| (*frame, *is_shown)).collect()
}

/// An engine with a window of 4 in frame 10, of which the inputs of both players up to these frames are known.
fn engine(known: [u32; 2], saving: Saving) -> (Rollback<CoreState>, Core) {
    let mut core = Core::default();
    let mut engine = Rollback::new(EngineConfig { window: 4, saving, ..EngineConfig::default() }, &core);
    for frame in 0..10 {
        for player in Player::BOTH {
            if frame < known[player.index()] {
                engine.confirm(player, Frame(frame), held(frame)[player]).unwrap();
            }
        }
        assert_eq!(engine.advance(&mut core), Advance::Stepped);
    }
    assert!(core.steps.iter().all(|step| step.is_shown), "no rollback so far");
    core.steps.clear();
    (engine, core)
}

#[test]
fn newest_frame_alone_is_shown() {
    let (mut engine, mut core) = engine([10, 7], Saving::Every);
    engine.confirm(Player::Two, Frame(7), Buttons(60)).unwrap();
    assert_eq!(engine.advance(&mut core), Advance::Stepped);
    assert_eq!(seen(&core), [(7, false), (8, false), (9, false), (10, true)]);
}

#[test]
fn last_resimulated_frame_is_shown_if_a_stall_follows() {
    for saving in [Saving::Every, Saving::Sparse] {
        let (mut engine, mut core) = engine([6, 6], saving);
        engine.confirm(Player::Two, Frame(6), Buttons(60)).unwrap();
        assert_eq!(engine.advance(&mut core), Advance::Stalled, "player one is missing too");
        let again = core.steps.iter().position(|step| step.frame == 6).unwrap();
        let expected = [(6, false), (7, false), (8, false), (9, true)];
        assert_eq!(seen(&core)[again..], expected, "{saving:?}");
        assert_eq!(core.state.frame, 10, "the game is in the state that was shown");
        core.steps.clear();
        assert_eq!(engine.advance(&mut core), Advance::Stalled);
        assert!(core.steps.is_empty(), "nothing has changed");
    }
}

#[test]
fn correction_without_a_step_is_shown() {
    let (mut engine, mut core) = engine([10, 7], Saving::Every);
    engine.confirm(Player::Two, Frame(7), Buttons(60)).unwrap();
    engine.mend(&mut core);
    assert_eq!(seen(&core), [(7, false), (8, false), (9, true)]);
}

#[test]
fn sync_test_names_a_state_that_depends_on_it() {
    let mut core = Core { counts_shown: true, ..Core::default() };
    let mut test = SyncTest::new(&core, 8, 1);
    let error = (0..60).find_map(|frame| test.advance(&mut core, held(frame)).err()).unwrap();
    let SyncTestError::Shown { frame, fields } = &error else { panic!("{error}") };
    assert_eq!((*frame, fields.len(), fields[0].path.as_str()), (Frame(1), 1, "sum"));
    assert!(error.to_string().contains("is shown"), "{error}");
}

#[test]
fn sync_test_steps_every_frame_both_ways() {
    let mut core = Core::default();
    let mut test = SyncTest::new(&core, 8, 1);
    (0..100).for_each(|frame| test.advance(&mut core, held(frame)).unwrap());
    for frame in 0..100 {
        for is_shown in [false, true] {
            let stepped = core.steps.iter().any(|step| step.frame == frame && step.is_shown == is_shown);
            assert!(stepped, "frame {frame}, shown: {is_shown}");
        }
    }
}

#[test]
fn playback_shows_steps_and_the_end_of_a_seek() {
    let mut recorder = StreamRecorder::new(&Header::new(7), Vec::new()).unwrap();
    (0..200).for_each(|frame| recorder.record(Frame(frame), held(frame)).unwrap());
    let end = End { outcome: Outcome::Local, winner: Winner::Undecided };
    let recording = Recording::open(recorder.finish(end).unwrap()).unwrap();
    let mut playback = Playback::new(Core::default(), recording);
    while !playback.load(50, |_, _| {}) {}
    let loaded = playback.game().steps.len();
    assert!(playback.game().steps.iter().all(|step| !step.is_shown), "nothing is drawn while it loads");
    playback.seek(Frame(70));
    assert!(playback.step());
    let shown: Vec<u32> =
        playback.game().steps[loaded..].iter().filter(|step| step.is_shown).map(|step| step.frame).collect();
    assert_eq!(shown, [69, 70]);
    assert_eq!(playback.game().state, direct(71)[71]);
}

#[test]
fn verification_shows_nothing_and_an_offline_match_everything() {
    let replay = Replay { seed: 7, inputs: (0..60).map(held).collect(), ..Replay::default() };
    let mut core = Core::default();
    let _ = verify(&replay, &mut core, [(Frame(30), 1)]);
    assert!(core.steps.len() == 60 && core.steps.iter().all(|step| !step.is_shown));

    let mut core = Core { ends_at: 60, ..Core::default() };
    let mut offline = Offline::new(Duration::ZERO, &Config::new(1), &core).unwrap();
    while !offline.ended() {
        offline.advance(offline.next_frame_at(), &mut core, held(offline.current().0));
    }
    assert!(core.steps.len() == 60 && core.steps.iter().all(|step| step.is_shown));
}

#[test]
fn step_without_an_engine_is_shown() {
    let mut core = Core::default();
    core.step(held(0), &mut Cues::new());
    core.step(held(1), &mut Cues::default());
    assert!(core.steps.iter().all(|step| step.is_shown));
}
