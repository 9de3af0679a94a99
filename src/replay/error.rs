//! Why a replay is not read or written.

use super::header::{HeaderError, VERSION as VERSION_2};
use super::recording::Tail;
use super::rplk::{HEADER_LEN, MAX_FRAMES};
use crate::Frame;
use core::fmt;
use std::io;

/// Why a file is not a replay. The rules are checked in this order, and the first one broken is reported.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReadError {
    /// The reader failed.
    Io(io::Error),
    /// The file of version 2 is not whole.
    Tail(Tail),
    /// The file is shorter than its header.
    TooShort {
        /// Length of the file.
        len: usize,
        /// Length of the header.
        needed: usize,
    },
    /// The first four bytes are not `RPLK`.
    Magic {
        /// The bytes found.
        magic: [u8; 4],
    },
    /// The version is not one that can be read here: 1 for a [`Replay`](super::Replay), 1 or 2 for a
    /// [`Recording`](super::Recording).
    Version {
        /// The version found.
        version: u8,
    },
    /// A flag is set; there are none yet.
    Flags {
        /// The flags found.
        flags: u8,
    },
    /// The header size of version 1 is not 32.
    HeaderSize {
        /// The size found.
        size: u16,
    },
    /// The seed is 0, which is invalid.
    Seed,
    /// The replay does not begin with frame 0.
    StartFrame {
        /// The frame found.
        start_frame: u32,
    },
    /// The replay has more than [`MAX_FRAMES`].
    TooManyFrames {
        /// The count found.
        frames: u32,
    },
    /// The reserved bytes are not zero.
    Reserved {
        /// The bytes found.
        reserved: [u8; 8],
    },
    /// The length is not the one that the frame count requires.
    Length {
        /// Length of the file; one byte more than `expected` stands for any length above it.
        len: u64,
        /// The length that the header requires.
        expected: u64,
    },
    /// The contents do not match the CRC in the header: they were damaged.
    Crc {
        /// The CRC in the header.
        stated: u32,
        /// The CRC of the contents.
        found: u32,
    },
    /// The header of version 2 does not match its CRC: it was damaged.
    HeaderCrc {
        /// The CRC in the header.
        stated: u32,
        /// The CRC of the header.
        found: u32,
    },
    /// The header size of version 2 is not that of the fields and the names.
    NamesSize {
        /// The size found.
        size: u16,
    },
    /// A name in the header is not UTF-8.
    Name,
    /// The file ends within the first state, without which no state follows from the inputs.
    FirstState {
        /// The bytes that are there.
        len: usize,
        /// The bytes that the header declares.
        expected: u32,
    },
    /// The first state does not have the hash in the header: it was damaged.
    FirstStateHash {
        /// The hash in the header.
        stated: u64,
        /// The hash of the first state.
        found: u64,
    },
    /// A value in the header of version 2 is not valid.
    Header(HeaderError),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "cannot be read: {error}"),
            Self::Tail(tail) => tail.fmt(f),
            Self::TooShort { len, needed } => {
                write!(f, "length: {len} bytes are too few for the header of {needed}")
            }
            Self::Magic { magic } => write!(f, "magic: \"{}\" is not \"RPLK\"", magic.escape_ascii()),
            Self::Version { version: VERSION_2 } => f.write_str("version: 2 is not 1"),
            Self::Version { version } => write!(f, "version: {version} is not 1 or 2"),
            Self::Flags { flags } => write!(f, "flags: {flags:#04x} is not 0"),
            Self::HeaderSize { size } => write!(f, "header size: {size} is not {HEADER_LEN}"),
            Self::NamesSize { size } => write!(f, "header size: {size} is not that of fields and names"),
            Self::Seed => f.write_str("seed: 0 is no seed"),
            Self::StartFrame { start_frame } => write!(f, "start frame: {start_frame} is not 0"),
            Self::TooManyFrames { frames } => {
                write!(f, "frame count: {frames} is more than {MAX_FRAMES}")
            }
            Self::Reserved { reserved } => write!(f, "reserved bytes: {reserved:02x?} are not all 0"),
            Self::Length { len, expected } if len < expected => {
                write!(f, "length: {len} bytes, but the header asks for {expected}")
            }
            Self::Length { expected, .. } => {
                write!(f, "length: more than the {expected} bytes that the header asks for")
            }
            Self::Crc { stated, found } => {
                write!(f, "crc: the header says {stated:08X}, the contents have {found:08X}")
            }
            Self::HeaderCrc { stated, found } => {
                write!(f, "crc: the header says {stated:08X} about itself, and has {found:08X}")
            }
            Self::Name => f.write_str("name: not UTF-8"),
            Self::FirstState { len, expected } => {
                write!(f, "first state: {len} of {expected} bytes, and nothing follows without the rest")
            }
            Self::FirstStateHash { stated, found } => {
                write!(f, "first state: the header says {stated:016X}, the bytes have {found:016X}")
            }
            Self::Header(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Why a replay was not written.
#[derive(Debug)]
#[non_exhaustive]
pub enum WriteError {
    /// The writer failed.
    Io(io::Error),
    /// The seed is 0, which is invalid.
    Seed,
    /// The replay has more than [`MAX_FRAMES`].
    TooManyFrames {
        /// The number of frames of the replay.
        frames: usize,
    },
    /// An input has an axis that is not at rest, and version 1 holds buttons only.
    Axes {
        /// The first such frame.
        frame: Frame,
    },
    /// The match has a first state, for which version 1 has no room.
    FirstState,
    /// The header of version 2 is not valid.
    Header(HeaderError),
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "cannot be written: {error}"),
            Self::Seed => f.write_str("seed: 0 is no seed"),
            Self::TooManyFrames { frames } => write!(f, "frame count: {frames} is more than {MAX_FRAMES}"),
            Self::Axes { frame } => {
                write!(
                    f,
                    "axes: an axis or a second pad is used in frame {frame}, and RPLK version 1 holds one pad only"
                )
            }
            Self::FirstState => {
                f.write_str("first state: the match has one, and RPLK version 1 holds inputs only")
            }
            Self::Header(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for WriteError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl From<HeaderError> for WriteError {
    fn from(error: HeaderError) -> Self {
        Self::Header(error)
    }
}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
