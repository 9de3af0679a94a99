//! The policy that decides which frames are saved.

use crate::Save;
use crate::game::fields::size_bytes;
use core::time::Duration;

/// From this size on, [`Saving::Auto`] is sparse: the least at which `cargo bench --bench saving` finds that policy faster
/// even for a step that changes every word of the state. docs/PERFORMANCE.md has the table.
const SPARSE_FROM_BYTES: usize = 1024 * 1024;

/// Below this size a save takes less than the calls around it, and [`Saving::Auto`] measures nothing. The archive of a session
/// keeps every state of a much smaller size only, and therefore does not depend on the choice.
const WEIGHED_FROM_BYTES: usize = 16 * 1024;

/// The policy that decides which frames are saved.
///
/// It affects what a frame costs and never correctness: every policy leads to the same states, cues and packets. A machine
/// has its own, and the peer does not notice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Saving {
    /// Saves every frame. A rollback steps the mispredicted frames again and no other: at most
    /// [`window`](crate::rollback::EngineConfig::window) of them.
    Every,
    /// Saves the first frame that is not certain, after a rollback or when the last such snapshot is a window old.
    ///
    /// A rollback restores the nearest snapshot before the misprediction, and steps from there: at most twice the window.
    /// Frames that are stepped on confirmed inputs are not saved at all. For a state that takes longer to copy than to
    /// step; an emulator, whose step is long, is better off with [`Every`](Self::Every) and [`Pages`](crate::Pages).
    Sparse,
    /// [`Sparse`](Self::Sparse) if a save takes longer than a step, else [`Every`](Self::Every).
    ///
    /// Both are measured before the first frame of a match: the game is saved, stepped and restored twice. That takes
    /// [a stopwatch](crate::RollbackConfig::stopwatch). Without one, the policy is sparse for states of a mebibyte and more. States
    /// of less than 16 KiB are not measured, and every frame of them is saved.
    ///
    /// The choice is made once. A change in the match would have to move the states of all uncertain frames to another store, in a
    /// frame that may also roll back, and what an autopsy finds would depend on the moment. A game whose first state is
    /// cheaper to step than the others, such as a title screen, names the policy itself; [`Rollback::costs`](crate::rollback::Rollback::costs)
    /// has the costs in play.
    #[default]
    Auto,
}

impl Saving {
    /// Whether the policy depends on what a save and a step take.
    pub(super) fn weighs<G: Save>(self, game: &G) -> bool {
        self == Self::Auto && size_bytes(&game.snapshot()) >= WEIGHED_FROM_BYTES
    }

    /// Whether the states of a game are saved sparsely, by what a save and a step were measured to take.
    ///
    /// A sparse policy saves about `n - 1` states less in a rollback of `n` frames, and steps up to `n` frames more. It is
    /// chosen where one save takes longer than one step, so that neither the average frame nor the longest takes longer.
    pub(super) fn is_sparse_by(save: Duration, step: Duration) -> Option<bool> {
        // A clock that saw nothing pass says nothing.
        (save != step).then_some(save > step)
    }

    /// Whether the states of a game are saved sparsely, as far as nothing was measured.
    pub(super) fn is_sparse<G: Save>(self, game: &G) -> bool {
        match self {
            Self::Every => false,
            Self::Sparse => true,
            Self::Auto => size_bytes(&game.snapshot()) >= SPARSE_FROM_BYTES,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StateError;

    /// A state of any size.
    #[derive(Clone)]
    struct Block(Vec<u64>);
    crate::fields!(Block(words));

    impl Save for Block {
        type Snapshot = Self;
        fn snapshot(&self) -> Self {
            self.clone()
        }
        fn save(&self, slot: &mut Self) -> Result<(), StateError> {
            slot.0.clone_from(&self.0);
            Ok(())
        }
        fn restore(&mut self, snapshot: &Self) -> Result<(), StateError> {
            self.0.clone_from(&snapshot.0);
            Ok(())
        }
    }

    #[test]
    fn auto_goes_by_the_size_and_the_others_do_not() {
        let sparse = |saving: Saving| {
            [0, SPARSE_FROM_BYTES - 8, SPARSE_FROM_BYTES].map(|b| saving.is_sparse(&Block(vec![0; b / 8])))
        };
        assert_eq!(sparse(Saving::Auto), [false, false, true]);
        assert_eq!((sparse(Saving::Every), sparse(Saving::Sparse)), ([false; 3], [true; 3]));
    }
}
