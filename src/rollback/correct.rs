//! The correction of a settled state that went wrong in memory: the only way to change a settled state.

use super::Rollback;
use crate::{Frame, Game, StateError};
use core::mem;

impl<S> Rollback<S> {
    /// Puts `state` in the place of the [settled](Self::settled) one. Frames after it are stepped again in the next
    /// [`advance`](Self::advance), like after a misprediction: their cues are reconciled, and those of settled frames stay as they were
    /// told.
    pub(crate) fn correct<G: Game<Snapshot = S>>(
        &mut self,
        state: &mut S,
        game: &mut G,
    ) -> Result<(), StateError> {
        let settled = self.settled;
        self.forget_ahead();
        self.mispredicted = None;
        game.restore(state)?;
        // The state may turn out to be a barrier, or the only one that there is.
        if self.is_barred(settled, game) {
            self.cues.withdraw(settled, self.current);
            self.current = settled;
        }
        if settled == self.current {
            self.snapshots.drop_all(settled);
        } else if let Some(slot) = self.snapshots.begin_at(settled) {
            mem::swap(slot, state);
            self.mispredicted = Some(settled);
        }
        Ok(())
    }

    /// Ends the match in `state`, in which the game turns out to have been finished in frame `end`, at or before the
    /// [settled](Self::settled) one.
    pub(crate) fn correct_end<G: Game<Snapshot = S>>(
        &mut self,
        end: Frame,
        state: &S,
        game: &mut G,
    ) -> Result<(), StateError> {
        self.mispredicted = None;
        self.snapshots.drop_all(end);
        game.restore(state)?;
        self.cues.cancel_from(self.settled, self.current);
        (self.current, self.settled, self.settled_before) = (end, end, end);
        self.end(end, game)
    }
}

#[cfg(test)]
mod tests {
    use crate::rollback::{Advance, EngineConfig, Rollback};
    use crate::{Buttons, Cue, CueChange, Cues, Frame, Game, Inputs, Player, Saving};

    /// A game that adds up its inputs and announces every state.
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Sum {
        sum: u32,
        barrier_at: u32,
    }
    crate::fields!(Sum { sum, barrier_at });

    impl Game for Sum {
        fn step(&mut self, inputs: Inputs, cues: &mut Cues) {
            self.sum += u32::from(inputs[Player::One].buttons().0 + inputs[Player::Two].buttons().0);
            cues.emit(Cue(self.sum));
        }
        fn barrier(&self) -> bool {
            self.sum == self.barrier_at
        }
    }

    fn played(saving: Saving, barrier_at: u32) -> (Rollback<Sum>, Sum) {
        let mut game = Sum { sum: 0, barrier_at };
        let config = EngineConfig { saving, cadence_frames: 30, ..EngineConfig::default() };
        let mut engine = Rollback::new(config, &game);
        for frame in (0..44).map(Frame) {
            engine.confirm(Player::One, frame, Buttons(1)).unwrap();
            if frame < Frame(40) {
                engine.confirm(Player::Two, frame, Buttons(1)).unwrap();
            }
            if frame == Frame(20) {
                game.sum += 1_000;
            }
            assert_eq!(engine.advance(&mut game), Advance::Stepped);
        }
        assert_eq!((engine.settled(), game.sum), (Frame(40), 1_088));
        engine.forget_last();
        (engine, game)
    }

    #[test]
    fn corrected_state_replaces_the_settled_one_and_all_after_it() {
        for saving in [Saving::Every, Saving::Sparse] {
            let (mut engine, mut game) = played(saving, u32::MAX);
            engine.correct(&mut Sum { sum: 80, ..game }, &mut game).unwrap();
            engine.confirm(Player::One, Frame(44), Buttons(1)).unwrap();
            assert_eq!(engine.advance(&mut game), Advance::Stepped);
            assert_eq!((engine.current(), game.sum), (Frame(45), 90), "{saving:?}");
            let told = |change: fn(&CueChange) -> bool| {
                engine.cues().iter().filter(|event| change(&event.change)).count()
            };
            assert_eq!(told(|change| *change == CueChange::Cancel), 4, "{saving:?}: the predicted frames");
            assert_eq!(told(|change| matches!(change, CueChange::Start { .. })), 5, "{saving:?}");
            // Every later rollback goes back to corrected states.
            for frame in (40..60).map(Frame) {
                engine.confirm(Player::Two, frame, Buttons(3)).unwrap();
                if frame > Frame(44) {
                    engine.confirm(Player::One, frame, Buttons(1)).unwrap();
                    assert_eq!(engine.advance(&mut game), Advance::Stepped);
                }
            }
            assert_eq!((engine.settled(), game.sum), (Frame(60), 160), "{saving:?}");
        }
    }

    #[test]
    fn corrected_state_that_is_a_barrier_waits() {
        for saving in [Saving::Every, Saving::Sparse] {
            let (mut engine, mut game) = played(saving, 80);
            engine.correct(&mut Sum { sum: 80, ..game }, &mut game).unwrap();
            assert_eq!((engine.advance(&mut game), engine.current()), (Advance::Stalled, Frame(40)));
            assert_eq!(engine.cues().len(), 4, "{saving:?}: cancelled");
            engine.confirm(Player::Two, Frame(40), Buttons(1)).unwrap();
            assert_eq!((engine.advance(&mut game), game.sum), (Advance::Stepped, 82), "{saving:?}");
        }
    }

    #[test]
    fn corrected_match_ends_where_the_game_was_finished() {
        for saving in [Saving::Every, Saving::Sparse] {
            let (mut engine, mut game) = played(saving, u32::MAX);
            engine.correct_end(Frame(30), &Sum { sum: 60, ..game }, &mut game).unwrap();
            assert_eq!((engine.ended(), game.sum), (Some(Frame(30)), 60), "{saving:?}");
            assert_eq!(engine.snapshot(Frame(30)).map(|state| state.sum), Some(60));
            assert!(engine.cues().iter().all(|event| event.change == CueChange::Cancel), "{saving:?}");
            assert_eq!(engine.cues().len(), 4);
        }
    }
}
