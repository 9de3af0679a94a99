//! The events of a client for the game, the reasons why a connection ends, and the statistics.

use crate::Frame;
use crate::authority::record::{Record, Terms, Told};
use crate::channel::refusal::Refusals;
use crate::protocol::{texts, trace};
use core::time::Duration;
use std::collections::VecDeque;

/// An event of a client for the game. Events that come from the server keep its order, and each comes once.
///
/// R-Type carries no frames: those of its events are of the arrival, on our own clock, and the order is kept for each entity
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
        frame: Frame,
    },
    /// An entity is gone, from this frame on.
    Gone {
        /// Its id.
        id: u8,
        /// The server's frame.
        frame: Frame,
    },
    /// An entity was hit.
    Hit {
        /// Its id.
        id: u8,
        /// The damage, whose scale is the game's.
        damage: u8,
        /// The server's frame.
        frame: Frame,
    },
    /// A message of the game's own.
    Told {
        /// The server's frame in which it was told.
        frame: Frame,
        /// The message.
        told: Told,
    },
    /// The connection is over.
    Over(OverReason),
}

impl ClientEvent {
    /// The event of a record, if it is one.
    pub(super) fn of(record: &Record) -> Option<Self> {
        Some(match *record {
            Record::Spawn { id, kind, frame, .. } => Self::Spawned { id, kind, frame },
            Record::Gone { id, frame, .. } => Self::Gone { id, frame },
            Record::Hit { id, damage, frame } => Self::Hit { id, damage, frame },
            Record::Told { frame, told } => Self::Told { frame, told },
            Record::Shot { .. } | Record::Bounce { .. } | Record::ShotEnd { .. } | Record::Bye { .. } => {
                return None;
            }
        })
    }
}

/// The most events that wait for the game; the oldest gives way.
const MAX_EVENTS: usize = 1_024;

/// The events that wait for the game, in a memory that is taken at the start.
#[derive(Debug)]
pub(super) struct Events {
    waiting: VecDeque<ClientEvent>,
}

impl Events {
    pub(super) fn new() -> Self {
        Self { waiting: VecDeque::with_capacity(MAX_EVENTS) }
    }

    pub(super) fn tell(&mut self, event: ClientEvent) {
        if self.waiting.len() == MAX_EVENTS {
            self.waiting.pop_front();
        } else if self.waiting.len() + 1 == MAX_EVENTS {
            trace::queue_full("events of a client");
        }
        self.waiting.push_back(event);
    }

    pub(super) fn poll(&mut self) -> Option<ClientEvent> {
        self.waiting.pop_front()
    }
}

texts! {
    /// The reason why a connection is over, with words for a player.
    #[non_exhaustive]
    pub OverReason:
    /// We left.
    Left = "you left the game",
    /// The server has never answered.
    NoAnswer = "the server does not answer: is it running, and is the address right?",
    /// The server has no seat.
    Full = "the server is full",
    /// The server has kicked us.
    Kicked = "you were removed from the game by the server",
    /// The server shuts down.
    Shutdown = "the server was shut down",
    /// The server has ended the connection without saying why.
    Ended = "the server has ended the game",
    /// Nothing has come from the server for too long.
    Silent = "the connection to the server was lost",
    /// The server rejects what it is sent, by the rules of R-Type.
    Rejected = "the server rejects what it is sent: it may speak another version",
}

/// Counts of predictions that were compared with snapshots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PredictionStats {
    /// Snapshots that were compared with what was predicted for their frame.
    pub compared: u64,
    /// Those that were exactly equal; on R-Type those within one unit of where the player had been.
    pub exact: u64,
    /// Inputs that were replayed after a correction.
    pub replayed: u64,
    /// The largest correction so far, in units of the game, rounded up.
    pub max_correction: u32,
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

    #[test]
    fn newest_1024_events_wait() {
        let mut events = Events::new();
        (0..2_000).for_each(|n| events.tell(ClientEvent::Gone { id: 1, frame: Frame(n) }));
        let waiting: Vec<_> = core::iter::from_fn(|| events.poll()).collect();
        assert_eq!((waiting.len(), waiting[0]), (1_024, ClientEvent::Gone { id: 1, frame: Frame(976) }));
    }
}
