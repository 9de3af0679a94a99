//! Facts about peers and a connection, for a screen.

use crate::connect::seal::{Code, PlayerKey};
use crate::protocol::texts;
use core::time::Duration;
use std::net::SocketAddr;

/// The facts about one peer of a [`Connection`](super::Connection).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PeerInfo {
    /// The outer address of the peer; `None` before there is a path to it, and once the relay that carried it does not answer
    /// any more. Of a relayed peer it is the address that the relay sends to.
    pub addr: Option<SocketAddr>,
    /// The code that both players compare, on a connection by address once it is known.
    pub code: Option<Code>,
    /// Whether it is certain who the peer is: by invite always, by address once a player has compared the code or the peer has proven
    /// a key that [was asked for](crate::ConnectOptions::only).
    pub is_verified: bool,
    /// The key that the other player has proven. It may come some packets after the connection; `None` if that player has none.
    pub player: Option<PlayerKey>,
    /// Whether a relay carries the datagrams.
    pub is_relayed: bool,
    /// Whether this machine reaches the relay over TLS, because its network lets out no UDP: a lost packet delays those behind it by
    /// at least a round trip to the relay.
    pub is_over_tls: bool,
    /// The most that the way through the relay can be longer than a direct one, if that is known.
    pub detour: Option<Duration>,
}

texts! {
    /// A hint why there is no answer, or why a guest cannot join. `Display` is a text for a player.
    #[non_exhaustive]
    pub Hint:
    /// Packets came that are not encrypted.
    Bare = "The other side does not encrypt, and this one does.",
    /// Encrypted packets came, and this side is bare.
    Encrypted = "The other side encrypts, and this one does not.",
    /// Packets of another version of the encryption came.
    OtherVersion = "The other side encrypts in another way: both need the same version of the game.",
    /// A joiner used another key, such as that of an old invite.
    OtherInvite = "Somebody tried to join with another invite. Send the newest one.",
}

/// The counts of a [`Connection`](super::Connection) so far. The driver has those of the socket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConnectionStats {
    /// Encrypted connections that were made.
    pub connections: u64,
    /// Key exchanges that a host has computed.
    pub handshakes: u64,
    /// Datagrams that were dropped because they were forged, replayed, malformed or of an unknown connection.
    pub refused: u64,
    /// Searches for a path.
    pub searches: u64,
    /// The time that the first search took which found a path; `None` without a search, or before it has found one.
    pub found_after: Option<Duration>,
    /// Addresses on a relay that were used.
    pub allocations: u64,
    /// Bytes sent to find and keep paths.
    pub overhead_bytes: u64,
}
