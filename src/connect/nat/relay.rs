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
    /// private network, and whoever sees the request would learn the peer's address there.
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
mod tests {
    use super::super::allocation_hostile::{Liar, RELAY, credentials};
    use super::super::candidate::Kind;
    use super::*;

    const ID: [u8; 12] = [7; 12];
    const PORTS: [u16; 2] = [999, 1_000];

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn relayed(port: u16) -> Option<SocketAddr> {
        Some(([10, 0, 0, 1], 50_000 + port - PORTS[0]).into())
    }

    /// The answer to a probe, which the relay saw come from a port.
    fn seen(port: u16) -> Vec<u8> {
        let mut answer = vec![0x01, 0x01, 0x00, 0x0C, 0x21, 0x12, 0xA4, 0x42];
        answer.extend(ID);
        answer.extend([0x00, 0x20, 0x00, 0x08, 0x00, 0x01]);
        answer.extend((port ^ 0x2112).to_be_bytes());
        answer.extend([10 ^ 0x21, 0x12, 0xA4, 9 ^ 0x42]);
        answer
    }

    /// Runs a machine behind the port that its router gives it, or whose datagrams are lost. Returns how often its address on the
    /// relay has changed.
    fn run(relay: &mut Relay, server: &mut Liar, time: core::ops::Range<u64>, port: Option<u16>) -> u32 {
        run_both(relay, server, time, [port, None])
    }

    /// The same with the ports of UDP and of a stream.
    fn run_both(
        relay: &mut Relay,
        server: &mut Liar,
        time: core::ops::Range<u64>,
        ports: [Option<u16>; 2],
    ) -> u32 {
        let mut changes = 0;
        for now in time.step_by(10).map(ms) {
            if relay.wants_look(now) {
                relay.look(now, ID);
            }
            changes += u32::from(relay.run(now));
            while let Some((to, message)) = relay.poll_transmit(now) {
                assert!(to == RELAY || to == stream_to(RELAY), "{to}");
                assert!(relay.is_server(to));
                let Some(port) = ports[usize::from(to != RELAY)] else { continue };
                if message.starts_with(&[0, 1]) {
                    let seen_at = ([10, 0, 0, 9], port).into();
                    let heard = if to == RELAY { Heard::Seen(seen_at) } else { Heard::Own };
                    assert_eq!(relay.handle(now, to, &seen(port)), heard);
                    continue;
                }
                for answer in server.answer_to(now, port, &message) {
                    let other = if to == RELAY { stream_to(RELAY) } else { RELAY };
                    assert_eq!(relay.handle(now, other, &answer), Heard::Nothing, "it was asked elsewhere");
                    relay.handle(now, to, &answer);
                }
            }
        }
        changes
    }

    const UDP: [Option<u16>; 2] = [Some(PORTS[0]), None];
    const STREAM: [Option<u16>; 2] = [None, Some(PORTS[1])];
    const BOTH: [Option<u16>; 2] = [Some(PORTS[0]), Some(PORTS[1])];

    /// A relay that was asked, and may be asked over a stream.
    fn asked() -> (Relay, Liar) {
        let mut relay = Relay::new();
        relay.set_credentials(credentials());
        relay.allow_stream();
        relay.ask(ms(0), ID);
        (relay, Liar::new(1))
    }

    #[test]
    fn silent_udp_is_followed_by_a_stream_after_two_seconds() {
        let (mut relay, mut server) = asked();
        assert_eq!(run_both(&mut relay, &mut server, 0..2_000, STREAM), 0);
        assert!(relay.is_asking() && !relay.is_streamed());
        assert_eq!(relay.deadline(), ms(2_000));
        assert_eq!(run_both(&mut relay, &mut server, 2_000..2_300, STREAM), 1);
        assert!(relay.deadline() > ms(2_300), "nothing is due before");
        assert_eq!((relay.relayed(), relay.is_streamed()), (relayed(PORTS[1]), true));
        assert_eq!(relay.round_trip, Some(Span::ZERO), "it was measured over the stream");
    }

    #[test]
    fn stream_is_not_waited_for_where_udp_is_known_to_fail() {
        let (mut relay, mut server) = asked();
        relay.expect_stream(true);
        assert_eq!(run_both(&mut relay, &mut server, 0..100, STREAM), 1);
        assert!(relay.is_streamed());
    }

    #[test]
    fn relay_that_answers_over_udp_is_not_asked_over_a_stream() {
        let (mut relay, mut server) = asked();
        assert_eq!(run_both(&mut relay, &mut server, 0..30_000, BOTH), 1);
        assert_eq!((relay.relayed(), relay.is_streamed()), (relayed(PORTS[0]), false));
        let (mut relay, mut server) = asked();
        relay.streams.is_allowed = false;
        assert_eq!(run_both(&mut relay, &mut server, 0..30_000, STREAM), 0, "none is allowed");
    }

