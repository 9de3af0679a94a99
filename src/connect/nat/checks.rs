//! The connectivity checks of one search: an ICE agent, and the rules for which of its messages count.

use super::candidate::{Bases, Candidate, Kind, MAX_CANDIDATES};
use super::origin::Origin;
use super::paths::Path;
use super::results::{MAX_ROUNDS, MAX_UNANSWERED, Results};
use super::signal::{Credentials, OwnPart};
use crate::protocol::time::{Span, Time};
use is::stun::{StunMessage, StunPacket};
use is::{IceAgent, IceAgentEvent, Protocol};
use std::net::SocketAddr;

/// The time between two checks.
const PACE: Span = Span::from_millis(20);
/// The time until a check is repeated, which doubles up to the second until a while after a path was chosen: of two checks on lines that
/// lose every third datagram, one in four is answered, and the peer has to hear of the choice.
const REPEAT: Span = Span::from_millis(200);
const MAX_REPEAT: Span = Span::from_millis(200);
const SETTLES: Span = Span::from_secs(2);
/// Without any answer the checks begin again after this long, so often: all of them may have been lost.
const AGAIN_AFTER: Span = Span::from_secs(2);
const MAX_AGAIN: u8 = 8;
/// The time between checks of a path that works: they keep the mappings of NATs and cost little.
const KEEP_ALIVE: Span = Span::from_secs(5);
/// The most addresses of ours that the agent knows. A NAT may show another one to each path; a peer that names a new one in each
/// answer would add them without end.
const MAX_LOCAL: usize = 32;
/// The most candidates of a peer in one search: as many as two signals name.
const MAX_REMOTE: usize = 2 * MAX_CANDIDATES;
/// The first bytes of a check: a STUN binding request.
const CHECK: [u8; 2] = [0x00, 0x01];

/// The checks of one search.
#[derive(Debug)]
pub(super) struct Checks {
    agent: IceAgent,
    origin: Origin,
    bases: Bases,
    controlling: bool,
    remote: Vec<Candidate>,
    results: Results,
    /// The path that our agent has chosen, if it controls.
    nominated: Option<Path>,
    /// When a path was first chosen, and when a check of the peer last came from an address that it has named.
    chosen_at: Option<Time>,
    checked_at: Option<Time>,
    /// When the checks have begun, and how often they did so again.
    began: (Option<Time>, u8),
    deadline: Time,
}

impl Checks {
    pub(super) fn new(origin: Origin, controlling: bool, part: &OwnPart) -> Self {
        let mut agent = IceAgent::new(part.credentials.for_ice());
        agent.set_controlling(controlling);
        agent.set_control_tie_breaker(part.tie_breaker);
        agent.set_timing_advance(PACE.into());
        agent.set_initial_stun_rto(REPEAT.into());
        agent.set_max_stun_rto(MAX_REPEAT.into());
        agent.set_max_stun_retransmits(usize::from(MAX_ROUNDS * MAX_UNANSWERED));
        let bases = part.bases;
        let local = bases.direct.iter().flatten().map(|addr| is::Candidate::host(*addr, Protocol::Udp));
        let relayed = bases.relayed.map(|addr| is::Candidate::relayed(addr, addr, Protocol::Udp));
        for candidate in local.chain(relayed).flatten() {
            agent.add_local_candidate(candidate);
        }
        Self {
            agent,
            origin,
            bases,
            controlling,
            remote: Vec::new(),
            results: Results::default(),
            nominated: None,
            chosen_at: None,
            checked_at: None,
            began: (None, 0),
            deadline: Time::ZERO,
        }
    }

    /// The checks of a new search for the same peer.
    pub(super) fn renewed(&self, part: &OwnPart) -> Self {
        Self::new(self.origin, self.controlling, part)
    }

    /// The peer's part of the search: checks begin.
    pub(super) fn begin(&mut self, credentials: &Credentials, candidates: &[Candidate]) {
        self.agent.set_remote_credentials(credentials.for_ice());
        self.remote.clear();
        self.began = (None, 0);
        self.extend(candidates);
    }

