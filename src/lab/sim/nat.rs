//! A NAT: the outside addresses of the endpoints behind it, and the datagrams that it lets in.

use crate::lab::link::Seeded;
use std::net::{IpAddr, SocketAddr};

/// The kind of a NAT: which outside port an endpoint gets, and whose datagrams to that port are let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NatKind {
    /// One outside port for each endpoint behind it. Everybody may send to it.
    FullCone,
    /// One outside port for each endpoint behind it. A datagram is let in if the endpoint has sent to its source, address
    /// and port alike. Most routers at home are of this kind.
    PortRestricted,
    /// One outside port for each endpoint and each destination, which alone is let in there.
    Symmetric,
}

/// Why a NAT drops a datagram that comes from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dropped {
    /// Its port is not mapped, or no longer.
    Unmapped,
    /// Its port is mapped, and its source is not let in.
    Filtered,
}

/// The most mappings that are stored, forgotten ones included, and the most sources that one lets in. The oldest makes
/// room: a flood takes no memory.
const MAX_MAPPINGS: usize = 1_024;
const MAX_SOURCES: usize = 1_024;

/// The first port that is drawn.
const FIRST_PORT: u16 = 1_024;

/// An outside port of an endpoint.
#[derive(Clone, Debug)]
struct Mapping {
    endpoint: usize,
    port: u16,
    since: u64,
    /// The destinations that the endpoint has sent to, each with the time of the first datagram. Never empty.
    sources: Vec<(SocketAddr, u64)>,
}

#[derive(Clone, Debug)]
pub(super) struct Nat {
    kind: NatKind,
    outside: IpAddr,
    rng: Seeded,
    /// In the order in which they were made.
    mappings: Vec<Mapping>,
    /// When all mappings are forgotten.
    forgets_at: Vec<u64>,
}

impl Nat {
    pub(super) fn new(kind: NatKind, outside: IpAddr, rng: Seeded) -> Self {
        Self { kind, outside, rng, mappings: Vec::new(), forgets_at: Vec::new() }
    }

    pub(super) fn outside(&self) -> IpAddr {
        self.outside
    }

    pub(super) fn forget(&mut self, at: u64) {
        self.forgets_at.push(at);
    }

    /// Passes a datagram out, and returns the source address that it has outside. `port` is the inside port of the
    /// endpoint.
    pub(super) fn pass_out(&mut self, now: u64, endpoint: usize, port: u16, to: SocketAddr) -> SocketAddr {
        let symmetric = self.kind == NatKind::Symmetric;
        let fits =
            |mapping: &Mapping| mapping.endpoint == endpoint && (!symmetric || mapping.sources[0].0 == to);
        let found = self.mappings.iter().rposition(|mapping| fits(mapping) && self.is_alive(mapping, now));
        let index = found.unwrap_or_else(|| self.map(now, endpoint, port, to));
        let mapping = &mut self.mappings[index];
        if !mapping.sources.iter().rev().any(|(source, _)| *source == to) {
            push_bounded(&mut mapping.sources, (to, now), MAX_SOURCES);
        }
        SocketAddr::new(self.outside, mapping.port)
    }

    /// The endpoint that gets a datagram from outside to `port`.
    pub(super) fn let_in(&self, at: u64, from: SocketAddr, port: u16) -> Result<usize, Dropped> {
        let to_port = |mapping: &&Mapping| mapping.port == port && self.is_alive(mapping, at);
        let mapping = self.mappings.iter().rev().find(to_port).ok_or(Dropped::Unmapped)?;
        let known = mapping.sources.iter().rev().any(|(source, since)| *source == from && *since <= at);
        if known || self.kind == NatKind::FullCone { Ok(mapping.endpoint) } else { Err(Dropped::Filtered) }
    }

    /// The endpoint that has or had an outside port.
    pub(super) fn owner(&self, port: u16) -> Option<usize> {
        self.mappings.iter().rev().find(|mapping| mapping.port == port).map(|mapping| mapping.endpoint)
    }

    fn is_alive(&self, mapping: &Mapping, now: u64) -> bool {
        mapping.since <= now && !self.forgets_at.iter().any(|at| mapping.since < *at && *at <= now)
    }

    /// Makes a mapping, and returns its index. An endpoint keeps its inside port the first time, as most routers do it;
    /// a port that was used before is not given out again.
    fn map(&mut self, now: u64, endpoint: usize, port: u16, to: SocketAddr) -> usize {
        let mut port = port;
        while self.owner(port).is_some() {
            port = FIRST_PORT + self.rng.below(u64::from(u16::MAX - FIRST_PORT) + 1) as u16;
        }
        let mapping = Mapping { endpoint, port, since: now, sources: vec![(to, now)] };
        push_bounded(&mut self.mappings, mapping, MAX_MAPPINGS);
        self.mappings.len() - 1
    }
}

/// Appends an item, and removes the oldest if there are too many.
fn push_bounded<T>(items: &mut Vec<T>, item: T, max: usize) {
    if items.len() == max {
        items.remove(0);
    }
    items.push(item);
}