    #[test]
    fn udp_takes_over_from_a_stream_when_it_works_again() {
        let (mut relay, mut server) = asked();
        run_both(&mut relay, &mut server, 0..10_000, STREAM);
        assert!(relay.is_streamed());
        assert_eq!(run_both(&mut relay, &mut server, 10_000..27_000, BOTH), 1);
        assert_eq!((relay.relayed(), relay.is_streamed()), (relayed(PORTS[0]), false));
        let before = relay.deadline();
        assert!(before >= ms(27_000), "nothing is looked for any more: {before:?}");
    }

    #[test]
    fn stream_is_given_up_when_udp_answers_after_all() {
        let (mut relay, mut server) = asked();
        run_both(&mut relay, &mut server, 0..2_100, [None; 2]);
        assert!(relay.is_refreshing(), "over a stream");
        assert_eq!(run_both(&mut relay, &mut server, 2_100..2_900, UDP), 1);
        assert!(!relay.is_refreshing() && !relay.is_streamed());
    }

    #[test]
    fn stream_that_ends_is_replaced_by_another_with_an_allocation() {
        let (mut relay, mut server) = asked();
        run_both(&mut relay, &mut server, 0..3_000, STREAM);
        relay.notice(stream_to(RELAY), Notice::Opened);
        assert!(relay.is_streamed());
        relay.notice(stream_to(RELAY), Notice::Closed);
        assert!(relay.relayed().is_none() && relay.is_refreshing());
        let other = [None, Some(PORTS[0])];
        assert_eq!(run_both(&mut relay, &mut server, 3_000..3_300, other), 2, "none, and then another");
        assert_eq!((relay.relayed(), relay.is_streamed()), (relayed(PORTS[0]), true));
    }

    #[test]
    fn relay_that_is_away_for_a_second_is_asked_again_over_a_stream() {
        let (mut relay, mut server) = asked();
        run_both(&mut relay, &mut server, 0..3_000, STREAM);
        relay.notice(stream_to(RELAY), Notice::Closed);
        for at in [3_000, 3_500] {
            run_both(&mut relay, &mut server, at..at + 500, [None; 2]);
            relay.notice(stream_to(RELAY), Notice::Unreachable);
        }
        run_both(&mut relay, &mut server, 4_000..5_500, [None, Some(PORTS[0])]);
        assert_eq!((relay.relayed(), relay.is_streamed()), (relayed(PORTS[0]), true));
    }

    #[test]
    fn failed_stream_leaves_udp_alone_and_is_told() {
        let (mut relay, mut server) = asked();
        run_both(&mut relay, &mut server, 0..2_100, [None; 2]);
        relay.notice(RELAY, Notice::Expired);
        assert_eq!(
            relay.outcome(),
            RelayOutcome::Silent { server: RELAY, stream: None },
            "no stream's address"
        );
        relay.notice(stream_to(RELAY), Notice::WrongName);
        assert_eq!(relay.outcome(), RelayOutcome::Silent { server: RELAY, stream: Some(Notice::WrongName) });
        assert_eq!(run_both(&mut relay, &mut server, 2_100..3_000, UDP), 1);
        assert_eq!((relay.relayed(), relay.outcome()), (relayed(PORTS[0]), RelayOutcome::Tried));
    }

    fn made() -> (Relay, Liar) {
        let (mut relay, mut server) = (Relay::new(), Liar::new(1));
        relay.set_credentials(credentials());
        relay.ask(ms(0), ID);
        assert!(relay.is_asking() && relay.is_server(RELAY));
        assert_eq!(run(&mut relay, &mut server, 0..1_000, Some(PORTS[0])), 1);
        assert_eq!(relay.relayed(), relayed(PORTS[0]));
        (relay, server)
    }

    #[test]
    fn a_new_port_gets_a_fresh_allocation_that_replaces_the_old_one() {
        let (mut relay, mut server) = made();
        relay.refresh();
        assert!(relay.is_refreshing());
        assert_eq!(run(&mut relay, &mut server, 1_000..2_000, Some(PORTS[1])), 1);
        assert_eq!((relay.relayed(), relay.is_refreshing()), (relayed(PORTS[1]), false));
    }

    #[test]
    fn a_fresh_allocation_that_is_refused_changes_nothing() {
        let (mut relay, mut server) = made();
        relay.refresh();
        assert_eq!(run(&mut relay, &mut server, 1_000..3_000, Some(PORTS[0])), 0);
        assert_eq!((relay.relayed(), relay.is_refreshing()), (relayed(PORTS[0]), false));
        assert!(!relay.is_lost(), "the relay has answered");
    }

    #[test]
    fn a_relay_is_lost_while_it_answers_nothing() {
        let (mut relay, mut server) = made();
        relay.refresh();
        run(&mut relay, &mut server, 1_000..5_000, None);
        assert!(!relay.is_lost(), "its answers may be lost");
        run(&mut relay, &mut server, 5_000..12_000, None);
        assert!(relay.is_lost() && !relay.is_refreshing());
        relay.refresh();
        relay.run(ms(12_000));
        let (_, request) = relay.poll_transmit(ms(12_000)).unwrap();
        for answer in server.answer_to(ms(12_000), PORTS[0], &request) {
            assert_eq!(relay.handle(ms(12_000), RELAY, &answer), Heard::Own);
        }
        assert!(!relay.is_lost());
    }

