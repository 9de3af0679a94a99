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

    /// The larger network of this source: the /20 of an IPv4 address, or the /48 of an IPv6 address, which is as much as one
    /// site easily has.
    #[cfg(any(test, feature = "reach"))]
    pub(crate) fn network(self) -> Self {
        match self {
            Self::V4([a, b, c, _]) => Self::V4([a, b, c & 0xF0, 0]),
            Self::V6([a, b, c, d, e, f, ..]) => Self::V6([a, b, c, d, e, f, 0, 0]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_of_one_site_are_one_network() {
        let of = |text: &str| Source::of(text.parse().unwrap());
        let same = |one: &str, two: &str| (of(one) == of(two), of(one).network() == of(two).network());
        assert_eq!(same("192.0.2.1:5", "192.0.2.1:6"), (true, true));
        assert_eq!(same("192.0.2.1:5", "192.0.15.9:5"), (false, true));
        assert_eq!(same("192.0.2.1:5", "192.0.16.1:5"), (false, false));
        assert_eq!(same("[2001:db8:1:2::3]:5", "[2001:db8:1:2:4::]:5"), (true, true));
        assert_eq!(same("[2001:db8:1:2::3]:5", "[2001:db8:1:ff2::3]:5"), (false, true));
        assert_eq!(same("[2001:db8:1:2::3]:5", "[2001:db8:2:2::3]:5"), (false, false));
    }
}
