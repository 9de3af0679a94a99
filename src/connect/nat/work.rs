//! The work between datagrams: first signals, checks, paths for the seal, and a new search when nothing comes.

use super::NatTraversal;
use super::candidate::Kind;
use super::gathering::Guest;
use super::manual;
use super::observed::shows_two_ports;
use super::outbox::Outbox;
use super::paths::PathTable;
use super::progress::{NoWay, Progress, RelayOutcome, detour};
use super::relay::Relay;
use super::search::Search;
use super::searches::{is_gone, watches};
use super::signal::Signal;
use crate::connect::rendezvous::RendezvousEvent;
use crate::connect::seal::{Brought, Seal};
use crate::protocol::MAX_WRAPPED;
use crate::protocol::time::{Span, Time};
use crate::protocol::trace;
use core::time::Duration;
use std::net::SocketAddr;

/// Without a path for this long after both signals, there is none; and no signal for this long after ours is none at all.
const GIVE_UP: Span = Span::from_secs(9);
/// Nothing was decrypted for this long: it is said that the relay is lost, if it is.
const LOST_AFTER: Span = Span::from_secs(2);

impl NatTraversal {
    /// Does everything that is due at `now`.
    #[cold]
    pub(super) fn work(&mut self, now: Time, seal: &mut Seal) {
        if !self.signalling.is_host() {
            self.report.begin(now);
        }
        self.signalling.run(now, || seal.renew_ticket());
        while let Some(event) = self.signalling.poll_event() {
            self.hear(now, event, seal);
        }
        self.relay.expect_stream(self.signalling.is_streamed());
        if self.relay.wants_look(now) {
            self.relay.look(now, self.endpoint.draw_id());
        }
        if self.relay.run(now) {
            self.stats.allocations += u64::from(self.relay.relayed().is_some());
        }
        self.manual.run(now, || self.endpoint.draw_id());
        self.join_by_address(now, seal);
        self.post_init(now, seal);
        self.answer_guests(now, seal);
        while let Some((inner, text)) = seal.take_signal() {
            self.welcome(now, inner, seal);
            self.take_signal(now, inner, &text);
        }
        self.recover(now, seal);
        self.search(now, seal);
        if self.signalling.is_host() && self.searches.are_idle(now, self.gathering.guests().len()) {
            self.release_relay(now);
        }
        if self.signalling.is_manual() {
            self.signal_manually(now, seal);
        }
        self.transmit(now);
        self.report.set(now, self.current_progress(now, seal));
        // A late search is served at the next turn, not at once again.
        let next = self.signalling.deadline().min(self.relay.deadline());
        let next = next.min(self.manual.deadline());
        let next = next.min(self.gathering.deadline()).min(self.searches.deadline(now));
        self.outbox.idle_until(next.max(now + Span::from_millis(1)));
    }

    /// Takes the news of the rendezvous.
    fn hear(&mut self, now: Time, event: RendezvousEvent, seal: &mut Seal) {
        match event {
            RendezvousEvent::Registered { observed, credentials }
            | RendezvousEvent::Ticket { observed, credentials, .. } => {
                self.endpoint.rendezvous_saw(observed);
                if let Some(credentials) = credentials.filter(|one| self.endpoint.may_use(one.server)) {
                    self.relay.set_credentials(credentials);
                }
                let has_keys = seal.target().and_then(|host| seal.silent_for(now.into(), host)).is_some();
                if has_keys {
                    self.located(now);
                    // An address of the invite has answered before the rendezvous: the relay was not asked yet.
                    if self.signalling.first_posted_at().is_none() {
                        self.relay.ask(now, self.endpoint.draw_id());
                    }
                } else if self.signalling.new_ticket().is_some() && !self.has_begun_for_host(seal) {
                    self.relay.ask(now, self.endpoint.draw_id());
                    self.gathering.add_joiner(now);
                }
            }
            RendezvousEvent::Delivered { guest, signal } => self.take_delivered(now, guest, &signal, seal),
            RendezvousEvent::Answered { signal } => match seal.handle_signal(now.into(), &signal) {
                // Its text comes by itself.
                Ok(Brought::Host(_)) => self.signalling.settle(),
                Ok(Brought::Peer(_)) => {}
                _ => self.stats.signals_refused += 1,
            },
            _ => {}
        }
    }

