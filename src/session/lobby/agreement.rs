//! What a lobby comes to: who is there, what was agreed on, or why there is no match.

use crate::Player;
use crate::session::advice::DelayAdvice;
use crate::session::config::ConfigError;
use crate::wire::Numbering;
use crate::wire::message::RefuseField;
use core::fmt;
use core::time::Duration;
use std::net::SocketAddr;

/// Someone who wants to play, and has proven to be reachable at the address they write from.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Incoming {
    /// Where they are.
    pub addr: SocketAddr,
    /// How long it takes to them and back.
    pub round_trip: Duration,
    /// What they say of themselves.
    pub user_data: Vec<u8>,
    /// The delay that the link suggests so far.
    pub advice: DelayAdvice,
}

/// What two machines have agreed on.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Agreed {
    /// The other machine.
    pub peer: SocketAddr,
    /// The seat of the player at this machine.
    pub seat: Player,
    /// The seed to build the game from, the same on both machines. Never 0.
    pub seed: u32,
    /// Whether this machine decided about seed and seats.
    pub is_host: bool,
    /// What the other side says of itself.
    pub user_data: Vec<u8>,
    /// The input delay of this machine.
    pub delay_frames: u8,
    /// The input delay of the other.
    pub peer_delay_frames: u8,
    /// The prediction window of the other.
    pub peer_window_frames: u8,
    /// How long it takes there and back, as far as it was measured.
    pub round_trip: Option<Duration>,
    /// Names this match among all that the host ever had.
    pub token: u64,
    pub(crate) numbering: Numbering,
    pub(crate) cadence_frames: u16,
    /// The joiner's nonce, by which a repeated HELLO is told from a restart.
    pub(crate) nonce: u64,
    /// What the other side was told about our delay.
    pub(crate) announced_delay_frames: u8,
}

/// A host refused someone, because something did not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mismatch {
    /// Who came.
    pub addr: SocketAddr,
    /// What does not fit.
    pub field: RefuseField,
    /// The value here.
    pub ours: u64,
    /// The value there.
    pub theirs: u64,
}

/// Why there will be no match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LobbyError {
    /// The config makes no sense.
    Config(ConfigError),
    /// Nobody answered.
    TimedOut {
        /// Where.
        addr: SocketAddr,
        /// For how long.
        after: Duration,
    },
    /// The two machines do not fit together.
    Incompatible {
        /// What differs.
        field: RefuseField,
        /// The value here.
        ours: u64,
        /// The value at the host.
        theirs: u64,
    },
    /// The host has its opponent already.
    Full,
    /// The host does not want to.
    Declined,
    /// [`start`](crate::Lobby::start) came before the two machines have [agreed](crate::Lobby::agreed).
    NotAgreed,
}

impl fmt::Display for LobbyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(error) => error.fmt(f),
            Self::TimedOut { addr, after } => write!(f, "no answer from {addr} within {after:?}"),
            Self::Incompatible { field: RefuseField::GameId | RefuseField::ContentHash, .. } => {
                let Self::Incompatible { field, ours, theirs } = self else { return Ok(()) };
                write!(f, "the {field} differs: {ours:#018x} here, {theirs:#018x} at the host")
            }
            Self::Incompatible { field, ours, theirs } => {
                write!(f, "the {field} differs: {ours} here, {theirs} at the host")
            }
            Self::Full => f.write_str("the host has its opponent already"),
            Self::Declined => f.write_str("the host declined"),
            Self::NotAgreed => f.write_str("the two machines have not agreed on a match yet"),
        }
    }
}

impl core::error::Error for LobbyError {}
