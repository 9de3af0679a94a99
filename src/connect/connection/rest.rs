//! A connection without a protocol, before or between matches: nothing is said, and the peer is kept.

use crate::Protocol;
use crate::protocol::{Authenticated, ConnectionStep, PeerRole};
use core::time::Duration;
use std::net::SocketAddr;

/// A protocol that says nothing and keeps every peer.
pub(crate) struct Rest;

impl Protocol for Rest {
    fn handle_datagram(&mut self, _: Duration, _: SocketAddr, _: &[u8]) {}

    fn poll_transmit(&mut self, _: Duration, _: &mut [u8]) -> Option<(SocketAddr, usize)> {
        None
    }

    fn poll_timeout(&self) -> Option<Duration> {
        None
    }

    fn authenticated(&mut self) -> Option<&mut dyn Authenticated> {
        Some(self)
    }
}

impl Authenticated for Rest {
    fn connection(&mut self, _: Duration, _: SocketAddr, _: ConnectionStep) {}

    fn knows(&mut self, _: SocketAddr) -> bool {
        true
    }

    fn keeps(&mut self, _: SocketAddr) -> bool {
        true
    }

    fn serves(&mut self, role: PeerRole) -> bool {
        role != PeerRole::Spectator
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peer_is_kept_between_two_matches() {
        let peer = ([192, 0, 2, 1], 7).into();
        assert!(Rest.keeps(peer) && Rest.knows(peer) && Rest.poll_timeout().is_none());
    }
}
