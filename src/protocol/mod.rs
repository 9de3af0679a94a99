//! The interface between the state machines and their driver: bytes and time come in as arguments. Times are of the types
//! in `time`; `trace` tells a developer what happened; `texts` makes enums with a text of each variant; `stream_addr` has the
//! addresses of servers that are reached over streams, and what a transport tells of these; `role` has the role of a peer, and
//! `by_role` two protocols on one connection, told apart by it.

mod by_role;
mod role;
#[cfg(feature = "nat")]
pub(crate) mod stream_addr;
mod texts;
pub(crate) mod time;
pub(crate) mod trace;

pub use by_role::ByRole;
pub use role::PeerRole;
pub(crate) use texts::texts;

use std::net::SocketAddr;
use std::time::Duration;

/// A state machine that communicates by datagrams, without a socket or a clock of its own.
///
/// Everything that talks to a peer implements it. The same implementation runs on UDP
/// ([`net::udp`](crate::net::udp)), in a simulated network (`lab::sim`) a thousand times faster
/// than real time, or behind another `Protocol` that wraps it.
///
/// A driver repeats three things in this order: hand over every datagram that has arrived
/// ([`handle_datagram`](Self::handle_datagram)); call [`poll_transmit`](Self::poll_transmit) until it returns `None`;
/// sleep until a datagram arrives or the time of [`poll_timeout`](Self::poll_timeout) is reached. `now` never runs
/// backwards. A bad datagram is counted and dropped; it is never an error to the caller.
pub trait Protocol {
    /// Handles one datagram received from `from`.
    fn handle_datagram(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]);

    /// Writes the next datagram to send into `buf`, and returns its destination and its length.
    ///
    /// `buf` must hold at least [`MAX_DATAGRAM`] bytes, or 21 fewer where another protocol seals what is written. `None` if there is nothing to send at `now`.
    fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)>;

    /// When to call [`poll_transmit`](Self::poll_transmit) again if no datagram arrives before.
    fn poll_timeout(&self) -> Option<Duration>;

    /// Whether the owner of this state machine should act at `now` instead of waiting for its deadline.
    ///
    /// A driver that sleeps until a deadline returns early if this is true: a stalled frame is due the moment its
    /// input arrives, not a frame later. Drivers ask after every received datagram and after every timeout.
    fn wants_attention(&self, now: Duration) -> bool {
        let _ = now;
        false
    }

    /// Whether something still has to reach the peer before the socket may close.
    ///
    /// A driver that closes keeps sending and receiving while this is true, for as long as it was told to linger.
    fn lingers(&self) -> bool {
        false
    }

    /// Writes the opening message of an encrypted connection to `peer` into `buf`, and returns its length.
    ///
    /// A machine that joins begins the encrypted handshake when its protocol sends anything to the host and there is no
    /// connection. That datagram is lost. The opening message travels inside the handshake instead, and the host's protocol
    /// handles it like a datagram, so that a request needs no round trip of its own.
    ///
    /// `None` connects with an empty message, once: the handshake is not repeated on a connection that has fallen silent.
    /// `Some(0)` is an empty message of a protocol that wants to be connected again then. `buf` has 254 bytes.
    fn opening(&mut self, now: Duration, peer: SocketAddr, buf: &mut [u8]) -> Option<usize> {
        let _ = (now, peer, buf);
        None
    }

    /// This protocol as one that follows its encrypted connections. It is for the protocols of this crate.
    #[doc(hidden)]
    fn authenticated(&mut self) -> Option<&mut dyn Authenticated> {
        None
    }
}

/// A protocol that follows the encrypted connections which it runs on.
pub trait Authenticated {
    /// Learns of a step of the connection to `peer`. A step may be told again.
    fn connection(&mut self, now: Duration, peer: SocketAddr, step: ConnectionStep);

    /// Whether this state machine knows the newest step of the connection to `peer`. If not, it is told the step before it
    /// handles a datagram of that peer: a new state machine on an old connection learns of the connection that way.
    fn knows(&mut self, peer: SocketAddr) -> bool;

    /// Whether this state machine keeps the connection to `peer`. Connections that it does not keep may be dropped.
    fn keeps(&mut self, peer: SocketAddr) -> bool;

    /// Whether this state machine serves peers in a role: those of a match, unless it says otherwise. It hears nothing of a peer in
    /// another role, neither a step nor a datagram.
    fn serves(&mut self, role: PeerRole) -> bool {
        role.plays()
    }
}

/// A step of an authenticated connection ([`Authenticated::connection`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionStep {
    /// The peer knows the key that admits it, but its packets may be recorded ones: it holds no seat yet.
    Reached {
        /// The round trip of the handshake.
        round_trip: Duration,
        /// The role of the peer.
        role: PeerRole,
    },
    /// The peer is there: a packet of it was opened that answers one of ours.
    Confirmed {
        /// The round trip of the handshake.
        round_trip: Duration,
        /// The role of the peer.
        role: PeerRole,
    },
    /// The connection is no more. Its address is never used again.
    Gone,
}

/// The length of the longest datagram that is ever sent. It passes every common path without fragmentation.
pub const MAX_DATAGRAM: usize = 1_200;

/// The length of a driver's buffer: the longest datagram, and the head of a relay's message around it.
pub(crate) const MAX_WRAPPED: usize = MAX_DATAGRAM + 64;

/// The canonical form of an address, equal for every appearance of the same socket: an IPv4-mapped IPv6 address
/// becomes IPv4, and a flow label is cleared. A driver hands over addresses in this form.
///
/// ```
/// use rebout::canonical;
///
/// assert_eq!(canonical("[::ffff:192.0.2.7]:7000".parse().unwrap()), "192.0.2.7:7000".parse().unwrap());
/// ```
#[must_use]
pub fn canonical(addr: SocketAddr) -> SocketAddr {
    match addr {
        SocketAddr::V4(_) => addr,
        SocketAddr::V6(mut v6) => match v6.ip().to_ipv4_mapped() {
            Some(ip) => SocketAddr::from((ip, v6.port())),
            None => {
                v6.set_flowinfo(0);
                SocketAddr::V6(v6)
            }
        },
    }
}
