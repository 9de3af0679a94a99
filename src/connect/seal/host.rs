//! The host's side of the sealed handshake: its keys, each of which admits guests in one role.

use super::access::{Access, AccessId, Admission};
use super::limits::RoleLimits;
use super::random::{Random, Secret};
use super::rate_limiter::Waiting;
use super::tickets::Tickets;
use crate::protocol::PeerRole;
use crate::protocol::time::{Span, Time};
use crate::wire::seal::{KEY_LEN, Pattern};

/// The most keys of one host.
pub const MAX_KEYS: usize = 16;
/// A host reveals a part of a code at most this often: each code is one more guess for a man in the middle.
const REVEAL_AFTER: Span = Span::from_secs(10);

/// The host's side.
#[derive(Default)]
pub(super) struct Host {
    accesses: Vec<Access>,
    /// The number of the newest key.
    newest: Option<AccessId>,
    tickets: Tickets,
    limits: RoleLimits,
    /// Confirmed guests by address so far.
    guests: u32,
    /// When a code was revealed last.
    revealed_at: Option<Time>,
}

impl Host {
    /// Adds a key, and returns it. `None` if there are [`MAX_KEYS`] already, or this one is there.
    pub(super) fn add(
        &mut self,
        admission: Admission,
        secret: Secret,
        random: &mut Random,
    ) -> Option<&Access> {
        if self.accesses.len() >= MAX_KEYS {
            return None;
        }
        let id = self.newest.map_or(Some(AccessId::FIRST), AccessId::next)?;
        let mut access = Access::new(id, admission, secret, random);
        let is_known = access.invite_keys().is_some_and(|keys| self.keyed(&keys.public).is_some());
        if is_known {
            return None;
        }
        self.newest = Some(id);
        access.expect(self.limits.of(access.role()));
        self.accesses.push(access);
        self.accesses.last()
    }

    /// Removes a key, with the INITs that wait for it.
    pub(super) fn remove(&mut self, id: AccessId) {
        self.accesses.retain(|access| access.id() != id);
    }

    /// Sets the limits by the number of guests that are expected in each role.
    pub(super) fn expect(&mut self, limits: RoleLimits) {
        self.limits = limits;
        for access in &mut self.accesses {
            access.expect(limits.of(access.role()));
        }
    }

    pub(super) fn access(&self, id: AccessId) -> Option<&Access> {
        self.accesses.iter().find(|access| access.id() == id)
    }

    pub(super) fn access_mut(&mut self, id: AccessId) -> Option<&mut Access> {
        self.accesses.iter_mut().find(|access| access.id() == id)
    }

    /// The key of an invite, by its public half.
    pub(super) fn keyed(&self, public_key: &[u8; KEY_LEN]) -> Option<AccessId> {
        let is_it = |access: &&Access| access.invite_keys().is_some_and(|keys| keys.public == *public_key);
        self.accesses.iter().find(is_it).map(Access::id)
    }

    /// The oldest key of an invite whose guests have this role.
    pub(super) fn invite(&self, role: PeerRole) -> Option<&Access> {
        self.accesses.iter().find(|access| access.role() == role && access.invite_keys().is_some())
    }

    /// The key by which the sender of a REQUEST or INIT is admitted: that of its mac.
    pub(super) fn admits(&self, pattern: Pattern, datagram: &[u8]) -> Option<&Access> {
        self.accesses.iter().find(|access| access.admits(pattern, datagram))
    }

    /// The next INIT to work off at `now`, and the key that it was queued for.
    pub(super) fn next(&mut self, now: Time) -> Option<(AccessId, Waiting)> {
        self.accesses.iter_mut().find_map(|access| Some((access.id(), access.next(now)?)))
    }

    /// When the next INIT may be worked off that has to wait at `now`.
    pub(super) fn due(&self, now: Time) -> Time {
        self.accesses.iter().map(|access| access.due(now)).min().unwrap_or(Time::NEVER)
    }

    /// A new ticket. The one before it stays good.
    pub(super) fn renew_ticket(&mut self, ticket: u64) {
        self.tickets.renew(ticket);
    }

    /// A key, with the tickets that hold for all of them.
    pub(super) fn with_tickets(&mut self, id: AccessId) -> Option<(&mut Access, &Tickets)> {
        let access = self.accesses.iter_mut().find(|access| access.id() == id)?;
        Some((access, &self.tickets))
    }

    /// How many guests by address were confirmed before this one.
    pub(super) fn count_guest(&mut self) -> u32 {
        let before = self.guests;
        self.guests = before.saturating_add(1);
        before
    }

    /// Whether a code may be revealed again.
    pub(super) fn may_reveal(&self, now: Time) -> bool {
        self.revealed_at.is_none_or(|last| now.since(last) >= REVEAL_AFTER)
    }

    /// Notes that a code was revealed.
    pub(super) fn revealed(&mut self, now: Time) {
        self.revealed_at = Some(now);
    }
}
