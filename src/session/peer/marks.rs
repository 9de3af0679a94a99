//! The RTT measured on input packets: marks that the peer repeats, with the time for which it held them.

use crate::channel::entropy::Entropy;
use crate::channel::probes::Probes;
use crate::protocol::time::{Span, Time};
use crate::wire::rbn1::TimeSync;

/// The first time blocks come quickly, so that a match soon knows its round trip.
const QUICK_MARKS: usize = 8;
const QUICK_EVERY: Span = Span::from_millis(100);

/// The interval from one later time block to the next.
const EVERY: Span = Span::from_millis(500);

/// How many of our marks may be under way: those of four seconds and the quick ones. An older one is forgotten.
const OUTSTANDING: usize = 16;

/// The unit of [`TimeSync::held`].
const HELD_UNIT: Span = Span::from_micros(100);

/// Marks of ours that the peer has not repeated yet, and the newest one of the peer's.
#[derive(Clone, Debug)]
pub(crate) struct Marks {
    entropy: Entropy,
    /// A random number of which the next marks are taken, 16 bits each.
    drawn: u64,
    outstanding: Probes<u16, OUTSTANDING>,
    due: Time,
    heard: Option<(u16, Time)>,
}

impl Marks {
    /// Marks of which the first is due at `now`. They are random numbers, because a stranger who could guess one could
    /// make up a round trip.
    pub(crate) fn new(now: Time, seed: u64) -> Self {
        Self { entropy: Entropy::new(seed), drawn: 0, outstanding: Probes::new(), due: now, heard: None }
    }

    /// When the next time block is due.
    pub(crate) fn due(&self) -> Time {
        self.due
    }

    /// The time block for a packet that goes out now, if one is due.
    pub(crate) fn take_due(&mut self, now: Time) -> Option<TimeSync> {
        if now < self.due {
            return None;
        }
        self.due = now + if self.outstanding.count() < QUICK_MARKS { QUICK_EVERY } else { EVERY };
        let mark = self.draw();
        self.outstanding.sent(now, mark);
        let (echo, held) = match self.heard {
            Some((echo, at)) => (echo, held(now.since(at))),
            None => (0, TimeSync::NO_SAMPLE),
        };
        Some(TimeSync { mark, echo, held })
    }

    fn draw(&mut self) -> u16 {
        if self.outstanding.count().is_multiple_of(4) {
            self.drawn = self.entropy.next_u64();
        }
        let mark = self.drawn as u16;
        self.drawn >>= 16;
        mark.max(1)
    }

    /// Takes in the time block of a packet. `Some` is an RTT sample, if it repeats a mark of ours for the first time and
    /// was not held for longer than the mark has been away.
    pub(crate) fn received(&mut self, now: Time, time: TimeSync) -> Option<Span> {
        self.heard = Some((time.mark, now));
        let sent_at = self.outstanding.answered(time.echo)?;
        if time.held == TimeSync::NO_SAMPLE {
            return None;
        }
        now.since(sent_at).checked_sub(HELD_UNIT * u32::from(time.held))
    }
}

/// A length of time in units of 100 microseconds, or that it is too long for them.
fn held(span: Span) -> u16 {
    let units = span.nanos() / HELD_UNIT.nanos();
    u16::try_from(units).unwrap_or(TimeSync::NO_SAMPLE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    #[test]
    fn time_a_mark_was_held_is_not_in_the_round_trip() {
        let (mut here, mut there) = (Marks::new(at(0), 1), Marks::new(at(300_000), 2));
        let asked = here.take_due(at(0)).unwrap();
        assert_eq!((asked.echo, asked.held), (0, TimeSync::NO_SAMPLE), "nothing was heard yet");
        assert_eq!(there.received(at(40_000), asked), None);
        let answer = there.take_due(at(300_000)).unwrap();
        assert_eq!((answer.echo, answer.held), (asked.mark, 2_600));
        assert_eq!(here.received(at(341_000), answer), Some(Span::from_micros(81_000)));
        assert_eq!(here.received(at(341_000), answer), None, "a copy");
    }

    #[test]
    fn marks_slow_to_two_a_second_and_are_never_0() {
        let mut marks = Marks::new(at(0), 7);
        let sent: Vec<u16> =
            (0..10_000).filter_map(|ms| marks.take_due(at(ms * 1_000))).map(|t| t.mark).collect();
        assert_eq!(sent.len(), 8 + 19);
        assert!(sent.iter().all(|mark| *mark != 0));
        assert_eq!(marks.due(), at(10_300_000));
    }

    #[test]
    fn mark_that_would_be_0_is_1() {
        let mut marks = Marks::new(at(0), 7);
        marks.take_due(at(0)).unwrap();
        marks.drawn = 0;
        assert_eq!(marks.take_due(at(100_000)).map(|time| time.mark), Some(1));
    }

    #[test]
    fn only_a_recent_mark_of_ours_is_an_answer() {
        let mut marks = Marks::new(at(0), 7);
        let first = marks.take_due(at(0)).unwrap().mark;
        let answer = |echo, held| TimeSync { mark: 9, echo, held };
        assert_eq!(marks.received(at(1_000), answer(first ^ 1, 0)), None, "not ours");
        assert_eq!(marks.received(at(1_000), answer(0, 0)), None, "none");
        assert_eq!(marks.received(at(1_000), answer(first, 11)), None, "held for longer than it was away");
        let second = marks.take_due(at(500_000)).unwrap().mark;
        assert_eq!(marks.received(at(501_000), answer(second, TimeSync::NO_SAMPLE)), None, "no sample");
        let third = marks.take_due(at(1_000_000)).unwrap().mark;
        for later in 3..19 {
            marks.take_due(at(later * 500_000)).unwrap();
        }
        assert_eq!(marks.received(at(9_100_000), answer(third, 0)), None, "of sixteen marks ago");
    }

    #[test]
    fn mark_that_was_held_for_too_long_is_no_sample() {
        let mut marks = Marks::new(at(0), 7);
        marks.received(at(0), TimeSync { mark: 5, echo: 0, held: 0 });
        assert_eq!(marks.take_due(at(6_553_400)).unwrap().held, 65_534);
        marks.received(at(7_000_000), TimeSync { mark: 6, echo: 0, held: 0 });
        let late = marks.take_due(at(13_553_500)).unwrap();
        assert_eq!((late.echo, late.held), (6, TimeSync::NO_SAMPLE));
    }
}
