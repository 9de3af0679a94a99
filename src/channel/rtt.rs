//! The RTT, measured by PING and PONG on random values that only this side knows, or by marks on input packets.

use super::probes::Probes;
use crate::protocol::time::{Span, Time};

/// How many of our own pings may be under way; an older one is forgotten.
const OUTSTANDING: usize = 32;

/// How many round trips the 95th percentile is taken of.
const SAMPLES: usize = 32;

/// The first pings come quickly, so that there is an estimate early in a match.
const EARLY_PINGS: usize = 8;
const EARLY_EVERY: Span = Span::from_millis(100);

/// Before a match that needs a good estimate they come more quickly, until this many round trips are measured; but no more than
/// this many pings, if none is answered.
pub(crate) const QUICK_SAMPLES: u32 = 8;
const MAX_QUICK_PINGS: usize = 24;
const QUICK_EVERY: Span = Span::from_millis(50);

/// How many samples the moving average is taken of. Those of input packets come five times as often as pings.
const PING_WEIGHT: u32 = 8;
const MARK_WEIGHT: u32 = 16;

/// Later pings are rare: inputs are acknowledged all the time, and a ping costs as much as an input packet.
const SLOW_EVERY: Span = Span::from_millis(2_500);

/// The interval between pings while the age of the peer's inputs is in doubt.
const CLOSE_EVERY: Span = Span::from_millis(500);

/// Measures the RTT: smoothed, its jitter, and its 95th percentile.
#[derive(Clone, Debug)]
pub(crate) struct RoundTrip {
    outstanding: Probes<u64, OUTSTANDING>,
    next_ping: Time,
    samples: [Span; SAMPLES],
    count: u32,
    smoothed: Span,
    jitter: Span,
    /// The smoothed RTT of pongs alone.
    of_pongs: Option<Span>,
    /// Whether pings are frequent.
    is_close: bool,
    /// Whether the first pings come more quickly.
    is_quick: bool,
}

impl RoundTrip {
    pub(crate) fn new(now: Time) -> Self {
        Self {
            outstanding: Probes::new(),
            next_ping: now,
            samples: [Span::ZERO; SAMPLES],
            count: 0,
            smoothed: Span::ZERO,
            jitter: Span::ZERO,
            of_pongs: None,
            is_close: false,
            is_quick: false,
        }
    }

    /// When the next ping is due.
    #[inline]
    pub(crate) fn next_ping(&self) -> Time {
        self.next_ping
    }

    /// Notes that a ping with this value goes out now.
    pub(crate) fn pinged(&mut self, now: Time, value: u64) {
        self.outstanding.sent(now, value);
        let pings = self.outstanding.count();
        self.next_ping = now
            + match (self.is_quick, self.is_close) {
                (true, _) if self.count < QUICK_SAMPLES && pings < MAX_QUICK_PINGS => QUICK_EVERY,
                (false, _) if pings < EARLY_PINGS => EARLY_EVERY,
                (_, true) => CLOSE_EVERY,
                (_, false) => SLOW_EVERY,
            };
    }

    /// Makes the first pings come more quickly, to measure the RTT before a match.
    pub(crate) fn ping_quickly(&mut self) {
        self.is_quick = true;
    }

    /// Takes in a pong: an RTT sample. `false` if it answers no ping of ours.
    pub(crate) fn ponged(&mut self, now: Time, value: u64) -> bool {
        let Some(sent_at) = self.outstanding.answered(value) else { return false };
        let sample = now.since(sent_at);
        self.of_pongs = Some(self.of_pongs.map_or(sample, |smoothed| smoothed.averaged(sample, 4)));
        self.take(sample, PING_WEIGHT);
        true
    }

    /// The RTT of control packets alone, smoothed over the last pongs.
    pub(crate) fn of_pongs(&self) -> Option<Span> {
        self.of_pongs
    }

    /// Makes pings frequent, or rare again.
    pub(crate) fn look_closely(&mut self, is_close: bool) {
        self.is_close = is_close;
    }

    /// Whether pings are frequent.
    #[inline]
    pub(crate) fn is_close(&self) -> bool {
        self.is_close
    }

    /// Takes in an RTT sample of an input packet.
    pub(crate) fn sample(&mut self, sample: Span) {
        self.take(sample, MARK_WEIGHT);
    }

    /// Takes in an RTT sample: the mean of the first samples, then a moving average in which the newest counts for one in
    /// `weight`.
    fn take(&mut self, sample: Span, weight: u32) {
        let weight = self.count.saturating_add(1).min(weight);
        if self.count == 0 {
            (self.smoothed, self.jitter) = (sample, sample / 2);
        } else {
            self.jitter = self.jitter.averaged(self.smoothed.abs_diff(sample), 4);
            self.smoothed = self.smoothed.averaged(sample, weight);
        }
        self.samples[self.count as usize % SAMPLES] = sample;
        self.count = self.count.saturating_add(1);
    }

    /// The smoothed round trip; `None` before the first pong.
    #[inline]
    pub(crate) fn smoothed(&self) -> Option<Span> {
        (self.count > 0).then_some(self.smoothed)
    }

    /// The mean deviation from the smoothed RTT.
    pub(crate) fn jitter(&self) -> Span {
        if self.count > 1 { self.jitter } else { Span::ZERO }
    }

    /// The 95th percentile of the last samples.
    pub(crate) fn percentile_95(&self) -> Option<Span> {
        self.percentile(95)
    }

    /// The 75th percentile of the last samples. Of few samples the 95th is the longest one: a single late answer, such as
    /// that to a packet that was retransmitted below, would decide.
    pub(crate) fn percentile_75(&self) -> Option<Span> {
        self.percentile(75)
    }

