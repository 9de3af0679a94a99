//! The round trip, by PING and PONG on values that only this side knows.

use core::time::Duration;

/// How many of our own pings may be under way; an older one is forgotten.
const OUTSTANDING: usize = 4;

/// How many round trips the 95th percentile is taken of.
const SAMPLES: usize = 32;

/// So many pings come quickly, so that there is an estimate before a match starts.
const QUICK_PINGS: u32 = 8;
const QUICK_EVERY: Duration = Duration::from_millis(100);

/// Then seldom: inputs are acknowledged all the time, and a ping costs as much on the wire as an input packet.
const SLOW_EVERY: Duration = Duration::from_millis(2_500);

/// Measures how long it takes there and back.
#[derive(Clone, Debug)]
pub(crate) struct RoundTrip {
    outstanding: [Option<(u64, Duration)>; OUTSTANDING],
    sent: u32,
    next_ping: Duration,
    samples: [Duration; SAMPLES],
    count: u32,
    smoothed: Duration,
    jitter: Duration,
}

impl RoundTrip {
    pub(crate) fn new(now: Duration) -> Self {
        Self {
            outstanding: [None; OUTSTANDING],
            sent: 0,
            next_ping: now,
            samples: [Duration::ZERO; SAMPLES],
            count: 0,
            smoothed: Duration::ZERO,
            jitter: Duration::ZERO,
        }
    }

    /// When the next ping is due.
    #[inline]
    pub(crate) fn next_ping(&self) -> Duration {
        self.next_ping
    }

    /// Notes that a ping with this value goes out now.
    pub(crate) fn pinged(&mut self, now: Duration, value: u64) {
        self.outstanding[self.sent as usize % OUTSTANDING] = Some((value, now));
        self.sent = self.sent.wrapping_add(1);
        self.next_ping = now + if self.sent < QUICK_PINGS { QUICK_EVERY } else { SLOW_EVERY };
    }

    /// Takes in a pong; `false` if it answers no ping of ours.
    pub(crate) fn ponged(&mut self, now: Duration, value: u64) -> bool {
        let answered = self.outstanding.iter_mut().find(|ping| ping.is_some_and(|(sent, _)| sent == value));
        let Some((_, sent_at)) = answered.and_then(Option::take) else { return false };
        let sample = now.saturating_sub(sent_at);
        if self.count == 0 {
            (self.smoothed, self.jitter) = (sample, sample / 2);
        } else {
            self.jitter = (self.jitter * 3 + self.smoothed.abs_diff(sample)) / 4;
            self.smoothed = (self.smoothed * 7 + sample) / 8;
        }
        self.samples[self.count as usize % SAMPLES] = sample;
        self.count = self.count.saturating_add(1);
        true
    }

    /// The smoothed round trip; `None` before the first pong.
    #[inline]
    pub(crate) fn smoothed(&self) -> Option<Duration> {
        (self.count > 0).then_some(self.smoothed)
    }

    /// How much it varies.
    pub(crate) fn jitter(&self) -> Duration {
        if self.count > 1 { self.jitter } else { Duration::ZERO }
    }

    /// Of twenty round trips, nineteen are not longer than this.
    pub(crate) fn percentile_95(&self) -> Option<Duration> {
        let mut samples = self.samples;
        let kept = &mut samples[..(self.count as usize).min(SAMPLES)];
        kept.sort_unstable();
        kept.get((kept.len() * 95).div_ceil(100).saturating_sub(1)).copied()
    }

    /// How many pongs have come.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn only_the_answer_to_our_own_ping_counts_and_only_once() {
        let mut rtt = RoundTrip::new(ms(0));
        rtt.pinged(ms(0), 77);
        assert!(!rtt.ponged(ms(10), 78), "never asked");
        assert_eq!(rtt.smoothed(), None);
        assert!(rtt.ponged(ms(40), 77));
        assert!(!rtt.ponged(ms(90), 77), "a copy");
        assert_eq!(rtt.smoothed(), Some(ms(40)));
    }

    #[test]
    fn pings_come_quickly_first_and_seldom_then() {
        let mut rtt = RoundTrip::new(ms(0));
        let mut pings = 0;
        for at in 0..10_000 {
            if rtt.next_ping() <= ms(at) {
                rtt.pinged(ms(at), at);
                pings += 1;
            }
        }
        assert_eq!(pings, 8 + 3);
    }

    #[test]
    fn the_percentile_leaves_out_one_in_twenty() {
        let mut rtt = RoundTrip::new(ms(0));
        assert_eq!(rtt.percentile_95(), None);
        for at in 0..20 {
            rtt.pinged(ms(1_000 * at), at);
            rtt.ponged(ms(1_000 * at + if at == 7 { 500 } else { 60 }), at);
        }
        assert_eq!(rtt.percentile_95(), Some(ms(60)));
        assert!(rtt.jitter() < ms(60), "the outlier has faded: {:?}", rtt.jitter());
    }
}
