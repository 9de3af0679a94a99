//! The way back to an earlier state, resimulation, and the saves of a policy that does not save every frame.

use super::{Rollback, SLOTS, slot};
use crate::{Frame, Game, Inputs, StateError, protocol::trace};

impl<S> Rollback<S> {
    /// Returns to the state of `frame`, and steps again from there up to the current frame on the inputs known by now. The last
    /// step is shown if `shows_last`: the current frame is not stepped, and the corrected state is drawn.
    #[inline(never)]
    pub(super) fn resimulate<G: Game<Snapshot = S>>(
        &mut self,
        frame: Frame,
        game: &mut G,
        shows_last: bool,
    ) -> Result<(), StateError> {
        self.mispredicted = None;
        self.go_back(frame, game)?;
        let mut again = frame;
        loop {
            self.step(again, game, shows_last && again.next() == self.current);
            again = again.next();
            if again >= self.current {
                break;
            }
            if self.is_barred(again, game) {
                self.stop_at_barrier(again);
                break;
            }
            self.save(again, game, true)?;
        }
        let depth = self.current.since(frame);
        trace::rolled_back(frame, depth);
        self.stats.rollbacks += 1;
        self.stats.resimulated_frames += u64::from(depth);
        self.stats.depths[depth as usize] += 1;
        Ok(())
    }

    /// Puts the game into the state of `frame`, which is right, by the nearest snapshot before it.
    #[inline]
    pub(super) fn go_back<G: Game<Snapshot = S>>(
        &mut self,
        frame: Frame,
        game: &mut G,
    ) -> Result<(), StateError> {
        self.snapshots.roll_back(frame);
        let (from, snapshot) = self
            .snapshots
            .nearest(frame)
            .expect("a frame that is not settled has a snapshot at or before it");
        game.restore(snapshot)?;
        if from < frame {
            debug_assert!(self.current.since(from) <= SLOTS as u32, "the inputs of its step are kept");
            self.replay(from, frame, game, |engine, frame| engine.stepped[slot(frame)].inputs);
        }
        Ok(())
    }

    /// Steps frames that are right once more, on the inputs that they were stepped on. Their cues are known.
    #[cold]
    pub(super) fn replay<G: Game<Snapshot = S>>(
        &mut self,
        from: Frame,
        to: Frame,
        game: &mut G,
        inputs: impl Fn(&Self, Frame) -> Inputs,
    ) {
        for frame in from.until(to) {
            let inputs = inputs(self, frame);
            self.scratch.begin(false);
            game.step(inputs, &mut self.scratch);
        }
        self.stats.replayed_frames += u64::from(to.since(from));
    }

    /// Saves the state of `frame` if a sparse policy wants it.
    // Cold, because small states never come here, and would pay for it in registers.
    #[cold]
    pub(super) fn save_sparsely<G: Game<Snapshot = S>>(
        &mut self,
        frame: Frame,
        game: &G,
        resimulating: bool,
    ) -> Result<(), StateError> {
        let uncertain = self.confirmed_end();
        match self.snapshots.claim_sparse(frame, uncertain, self.settled, resimulating) {
            Some(slot) => Self::save_measured(&mut self.meter, game, slot),
            None => Ok(()),
        }
    }

    /// Keeps the last state of a match, in which the game is.
    pub(super) fn keep_last<G: Game<Snapshot = S>>(
        &mut self,
        end: Frame,
        game: &G,
    ) -> Result<(), StateError> {
        // The caller has not seen yet what settled in this very advance.
        match self.snapshots.claim_last(end, self.settled_before) {
            Some(slot) => game.save(slot),
            None => Ok(()),
        }
    }
}
