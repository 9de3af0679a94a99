//! The interface between the state machines and their driver: bytes and time come in as arguments.

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

    /// Learns of a step of an authenticated connection to `peer`, from a protocol that wraps this one.
    ///
    /// A driver on a bare socket never calls it, because nothing there is authenticated. A step may be told again: before
    /// each packet of a handshake, so that a new state machine on an old connection learns of it too.
    fn connection(&mut self, now: Duration, peer: SocketAddr, step: ConnectionStep) {
        let _ = (now, peer, step);
    }

    /// Whether this state machine keeps the authenticated connection to `peer`. A protocol that wraps this one may drop
    /// the connections that nobody keeps.
    fn keeps(&self, peer: SocketAddr) -> bool {
        let _ = peer;
        false
    }
}

/// A step of an authenticated connection ([`Protocol::connection`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
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

/// The role of a peer, as its key proves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PeerRole {
    /// The peer was asked for a match: it is the host.
    Host,
    /// The peer asked for a match: this machine is the host.
    Player,
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
