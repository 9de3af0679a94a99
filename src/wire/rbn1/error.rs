//! Why a datagram is not an RBN1 packet, and why a packet cannot be written.

use super::{Flags, HEADER_LEN, InputPacket, MAX_INPUTS};
use crate::MAX_AXES;
use core::fmt;

/// Why a datagram is not an RBN1 packet. The rules are checked in this order, and the first one broken is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InputDecodeError {
    /// The datagram is shorter than a header.
    TooShort {
        /// Length of the datagram.
        len: usize,
    },
    /// The first four bytes are not [`InputPacket::MAGIC`].
    Magic {
        /// The bytes found.
        magic: [u8; 4],
    },
    /// The version is not [`InputPacket::VERSION`].
    Version {
        /// The version found.
        version: u8,
    },
    /// A flag is set that was not agreed on, or that no version knows.
    Flags {
        /// The flags found.
        flags: u8,
        /// The flags that are allowed.
        allowed: Flags,
    },
    /// The count is outside 1..=32.
    Count {
        /// The count found.
        count: u8,
    },
    /// The number of axes is outside 1..=6.
    Axes {
        /// The number found.
        axes: u8,
    },
    /// The length is not the one that flags, count and axes require.
    Length {
        /// Length of the datagram.
        len: usize,
        /// The length that flags, count and axes require; the shortest one, if the datagram ends before its axes block.
        expected: usize,
    },
    /// The mark of the time block is 0, which stands for none.
    Mark,
}

impl InputDecodeError {
    /// A short name of the broken rule. Names never change.
    #[must_use]
    pub const fn rule(&self) -> &'static str {
        match self {
            Self::TooShort { .. } => "rbn1-too-short",
            Self::Magic { .. } => "rbn1-magic",
            Self::Version { .. } => "rbn1-version",
            Self::Flags { .. } => "rbn1-flags",
            Self::Count { .. } => "rbn1-count",
            Self::Axes { .. } => "rbn1-axes",
            Self::Length { .. } => "rbn1-length",
            Self::Mark => "rbn1-mark",
        }
    }
}

impl fmt::Display for InputDecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooShort { len } => write!(f, "{len} bytes are less than a header of {HEADER_LEN}"),
            Self::Magic { magic } => write!(f, "it begins with {magic:02X?}, not with \"RBN1\""),
            Self::Version { version } => write!(f, "version {version} is not {}", InputPacket::VERSION),
            Self::Flags { flags, allowed: Flags::VERSION_1 } => {
                write!(f, "flags {flags:#04x} have bits set beyond bit 0")
            }
            Self::Flags { flags, allowed } => {
                write!(f, "flags {flags:#04x} have bits set beyond the agreed {:#04x}", allowed.bits())
            }
            Self::Count { count } => write!(f, "a count of {count} is outside 1..={MAX_INPUTS}"),
            Self::Axes { axes } => write!(f, "a number of {axes} axes is outside 1..={MAX_AXES}"),
            Self::Length { len, expected } => {
                write!(f, "{len} bytes, but flags and count require {expected}")
            }
            Self::Mark => f.write_str("the mark of the time block is 0"),
        }
    }
}

impl std::error::Error for InputDecodeError {}

/// Why a packet cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InputEncodeError {
    /// There are no inputs, or more than [`InputPacket::MAX_INPUTS`].
    Count {
        /// The number of inputs.
        count: usize,
    },
    /// The buffer is too small.
    Room {
        /// Length of the packet.
        len: usize,
        /// Length of the buffer.
        room: usize,
    },
    /// A value that would be refused on arrival: more than six axes, or a mark of 0.
    Refused(InputDecodeError),
}

impl fmt::Display for InputEncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count { count } => write!(f, "a count of {count} inputs is outside 1..={MAX_INPUTS}"),
            Self::Room { len, room } => write!(f, "a packet of {len} bytes does not fit a buffer of {room}"),
            Self::Refused(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for InputEncodeError {}