    /// A guest's INIT was brought, or a SIGNAL of a guest that has its RESP.
    fn take_delivered(&mut self, now: Time, number: u64, signal: &[u8], seal: &mut Seal) {
        match seal.handle_signal(now.into(), signal) {
            Ok(Brought::Guest(inner)) => {
                let signal = seal.take_signal_of(inner).and_then(|text| Signal::decode(&text));
                let waiting = self.gathering.guests();
                let Some(signal) = signal.filter(|_| self.searches.make_room(now, seal, inner, waiting))
                else {
                    self.stats.signals_refused += 1;
                    return;
                };
                self.relay.ask(now, self.endpoint.draw_id());
                if !watches(inner) {
                    self.report.begin_anew(now);
                }
                self.gathering.add_guest(now, Guest { number, inner, signal });
            }
            Ok(Brought::Again(inner)) => {
                let search = self.searches.of(inner);
                if let Some(resp) = search
                    .and_then(|search| seal.answer_signal(now.into(), inner, &search.negotiation().text()))
                {
                    self.signalling.answer(number, &resp);
                }
            }
            // Its text comes by itself.
            Ok(Brought::Peer(inner)) => {
                if let Some(search) = self.searches.of_mut(inner) {
                    search.carrier_mut().set_sought(now, number);
                    // No path works for the guest: our own address may be the reason.
                    self.signalling.locate();
                }
            }
            _ => self.stats.signals_refused += 1,
        }
    }

    /// Lets a joiner search whose host has answered at an address of the invite: its signals travel on that connection, and the
    /// rendezvous need not bring any.
    fn join_by_address(&mut self, now: Time, seal: &Seal) {
        let Some(inner) = seal.target().filter(|inner| seal.outer_addr(*inner).is_some()) else { return };
        if self.has_begun_for_host(seal) || self.signalling.is_manual() {
            return;
        }
        if self.searches.of(inner).is_none() {
            let search = self.begin_search(now, inner, true, self.endpoint.is_by_channel());
            self.searches.add(search);
        }
        self.signalling.settle();
        if let Some(search) = self.searches.of_mut(inner) {
            search.announce(now);
        }
    }

    /// Whether the signal of a joiner's host has come. A joiner may have guests of its own.
    fn has_begun_for_host(&self, seal: &Seal) -> bool {
        let search = seal.target().and_then(|host| self.searches.of(host));
        search.is_some_and(|search| search.began_at().is_some())
    }

    /// Posts a joiner's INIT when everything for its signal is there.
    fn post_init(&mut self, now: Time, seal: &mut Seal) {
        let (Some(ticket), Some(inner)) = (self.signalling.new_ticket(), seal.target()) else { return };
        if !self.gathering.take_joiner(now, self.relay.is_asking()) || seal.outer_addr(inner).is_some() {
            return;
        }
        if self.searches.of(inner).is_none() {
            let search = self.begin_search(now, inner, true, self.endpoint.is_by_channel());
            self.searches.add(search);
        }
        let search = self.searches.of(inner);
        if let Some(init) =
            search.and_then(|search| seal.write_init(now.into(), ticket, &search.negotiation().text()))
        {
            self.signalling.post(now, &init);
        }
    }

    /// Answers guests when everything for our signal is there.
    fn answer_guests(&mut self, now: Time, seal: &mut Seal) {
        for Guest { number, inner, signal } in self.gathering.take_guests(now, self.relay.is_asking()) {
            let mut search = self.begin_search(now, inner, false, signal.fingerprint.is_some());
            let Some(resp) = seal.answer_signal(now.into(), inner, &search.negotiation().text()) else {
                continue;
            };
            search.carrier_mut().set_guest(now, number);
            self.signalling.answer(number, &resp);
            self.admit(now, &mut search, &signal);
            self.searches.add(search);
        }
    }

