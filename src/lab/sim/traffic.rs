//! Counts of datagrams.

use crate::lab::link::HEADER_BYTES;

/// A number of datagrams and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// The number of datagrams.
    pub datagrams: u64,
    /// The bytes without headers.
    pub payload_bytes: u64,
}

impl Traffic {
    /// The bytes with the headers of UDP and IPv4.
    #[must_use]
    pub fn wire_bytes(&self) -> u64 {
        self.payload_bytes + self.datagrams * HEADER_BYTES
    }

    pub(super) fn add(&mut self, len: usize) {
        self.datagrams += 1;
        self.payload_bytes += len as u64;
    }
}

/// The statistics of a network outside its links, which have their own: [`Network::link`](super::Network::link).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct NetworkStats {
    /// Datagrams sent to an address that no endpoint has.
    pub unroutable: Traffic,
    /// Datagrams injected by [`Network::inject`](super::Network::inject).
    pub injected: u64,
    /// Datagrams lost because [`Network::lose`](super::Network::lose) chose them.
    pub chosen: u64,
    /// Datagrams dropped because too many were in flight.
    pub overflow: u64,
    /// Datagrams dropped because their endpoint was not open yet, or no longer.
    pub closed: u64,
    /// Datagrams dropped by a NAT because their port was not mapped, or no longer.
    pub unmapped: u64,
    /// Datagrams dropped by a NAT because it lets in others only.
    pub filtered: u64,
    /// Datagrams dropped by the full socket of a paused machine.
    pub socket_full: u64,
}
