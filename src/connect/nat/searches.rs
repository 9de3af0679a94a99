//! The searches for all peers: how many there are, and how much they send.

use super::budget::Budget;
use super::paths::Path;
use super::search::Search;
use crate::connect::seal::Seal;
use crate::protocol::time::{Span, Time};
use crate::protocol::{PeerRole, trace};
use std::net::{IpAddr, SocketAddr};

/// Peers that are searched for at once: at least, and at most.
const MIN_SEARCHES: usize = 8;
const MAX_SEARCHES: usize = 64;

/// How often a peer is looked at.
const LOOK: Span = Span::from_millis(50);
/// A search without a path makes room for another after this long.
const HAD_TIME: Span = Span::from_secs(2);
/// A connected peer of which nothing was decrypted for this long is gone, if the session has sent nothing for as long either: one that
/// waits for the peer sends all the time.
const GONE: Span = Span::from_secs(10);
/// Nothing was decrypted for so long that no path works.
const CUT_OFF: Span = Span::from_secs(1);
/// The relay is asked again for an allocation that was refused, or not answered, after this long, which doubles.
const ASK_AFTER: Span = Span::from_secs(1);
/// A new search begins at most this often.
const RESTART_AFTER: Span = Span::from_secs(1);
/// A host without a guest is idle after so long.
const IDLE: Span = Span::from_secs(20);

/// The searches, the newest last.
#[derive(Debug)]
pub(super) struct Searches {
    list: Vec<Search>,
    max: Max,
    budget: Budget,
    restart_at: Time,
    /// When the relay may be asked again, and how long after that the next time.
    ask: (Time, Span),
    /// Since when there has been no search.
    empty_since: Option<Time>,
}

/// How many peers are searched for at once: spectators never take the places of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Max {
    spectators: usize,
    others: usize,
}

/// Whether the peer at this inner address is a spectator.
pub(super) fn watches(inner: SocketAddr) -> bool {
    PeerRole::of_guest(inner) == PeerRole::Spectator
}

/// How long nothing was decrypted from a peer or sent to it; `None` if the seal does not know it any more.
fn idle(now: Time, seal: &Seal, search: &Search) -> Option<Span> {
    seal.idle_for(now.into(), search.inner()).map(Span::from)
}

/// Whether no path to a peer works, or none was found yet, although there are keys.
pub(super) fn is_cut_off(now: Time, seal: &Seal, search: &Search) -> bool {
    let is_silent = |silent| silent >= CUT_OFF || seal.outer_addr(search.inner()).is_none();
    seal.silent_for(now.into(), search.inner()).map(Span::from).is_some_and(is_silent)
}

/// Whether a peer is gone.
pub(super) fn is_gone(now: Time, seal: &Seal, search: &Search) -> bool {
    idle(now, seal, search).is_some_and(|idle| idle >= GONE)
}

impl Searches {
    /// No searches yet, of a machine that expects this many guests, and no spectators.
    pub(super) fn new(guests: u8) -> Self {
        let max = Max { others: usize::from(guests).clamp(MIN_SEARCHES, MAX_SEARCHES), spectators: 0 };
        let (list, budget, ask) = (Vec::new(), Budget::default(), (Time::ZERO, ASK_AFTER));
        Self { list, max, budget, restart_at: Time::ZERO, ask, empty_since: None }
    }

