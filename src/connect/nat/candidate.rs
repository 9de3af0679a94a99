//! Candidates: the addresses at which a machine may be reached, ours and the peer's.

use crate::protocol::stream_addr::is_stream;
use std::net::{IpAddr, SocketAddr};

/// The most candidates that a signal brings.
pub(super) const MAX_CANDIDATES: usize = 8;
/// The most candidates of one IP address: it bounds the packets that a third party at that address gets.
const MAX_PER_IP: usize = 2;
/// The most own addresses in a signal, so that a reflexive and a relayed one have room.
pub(super) const MAX_HOST: usize = 5;

/// How a machine came to know an address of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The address of an interface.
    Host,
    /// The address outside of a NAT, as a server has seen it.
    Reflexive,
    /// The address of an allocation on a relay.
    Relayed,
}

/// An address at which a machine may be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) kind: Kind,
    pub(super) addr: SocketAddr,
}

/// Whether anything may be sent to an address that another machine has named. Loopback and link-local addresses mean this
/// machine or another one on everybody's own link, the made-up addresses of paths are ours, and those of streams are servers'.
pub(super) fn is_admissible(addr: SocketAddr) -> bool {
    let ip = addr.ip();
    let usable = match ip {
        IpAddr::V4(v4) => !v4.is_broadcast() && !v4.is_link_local() && v4.octets()[0] != 0,
        IpAddr::V6(v6) => {
            !v6.is_unicast_link_local()
                && v6.to_ipv4_mapped().is_none()
                && v6.segments()[0] != 0x0100
                && !is_stream(addr)
        }
    };
    usable && addr.port() != 0 && !ip.is_loopback() && !ip.is_multicast() && !ip.is_unspecified()
}

/// Whether an address belongs to a private network, or to that of a carrier behind its NAT.
pub(super) fn is_private(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(v4) => v4.is_private() || v4.is_loopback() || matches!(v4.octets(), [100, 64..=127, ..]),
        IpAddr::V6(v6) => v6.is_unique_local() || v6.is_loopback(),
    }
}

/// As `is_admissible`, but also loopback addresses if `is_local`: the rendezvous is on this machine, and brings players on this machine
/// together.
pub(super) fn is_usable(addr: SocketAddr, is_local: bool) -> bool {
    is_admissible(addr) || (is_local && addr.ip().is_loopback() && addr.port() != 0)
}

/// Where our checks leave from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bases {
    /// Our socket's addresses of IPv4 and IPv6, one each: all interfaces share the socket.
    pub(super) direct: [Option<SocketAddr>; 2],
    /// The address of our allocation.
    pub(super) relayed: Option<SocketAddr>,
}

/// The candidates of a peer that are used: admissible ones, few of one IP address, none of `servers`. Loopback addresses are
/// only taken if `is_local`: a peer on another machine could make us send to any program on this one.
pub(super) fn theirs(named: &[Candidate], servers: &[SocketAddr], is_local: bool) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::with_capacity(MAX_CANDIDATES);
    for candidate in named.iter().take(MAX_CANDIDATES) {
        let alike = found.iter().filter(|one| one.addr.ip() == candidate.addr.ip()).count();
        let known = found.iter().any(|one| one.addr == candidate.addr) || servers.contains(&candidate.addr);
        if is_usable(candidate.addr, is_local) && alike < MAX_PER_IP && !known {
            found.push(*candidate);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    #[test]
    fn loopback_and_link_local_candidates_are_refused() {
        let refused = [
            "127.0.0.1:7000",
            "0.0.0.0:7000",
            "0.1.2.3:7000",
            "224.0.0.1:7000",
            "255.255.255.255:7000",
            "169.254.1.1:7000",
            "192.0.2.1:0",
            "[::]:7000",
            "[::1]:7000",
            "[ff02::1]:7000",
            "[fe80::1]:7000",
            "[::ffff:192.0.2.1]:7000",
            "[100:0:0:1::3]:1",
            "[a002:c000:201::]:443",
            "[8000::1]:443",
        ];
        assert_eq!(refused.iter().filter(|text| is_admissible(at(text))).count(), 0);
        for text in ["192.168.1.2:7000", "10.0.0.1:1", "203.0.113.9:65535", "[fd00::1]:7", "[2001:db8::1]:7"]
        {
            assert!(is_admissible(at(text)), "{text}");
        }
    }

    #[test]
    fn private_networks_are_known() {
        let is_private = |text: &str| is_private(text.parse().unwrap());
        for text in
            ["192.168.1.2", "10.0.0.1", "172.16.0.1", "100.64.0.1", "100.127.9.9", "127.0.0.1", "fd00::1"]
        {
            assert!(is_private(text), "{text}");
        }
        for text in ["203.0.113.9", "100.128.0.1", "100.63.0.1", "172.32.0.1", "2001:db8::1"] {
            assert!(!is_private(text), "{text}");
        }
    }

    #[test]
    fn few_candidates_of_one_machine_and_none_of_our_servers() {
        let of = |text: &str| Candidate { kind: Kind::Host, addr: at(text) };
        let mut named: Vec<_> = (1..9).map(|port| of(&format!("192.0.2.1:{port}"))).collect();
        assert_eq!(theirs(&named, &[], false).len(), 2);
        named = vec![of("198.51.100.1:3478"), of("198.51.100.2:1"), of("198.51.100.2:1"), of("127.0.0.1:9")];
        assert_eq!(theirs(&named, &[at("198.51.100.1:3478")], false), [of("198.51.100.2:1")]);
        named = (1..99).map(|host| of(&format!("192.0.2.{host}:7"))).collect();
        assert_eq!(theirs(&named, &[], false).len(), MAX_CANDIDATES);
    }

    #[test]
    fn loopback_is_used_only_with_a_rendezvous_on_this_machine() {
        let of = |text: &str| Candidate { kind: Kind::Host, addr: at(text) };
        let named = [of("127.0.0.1:9"), of("127.0.0.1:0"), of("[::1]:9"), of("169.254.1.1:9")];
        assert_eq!(theirs(&named, &[], false), []);
        assert_eq!(theirs(&named, &[], true), [of("127.0.0.1:9"), of("[::1]:9")]);
    }
}
