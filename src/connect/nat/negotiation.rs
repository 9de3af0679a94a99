//! The signals of one search: ours and when it is repeated, and whether the peer's belongs to a newer search or adds to this one.

use super::candidate::{Candidate, Kind, MAX_CANDIDATES};
use super::signal::{Credentials, OwnPart, Signal};
use crate::protocol::time::{Span, Time};

/// A signal is sent again after this long, which doubles up to the second, while the peer has not said that it has it.
pub(super) const REPEAT: Span = Span::from_millis(150);
const MAX_REPEAT: Span = Span::from_millis(600);
/// A signal of ours is sent so often at most.
const MAX_REPEATS: u32 = 12;
/// A peer's new search is taken up at most this often.
const RESTART_AFTER: Span = Span::from_millis(500);
/// The revision of the first signal of each search.
const FIRST: u8 = 1;

/// The signals of one search.
#[derive(Debug)]
pub(super) struct Negotiation {
    /// The number of the search.
    generation: u8,
    ours: Ours,
    /// The newest revision of the peer's signal that came; 0 before the first.
    heard: u8,
    /// When the peer's signal last began a search.
    heard_at: Time,
}

/// Our signal.
#[derive(Debug)]
struct Ours {
    credentials: Credentials,
    no_relay: bool,
    /// Of our certificate, for a data channel.
    fingerprint: Option<[u8; 32]>,
    /// All candidates that were named in this search, the newest first.
    candidates: Vec<Candidate>,
    /// Raised by each candidate that is added.
    revision: u8,
    /// The newest revision that the peer has.
    arrived: u8,
    /// When it is to be sent again, when it was last sent, and how often this revision was.
    repeat_at: Time,
    sent_at: Option<Time>,
    repeats: u32,
}

impl Ours {
    fn new(part: OwnPart, arrived: u8, repeat_at: Time) -> Self {
        let OwnPart { credentials, candidates, no_relay, certificate, .. } = part;
        let fingerprint = certificate.map(|certificate| certificate.fingerprint());
        let (sent_at, repeats) = (None, 0);
        let revision = FIRST;
        Self {
            credentials,
            no_relay,
            fingerprint,
            candidates,
            revision,
            arrived,
            repeat_at,
            sent_at,
            repeats,
        }
    }

    fn has_arrived(&self) -> bool {
        self.arrived >= self.revision
    }
}

impl Negotiation {
    /// The first signals, which travel with the handshake and are repeated with it.
    pub(super) fn new(now: Time, part: OwnPart) -> Self {
        Self { generation: 0, ours: Ours::new(part, FIRST, Time::NEVER), heard: 0, heard_at: now }
    }

    /// Sends our first signal, which no handshake has brought, on the connection.
    pub(super) fn announce(&mut self, now: Time) {
        if self.is_first() && self.heard == 0 && self.ours.has_arrived() {
            (self.ours.arrived, self.ours.repeat_at) = (0, now);
        }
    }

    /// Begins a new search.
    pub(super) fn restart(&mut self, now: Time, part: OwnPart) {
        self.renew(now, self.generation.wrapping_add(1), part);
    }

    /// Takes up the peer's newer search.
    pub(super) fn follow(&mut self, now: Time, signal: &Signal, part: OwnPart) {
        self.renew(now, signal.generation, part);
        self.heard_at = now;
    }

    fn renew(&mut self, now: Time, generation: u8, part: OwnPart) {
        (self.generation, self.ours, self.heard) = (generation, Ours::new(part, 0, now), 0);
    }

    /// Adds candidates that came to be known late to the search that is on. `false` if that needs a new search: its address on a
    /// relay is the base of checks, and cannot be replaced.
    pub(super) fn extend(&mut self, now: Time, late: &[Candidate]) -> bool {
        let ours = &mut self.ours;
        let has_relay = ours.candidates.iter().any(|one| one.kind == Kind::Relayed);
        let replaces = has_relay && late.iter().any(|one| one.kind == Kind::Relayed);
        let Some(revision) = ours.revision.checked_add(1).filter(|_| !replaces) else { return false };
        // The reader takes the first ones of each machine.
        ours.candidates.splice(..0, late.iter().copied());
        ours.candidates.truncate(MAX_CANDIDATES);
        (ours.revision, ours.repeat_at, ours.repeats) = (revision, now, 0);
        true
    }