    /// A search for the peer at `inner`, with our part: for a data channel if `by_channel`.
    pub(super) fn begin_search(
        &mut self,
        now: Time,
        inner: SocketAddr,
        controlling: bool,
        by_channel: bool,
    ) -> Search {
        let part = self.endpoint.part(self.relay.relayed(), by_channel);
        Search::new(now, self.endpoint.origin(), inner, controlling, part)
    }

    /// Begins the checks of the peer's candidates, and lets the relay take datagrams of their machines.
    pub(super) fn admit(&mut self, now: Time, search: &mut Search, signal: &Signal) {
        search.set_begun(now);
        search.begin(now, signal, &self.endpoint.admitted(signal, self.relay.in_use()));
        self.relay.permit(now, search.permitted(), search.inner());
    }

    /// Begins the search for a guest that has joined at an address of the invite, and signals on that connection.
    fn welcome(&mut self, now: Time, inner: SocketAddr, seal: &Seal) {
        let is_known = seal.target() == Some(inner) || self.searches.of(inner).is_some();
        if is_known || seal.outer_addr(inner).is_none() {
            return;
        }
        if self.searches.make_room(now, seal, inner, self.gathering.guests()) {
            self.relay.ask(now, self.endpoint.draw_id());
            let search = self.begin_search(now, inner, false, false);
            self.searches.add(search);
        }
    }

    /// A signal of a peer: with the RESP, or of a search in the middle of a match.
    fn take_signal(&mut self, now: Time, inner: SocketAddr, text: &[u8]) {
        let Self { searches, endpoint, relay, .. } = self;
        let is_taken = searches.of_mut(inner).zip(Signal::decode(text)).is_some_and(|(search, signal)| {
            let theirs = endpoint.admitted(&signal, relay.in_use());
            let by_channel = search.channel().is_wanted();
            let part = || endpoint.part(relay.relayed(), by_channel);
            let is_taken = search.take_signal(now, &signal, &theirs, part);
            if is_taken {
                relay.permit(now, search.permitted(), inner);
            }
            is_taken
        });
        self.stats.signals_refused += u64::from(!is_taken);
    }

    fn search(&mut self, now: Time, seal: &mut Seal) {
        self.searches.leave_guests(now, seal);
        let Self { searches, signalling, endpoint, relay, paths, .. } = self;
        for search in searches.iter_mut() {
            // Manual signalling has a rhythm of its own: its host may take minutes to read an answer.
            if !signalling.is_manual() {
                search.checks_mut().retry(now);
            }
            search.checks_mut().run(now);
            tell_path(now, search, seal, paths);
            let gone = is_gone(now, seal, search);
            let silent = seal.is_silent(now.into(), search.inner());
            if let Some(in_use) = seal.outer_addr(search.inner()) {
                search.set_connected();
                search.checks().relayed().for_each(|peer| relay.bind(now, peer));
                if !gone && search.nomination_mut().doubts(now, silent, in_use) {
                    relay.look(now, endpoint.draw_id());
                    relay.refresh();
                }
            }
            if search.find_fallbacks(now, silent && !gone, endpoint.allows_both(), relay.relayed().is_some())
            {
                let found = search.fallbacks().filter_map(|path| paths.addr(path, |addr| seal.is_path(addr)));
                let found: Vec<SocketAddr> = found.collect();
                seal.set_fallbacks(search.inner(), &found);
                // The relay was there, and no path through it answers any more: it may have been restarted.
                if found.is_empty() && search.is_connected() && relay.relayed().is_some() {
                    relay.refresh();
                }
            }
        }
        self.name_late_candidates(now, seal);
        self.send_signals(now, seal);
    }

