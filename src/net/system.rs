//! Small questions to the operating system: names, and a point of its clock.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

/// The addresses of each family of a name that are used.
const MAX_OF_A_FAMILY: usize = 2;

/// The address of a server to use, and those to use too if it does not answer.
pub(crate) type Servers = (SocketAddr, Vec<SocketAddr>);

/// Turns `host:port`, or `host` alone with this port, into an address. Blocks while the name is looked up.
///
/// # Errors
/// A name that nobody knows, or that has no address.
pub(crate) fn resolve(text: &str, port: u16) -> io::Result<SocketAddr> {
    resolve_all(text, port).map(|(first, _)| first)
}

/// Turns `host:port`, or `host` alone with this port, into all addresses. Blocks while the name is looked up.
///
/// # Errors
/// A name that nobody knows, or that has no address.
pub(crate) fn resolve_all(text: &str, port: u16) -> io::Result<Servers> {
    #[cfg(all(feature = "browser", target_family = "wasm"))]
    if let Some(addr) = in_page(host_and_port(text, port)) {
        return Ok((addr, Vec::new()));
    }
    let none = || io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    let mut found = preferred(host_and_port(text, port).to_socket_addrs()?).into_iter();
    Ok((found.next().ok_or_else(none)?, found.collect()))
}

/// The address of a server for a page, which looks up no names: its browser does. One with a name in the invite needs none.
#[cfg(all(feature = "browser", target_family = "wasm"))]
fn in_page((host, port): (&str, u16)) -> Option<SocketAddr> {
    let made_up = std::net::Ipv6Addr::new(0x0100, 0, 0, 2, 0, 0, 0, 0);
    match host {
        "localhost" => Some(SocketAddr::from(([127, 0, 0, 1], port))),
        _ if host.parse::<IpAddr>().is_err() && host.contains('.') => Some(SocketAddr::from((made_up, port))),
        _ => None,
    }
}

/// The two parts of `host:port`, or `host` alone with this port. The brackets of an address are left out.
pub(crate) fn host_and_port(text: &str, port: u16) -> (&str, u16) {
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    if bare.parse::<IpAddr>().is_ok() {
        return (bare, port);
    }
    let named = text.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse().ok()?)));
    named.map_or((text, port), |(host, port)| (host.trim_matches(['[', ']']), port))
}

/// The addresses of a name to use, the best first: those of IPv4, which more home networks reach.
fn preferred(found: impl Iterator<Item = SocketAddr>) -> Vec<SocketAddr> {
    let (v6, v4): (Vec<_>, Vec<_>) = found.partition(SocketAddr::is_ipv6);
    [v4, v6].into_iter().flat_map(|family| family.into_iter().take(MAX_OF_A_FAMILY)).collect()
}

/// The seconds since 1970 (UTC); `None` if the system does not say.
pub(crate) fn unix_seconds() -> Option<u64> {
    #[cfg(not(target_family = "wasm"))]
    return std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .ok()
        .map(|since| since.as_secs());
    #[cfg(target_family = "wasm")]
    None
}

/// The point of the system's clock that stands for time zero of a search for paths.
#[cfg(feature = "nat")]
pub(crate) fn clock_origin() -> std::time::Instant {
    std::time::Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_resolve_with_and_without_port() {
        for (text, addr) in [
            ("192.0.2.1", "192.0.2.1:3479"),
            ("192.0.2.1:7", "192.0.2.1:7"),
            ("2001:db8::1", "[2001:db8::1]:3479"),
            ("[2001:db8::1]", "[2001:db8::1]:3479"),
            ("[2001:db8::1]:7", "[2001:db8::1]:7"),
        ] {
            assert_eq!(resolve(text, 3479).unwrap(), addr.parse().unwrap(), "{text}");
        }
        assert!(resolve("", 1).is_err());
    }

    #[test]
    fn name_of_a_server_has_no_port() {
        for (text, parts) in [
            ("play.example.org", ("play.example.org", 9)),
            ("play.example.org:3479", ("play.example.org", 3479)),
            ("192.0.2.1:7", ("192.0.2.1", 7)),
            ("192.0.2.1", ("192.0.2.1", 9)),
            ("2001:db8::1", ("2001:db8::1", 9)),
            ("[2001:db8::1]", ("2001:db8::1", 9)),
            ("[2001:db8::1]:7", ("2001:db8::1", 7)),
        ] {
            assert_eq!(host_and_port(text, 9), parts);
        }
    }

    #[test]
    fn ipv4_addresses_of_a_name_are_preferred() {
        let addrs = ["[2001:db8::1]:7", "192.0.2.1:7", "192.0.2.2:7"].map(|addr| addr.parse().unwrap());
        assert_eq!(preferred(addrs.into_iter()), [addrs[1], addrs[2], addrs[0]]);
        assert_eq!(preferred(addrs[..1].iter().copied()), addrs[..1]);
        assert_eq!(preferred([].into_iter()), []);
        let many =
            (1..=9).flat_map(|n| [([192, 0, 2, n], 7).into(), ([0, 0, 0, 0, 0, 0, 0, 1], n.into()).into()]);
        assert_eq!(preferred(many).len(), 4);
    }
}
