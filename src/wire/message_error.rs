//! The errors of decoding and encoding messages.

use core::fmt;

use crate::FrameRate;
use crate::game::MAX_PADS;

use super::message::{Kind, MAX_CADENCE, MAX_FIRST_FRAME, MAX_USER_DATA, MAX_WINDOW_AND_DELAY, VERSION};

/// The rule that a payload breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeError {
    /// The payload has no byte, not even a kind.
    Empty,
    /// No kind has this number.
    Kind {
        /// The kind found.
        kind: u8,
    },
    /// A message of this kind never has this length.
    Length {
        /// The kind.
        kind: Kind,
        /// Length of the message.
        len: usize,
    },
    /// The user data is longer than [`MAX_USER_DATA`].
    UserData {
        /// The length found.
        len: usize,
    },
    /// A byte after the user data of a HELLO is not 0.
    Padding {
        /// The byte found.
        byte: u8,
    },
    /// The frame rate is outside 1 to 1,000, or not in lowest terms.
    FrameRate {
        /// The frame rate found.
        frame_rate: FrameRate,
    },
    /// Window and delay together are more than [`MAX_WINDOW_AND_DELAY`].
    WindowAndDelay {
        /// The window found.
        window_frames: u8,
        /// The delay found.
        delay_frames: u8,
    },
    /// There are more axes than [`MAX_AXES`](crate::MAX_AXES).
    Axes {
        /// The number found.
        axes: u8,
    },
    /// There are no pads, more than four, or more than one together with axes.
    Pads {
        /// The number of pads found.
        pads: u8,
        /// The number of axes found.
        axes: u8,
    },
    /// The cookie of a CHALLENGE is 0, which means that there is none.
    Cookie,
    /// The first frame is outside 1..=2^31.
    FirstFrame {
        /// The frame found.
        first_frame: u32,
    },
    /// The seed is 0.
    Seed,
    /// The seat is neither 1 nor 2.
    Seat {
        /// The seat found.
        seat: u8,
    },
    /// The cadence is 0 or more than [`MAX_CADENCE`].
    Cadence {
        /// The cadence found.
        cadence_frames: u16,
    },
    /// No reason of a REFUSE has this number.
    RefuseField {
        /// The field found.
        field: u8,
    },
    /// The new delay is more than [`MAX_WINDOW_AND_DELAY`].
    Delay {
        /// The delay found.
        delay_frames: u8,
    },
    /// A flag is neither 0 nor 1.
    Flag {
        /// The kind.
        kind: Kind,
        /// The byte found.
        byte: u8,
    },
    /// No step of a PAUSE has this number.
    Pause {
        /// The step found.
        step: u8,
    },
    /// No reason to leave has this number.
    Leaving {
        /// The reason found.
        why: u8,
    },
    /// The message carries more bytes than its kind may.
    TooLong {
        /// The kind.
        kind: Kind,
        /// The number of bytes.
        len: usize,
        /// The greatest number allowed.
        limit: usize,
    },
}

impl DecodeError {
    /// A short name of the broken rule. Names never change.
    #[must_use]
    pub const fn rule(&self) -> &'static str {
        match self {
            Self::Empty => "message-empty",
            Self::Kind { .. } => "message-kind",
            Self::Length { .. } => "message-length",
            Self::UserData { .. } => "message-user-data",
            Self::Padding { .. } => "message-padding",
            Self::FrameRate { .. } => "message-frame-rate",
            Self::Axes { .. } => "message-axes",
            Self::Pads { .. } => "message-pads",
            Self::WindowAndDelay { .. } => "message-window-and-delay",
            Self::Cookie => "message-cookie",
            Self::FirstFrame { .. } => "message-first-frame",
            Self::Seed => "message-seed",
            Self::Seat { .. } => "message-seat",
            Self::Cadence { .. } => "message-cadence",
            Self::RefuseField { .. } => "message-refuse-field",
            Self::Delay { .. } => "message-delay",
            Self::Flag { .. } => "message-flag",
            Self::Leaving { .. } => "message-leaving",
            Self::Pause { .. } => "message-pause",
            Self::TooLong { .. } => "message-too-long",
        }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the message has 0 bytes"),
            Self::Kind { kind } => write!(f, "unknown message kind {kind}"),
            Self::Length { kind, len } => write!(f, "{kind} cannot have {len} bytes"),
            Self::UserData { len } => write!(f, "user data of {len} bytes is longer than {MAX_USER_DATA}"),
            Self::Padding { byte } => write!(f, "the padding holds {byte:#04x}, not 0"),
            Self::FrameRate { frame_rate } => {
                let max = FrameRate::MAX_HZ;
                write!(f, "a frame rate of {frame_rate} is outside 1..={max}, or not in lowest terms")
            }
            Self::Axes { axes } => write!(f, "{axes} axes are more than {}", crate::MAX_AXES),
            Self::Pads { pads, axes } if (1..=MAX_PADS).contains(pads) => {
                write!(f, "{pads} pads together with {axes} axes")
            }
            Self::Pads { pads, .. } => write!(f, "{pads} pads are outside 1..={MAX_PADS}"),
            Self::WindowAndDelay { window_frames, delay_frames } => write!(
                f,
                "a window of {window_frames} and a delay of {delay_frames} are more than {MAX_WINDOW_AND_DELAY} together"
            ),
            Self::Cookie => f.write_str("a cookie of 0"),
            Self::FirstFrame { first_frame } => {
                write!(f, "first frame {first_frame} is outside 1..={MAX_FIRST_FRAME}")
            }
            Self::Seed => f.write_str("a seed of 0"),
            Self::Seat { seat } => write!(f, "seat {seat} is neither 1 nor 2"),
            Self::Cadence { cadence_frames } => {
                write!(f, "a cadence of {cadence_frames} frames is outside 1..={MAX_CADENCE}")
            }
            Self::RefuseField { field } => write!(f, "unknown field {field} in a REFUSE"),
            Self::Delay { delay_frames } => {
                write!(f, "a delay of {delay_frames} is more than {MAX_WINDOW_AND_DELAY}")
            }
            Self::Flag { kind, byte } => write!(f, "the flag of a {kind} is {byte}, neither 0 nor 1"),
            Self::Pause { step } => write!(f, "unknown step {step} in a PAUSE"),
            Self::Leaving { why } => write!(f, "unknown reason {why} in a LEAVING"),
            Self::TooLong { kind, len, limit } => write!(f, "{len} bytes in a {kind} are more than {limit}"),
        }
    }
}

impl std::error::Error for DecodeError {}

/// The reason why a message cannot be encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EncodeError {
    /// The buffer is too small.
    Room {
        /// Length of the message.
        len: usize,
        /// Length of the buffer.
        room: usize,
    },
    /// The version of a [`ForeignHello`](super::message::ForeignHello) is our own [`VERSION`].
    OwnVersion,
    /// The peer would refuse the message.
    Refused(DecodeError),
}

impl From<DecodeError> for EncodeError {
    fn from(error: DecodeError) -> Self {
        Self::Refused(error)
    }
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Room { len, room } => write!(f, "a message of {len} bytes does not fit a buffer of {room}"),
            Self::OwnVersion => write!(f, "version {VERSION} is not foreign"),
            Self::Refused(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for EncodeError {}
