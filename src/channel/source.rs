//! The source of a datagram, as limits count it.

use std::net::{IpAddr, SocketAddr};

/// An address, or the prefix of one: each limit picks how much of it counts. An IPv4-mapped IPv6 address counts as the IPv4
/// address, because a socket for both families may show it in either form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    V4([u8; 4]),
    V6([u8; 8]),
}

impl Source {
    /// An IPv4 address, or the /64 of an IPv6 address: as much as one machine easily has.
    pub(crate) fn machine(addr: SocketAddr) -> Self {
        match addr.ip().to_canonical() {
            IpAddr::V4(ip) => Self::V4(ip.octets()),
            IpAddr::V6(ip) => Self::V6(ip.octets().first_chunk().copied().unwrap_or_default()),
        }
    }

    /// An IPv4 address, or the /48 of an IPv6 address: as much as one customer of a provider easily has.
    #[cfg(any(test, feature = "authority"))]
    pub(crate) fn customer(addr: SocketAddr) -> Self {
        match Self::machine(addr) {
            Self::V6([a, b, c, d, e, f, ..]) => Self::V6([a, b, c, d, e, f, 0, 0]),
            v4 => v4,
        }
    }

    /// The /20 of an IPv4 address, or the /48 of an IPv6 address: as much as one site easily has.
    #[cfg(any(test, feature = "nat"))]
    pub(crate) fn network(self) -> Self {
        match self {
            Self::V4([a, b, c, _]) => Self::V4([a, b, c & 0xF0, 0]),
            Self::V6([a, b, c, d, e, f, ..]) => Self::V6([a, b, c, d, e, f, 0, 0]),
        }
    }

    /// The bytes to hash. Their number tells the families apart.
    #[cfg(any(test, feature = "authority", feature = "nat"))]
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::V4(address) => address,
            Self::V6(prefix) => prefix,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether two addresses are of one machine, of one customer and of one network.
    fn same(one: &str, two: &str) -> [bool; 3] {
        let of = |text: &str| {
            let addr = text.parse().unwrap();
            [Source::machine(addr), Source::customer(addr), Source::machine(addr).network()]
        };
        let (one, two) = (of(one), of(two));
        [0, 1, 2].map(|at| one[at] == two[at])
    }

    #[test]
    fn each_granularity_has_its_prefix() {
        assert_eq!(same("192.0.2.1:5", "192.0.2.1:6"), [true, true, true]);
        assert_eq!(same("192.0.2.1:5", "192.0.15.9:5"), [false, false, true]);
        assert_eq!(same("192.0.2.1:5", "192.0.16.1:5"), [false, false, false]);
        assert_eq!(same("[2001:db8:1:2::3]:5", "[2001:db8:1:2:4::]:5"), [true, true, true]);
        assert_eq!(same("[2001:db8:1:2::3]:5", "[2001:db8:1:ff2::3]:5"), [false, true, true]);
        assert_eq!(same("[2001:db8:1:2::3]:5", "[2001:db8:2:2::3]:5"), [false, false, false]);
    }

    #[test]
    fn mapped_addresses_count_as_their_ipv4_addresses() {
        assert_eq!(same("192.0.2.1:5", "[::ffff:192.0.2.1]:6"), [true, true, true]);
        assert_eq!(same("[::ffff:192.0.2.1]:5", "[::ffff:192.0.2.2]:5"), [false, false, true]);
        assert_eq!(same("[::ffff:192.0.2.1]:5", "[::ffff:192.0.16.1]:5"), [false, false, false]);
        assert_eq!(same("192.0.2.1:5", "[c000:201::]:5"), [false, false, false]);
    }

    #[test]
    fn bytes_of_different_sources_differ() {
        let bytes = |text: &str| Source::machine(text.parse().unwrap()).bytes().to_vec();
        assert_eq!(bytes("[::ffff:192.0.2.1]:5"), [192, 0, 2, 1]);
        assert_eq!(bytes("[c000:201::]:5"), [192, 0, 2, 1, 0, 0, 0, 0]);
    }
}
