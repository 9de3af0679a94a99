//! The source of a datagram, as limits count it: an IPv4 address, or the /64 of an IPv6 address.

use std::net::{IpAddr, SocketAddr};

/// An IPv4 address, or the /64 of an IPv6 address: as much as one machine easily has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    V4([u8; 4]),
    V6([u8; 8]),
}

impl Source {
    pub(crate) fn of(addr: SocketAddr) -> Self {
        match addr.ip() {
            IpAddr::V4(ip) => Self::V4(ip.octets()),
            IpAddr::V6(ip) => Self::V6(ip.octets().first_chunk().copied().unwrap_or_default()),
        }
    }
}
