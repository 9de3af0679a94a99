//! The addresses under which others may reach this machine.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

/// One address of the internet in each family, from the ranges reserved for documentation. Only the route to them is
/// looked up; nothing is sent.
const PROBES: [IpAddr; 2] =
    [IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1))];

/// The addresses of this machine's interfaces, each once, the likeliest to be reached first.
///
/// The source addresses of the default routes come first, then those of all other interfaces that are up, and IPv4
/// addresses of link-local networks (169.254/16) last. Loopback is left out, and so are link-local IPv6 addresses, which mean
/// nothing without the name of an interface on the other machine. Whether a router or a firewall lets others in is not
/// known. Empty on a machine without a network.
///
/// ```
/// for address in rebout::net::local_addresses() {
///     assert!(!address.is_loopback() && !address.is_unspecified());
/// }
/// ```
#[must_use]
pub fn local_addresses() -> Vec<IpAddr> {
    let routed = PROBES.into_iter().filter_map(source_toward);
    // A system that does not list its interfaces may still have a default route.
    let interfaces = if_addrs::get_if_addrs().unwrap_or_default();
    let listed =
        interfaces.into_iter().filter(if_addrs::Interface::is_oper_up).map(|interface| interface.ip());
    ranked(routed.chain(listed))
}

/// The addresses that can be given to others, each once, with link-local ones last.
fn ranked(found: impl Iterator<Item = IpAddr>) -> Vec<IpAddr> {
    let mut addresses = Vec::new();
    for address in found.filter(is_reachable) {
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    // The sort is stable: everything else stays in its order.
    addresses.sort_by_key(|address| matches!(address, IpAddr::V4(ip) if ip.is_link_local()));
    addresses
}

/// Whether another machine can do anything with this address.
fn is_reachable(address: &IpAddr) -> bool {
    let needs_an_interface = matches!(address, IpAddr::V6(ip) if ip.is_unicast_link_local());
    !address.is_loopback() && !address.is_unspecified() && !address.is_multicast() && !needs_an_interface
}

/// The source address of this machine for datagrams to `remote`, if there is a route.
pub(super) fn source_toward(remote: IpAddr) -> Option<IpAddr> {
    let any: SocketAddr = match remote {
        IpAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        IpAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let socket = UdpSocket::bind(any).ok()?;
    // Connecting a UDP socket only sets its destination, and sends nothing. Port 9 is "discard".
    socket.connect((remote, 9)).ok()?;
    Some(socket.local_addr().ok()?.ip())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_that_was_found_can_be_bound_to_and_is_named_once() {
        let found = local_addresses();
        for (index, address) in found.iter().enumerate() {
            assert!(UdpSocket::bind((*address, 0)).is_ok(), "{address} is not of this machine");
            assert!(!found[..index].contains(address), "{address} twice in {found:?}");
        }
    }

    #[test]
    fn every_interface_that_is_up_is_listed() {
        let found = local_addresses();
        let interfaces = if_addrs::get_if_addrs().expect("this system lists its interfaces");
        for interface in interfaces.iter().filter(|interface| interface.is_oper_up()) {
            let address = interface.ip();
            assert_eq!(found.contains(&address), is_reachable(&address), "{address} in {found:?}");
        }
    }

    #[test]
    fn routed_addresses_come_before_link_local_ones() {
        let found = [
            "192.168.1.4",
            "fd99::1",
            "169.254.7.7",
            "127.0.0.1",
            "::1",
            "fe80::1",
            "192.168.1.4",
            "10.9.0.1",
        ];
        let ranked = ranked(found.iter().map(|text| text.parse().expect("an address")));
        let texts: Vec<_> = ranked.iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["192.168.1.4", "fd99::1", "10.9.0.1", "169.254.7.7"]);
    }
}