    fn percentile(&self, percent: usize) -> Option<Span> {
        let mut samples = self.samples;
        let kept = &mut samples[..(self.count as usize).min(SAMPLES)];
        kept.sort_unstable();
        kept.get((kept.len() * percent).div_ceil(100).saturating_sub(1)).copied()
    }

    /// How many pongs have come.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::ZERO + span(ms)
    }

    fn span(ms: u64) -> Span {
        Span::from_millis(ms)
    }

    #[test]
    fn only_the_answer_to_our_own_ping_counts_and_only_once() {
        let mut rtt = RoundTrip::new(ms(0));
        rtt.pinged(ms(0), 77);
        assert!(!rtt.ponged(ms(10), 78), "never asked");
        assert_eq!(rtt.smoothed(), None);
        assert!(rtt.ponged(ms(40), 77));
        assert!(!rtt.ponged(ms(90), 77), "a copy");
        assert_eq!(rtt.smoothed(), Some(span(40)));
    }

    /// The times of the pings of ten seconds, of which those up to `unanswered` get no answer and the others one at once.
    fn pings(is_quick: bool, unanswered: usize) -> Vec<u64> {
        let mut rtt = RoundTrip::new(ms(0));
        if is_quick {
            rtt.ping_quickly();
        }
        let mut pings = Vec::new();
        for at in 0..10_000 {
            if rtt.next_ping() <= ms(at) {
                rtt.pinged(ms(at), at);
                pings.push(at);
                if pings.len() > unanswered {
                    rtt.ponged(ms(at), at);
                }
            }
        }
        pings
    }

    #[test]
    fn pings_come_quickly_first_and_seldom_then() {
        let early: Vec<_> = (0..8).map(|ping| ping * 100).chain([3_200, 5_700, 8_200]).collect();
        assert_eq!((pings(false, 0), pings(false, usize::MAX)), (early.clone(), early));
    }

    #[test]
    fn pings_come_quickly_until_eight_are_answered() {
        let quick = |count: u64| (0..count).map(|ping| ping * 50).collect::<Vec<_>>();
        let [all, some, none] = [0, 5, usize::MAX].map(|unanswered| pings(true, unanswered));
        // The ping that is due when the eighth answer comes is the last quick one.
        assert_eq!((&all[..9], all[9]), (&quick(9)[..], 400 + 2_500));
        assert_eq!((&some[..14], some[14]), (&quick(14)[..], 650 + 2_500));
        assert_eq!((&none[..24], none[24]), (&quick(24)[..], 1_150 + 2_500), "nobody answers");
    }

    #[test]
    fn percentile_75_ignores_two_late_answers_in_eight() {
        let mut rtt = RoundTrip::new(ms(0));
        for (at, trip) in [41, 240, 40, 43, 42, 640, 44, 40].into_iter().enumerate() {
            rtt.pinged(ms(at as u64), at as u64);
            rtt.ponged(ms(at as u64 + trip), at as u64);
        }
        assert_eq!((rtt.percentile_75(), rtt.percentile_95()), (Some(span(44)), Some(span(640))));
    }

    #[test]
    fn percentile_leaves_out_one_in_twenty() {
        let mut rtt = RoundTrip::new(ms(0));
        assert_eq!(rtt.percentile_95(), None);
        for at in 0..20 {
            rtt.pinged(ms(1_000 * at), at);
            rtt.ponged(ms(1_000 * at + if at == 7 { 500 } else { 60 }), at);
        }
        assert_eq!(rtt.percentile_95(), Some(span(60)));
        assert!(rtt.jitter() < span(60), "the outlier has faded: {:?}", rtt.jitter());
    }

    #[test]
    fn percentile_is_near_the_worst_and_not_in_the_middle() {
        let mut rtt = RoundTrip::new(ms(0));
        // 1 ms to 32 ms, not in order: the 31st of 32.
        for at in 0..32 {
            rtt.pinged(ms(1_000 * at), at);
            rtt.ponged(ms(1_000 * at + (at * 13) % 32 + 1), at);
        }
        assert_eq!(rtt.percentile_95(), Some(span(31)));
        // Newer ones replace the oldest.
        for at in 32..64 {
            rtt.pinged(ms(1_000 * at), at);
            rtt.ponged(ms(1_000 * at + 80), at);
        }
        assert_eq!(rtt.percentile_95(), Some(span(80)));
    }

    #[test]
    fn sample_of_an_input_packet_counts_for_one_in_sixteen() {
        let mut rtt = RoundTrip::new(ms(0));
        for _ in 0..40 {
            rtt.sample(span(80));
        }
        rtt.sample(span(240));
        assert_eq!(rtt.smoothed(), Some(span(90)));
    }

    #[test]
    fn smoothed_round_trip_and_the_jitter_are_these() {
        let mut rtt = RoundTrip::new(ms(0));
        let mut sample = |at: u64, trip: u64| {
            rtt.pinged(ms(at), at);
            rtt.ponged(ms(at + trip), at);
            (rtt.smoothed(), rtt.jitter(), rtt.count())
        };
        assert_eq!(sample(0, 80), (Some(span(80)), Span::ZERO, 1), "one sample has no jitter");
        // Jitter: (40 * 3 + 40) / 4. Smoothed: the mean of 80 and 120.
        assert_eq!(sample(1_000, 120), (Some(span(100)), span(40), 2));
        // Jitter: (40 * 3 + 60) / 4. Smoothed: the mean of 80, 120 and 40.
        assert_eq!(sample(2_000, 40), (Some(span(80)), span(45), 3));
        for at in 3..8 {
            sample(at * 1_000, 80);
        }
        // From the ninth on, a pong counts for one in eight: (80 * 7 + 160) / 8.
        assert_eq!(sample(9_000, 160).0, Some(span(90)));
    }
}
