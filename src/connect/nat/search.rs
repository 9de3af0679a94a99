//! The search for paths to one peer: its signals, its checks, and the paths that the seal is told of.

use super::candidate::{Candidate, Kind};
use super::carrier::Carrier;
use super::channel::Channel;
use super::checks::Checks;
use super::fallbacks::Fallbacks;
use super::negotiation::Negotiation;
use super::nomination::Nomination;
use super::origin::Origin;
use super::paths::Path;
use super::signal::{OwnPart, Signal};
use crate::protocol::time::{Span, Time};
use std::net::SocketAddr;

/// In a new search, addresses that the peer has not named are taken after this long.
const NAMED_FIRST: Span = Span::from_millis(500);

/// The search for paths to one peer, from its first signal on.
#[derive(Debug)]
pub(super) struct Search {
    /// The address under which the seal's protocol knows the peer.
    inner: SocketAddr,
    /// When the peer's last signal came, and the first one.
    since: Time,
    began_at: Option<Time>,
    /// Whether the seal has ever had a path.
    connected: bool,
    peer: Peer,
    negotiation: Negotiation,
    carrier: Carrier,
    checks: Checks,
    nomination: Nomination,
    fallbacks: Fallbacks,
    channel: Channel,
}

/// The peer, as its signals describe it.
#[derive(Debug, Default)]
struct Peer {
    /// Whether it wants no path through a relay.
    no_relay: bool,
    /// Its address on its relay, in this search or the last one.
    relay: Option<SocketAddr>,
}

impl Search {
    pub(super) fn new(
        now: Time,
        origin: Origin,
        inner: SocketAddr,
        controlling: bool,
        part: OwnPart,
    ) -> Self {
        let channel = Channel::new(origin, controlling, &part);
        Self {
            inner,
            since: now,
            began_at: None,
            connected: false,
            peer: Peer::default(),
            checks: Checks::new(origin, controlling, &part),
            negotiation: Negotiation::new(now, part),
            carrier: Carrier::default(),
            nomination: Nomination::default(),
            fallbacks: Fallbacks::default(),
            channel,
        }
    }

    pub(super) fn inner(&self) -> SocketAddr {
        self.inner
    }

    /// When the peer's last signal came.
    pub(super) fn since(&self) -> Time {
        self.since
    }

    /// When the peer's first signal came.
    pub(super) fn began_at(&self) -> Option<Time> {
        self.began_at
    }

    /// The peer's first signal has come.
    pub(super) fn set_begun(&mut self, now: Time) {
        self.began_at.get_or_insert(now);
    }

    /// Whether the peer has signalled through the rendezvous after the first search: no path of its own works.
    pub(super) fn is_sought(&self, now: Time) -> bool {
        !self.negotiation.is_first() && self.carrier.is_sought(now)
    }

    /// Whether the seal has ever had a path.
    pub(super) fn is_connected(&self) -> bool {
        self.connected
    }

    pub(super) fn set_connected(&mut self) {
        self.connected = true;
    }

    // Parts.

    pub(super) fn negotiation(&self) -> &Negotiation {
        &self.negotiation
    }

    pub(super) fn carrier(&self) -> &Carrier {
        &self.carrier
    }

    pub(super) fn carrier_mut(&mut self) -> &mut Carrier {
        &mut self.carrier
    }

    pub(super) fn checks(&self) -> &Checks {
        &self.checks
    }

    pub(super) fn checks_mut(&mut self) -> &mut Checks {
        &mut self.checks
    }

    pub(super) fn channel(&self) -> &Channel {
        &self.channel
    }

    pub(super) fn channel_mut(&mut self) -> &mut Channel {
        &mut self.channel
    }

    pub(super) fn nomination(&self) -> &Nomination {
        &self.nomination
    }

    pub(super) fn nomination_mut(&mut self) -> &mut Nomination {
        &mut self.nomination
    }

    // Signals.

    /// Takes the peer's signal that came with the handshake, of which `theirs` are used.
    pub(super) fn begin(&mut self, now: Time, signal: &Signal, theirs: &[Candidate]) {
        self.note_peer(signal, theirs);
        self.channel.begin(now, signal);
        self.checks.begin(&signal.credentials, theirs);
    }

    fn note_peer(&mut self, signal: &Signal, theirs: &[Candidate]) {
        let relayed = theirs.iter().find(|one| one.kind == Kind::Relayed).map(|one| one.addr);
        self.peer = Peer { no_relay: signal.no_relay, relay: relayed.or(self.peer.relay) };
    }

    /// The peer, which has answered our offer, has this address.
    pub(super) fn set_peer(&mut self, now: Time, inner: SocketAddr) {
        (self.inner, self.since, self.began_at) = (inner, now, Some(now));
    }

    /// Checks the peer's addresses again, as if its signal had come now.
    pub(super) fn begin_again(&mut self, now: Time) {
        self.checks.again();
        (self.since, self.began_at) = (now, Some(now));
    }

    /// Sends our signal again: the peer answers with its newest one.
    pub(super) fn repeat(&mut self, now: Time) {
        self.negotiation.repeat(now);
    }

    /// There is a connection before any signal of the peer: ours travels on it.
    pub(super) fn announce(&mut self, now: Time) {
        self.negotiation.announce(now);
    }

    /// Begins a new search, with a signal to the peer.
    pub(super) fn restart(&mut self, now: Time, part: OwnPart) {
        self.renew(&part);
        self.negotiation.restart(now, part);
    }

