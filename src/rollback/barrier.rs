//! Barriers: states that are stepped once, on confirmed inputs.

use super::{Rollback, slot};
use crate::{Frame, Game, Player, StateError};

/// The barriers that an engine has met.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Barriers {
    /// The newest frame that had to wait at a barrier.
    closed_at: Option<Frame>,
    /// The frame after the newest barrier that was stepped: no earlier frame is stepped again.
    passed: Frame,
}

impl Barriers {
    /// The first frame that may be stepped again.
    pub(super) fn passed(self) -> Frame {
        self.passed
    }
}

impl<S> Rollback<S> {
    /// Whether the step of `frame`, in whose state the game is, has to wait: it is a barrier, and an input of its frame is
    /// missing. The inputs before are known then too, and no prediction leads to a barrier that is stepped.
    #[inline]
    pub(super) fn is_barred<G: Game<Snapshot = S>>(&self, frame: Frame, game: &G) -> bool {
        game.barrier() && frame >= self.confirmed_end()
    }

    /// Notes that the game waits in the state of the current frame. A state that a rollback has led to is shown, because no step
    /// after it will be.
    #[cold]
    pub(super) fn wait_at_barrier<G: Game<Snapshot = S>>(
        &mut self,
        game: &mut G,
        rolled_back: bool,
    ) -> Result<(), StateError> {
        self.barriers.closed_at = Some(self.current);
        let is_unseen = rolled_back && !self.scratch.is_shown();
        if is_unseen && self.config.look_ahead == 0 { self.show_again(game) } else { Ok(()) }
    }

    /// Ends a rollback at `frame`, whose state has turned out to be a barrier that must wait. The frames after it, which a wrong
    /// prediction had led past it, are undone.
    #[cold]
    pub(super) fn stop_at_barrier(&mut self, frame: Frame) {
        self.cues.withdraw(frame, self.current);
        self.snapshots.truncate_after(Frame(frame.0 - 1));
        self.current = frame;
    }

    /// Notes that the barrier in the state of `frame` is stepped.
    #[cold]
    pub(super) fn pass_barrier(&mut self, frame: Frame) {
        debug_assert!(frame < self.confirmed_end(), "a barrier is not predicted");
        self.barriers.passed = frame.next();
        // A sparse policy would replay the barrier from an earlier state.
        self.snapshots.forget_bases_up_to(frame);
    }

    /// Steps the frame before the current one once more, to show the state that the game is in; unless that would step a barrier,
    /// or no state before it is kept.
    #[cold]
    pub(super) fn show_again<G: Game<Snapshot = S>>(&mut self, game: &mut G) -> Result<(), StateError> {
        if let Some(last) = self.current.checked_sub(1)
            && let Some((from, snapshot)) = self.snapshots.nearest(last)
            && from >= self.barriers.passed
        {
            game.restore(snapshot)?;
            for frame in from.until(self.current) {
                self.scratch.begin(frame == last);
                game.step(self.stepped[slot(frame)].inputs, &mut self.scratch);
            }
        }
        Ok(())
    }

    /// Whether the current frame waits at a barrier for an input of `player`.
    pub(crate) fn is_barred_by(&self, player: Player) -> bool {
        self.barriers.closed_at == Some(self.current) && self.current >= self.next_input(player)
    }

    pub(super) fn forget_barriers(&mut self) {
        self.barriers = Barriers::default();
    }
}
