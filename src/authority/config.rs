//! The configs of a server and of a client.

use super::name::PlayerName;
use crate::Frame;
use core::fmt;
use core::time::Duration;

/// The config of a server: rates, seats and limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerConfig {
    /// Frames a second.
    pub frame_rate: u16,
    /// Snapshots a second; a divisor of the frame rate.
    pub broadcast_rate: u16,
    /// The number of seats, 1 to 255. Their memory is taken at the start.
    pub max_clients: u8,
    /// The most seats of one source, an IPv4 address or the /48 of an IPv6 address, at least 1. Players behind one router
    /// share it: where all of them may be, such as on a LAN behind a router or on this machine, it is `max_clients`.
    /// It does not limit encrypted clients: whoever has the invite can take every seat.
    pub max_clients_per_source: u8,
    /// A missing input repeats the last one for this many frames, and is neutral afterwards.
    pub hold_frames: u16,
    /// A client that is silent for this long is removed.
    pub timeout: Duration,
    /// The seed that every client is sent.
    pub seed: u32,
    /// The number of the first frame.
    pub first_frame: Frame,
    /// Random bits, from which the proofs of addresses are made. They must not be guessable from outside.
    pub entropy: u64,
}

impl ServerConfig {
    /// 60 frames and 20 snapshots a second for up to 32 clients, 8 of one source.
    #[must_use]
    pub const fn new(entropy: u64) -> Self {
        Self {
            frame_rate: 60,
            broadcast_rate: 20,
            max_clients: 32,
            max_clients_per_source: 8,
            hold_frames: 30,
            timeout: Duration::from_secs(10),
            seed: 1,
            first_frame: Frame::ZERO,
            entropy,
        }
    }

    pub(crate) fn check(&self) -> Result<(), AuthorityConfigError> {
        check_rates(self.frame_rate, self.broadcast_rate)?;
        let is_for_nobody = self.max_clients == 0 || self.max_clients_per_source == 0;
        if is_for_nobody { Err(AuthorityConfigError::NoClients) } else { Ok(()) }
    }
}

/// The config of a client. Its rates are for servers that send no TERMS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientConfig {
    /// Frames a second, unless the server says otherwise.
    pub frame_rate: u16,
    /// Snapshots a second, unless the server says otherwise.
    pub broadcast_rate: u16,
    /// A server that is silent for this long is lost.
    pub timeout: Duration,
    /// A server that gives no seat within this time does not answer.
    pub join_timeout: Duration,
    /// Random bits for sequence numbers and pings.
    pub entropy: u64,
    /// The name of the player, which only R-Type sends.
    pub name: PlayerName,
    /// Whether to ask for snapshots as differences to earlier ones, which only GAME has. A server that does not know them sends
    /// whole ones.
    pub delta_snapshots: bool,
}

impl ClientConfig {
    /// 60 frames and 20 snapshots a second.
    #[must_use]
    pub const fn new(entropy: u64) -> Self {
        Self {
            frame_rate: 60,
            broadcast_rate: 20,
            timeout: Duration::from_secs(10),
            join_timeout: Duration::from_secs(10),
            entropy,
            name: PlayerName::DEFAULT,
            delta_snapshots: true,
        }
    }

    pub(crate) fn check(&self) -> Result<(), AuthorityConfigError> {
        check_rates(self.frame_rate, self.broadcast_rate)
    }
}

/// The highest frame rate.
pub(crate) const MAX_FRAME_RATE: u16 = 240;

/// Whether a frame rate and a broadcast rate go together.
pub(crate) fn check_rates(frame_rate: u16, broadcast_rate: u16) -> Result<(), AuthorityConfigError> {
    if !(1..=MAX_FRAME_RATE).contains(&frame_rate) {
        return Err(AuthorityConfigError::FrameRate { frame_rate });
    }
    if broadcast_rate == 0 || !frame_rate.is_multiple_of(broadcast_rate) {
        return Err(AuthorityConfigError::BroadcastRate { frame_rate, broadcast_rate });
    }
    Ok(())
}

/// The rule that a config breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AuthorityConfigError {
    /// The frame rate is outside 1..=240.
    FrameRate {
        /// The rate given.
        frame_rate: u16,
    },
    /// The broadcast rate does not divide the frame rate.
    BroadcastRate {
        /// The frame rate.
        frame_rate: u16,
        /// The rate given.
        broadcast_rate: u16,
    },
    /// A server without seats.
    NoClients,
    /// A client on the connection of a host.
    NoServer,
}

impl fmt::Display for AuthorityConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FrameRate { frame_rate } => {
                write!(f, "a frame rate of {frame_rate} is outside 1..={MAX_FRAME_RATE}")
            }
            Self::BroadcastRate { frame_rate, broadcast_rate } => {
                write!(f, "{broadcast_rate} snapshots a second do not divide {frame_rate} frames")
            }
            Self::NoServer => f.write_str("a host has no server to join"),
            Self::NoClients => f.write_str("a server needs room for at least one client"),
        }
    }
}

impl std::error::Error for AuthorityConfigError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_and_seats_are_checked() {
        let rates = |frame_rate, broadcast_rate| check_rates(frame_rate, broadcast_rate).is_ok();
        assert!(rates(1, 1) && rates(240, 60) && rates(60, 60));
        assert!(!rates(0, 1) && !rates(241, 241) && !rates(60, 0) && !rates(60, 7) && !rates(20, 40));
        for (clients, per_source) in [(0, 1), (1, 0)] {
            let mut config = ServerConfig::new(1);
            assert_eq!(config.check(), Ok(()));
            (config.max_clients, config.max_clients_per_source) = (clients, per_source);
            assert_eq!(config.check(), Err(AuthorityConfigError::NoClients));
        }
        let mut config = ClientConfig::new(1);
        config.broadcast_rate = 7;
        assert!(config.check().is_err());
    }
}
