//! The error of a bundle that cannot be made, written or read.

use super::{MAX_INPUTS, MAX_NAME, facts};
use crate::replay::{ReadError, WriteError};
use crate::{Frame, Inputs};
use core::fmt;

/// The reason why a bundle was not made, written or read.
#[derive(Debug)]
#[non_exhaustive]
pub enum BundleError {
    /// The name of the game is longer than 64 bytes, or has control characters.
    Name {
        /// The name.
        name: String,
    },
    /// The replay ends before the first diverging frame.
    ShortReplay {
        /// How many frames it has.
        frames: usize,
        /// Where it should reach.
        first_divergence: Frame,
    },
    /// The replay is not of the match that the autopsy is about.
    OtherMatch {
        /// The frame whose inputs differ.
        frame: Frame,
        /// The inputs that the autopsy has.
        autopsy: Inputs,
        /// The inputs that the replay has.
        replay: Option<Inputs>,
    },
    /// The differing fields of the autopsy are not those of its states. An autopsy that was not changed has no others,
    /// and only the states are written.
    OtherFields,
    /// The replay cannot be written.
    Unwritable(WriteError),
    /// A file is not there.
    Missing {
        /// Its name.
        file: &'static str,
    },
    /// A file is longer than any that is written.
    TooLong {
        /// Its name.
        file: &'static str,
        /// Its length.
        len: u64,
        /// The most bytes that are read.
        max: u64,
    },
    /// A file is not UTF-8.
    NotText {
        /// Its name.
        file: &'static str,
        /// Offset of the first byte that is none.
        at: usize,
    },
    /// `bundle.txt` is of another format.
    Format {
        /// The format found.
        format: u32,
    },
    /// `bundle.txt` and the replay say different things.
    Contradiction {
        /// The name of the fact.
        name: &'static str,
        /// The value in `bundle.txt`.
        facts: u32,
        /// The value of the replay.
        replay: usize,
    },
    /// `bundle.txt` speaks of inputs that the replay does not have.
    NoSuchInputs {
        /// The first frame.
        from: Frame,
        /// How many frames.
        count: u32,
        /// How many frames the replay has.
        frames: usize,
    },
    /// `bundle.txt` speaks of more inputs than an autopsy has.
    TooManyInputs {
        /// How many frames.
        count: u32,
    },
    /// A line of `bundle.txt` or of a state is malformed.
    Line {
        /// Which file.
        file: &'static str,
        /// Which line, from 1.
        line: usize,
        /// The form that was expected there.
        expected: &'static str,
    },
    /// `inputs.rplk` is not a replay.
    Replay(ReadError),
}

impl fmt::Display for BundleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name { name } => {
                write!(
                    f,
                    "the name of a game is at most {MAX_NAME} bytes without control characters: {name:?}"
                )
            }
            Self::ShortReplay { frames, first_divergence } => {
                write!(
                    f,
                    "the replay ends after {frames} frames, before frame {first_divergence} that diverges"
                )
            }
            Self::OtherMatch { frame, autopsy, replay } => write!(
                f,
                "frame {frame}: the autopsy has the inputs {autopsy:?}, the replay {replay:?}: not the same match"
            ),
            Self::OtherFields => {
                f.write_str("the differing fields of the autopsy are not those of its states")
            }
            Self::Unwritable(error) => write!(f, "inputs.rplk: {error}"),
            Self::Missing { file } => write!(f, "{file} is missing"),
            Self::TooLong { file, len, max } => write!(f, "{file}: {len} bytes are more than {max}"),
            Self::NotText { file, at } => write!(f, "{file}: byte {at} is not UTF-8"),
            Self::Format { format } => {
                write!(f, "{}: format {format} is not {}", facts::FILE, facts::FORMAT)
            }
            Self::Contradiction { name, facts, replay } => {
                write!(f, "{}: {name} is {facts}, but inputs.rplk has {replay}", facts::FILE)
            }
            Self::TooManyInputs { count } => {
                write!(f, "{}: inputs of {count} frames are more than {MAX_INPUTS}", facts::FILE)
            }
            Self::NoSuchInputs { from, count, frames } => write!(
                f,
                "{}: inputs of {count} frames from frame {from} on, but inputs.rplk has {frames} frames",
                facts::FILE
            ),
            Self::Line { file, line, expected } => write!(f, "{file}: line {line}: expected {expected}"),
            Self::Replay(error) => write!(f, "inputs.rplk: {error}"),
        }
    }
}

impl core::error::Error for BundleError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Unwritable(error) => Some(error),
            Self::Replay(error) => Some(error),
            _ => None,
        }
    }
}
