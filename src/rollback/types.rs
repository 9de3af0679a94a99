//! The configuration, the outcomes and the statistics of an engine.

use super::{Prediction, Saving};
use core::time::Duration;

/// The most frames that can be predicted, and therefore resimulated.
pub const MAX_WINDOW: u32 = 22;

/// The most frames that can be looked ahead.
pub(crate) const MAX_LOOK_AHEAD: u32 = 8;

/// The configuration of an engine.
#[derive(Clone, Copy, Debug)]
pub struct EngineConfig {
    /// How many frames may be stepped on predictions, at most [`MAX_WINDOW`]; 0 is lockstep.
    pub window: u32,
    /// The policy that predicts inputs that are not confirmed yet.
    pub prediction: Prediction,
    /// A cue that a rollback moves by at most this many frames is the same cue: no event reports the move.
    pub cue_moves_within: u32,
    /// The policy that decides which frames are saved.
    pub saving: Saving,
    /// How many frames [`look_ahead`](super::Rollback::look_ahead) steps, at most 8. With any, the newest frame is not
    /// [shown](crate::Cues::is_shown).
    pub look_ahead: u32,
    /// The frames whose number is a multiple of this are saved under every policy, because the caller needs their snapshots
    /// when they settle. 0 is none.
    pub cadence_frames: u32,
    /// A clock by which the cost of a step, a save and a restore is measured now and then.
    pub stopwatch: Option<fn() -> Duration>,
}

impl Default for EngineConfig {
    fn default() -> Self {
        Self {
            window: 8,
            prediction: Prediction::default(),
            cue_moves_within: 3,
            saving: Saving::default(),
            look_ahead: 0,
            cadence_frames: 0,
            stopwatch: None,
        }
    }
}

/// The outcome of [`Rollback::advance`](super::Rollback::advance).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advance {
    /// The current frame was stepped.
    Stepped,
    /// The current frame waits for a missing input: the window is full of predictions. A rollback may have corrected the state
    /// before that.
    Stalled,
    /// The match has ended, and the game is in its last state.
    Ended,
    /// The game could not save or restore a state, and the match is over. The game may be in any state.
    Failed,
}

/// The rollbacks and resimulated frames of an engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RollbackStats {
    /// The number of rollbacks.
    pub rollbacks: u64,
    /// The number of frames that were stepped again.
    pub resimulated_frames: u64,
    /// The number of rollbacks by depth: `depths[n]` rollbacks resimulated `n` frames.
    pub depths: [u64; MAX_WINDOW as usize + 1],
    /// The number of frames that were stepped again although they were right, because the snapshot before a misprediction
    /// was older than it. None under [`Saving::Every`], and not counted above.
    pub replayed_frames: u64,
}
