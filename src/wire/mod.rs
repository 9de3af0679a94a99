//! Encoding and decoding of packets, without a clock, state or allocation. No input makes it panic.
//!
//! Two formats share a socket and are told apart by their first four bytes: [`rbn1`] carries inputs, [`control`]
//! everything else. A datagram is checked once, when it is decoded;
//! the packet borrows its bytes and can be read without further checks.
//!
//! `rtype`, with the feature `authority`, has no magic. It never shares a socket with the others, and is decoded only
//! where it is expected.

use control::{ControlDecodeError, ControlPacket};
use core::fmt;
use rbn1::{Flags, InputDecodeError, InputPacket};

pub use numbering::{Numbering, WireFrame};

pub(crate) mod autopsy;
#[cfg(any(feature = "lab", feature = "seal"))]
pub(crate) mod broadcast;
#[cfg(any(feature = "lab", feature = "seal"))]
mod broken_rules;
mod bytes;
pub mod control;
mod control_error;
mod entries;
mod first_state;
mod handshake;
mod kinds;
// Not public: tests use the messages of a match and the packets of seal and rendezvous through `lab::wire`.
pub(crate) mod message;
mod message_error;
mod numbering;
mod pause;
pub mod rbn1;
mod refuse;
#[cfg(any(feature = "lab", feature = "nat", feature = "browser"))]
pub(crate) mod rendezvous;
#[cfg(feature = "authority")]
pub mod rtype;
#[cfg(any(feature = "lab", feature = "seal"))]
pub(crate) mod seal;
#[cfg(feature = "nat")]
pub(crate) mod stun;

/// A decoded datagram, which has passed all checks of its format.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Packet<'a> {
    /// An RBN1 packet: inputs.
    Rbn1(InputPacket<'a>),
    /// A GAME packet: control.
    Game(ControlPacket<'a>),
}

impl<'a> Packet<'a> {
    /// Decodes a datagram by the format that its first four bytes name. `allowed` are the flags of RBN1 that both machines
    /// have agreed on.
    ///
    /// ```
    /// use rebout::wire::{Packet, rbn1::Flags};
    ///
    /// let datagram = b"RBN1\x02\0\0\0\0\0\x01\0\0\0\0\0\0";
    /// let error = Packet::decode(datagram, Flags::VERSION_1).unwrap_err();
    /// assert_eq!((error.format(), error.rule()), (Some("RBN1"), "rbn1-version"));
    /// assert_eq!(error.to_string(), "version 2 is not 1");
    /// ```
    ///
    /// # Errors
    /// The first rule that the datagram breaks.
    #[inline]
    pub fn decode(datagram: &'a [u8], allowed: Flags) -> Result<Self, DecodeError> {
        match datagram.first_chunk() {
            Some(&InputPacket::MAGIC) => {
                InputPacket::decode(datagram, allowed).map(Self::Rbn1).map_err(DecodeError::Rbn1)
            }
            Some(&ControlPacket::MAGIC) => {
                ControlPacket::decode(datagram).map(Self::Game).map_err(DecodeError::Game)
            }
            // Both formats check the length before the magic, and their headers are equally long.
            Some(&magic) if datagram.len() >= InputPacket::HEADER_LEN => Err(DecodeError::Magic { magic }),
            _ => Err(DecodeError::TooShort { len: datagram.len() }),
        }
    }
}

/// Why a datagram was refused: its format, and the rule that it breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeError {
    /// The datagram has no known magic and is shorter than any header.
    TooShort {
        /// Length of the datagram.
        len: usize,
    },
    /// The datagram begins with no known magic.
    Magic {
        /// The first four bytes.
        magic: [u8; 4],
    },
    /// The datagram breaks a rule of RBN1.
    Rbn1(InputDecodeError),
    /// The datagram breaks a rule of GAME.
    Game(ControlDecodeError),
}

impl DecodeError {
    /// The format that the first four bytes of the datagram name.
    #[must_use]
    pub const fn format(&self) -> Option<&'static str> {
        match self {
            Self::TooShort { .. } | Self::Magic { .. } => None,
            Self::Rbn1(_) => Some("RBN1"),
            Self::Game(_) => Some("GAME"),
        }
    }

    /// A short name of the broken rule, unique among the rules of both formats. Names never change.
    #[must_use]
    pub const fn rule(&self) -> &'static str {
        match self {
            Self::TooShort { .. } => "too-short",
            Self::Magic { .. } => "magic",
            Self::Rbn1(error) => error.rule(),
            Self::Game(error) => error.rule(),
        }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooShort { len } => {
                write!(f, "{len} bytes are less than a header of {}", InputPacket::HEADER_LEN)
            }
            Self::Magic { magic } => write!(f, "no format begins with {magic:02X?}"),
            Self::Rbn1(error) => error.fmt(f),
            Self::Game(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for DecodeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::TooShort { .. } | Self::Magic { .. } => None,
            Self::Rbn1(error) => Some(error),
            Self::Game(error) => Some(error),
        }
    }
}
