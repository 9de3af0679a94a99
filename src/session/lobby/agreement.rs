//! The results of a lobby: a waiting guest, the agreed terms of a match, or why there is none.

use crate::Player;
use crate::session::advice::DelayAdvice;
use crate::session::config::OnDesync;
use crate::session::config_error::ConfigError;
use crate::session::first_state::FirstState;
use crate::wire::Numbering;
use crate::wire::message::{Extensions, RefuseField};
use crate::wire::rbn1::Flags;
use core::fmt;
use core::time::Duration;
use std::net::{IpAddr, SocketAddr};

/// A guest who wants to play, and whose address has been verified by a cookie.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Incoming {
    /// The guest's address.
    pub addr: SocketAddr,
    /// The RTT to the guest.
    pub round_trip: Duration,
    /// The guest's [`LobbyConfig::user_data`](crate::LobbyConfig::user_data).
    pub user_data: Vec<u8>,
    /// The delay to suggest for the link, as measured so far.
    pub advice: DelayAdvice,
}

/// The terms of a match that two machines have agreed on.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Agreed {
    /// The address of the peer.
    pub peer: SocketAddr,
    /// The seat of the player at this machine.
    pub seat: Player,
    /// The seed to build the game from, the same on both machines. Never 0.
    pub seed: u32,
    /// The host's [`LobbyConfig::first_state`](crate::LobbyConfig::first_state), the same on both machines: build the game
    /// from it. Empty if the host has none.
    pub first_state: FirstState,
    /// Whether this machine is the host, which decides about seed and seats.
    pub is_host: bool,
    /// The peer's [`LobbyConfig::user_data`](crate::LobbyConfig::user_data).
    pub user_data: Vec<u8>,
    /// The input delay of this machine.
    pub delay_frames: u8,
    /// The input delay of the peer.
    pub peer_delay_frames: u8,
    /// The prediction window of the peer.
    pub peer_window_frames: u8,
    /// The RTT, if it was measured.
    pub round_trip: Option<Duration>,
    /// A random number that identifies this match among all of the host's.
    pub token: u64,
    pub(crate) numbering: Numbering,
    pub(crate) cadence_frames: u16,
    /// The joiner's nonce, which distinguishes a repeated HELLO from a restart.
    pub(crate) nonce: u64,
    /// The input delay of this machine that the handshake told the peer.
    pub(crate) announced_delay_frames: u8,
    /// The extensions that both machines offered.
    pub(crate) extensions: Extensions,
}

impl Agreed {
    /// The form of input packets in this match, with inputs of `axes` axes.
    pub(crate) fn input_format(&self, axes: u8) -> InputFormat {
        InputFormat { numbering: self.numbering, flags: self.flags(axes), axes }
    }

    /// The reaction to a desync in this match: machines mend only together.
    pub(crate) fn on_desync(&self, own: OnDesync) -> OnDesync {
        if own == OnDesync::Mend && !self.extensions.has(Extensions::MEND) { OnDesync::Stop } else { own }
    }

    /// The flags of input packets in this match, with inputs of `axes` axes.
    pub(super) fn flags(&self, axes: u8) -> Flags {
        let mut flags = Flags::VERSION_1;
        for (is_agreed, flag) in [
            (self.extensions.has(Extensions::TIME_BLOCK), Flags::TIME),
            (self.extensions.has(Extensions::LOSS_BLOCK), Flags::LOSS),
            (axes > 0, Flags::AXES),
        ] {
            if is_agreed {
                flags = flags.and(flag);
            }
        }
        flags
    }
}

/// The form of input packets that was agreed on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InputFormat {
    pub(crate) numbering: Numbering,
    pub(crate) flags: Flags,
    /// The number of axes of each input.
    pub(crate) axes: u8,
}

/// A guest that a host refused because their configurations are incompatible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mismatch {
    /// The guest's address.
    pub addr: SocketAddr,
    /// The field that differs.
    pub field: RefuseField,
    /// The host's value. That of a frame rate is the numerator in the upper half and the denominator in the lower.
    pub ours: u64,
    /// The guest's value.
    pub theirs: u64,
}

