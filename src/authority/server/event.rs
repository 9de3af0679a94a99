//! The events of a server for its owner, and its statistics.

use crate::channel::refusal::Refusals;
use crate::protocol::texts;
use std::net::SocketAddr;

/// An event of a server for its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerEvent {
    /// A client has taken a seat.
    Joined {
        /// Its id, which its entity has too.
        id: u8,
        /// Its address. `Connection::peer` has the real one of a client on an encrypted connection.
        addr: SocketAddr,
    },
    /// A client is gone.
    Left {
        /// Its id.
        id: u8,
        /// Why.
        why: LeftWhy,
    },
}

texts! {
    /// Why there is no seat for an address.
    pub(super) NoSeat:
    Full = "every seat is taken",
    NoId = "every id is taken",
    SourceLimit = "its source has as many seats as one may have",
    Version = "it speaks another version",
}

texts! {
    /// The reason why a client was removed.
    #[non_exhaustive]
    pub LeftWhy:
    /// It said that it leaves.
    Left = "left the game",
    /// Nothing came from it for too long.
    Silent = "was not heard of any more",
    /// It acknowledged nothing any more, by the rules of R-Type.
    Unanswered = "does not answer any more",
    /// It rejected what it was sent, by the rules of R-Type.
    Rejected = "rejects what it is sent",
    /// It acknowledged too little of what it was told.
    Behind = "could not keep up",
    /// It was kicked.
    Kicked = "was kicked",
    /// The server shuts down.
    Shutdown = "was told that the server shuts down",
}

/// The statistics of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerStats {
    /// Frames stepped.
    pub frames: u64,
    /// Datagrams received, bad ones included.
    pub datagrams_in: u64,
    /// Datagrams sent.
    pub datagrams_out: u64,
    /// Bytes sent, without the headers of UDP.
    pub bytes_out: u64,
    /// Bytes of snapshots among them.
    pub snapshot_bytes_out: u64,
    /// Bodies that were not finite, and so were not sent.
    pub bodies_not_finite: u64,
    /// Datagrams that were dropped, by reason.
    pub refused: Refusals,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authority::{GameWire, Server, ServerConfig};

    #[test]
    fn at_most_1024_events_wait() {
        let mut server = Server::<GameWire>::new(ServerConfig::new(1)).unwrap();
        (0..=255)
            .cycle()
            .take(2_000)
            .for_each(|id| server.tell(ServerEvent::Left { id, why: LeftWhy::Left }));
        assert_eq!(core::iter::from_fn(|| server.poll_event()).count(), 1_024);
    }
}
