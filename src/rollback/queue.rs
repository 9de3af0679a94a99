//! The inputs of one player: those that are known, without a gap, from frame 0 on.

use crate::{Buttons, Frame, FrameRing};
use core::fmt;

/// How many frames of input are kept: more than the window, the delay and a whole packet together.
pub(super) const KEPT_FRAMES: u32 = 128;

/// The confirmed inputs of one player. They come in order; what is not here yet is predicted by others, and a
/// prediction is never stored here.
#[derive(Clone, Debug)]
pub(super) struct InputQueue {
    inputs: FrameRing<Buttons>,
    /// Every frame before this one is confirmed.
    next: Frame,
    last: Buttons,
}

impl InputQueue {
    pub(super) fn new() -> Self {
        Self { inputs: FrameRing::new(KEPT_FRAMES, Buttons::default), next: Frame::ZERO, last: Buttons::NONE }
    }

    pub(super) fn clear(&mut self) {
        self.inputs.clear();
        (self.next, self.last) = (Frame::ZERO, Buttons::NONE);
    }

    /// The first frame whose input is not known.
    #[inline]
    pub(super) fn next(&self) -> Frame {
        self.next
    }

    /// The newest confirmed input; neutral before the first.
    #[inline]
    pub(super) fn last(&self) -> Buttons {
        self.last
    }

    #[inline]
    pub(super) fn get(&self, frame: Frame) -> Option<Buttons> {
        self.inputs.get(frame).copied()
    }

    /// Takes in the input of `frame`; `true` if it was new.
    #[inline]
    pub(super) fn confirm(&mut self, frame: Frame, buttons: Buttons) -> Result<bool, InputError> {
        if frame == self.next {
            self.inputs.insert(frame, buttons);
            self.next = frame.next();
            self.last = buttons;
            return Ok(true);
        }
        if frame > self.next {
            return Err(InputError::Gap { frame, expected: self.next });
        }
        match self.get(frame) {
            Some(have) if have != buttons => Err(InputError::Conflict { frame, have, got: buttons }),
            // The same again, or so old that it is no longer known: redundancy at work.
            _ => Ok(false),
        }
    }
}

/// Why an input was refused. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputError {
    /// Frames before this one are missing.
    Gap {
        /// The frame of the refused input.
        frame: Frame,
        /// The frame whose input has to come next.
        expected: Frame,
    },
    /// Another input was confirmed for this frame before.
    Conflict {
        /// The frame in question.
        frame: Frame,
        /// What is confirmed.
        have: Buttons,
        /// What was refused.
        got: Buttons,
    },
    /// Further ahead of the simulation than inputs are kept for.
    TooFarAhead {
        /// The frame of the refused input.
        frame: Frame,
        /// The newest frame that would have been taken.
        limit: Frame,
    },
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gap { frame, expected } => {
                write!(f, "input of frame {frame} came before that of frame {expected}")
            }
            Self::Conflict { frame, have, got } => {
                write!(f, "input {got:#06x} for frame {frame} conflicts with the confirmed {have:#06x}")
            }
            Self::TooFarAhead { frame, limit } => {
                write!(f, "input of frame {frame} is too far ahead: at most frame {limit} is taken")
            }
        }
    }
}

impl core::error::Error for InputError {}
