//! The signals of one search: ours, when it is repeated, and whether the peer's belongs to a newer search.

use super::candidate::Candidate;
use super::signal::{OwnPart, Signal};
use crate::protocol::time::{Span, Time};

/// A signal is sent again after this long, which doubles, while the peer's is missing.
pub(super) const REPEAT: Span = Span::from_millis(150);
/// A signal of ours is sent so often at most.
const MAX_REPEATS: u32 = 6;
/// A peer's new search is taken up at most this often.
const RESTART_AFTER: Span = Span::from_millis(500);

/// The signals of one search.
#[derive(Debug)]
pub(super) struct Negotiation {
    /// The number of the search.
    generation: u8,
    /// Our signal, and the candidates in it.
    text: Vec<u8>,
    candidates: Vec<Candidate>,
    /// When our signal is to be sent again, and how often it was.
    repeat_at: Time,
    repeats: u32,
    /// When the peer's signal was last taken up, or answered.
    heard_at: Time,
}

impl Negotiation {
    /// The first signals, which travel with the handshake.
    pub(super) fn new(now: Time, part: OwnPart) -> Self {
        let (text, candidates) = written(0, part);
        Self { generation: 0, text, candidates, repeat_at: Time::NEVER, repeats: 0, heard_at: now }
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
        self.generation = generation;
        (self.text, self.candidates) = written(generation, part);
        (self.repeat_at, self.repeats) = (now, 0);
    }

    /// Our signal.
    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Whether these are the candidates of our signal.
    pub(super) fn has_named(&self, candidates: impl Iterator<Item = Candidate>) -> bool {
        candidates.eq(self.candidates.iter().copied())
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

    /// The peer has answered our signal.
    pub(super) fn answered(&mut self) {
        self.repeat_at = Time::NEVER;
    }

    /// The peer repeats its answer: ours was lost.
    pub(super) fn heard_again(&mut self, now: Time) {
        if self.repeat_at == Time::NEVER && now.since(self.heard_at) >= REPEAT {
            (self.heard_at, self.repeat_at) = (now, now);
        }
    }

    /// Whether our signal is to be sent now. It is repeated unless the peer has answered.
    pub(super) fn take_due(&mut self, now: Time, is_answered: bool) -> bool {
        let is_due = self.repeat_at <= now;
        if is_due {
            self.repeats += 1;
            let again = !is_answered && self.repeats < MAX_REPEATS;
            self.repeat_at = if again { now + REPEAT * (1 << (self.repeats - 1)) } else { Time::NEVER };
        }
        is_due
    }

    pub(super) fn deadline(&self) -> Time {
        self.repeat_at
    }
}

fn written(generation: u8, part: OwnPart) -> (Vec<u8>, Vec<Candidate>) {
    let OwnPart { credentials, candidates, no_relay, .. } = part;
    let signal = Signal { no_relay, generation, credentials, candidates };
    (signal.encode(), signal.candidates)
}
