//! What a session asks of the engine beyond what an embedder can.

use super::Rollback;
use crate::{Buttons, Frame, Game, Player};

impl<S> Rollback<S> {
    /// Forgets what the last [`advance`](Self::advance) had to say: its cues and what it settled.
    #[inline]
    pub(crate) fn forget_last(&mut self) {
        self.cues.begin();
        self.settled_before = self.settled;
    }

    /// Ends the match in a settled state, although the game is not finished in it. `elsewhere` is that state, if it
    /// was handed out. `false` if the state is not kept any more.
    pub(crate) fn end_at<G: Game<Snapshot = S>>(
        &mut self,
        end: Frame,
        game: &mut G,
        elsewhere: Option<&S>,
    ) -> bool {
        if end > self.settled || self.ended.is_some() {
            return false;
        }
        if end == self.current || self.snapshots.get(end).is_some() {
            self.end(end, game);
            return true;
        }
        let Some(snapshot) = elsewhere else { return false };
        game.restore(snapshot);
        self.cues.cancel_from(end, self.current);
        (self.current, self.settled, self.ended) = (end, end, Some(end));
        true
    }

    /// Takes back the cues of frames that will never be certain.
    pub(crate) fn cancel_cues(&mut self) {
        self.cues.cancel_from(self.settled, self.current);
    }

    /// The confirmed inputs of `player` from `start` up to `end`; both within what is kept.
    #[inline]
    pub(crate) fn inputs(
        &self,
        player: Player,
        start: Frame,
        end: Frame,
    ) -> impl ExactSizeIterator<Item = Buttons> {
        self.queues[player.index()].run(start, end)
    }

    /// The first of `inputs` of `player`, which begin at `start`, that conflicts with what is confirmed: its frame,
    /// what is confirmed, what it says.
    #[inline]
    pub(crate) fn conflict(
        &self,
        player: Player,
        start: Frame,
        inputs: impl Iterator<Item = Buttons>,
    ) -> Option<(Frame, Buttons, Buttons)> {
        self.queues[player.index()].conflict(start, inputs)
    }

    /// Hands out the slot of a frame that will never be restored again, because it was stepped on confirmed inputs.
    #[inline]
    pub(crate) fn release_snapshot(&mut self, frame: Frame) -> Option<&mut S> {
        if frame < self.settled { self.snapshots.release(frame) } else { None }
    }
}
