//! Recording of the settled inputs of a running match.

use super::{MAX_FRAMES, Replay};
use crate::Inputs;
use crate::rollback::Rollback;

/// Records a match while it runs.
///
/// Memory for [`RESERVED_FRAMES`](Self::RESERVED_FRAMES) is allocated at the start, and a match of that length is
/// recorded without another allocation; a longer one doubles the memory when it is full.
///
/// ```
/// use rebout::replay::Recorder;
/// use rebout::rollback::{Rollback, RollbackConfig};
/// use rebout::{Buttons, Cues, Frame, Game, Inputs, Player, fields};
///
/// #[derive(Clone, Copy)]
/// struct Count { at: u32 }
/// fields!(Count { at });
/// impl Game for Count {
///     fn step(&mut self, inputs: Inputs, _: &mut Cues) {
///         self.at += u32::from(inputs[Player::One].0);
///     }
/// }
///
/// let mut count = Count { at: 0 };
/// let mut engine = Rollback::new(RollbackConfig::default(), &count);
/// let mut recorder = Recorder::new(7);
/// for frame in 0..10 {
///     engine.confirm(Player::One, Frame(frame), Buttons(3))?;
///     if frame < 6 {
///         engine.confirm(Player::Two, Frame(frame), Buttons(4))?;
///     }
///     engine.advance(&mut count);
///     recorder.record_settled(&engine);
/// }
/// assert_eq!(recorder.replay().inputs, [Inputs([Buttons(3), Buttons(4)]); 6], "the rest is not certain");
/// # Ok::<(), rebout::rollback::InputError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Recorder {
    replay: Replay,
}

impl Recorder {
    /// Twenty minutes at 60 frames a second, 288 kB: longer than nearly every match.
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
        Self { replay: Replay { seed, inputs: Vec::with_capacity(frames) } }
    }

    /// Records the frames that the last `advance` of `engine` settled. Call it after every `advance`.
    ///
    /// `false` if frames are missing, because a call was left out or the recorder did not start at frame 0, or if the
    /// replay is full. The recording then ends before the first frame that is missing, and remains a valid beginning of
    /// the match.
    pub fn record_settled<S>(&mut self, engine: &Rollback<S>) -> bool {
        let settled = engine.newly_settled();
        settled.start.until(settled.end).all(|frame| {
            frame.0 as usize == self.replay.inputs.len()
                && engine.settled_inputs(frame).is_some_and(|inputs| self.record(inputs))
        })
    }

    /// Records the inputs of the next frame; `false` if the replay has [`MAX_FRAMES`] already.
    #[inline]
    pub fn record(&mut self, inputs: Inputs) -> bool {
        let room = self.replay.inputs.len() < MAX_FRAMES as usize;
        if room {
            self.replay.inputs.push(inputs);
        }
        room
    }

    /// Discards the recording and begins another match in the same memory.
    pub fn reset(&mut self, seed: u32) {
        self.replay.seed = seed;
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
