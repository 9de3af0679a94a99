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
/// Without any answer the checks begin anew after this long, so often: all of them may have been lost.
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
    /// When the checks have begun, and how often they did so anew.
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

    /// Takes a STUN message that came on a path. `false` if it is none of this search, or may not be believed.
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

    /// Checks anew if nothing was answered for a while. Where checks of the peer come in, ours go on in any case.
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
mod tests {
    use super::super::results::MAX_DISCOVERED;
    use super::*;

    const ADDRS: [&str; 2] = ["192.0.2.1:7", "192.0.2.2:7"];

    fn at(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    fn from(text: &str) -> Path {
        Path { relayed: false, remote: at(text) }
    }

    /// The checks of two machines that know each other's addresses; the first one controls.
    fn pair() -> [Checks; 2] {
        let credentials = [3, 5].map(|n: u8| Credentials::draw(&core::array::from_fn(|at| at as u8 * n)));
        core::array::from_fn(|id| {
            let bases = Bases { direct: [Some(at(ADDRS[id])), None], relayed: None };
            let part = OwnPart {
                credentials: credentials[id],
                tie_breaker: id as u64,
                bases,
                candidates: Vec::new(),
                no_relay: false,
            };
            let mut checks = Checks::new(std::time::Instant::now().into(), id == 0, &part);
            let theirs = Candidate { kind: Kind::Host, addr: at(ADDRS[1 - id]) };
            checks.begin(&credentials[1 - id], &[theirs]);
            checks
        })
    }

    /// The next check of a machine, and the time of it.
    fn check(checks: &mut Checks, mut now: Time) -> (Time, Vec<u8>) {
        loop {
            checks.run(now);
            if let Some((_, message)) =
                checks.poll_transmit(now).filter(|(_, message)| message.starts_with(&CHECK))
            {
                return (now, message);
            }
            now = now + PACE;
        }
    }

    #[test]
    fn an_answer_counts_on_the_path_of_its_check_alone_and_once() {
        let [mut one, mut two] = pair();
        let (now, request) = check(&mut one, Time::ZERO);
        assert!(two.handle(now, from(ADDRS[0]), &request));
        let (_, answer) = two.poll_transmit(now).unwrap();
        let later = now + Span::from_millis(30);
        assert!(!one.handle(later, from("192.0.2.9:7"), &answer), "from elsewhere");
        assert!(!one.handle(later, Path { relayed: true, ..from(ADDRS[1]) }, &answer), "through a relay");
        assert_eq!(one.chosen(), None);
        let mut damaged = answer.clone();
        *damaged.last_mut().unwrap() ^= 1;
        damaged[30] ^= 1;
        assert!(!one.handle(later, from(ADDRS[1]), &damaged));
        assert!(one.handle(later, from(ADDRS[1]), &answer));
        assert_eq!(one.chosen(), Some((from(ADDRS[1]), Span::from_millis(30))));
        assert!(!one.handle(later, from(ADDRS[1]), &answer), "again");
    }

    #[test]
    fn late_candidates_are_checked_in_the_same_search() {
        let [mut one, _] = pair();
        let sent_to = |one: &mut Checks, from: u64| {
            let mut found = Vec::new();
            for now in (from..from + 300).step_by(5).map(|ms| Time::ZERO + Span::from_millis(ms)) {
                one.run(now);
                found.extend(core::iter::from_fn(|| one.poll_transmit(now)).map(|(path, _)| path));
            }
            found
        };
        assert!(sent_to(&mut one, 0).iter().all(|path| *path == from(ADDRS[1])));
        let late = |last: u8| Candidate { kind: Kind::Reflexive, addr: ([198, 51, 100, last], 7).into() };
        one.extend(&[late(1), late(1)]);
        assert!(sent_to(&mut one, 300).contains(&Path { relayed: false, remote: late(1).addr }));
        one.set_relayed(at("192.0.2.99:9"));
        assert!(sent_to(&mut one, 600).contains(&Path { relayed: true, remote: late(1).addr }));
        one.set_relayed(at("192.0.2.98:9"));
        assert_eq!(one.bases.relayed, Some(at("192.0.2.99:9")), "it is not replaced");
        (0..100).for_each(|last| one.extend(&[late(last)]));
        assert_eq!(one.remote().len(), MAX_REMOTE);
    }

    #[test]
    fn checks_begin_anew_while_none_is_answered() {
        let [mut one, mut two] = pair();
        let sent = |one: &mut Checks, span: core::ops::Range<u64>, peer: Option<&mut Checks>| {
            let (mut count, mut peer) = (0, peer);
            for now in span.step_by(10).map(|ms| Time::ZERO + Span::from_millis(ms)) {
                one.retry(now);
                one.run(now);
                if let Some(peer) = &mut peer {
                    peer.run(now);
                    while let Some((_, message)) = peer.poll_transmit(now) {
                        one.handle(now, from(ADDRS[1]), &message);
                    }
                }
                let sent: Vec<_> = core::iter::from_fn(|| one.poll_transmit(now)).collect();
                count += sent.iter().filter(|(_, message)| message.starts_with(&CHECK)).count();
            }
            count
        };
        let round = usize::from(MAX_UNANSWERED);
        assert_eq!(sent(&mut one, 0..1_990, None), round);
        assert_eq!(sent(&mut one, 1_990..4_000, None), round);
        assert_eq!(sent(&mut one, 4_000..90_000, None), round * usize::from(MAX_AGAIN - 1), "not for ever");
        one.again();
        assert_eq!(sent(&mut one, 90_000..91_990, None), round);
        // Where checks of the peer come in, no answer to one of ours may be lost by a new beginning.
        let [mut one, _] = pair();
        assert_eq!(sent(&mut one, 0..1_500, Some(&mut two)), 8);
        assert_eq!(one.began.1, 0);
        sent(&mut one, 1_500..3_000, Some(&mut two));
        assert_eq!(one.began.1, 0);
    }

    #[test]
    fn controlled_side_waits_for_the_nomination() {
        let [mut one, mut two] = pair();
        let mut now = Time::ZERO;
        for _ in 0..100 {
            now = now + Span::from_millis(5);
            for checks in [&mut one, &mut two] {
                checks.run(now);
            }
            while let Some((_, message)) = two.poll_transmit(now) {
                one.handle(now, from(ADDRS[1]), &message);
            }
            let answered = one.chosen().is_some();
            assert!(answered || two.chosen().is_none(), "it follows");
            while let Some((_, message)) = one.poll_transmit(now) {
                two.handle(now, from(ADDRS[0]), &message);
            }
        }
        assert_eq!(two.chosen().map(|(path, _)| path), Some(from(ADDRS[0])));
    }

    #[test]
    fn checking_anew_forgets_the_choice_of_before() {
        let [mut one, mut two] = pair();
        let mut now = Time::ZERO;
        while one.chosen().is_none() {
            let (at, request) = check(&mut one, now);
            now = at;
            assert!(two.handle(now, from(ADDRS[0]), &request));
            let answers: Vec<_> = core::iter::from_fn(|| two.poll_transmit(now)).collect();
            for (_, answer) in answers {
                one.handle(now, from(ADDRS[1]), &answer);
            }
        }
        one.again();
        assert_eq!(one.chosen(), None, "the agent chooses again");
    }

    #[test]
    fn replayed_checks_draw_few_checks() {
        let [mut one, mut two] = pair();
        let (mut now, request) = check(&mut one, Time::ZERO);
        let mut sent = [0; 2];
        for _ in 0..1_000 {
            now = now + Span::from_millis(60);
            for stranger in 0..12 {
                two.handle(now, from(&format!("192.0.2.{}:9", 100 + stranger)), &request);
            }
            two.run(now);
            while let Some((path, message)) = two.poll_transmit(now) {
                let is_check = message.starts_with(&CHECK) && path != from(ADDRS[0]);
                sent[0] += u32::from(is_check);
                sent[1] += u32::from(is_check && path == from("192.0.2.100:9"));
            }
        }
        assert_eq!(sent[1], u32::from(MAX_UNANSWERED));
        assert!(sent[0] <= MAX_DISCOVERED as u32 * u32::from(MAX_UNANSWERED), "{sent:?}");
    }

    #[test]
    fn new_mapped_address_in_each_answer_adds_few_candidates() {
        let [mut one, _] = pair();
        let (mut now, mut answered) = (Time::ZERO, 0);
        for _ in 0..200 {
            now = now + KEEP_ALIVE;
            one.run(now);
            while let Some((_, request)) = one.poll_transmit(now) {
                let [_, mut two] = pair();
                answered += 1;
                assert!(two.handle(now, from(&format!("198.51.100.7:{answered}")), &request));
                let (_, answer) = two.poll_transmit(now).unwrap();
                assert_eq!(one.handle(now, from(ADDRS[1]), &answer), answered < MAX_LOCAL);
            }
        }
        assert!(answered > MAX_LOCAL, "{answered}");
        assert_eq!(one.agent.local_candidates().count(), MAX_LOCAL);
    }

    #[test]
    fn messages_of_a_stranger_who_saw_a_check_have_no_effect() {
        let [mut one, mut two] = pair();
        let (now, request) = check(&mut one, Time::ZERO);
        assert!(two.handle(now, from(ADDRS[0]), &request));
        let (_, answer) = two.poll_transmit(now).unwrap();
        // An error whose first attribute is the integrity.
        let mut error = [&[1, 0x11, 0, 24][..], &request[4..20], &[0, 8, 0, 20]].concat();
        error.resize(44, 7);
        assert!(!one.handle(now, from(ADDRS[1]), &error));
        let mut draw = 0x9E37_79B9_7F4A_7C15_u64;
        let mut below = |bound: usize| {
            draw ^= draw << 13;
            draw ^= draw >> 7;
            draw ^= draw << 17;
            (draw % bound as u64) as usize
        };
        for _ in 0..100_000 {
            let mut message = [&request, &answer, &error][below(3)].clone();
            for _ in 0..1 + below(3) {
                let at = below(message.len());
                message[at] = [0, 1, 8, 0x11, 0x20, 0xFF, below(256) as u8][below(7)];
            }
            if below(4) == 0 {
                message.truncate(20 + below(message.len() - 19));
            }
            let len = (message.len() - 20) as u16;
            message[2..4].copy_from_slice(&len.to_be_bytes());
            // The fingerprint at the end is no part of what is authenticated.
            let is = |good: &[u8]| {
                let covered = good.len() - 8;
                message.len() >= covered
                    && message[..2] == good[..2]
                    && message[4..covered] == good[4..covered]
            };
            if !is(&request) && !is(&answer) {
                assert!(!one.handle(now, from(ADDRS[1]), &message), "{message:02X?}");
            }
        }
        assert_eq!(one.chosen(), None);
        assert!(one.handle(now, from(ADDRS[1]), &answer), "the right one still counts");
    }
}