    /// Adds candidates of ours, which came to be known late, to the search that is on. `false` if they need a new one.
    pub(super) fn extend(&mut self, now: Time, late: &[Candidate]) -> bool {
        let extends = self.negotiation.extend(now, late);
        if let (true, Some(one)) = (extends, late.iter().find(|one| one.kind == Kind::Relayed)) {
            self.checks.set_relayed(one.addr);
        }
        extends
    }

    fn renew(&mut self, part: &OwnPart) {
        self.checks = self.checks.renewed(part);
        self.channel.renew(part);
        self.nomination.clear();
    }

    /// Takes a signal of the peer, of which `theirs` are used: of a newer search, for which `part` is ours, or of the one that is
    /// on. `false` if it is of another one.
    pub(super) fn take_signal(
        &mut self,
        now: Time,
        signal: &Signal,
        theirs: &[Candidate],
        part: impl FnOnce() -> OwnPart,
    ) -> bool {
        if self.channel.is_wanted() != signal.fingerprint.is_some() {
            return false;
        }
        if self.negotiation.is_newer(now, signal) {
            let part = part();
            self.renew(&part);
            self.negotiation.follow(now, signal, part);
            self.begin(now, signal, theirs);
        } else if !self.negotiation.is_current(signal) {
            self.negotiation.answer(now, signal);
            return false;
        } else if !self.checks.has_begun() {
            self.begin(now, signal, theirs);
        } else if self.checks.are_of_peer(&signal.credentials) {
            self.note_peer(signal, theirs);
            self.checks.extend(theirs);
        } else {
            return false;
        }
        self.negotiation.take(now, signal);
        self.set_begun(now);
        self.since = now;
        true
    }

    /// Whether a joiner is to post our signal now, because the host does not have it.
    pub(super) fn is_post_due(&mut self, now: Time) -> bool {
        !self.negotiation.has_arrived() && self.carrier.posts(now, self.negotiation.revision())
    }

    /// Whether our signal is to be sent now.
    pub(super) fn is_signal_due(&mut self, now: Time) -> bool {
        self.negotiation.take_due(now)
    }

    // Checks.

    /// The next message to send, its path, and whether it is a check on a path that has never answered one.
    pub(super) fn poll_transmit(&mut self, now: Time) -> Option<(Path, Vec<u8>, bool)> {
        let (path, message) = self.checks.poll_transmit(now)?;
        let is_unproven = self.checks.is_unproven(path, &message);
        Some((path, message, is_unproven))
    }

    pub(super) fn deadline(&self) -> Time {
        // A tunnel waits for its path.
        let channel = self.nomination.path().map_or(Time::NEVER, |_| self.channel.deadline());
        self.checks.deadline().min(self.negotiation.deadline()).min(channel)
    }

    /// The peer's candidates whose machines the relay may take datagrams of.
    pub(super) fn permitted(&self) -> &[Candidate] {
        if self.allows_relay() { self.checks.remote() } else { &[] }
    }

    // Paths.

    /// Whether the peer wants paths through a relay.
    pub(super) fn allows_relay(&self) -> bool {
        !self.peer.no_relay
    }

    /// Whether a path goes through a relay, ours or the peer's.
    pub(super) fn is_relayed(&self, path: Path) -> bool {
        path.relayed || self.peer.relay == Some(path.remote)
    }

    /// The path to tell the seal of, which uses `in_use`, with its round trip.
    ///
    /// An address that the peer has not named may be that of a symmetric NAT, or of an attacker who forwards checks: it is
    /// taken where there is nothing better than a relay, and in a new search after the named ones had their time.
    pub(super) fn nominate(&mut self, now: Time, in_use: Option<SocketAddr>) -> Option<(Path, Span)> {
        let chosen = self.checks.chosen()?;
        if !self.checks.is_named(chosen.0) {
            let is_direct = self.nomination.path().is_some_and(|path| !self.is_relayed(path));
            if is_direct || !self.negotiation.is_first() && now < self.since + NAMED_FIRST {
                return None;
            }
        }
        let answered_at = self.checks.answered_at(chosen.0)?;
        self.nomination.set(now, chosen, answered_at, in_use).then_some(chosen)
    }

    /// Looks which paths are to be tried when nothing comes: to the peer's relay, and through ours to its relay and to where it
    /// was seen. Each must have answered a check, because the peer may have named a third party. `is_silent`: nothing comes. `true` if
    /// they have changed.
    pub(super) fn find_fallbacks(&mut self, now: Time, is_silent: bool, direct: bool, relayed: bool) -> bool {
        // A new search keeps those of the last one until the peer has named its addresses.
        if !self.checks.has_begun() || self.channel.is_wanted() {
            return false;
        }
        let of = |kind| self.checks.remote().iter().find(move |one| one.kind == kind).map(|one| one.addr);
        let (theirs, seen) = (of(Kind::Relayed), of(Kind::Reflexive).or(of(Kind::Host)));
        let to = |relayed| move |remote| Path { relayed, remote };
        let (outside, through) = (direct && self.allows_relay(), relayed && self.allows_relay());
        let wanted = [
            theirs.filter(|_| outside).map(to(false)),
            theirs.filter(|_| through).map(to(true)),
            seen.filter(|_| through).map(to(true)),
        ];
        self.fallbacks.set(now, is_silent, wanted, |path| self.checks.answered_at(path))
    }

    pub(super) fn fallbacks(&self) -> impl Iterator<Item = Path> + '_ {
        self.fallbacks.iter()
    }
}

#[cfg(test)]
mod tests;
