//! The addresses under which others may reach this machine.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

/// One address in each network that machines are usually on: the internet (ranges reserved for documentation), the
/// private ranges and the like. Only the route to them is looked up; nothing is sent.
const PROBES: [IpAddr; 7] = [
    IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)),
    IpAddr::V4(Ipv4Addr::new(192, 168, 0, 1)),
    IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)),
    IpAddr::V4(Ipv4Addr::new(172, 16, 0, 1)),
    IpAddr::V4(Ipv4Addr::new(100, 64, 0, 1)),
    IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 1)),
];

/// The source addresses of this machine for the internet and the common private networks, each once, and those for the
/// internet first within their family.
///
/// Routes are looked up by connecting UDP sockets, which sends nothing. An interface that no such route uses is not
/// found, and whether a router or a firewall lets others in is not known. Empty on a machine without a network.
///
/// ```
/// for address in rebout::net::local_addresses() {
///     assert!(!address.is_loopback() && !address.is_unspecified());
/// }
/// ```
#[must_use]
pub fn local_addresses() -> Vec<IpAddr> {
    let mut found = Vec::new();
    for address in PROBES.into_iter().filter_map(source_toward) {
        if !found.contains(&address) {
            found.push(address);
        }
    }
    found
}

/// The source address of this machine for datagrams to `remote`, if there is a route.
fn source_toward(remote: IpAddr) -> Option<IpAddr> {
    let any: SocketAddr = match remote {
        IpAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        IpAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let socket = UdpSocket::bind(any).ok()?;
    // Connecting a UDP socket only sets its destination, and sends nothing. Port 9 is "discard".
    socket.connect((remote, 9)).ok()?;
    let address = socket.local_addr().ok()?.ip();
    (!address.is_loopback() && !address.is_unspecified()).then_some(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_was_found_can_be_bound_to_and_is_named_once() {
        let found = local_addresses();
        for (index, address) in found.iter().enumerate() {
            assert!(UdpSocket::bind((*address, 0)).is_ok(), "{address} is not of this machine");
            assert!(!found[..index].contains(address), "{address} twice in {found:?}");
        }
    }

    #[test]
    fn the_way_to_this_machine_itself_is_no_address_for_others() {
        assert_eq!(source_toward(Ipv4Addr::LOCALHOST.into()), None);
    }
}
