//! Bytes to packets and back. No clock, no state, no allocation; nothing here panics on what it is given.
//!
//! Two formats share a socket and are told apart by their first four bytes: [`rbn1`] carries inputs, [`control`]
//! everything else, and a [`message`] is what the RELIABLE_EVENT of a duel holds. A datagram is checked once, when
//! it is decoded; what comes out borrows its bytes and can be read without a further check.

use core::fmt;

pub use numbering::{Numbering, WireFrame};

mod bytes;
pub mod control;
mod entries;
mod handshake;
pub mod message;
mod message_error;
mod numbering;
pub mod rbn1;

/// A datagram that has passed all checks of its format.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Packet<'a> {
    /// Inputs.
    Rbn1(rbn1::InputPacket<'a>),
    /// Control.
    Game(control::Packet<'a>),
}

/// Decodes a datagram of whichever format it begins as.
///
/// ```
/// use rebout::wire;
///
/// let error = wire::decode(b"RBN1\x02\0\0\0\0\0\x01\0\0\0\0\0\0").unwrap_err();
/// assert_eq!((error.format(), error.rule()), (Some("RBN1"), "rbn1-version"));
/// assert_eq!(error.to_string(), "version 2 is not 1");
/// ```
///
/// # Errors
///
/// The first rule that the datagram breaks: of its format, if it begins as one.
#[inline]
pub fn decode(datagram: &[u8]) -> Result<Packet<'_>, DecodeError> {
    match datagram.first_chunk() {
        Some(&rbn1::MAGIC) => rbn1::decode(datagram).map(Packet::Rbn1).map_err(DecodeError::Rbn1),
        Some(&control::MAGIC) => control::decode(datagram).map(Packet::Game).map_err(DecodeError::Game),
        // Both formats ask for the length before the magic, and their headers are equally long.
        Some(&magic) if datagram.len() >= rbn1::HEADER_LEN => Err(DecodeError::Magic { magic }),
        _ => Err(DecodeError::TooShort { len: datagram.len() }),
    }
}

/// Writes a RELIABLE_EVENT that carries `message` to the front of `buf` and answers its length.
///
/// # Errors
///
/// If the message holds what would be refused on arrival, or if `buf` is too small; what `buf` holds then is not
/// a packet.
pub fn encode_message(
    header: &control::Header,
    message: &message::Message<'_>,
    buf: &mut [u8],
) -> Result<usize, message::EncodeError> {
    let room = buf.len();
    let (head, body) = buf.split_at_mut(room.min(control::HEADER_LEN));
    let payload_len = message.encode(body).map_err(|error| match error {
        message::EncodeError::Room { len, .. } => {
            message::EncodeError::Room { len: control::HEADER_LEN + len, room }
        }
        other => other,
    })?;
    let len = control::HEADER_LEN + payload_len;
    control::put_header(header, control::PacketType::ReliableEvent, payload_len, head, room)
        .map_err(|_| message::EncodeError::Room { len, room })
}

/// Why a datagram was refused: which format it is of, and which rule it breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeError {
    /// Shorter than any header, and of no known format.
    TooShort {
        /// Length of the datagram.
        len: usize,
    },
    /// Of no known format.
    Magic {
        /// Its first four bytes.
        magic: [u8; 4],
    },
    /// An RBN1 packet that is not in order.
    Rbn1(rbn1::DecodeError),
    /// A GAME packet that is not in order.
    Game(control::DecodeError),
}

impl DecodeError {
    /// The format that the datagram begins as.
    #[must_use]
    pub const fn format(&self) -> Option<&'static str> {
        match self {
            Self::TooShort { .. } | Self::Magic { .. } => None,
            Self::Rbn1(_) => Some("RBN1"),
            Self::Game(_) => Some("GAME"),
        }
    }

    /// A short name of the rule that was broken, unlike that of any other rule. It never changes.
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
                write!(f, "{len} bytes are less than a header of {}", rbn1::HEADER_LEN)
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
