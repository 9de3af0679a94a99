//! A game that is over after a number of frames, so that every match comes to a verdict.

use super::Press;
use crate::{Cues, Fields, Frame, Game, Input, Inputs, Save, StateError, Visitor};
use std::rc::Rc;

/// Changes a game before a frame, like the program around it might.
pub(super) type Before<G> = fn(&mut G, Frame, Input);

/// A game, the number of frames that it was stepped, and the number after which it is over.
pub(super) struct Timed<G> {
    pub(super) game: G,
    frame: u32,
    end: u32,
    pub(super) press: Rc<Press<G>>,
    pub(super) before: Option<Before<G>>,
    /// Whether some states are barriers besides those of the game. The rest is no part of the state.
    barriers: bool,
    /// The first frame after the last barrier that was stepped.
    beyond: u32,
    /// The first barrier that was stepped twice.
    pub(super) crossed_again: Option<Frame>,
}

/// One in this many frames is a barrier.
const BARRIER_EVERY: u32 = 60;

impl<G: Game> Timed<G> {
    pub(super) fn new(game: G, end: u32, press: Rc<Press<G>>, before: Option<Before<G>>) -> Self {
        Self { game, frame: 0, end, press, before, barriers: false, beyond: 0, crossed_again: None }
    }

    /// Makes some states barriers.
    pub(super) fn with_barriers(self, barriers: bool) -> Self {
        Self { barriers, ..self }
    }

    fn is_barrier(&self) -> bool {
        self.barriers && self.frame % BARRIER_EVERY == BARRIER_EVERY - 1
    }
}

/// A snapshot of the game and the count of frames. Only the game's own fields are shown: checksums, autopsies and
/// bundles are those of the game alone.
pub(super) struct Counted<S> {
    pub(super) state: S,
    frame: u32,
}

impl<S: Fields> Fields for Counted<S> {
    #[inline]
    fn visit<V: Visitor>(&self, visitor: &mut V) {
        self.state.visit(visitor);
    }
}

impl<G: Game> Save for Timed<G> {
    type Snapshot = Counted<G::Snapshot>;

    fn snapshot(&self) -> Self::Snapshot {
        Counted { state: self.game.snapshot(), frame: self.frame }
    }

    #[inline]
    fn save(&self, slot: &mut Self::Snapshot) -> Result<(), StateError> {
        self.game.save(&mut slot.state)?;
        slot.frame = self.frame;
        Ok(())
    }

    #[inline]
    fn restore(&mut self, snapshot: &Self::Snapshot) -> Result<(), StateError> {
        self.game.restore(&snapshot.state)?;
        self.frame = snapshot.frame;
        Ok(())
    }
}

impl<G: Game> Game for Timed<G> {
    #[inline]
    fn step(&mut self, inputs: Inputs, cues: &mut Cues) {
        if self.is_barrier() {
            if self.frame < self.beyond {
                self.crossed_again.get_or_insert(Frame(self.frame));
            }
            self.beyond = self.frame + 1;
        }
        self.game.step(inputs, cues);
        self.frame += 1;
    }

    #[inline]
    fn finished(&self) -> bool {
        self.frame >= self.end || self.game.finished()
    }

    #[inline]
    fn barrier(&self) -> bool {
        self.is_barrier() || self.game.barrier()
    }
}
