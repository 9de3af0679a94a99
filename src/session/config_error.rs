//! The reasons why a configuration is not valid.

use super::config::Config;
use crate::game::MAX_PADS;
use crate::rollback::{MAX_LOOK_AHEAD, MAX_WINDOW};
use crate::wire::message::{MAX_CADENCE, MAX_USER_DATA, MAX_WINDOW_AND_DELAY};
use crate::{FrameRate, MAX_AXES};
use core::fmt;
use core::time::Duration;

/// Why a [`Config`] is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// The frame rate is outside 1 to 1,000.
    FrameRate {
        /// The frame rate.
        frame_rate: FrameRate,
    },
    /// There are more axes than [`MAX_AXES`].
    Axes {
        /// The number of axes.
        axes: u8,
    },
    /// There are no pads, or more than four.
    Pads {
        /// The number of pads.
        pads: u8,
    },
    /// There are several pads together with axes: an input has no room for both.
    PadsAndAxes {
        /// The number of pads.
        pads: u8,
        /// The number of axes.
        axes: u8,
    },
    /// The window is greater than [`MAX_WINDOW`].
    Window {
        /// The window.
        window_frames: u8,
    },
    /// The delay is greater than [`Config::MAX_DELAY_FRAMES`].
    Delay {
        /// The delay.
        delay_frames: u8,
    },
    /// Window and delay are together more than [`Config::MAX_WINDOW_AND_DELAY`].
    WindowAndDelay {
        /// The window.
        window_frames: u8,
        /// The delay.
        delay_frames: u8,
    },
    /// More than 8 frames are to be looked ahead.
    LookAhead {
        /// The number of frames.
        look_ahead_frames: u8,
    },
    /// No frames between checksums, or more than 600: a desync would not be noticed.
    Cadence {
        /// The value.
        cadence_frames: u16,
    },
    /// A time limit of 0: the match would be over before it begins.
    NoPatience {
        /// The name of the field.
        limit: &'static str,
    },
    /// The seed is 0.
    Seed,
    /// The first state, or the limit of one, is longer than [`Config::MAX_FIRST_STATE`].
    FirstState {
        /// The length or the limit in bytes.
        len: usize,
    },
    /// The user data is longer than 64 bytes.
    UserData {
        /// The length of the user data.
        len: usize,
    },
    /// The target has no random numbers of its own, and the config brings none.
    Entropy,
    /// The match would be lost before it is interrupted.
    Silence {
        /// The silence after which it is interrupted.
        interrupted_after: Duration,
        /// The silence after which it is lost.
        lost_after: Duration,
    },
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FrameRate { frame_rate } => {
                write!(f, "a frame rate of {frame_rate} Hz is outside 1..={}", FrameRate::MAX_HZ)
            }
            Self::Axes { axes } => write!(f, "{axes} axes are more than {MAX_AXES}"),
            Self::Pads { pads } => write!(f, "{pads} pads are outside 1..={MAX_PADS}"),
            Self::PadsAndAxes { pads, axes } => {
                write!(f, "an input of {pads} pads has no room for {axes} axes")
            }
            Self::Window { window_frames } => {
                write!(f, "a window of {window_frames} frames is more than {MAX_WINDOW}")
            }
            Self::Delay { delay_frames } => {
                write!(f, "an input delay of {delay_frames} frames is more than {}", Config::MAX_DELAY_FRAMES)
            }
            Self::WindowAndDelay { window_frames, delay_frames } => write!(
                f,
                "a window of {window_frames} and an input delay of {delay_frames} frames are together more than \
                 {MAX_WINDOW_AND_DELAY}"
            ),
            Self::LookAhead { look_ahead_frames } => {
                write!(f, "a look-ahead of {look_ahead_frames} frames is more than {MAX_LOOK_AHEAD}")
            }
            Self::Cadence { cadence_frames } => {
                write!(f, "a cadence of {cadence_frames} frames is outside 1..={MAX_CADENCE}")
            }
            Self::NoPatience { limit } => write!(f, "{limit} must not be 0"),
            Self::Seed => f.write_str("the seed is 0"),
            Self::FirstState { len } => {
                write!(f, "a first state of {len} bytes is longer than {}", Config::MAX_FIRST_STATE)
            }
            Self::UserData { len } => {
                write!(f, "user data of {len} bytes is more than {MAX_USER_DATA}")
            }
            Self::Entropy => f.write_str("entropy must be given: this target has no random number generator"),
            Self::Silence { interrupted_after, lost_after } => write!(
                f,
                "a match that is lost after {lost_after:?} cannot be interrupted after {interrupted_after:?}"
            ),
        }
    }
}

impl core::error::Error for ConfigError {}
