//! The network that an address belongs to, as the limits of a server count it.

use std::net::{IpAddr, SocketAddr};

/// An IPv4 address, or the /48 of an IPv6 address: one customer of a provider has up to that much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Network([u8; 7]);

impl Network {
    pub(super) fn of(addr: SocketAddr) -> Self {
        // A socket for both families shows IPv4 addresses as IPv6 ones.
        match addr.ip().to_canonical() {
            IpAddr::V4(ip) => {
                let [a, b, c, d] = ip.octets();
                Self([4, a, b, c, d, 0, 0])
            }
            IpAddr::V6(ip) => {
                let [a, b, c, d, e, f, ..] = ip.octets();
                Self([6, a, b, c, d, e, f])
            }
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(text: &str) -> Network {
        Network::of(text.parse().unwrap())
    }

    #[test]
    fn an_ipv4_address_or_a_48_is_one_network() {
        assert_eq!(network("192.0.2.1:5"), network("[::ffff:192.0.2.1]:6"));
        assert_ne!(network("192.0.2.1:5"), network("192.0.2.2:5"));
        assert_ne!(network("[::ffff:192.0.2.1]:6"), network("[::ffff:192.0.2.2]:6"));
        assert_eq!(network("[2001:db8:7:1::1]:5"), network("[2001:db8:7:ffff::9]:6"));
        assert_ne!(network("[2001:db8:7::1]:5"), network("[2001:db8:8::1]:5"));
    }
}
