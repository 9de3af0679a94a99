//! The connections of a seal: which keys, which address outside, which address inside.

use super::channel::Channel;
use super::code::Comparison;
use super::noise::Handshake;
use crate::protocol::{ConnectionStep, PeerRole};
use crate::time::{Span, Time};
use crate::wire::seal::{KEY_LEN, Pattern};
use std::net::{Ipv6Addr, SocketAddr};

/// A handshake whose RESP waits for the inner protocol's answer.
#[derive(Debug)]
pub(super) struct Answering {
    pub(super) handshake: Handshake,
    /// The number of the connection at the joiner.
    pub(super) index: u16,
    /// Where the INIT came from.
    pub(super) to: SocketAddr,
    /// The length of the INIT; the RESP is shorter.
    pub(super) init_len: usize,
}

/// One connection.
#[derive(Debug)]
pub(super) struct Connection {
    /// The address that the inner protocol sees.
    pub(super) shown: SocketAddr,
    /// The address that packets go to.
    pub(super) real: SocketAddr,
    /// The number of the connection here.
    pub(super) index: u16,
    pub(super) pattern: Pattern,
    pub(super) role: PeerRole,
    /// The joiner's nonce.
    pub(super) nonce: u64,
    /// The joiner's ephemeral key, by which a repeated INIT is known.
    pub(super) ephemeral: [u8; KEY_LEN],
    pub(super) round_trip: Span,
    pub(super) since: Time,
    /// When a packet was opened last.
    pub(super) opened_at: Time,
    /// When a FIND may be sent next.
    pub(super) find_at: Time,
    /// Whether the inner protocol knows of it.
    pub(super) at_inner: bool,
    /// Whether DATA or a control packet of it was opened.
    pub(super) confirmed: bool,
    pub(super) answering: Option<Box<Answering>>,
    /// The keys, once the RESP is written or read.
    pub(super) channel: Option<Channel>,
    /// The RESP, for an INIT that comes again.
    pub(super) resp: Vec<u8>,
    pub(super) comparison: Comparison,
    /// Whether it is certain who the peer is: by invite always, by address once a player has compared the code.
    pub(super) verified: bool,
}

impl Connection {
    /// The step to tell the inner protocol of.
    pub(super) fn step(&self) -> ConnectionStep {
        let (round_trip, role) = (self.round_trip.into(), self.role);
        if self.confirmed {
            ConnectionStep::Confirmed { round_trip, role }
        } else {
            ConnectionStep::Reached { round_trip, role }
        }
    }

    /// Whether INITs of this nonce from this address are of the same guest. By address a nonce alone proves nothing: a
    /// watcher can repeat it.
    pub(super) fn is_guest(&self, pattern: Pattern, nonce: u64, from: SocketAddr) -> bool {
        self.role == PeerRole::Player
            && self.pattern == pattern
            && self.nonce == nonce
            && (pattern == Pattern::Invite || self.real == from)
    }
}

/// The connections of a seal, and the addresses that it has made up.
#[derive(Debug)]
pub(super) struct Connections {
    list: Vec<Connection>,
    made_up: u64,
}

/// Half-open guests and confirmed ones that nobody keeps, and a few besides.
const CAPACITY: usize = 48;

impl Connections {
    pub(super) fn new() -> Self {
        Self { list: Vec::with_capacity(CAPACITY), made_up: 0 }
    }

    /// An address that was never used, in the prefix of IPv6 whose datagrams the network discards.
    pub(super) fn make_up(&mut self) -> SocketAddr {
        self.made_up += 1;
        SocketAddr::from((Ipv6Addr::from(0x0100_u128 << 112 | u128::from(self.made_up)), 1))
    }

    pub(super) fn add(&mut self, connection: Connection) -> usize {
        self.list.push(connection);
        self.list.len() - 1
    }

    pub(super) fn remove(&mut self, at: usize) -> Connection {
        self.list.remove(at)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Connection> {
        self.list.iter()
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn position(&self, of: impl Fn(&Connection) -> bool) -> Option<usize> {
        self.list.iter().position(of)
    }

    #[inline]
    pub(super) fn get_mut(&mut self, at: usize) -> Option<&mut Connection> {
        self.list.get_mut(at)
    }

    /// The connection with this number here.
    #[inline]
    pub(super) fn numbered(&self, index: u16) -> Option<usize> {
        self.list.iter().position(|connection| connection.index == index)
    }

    /// The connection that a packet of the inner protocol to this address goes out on: one that waits for an answer, or
    /// else the one on which something was opened last.
    #[inline]
    pub(super) fn towards(&self, shown: SocketAddr) -> Option<usize> {
        match &self.list[..] {
            [only] if only.shown == shown => Some(0),
            _ => self.search(shown),
        }
    }

    fn search(&self, shown: SocketAddr) -> Option<usize> {
        let of = |(_, connection): &(usize, &Connection)| connection.shown == shown;
        let found = self.list.iter().enumerate().filter(of);
        found.max_by_key(|(_, one)| (one.answering.is_some(), one.confirmed, one.opened_at)).map(|(at, _)| at)
    }
}
