//! The addresses of this machine as servers saw them. A NAT may show each server another one.

use crate::canonical;
use std::net::SocketAddr;

/// Where the rendezvous, or the STUN server of manual signalling, and the relay have seen this machine.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Observed {
    rendezvous: Option<SocketAddr>,
    relay: Option<SocketAddr>,
}

impl Observed {
    pub(super) fn rendezvous_saw(&mut self, addr: SocketAddr) {
        self.rendezvous = Some(canonical(addr));
    }

    /// The relay sees another address than before: the router has given this machine a new port, and what the rendezvous
    /// saw is old.
    pub(super) fn relay_saw(&mut self, addr: SocketAddr) {
        let addr = Some(canonical(addr));
        if self.relay.is_some() && self.relay != addr {
            self.rendezvous = None;
        }
        self.relay = addr;
    }

    /// Whether the router shows each server another port.
    pub(super) fn is_symmetric(&self) -> bool {
        self.rendezvous.zip(self.relay).is_some_and(|(one, two)| shows_two_ports([one, two].into_iter()))
    }

    /// Each address once.
    pub(super) fn addresses(&self) -> [Option<SocketAddr>; 2] {
        [self.rendezvous, self.relay.filter(|addr| Some(*addr) != self.rendezvous)]
    }
}

/// Whether two of the addresses under which servers have seen a machine are ports of one IP address.
pub(super) fn shows_two_ports(mut seen: impl Iterator<Item = SocketAddr> + Clone) -> bool {
    core::iter::from_fn(|| Some((seen.next()?, seen.clone())))
        .any(|(one, mut others)| others.any(|other| other.ip() == one.ip() && other != one))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    #[test]
    fn new_mapping_at_the_relay_voids_that_of_the_rendezvous() {
        let (old, new) = (at("203.0.113.9:7000"), at("203.0.113.9:7001"));
        let mut observed = Observed::default();
        observed.rendezvous_saw(old);
        observed.relay_saw(at("203.0.113.9:6000"));
        assert_eq!(
            observed.addresses(),
            [Some(old), Some(at("203.0.113.9:6000"))],
            "the first one voids nothing"
        );
        observed.relay_saw(new);
        assert_eq!(observed.addresses(), [None, Some(new)]);
        observed.relay_saw(new);
        observed.rendezvous_saw(new);
        assert_eq!(observed.addresses(), [Some(new), None], "one address is named once");
    }

    #[test]
    fn router_with_a_port_for_each_server_is_symmetric() {
        let seen_at = |relay: &str| {
            let mut observed = Observed::default();
            observed.rendezvous_saw(at("203.0.113.9:7000"));
            assert!(!observed.is_symmetric(), "one server");
            observed.relay_saw(at(relay));
            observed.is_symmetric()
        };
        assert!(seen_at("203.0.113.9:7001") && !seen_at("203.0.113.9:7000"));
        assert!(!seen_at("[2001:db8::9]:7001"), "two families have two ports");
    }

    #[test]
    fn mapped_ipv4_address_is_named_as_ipv4() {
        let (mapped, plain) = (at("[::ffff:203.0.113.9]:7000"), at("203.0.113.9:7000"));
        let mut observed = Observed::default();
        observed.rendezvous_saw(mapped);
        assert_eq!(observed.addresses(), [Some(plain), None]);
        observed.relay_saw(mapped);
        assert_eq!(observed.addresses(), [Some(plain), None]);
    }
}
