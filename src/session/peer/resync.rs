//! RESYNC: recovery of a control channel whose sequence numbers no longer match.
//!
//! A forged packet that passed the checks by chance, or an outage longer than the accepted range, can leave both sides
//! refusing each other's packets. Either side then sends RESYNC, which its token authenticates whatever the numbers in its
//! header, and the other answers with its own.

use crate::channel::refusal::Refusal;
use crate::protocol::time::{Span, Time};

/// After this many refused packets in a row the numbers no longer match.
const AFTER_REFUSALS: u8 = 3;

/// After this long without a message that later ones wait for, its ack must have been forged.
const AFTER_MISSING: Span = Span::from_secs(1);

/// A RESYNC goes out at most this often.
const EVERY: Span = Span::from_millis(200);

/// When to say RESYNC.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Resync {
    /// The token of the match. There is none before the match is agreed on, and no RESYNC.
    token: Option<u64>,
    refusals: u8,
    /// The peer has asked, and is to be answered.
    asked: bool,
    not_before: Time,
}

impl Resync {
    /// The match with this token is agreed on.
    pub(crate) fn begin(&mut self, token: u64) {
        self.token = Some(token);
    }

    /// Notes a packet from the peer's address that was refused for its numbers.
    pub(crate) fn refused(&mut self) {
        self.refusals = self.refusals.saturating_add(1);
    }

    /// Notes a packet that was taken.
    pub(crate) fn heard(&mut self) {
        self.refusals = 0;
    }

    /// Takes in the peer's RESYNC; refused if its token is not that of the match. `asks`: it wants ours in turn.
    pub(crate) fn received(&mut self, token: u64, asks: bool) -> Result<(), Refusal> {
        if self.token != Some(token) {
            return Err(Refusal::WrongToken);
        }
        self.asked |= asks;
        Ok(())
    }

    /// When a RESYNC is due. `missing_since`: since when an ordered message is missing that later ones wait for.
    #[inline]
    pub(crate) fn due(&self, missing_since: Option<Time>) -> Option<Time> {
        self.token?;
        if self.asked || self.refusals >= AFTER_REFUSALS {
            return Some(self.not_before);
        }
        Some((missing_since? + AFTER_MISSING).max(self.not_before))
    }

    /// A RESYNC goes out now: its token, and whether it asks for an answer. One that answers does not.
    pub(crate) fn said(&mut self, now: Time) -> Option<(u64, bool)> {
        let asks = !core::mem::take(&mut self.asked);
        self.refusals = 0;
        self.not_before = now + EVERY;
        Some((self.token?, asks))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn agreed() -> Resync {
        let mut resync = Resync::default();
        resync.begin(7);
        resync
    }

    #[test]
    fn three_refusals_in_a_row_ask_and_are_answered_once() {
        let (mut one, mut two) = (agreed(), agreed());
        one.refused();
        one.refused();
        assert_eq!(one.due(None), None);
        one.heard();
        for _ in 0..3 {
            assert_eq!(one.due(None), None);
            one.refused();
        }
        assert_eq!(one.due(None), Some(Time::ZERO));
        assert_eq!(one.said(at(5)), Some((7, true)));
        assert_eq!(one.due(None), None);
        two.received(7, true).unwrap();
        assert_eq!(two.said(at(5)), Some((7, false)));
        one.received(7, false).unwrap();
        assert_eq!((one.due(None), two.due(None)), (None, None), "an answer is not answered");
    }

    #[test]
    fn it_goes_out_at_most_five_times_a_second() {
        let mut resync = agreed();
        let said = (0..10_000).filter(|ms| {
            resync.refused();
            resync.due(None).is_some_and(|due| due <= at(*ms)) && resync.said(at(*ms)).is_some()
        });
        assert_eq!(said.count(), 50);
    }

    #[test]
    fn message_that_others_wait_for_asks_after_a_second() {
        assert_eq!(agreed().due(Some(at(500))), Some(at(1_500)));
    }

    #[test]
    fn another_token_is_refused_and_none_is_said_before_the_match() {
        assert_eq!(agreed().received(8, true), Err(Refusal::WrongToken));
        let mut early = Resync::default();
        assert_eq!(early.received(0, true), Err(Refusal::WrongToken));
        for _ in 0..9 {
            early.refused();
        }
        assert_eq!((early.due(Some(at(0))), early.said(at(9))), (None, None));
    }
}
