//! A clock of the time that this machine spent listening. Silence is measured on it, because a process that was stopped
//! heard nothing and must not blame the other side.

use crate::protocol::time::{Span, Time};

/// A gap between our own calls counts for at most this much.
const MAX_GAP: Span = Span::from_millis(250);

/// A gap of our own of this length means that this machine was away, for as long as `AWAY_REMEMBERED`.
const AWAY_GAP: Span = Span::from_secs(1);
const AWAY_REMEMBERED: Span = Span::from_secs(15);

/// The time spent listening.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listening {
    called_at: Time,
    listened: Time,
    away_at: Option<Time>,
}

impl Listening {
    pub(crate) fn new(now: Time) -> Self {
        Self { called_at: now, listened: Time::ZERO, away_at: None }
    }

    /// Lets time pass. To be called whenever this machine runs. A time before that of an earlier call is no time at all:
    /// otherwise two clocks that take turns would count their difference again and again.
    #[inline]
    pub(crate) fn pass(&mut self, now: Time) {
        if now <= self.called_at {
            return;
        }
        let mut gap = now.since(self.called_at);
        if gap > MAX_GAP {
            gap = self.was_stopped(now, gap);
        }
        self.called_at = now;
        self.listened = self.listened + gap;
    }

    #[cold]
    fn was_stopped(&mut self, now: Time, gap: Span) -> Span {
        if gap >= AWAY_GAP {
            self.away_at = Some(now);
        }
        MAX_GAP
    }

    /// The time on this clock.
    #[inline]
    pub(crate) fn now(&self) -> Time {
        self.listened
    }

    /// When this machine last ran, on its own clock.
    pub(crate) fn called_at(&self) -> Time {
        self.called_at
    }

    /// This machine ran, but its game asked for no frame for this long.
    pub(crate) fn stood_still(&mut self, gap: Span) {
        if gap >= AWAY_GAP {
            self.away_at = Some(self.called_at);
        }
    }

    /// The longest time that a gap counts for.
    pub(crate) const MAX_GAP: Span = MAX_GAP;

    /// Whether this machine was away lately: it did not run for a second or more.
    pub(crate) fn was_away(&self, now: Time) -> bool {
        self.away_at.is_some_and(|at| now.since(at) <= AWAY_REMEMBERED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn gap_counts_for_at_most_250_ms() {
        let mut listening = Listening::new(ms(1_000));
        listening.pass(ms(1_250));
        assert_eq!(listening.now(), ms(250));
        listening.pass(ms(60_000));
        assert_eq!((listening.now(), listening.called_at()), (ms(500), ms(60_000)));
    }

    #[test]
    fn two_clocks_that_take_turns_count_once() {
        let mut listening = Listening::new(ms(0));
        for at in (0..1_000).step_by(10) {
            listening.pass(ms(at + 200));
            listening.pass(ms(at));
        }
        assert_eq!((listening.now(), listening.called_at()), (ms(1_190), ms(1_190)));
    }

    #[test]
    fn suspension_is_remembered_for_a_while() {
        let mut listening = Listening::new(ms(0));
        listening.pass(ms(900));
        assert!(!listening.was_away(ms(900)));
        listening.pass(ms(3_000));
        assert!(listening.was_away(ms(3_000)) && listening.was_away(ms(18_000)));
        assert!(!listening.was_away(ms(18_001)));
    }

    #[test]
    fn game_that_stood_still_for_a_second_was_away() {
        let mut listening = Listening::new(ms(0));
        listening.pass(ms(200));
        listening.stood_still(Span::from_millis(999));
        assert!(!listening.was_away(ms(200)));
        listening.stood_still(Span::from_secs(1));
        assert!(listening.was_away(ms(200)) && listening.was_away(ms(15_200)));
        assert!(!listening.was_away(ms(15_201)));
    }
}
