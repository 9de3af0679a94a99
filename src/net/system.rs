//! Small questions to the operating system: names, and a point of its clock.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};

/// Turns `host:port`, or `host` alone with this port, into an address. Blocks while the name is looked up.
///
/// # Errors
/// A name that nobody knows, or that has no address.
pub(crate) fn resolve(text: &str, port: u16) -> io::Result<SocketAddr> {
    let none = || io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    if let Ok(ip) = bare.parse() {
        return Ok(SocketAddr::new(ip, port));
    }
    let has_port = text.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let found = if has_port { text.to_socket_addrs()? } else { (text, port).to_socket_addrs()? };
    preferred(found).ok_or_else(none)
}

/// The address of a name to use. Of a name with both families it is one of IPv4, which more home networks reach.
fn preferred(found: impl Iterator<Item = SocketAddr>) -> Option<SocketAddr> {
    found.min_by_key(SocketAddr::is_ipv6)
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
    fn first_ipv4_address_of_a_name_is_preferred() {
        let addrs = ["[2001:db8::1]:7", "192.0.2.1:7", "192.0.2.2:7"].map(|addr| addr.parse().unwrap());
        assert_eq!(preferred(addrs.into_iter()), Some(addrs[1]));
        assert_eq!(preferred(addrs[..1].iter().copied()), Some(addrs[0]));
        assert_eq!(preferred([].into_iter()), None);
    }
}
