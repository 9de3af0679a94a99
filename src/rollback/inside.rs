//! The calls of the engine that only a session and a recorder need.

use super::{Rollback, SLOTS};
use crate::{Frame, Game, Input, Inputs, Player, StateError};

impl<S> Rollback<S> {
    /// Clears the results of the last [`advance`](Self::advance): its cue events and the range of frames it settled.
    ///
    /// [`advance`](Self::advance) does so itself. A session also does when it does not advance, or the game would be
    /// told of them twice.
    #[inline]
    pub(crate) fn forget_last(&mut self) {
        self.cues.begin();
        self.settled_before = self.settled;
    }

    /// The frames that the last [`advance`](Self::advance) settled, with their inputs.
    #[inline]
    pub(crate) fn newly_confirmed(&self) -> impl Iterator<Item = (Frame, Inputs)> {
        let settled = self.newly_settled();
        settled.start.until(settled.end).filter_map(|frame| Some((frame, self.settled_inputs(frame)?)))
    }

    /// Ends the match in the settled state `end`, although the game is not finished in it.
    ///
    /// `archived` is the archive's newest state up to that frame, for when the engine has no snapshot before it any more.
    /// `false`, and nothing changes, if no state leads there, if `end` is not settled, or if the match has ended already. Also
    /// `false` if the game could not restore or save a state, which [`failure`](Self::failure) then has.
    pub(crate) fn end_at<G: Game<Snapshot = S>>(
        &mut self,
        end: Frame,
        game: &mut G,
        archived: Option<(Frame, &S)>,
    ) -> bool {
        if end > self.settled || self.over.is_some() {
            return false;
        }
        self.try_end_at(end, game, archived).unwrap_or_else(|error| {
            self.fail(error);
            false
        })
    }

    fn try_end_at<G: Game<Snapshot = S>>(
        &mut self,
        end: Frame,
        game: &mut G,
        archived: Option<(Frame, &S)>,
    ) -> Result<bool, StateError> {
        let near = |(from, _)| self.current.since(from) <= SLOTS as u32;
        if end == self.current || self.snapshots.nearest(end).is_some_and(near) {
            self.end(end, game)?;
            return Ok(true);
        }
        let Some((from, snapshot)) = archived else { return Ok(false) };
        if !from.until(end).all(|frame| self.settled_inputs(frame).is_some()) {
            return Ok(false);
        }
        game.restore(snapshot)?;
        self.replay(from, end, game, Self::just_settled);
        self.keep_last(end, game)?;
        self.cues.cancel_from(end, self.current);
        (self.current, self.settled, self.over) = (end, end, Some(Ok(end)));
        Ok(true)
    }

    /// Whether the snapshot of every frame is kept.
    pub(crate) fn saves_every(&self) -> bool {
        !self.snapshots.is_sparse()
    }

    /// Cancels the cues of all frames that are not settled, when they never will be.
    pub(crate) fn cancel_cues(&mut self) {
        self.cues.cancel_from(self.settled, self.current);
    }

    /// The confirmed inputs of `player` from `start` up to, but not including, `end`, all of which must be kept: their
    /// buttons as they are on the wire, and all of them.
    #[inline]
    pub(crate) fn inputs(
        &self,
        player: Player,
        start: Frame,
        end: Frame,
    ) -> (&[[u8; 2]], impl ExactSizeIterator<Item = Input>) {
        let queue = &self.queues[player.index()];
        (queue.run_of_buttons(start, end), queue.run(start, end))
    }

    /// The first conflict between `inputs`, which begin at frame `start`, and the confirmed inputs of `player`: its
    /// frame, the confirmed input, the conflicting one.
    pub(crate) fn conflict(
        &self,
        player: Player,
        start: Frame,
        inputs: impl Iterator<Item = Input>,
    ) -> Option<(Frame, Input, Input)> {
        self.queues[player.index()].conflict(start, inputs)
    }

    /// The same for inputs of buttons only, as they are on the wire.
    #[inline]
    pub(crate) fn conflict_of_buttons(
        &self,
        player: Player,
        start: Frame,
        inputs: &[[u8; 2]],
    ) -> Option<(Frame, Input, Input)> {
        self.queues[player.index()].conflict_of_buttons(start, inputs)
    }

    /// The inputs of a settled frame that are kept, as those of the last [`advance`](Self::advance) always are.
    #[inline]
    pub(crate) fn just_settled(&self, frame: Frame) -> Inputs {
        let [one, two] = &self.queues;
        Inputs([one.recent(frame), two.recent(frame)])
    }

    /// Releases the snapshot of a settled frame, which is never restored again. The caller may swap its contents.
    #[inline]
    pub(crate) fn release_snapshot(&mut self, frame: Frame) -> Option<&mut S> {
        debug_assert!(frame < self.settled, "a frame that can still be restored");
        self.snapshots.release(frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rollback::{Advance, EngineConfig};
    use crate::{Buttons, Cue, CueChange, Cues};

    #[derive(Clone, Copy)]
    struct Chimes {
        frame: u32,
    }
    crate::fields!(Chimes { frame });

    impl Game for Chimes {
        fn step(&mut self, _: Inputs, cues: &mut Cues) {
            self.frame += 1;
            cues.emit(Cue(self.frame));
        }
    }

    #[test]
    fn end_at_an_archived_state_cancels_the_open_cues() {
        let mut game = Chimes { frame: 0 };
        let mut engine = Rollback::new(EngineConfig::default(), &game);
        for frame in (0..44).map(Frame) {
            engine.confirm(Player::One, frame, Buttons(1)).unwrap();
            if frame < Frame(40) {
                engine.confirm(Player::Two, frame, Buttons(1)).unwrap();
            }
            assert_eq!(engine.advance(&mut game), Advance::Stepped);
        }
        engine.forget_last();
        assert!(!engine.end_at(Frame(20), &mut game, None), "the engine has no state of frame 20");
        assert!(engine.end_at(Frame(20), &mut game, Some((Frame(15), &Chimes { frame: 15 }))));
        assert_eq!((game.frame, engine.ended(), engine.current()), (20, Some(Frame(20)), Frame(20)));
        assert_eq!(engine.settled(), Frame(20), "frames after the end are not certain");
        let cancelled: Vec<u32> = engine.cues().iter().map(|event| event.frame.0).collect();
        assert_eq!(cancelled, [40, 41, 42, 43]);
        assert!(engine.cues().iter().all(|event| event.change == CueChange::Cancel));
    }

    #[test]
    fn reset_forgets_a_misprediction() {
        let mut game = Chimes { frame: 0 };
        let mut engine = Rollback::new(EngineConfig::default(), &game);
        for frame in (0..4).map(Frame) {
            engine.confirm(Player::One, frame, Buttons(1)).unwrap();
            engine.advance(&mut game);
        }
        engine.confirm(Player::Two, Frame(0), Buttons(9)).unwrap();
        assert_eq!(engine.mispredicted(), Some(Frame(0)));
        engine.reset();
        game.frame = 0;
        assert_eq!((engine.mispredicted(), engine.advance(&mut game)), (None, Advance::Stepped));
        assert_eq!((game.frame, engine.stats().rollbacks), (1, 0));
    }
}
