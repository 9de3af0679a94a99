//! The events of a client for the game, the reasons why a connection ends, and the statistics.

use super::PredictionStats;
use crate::authority::record::{Terms, Told};
use crate::channel::refusal::Refusals;
use core::fmt;
use core::time::Duration;

/// An event of a client for the game. Events that come from the server keep its order, and each comes once.
///
/// R-Type tells no frames: those of its events are of the arrival, on our own clock, and the order is kept for each entity
/// alone.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ClientEvent {
    /// The server has a seat for us.
    Joined {
        /// Our id, which our entity has too.
        id: u8,
    },
    /// The terms of the server.
    Terms(Terms),
    /// There is an entity, from this frame on.
    Spawned {
        /// Its id.
        id: u8,
        /// Its kind.
        kind: u8,
        /// The server's frame.
        frame: u64,
    },
    /// An entity is gone, from this frame on.
    Gone {
        /// Its id.
        id: u8,
        /// The server's frame.
        frame: u64,
    },
    /// An entity was hit.
    Hit {
        /// Its id.
        id: u8,
        /// The damage, whose scale is the game's.
        damage: u8,
        /// The server's frame.
        frame: u64,
    },
    /// A message of the game's own.
    Told {
        /// The server's frame in which it was told.
        frame: u64,
        /// The message.
        told: Told,
    },
    /// The connection is over.
    Over(OverReason),
}

/// The reason why a connection is over, with words for a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OverReason {
    /// We left.
    Left,
    /// The server has never answered.
    NoAnswer,
    /// The server has no seat.
    Full,
    /// The server has kicked us.
    Kicked,
    /// The server shuts down.
    Shutdown,
    /// The server has ended the connection without saying why.
    Ended,
    /// Nothing has come from the server for too long.
    Silent,
    /// The server rejects what it is sent, by the rules of R-Type.
    Rejected,
}

impl fmt::Display for OverReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Left => "you left the game",
            Self::NoAnswer => "the server does not answer: is it running, and is the address right?",
            Self::Full => "the server is full",
            Self::Kicked => "you were removed from the game by the server",
            Self::Shutdown => "the server was shut down",
            Self::Ended => "the server has ended the game",
            Self::Silent => "the connection to the server was lost",
            Self::Rejected => "the server rejects what it is sent: it may speak another version",
        })
    }
}

/// The statistics of a client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientStats {
    /// Steps taken.
    pub steps: u64,
    /// Datagrams received, bad ones included.
    pub datagrams_in: u64,
    /// Datagrams sent.
    pub datagrams_out: u64,
    /// Bytes sent, without the headers of UDP.
    pub bytes_out: u64,
    /// Snapshots received, parts counted one by one.
    pub snapshots: u64,
    /// Snapshots of frames for which the server had no input of ours, and so held the last.
    pub held_by_server: u64,
    /// Predictions compared with snapshots.
    pub prediction: PredictionStats,
    /// The mean round trip.
    pub round_trip: Duration,
    /// The mean deviation of the arrival of snapshots.
    pub jitter: Duration,
    /// The delay of render time behind the line of arrival.
    pub delay: Duration,
    /// Datagrams that were dropped, by reason.
    pub refused: Refusals,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authority::{Client, ClientConfig};

    #[test]
    fn newest_1024_events_wait() {
        let mut client = Client::join(ClientConfig::new(1), ([192, 0, 2, 1], 7).into()).unwrap();
        (0..2_000).for_each(|frame| client.tell(ClientEvent::Gone { id: 1, frame }));
        let waiting: Vec<_> = core::iter::from_fn(|| client.poll_event()).collect();
        assert_eq!((waiting.len(), waiting[0]), (1_024, ClientEvent::Gone { id: 1, frame: 976 }));
    }
}
