//! The relay of this machine: the allocation in use, a fresh one that may take its place, and the distance.

use super::allocation::{Allocation, Heard, State};
use super::candidate::{Candidate, is_private};
use super::probe::{Probe, Seen};
use super::progress::RelayOutcome;
use super::route::{PATIENCE, stream_to};
use crate::connect::rendezvous::Credentials;
use crate::protocol::MAX_DATAGRAM;
use crate::protocol::stream_addr::{Notice, is_stream};
use crate::protocol::time::{Span, Time};
use crate::protocol::trace;
use std::net::SocketAddr;

/// While the relay is reached over a stream, it is asked so often whether UDP works again.
const LOOK_EVERY: Span = Span::from_secs(15);
/// A relay that has answered no request for this long is lost.
const LOST_AFTER: Span = Span::from_secs(4);

/// The relay of this machine.
#[derive(Debug)]
pub(super) struct Relay {
    credentials: Option<Credentials>,
    current: Option<Allocation>,
    /// One that is asked for because the old one may belong to a port that a router has given up.
    fresh: Option<Allocation>,
    probe: Option<Probe>,
    /// Whether the relay answered nothing when it was last asked.
    lost: bool,
    /// Our address on the relay when time last passed.
    known: Option<SocketAddr>,
    /// How far away the relay is.
    round_trip: Option<Span>,
    streams: Streams,
    /// A datagram on its way into one for the relay.
    scratch: Box<[u8; MAX_DATAGRAM]>,
}

/// Streams to the relay, for a network that lets out no UDP.
#[derive(Debug, Default)]
struct Streams {
    is_allowed: bool,
    /// Whether the rendezvous was reached over a stream alone: the relay is not expected to answer over UDP either.
    is_expected: bool,
    /// Since when UDP brings no answer.
    unanswered_since: Option<Time>,
    look_at: Time,
    /// How the last stream has ended.
    failure: Option<Notice>,
}

impl Streams {
    /// When a stream is used besides UDP.
    fn begin_at(&self) -> Option<Time> {
        let patience = if self.is_expected { Span::ZERO } else { PATIENCE };
        self.unanswered_since.filter(|_| self.is_allowed).map(|since| since + patience)
    }
}

impl Relay {
    /// No relay before there are [credentials](Self::set_credentials).
    pub(super) fn new() -> Self {
        Self {
            credentials: None,
            current: None,
            fresh: None,
            probe: None,
            lost: false,
            known: None,
            round_trip: None,
            streams: Streams::default(),
            scratch: Box::new([0; MAX_DATAGRAM]),
        }
    }

    pub(super) fn set_credentials(&mut self, credentials: Credentials) {
        self.credentials = Some(credentials);
    }

    /// Lets the relay be reached over a stream.
    pub(super) fn allow_stream(&mut self) {
        self.streams.is_allowed = true;
    }

    /// Whether the relay is asked over a stream at once, and not after a while without an answer.
    pub(super) fn expect_stream(&mut self, is_expected: bool) {
        self.streams.is_expected = is_expected;
    }

    /// Whether our address on the relay is reached over a stream.
    pub(super) fn is_streamed(&self) -> bool {
        self.current.as_ref().is_some_and(Allocation::is_streamed)
    }

    /// Takes a notice of a stream. An allocation ends with its stream: another one is asked for over the next.
    pub(super) fn notice(&mut self, from: SocketAddr, notice: Notice) {
        if notice == Notice::Opened || self.server().map(stream_to) != Some(from) {
            return;
        }
        self.streams.failure = Some(notice);
        // A fresh one goes on asking: its repetitions open the next stream.
        if self.current.take_if(|one| one.server() == from).is_some() {
            self.stream();
        }
    }

    /// When a stream is used besides UDP, if there is none yet.
    fn streams_at(&self) -> Option<Time> {
        let is_streamed = self.current.iter().chain(&self.fresh).any(Allocation::is_streamed);
        self.streams.begin_at().filter(|_| !is_streamed)
    }

    /// Asks for an allocation over a stream.
    fn stream(&mut self) {
        if let Some(credentials) = &self.credentials {
            self.fresh = Some(Allocation::new(credentials, stream_to(credentials.server)));
        }
    }

    /// Whether to [look](Self::look) again: how far a stream reaches, and then whether UDP works again.
    pub(super) fn wants_look(&self, now: Time) -> bool {
        self.is_streamed() && self.relayed().is_some() && now >= self.streams.look_at
    }

    /// Whether the relay was asked something at this address.
    #[inline]
    pub(super) fn is_server(&self, addr: SocketAddr) -> bool {
        self.current.as_ref().is_some_and(|one| one.server() == addr)
            || self.fresh.as_ref().is_some_and(|one| one.server() == addr)
            || self.probe.as_ref().is_some_and(|one| one.server() == addr)
    }

