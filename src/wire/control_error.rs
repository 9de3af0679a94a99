//! Why a datagram is not a GAME packet, and why a packet cannot be written.

use super::control::{ControlPacket, PacketType};
use super::entries::ValueError;
use core::fmt;

/// Why a datagram is not a GAME packet. The rules are checked in this order, and the first one broken is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ControlDecodeError {
    /// The datagram is shorter than a header.
    TooShort {
        /// Length of the datagram.
        len: usize,
    },
    /// The first four bytes are not [`ControlPacket::MAGIC`].
    Magic {
        /// The bytes found.
        magic: [u8; 4],
    },
    /// The type is outside 1..=10.
    Type {
        /// The type found.
        kind: u8,
    },
    /// The declared length is not that of the payload.
    Length {
        /// The length declared.
        declared: u16,
        /// The length found.
        len: usize,
    },
    /// The length is impossible for a payload of this type.
    PayloadLength {
        /// The type.
        kind: PacketType,
        /// Length of the payload.
        len: usize,
    },
    /// The count of records does not match the length of the payload.
    Count {
        /// The type.
        kind: PacketType,
        /// The count found.
        count: u8,
        /// Length of the payload.
        len: usize,
    },
    /// The client id is 0.
    ClientId,
    /// A number is not finite or out of range.
    Value(ValueError),
}

impl ControlDecodeError {
    /// A short name of the broken rule. Names never change.
    #[must_use]
    pub const fn rule(&self) -> &'static str {
        match self {
            Self::TooShort { .. } => "game-too-short",
            Self::Magic { .. } => "game-magic",
            Self::Type { .. } => "game-type",
            Self::Length { .. } => "game-length",
            Self::PayloadLength { .. } => "game-payload-length",
            Self::Count { .. } => "game-count",
            Self::ClientId => "game-client-id",
            Self::Value(error) => error.rule(),
        }
    }
}

impl From<ValueError> for ControlDecodeError {
    fn from(error: ValueError) -> Self {
        Self::Value(error)
    }
}

impl fmt::Display for ControlDecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooShort { len } => {
                write!(f, "{len} bytes are less than a header of {}", ControlPacket::HEADER_LEN)
            }
            Self::Magic { magic } => write!(f, "it begins with {magic:02X?}, not with \"GAME\""),
            Self::Type { kind } => write!(f, "type {kind} is outside 1..=10"),
            Self::Length { declared, len } => {
                write!(f, "the header declares a payload of {declared} bytes, but there are {len}")
            }
            Self::PayloadLength { kind, len } => write!(f, "{kind} cannot have a payload of {len} bytes"),
            Self::Count { kind, count, len } => {
                write!(f, "a count of {count} does not match the {len} bytes of this {kind}")
            }
            Self::ClientId => f.write_str("client id 0 is outside 1..=255"),
            Self::Value(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ControlDecodeError {}

/// Why a packet cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ControlEncodeError {
    /// The buffer is too small.
    Room {
        /// Length of the packet.
        len: usize,
        /// Length of the buffer.
        room: usize,
    },
    /// The payload is too long for its 16-bit length.
    Payload {
        /// Length of the payload.
        len: usize,
    },
    /// There are no inputs, or more than 255 records.
    Count {
        /// The type.
        kind: PacketType,
        /// The number of records.
        count: usize,
    },
    /// A number is not finite or out of range.
    Value(ValueError),
}

impl From<ValueError> for ControlEncodeError {
    fn from(error: ValueError) -> Self {
        Self::Value(error)
    }
}

impl fmt::Display for ControlEncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Room { len, room } => write!(f, "a packet of {len} bytes does not fit a buffer of {room}"),
            Self::Payload { len } => write!(f, "a payload of {len} bytes is longer than {}", u16::MAX),
            Self::Count { kind, count } => write!(f, "{kind} cannot list {count} records"),
            Self::Value(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ControlEncodeError {}
