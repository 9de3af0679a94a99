//! Addresses as people write them: with and without a port, with and without brackets, or as a name.

use crate::quoted;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, ToSocketAddrs};

/// The address that a player names, with `port` if none is said.
///
/// # Errors
/// If it is no address and no name that is known, in words for the player.
pub fn resolve(text: &str, port: u16) -> Result<SocketAddr, String> {
    let (name, port) = match read(text, port)? {
        Named::Address(addr) => return Ok(addr),
        Named::Host(name, port) => (name, port),
    };
    let found = (name.as_str(), port).to_socket_addrs();
    let mut found: Vec<_> = found.map_err(|error| unknown(text, &error))?.collect();
    // Where a name has both, most hosts at home are reached by IPv4.
    found.sort_by_key(SocketAddr::is_ipv6);
    found.first().copied().ok_or_else(|| format!("{} has no address", quoted(text)))
}

/// A name that is not known, with the system's reason but without its preamble.
fn unknown(text: &str, error: &std::io::Error) -> String {
    let error = error.to_string();
    let reason = error.rsplit(": ").next().unwrap_or(&error);
    format!(
        "{} is not found. Is the name spelled right, and is this machine online? ({reason})",
        quoted(text)
    )
}

/// An address, or a name to be looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Named {
    Address(SocketAddr),
    Host(String, u16),
}

/// Reads an address without looking anything up.
///
/// # Errors
/// If it cannot be one.
pub fn read(text: &str, port: u16) -> Result<Named, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err("no address is given: 192.168.1.5, a name, or [2001:db8::7]:7000".to_owned());
    }
    if let Ok(addr) = text.parse::<SocketAddr>() {
        return Ok(Named::Address(addr));
    }
    if let Ok(ip) = text.parse::<Ipv6Addr>() {
        // `::1:7000` is an address too, and hardly ever the one that was meant.
        return match misread(text, port) {
            Some((ip, port)) => Err(format!(
                "'{text}' may be an address or an address with a port: write [{ip}]:{port}, or [{text}] if it is all address"
            )),
            None => Ok(Named::Address((ip, port).into())),
        };
    }
    if let Some(inside) = text.strip_prefix('[') {
        return bracketed(text, inside, port);
    }
    if let Ok(ip) = text.parse::<IpAddr>() {
        return Ok(Named::Address((ip, port).into()));
    }
    match text.rsplit_once(':') {
        Some((name, _)) if name.contains(':') => {
            Err(format!("{} is no IPv6 address; with a port it is written [2001:db8::7]:7000", quoted(text)))
        }
        Some(("", _)) => Err(format!("{} names a port, but no host", quoted(text))),
        Some((name, number)) => Ok(Named::Host(name.to_owned(), port_of(text, number)?)),
        None => Ok(Named::Host(text.to_owned(), port)),
    }
}

/// An IPv6 address in brackets, with or without a port after them; `inside` begins behind the first bracket.
fn bracketed(text: &str, inside: &str, port: u16) -> Result<Named, String> {
    let Some((ip, rest)) = inside.split_once(']') else {
        return Err(format!("{} has no closing bracket", quoted(text)));
    };
    let ip: Ipv6Addr = ip
        .parse()
        .map_err(|_| format!("{} is no IPv6 address, and brackets are for those alone", quoted(ip)))?;
    let port = match rest.strip_prefix(':') {
        Some(number) => port_of(text, number)?,
        None if rest.is_empty() => port,
        None => return Err(format!("{} goes on after its bracket with {}", quoted(text), quoted(rest))),
    };
    Ok(Named::Address((ip, port).into()))
}

fn port_of(text: &str, number: &str) -> Result<u16, String> {
    number
        .parse()
        .map_err(|_| format!("{} in {} is no port: ports are 0 to 65535", quoted(number), quoted(text)))
}

/// The other reading of an IPv6 address that ends like an address and a port.
fn misread(text: &str, usual_port: u16) -> Option<(Ipv6Addr, u16)> {
    let (ip, number) = text.rsplit_once(':')?;
    let (ip, port): (Ipv6Addr, u16) = (ip.parse().ok()?, number.parse().ok()?);
    // Any other group of digits is one of an ordinary address.
    let was_meant = port == usual_port || (ip.is_loopback() && port >= 1_024);
    was_meant.then_some((ip, port))
}