    #[test]
    fn unanswered_request_for_an_allocation_is_repeated_for_9_s() {
        let mut relay = Relay::new();
        relay.set_credentials(credentials());
        relay.ask(ms(0), ID);
        let mut sent = Vec::new();
        for at in (0..20_000).step_by(10) {
            relay.run(ms(at));
            let requests = core::iter::from_fn(|| relay.poll_transmit(ms(at)));
            sent.extend(requests.filter(|(_, request)| request.starts_with(&[0, 3])).map(|_| at));
        }
        let expected = (0..23).map(|n| if n == 0 { 200 } else { 200 + n * 400 });
        assert_eq!(sent, [0].into_iter().chain(expected).collect::<Vec<_>>());
    }

    #[test]
    fn allocation_that_failed_is_asked_for_again() {
        let (mut relay, mut server) = (Relay::new(), Liar::new(1));
        relay.set_credentials(credentials());
        relay.ask(ms(0), ID);
        run(&mut relay, &mut server, 0..9_000, None);
        assert!(
            relay.is_asking(),
            "a relay that has made an allocation makes no second one for another request"
        );
        run(&mut relay, &mut server, 9_000..12_000, None);
        assert!(!relay.is_asking() && relay.relayed().is_none());
        relay.ask(ms(12_000), ID);
        assert_eq!(run(&mut relay, &mut server, 12_000..13_000, Some(PORTS[0])), 1);
        assert_eq!(relay.relayed(), relayed(PORTS[0]));
    }

    #[test]
    fn restarted_relay_is_asked_for_a_fresh_allocation() {
        let (mut relay, _) = made();
        // The first request that it gets is that for a permission. It refuses, and makes another allocation.
        let mut restarted = Liar::new(2);
        restarted.first_port = 60_000;
        let peer = Candidate { kind: Kind::Host, addr: ([10, 0, 0, 7], 7).into() };
        relay.permit(ms(1_000), &[peer], peer.addr);
        assert_eq!(run(&mut relay, &mut restarted, 1_000..3_000, Some(PORTS[0])), 1);
        assert_eq!((relay.relayed(), relay.is_lost()), (Some(([10, 0, 0, 1], 60_000).into()), false));
    }

    #[test]
    fn refused_credentials_fail_without_delay() {
        let (mut relay, mut server) = made();
        relay.set_credentials(Credentials { password: "old".to_owned(), ..credentials() });
        relay.refresh();
        assert_eq!(run(&mut relay, &mut server, 1_000..2_000, Some(PORTS[1])), 0);
        assert!(!relay.is_refreshing() && !relay.is_lost());
        assert_eq!(relay.relayed(), relayed(PORTS[0]), "the old one stays");
        relay.set_credentials(credentials());
        relay.refresh();
        assert_eq!(run(&mut relay, &mut server, 2_000..4_000, Some(PORTS[1])), 1);
    }

    #[test]
    fn why_there_is_no_relay_is_told() {
        let (mut relay, mut server) = (Relay::new(), Liar::new(1));
        assert_eq!(relay.outcome(), RelayOutcome::None);
        relay.set_credentials(Credentials { password: "wrong".to_owned(), ..credentials() });
        assert_eq!(relay.outcome(), RelayOutcome::Silent { server: RELAY, stream: None });
        relay.ask(ms(0), ID);
        run(&mut relay, &mut server, 0..1_000, Some(PORTS[0]));
        assert_eq!(relay.outcome(), RelayOutcome::Refused { server: RELAY });
        assert_eq!(made().0.outcome(), RelayOutcome::Tried);
    }

    #[test]
    fn a_fresh_allocation_may_be_on_another_server() {
        let (mut relay, _) = made();
        let other = SocketAddr::from(([10, 0, 0, 2], 3478));
        relay.set_credentials(Credentials { server: other, ..credentials() });
        assert!(!relay.is_server(other), "nothing was asked there");
        relay.refresh();
        assert!(relay.is_server(other) && relay.is_server(RELAY));
    }

    #[test]
    fn a_released_allocation_leaves_nothing_under_way() {
        let (mut relay, _) = made();
        relay.refresh();
        assert!(relay.release(ms(1_000)).is_some());
        assert!(!relay.is_refreshing() && !relay.is_server(RELAY) && relay.relayed().is_none());
    }

    #[test]
    fn the_distance_of_the_relay_is_the_shortest_measured() {
        let (mut relay, _) = made();
        assert_eq!(relay.round_trip, Some(Span::ZERO));
        relay.round_trip = None;
        for (asked, answered) in [(1_000, 1_030), (2_000, 2_010), (3_000, 3_090)] {
            relay.look(ms(asked), ID);
            assert!(relay.deadline() <= ms(asked));
            assert!(relay.poll_transmit(ms(asked)).is_some());
            assert_ne!(relay.handle(ms(answered), RELAY, &seen(7)), Heard::Nothing);
            assert_eq!(relay.handle(ms(answered), RELAY, &seen(8)), Heard::Nothing, "one answer counts");
        }
        assert_eq!(relay.round_trip, Some(Span::from_millis(10)));
    }
}