    /// Adds candidates of the peer to those that are checked.
    pub(super) fn extend(&mut self, candidates: &[Candidate]) {
        for candidate @ Candidate { kind, addr } in candidates {
            if self.remote.len() == MAX_REMOTE || self.remote.iter().any(|one| one.addr == *addr) {
                continue;
            }
            self.remote.push(*candidate);
            let candidate = match kind {
                Kind::Host => is::Candidate::host(*addr, Protocol::Udp),
                Kind::Reflexive => is::Candidate::server_reflexive(*addr, *addr, Protocol::Udp),
                Kind::Relayed => is::Candidate::relayed(*addr, *addr, Protocol::Udp),
            };
            if let Ok(candidate) = candidate {
                self.agent.add_remote_candidate(candidate);
            }
        }
        self.deadline = Time::ZERO;
    }

    /// Our address on a relay, which came to be known after the checks had begun.
    pub(super) fn set_relayed(&mut self, relayed: SocketAddr) {
        if self.bases.relayed.is_none()
            && let Ok(candidate) = is::Candidate::relayed(relayed, relayed, Protocol::Udp)
        {
            self.bases.relayed = Some(relayed);
            self.agent.add_local_candidate(candidate);
            self.deadline = Time::ZERO;
        }
    }

    /// Whether these are the credentials of the peer in this search.
    pub(super) fn are_of_peer(&self, credentials: &Credentials) -> bool {
        self.agent.remote_credentials() == Some(&credentials.for_ice())
    }

    /// Forgets the results so far: each path gets new checks.
    pub(super) fn again(&mut self) {
        self.began = (None, 0);
        self.check_anew();
    }

    fn check_anew(&mut self) {
        let credentials = self.agent.local_credentials().clone();
        let theirs = self.agent.remote_credentials().cloned();
        self.agent.ice_restart(credentials, true);
        self.results.clear();
        (self.nominated, self.chosen_at) = (None, None);
        if let Some(theirs) = theirs {
            self.agent.set_remote_credentials(theirs);
        }
        let remote = core::mem::take(&mut self.remote);
        self.extend(&remote);
    }

    /// Whether the peer's part is known.
    pub(super) fn has_begun(&self) -> bool {
        self.agent.remote_credentials().is_some()
    }

    /// The peer's candidates.
    pub(super) fn remote(&self) -> &[Candidate] {
        &self.remote
    }

    /// Takes a STUN message that came on a path. `false` if it does not belong to this search, or may not be believed.
    pub(super) fn handle(&mut self, now: Time, path: Path, datagram: &[u8]) -> bool {
        let Ok(message) = StunMessage::parse(datagram) else { return false };
        let destination = if path.relayed {
            self.bases.relayed
        } else {
            self.bases.direct[usize::from(path.remote.is_ipv6())]
        };
        let Some(destination) = destination else { return false };
        // Errors are refused before the agent looks at them: the roles are fixed, so that none is expected, and the agent's check
        // of an error whose first attribute is the integrity panics.
        if !message.is_binding_request() && !message.is_successful_binding_response() {
            return false;
        }
        if !self.agent.accepts_message(&message) {
            return false;
        }
        let noted = if message.is_binding_request() {
            self.results.note_request(path, self.is_named(path))
        } else {
            self.has_room(message.mapped_address()) && self.results.note_answer(now, path, datagram)
        };
        if !noted {
            return false;
        }
        if message.is_binding_request() && self.is_named(path) {
            self.checked_at = Some(now);
        }
        if message.is_binding_request() && message.use_candidate() && !self.controlling {
            self.results.note_choice(path);
        }
        let packet = StunPacket { proto: Protocol::Udp, source: path.remote, destination, message };
        self.agent.handle_packet(self.origin.ice(now), packet);
        self.take_events();
        self.deadline = Time::ZERO;
        true
    }

    /// Whether the address at which an answer says that the peer sees us is known, or one of few.
    fn has_room(&self, mapped: Option<SocketAddr>) -> bool {
        let mut local = self.agent.local_candidates().map(|candidate| candidate.addr());
        local.clone().count() < MAX_LOCAL || local.any(|addr| Some(addr) == mapped)
    }

