//! Recording of the settled inputs of a running match.

use super::{MAX_FRAMES, Replay};
use crate::rollback::Rollback;
use crate::{FirstState, Frame, Inputs};
use core::fmt;

/// A recorder of a running match in memory. A [`StreamRecorder`](super::StreamRecorder) records into a file.
///
/// Every frame is recorded once and in order; a frame that is repeated or missing is refused with an error, and what
/// is recorded remains a true beginning of the match. After each `advance` of a [`Session`](crate::Session):
/// `for (frame, inputs) in session.confirmed() { recorder.record(frame, inputs)?; }`. With an engine of your own:
///
/// ```
/// use rebout::replay::Recorder;
/// use rebout::rollback::{Rollback, EngineConfig};
/// use rebout::{Buttons, Cues, Frame, Game, Inputs, Player, fields};
///
/// #[derive(Clone, Copy)]
/// struct Count { at: u32 }
/// fields!(Count { at });
/// impl Game for Count {
///     fn step(&mut self, inputs: Inputs, _: &mut Cues) {
///         self.at += u32::from(inputs[Player::One].buttons().0);
///     }
/// }
///
/// let mut count = Count { at: 0 };
/// let mut engine = Rollback::new(EngineConfig::default(), &count);
/// let mut recorder = Recorder::new(7);
/// for frame in 0..10 {
///     engine.confirm(Player::One, Frame(frame), Buttons(3))?;
///     if frame < 6 {
///         engine.confirm(Player::Two, Frame(frame), Buttons(4))?;
///     }
///     engine.advance(&mut count);
///     recorder.record_settled(&engine)?;
/// }
/// assert_eq!(recorder.replay().inputs, [[Buttons(3), Buttons(4)].into(); 6], "the rest is not certain");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Memory for [`RESERVED_FRAMES`](Self::RESERVED_FRAMES) is allocated at the start, and a match of that length is
/// recorded without another allocation; a longer one doubles the memory when it is full.
#[derive(Clone, Debug)]
pub struct Recorder {
    replay: Replay,
}

impl Recorder {
    /// Twenty minutes at 60 frames a second, 1.2 MB: longer than nearly every match.
    pub const RESERVED_FRAMES: u32 = 20 * 60 * 60;

    /// A recorder for a match that starts from `seed`.
    #[must_use]
    pub fn new(seed: u32) -> Self {
        Self::with_capacity(seed, Self::RESERVED_FRAMES)
    }

    /// A recorder that allocates nothing for the first `frames` frames.
    #[must_use]
    pub fn with_capacity(seed: u32, frames: u32) -> Self {
        let frames = frames.min(MAX_FRAMES) as usize;
        let inputs = Vec::with_capacity(frames);
        Self { replay: Replay { seed, inputs, ..Replay::default() } }
    }

    /// The first state that the host of the match gave to the joiner.
    pub fn set_first_state(&mut self, first_state: FirstState) {
        self.replay.first_state = first_state;
    }

    /// Records the frames that the last `advance` of `engine` settled. Call it once after every `advance`.
    ///
    /// # Errors
    /// [`RecordError`] at the first frame that is not the next one, or if the replay is full.
    pub fn record_settled<S>(&mut self, engine: &Rollback<S>) -> Result<(), RecordError> {
        engine.newly_confirmed().try_for_each(|(frame, inputs)| self.record(frame, inputs))
    }

    /// Records the inputs of the next frame, of which the first is frame 0.
    ///
    /// # Errors
    /// [`RecordError`] if `frame` is not the next one, or if the replay is full. Nothing is recorded then.
    #[inline]
    pub fn record(&mut self, frame: Frame, inputs: Inputs) -> Result<(), RecordError> {
        check_next(frame, Frame(self.replay.inputs.len() as u32))?;
        self.replay.inputs.push(inputs);
        Ok(())
    }

    /// Discards the recording and begins another match in the same memory.
    pub fn reset(&mut self, seed: u32) {
        self.replay.seed = seed;
        self.replay.first_state = FirstState::default();
        self.replay.inputs.clear();
    }

    /// The recording so far.
    #[must_use]
    pub fn replay(&self) -> &Replay {
        &self.replay
    }

    /// Ends the recording and returns it.
    #[must_use]
    pub fn finish(self) -> Replay {
        self.replay
    }
}

/// Checks that `frame` is the one to record next, and that there is room for it.
#[inline]
pub(super) fn check_next(frame: Frame, next: Frame) -> Result<(), RecordError> {
    if frame < next {
        return Err(RecordError::Repeated { frame, next });
    }
    if frame > next {
        return Err(RecordError::Missing { frame, next });
    }
    if next.0 >= MAX_FRAMES { Err(RecordError::Full) } else { Ok(()) }
}

/// Why a frame was not recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecordError {
    /// The frame is recorded already. Confirmed frames are those of the last `advance`: to read them again after the loop
    /// repeats the last.
    Repeated {
        /// The frame.
        frame: Frame,
        /// The frame to record next.
        next: Frame,
    },
    /// Frames before this one are missing: an `advance` was left out, or the recorder did not begin with frame 0.
    Missing {
        /// The frame.
        frame: Frame,
        /// The frame to record next.
        next: Frame,
    },
    /// The replay has [`MAX_FRAMES`] frames already.
    Full,
    /// An input has an axis or a pad that the header of the file does not declare.
    Input {
        /// The frame.
        frame: Frame,
        /// The number of axes in the header.
        axes: u8,
        /// The number of pads in the header.
        pads: u8,
    },
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Repeated { frame, next } => {
                write!(f, "frame {frame} is recorded already, the next is frame {next}: ")?;
                f.write_str("read the confirmed frames once after each advance, and not again after the last")
            }
            Self::Missing { frame, next } => {
                write!(f, "frame {frame} is not the next to record, frame {next} is: ")?;
                f.write_str("read the confirmed frames after every advance, from the first on")
            }
            Self::Input { frame, axes, pads } => {
                write!(
                    f,
                    "frame {frame} has an axis or a pad beyond the {axes} axes and {pads} pads of the header"
                )
            }
            Self::Full => write!(f, "the replay is full: it has {MAX_FRAMES} frames"),
        }
    }
}

impl std::error::Error for RecordError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reset_recorder_has_the_new_seed_alone() {
        let mut recorder = Recorder::new(5);
        recorder.set_first_state(FirstState::from(vec![1, 2, 3]));
        let inputs = Inputs::default();
        recorder.record(Frame(0), inputs).unwrap();
        assert!(recorder.record(Frame(0), inputs).is_err());
        recorder.reset(6);
        let replay = recorder.replay();
        assert_eq!((replay.seed, replay.inputs.len(), replay.first_state.is_empty()), (6, 0, true));
        assert_eq!(recorder.record(Frame(0), inputs), Ok(()));
    }
}