    /// Sends the RESP on the path that was found, until the guest is there; and lets a joiner check again.
    fn signal_manually(&mut self, now: Time, seal: &Seal) {
        let Some(search) = self.searches.newest_mut() else { return };
        if seal.stats().connections > 0 {
            // A joiner's path may be older than its connection.
            if self.manual.connected() {
                search.nomination_mut().clear();
            }
            return;
        }
        if search.checks().heard() {
            self.manual.heard(now);
        }
        if let Some(path) = search.nomination().path()
            && let Some(resp) = self.manual.resp_due(now)
        {
            self.outbox.push(path.remote, resp);
        } else if self.manual.again_due(now) {
            search.begin_again(now);
        }
    }

    /// Collects the datagrams of our own.
    fn transmit(&mut self, now: Time) {
        let Self { signalling, searches, relay, outbox, .. } = self;
        let mut buf = [0; MAX_WRAPPED];
        while let Some((to, len)) = signalling.poll_transmit(now, &mut buf) {
            outbox.push(to, buf[..len].to_vec());
        }
        let on_relay = relay.in_use().map(|server| server.ip());
        self.stats.unsent += searches.transmit(now, on_relay, |path, message| {
            if !path.relayed {
                outbox.push(path.remote, message);
                return true;
            }
            let Some(front) = buf.get_mut(..message.len()) else { return false };
            front.copy_from_slice(&message);
            let wrapped = relay.wrap(now, path.remote, message.len(), &mut buf);
            wrapped.map(|(to, len)| outbox.push(to, buf[..len].to_vec())).is_some()
        });
        for search in searches.iter_mut() {
            self.stats.refused += carry(now, search, relay, outbox);
        }
        while let Some((to, message)) = relay.poll_transmit(now).or_else(|| self.manual.poll_transmit(now)) {
            outbox.push(to, message);
        }
    }

    pub(super) fn release_relay(&mut self, now: Time) {
        if let Some((to, message)) = self.relay.release(now) {
            self.outbox.push(to, message);
        }
    }

    /// How far the machines are on the way to each other.
    fn current_progress(&self, now: Time, seal: &Seal) -> Progress {
        // If there were answers, none could be opened.
        let unanswered = self.signalling.first_posted_at().is_some_and(|at| now >= at + GIVE_UP);
        let silence = self.signalling.silence().or(unanswered.then_some(NoWay::HostSilent));
        if let Some(search) = self.searches.foremost() {
            return self.progress_of(now, seal, search);
        }
        if let Some(server) = self.manual.awaited(now) {
            return Progress::Mapping { server };
        }
        let before = self.report.progress();
        if self.signalling.is_manual() && matches!(before, Progress::NoWay { .. }) {
            return before;
        }
        match silence {
            Some(why) => Progress::NoWay { why },
            None if !self.signalling.has_answered() => self.signalling.first_progress(),
            None if !self.gathering.is_empty() => Progress::Gathering,
            None if self.signalling.is_host() => Progress::Waiting,
            None => Progress::Offering,
        }
    }

    fn progress_of(&self, now: Time, seal: &Seal, search: &Search) -> Progress {
        match self.path_in_use(seal, search.inner()) {
            Some(path) if search.is_relayed(path) => {
                let silent = seal.silent_for(now.into(), search.inner()).map(Span::from);
                if self.relay.is_lost() && silent.is_some_and(|silent| silent >= LOST_AFTER) {
                    return Progress::NoWay { why: NoWay::RelayLost };
                }
                let over_tls = path.relayed && self.relay.is_streamed();
                Progress::ThroughRelay { longer: self.detour(search), over_tls }
            }
            Some(_) => Progress::Direct,
            None => self.progress_without_path(now, search),
        }
    }

