//! Why a sync test failed, and the words for it.

use crate::{Difference, Frame, StateError};
use core::fmt;

/// Why a sync test failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SyncTestError {
    /// A snapshot saved right after a restore differs from the one that was restored.
    Restore {
        /// The frame of the snapshot.
        frame: Frame,
        /// How many frames the test had gone back.
        depth: u32,
        /// Every field that differs: in the restored snapshot, and in the one saved after it.
        fields: Vec<Difference>,
    },
    /// A resimulation led to a different state.
    Resimulation {
        /// The frame of the state.
        frame: Frame,
        /// How many frames the test had gone back.
        depth: u32,
        /// The first [phase](crate::Cues::phase) of the step whose mark differs; `None` if the game marks none, or if the
        /// difference comes after the last.
        phase: Option<String>,
        /// Every field that differs: the first time, and in the resimulation.
        fields: Vec<Difference>,
    },
    /// A resimulation that saved no state on the way led to a different state, and one that saved every state did not.
    ///
    /// `save` changes the game, or the step depends on something outside the snapshot.
    Unsaved {
        /// The frame of the state.
        frame: Frame,
        /// How many frames the test had gone back.
        depth: u32,
        /// Every field that differs: with a save before every step, and without.
        fields: Vec<Difference>,
    },
    /// Two steps of one state with the same inverted inputs led to different states.
    Trial {
        /// The frame of the state that was stepped.
        frame: Frame,
        /// Every field that differs: after the first step, and after the second.
        fields: Vec<Difference>,
    },
    /// A step that was not [shown](crate::Cues::is_shown) led to a different state.
    Shown {
        /// The frame of the state.
        frame: Frame,
        /// Every field that differs: after the step that was shown, and after the one that was not.
        fields: Vec<Difference>,
    },
    /// The game could not save or restore a state.
    State {
        /// The frame of the state.
        frame: Frame,
        /// The game's own words.
        error: StateError,
    },
    /// The run proved nothing: no input ever changed.
    InputsNeverChanged {
        /// The number of frames run.
        frames: u64,
    },
    /// The run proved nothing: the state hardly changed.
    StateHardlyChanged {
        /// The number of frames in which the state changed.
        changes: u64,
        /// The number of frames run.
        frames: u64,
    },
    /// The run proved nothing: different inputs never led to a different state.
    InputsWithoutEffect {
        /// The number of trials with changed inputs.
        trials: u64,
    },
}

impl fmt::Display for SyncTestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, fields: &[Difference]| {
            fields.iter().try_for_each(|field| write!(f, "\n  {field}"))
        };
        match self {
            Self::Restore { frame, depth, fields } => {
                write!(f, "frame {frame}, depth {depth}: the restored state differs from the saved one")?;
                list(f, fields)
            }
            Self::Resimulation { frame, depth, phase, fields } => {
                write!(f, "frame {frame}, depth {depth}: the same inputs led to another state")?;
                if let Some(phase) = phase {
                    write!(f, ", first different after {phase}")?;
                }
                list(f, fields)
            }
            Self::Unsaved { frame, depth, fields } => {
                write!(
                    f,
                    "frame {frame}, depth {depth}: the same inputs led to another state when no frame was saved; "
                )?;
                f.write_str("does `save` change the game?")?;
                list(f, fields)
            }
            Self::Shown { frame, fields } => {
                write!(f, "frame {frame}: the state depends on whether the step is shown")?;
                list(f, fields)
            }
            Self::Trial { frame, fields } => {
                write!(
                    f,
                    "frame {frame}, all inputs inverted: two steps of one state led to different states"
                )?;
                list(f, fields)
            }
            Self::State { frame, error } => {
                write!(f, "frame {frame}: the game could not save or restore its state: {error}")
            }
            Self::InputsNeverChanged { frames } => {
                write!(f, "nothing proved: no input changed in {frames} frames")
            }
            Self::StateHardlyChanged { changes, frames } => {
                write!(f, "nothing proved: the state changed in only {changes} of {frames} frames")
            }
            Self::InputsWithoutEffect { trials } => {
                write!(f, "nothing proved: other inputs led to the same state in all of {trials} trials")
            }
        }
    }
}

impl core::error::Error for SyncTestError {}