    fn server(&self) -> Option<SocketAddr> {
        self.credentials.as_ref().map(|credentials| credentials.server)
    }

    /// The address of the relay once there is an allocation. Before that it may be the peer's, named by a rendezvous that lies.
    pub(super) fn in_use(&self) -> Option<SocketAddr> {
        self.server().filter(|_| self.relayed().is_some())
    }

    /// Our address on the relay.
    pub(super) fn relayed(&self) -> Option<SocketAddr> {
        self.current.as_ref().and_then(Allocation::relayed)
    }

    /// Whether the relay has neither answered nor refused yet.
    pub(super) fn is_asking(&self) -> bool {
        let is_asking = |one: &Allocation| one.state() == State::Asking;
        self.relayed().is_none() && self.current.iter().chain(&self.fresh).any(is_asking)
    }

    /// Whether a fresh allocation is being asked for.
    pub(super) fn is_refreshing(&self) -> bool {
        self.fresh.as_ref().is_some_and(|one| one.state() == State::Asking)
    }

    /// How far away the relay is, if it was measured.
    pub(super) fn round_trip(&self) -> Option<Span> {
        self.round_trip
    }

    /// Whether the relay answers no more.
    pub(super) fn is_lost(&self) -> bool {
        self.lost
    }

    /// Why there is no address on the relay; `Tried` if there is one.
    pub(super) fn outcome(&self) -> RelayOutcome {
        let has_answered = self.current.as_ref().is_some_and(Allocation::has_answered);
        match self.server() {
            _ if self.relayed().is_some() => RelayOutcome::Tried,
            None => RelayOutcome::None,
            Some(server) if has_answered => RelayOutcome::Refused { server },
            Some(server) => RelayOutcome::Silent { server, stream: self.streams.failure },
        }
    }

    /// Asks the relay for an allocation, if there is none.
    pub(super) fn ask(&mut self, now: Time, id: [u8; 12]) {
        let failed = self.current.as_ref().is_none_or(|one| one.state() == State::Failed);
        if failed && let Some(credentials) = &self.credentials {
            self.current = Some(Allocation::new(credentials, credentials.server));
            self.look(now, id);
        }
    }

    /// Asks the relay where it sees this machine.
    pub(super) fn look(&mut self, now: Time, id: [u8; 12]) {
        if let Some(server) = self.server() {
            self.streams.look_at = now + LOOK_EVERY;
            let is_measured = self.round_trip.is_some() || !self.is_streamed();
            let server = if is_measured { server } else { stream_to(server) };
            self.probe = Some(Probe::new(now, server, id));
        }
    }

    /// Asks the relay for a second allocation. A relay has one for each port that it sees: it refuses as long as the old
    /// one is good.
    pub(super) fn refresh(&mut self) {
        if !self.is_refreshing()
            && let Some(credentials) = &self.credentials
        {
            let server = credentials.server;
            let server = if self.is_streamed() { stream_to(server) } else { server };
            self.fresh = Some(Allocation::new(credentials, server));
        }
    }

    /// Gives the allocation back, if there is one. Returns the message to the relay.
    pub(super) fn release(&mut self, now: Time) -> Option<(SocketAddr, Vec<u8>)> {
        self.fresh = None;
        let mut allocation = self.current.take()?;
        Some((allocation.server(), allocation.delete(now)?))
    }

    /// Takes a datagram that came from the relay's address.
    pub(super) fn handle(&mut self, now: Time, from: SocketAddr, datagram: &[u8]) -> Heard {
        let allocations = self.current.iter_mut().chain(&mut self.fresh);
        for allocation in allocations.filter(|one| one.server() == from) {
            match allocation.handle(now, datagram) {
                Heard::Nothing => {}
                heard => {
                    self.lost &= heard != Heard::Own;
                    return heard;
                }
            }
        }
        let probe = self.probe.as_mut().filter(|probe| probe.server() == from);
        let Some(Seen { addr, round_trip }) = probe.and_then(|probe| probe.handle(now, datagram)) else {
            return Heard::Nothing;
        };
        self.probe = None;
        if self.is_streamed() == is_stream(from) {
            self.round_trip = Some(self.round_trip.map_or(round_trip, |before| before.min(round_trip)));
        }
        if is_stream(from) {
            // It names an address of TCP.
            return Heard::Own;
        }
        if self.is_streamed()
            && let Some(credentials) = self.credentials.as_ref().filter(|_| !self.is_refreshing())
        {
            self.fresh = Some(Allocation::new(credentials, credentials.server));
        }
        Heard::Seen(addr)
    }

