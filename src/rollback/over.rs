//! The end of a match in the engine: a last state, or one that could not be saved or restored.

use super::{Advance, Rollback};
use crate::{Frame, Game, StateError};

impl<S> Rollback<S> {
    /// Ends the match in state `end`. Frames stepped beyond it are undone: the state is restored, their cues are
    /// cancelled.
    #[cold]
    pub(super) fn end<G: Game<Snapshot = S>>(&mut self, end: Frame, game: &mut G) -> Result<(), StateError> {
        if end < self.current {
            self.go_back(end, game)?;
            self.cues.cancel_from(end, self.current);
            self.current = end;
        }
        self.keep_last(end, game)?;
        self.over = Some(Ok(end));
        self.meter.stop();
        Ok(())
    }

    /// Ends the match because the game could not save or restore a state. No frame settles any more, and every open cue is
    /// cancelled.
    #[cold]
    pub(super) fn fail(&mut self, error: StateError) -> Advance {
        self.cues.reconcile(self.current);
        self.cues.cancel_from(self.settled, self.current);
        self.over = Some(Err(error));
        self.meter.stop();
        Advance::Failed
    }

    /// The frame of the state in which the match ended, once that is settled.
    #[inline]
    #[must_use]
    pub fn ended(&self) -> Option<Frame> {
        match self.over {
            Some(Ok(frame)) => Some(frame),
            None | Some(Err(_)) => None,
        }
    }

    /// Why the game could not save or restore a state, after [`Advance::Failed`].
    #[must_use]
    pub fn failure(&self) -> Option<&StateError> {
        self.over.as_ref()?.as_ref().err()
    }
}