    /// Sends our signal again, and wants an answer to it.
    pub(super) fn repeat(&mut self, now: Time) {
        (self.ours.arrived, self.ours.repeat_at, self.ours.repeats) = (0, now, 0);
    }

    /// Our signal.
    pub(super) fn text(&self) -> Vec<u8> {
        let Ours { credentials, no_relay, revision, fingerprint, .. } = self.ours;
        let (generation, heard, candidates) = (self.generation, self.heard, self.ours.candidates.clone());
        let wants_answer = !self.ours.has_arrived();
        Signal { no_relay, wants_answer, generation, revision, heard, credentials, candidates, fingerprint }
            .encode()
    }

    /// Those of our candidates that no signal of this search has named.
    pub(super) fn unnamed(&self, candidates: impl Iterator<Item = Candidate>) -> Vec<Candidate> {
        candidates.filter(|one| !self.ours.candidates.contains(one)).collect()
    }

    /// The number of the search and the revision of our signal.
    pub(super) fn revision(&self) -> (u8, u8) {
        (self.generation, self.ours.revision)
    }

    /// Whether the peer has our newest signal.
    pub(super) fn has_arrived(&self) -> bool {
        self.ours.has_arrived()
    }

    /// Whether this is the first search for the peer.
    pub(super) fn is_first(&self) -> bool {
        self.generation == 0
    }

    /// Whether a signal of the peer begins a newer search than ours. One that comes too soon is left for its repetition.
    pub(super) fn is_newer(&self, now: Time, signal: &Signal) -> bool {
        let ahead = signal.generation.wrapping_sub(self.generation);
        (1..128).contains(&ahead) && now.since(self.heard_at) >= RESTART_AFTER
    }

    pub(super) fn is_current(&self, signal: &Signal) -> bool {
        signal.generation == self.generation
    }

    /// Takes the peer's signal of this search: which of ours it has, and whether it wants an answer.
    pub(super) fn take(&mut self, now: Time, signal: &Signal) {
        self.heard = self.heard.max(signal.revision);
        self.ours.arrived = self.ours.arrived.max(signal.heard.min(self.ours.revision));
        if self.ours.has_arrived() {
            self.ours.repeat_at = Time::NEVER;
        }
        self.answer(now, signal);
    }

    /// Sends our signal to a peer that wants it, not too often. A peer that is behind learns of the newer search by it.
    pub(super) fn answer(&mut self, now: Time, signal: &Signal) {
        if signal.wants_answer {
            let rested_at = self.ours.sent_at.map_or(now, |at| at + REPEAT);
            self.ours.repeat_at = self.ours.repeat_at.min(rested_at.max(now));
        }
    }

    /// Whether our signal is to be sent now. It is repeated until it has arrived.
    pub(super) fn take_due(&mut self, now: Time) -> bool {
        let ours = &mut self.ours;
        let is_due = ours.repeat_at <= now;
        if is_due {
            ours.repeats = ours.repeats.saturating_add(1);
            let again = !ours.has_arrived() && ours.repeats < MAX_REPEATS;
            ours.repeat_at =
                if again { now + MAX_REPEAT.min(REPEAT * (1 << (ours.repeats - 1))) } else { Time::NEVER };
            ours.sent_at = Some(now);
        }
        is_due
    }

    pub(super) fn deadline(&self) -> Time {
        self.ours.repeat_at
    }
}

#[cfg(test)]
mod tests {
    use super::super::candidate::Bases;
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn candidate(kind: Kind, last: u8) -> Candidate {
        Candidate { kind, addr: ([192, 0, 2, last], 7).into() }
    }

    fn part(seed: u8) -> OwnPart {
        let (credentials, candidates) = (Credentials::draw(&[seed; 32]), vec![candidate(Kind::Host, seed)]);
        OwnPart {
            credentials,
            tie_breaker: 1,
            bases: Bases::default(),
            candidates,
            no_relay: false,
            number: 0,
            certificate: None,
        }
    }

