//! The addresses of a page's transport: made up, because a page knows none.

use std::net::{IpAddr, Ipv6Addr, SocketAddr, SocketAddrV6};

/// The network of these addresses: beside `100::/64`, which discards everything.
const PREFIX: [u16; 4] = [0x0100, 0, 0, 2];

/// The rendezvous. A datagram to it is one binary message of the WebSocket, and one from it another.
pub const SERVER: SocketAddr =
    SocketAddr::V6(SocketAddrV6::new(Ipv6Addr::new(0x0100, 0, 0, 2, 0, 0, 0, 0), 1, 0, 0));

/// Whether this is the address of a peer connection.
#[must_use]
pub fn is_channel(addr: SocketAddr) -> bool {
    matches!(addr.ip(), IpAddr::V6(ip) if ip.segments()[..4] == PREFIX) && addr != SERVER
}

/// The address of a peer connection by its number, from 1 on.
#[cfg(any(target_family = "wasm", test))]
pub(crate) fn channel(number: u32) -> SocketAddr {
    let [a, b, c, d] = PREFIX;
    let [high, low] = [(number >> 16) as u16, number as u16];
    SocketAddr::from((Ipv6Addr::new(a, b, c, d, 0, 0, high, low), 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_are_told_apart_from_the_server() {
        assert!(is_channel(channel(1)) && is_channel(channel(u32::MAX)) && channel(1) != channel(2));
        assert!(!is_channel(SERVER) && !is_channel("[100::1]:1".parse().unwrap()));
        assert_eq!(channel(0), SERVER);
    }
}