/// Why there will be no match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LobbyError {
    /// The config is not valid.
    Config(ConfigError),
    /// The host did not answer.
    TimedOut {
        /// The host's address.
        addr: SocketAddr,
        /// How long the joiner waited.
        after: Duration,
    },
    /// The configurations of the two machines are incompatible.
    Incompatible {
        /// The field that differs.
        field: RefuseField,
        /// The value on this machine. That of a frame rate is the numerator in the upper half and the denominator in the
        /// lower.
        ours: u64,
        /// The value at the host.
        theirs: u64,
    },
    /// The host is already in a match.
    Full,
    /// The host declined.
    Declined,
    /// The invite is to watch a match, and not to play.
    Watching,
    /// The host stopped sending its first state.
    FirstStateStalled {
        /// The bytes that are here.
        bytes: u32,
        /// All bytes.
        of: u32,
        /// How long the joiner waited for another part.
        after: Duration,
    },
    /// The first state that the joiner received is not the host's: it was damaged or forged on the way.
    FirstStateDamaged {
        /// Its length.
        bytes: u32,
    },
    /// [`start`](crate::Lobby::start) was called before the two machines have [agreed](crate::Lobby::agreed).
    NotAgreed,
}

impl fmt::Display for LobbyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(error) => error.fmt(f),
            // An inner address that stands for several outer ones means nothing to a player.
            Self::TimedOut { addr, after } if is_made_up(*addr) => {
                write!(f, "no answer from the host within {after:?}")
            }
            Self::TimedOut { addr, after } => write!(f, "no answer from {addr} within {after:?}"),
            Self::Incompatible { field: RefuseField::FirstState, ours, theirs } => {
                write!(f, "the host's first state has {theirs} bytes, and this game accepts {ours}")
            }
            Self::Incompatible { field, ours, theirs } => {
                let (ours, theirs) = (field.shown(*ours), field.shown(*theirs));
                write!(f, "the {field} differs: {ours} here, {theirs} at the host")
            }
            Self::FirstStateStalled { bytes, of, after } => write!(
                f,
                "the first state stopped at {bytes} of {of} bytes, and nothing more came within {after:?}"
            ),
            Self::FirstStateDamaged { bytes } => {
                write!(f, "the first state of {bytes} bytes was damaged on the way")
            }
            Self::Full => f.write_str("the host is already in a match"),
            Self::Declined => f.write_str("the host declined"),
            Self::Watching => f.write_str("this is an invite to watch, and not to play"),
            Self::NotAgreed => f.write_str("the two machines have not agreed on a match yet"),
        }
    }
}

/// Whether an address is of the prefix that routers discard (RFC 6666), in which addresses are made up.
fn is_made_up(addr: SocketAddr) -> bool {
    matches!(addr.ip(), IpAddr::V6(ip) if ip.segments()[..3] == [0x0100, 0, 0])
}

impl core::error::Error for LobbyError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_about_a_first_state_quote_its_sizes() {
        let field = RefuseField::FirstState;
        for (error, text) in [
            (
                LobbyError::Incompatible { field, ours: 1_024, theirs: 327_680 },
                "the host's first state has 327680 bytes, and this game accepts 1024",
            ),
            (
                LobbyError::FirstStateStalled { bytes: 5, of: 9, after: Duration::from_secs(10) },
                "the first state stopped at 5 of 9 bytes, and nothing more came within 10s",
            ),
            (LobbyError::FirstStateDamaged { bytes: 9 }, "the first state of 9 bytes was damaged on the way"),
        ] {
            assert_eq!(error.to_string(), text);
        }
    }

    #[test]
    fn timeout_text_has_no_made_up_address() {
        let text = |addr: &str| {
            let (addr, after) = (addr.parse().unwrap(), Duration::from_secs(10));
            LobbyError::TimedOut { addr, after }.to_string()
        };
        assert_eq!(text("[100::1]:1"), "no answer from the host within 10s");
        assert_eq!(text("192.0.2.1:7000"), "no answer from 192.0.2.1:7000 within 10s");
    }
}
