//! The work of a traversal between datagrams: signals, checks, offers to the seal, and a new search when nothing comes.

use super::candidate::{self, Candidate, OwnFacts};
use super::checks::Bases;
use super::gathering::GATHER;
use super::paths::Path;
use super::search::{Own, Search};
use super::signal::{Credentials, Signal};
use super::{NatTraversal, RelayPolicy};
use crate::connect::seal::Seal;
use crate::protocol::MAX_WRAPPED;
use core::time::Duration;
use std::net::SocketAddr;

/// How often a connected peer is looked at.
const LOOK: Duration = Duration::from_millis(50);
/// A new search begins at most this often.
const RESTART_AFTER: Duration = Duration::from_secs(1);
/// A connected peer of which nothing was opened for so long is gone: a session gives up as soon.
const GONE: Duration = Duration::from_secs(10);
/// A host keeps its allocation for so long after its last guest.
const IDLE: Duration = Duration::from_secs(20);
/// Datagrams of our own that wait. More are dropped, as the network might have.
const MAX_WAITING: usize = 128;

impl NatTraversal {
    /// Does everything that is due at `now`.
    #[cold]
    pub(super) fn work(&mut self, now: Duration, seal: &mut Seal) {
        if !self.signalling.is_host() {
            self.since.get_or_insert(now);
        }
        self.signalling.run(now, || seal.renew_ticket());
        while let Some(news) = self.signalling.poll_news() {
            self.heard(now, news, seal);
        }
        if self.relay.run(now) {
            self.stats.allocations += u64::from(self.relay.relayed().is_some());
        }
        self.post_init(now, seal);
        self.answer_guests(now, seal);
        while let Some((shown, text)) = seal.take_signal() {
            self.signal(now, shown, &text);
        }
        self.search(now, seal);
        self.rest(now);
        if self.signalling.is_manual() {
            self.meet_manual(now, seal);
        }
        self.pump(now);
        self.set_progress(now, seal);
        self.deadline = self.next_deadline(now);
    }

    /// A host without a guest gives its allocation back after a while.
    pub(super) fn rest(&mut self, now: Duration) {
        if !self.signalling.is_host() || !self.searches.is_empty() || !self.waiting.guests.is_empty() {
            self.waiting.idle_since = None;
        } else if now >= *self.waiting.idle_since.get_or_insert(now) + IDLE {
            self.close(now);
        }
    }

    /// Gives the allocation back to the relay, which would keep it for some minutes. For the end of a match: a message to the relay
    /// waits to be sent.
    pub fn close(&mut self, now: Duration) {
        if let Some((to, message)) = self.relay.release(now) {
            self.push(to, message);
        }
    }

    pub(super) fn next_deadline(&self, now: Duration) -> Option<Duration> {
        let gathering =
            self.waiting.gathering.into_iter().chain(self.waiting.guests.iter().map(|one| one.since));
        let gathered = gathering.map(|since| since + GATHER).min();
        let searches = self.searches.iter().filter_map(Search::deadline).min();
        let look = (!self.searches.is_empty()).then(|| now + LOOK);
        let deadlines = [self.signalling.deadline(), self.relay.deadline(), gathered, searches, look];
        // Whoever is late is served at the next turn, not at once again.
        deadlines.into_iter().flatten().min().map(|at| at.max(now + Duration::from_millis(1)))
    }

    pub(super) fn own_candidates(&self) -> Vec<Candidate> {
        candidate::own(&self.own_facts()).collect()
    }