    /// Sets how many spectators may be searched for too.
    pub(super) fn expect_spectators(&mut self, spectators: u8) {
        self.max.spectators = usize::from(spectators).min(MAX_SEARCHES);
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Search> {
        self.list.iter_mut()
    }

    /// The search for a peer.
    pub(super) fn of(&self, inner: SocketAddr) -> Option<&Search> {
        self.list.iter().rfind(|search| search.inner() == inner)
    }

    pub(super) fn of_mut(&mut self, inner: SocketAddr) -> Option<&mut Search> {
        self.list.iter_mut().find(|search| search.inner() == inner)
    }

    pub(super) fn newest_mut(&mut self) -> Option<&mut Search> {
        self.list.last_mut()
    }

    /// The search that a player is told of: the newest with a path, or else the newest that has begun. Those for spectators are
    /// none of their business.
    pub(super) fn foremost(&self) -> Option<&Search> {
        let others = || self.list.iter().filter(|search| !watches(search.inner()));
        let connected = others().rfind(|search| search.is_connected());
        connected.or_else(|| others().rfind(|search| search.began_at().is_some()))
    }

    pub(super) fn add(&mut self, search: Search) {
        self.ask = (Time::ZERO, ASK_AFTER);
        self.list.push(search);
    }

    /// Searches for a peer no longer.
    pub(super) fn remove(&mut self, inner: SocketAddr) {
        self.list.retain(|search| search.inner() != inner);
    }

    /// Searches for this peer alone.
    pub(super) fn replace(&mut self, search: Search) {
        self.list = vec![search];
    }

    /// Whether there is room for the guest at this inner address, besides those that wait. One of the same role that was searched for
    /// without a path for a while makes room, or the one whose connection is idle for longest.
    pub(super) fn make_room(
        &mut self,
        now: Time,
        seal: &Seal,
        guest: SocketAddr,
        waiting: impl Iterator<Item = SocketAddr>,
    ) -> bool {
        let is_alike = |inner: &SocketAddr| watches(*inner) == watches(guest);
        let max = if watches(guest) { self.max.spectators } else { self.max.others };
        let searched = self.list.iter().map(Search::inner);
        if searched.chain(waiting).filter(is_alike).count() < max {
            return true;
        }
        let silent = |search: &Search| match search.is_connected() {
            true => idle(now, seal, search).filter(|idle| *idle >= GONE),
            false => Some(now.since(search.since())).filter(|searched| *searched >= HAD_TIME),
        };
        let alike = self.list.iter().enumerate().filter(|(_, search)| is_alike(&search.inner()));
        let candidates = alike.filter_map(|(at, search)| Some((silent(search)?, at)));
        let oldest = candidates.max().map(|(_, at)| at);
        oldest.map(|at| self.list.remove(at)).is_some()
    }

    /// Ends the searches for guests that are gone. A joiner has one host only, and keeps its search.
    pub(super) fn leave_guests(&mut self, now: Time, seal: &mut Seal) {
        let host = seal.target();
        let is_gone = |search: &mut Search| match idle(now, seal, search) {
            _ if host == Some(search.inner()) => false,
            Some(idle) => search.is_connected() && idle >= GONE,
            None => true,
        };
        for search in self.list.extract_if(.., is_gone).collect::<Vec<_>>() {
            seal.set_fallbacks(search.inner(), &[]);
        }
    }

    /// The search whose data channel is on this path.
    pub(super) fn tunnelled(&mut self, path: Path) -> Option<&mut Search> {
        let mut known = self.list.iter_mut().filter(|search| search.channel().tunnel().is_some());
        known.find(|search| search.checks().knows(path))
    }

    /// The search whose tunnel has this address.
    pub(super) fn of_tunnel(&mut self, addr: SocketAddr) -> Option<&mut Search> {
        let has_it = |search: &&mut Search| search.channel().tunnel().is_some_and(|one| one.addr() == addr);
        self.list.iter_mut().find(has_it)
    }

    /// Takes a STUN message that came on a path. `false` if it belongs to no search.
    pub(super) fn handle(&mut self, now: Time, path: Path, datagram: &[u8]) -> bool {
        self.list.iter_mut().any(|search| search.checks_mut().handle(now, path, datagram))
    }

    /// Hands each message that is due to `send`. Returns how many were not sent, because a machine has had too many checks or
    /// because `send` could not. `relay` is the address of our relay, if we have one on it.
    pub(super) fn transmit(
        &mut self,
        now: Time,
        relay: Option<IpAddr>,
        mut send: impl FnMut(Path, Vec<u8>) -> bool,
    ) -> u64 {
        let mut unsent = 0;
        for search in &mut self.list {
            while let Some((path, message, is_unproven)) = search.poll_transmit(now) {
                let ip = path.remote.ip();
                let may_check = |budget: &mut Budget| match path.relayed && relay == Some(ip) {
                    true => budget.allows_on_relay(now),
                    false => budget.allows(now, ip),
                };
                if is_unproven && !may_check(&mut self.budget) {
                    trace::exhausted("checks", &ip);
                    unsent += 1;
                } else if !send(path, message) {
                    unsent += 1;
                }
            }
        }
        unsent
    }

    /// A search that is to begin again, at most one in each `RESTART_AFTER`.
    pub(super) fn take_outdated(
        &mut self,
        now: Time,
        is_outdated: impl Fn(&Search) -> bool,
    ) -> Option<&mut Search> {
        let search = self.list.iter_mut().find(|search| is_outdated(search))?;
        if now < self.restart_at {
            return None;
        }
        self.restart_at = now + RESTART_AFTER;
        Some(search)
    }

    /// Whether the relay may be asked again for an allocation that it has not made.
    pub(super) fn may_ask(&mut self, now: Time) -> bool {
        let (ask_at, wait) = self.ask;
        if now >= ask_at {
            self.ask = (now + wait, wait * 2);
        }
        now >= ask_at
    }

    /// Whether there has been no search, and no guest `waiting`, for a while.
    pub(super) fn are_idle(&mut self, now: Time, waiting: usize) -> bool {
        if waiting > 0 || !self.list.is_empty() {
            self.empty_since = None;
            return false;
        }
        now >= *self.empty_since.get_or_insert(now) + IDLE
    }

    pub(super) fn deadline(&self, now: Time) -> Time {
        self.list.iter().map(Search::deadline).min().map_or(Time::NEVER, |at| at.min(now + LOOK))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_is_idle_a_while_after_its_last_guest() {
        let at = |secs| Time::ZERO + Span::from_secs(secs);
        let mut searches = Searches::new(1);
        assert!(
            !searches.are_idle(at(1), 0) && !searches.are_idle(at(20), 0) && searches.are_idle(at(21), 0)
        );
        assert!(!searches.are_idle(at(22), 1), "a guest waits for our relay");
        assert!(
            !searches.are_idle(at(30), 0) && !searches.are_idle(at(49), 0) && searches.are_idle(at(50), 0)
        );
    }

    #[test]
    fn server_searches_for_at_most_64_peers() {
        assert_eq!([1, 8, 12, 64, 200].map(|guests| Searches::new(guests).max.others), [8, 8, 12, 64, 64]);
        let spectators = |spectators| {
            let mut searches = Searches::new(1);
            searches.expect_spectators(spectators);
            searches.max.spectators
        };
        assert_eq!([0, 1, 64, 200].map(spectators), [0, 1, 64, 64]);
    }
}
