//! Addresses for peers that have none: a platform's 64-bit id, dressed as an IPv6 address.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// The prefix 100::/64, which routers discard (RFC 6666). No real peer has such an address.
const DISCARD_ONLY: u128 = 0x0100 << 112;
const PORT: u16 = 1;

/// An address that stands for an opaque 64-bit id, such as the id of a user on a platform whose sockets take no
/// addresses. [`opaque_id`] turns it back.
///
/// ```
/// use rebout::net::{opaque_addr, opaque_id};
///
/// let friend = opaque_addr(76_561_197_960_287_930);
/// assert_eq!(opaque_id(friend), Some(76_561_197_960_287_930));
/// assert_eq!(opaque_id("192.0.2.1:7000".parse().unwrap()), None);
/// ```
#[must_use]
pub fn opaque_addr(id: u64) -> SocketAddr {
    SocketAddr::from((Ipv6Addr::from_bits(DISCARD_ONLY | u128::from(id)), PORT))
}

/// The id that an address of [`opaque_addr`] stands for; `None` for any other address.
#[must_use]
pub fn opaque_id(addr: SocketAddr) -> Option<u64> {
    let IpAddr::V6(ip) = addr.ip() else { return None };
    let id = ip.to_bits() as u64;
    (addr == opaque_addr(id)).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical;

    #[test]
    fn every_id_has_an_address_of_its_own_and_comes_back() {
        // The ids that would be an IPv4-mapped, a loopback or an unspecified address without the prefix among them.
        let ids = [0, 1, 2, 0xFFFF_7F00_0001, 1 << 63, u64::MAX];
        for (at, id) in ids.into_iter().enumerate() {
            let addr = opaque_addr(id);
            assert_eq!((opaque_id(addr), canonical(addr)), (Some(id), addr));
            assert!(!ids[..at].iter().any(|other| opaque_addr(*other) == addr));
            assert!(!addr.ip().is_unspecified() && !addr.ip().is_loopback() && addr.port() != 0);
        }
    }

    #[test]
    fn address_of_the_internet_is_no_id() {
        for addr in
            ["192.0.2.1:1", "[2001:db8::1]:1", "[100::1]:2", "[101::1]:1", "[100::1:0:0:0:1]:1", "[::1]:1"]
        {
            assert_eq!(opaque_id(addr.parse().unwrap()), None, "{addr}");
        }
    }
}