    fn own_facts(&self) -> OwnFacts<'_> {
        let (addresses, relayed, relay) = (&self.addresses, self.relay.relayed(), self.policy);
        let is_local = self.signalling.is_local();
        OwnFacts { is_local, addresses, observed: self.observed.addresses(), relayed, relay }
    }

    fn bases(&self) -> Bases {
        let base = |v6: bool| self.addresses.iter().copied().find(|addr| addr.is_ipv6() == v6);
        let direct = if self.policy == RelayPolicy::Only { [None; 2] } else { [base(false), base(true)] };
        Bases { direct, relayed: self.relay.relayed().filter(|_| self.policy != RelayPolicy::Never) }
    }

    /// Our part of a new search, with credentials of its own.
    pub(super) fn own<'a>(&mut self, candidates: &'a [Candidate]) -> Own<'a> {
        self.stats.searches += 1;
        Own {
            credentials: Credentials::draw(&self.random.next_32()),
            tie_breaker: self.random.next_u64(),
            bases: self.bases(),
            candidates,
            no_relay: self.policy == RelayPolicy::Never,
        }
    }

    /// The candidates of a signal that are used. The relay's address is none once there is an allocation: before that, it may be
    /// the peer's, named by a rendezvous that lies.
    pub(super) fn theirs(&self, signal: &Signal) -> Vec<Candidate> {
        let relay = self.relay.server().filter(|_| self.relay.relayed().is_some());
        let servers: Vec<SocketAddr> = [self.signalling.server(), relay].into_iter().flatten().collect();
        let mut theirs = candidate::theirs(&signal.candidates, &servers, self.signalling.is_local());
        if self.policy == RelayPolicy::Never {
            theirs.retain(|candidate| candidate.kind != candidate::Kind::Relayed);
        }
        theirs
    }

    /// Lets the relay take what comes from any address of a peer, ours first that matter most.
    pub(super) fn permit(&mut self, now: Duration, at: usize) {
        let search = &self.searches[at];
        if !search.no_relay && self.policy != RelayPolicy::Never {
            for candidate in search.checks.remote().iter().rev() {
                self.relay.permit(now, candidate.addr.ip(), search.shown);
            }
        }
    }

    /// Tells the seal which paths to try when nothing comes, if they have changed.
    fn set_fallbacks(&mut self, now: Duration, seal: &mut Seal, at: usize) {
        let direct = self.policy == RelayPolicy::Allow;
        let relayed = self.policy != RelayPolicy::Never && self.relay.relayed().is_some();
        if !self.searches[at].find_fallbacks(now, direct, relayed) {
            return;
        }
        let search = &self.searches[at];
        let is_used = |addr| seal.is_path(addr);
        let shown: Vec<SocketAddr> =
            search.fallbacks().filter_map(|path| self.paths.shown(path, is_used)).collect();
        seal.set_fallbacks(search.shown, &shown);
    }

    fn search(&mut self, now: Duration, seal: &mut Seal) {
        if self.signalling.is_host() {
            self.leave_guests(now, seal);
        }
        for at in 0..self.searches.len() {
            self.searches[at].checks.run(now);
            self.nominate(now, seal, at);
            self.watch(now, seal, at);
            self.set_fallbacks(now, seal, at);
            if self.searches[at].signal_due(now) {
                seal.send_signal(self.searches[at].shown, self.searches[at].text());
            }
        }
    }

    /// Ends the searches for guests that are gone. A joiner has one host only, and keeps its search.
    fn leave_guests(&mut self, now: Duration, seal: &mut Seal) {
        let is_gone = |search: &mut Search| match seal.silent_for(now, search.shown) {
            Some(silent) => search.connected && silent >= GONE,
            None => true,
        };
        for search in self.searches.extract_if(.., is_gone).collect::<Vec<_>>() {
            seal.set_fallbacks(search.shown, &[]);
        }
    }

    /// Tells the seal of the path that the checks have chosen.
    fn nominate(&mut self, now: Duration, seal: &mut Seal, at: usize) {
        let search = &mut self.searches[at];
        let shown = search.shown;
        let Some((path, round_trip)) = search.offer(now, seal.outer_addr(shown)) else { return };
        if let Some(addr) = self.paths.shown(path, |addr| seal.is_path(addr)) {
            self.searches[at].offered_as = Some((addr, now));
            seal.offer_path(now, shown, addr, round_trip);
            let since = self.since.unwrap_or(now);
            self.found_after.get_or_insert(now.saturating_sub(since));
            trace_path(addr, path);
        }
    }

    /// Looks whether anything comes from a peer, and begins a new search when our addresses have changed.
    fn watch(&mut self, now: Duration, seal: &mut Seal, at: usize) {
        let shown = self.searches[at].shown;
        let connected = seal.outer_addr(shown).is_some();
        self.searches[at].connected |= connected;
        if !connected {
            return;
        }
        self.searches[at].checks.relayed().for_each(|peer| self.relay.bind(now, peer));
        let (silent, in_use) = (seal.is_silent(now, shown), seal.outer_addr(shown));
        let gone = seal.silent_for(now, shown).is_some_and(|silent| silent >= GONE);
        if !gone && self.searches[at].doubts(now, silent, in_use) && self.policy != RelayPolicy::Never {
            self.relay.look(now, self.random.next_12());
            self.relay.refresh();
        }
        let changed = !candidate::own(&self.own_facts()).eq(self.searches[at].candidates.iter().copied());
        if changed && !self.relay.is_refreshing() && now >= self.waiting.restart_at {
            self.waiting.restart_at = now + RESTART_AFTER;
            let candidates = self.own_candidates();
            let own = self.own(&candidates);
            self.searches[at].restart(now, &own);
        }
    }

    /// Collects the datagrams of our own.
    fn pump(&mut self, now: Duration) {
        let mut buf = [0; MAX_WRAPPED];
        while let Some((to, len)) = self.signalling.poll_transmit(now, &mut buf) {
            self.push(to, buf[..len].to_vec());
        }
        let mut searches = core::mem::take(&mut self.searches);
        for search in &mut searches {
            while let Some((path, message)) = search.checks.poll_transmit(now) {
                let unproven = search.checks.is_unproven(path, &message);
                if unproven && !self.budget.allows(now, path.remote.ip()) {
                    self.stats.unsent += 1;
                } else if !path.relayed {
                    self.push(path.remote, message);
                } else if let Some((to, len)) = self.relay.wrap(now, path.remote, &message, &mut buf) {
                    self.push(to, buf[..len].to_vec());
                } else {
                    self.stats.unsent += 1;
                }
            }
        }
        self.searches = searches;
        while let Some((to, message)) = self.relay.poll_transmit(now) {
            self.push(to, message);
        }
    }

    pub(super) fn push(&mut self, to: SocketAddr, datagram: Vec<u8>) {
        if self.out.len() < MAX_WAITING {
            self.stats.overhead_bytes += datagram.len() as u64;
            self.out.push_back((to, datagram));
        }
    }
}

fn trace_path(addr: SocketAddr, path: Path) {
    crate::protocol::trace::handshake(addr, if path.relayed { "a path through our relay" } else { "a path" });
}
