//! All associations of a seal, found by number and by inner address without a look at each.

use super::access::AccessId;
use super::association::{Association, Peer};
use super::limits::RoleLimits;
use crate::protocol::PeerRole;
use crate::wire::seal::{InitHead, KEY_LEN, Pattern};
use std::net::SocketAddr;

/// The associations, and the addresses that were made up.
///
/// A place in the list holds until the next removal. Packets are more frequent than handshakes by far: the tables are sorted again
/// when an association comes or goes.
#[derive(Debug)]
pub(super) struct Associations {
    list: Vec<Association>,
    /// The places by number here.
    by_index: Vec<(u16, usize)>,
    /// The places by inner address.
    by_inner_addr: Vec<(SocketAddr, usize)>,
    made_up: u64,
    limits: RoleLimits,
}

/// Half-open guests of a match of two, and confirmed ones that the inner protocol does not keep.
const CAPACITY: usize = 64;

impl Associations {
    pub(super) fn new() -> Self {
        let list = Vec::with_capacity(CAPACITY);
        let (by_index, by_inner_addr) = (Vec::with_capacity(CAPACITY), Vec::with_capacity(CAPACITY));
        Self { list, by_index, by_inner_addr, made_up: 0, limits: RoleLimits::default() }
    }

    /// Sets the limits of a role by the number of guests that are expected, and returns those of all.
    pub(super) fn expect(&mut self, role: PeerRole, guests: u8) -> RoleLimits {
        self.limits.expect(role, guests);
        self.limits
    }

    /// An address of a role that was never used.
    pub(super) fn make_up(&mut self, role: PeerRole) -> SocketAddr {
        self.made_up += 1;
        role.inner_addr(self.made_up)
    }

    pub(super) fn add(&mut self, association: Association) -> usize {
        self.list.push(association);
        self.sort();
        self.list.len() - 1
    }

    pub(super) fn remove(&mut self, at: usize) -> Association {
        let removed = self.list.remove(at);
        self.sort();
        removed
    }

    /// Removes the others.
    pub(super) fn retain(&mut self, keeps: impl FnMut(&Association) -> bool) {
        self.list.retain(keeps);
        self.sort();
    }