    fn signal(negotiation: &Negotiation) -> Signal {
        Signal::decode(&negotiation.text()).unwrap()
    }

    #[test]
    fn late_candidate_is_sent_until_it_has_arrived() {
        let (mut one, mut two) = (Negotiation::new(at(0), part(1)), Negotiation::new(at(0), part(2)));
        two.take(at(0), &signal(&one));
        one.take(at(0), &signal(&two));
        assert!(!one.take_due(at(9_000)) && !signal(&one).wants_answer, "the handshake has brought it");
        let late = candidate(Kind::Reflexive, 9);
        assert_eq!(one.unnamed([late, candidate(Kind::Host, 1)].into_iter()), [late]);
        assert!(one.extend(at(100), &[late]) && one.unnamed([late].into_iter()).is_empty());
        let sent: Vec<u64> = (100..20_000).filter(|ms| one.take_due(at(*ms))).collect();
        assert_eq!(sent[..6], [100, 250, 550, 1_150, 1_750, 2_350]);
        assert_eq!((sent.len(), sent[11]), (12, 5_950), "not for ever");
        let named = signal(&one);
        assert_eq!((named.generation, named.revision, named.wants_answer), (0, 2, true));
        assert_eq!((named.credentials, &named.candidates[0]), (part(1).credentials, &late));
        // The peer's signal of before does not say that it has arrived.
        let before = signal(&two);
        one.take(at(5_000), &before);
        assert!(!one.has_arrived());
        two.take(at(5_000), &named);
        assert!(two.take_due(at(5_000)) && !two.take_due(at(9_000)), "one answer");
        one.take(at(5_040), &signal(&two));
        assert!(one.has_arrived() && !one.take_due(at(9_000)), "an answer is not answered");
        two.take(at(5_100), &named);
        assert!(!two.take_due(at(5_149)) && two.take_due(at(5_150)), "the answer was lost");
    }

    #[test]
    fn another_relay_address_needs_a_new_search() {
        let mut one = Negotiation::new(at(0), part(1));
        assert!(one.extend(at(0), &[candidate(Kind::Relayed, 8)]));
        assert!(!one.extend(at(0), &[candidate(Kind::Relayed, 9)]));
        for last in 20..=255 {
            one.extend(at(0), &[candidate(Kind::Reflexive, last)]);
        }
        assert_eq!(signal(&one).candidates.len(), MAX_CANDIDATES);
        assert_eq!(one.revision(), (0, 238));
        (0..17).for_each(|last| assert!(one.extend(at(0), &[candidate(Kind::Reflexive, last)])));
        assert!(!one.extend(at(0), &[candidate(Kind::Reflexive, 17)]), "there are 255 revisions");
    }

    #[test]
    fn peer_that_is_behind_gets_the_newer_signal() {
        let (mut one, two) = (Negotiation::new(at(0), part(1)), Negotiation::new(at(0), part(2)));
        one.restart(at(0), part(1));
        assert!(one.take_due(at(0)));
        assert_eq!((1..90).filter(|secs| one.take_due(at(secs * 1_000))).count(), 11);
        let older = Signal { wants_answer: true, ..signal(&two) };
        assert!(!one.is_current(&older) && !one.is_newer(at(90_000), &older));
        one.answer(at(99_000), &older);
        assert!(one.take_due(at(99_000)));
        one.answer(at(99_900), &signal(&two));
        assert!(!one.take_due(at(99_900)), "it wants no answer");
    }

    #[test]
    fn repeated_signal_wants_an_answer_and_has_twelve_attempts() {
        let (mut one, mut two) = (Negotiation::new(at(0), part(1)), Negotiation::new(at(0), part(2)));
        two.take(at(0), &signal(&one));
        one.take(at(0), &signal(&two));
        assert!(one.has_arrived() && !signal(&one).wants_answer);
        one.repeat(at(10_000));
        assert!(!one.has_arrived() && signal(&one).wants_answer);
        let sent: Vec<u64> = (10_000..40_000).filter(|ms| one.take_due(at(*ms))).collect();
        assert_eq!((sent[..3].to_vec(), sent.len()), (vec![10_000, 10_150, 10_450], 12));
    }
}
