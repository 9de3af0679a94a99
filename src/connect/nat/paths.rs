//! Paths: the ways of a datagram between this machine and another, and the addresses under which the seal knows them.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// The way of a datagram: from our socket, or from our allocation on the relay, to a remote address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Path {
    pub(super) relayed: bool,
    pub(super) remote: SocketAddr,
}

/// The most remote addresses behind our relay that are known at once.
const MAX_RELAYED: usize = 24;
/// The network of made-up addresses: beside `100::/64`, which discards everything.
const PREFIX: [u16; 4] = [0x0100, 0, 0, 1];

/// The made-up addresses of the paths through our relay. Paths through our socket have their remote address.
#[derive(Debug, Default)]
pub(super) struct PathTable {
    /// The newest use last.
    entries: Vec<Entry>,
    /// How many addresses were ever made up.
    count: u64,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    remote: SocketAddr,
    addr: SocketAddr,
}

/// Whether an address is one that a table may have made up.
#[inline]
pub(super) fn is_made_up(addr: SocketAddr) -> bool {
    match addr.ip() {
        IpAddr::V6(ip) => ip.segments()[..4] == PREFIX,
        IpAddr::V4(_) => false,
    }
}

impl PathTable {
    /// The address for a path. If the table is full, the entry that was used least recently makes room, unless
    /// `is_used` says that a connection uses it; `None` if they all are.
    pub(super) fn addr(&mut self, path: Path, is_used: impl Fn(SocketAddr) -> bool) -> Option<SocketAddr> {
        if !path.relayed {
            return Some(path.remote);
        }
        if let Some(at) = self.entries.iter().position(|entry| entry.remote == path.remote) {
            let entry = self.entries.remove(at);
            self.entries.push(entry);
            return Some(entry.addr);
        }
        if self.entries.len() == MAX_RELAYED {
            let unused = self.entries.iter().position(|entry| !is_used(entry.addr))?;
            self.entries.remove(unused);
        }
        self.count += 1;
        let [a, b, c, d] = PREFIX;
        let number = self.count.to_be_bytes();
        let part = |at: usize| u16::from_be_bytes([number[at], number[at + 1]]);
        let ip = Ipv6Addr::new(a, b, c, d, part(0), part(2), part(4), part(6));
        let addr = SocketAddr::from((ip, 1));
        self.entries.push(Entry { remote: path.remote, addr });
        Some(addr)
    }

    /// The path of an address that the seal sends to; `None` for a made-up address that is no more.
    #[inline]
    pub(super) fn path(&self, addr: SocketAddr) -> Option<Path> {
        if !is_made_up(addr) {
            return Some(Path { relayed: false, remote: addr });
        }
        let entry = self.entries.iter().find(|entry| entry.addr == addr)?;
        Some(Path { relayed: true, remote: entry.remote })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relayed(port: u16) -> Path {
        Path { relayed: true, remote: ([192, 0, 2, 1], port).into() }
    }

    #[test]
    fn path_through_the_socket_is_its_remote_address() {
        let path = Path { relayed: false, ..relayed(7) };
        assert_eq!(PathTable::default().addr(path, |_| false), Some(path.remote));
        assert_eq!(PathTable::default().path(path.remote), Some(path));
    }

    #[test]
    fn address_is_found_again_and_never_used_twice() {
        let mut table = PathTable::default();
        let first = table.addr(relayed(1), |_| false).unwrap();
        assert_eq!(table.path(first), Some(relayed(1)));
        assert_eq!(table.addr(relayed(1), |_| false), Some(first));
        for port in 2..=MAX_RELAYED as u16 + 1 {
            assert_ne!(table.addr(relayed(port), |_| false), Some(first));
        }
        assert_eq!(table.path(first), None, "the least recently used one has made room");
        assert_ne!(table.addr(relayed(1), |_| false), Some(first));
    }

    #[test]
    fn path_that_was_used_again_is_not_the_first_to_make_room() {
        let mut table = PathTable::default();
        let addr: Vec<_> =
            (1..=MAX_RELAYED as u16).map(|port| table.addr(relayed(port), |_| false).unwrap()).collect();
        table.addr(relayed(1), |_| false);
        table.addr(relayed(99), |_| false);
        assert_eq!((table.path(addr[0]), table.path(addr[1])), (Some(relayed(1)), None));
    }

    #[test]
    fn path_in_use_makes_no_room() {
        let mut table = PathTable::default();
        let used = table.addr(relayed(1), |_| false).unwrap();
        for port in 2..100 {
            assert!(table.addr(relayed(port), |addr| addr == used).is_some());
        }
        assert_eq!(table.path(used), Some(relayed(1)));
        assert_eq!(table.addr(relayed(200), |_| true), None);
        assert_eq!(table.entries.len(), MAX_RELAYED);
    }
}