    fn sort(&mut self) {
        self.by_index.clear();
        self.by_inner_addr.clear();
        let list = self.list.iter().enumerate();
        self.by_index.extend(list.clone().map(|(at, one)| (one.peer().index, at)));
        self.by_inner_addr.extend(list.map(|(at, one)| (one.peer().inner_addr, at)));
        self.by_index.sort_unstable();
        self.by_inner_addr.sort_unstable();
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Association> {
        self.list.iter()
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn position(&self, of: impl Fn(&Association) -> bool) -> Option<usize> {
        self.list.iter().position(of)
    }

    pub(super) fn get(&self, at: usize) -> Option<&Association> {
        self.list.get(at)
    }

    #[inline]
    pub(super) fn get_mut(&mut self, at: usize) -> Option<&mut Association> {
        self.list.get_mut(at)
    }

    /// The association with this number here.
    #[inline]
    pub(super) fn numbered(&self, index: u16) -> Option<usize> {
        match &self.list[..] {
            [only] => (only.peer().index == index).then_some(0),
            _ => self.search_index(index),
        }
    }

    fn search_index(&self, index: u16) -> Option<usize> {
        let found = self.by_index.binary_search_by_key(&index, |(index, _)| *index).ok()?;
        Some(self.by_index[found].1)
    }

    /// The association that a packet of the inner protocol to this address goes out on: one that waits for an answer, or
    /// else the one on which something was opened last.
    #[inline]
    pub(super) fn towards(&self, inner_addr: SocketAddr) -> Option<usize> {
        match &self.list[..] {
            [only] if only.peer().inner_addr == inner_addr => Some(0),
            _ => self.search_inner_addr(inner_addr),
        }
    }

    fn search_inner_addr(&self, inner_addr: SocketAddr) -> Option<usize> {
        let from = self.by_inner_addr.partition_point(|(known, _)| *known < inner_addr);
        let places = self.by_inner_addr[from..].iter().take_while(|(known, _)| *known == inner_addr);
        let found = places.map(|(_, at)| (*at, &self.list[*at]));
        let rank = |one: &Association| (one.awaits_answer(), one.is_confirmed(), one.contact().opened_at());
        found.max_by_key(|(_, one)| rank(one)).map(|(at, _)| at)
    }

    /// The guest of an INIT to one of our keys that comes again.
    pub(super) fn of_init(&self, access: AccessId, ephemeral: &[u8; KEY_LEN]) -> Option<&Association> {
        let is_it = |peer: &Peer| peer.access == Some(access) && peer.ephemeral == *ephemeral;
        self.list.iter().find(|one| is_it(one.peer()))
    }

    /// Whether the guest of an INIT is confirmed already. Its connection is never replaced by another handshake.
    pub(super) fn has_confirmed(&self, head: &InitHead, access: AccessId, from: Option<SocketAddr>) -> bool {
        self.list.iter().any(|one| one.is_confirmed() && one.is_guest(head, access, from))
    }

    /// The inner address of a guest that has sent another INIT before. By signalling each INIT but the first has its own, because it gets
    /// an answer of its own.
    pub(super) fn inner_addr_of(
        &self,
        head: &InitHead,
        access: AccessId,
        from: Option<SocketAddr>,
    ) -> Option<SocketAddr> {
        let is_signalled = |addr| {
            let has =
                |one: &Association| one.peer().inner_addr == addr && one.peer().pattern == Pattern::Signal;
            self.list.iter().any(has)
        };
        let known = self.list.iter().find(|one| one.is_guest(head, access, from))?.peer().inner_addr;
        (from.is_some() || !is_signalled(known)).then_some(known)
    }

    /// Whether a peer at this inner address was there and nothing says that it is gone.
    pub(super) fn holds(&self, inner_addr: SocketAddr) -> bool {
        self.list.iter().any(|one| one.peer().inner_addr == inner_addr && one.holds())
    }

    /// Whether the inner protocol knows of as many other guests in this role as it may that are only reached.
    pub(super) fn is_busy(&self, inner_addr: SocketAddr, role: PeerRole) -> bool {
        let reached = |one: &&Association| {
            one.is_known() && one.is_reached(role) && one.peer().inner_addr != inner_addr
        };
        self.list.iter().filter(reached).count() >= self.limits.of(role).reached()
    }

    /// Whether no more guests in this role may be added by signalling that are only reached.
    pub(super) fn is_full_by_signal(&self, role: PeerRole) -> bool {
        let reached = |one: &&Association| one.peer().pattern == Pattern::Signal && one.is_reached(role);
        self.list.iter().filter(reached).count() >= self.limits.of(role).half_open_by_signal()
    }

    /// Whether so many confirmed guests in this role that the inner protocol does not keep are too many.
    pub(super) fn are_too_many(&self, unkept: usize, role: PeerRole) -> bool {
        unkept >= self.limits.of(role).unkept()
    }

    /// A key was revoked: its guests that are not confirmed expire.
    pub(super) fn revoke(&mut self, access: AccessId) {
        self.list.iter_mut().for_each(|one| one.revoke(access));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::time::{Span, Time};

    fn addr(port: u16) -> SocketAddr {
        ([192, 0, 2, 7], port).into()
    }

    fn association(index: u16, inner_addr: u16) -> Association {
        Association::fake(addr(inner_addr), index, PeerRole::Player)
    }

    #[test]
    fn association_heard_last_is_used() {
        let mut associations = Associations::new();
        for (index, opened_at) in [5, 9, 3].into_iter().enumerate() {
            let one = association(index as u16, 100).heard_at(Time::ZERO + Span::from_millis(opened_at));
            assert_eq!(associations.add(one), index);
        }
        assert_eq!(associations.towards(addr(100)), Some(1));
        assert_eq!(associations.towards(addr(1)), None);
    }

    #[test]
    fn associations_are_found_after_others_come_and_go() {
        let mut associations = Associations::new();
        let index = |number: u16| number.wrapping_mul(40_503);
        for number in 0..255 {
            associations.add(association(index(number), number));
        }
        for number in (0..255).step_by(3) {
            let at = associations.numbered(index(number)).unwrap();
            assert_eq!(associations.remove(at).peer().index, index(number));
        }
        for number in 0..255 {
            let found = [associations.numbered(index(number)), associations.towards(addr(number))];
            let places = found.map(|at| at.and_then(|at| associations.get(at)).map(|one| one.peer().index));
            assert_eq!(places, [(number % 3 != 0).then(|| index(number)); 2]);
        }
    }
}