    fn take_events(&mut self) {
        while let Some(event) = self.agent.poll_event() {
            if let IceAgentEvent::NominatedSend { source, destination, .. } = event {
                let relayed = self.bases.relayed == Some(source);
                self.nominated = Some(Path { relayed, remote: destination });
            }
        }
    }

    /// Checks again if nothing was answered for a while. Where checks of the peer come in, ours go on in any case.
    pub(super) fn retry(&mut self, now: Time) {
        if !self.has_begun() {
            return;
        }
        let (since, times) = (*self.began.0.get_or_insert(now), self.began.1);
        let is_due = now >= since + AGAIN_AFTER && times < MAX_AGAIN;
        if is_due && !self.is_checked(now) && !self.results.is_answered() {
            self.began = (Some(now), times + 1);
            self.check_anew();
        }
    }

    /// Lets time pass.
    pub(super) fn run(&mut self, now: Time) {
        if self.deadline <= now {
            if self.chosen_at.is_none() && self.chosen().is_some() {
                self.chosen_at = Some(now);
            }
            let is_settled = self.chosen_at.is_some_and(|at| now >= at + SETTLES);
            self.agent.set_max_stun_rto(if is_settled { KEEP_ALIVE } else { MAX_REPEAT }.into());
            self.agent.handle_timeout(self.origin.ice(now));
            self.take_events();
            let next = self.agent.poll_timeout();
            self.deadline = next.map_or(Time::NEVER, |at| self.origin.since(at).max(now + PACE / 4));
        }
    }

    pub(super) fn deadline(&self) -> Time {
        self.deadline
    }

    /// The next message to send, with its path.
    pub(super) fn poll_transmit(&mut self, now: Time) -> Option<(Path, Vec<u8>)> {
        loop {
            let transmit = self.agent.poll_transmit()?;
            let relayed = self.bases.relayed == Some(transmit.source);
            let path = Path { relayed, remote: transmit.destination };
            let contents: Vec<u8> = transmit.contents.to_vec();
            let is_check = contents.starts_with(&CHECK);
            if !is_check || self.results.note_check(now, path, &contents) {
                return Some((path, contents));
            }
        }
    }

    /// The path that both sides are to use, if checks on it were answered, with its round trip. The side that controls
    /// chooses; the other one follows its newest choice.
    pub(super) fn chosen(&self) -> Option<(Path, Span)> {
        let path = if self.controlling { self.nominated? } else { self.results.newest_choice()? };
        self.results.answered(path).map(|(_, round_trip)| (path, round_trip))
    }

    /// Whether a check was sent or came on a path.
    pub(super) fn knows(&self, path: Path) -> bool {
        self.results.knows(path)
    }

    /// When a check on a path was last answered.
    pub(super) fn answered_at(&self, path: Path) -> Option<Time> {
        self.results.answered(path).map(|(at, _)| at)
    }

    /// Whether a check of the peer has ever come: it has our part of the search.
    pub(super) fn heard(&self) -> bool {
        self.results.heard()
    }

    /// Whether the peer has named the address at the end of a path.
    pub(super) fn is_named(&self, path: Path) -> bool {
        self.remote.iter().any(|candidate| candidate.addr == path.remote)
    }

    /// Whether a message is a check on a path that has never answered one.
    pub(super) fn is_unproven(&self, path: Path, message: &[u8]) -> bool {
        message.starts_with(&CHECK) && self.answered_at(path).is_none()
    }

    /// Whether a check of the peer has come a moment ago: both sides have each other's signals.
    pub(super) fn is_checked(&self, now: Time) -> bool {
        self.checked_at.is_some_and(|at| now < at + SETTLES)
    }

    /// The other ends of the paths through our relay on which a check was answered.
    pub(super) fn relayed(&self) -> impl Iterator<Item = SocketAddr> + '_ {
        self.results.relayed()
    }
}

#[cfg(test)]
mod tests;
