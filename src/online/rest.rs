//! A connection between two matches: nothing is said, and the peer is kept.

use crate::Protocol;
use core::time::Duration;
use std::net::SocketAddr;

/// A protocol that says nothing and keeps every peer.
pub(super) struct Rest;

impl Protocol for Rest {
    fn handle_datagram(&mut self, _: Duration, _: SocketAddr, _: &[u8]) {}

    fn poll_transmit(&mut self, _: Duration, _: &mut [u8]) -> Option<(SocketAddr, usize)> {
        None
    }

    fn poll_timeout(&self) -> Option<Duration> {
        None
    }

    fn keeps(&self, _: SocketAddr) -> bool {
        true
    }
}
