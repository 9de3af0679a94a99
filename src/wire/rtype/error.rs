//! Why a datagram is not an R-Type packet, and why a packet cannot be written.

use super::{HEADER_LEN, MAX_LEN, MAX_NAME, Opcode};
use core::fmt;

/// Why a datagram is not an R-Type packet. The rules are checked in this order, and the first one broken is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RtypeDecodeError {
    /// The datagram is shorter than a header.
    TooShort {
        /// Length of the datagram.
        len: usize,
    },
    /// The datagram is longer than [`RtypePacket::MAX_LEN`](super::RtypePacket::MAX_LEN).
    TooLong {
        /// Length of the datagram.
        len: usize,
    },
    /// There is no such opcode.
    Opcode {
        /// The opcode found.
        opcode: u8,
    },
    /// A reserved flag is set.
    Flags {
        /// The flags found.
        flags: u8,
    },
    /// An ACK, a NACK or a HEARTBEAT asks for an ACK.
    AsksAck {
        /// The opcode.
        opcode: Opcode,
    },
    /// The length is impossible for a payload of this opcode.
    PayloadLength {
        /// The opcode.
        opcode: Opcode,
        /// Length of the payload.
        len: usize,
    },
    /// The name of a HELLO is not UTF-8.
    Name {
        /// The number of bytes that are.
        valid_up_to: usize,
    },
    /// A reserved bit of an INPUT is set.
    Input {
        /// The bits found.
        bits: u8,
    },
}

impl RtypeDecodeError {
    /// A short name of the broken rule. Names never change.
    #[must_use]
    pub const fn rule(&self) -> &'static str {
        match self {
            Self::TooShort { .. } => "rtype-too-short",
            Self::TooLong { .. } => "rtype-too-long",
            Self::Opcode { .. } => "rtype-opcode",
            Self::Flags { .. } => "rtype-flags",
            Self::AsksAck { .. } => "rtype-asks-ack",
            Self::PayloadLength { .. } => "rtype-payload-length",
            Self::Name { .. } => "rtype-name",
            Self::Input { .. } => "rtype-input",
        }
    }
}

impl fmt::Display for RtypeDecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooShort { len } => write!(f, "{len} bytes are less than a header of {HEADER_LEN}"),
            Self::TooLong { len } => write!(f, "{len} bytes are more than {MAX_LEN}"),
            Self::Opcode { opcode } => write!(f, "unknown opcode {opcode:#04x}"),
            Self::Flags { flags } => write!(f, "flags of {flags:#04x} have reserved bits"),
            Self::AsksAck { opcode } => write!(f, "{opcode} must not request an ACK"),
            Self::PayloadLength { opcode, len } => write!(f, "{opcode} cannot have a payload of {len} bytes"),
            Self::Name { valid_up_to } => write!(f, "the name is not UTF-8 after {valid_up_to} bytes"),
            Self::Input { bits } => write!(f, "an input of {bits:#04x} has reserved bits"),
        }
    }
}

impl std::error::Error for RtypeDecodeError {}

/// Why a packet cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RtypeEncodeError {
    /// The buffer is too small.
    Room {
        /// Length of the packet.
        len: usize,
        /// Length of the buffer.
        room: usize,
    },
    /// An ACK, a NACK or a HEARTBEAT asks for an ACK.
    AsksAck {
        /// The opcode.
        opcode: Opcode,
    },
    /// The name is empty or longer than [`RtypePacket::MAX_NAME`](super::RtypePacket::MAX_NAME).
    Name {
        /// Length of the name in bytes.
        len: usize,
    },
    /// A reserved bit of an INPUT is set.
    Input {
        /// The bits.
        bits: u8,
    },
}

impl fmt::Display for RtypeEncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Room { len, room } => write!(f, "a packet of {len} bytes does not fit a buffer of {room}"),
            Self::AsksAck { opcode } => write!(f, "{opcode} must not request an ACK"),
            Self::Name { len } => write!(f, "a name of {len} bytes is outside 1..={MAX_NAME}"),
            Self::Input { bits } => write!(f, "an input of {bits:#04x} has reserved bits"),
        }
    }
}

impl std::error::Error for RtypeEncodeError {}
