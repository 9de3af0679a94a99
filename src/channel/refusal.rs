//! Why a datagram was dropped.

use crate::wire::{self, message};
use crate::{Frame, Input};
use core::fmt;

/// An enum of reasons to drop a datagram, each with its text, and the counts by reason.
macro_rules! refusals {
    ($(#[$about:meta])* $type:ident, $counts:ident: $($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        $crate::protocol::texts! {
            $(#[$about])*
            #[derive(Hash)]
            #[non_exhaustive]
            pub $type: $($(#[$doc])* $name = $text,)*
        }

        impl $type {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];
        }

        /// How many datagrams were dropped, by reason.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $counts([u64; $type::ALL.len()]);

        impl $counts {
            #[inline]
            pub(crate) fn count(&mut self, refusal: $type) {
                self.0[refusal as usize] += 1;
            }

            /// How many were dropped for this reason.
            #[must_use]
            pub fn of(&self, refusal: $type) -> u64 {
                self.0[refusal as usize]
            }

            /// How many were dropped in all.
            #[must_use]
            pub fn total(&self) -> u64 {
                self.0.iter().sum()
            }

            /// The reasons for which something was dropped, and how often.
            pub fn iter(&self) -> impl Iterator<Item = ($type, u64)> {
                let all = $type::ALL.iter().map(|refusal| (*refusal, self.of(*refusal)));
                all.filter(|(_, count)| *count > 0)
            }
        }
    };
}
#[cfg(feature = "seal")]
pub(crate) use refusals;

refusals! {
    /// Why a datagram was dropped. It changed nothing.
    Refusal, Refusals:
    /// Shorter than any packet, or of neither format.
    NoPacket = "no packet",
    /// An RBN1 packet that breaks a rule of its format.
    MalformedInput = "malformed input packet",
    /// A GAME or R-Type packet that breaks a rule of its format.
    MalformedControl = "malformed control packet",
    /// A RELIABLE_EVENT whose message breaks a rule.
    MalformedMessage = "malformed message",
    /// From an address that is not the peer's.
    Stranger = "from a stranger",
    /// Inputs of frames before the match, or from before it began.
    BeforeMatch = "frames before the match",
    /// Inputs with another number of axes or pads than was agreed on.
    InputAxes = "another number of axes or pads",
    /// Inputs that leave a gap after those that are here.
    InputGap = "gap in the inputs",
    /// Inputs, or an acknowledgement, of more than 31 frames ago.
    InputOutdated = "input of long ago",
    /// An acknowledgement of inputs that were never sent.
    InputAckUnsent = "acknowledges inputs never sent",
    /// Inputs further beyond their acknowledgement than the peer's window and delay allow.
    InputBeyondWindow = "inputs beyond the peer's window",
    /// Another input for a frame that is confirmed.
    InputConflict = "conflicting input",
    /// A checksum of a frame that has none, or of a state, be it the last, that the peer cannot have yet.
    ImplausibleChecksum = "implausible checksum",
    /// A GAME or R-Type packet whose sequence number is far from the last.
    FarSequence = "sequence number out of reach",
    /// A GAME or R-Type packet that acknowledges what was never sent.
    AckUnsent = "acknowledges packets never sent",
    /// A packet that has no place in a duel, or not now.
    OutOfPlace = "out of place",
    /// A pong to no ping of ours.
    UnaskedPong = "pong to no ping",
    /// A HELLO whose cookie is not ours, or has expired.
    BadCookie = "bad cookie",
    /// An answer to a HELLO that was not ours.
    WrongNonce = "wrong nonce",
    /// A message with another token than that of the match.
    WrongToken = "wrong token",
    /// A message that is further ahead than messages can be under way, or for which there is no room.
    NoRoom = "no room for the message",
    /// A part of a first state that is not expected or is here already, or an acknowledgement of one beyond the end.
    FirstState = "unexpected part of a first state",
    /// A snapshot that is the difference to one that is not here.
    NoBaseline = "difference to an unknown snapshot",
}

/// A datagram that is dropped: the reason, which is counted, and the detail behind it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rejected {
    pub(crate) refusal: Refusal,
    pub(crate) detail: Detail,
}

/// More than the reason of a refusal.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Detail {
    None,
    /// The rule of the format that the datagram breaks.
    Datagram(wire::DecodeError),
    /// The rule that the message of a RELIABLE_EVENT breaks.
    Message(message::DecodeError),
    /// The input that is not the confirmed one.
    Conflict(Conflict),
}

/// Another input than the one that is confirmed for a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conflict {
    pub(crate) frame: Frame,
    pub(crate) confirmed: Input,
    pub(crate) refused: Input,
}

impl From<Refusal> for Rejected {
    fn from(refusal: Refusal) -> Self {
        Self { refusal, detail: Detail::None }
    }
}

impl From<wire::DecodeError> for Rejected {
    fn from(error: wire::DecodeError) -> Self {
        let refusal = match error {
            wire::DecodeError::Rbn1(_) => Refusal::MalformedInput,
            wire::DecodeError::Game(_) => Refusal::MalformedControl,
            _ => Refusal::NoPacket,
        };
        Self { refusal, detail: Detail::Datagram(error) }
    }
}

impl From<message::DecodeError> for Rejected {
    fn from(error: message::DecodeError) -> Self {
        Self { refusal: Refusal::MalformedMessage, detail: Detail::Message(error) }
    }
}

impl From<Conflict> for Rejected {
    fn from(conflict: Conflict) -> Self {
        Self { refusal: Refusal::InputConflict, detail: Detail::Conflict(conflict) }
    }
}

impl fmt::Display for Detail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => Ok(()),
            Self::Datagram(error) => error.fmt(f),
            Self::Message(error) => error.fmt(f),
            Self::Conflict(Conflict { frame, confirmed, refused }) => {
                write!(f, "frame {frame} is confirmed as {confirmed}, not {refused}")
            }
        }
    }
}