    /// Lets time pass. `true` if our address on the relay is another one than before.
    pub(super) fn run(&mut self, now: Time) -> bool {
        let was_made = self.relayed().is_some();
        for allocation in self.current.iter_mut().chain(&mut self.fresh) {
            let was_asking = allocation.state() == State::Asking;
            allocation.run(now);
            match allocation.state() {
                State::Failed if was_asking && allocation.has_answered() => {
                    trace::relay(allocation.server(), "allocation refused");
                }
                State::Failed if was_asking => trace::relay(allocation.server(), "no answer"),
                _ => {}
            }
        }
        let is_unanswered =
            |one: &Allocation| !one.is_streamed() && one.state() == State::Asking && !one.has_answered();
        let mut allocations = self.current.iter().chain(&self.fresh);
        self.streams.unanswered_since =
            allocations.any(is_unanswered).then(|| self.streams.unanswered_since.unwrap_or(now));
        let has_waited = self.streams.unanswered_since.is_some_and(|since| now >= since + LOST_AFTER);
        self.lost |= has_waited && self.fresh.as_ref().is_some_and(is_unanswered);
        if self.streams_at().is_some_and(|at| at <= now) {
            self.stream();
        }
        // A relay that was restarted does not have the allocation, and one that was away for long has forgotten it.
        let is_gone = |one: &mut Allocation| one.take_mismatch() || was_made && one.state() == State::Failed;
        if self.current.as_mut().is_some_and(is_gone) {
            self.refresh();
        }
        match &self.fresh {
            Some(fresh) if fresh.relayed().is_some() => self.current = self.fresh.take(),
            // It has refused, because the old one is good or because of the credentials, or answers nothing.
            Some(fresh) if fresh.state() == State::Failed => {
                self.lost = !fresh.has_answered();
                self.fresh = None;
            }
            _ => {}
        }
        let relayed = self.relayed();
        let is_new = core::mem::replace(&mut self.known, relayed) != relayed;
        if let (true, Some(addr)) = (is_new, relayed) {
            trace::relay(addr, "address allocated");
            if self.is_streamed() {
                (self.round_trip, self.streams.look_at) = (None, now);
            } else {
                self.fresh.take_if(|one| one.is_streamed());
            }
        }
        is_new
    }

    pub(super) fn deadline(&self) -> Time {
        let allocations = self.current.iter().chain(&self.fresh).filter_map(Allocation::deadline);
        let looks = (self.is_streamed() && self.relayed().is_some()).then_some(self.streams.look_at);
        let streams = self.streams_at().into_iter().chain(looks);
        let probe = self.probe.as_ref().and_then(Probe::deadline);
        allocations.chain(probe).chain(streams).min().unwrap_or(Time::NEVER)
    }

    /// The next message to the relay.
    pub(super) fn poll_transmit(&mut self, now: Time) -> Option<(SocketAddr, Vec<u8>)> {
        if let Some(probe) = &mut self.probe
            && let Some(request) = probe.poll_transmit(now)
        {
            return Some((probe.server(), request.to_vec()));
        }
        let mut allocations = self.current.iter_mut().chain(&mut self.fresh);
        allocations.find_map(|one| one.poll_transmit(now).map(|message| (one.server(), message)))
    }

    /// Lets the relay take datagrams of the machines that a peer has named, the last ones first. A relay on the internet reaches no
    /// private network, and an observer of the request would learn the peer's address there.
    pub(super) fn permit(&mut self, now: Time, named: &[Candidate], named_by: SocketAddr) {
        if let Some(own) = self.relayed()
            && let Some(allocation) = &mut self.current
        {
            let reached = named.iter().filter(|one| !is_private(one.addr.ip()) || is_private(own.ip()));
            reached.rev().for_each(|one| allocation.permit(now, one.addr.ip(), named_by));
        }
    }

    pub(super) fn bind(&mut self, now: Time, peer: SocketAddr) {
        if let Some(allocation) = &mut self.current {
            allocation.bind(now, peer);
        }
    }

    /// Puts the datagram at the front of `buf` into one to the relay that brings it to `peer`.
    pub(super) fn wrap(
        &mut self,
        now: Time,
        peer: SocketAddr,
        len: usize,
        buf: &mut [u8],
    ) -> Option<(SocketAddr, usize)> {
        self.scratch.get_mut(..len)?.copy_from_slice(&buf[..len]);
        let allocation = self.current.as_mut()?;
        let len = allocation.wrap(now, peer, &self.scratch[..len], buf)?;
        Some((allocation.server(), len))
    }
}

#[cfg(test)]
mod tests;
