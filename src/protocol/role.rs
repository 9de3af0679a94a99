//! The role of a peer, and the made-up addresses of guests, which carry it.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// The role of a peer, as the key proves by which it was admitted. No packet changes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerRole {
    /// The peer was asked for a match: it is the host.
    Host,
    /// The peer asked for a match: this machine is the host.
    Player,
    /// The peer watches.
    Spectator,
    /// The peer was in this match before, and comes back.
    Rejoiner,
}

/// The network of made-up addresses of players: `100::/64`, which discards everything. Those of other roles are beside it, behind that of
/// the paths through a relay.
const NETWORK: [u16; 3] = [0x0100, 0, 0];
const SPECTATORS: u16 = 2;
const REJOINERS: u16 = 3;
const PORT: u16 = 1;

impl PeerRole {
    /// The made-up address of a peer in this role, by its number. Only the seal gives such addresses to guests.
    pub(crate) fn inner_addr(self, number: u64) -> SocketAddr {
        let network = match self {
            Self::Host | Self::Player => 0,
            Self::Spectator => SPECTATORS,
            Self::Rejoiner => REJOINERS,
        };
        let [a, b, c] = NETWORK;
        let prefix = u128::from(Ipv6Addr::new(a, b, c, network, 0, 0, 0, 0));
        SocketAddr::from((Ipv6Addr::from(prefix | u128::from(number)), PORT))
    }

    /// The role of the guest at an inner address: a player, unless the seal has given it the address of another role.
    #[inline]
    pub(crate) fn of_guest(inner_addr: SocketAddr) -> Self {
        let IpAddr::V6(ip) = inner_addr.ip() else { return Self::Player };
        match ip.segments() {
            [a, b, c, SPECTATORS, ..] if [a, b, c] == NETWORK => Self::Spectator,
            [a, b, c, REJOINERS, ..] if [a, b, c] == NETWORK => Self::Rejoiner,
            _ => Self::Player,
        }
    }

    /// Whether a peer in this role is one of the two machines of a match from its beginning.
    #[inline]
    pub(crate) fn plays(self) -> bool {
        matches!(self, Self::Host | Self::Player)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical;

    #[test]
    fn inner_address_of_a_guest_has_its_role() {
        for role in [PeerRole::Player, PeerRole::Spectator, PeerRole::Rejoiner] {
            for number in [1, 2, 1 << 48, u64::MAX] {
                let addr = role.inner_addr(number);
                assert_eq!((PeerRole::of_guest(addr), canonical(addr)), (role, addr));
            }
        }
        for other in
            ["192.0.2.1:7", "[2001:db8:0:2::1]:1", "[100:0:1:2::1]:1", "[100::2]:1", "[100:0:0:1::1]:1"]
        {
            assert_eq!(PeerRole::of_guest(other.parse().unwrap()), PeerRole::Player, "{other}");
        }
    }
}
