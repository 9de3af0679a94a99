//! When to ping, and which pings are under way.

use crate::channel::entropy::Entropy;
use crate::channel::probes::Probes;
use crate::protocol::time::{Span, Time};
use crate::wire::control::ControlPacket;

/// Pings come ten times a second at first, so that the mean is good within three seconds, and once a second then.
const QUICK_FOR: Span = Span::from_secs(3);
const QUICK_EVERY: Span = Span::from_millis(100);
const SLOW_EVERY: Span = Span::from_secs(1);

/// How many may be under way; an older one is forgotten.
const OUTSTANDING: usize = 16;

/// The pings of a client, on random values that only it knows.
#[derive(Clone, Debug)]
pub(super) struct Pings {
    entropy: Entropy,
    outstanding: Probes<u64, OUTSTANDING>,
    begun: Time,
    due: Time,
}

impl Pings {
    pub(super) fn new(seed: u64) -> Self {
        let outstanding = Probes::new();
        Self { entropy: Entropy::new(seed), outstanding, begun: Time::NEVER, due: Time::NEVER }
    }

    /// Begins to ping.
    pub(super) fn begin(&mut self, now: Time) {
        if self.begun == Time::NEVER {
            (self.begun, self.due) = (now, now);
        }
    }

    /// Pings quickly again: the path may have changed.
    pub(super) fn quicken(&mut self, now: Time) {
        self.begun = now;
        self.due = self.due.min(now + QUICK_EVERY);
    }

    pub(super) fn due(&self) -> Time {
        self.due
    }

    /// The value of a ping that goes out now.
    pub(super) fn next(&mut self, now: Time) -> u64 {
        let value = ControlPacket::ping_value(self.entropy.next_u64());
        self.outstanding.sent(now, value);
        self.due = now + if now.since(self.begun) < QUICK_FOR { QUICK_EVERY } else { SLOW_EVERY };
        value
    }

    /// The round trip that a pong shows; `None` if it answers no ping of ours, or was here before.
    pub(super) fn answered(&mut self, now: Time, value: u64) -> Option<Span> {
        self.outstanding.answered(value).map(|sent_at| now.since(sent_at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pings_are_frequent_for_three_seconds_and_match_their_pongs() {
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        let mut pings = Pings::new(7);
        assert_eq!(pings.due(), Time::NEVER);
        pings.begin(at(0));
        let mut sent = 0;
        for ms in 0..10_000 {
            if pings.due() <= at(ms) {
                let value = pings.next(at(ms));
                assert_eq!(pings.answered(at(ms + 40), value), Some(Span::from_millis(40)));
                assert_eq!(pings.answered(at(ms + 40), value), None, "a copy");
                sent += 1;
            }
        }
        assert_eq!(sent, 30 + 7);
        assert_eq!(pings.answered(at(1), 5), None);
    }

    #[test]
    fn pong_counts_once() {
        let mut pings = Pings::new(1);
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        pings.begin(at(0));
        let (first, second) = (pings.next(at(0)), pings.next(at(100)));
        assert_eq!(pings.answered(at(130), second), Some(Span::from_millis(30)));
        assert_eq!(pings.answered(at(140), second), None, "here before");
        assert_eq!(pings.answered(at(150), first), Some(Span::from_millis(150)));
        assert_eq!(pings.answered(at(150), first ^ 1), None, "never sent");
    }

    #[test]
    fn quick_pings_begin_once_and_again_when_asked_for() {
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        let mut pings = Pings::new(1);
        pings.begin(at(0));
        pings.quicken(at(0));
        assert_eq!(pings.due(), at(0), "the first is not delayed");
        pings.next(at(0));
        pings.begin(at(50));
        assert_eq!(pings.due(), at(100));
        pings.next(at(5_000));
        assert_eq!(pings.due(), at(6_000));
        pings.quicken(at(5_200));
        assert_eq!(pings.due(), at(5_300));
        pings.next(at(5_300));
        assert_eq!(pings.due(), at(5_400), "quick for three seconds");
    }

    #[test]
    fn oldest_of_more_than_16_pings_is_forgotten() {
        let mut pings = Pings::new(1);
        let values: Vec<u64> = (0..17).map(|_| pings.next(Time::ZERO)).collect();
        assert_eq!(pings.answered(Time::ZERO, values[0]), None);
        assert!(values[1..].iter().all(|value| pings.answered(Time::ZERO, *value).is_some()));
    }
}