    fn progress_without_path(&self, now: Time, search: &Search) -> Progress {
        match self.manual.unheard(now) {
            Some(false) => return Progress::Manual,
            Some(true) => return Progress::Unheard,
            None => {}
        }
        let is_manual = self.signalling.is_manual();
        let give_up = if is_manual { manual::GIVE_UP } else { GIVE_UP };
        let (theirs, relay) = (search.checks().remote(), self.relay_outcome(search));
        if now < self.manual.heard_at().or(search.began_at()).unwrap_or(search.since()) + give_up {
            return Progress::Trying { addresses: theirs.len(), relay: relay == RelayOutcome::Tried };
        }
        let why = match self.manual.stun() {
            None if is_manual => NoWay::Unmapped { server: None },
            Some((server, false)) => NoWay::Unmapped { server: Some(server) },
            _ => {
                let seen = theirs.iter().filter(|one| one.kind == Kind::Reflexive).map(|one| one.addr);
                NoWay::NoPath { relay, symmetric: [self.endpoint.is_symmetric(), shows_two_ports(seen)] }
            }
        };
        Progress::NoWay { why }
    }

    /// Why a relay does not help to reach a peer.
    fn relay_outcome(&self, search: &Search) -> RelayOutcome {
        let is_theirs = search.checks().remote().iter().any(|one| one.kind == Kind::Relayed);
        match self.relay.outcome() {
            _ if self.endpoint.refuses_relay() => RelayOutcome::NotAllowedHere,
            _ if !search.allows_relay() => RelayOutcome::NotAllowedThere,
            _ if is_theirs => RelayOutcome::Tried,
            outcome => outcome,
        }
    }

    /// The most that the way to a peer through a relay can be longer.
    pub(super) fn detour(&self, search: &Search) -> Option<Duration> {
        search
            .nomination()
            .round_trip()
            .zip(self.relay.round_trip())
            .and_then(|(whole, leg)| detour(whole, leg))
    }
}

/// Lets the tunnel to a peer use the path that the checks have nominated, and tells the seal of the tunnel once that is open.
fn tell_tunnel(now: Time, search: &mut Search, seal: &mut Seal) {
    search.nominate(now, None);
    let (inner, chosen) = (search.inner(), search.nomination().path().zip(search.nomination().round_trip()));
    let Some((path, round_trip)) = chosen else { return };
    let Some(tunnel) = search.channel_mut().tunnel_mut() else { return };
    tunnel.run(now);
    if tunnel.take_opened() {
        let addr = tunnel.addr();
        seal.offer_path(now.into(), inner, addr, round_trip.into());
        trace::path_found(inner, path.remote, search.is_relayed(path));
    }
}

/// Tells the seal of the path that the checks have nominated.
fn tell_path(now: Time, search: &mut Search, seal: &mut Seal, paths: &mut PathTable) {
    let inner = search.inner();
    if search.channel().is_wanted() {
        return tell_tunnel(now, search, seal);
    }
    let Some((path, round_trip)) = search.nominate(now, seal.outer_addr(inner)) else { return };
    if let Some(addr) = paths.addr(path, |addr| seal.is_path(addr)) {
        search.nomination_mut().told(now, addr);
        seal.offer_path(now.into(), inner, addr, round_trip.into());
        trace::path_found(inner, path.remote, search.is_relayed(path));
    }
}

/// Sends the datagrams of a tunnel on the path in use. Returns how much of what its peer sent was of no use.
pub(super) fn carry(now: Time, search: &mut Search, relay: &mut Relay, outbox: &mut Outbox) -> u64 {
    let path = search.nomination().path();
    let Some((tunnel, path)) = search.channel_mut().tunnel_mut().zip(path) else { return 0 };
    let mut buf = [0; MAX_WRAPPED];
    while let Some(datagram) = tunnel.pop_datagram() {
        if !path.relayed {
            outbox.push(path.remote, datagram);
        } else if let Some(front) = buf.get_mut(..datagram.len()) {
            front.copy_from_slice(&datagram);
            if let Some((to, len)) = relay.wrap(now, path.remote, datagram.len(), &mut buf) {
                outbox.push(to, buf[..len].to_vec());
            }
        }
    }
    tunnel.take_refused()
}

#[cfg(test)]
mod tests;
