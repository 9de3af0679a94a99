//! Evidence of a policer: a limit on the way that drops every packet above a rate, without a queue. The RTT does not show it.
//!
//! Second copies double our rate, and are the test. With random loss twice as many packets arrive. At a policer as many arrive as
//! before, so that the copies are of no use. If many packets are lost at the single rate too, every second one is left out.

/// The reports after a change of our rate that also count packets from before it, and the reports that are averaged.
const SKIPPED: u32 = 2;
const AVERAGED: u32 = 3;

/// Packets that arrive after the rate has doubled, in quarters of those before: below this, the limit is reached.
const LIMITED_BELOW: u32 = 5;

/// Loss at the single rate from which on every second packet is left out, in thousandths.
const THIN_FROM: u32 = 100;

/// The reports, one a second, until the single rate is tried again. Each time is twice as long as the one before, up to this
/// many doublings.
const FIRST_REST: u32 = 30;
const MAX_DOUBLINGS: u32 = 4;

/// Our packets in two frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rate(u32);

impl Rate {
    const SINGLE: Self = Self(2);

    pub(super) fn of(is_thinned: bool, has_copies: bool) -> Self {
        Self(if is_thinned { 1 } else { 2 } << u32::from(has_copies))
    }

    /// The packets that arrive at this loss, in thousandths of a packet.
    fn arriving(self, loss: u32) -> u32 {
        self.0 * (1_000 - loss.min(1_000))
    }
}

/// Decides whether only every second packet is sent, by the loss at different rates.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Policing {
    rate: Rate,
    /// The rate before the last change, and the loss then, if it is known.
    before: Option<(Rate, u32)>,
    /// The reports since the last change, how many of them do not count, and the newest of those that do.
    reports: u32,
    skipped: u32,
    losses: [u32; AVERAGED as usize],
    /// The last copies were dropped at a limit.
    is_limited: bool,
    is_on: bool,
    rests: u32,
}

impl Policing {
    pub(super) fn is_on(&self) -> bool {
        self.is_on
    }

    /// The loss at the current rate, by as many reports as there are, at most [`AVERAGED`].
    fn loss(&self) -> Option<u32> {
        let counted = self.reports.saturating_sub(self.skipped).min(AVERAGED);
        (counted > 0).then(|| self.losses[..counted as usize].iter().sum::<u32>() / counted)
    }

    /// Takes in the loss of a report, in thousandths, and the rate at which we send now. Returns whether second copies have
    /// turned out to be of no use.
    pub(super) fn reported(&mut self, rate: Rate, loss: u32) -> bool {
        if rate != self.rate {
            self.before = self.loss().map(|loss| (self.rate, loss));
            // Before the first report there was no other rate.
            let skipped = if self.reports == 0 { 0 } else { SKIPPED };
            (self.rate, self.reports, self.skipped) = (rate, 0, skipped);
        }
        self.reports += 1;
        if let Some(index) = (self.reports - 1).checked_sub(self.skipped) {
            self.losses[(index % AVERAGED) as usize] = loss;
        }
        let Some(loss) = self.loss().filter(|_| self.reports >= self.skipped + AVERAGED) else {
            return false;
        };
        let is_first = self.reports == self.skipped + AVERAGED;
        match self.before.filter(|_| is_first) {
            Some((before, lost)) if before == Rate::SINGLE && rate > before => {
                self.is_limited = rate.arriving(loss) * 4 < before.arriving(lost) * LIMITED_BELOW;
                return self.is_limited;
            }
            // Fewer packets are lost as often: the limit is another one, or none.
            Some((before, lost)) if self.is_on && rate < before && loss > lost / 2 => {
                (self.is_on, self.is_limited) = (false, false);
            }
            _ => {}
        }
        if self.is_on {
            self.is_on = self.reports < FIRST_REST << self.rests;
            self.rests = (self.rests + u32::from(!self.is_on)).min(MAX_DOUBLINGS);
        } else if self.is_limited && rate == Rate::SINGLE {
            self.is_on = loss >= THIN_FROM;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A link that loses a share at random, and then everything above a number of packets in two frames, in thousandths.
    struct Line {
        policing: Policing,
        copies: bool,
        random: u32,
        limit: u32,
    }

    impl Line {
        fn new(random: u32, limit: u32) -> Self {
            Self { policing: Policing::default(), copies: false, random, limit }
        }

        /// Seconds in which packets were left out, of so many. Copies go on in second `on_at`.
        fn run(&mut self, seconds: u32, on_at: u32) -> u32 {
            let mut thinned = 0;
            for second in 0..seconds {
                self.copies |= second == on_at;
                let rate = Rate::of(self.policing.is_on(), self.copies);
                let passed = rate.arriving(self.random).min(self.limit);
                let loss = 1_000 - passed / rate.0;
                self.copies &= !self.policing.reported(rate, loss);
                thinned += u32::from(self.policing.is_on());
            }
            thinned
        }
    }

    #[test]
    fn random_loss_never_thins_and_keeps_the_copies() {
        for random in [50, 200, 400, 700] {
            let mut line = Line::new(random, u32::MAX);
            assert_eq!((line.run(200, 10), line.copies), (0, true), "{random} thousandths");
        }
    }

    #[test]
    fn copies_that_are_dropped_at_a_limit_are_of_no_use() {
        for (limit, thins) in [(1_850, false), (1_400, true), (1_100, true)] {
            for on_at in [1, 10] {
                let mut line = Line::new(0, limit);
                let thinned = line.run(30, on_at);
                assert!(!line.copies && (thinned > 0) == thins, "{limit}, {on_at}: {thinned} s");
            }
        }
        let mut wide = Line::new(100, 3_000);
        assert_eq!((wide.run(60, 10), wide.copies), (0, true), "most copies arrive");
    }

    #[test]
    fn single_rate_is_tried_again_after_longer_and_longer_rests() {
        let mut line = Line::new(0, 1_400);
        line.run(16, 10);
        let mut rests = Vec::new();
        for _ in 0..6 {
            while !line.policing.is_on() {
                line.run(1, u32::MAX);
            }
            let mut rest = 0;
            while line.policing.is_on() {
                line.run(1, u32::MAX);
                rest += 1;
            }
            rests.push(rest);
        }
        assert_eq!(rests, [30, 60, 120, 240, 480, 480]);
        line.limit = u32::MAX;
        assert_eq!(line.run(600, u32::MAX), 0, "the limit is gone");
    }

    #[test]
    fn thinning_that_does_not_help_ends_within_seconds() {
        let mut line = Line::new(0, 1_400);
        line.run(22, 10);
        assert!(line.policing.is_on());
        (line.random, line.limit) = (300, u32::MAX);
        let thinned = line.run(300, u32::MAX);
        assert!(thinned < 6, "{thinned} s");
    }
}
