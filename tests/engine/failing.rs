//! A game that cannot save or restore a state: everything that steps it says so, and nothing panics.

use core::time::Duration;
use games::handle::{Core, held};
use rebout::replay::{
    End, Header, Outcome, Playback, Recording, Replay, StreamRecorder, VerifyError, Winner, verify,
};
use rebout::rollback::{Advance, EngineConfig, Rollback};
use rebout::{
    Advanced, Config, CueChange, Frame, Offline, Player, Reason, Saving, StateError, SyncTest, SyncTestError,
};
use std::collections::BTreeSet;

/// Plays with player two's inputs `lag` frames late until the engine does not step; answers its outcome and the events of
/// all cues.
fn play(core: &mut Core, saving: Saving, lag: u32) -> (Advance, Option<StateError>, Vec<(u32, CueChange)>) {
    let mut engine = Rollback::new(EngineConfig { saving, ..EngineConfig::default() }, core);
    let mut told = Vec::new();
    for now in 0..60 {
        engine.confirm(Player::One, Frame(now), held(now)[Player::One]).unwrap();
        if let Some(late) = now.checked_sub(lag) {
            engine.confirm(Player::Two, Frame(late), held(late)[Player::Two]).unwrap();
        }
        let advance = engine.advance(core);
        told.extend(engine.cues().iter().map(|event| (event.id.0, event.change)));
        if advance != Advance::Stepped {
            let steps = core.steps.len();
            assert_eq!((engine.advance(core), engine.ended()), (advance, None), "it stays so");
            assert!(engine.cues().is_empty() && core.steps.len() == steps && !engine.may_step());
            return (advance, engine.failure().cloned(), told);
        }
    }
    (Advance::Stepped, None, told)
}

#[test]
fn engine_fails_at_a_state_that_cannot_be_saved() {
    let mut core = Core { unsaved: 20..21, ..Core::default() };
    let (advance, error, _) = play(&mut core, Saving::Every, 0);
    assert_eq!(advance, Advance::Failed);
    assert_eq!(error, Some(StateError::new("the core did not serialize")));
    assert_eq!(core.state.frame, 20, "nothing is stepped from it");
}

#[test]
fn engine_fails_at_a_state_that_cannot_be_restored() {
    for saving in [Saving::Every, Saving::Sparse] {
        let frames: BTreeSet<u32> = (0..30)
            .filter(|frame| {
                let mut core = Core { unrestored: *frame..*frame + 1, ..Core::default() };
                let (advance, error, cues) = play(&mut core, saving, 4);
                assert_eq!(error.is_some(), advance == Advance::Failed);
                if let Some(error) = error {
                    assert_eq!(error.to_string(), format!("the core refused frame {frame}"));
                    let started = cues.iter().filter(|(_, change)| matches!(change, CueChange::Start { .. }));
                    assert_eq!(started.count() * 2, cues.len(), "every cue ends: {cues:?}");
                }
                advance == Advance::Failed
            })
            .collect();
        assert!(frames.len() > 2, "{saving:?}: {frames:?}");
    }
}

#[test]
fn engine_fails_at_a_last_state_that_cannot_be_kept() {
    let mut core = Core { unsaved: 20..21, ends_at: 20, ..Core::default() };
    let (advance, error, _) = play(&mut core, Saving::Sparse, 0);
    assert_eq!((advance, error.is_some()), (Advance::Failed, true));
}

#[test]
fn sync_test_names_a_state_that_fails() {
    for (unsaved, unrestored) in [(20..21, 0..0), (0..0, 20..21)] {
        let mut core = Core { unsaved, unrestored, ..Core::default() };
        let mut test = SyncTest::new(&core, 8, 1);
        let error = (0..60).find_map(|frame| test.advance(&mut core, held(frame)).err()).unwrap();
        let SyncTestError::State { frame, .. } = &error else { panic!("{error}") };
        assert_eq!(*frame, Frame(20));
        assert!(error.to_string().contains("the core"), "{error}");
    }
}

fn recording(frames: u32, outcome: Outcome) -> Recording {
    let mut recorder = StreamRecorder::new(&Header::new(7), Vec::new()).unwrap();
    for frame in 0..frames {
        recorder.record(Frame(frame), held(frame)).unwrap();
    }
    Recording::open(recorder.finish(End { outcome, winner: Winner::Undecided }).unwrap()).unwrap()
}

#[test]
fn playback_stops_at_a_state_that_fails() {
    for (unsaved, unrestored) in [(0..1, 0..0), (120..121, 0..0), (0..0, 0..1), (0..0, 120..121)] {
        let core = Core { unsaved: unsaved.clone(), unrestored: unrestored.clone(), ..Core::default() };
        let mut playback = Playback::new(core, recording(600, Outcome::Local));
        while !playback.load(50, |_, _| {}) {}
        [130, 120, 3].into_iter().for_each(|frame| _ = playback.seek(Frame(frame)));
        let failed = playback.verified();
        assert!(matches!(failed, Err(VerifyError::State { .. })), "{unsaved:?} {unrestored:?}: {failed:?}");
        let at = playback.frame();
        assert_eq!((playback.step(), playback.seek(Frame(9)), playback.frame()), (false, 0, at));
        assert!(playback.load(1, |_, _| panic!("nothing is loaded any more")));
    }
}

#[test]
fn verification_names_a_state_that_cannot_be_saved() {
    let replay = Replay { seed: 7, inputs: (0..60).map(held).collect(), ..Replay::default() };
    let mut core = Core { unsaved: 30..31, ..Core::default() };
    let found = verify(&replay, &mut core, [(Frame(30), 1)]);
    assert!(matches!(found, Err(VerifyError::State { frame: Frame(30), .. })), "{found:?}");
}

#[test]
fn offline_match_ends_with_the_words_of_the_game() {
    let mut core = Core { unsaved: 20..21, ends_at: 20, ..Core::default() };
    let mut offline = Offline::new(Duration::ZERO, &Config::new(1), &core).unwrap();
    let last = loop {
        let now = offline.next_frame_at();
        match offline.advance(now, &mut core, held(offline.current().0)) {
            Advanced::Stepped => {}
            last => break last,
        }
    };
    assert_eq!((last, offline.ended(), offline.next_frame_at()), (Advanced::Ended, true, Duration::MAX));
    assert_eq!(offline.failure().map(ToString::to_string).as_deref(), Some("the core did not serialize"));
}

#[test]
fn recordings_keep_the_reason() {
    for reason in [Reason::StateFailed, Reason::StateFailedHere] {
        let recording = recording(3, Outcome::Disconnected(reason));
        assert_eq!(recording.end().map(|end| end.outcome), Some(Outcome::Disconnected(reason)));
        assert!(reason.to_string().contains("save or restore"), "{reason}");
    }
}
