//! How an engine runs, and what it says of itself.

use super::Prediction;

/// The most frames that can be predicted, and so resimulated.
pub const MAX_WINDOW: u32 = 16;

/// How an engine runs.
#[derive(Clone, Copy, Debug)]
pub struct RollbackConfig {
    /// How many frames may be stepped on predictions, at most [`MAX_WINDOW`]; 0 is lockstep.
    pub window: u32,
    /// What is believed of inputs that are not here yet.
    pub prediction: Prediction,
    /// A cue that vanishes and reappears at most this many frames away in one rollback has moved, silently.
    pub cue_moves_within: u32,
}

impl Default for RollbackConfig {
    fn default() -> Self {
        Self { window: 8, prediction: Prediction::default(), cue_moves_within: 3 }
    }
}

/// What [`Rollback::advance`](super::Rollback::advance) did about the current frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advance {
    /// It was stepped.
    Stepped,
    /// It waits: the window is full of predictions.
    Stalled,
    /// The game is finished, and is in its last state.
    Ended,
}

/// How much was done twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RollbackStats {
    /// How often a snapshot was restored.
    pub rollbacks: u64,
    /// How many frames were stepped again.
    pub resimulated_frames: u64,
    /// How many rollbacks went back by so many frames; the index is the depth.
    pub depths: [u64; MAX_WINDOW as usize + 1],
}
