//! How many parts may be under way, from the rate at which they arrive.
//!
//! Losses do not lower the window: a bad radio link loses as many packets however slowly they are sent. The window follows
//! the parts that arrive in a round trip of an empty line. It doubles in each round trip while more and more arrive. After
//! that it stays a quarter above what arrives, so that a full line has a short queue.

use crate::protocol::time::{Span, Time};
use crate::wire::message::REACH;

/// The window at the start, that of common QUIC stacks.
const FIRST_WINDOW: u32 = 32;
/// The largest window. Acknowledgements reach twice as far, so that a part that is lost again and again does not stop the rest.
const MAX_WINDOW: u32 = REACH as u32 / 2;
/// Parts in the window above those that arrive, so that it never closes.
const SPARE: u32 = 4;
/// The shortest interval in which arrivals are counted: machines that are polled once a frame receive in bursts.
const MIN_INTERVAL: Span = Span::from_millis(20);
/// After this many intervals in which arrivals did not grow by a quarter the line is full.
const FULL_AFTER: u32 = 3;
/// The shortest time from one part to the next: 2 MiB in a second.
const MIN_SPACING: Span = Span::from_micros(490);
/// The longest silence of the caller that is made up for: 40 parts.
const MAX_BURST: Span = Span::from_millis(20);
const MIN_TIMEOUT: Span = Span::from_millis(100);
const MAX_TIMEOUT: Span = Span::from_secs(1);

#[derive(Clone, Debug)]
pub(crate) struct Congestion {
    window: u32,
    /// Whether the window still doubles.
    is_starting: bool,
    since: Time,
    arrived: u32,
    /// The most parts that arrived in an interval; it decays.
    best: u32,
    without_growth: u32,
    /// Whether something else than the window has held back parts in this interval, so that few arrivals mean nothing.
    was_idle: bool,
    shortest_trip: Span,
    trip: Span,
    /// How often in a row nothing was acknowledged in time.
    timeouts: u32,
    /// When the next part may go out.
    free_at: Time,
}

impl Congestion {
    pub(crate) fn new(now: Time, trip: Span) -> Self {
        Self {
            window: FIRST_WINDOW,
            is_starting: true,
            since: now,
            arrived: 0,
            best: 0,
            without_growth: 0,
            was_idle: false,
            shortest_trip: trip,
            trip,
            timeouts: 0,
            free_at: now,
        }
    }

    /// The most parts that may be under way.
    pub(crate) fn window(&self) -> u32 {
        self.window
    }

    /// When the next part may go out.
    pub(crate) fn free_at(&self) -> Time {
        self.free_at
    }

    /// A part goes out. The window is spread over half a round trip.
    pub(crate) fn sent(&mut self, now: Time) {
        let spacing = MIN_SPACING.max(self.trip / (2 * self.window));
        self.free_at = self.free_at.max(now.shifted(-(MAX_BURST.nanos() as i64))) + spacing;
    }

    /// There is no part to send, although the window has room for one.
    pub(crate) fn idle(&mut self) {
        self.was_idle = true;
    }

    /// The age of a part after which it is lost if a later one has arrived.
    pub(crate) fn reordering(&self) -> Span {
        self.trip / 4
    }

    /// The age of a part after which it is lost in any case.
    pub(crate) fn timeout(&self) -> Span {
        let timeout = (self.trip * 2).max(MIN_TIMEOUT) * (1 << self.timeouts.min(4));
        timeout.min(MAX_TIMEOUT.max(self.trip * 2))
    }

    /// Parts were not acknowledged in time: the line may be dead, or far slower than before.
    pub(crate) fn timed_out(&mut self) {
        self.timeouts += 1;
        (self.window, self.is_starting) = (FIRST_WINDOW / 4, true);
        (self.arrived, self.best, self.without_growth) = (0, 0, 0);
    }

    /// Whether a part that was acknowledged after this time can have made the round trip: otherwise an earlier copy did.
    pub(crate) fn is_plausible(&self, trip: Span) -> bool {
        trip >= self.shortest_trip / 2
    }

    /// Takes in a round trip.
    pub(crate) fn measured(&mut self, trip: Span) {
        self.shortest_trip = self.shortest_trip.min(trip);
        self.trip = self.trip.averaged(trip, 8);
    }

    /// Parts have arrived.
    pub(crate) fn arrived(&mut self, now: Time, parts: u32) {
        self.timeouts = 0;
        if self.is_starting {
            self.window = (self.window + parts).min(MAX_WINDOW);
        }
        self.arrived += parts;
        let interval = self.shortest_trip.max(MIN_INTERVAL);
        let passed = now.since(self.since);
        if passed < interval {
            return;
        }
        let arrived = u64::from(self.arrived) * interval.nanos() / passed.nanos();
        let arrived = arrived as u32;
        if arrived * 4 > self.best * 5 {
            self.without_growth = 0;
        } else if !self.was_idle {
            self.without_growth += 1;
        }
        let decay = if self.was_idle { 0 } else { self.best / 8 };
        self.best = arrived.max(self.best - decay);
        if self.without_growth >= FULL_AFTER {
            self.is_starting = false;
        }
        if !self.is_starting {
            self.window = (self.best + self.best / 4 + SPARE).min(MAX_WINDOW);
        }
        (self.since, self.arrived, self.was_idle) = (now, 0, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRIP: Span = Span::from_millis(100);

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn window_doubles_in_a_round_trip_while_more_arrives() {
        let mut congestion = Congestion::new(at(0), TRIP);
        let mut windows = Vec::new();
        for round in 1..=5 {
            congestion.arrived(at(100 * round), congestion.window());
            windows.push(congestion.window());
        }
        assert_eq!(windows, [64, 128, 256, 256, 256]);
    }

    #[test]
    fn window_doubles_on_after_growth_that_pauses_twice() {
        let mut congestion = Congestion::new(at(0), TRIP);
        // Two rounds without growth are no full line, and those before the last growth do not count.
        for (round, parts) in (1..).zip([10, 10, 10, 20, 20, 20]) {
            congestion.arrived(at(100 * round), parts);
        }
        assert_eq!(congestion.window(), FIRST_WINDOW + 90);
    }

    #[test]
    fn window_of_a_full_line_stays_a_quarter_above_its_arrivals() {
        let mut congestion = Congestion::new(at(0), TRIP);
        for round in 1..=20 {
            congestion.arrived(at(100 * round), congestion.window().min(40));
        }
        assert_eq!(congestion.window(), 54);
        for round in 21..=60 {
            congestion.arrived(at(100 * round), congestion.window().min(10));
        }
        assert!((14..=20).contains(&congestion.window()), "{}", congestion.window());
    }

    #[test]
    fn intervals_without_parts_to_send_do_not_close_the_window() {
        let mut congestion = Congestion::new(at(0), TRIP);
        (1..=20).for_each(|round| congestion.arrived(at(100 * round), congestion.window().min(40)));
        let window = congestion.window();
        for round in 21..=60 {
            congestion.idle();
            congestion.arrived(at(100 * round), 1);
        }
        assert_eq!(congestion.window(), window);
    }

    #[test]
    fn deep_queue_does_not_open_the_window() {
        // The line passes 40 parts in 100 ms. More parts under way only lengthen the round trip.
        let mut congestion = Congestion::new(at(0), TRIP);
        for step in 1..=100 {
            congestion.measured(Span::from_millis(100 + u64::from(congestion.window())));
            congestion.arrived(at(10 * step), 4);
        }
        assert!(congestion.window() <= 60, "{}", congestion.window());
    }

    #[test]
    fn parts_are_spread_and_never_more_than_two_mebibytes_a_second() {
        let mut congestion = Congestion::new(at(0), TRIP);
        (0..FIRST_WINDOW).for_each(|_| congestion.sent(at(0)));
        assert_eq!(congestion.free_at(), at(50), "half a round trip");
        let mut fast = Congestion::new(at(0), Span::from_micros(100));
        let mut sent = 0;
        for ms in 0..1_000 {
            while fast.free_at() <= at(ms) {
                fast.sent(at(ms));
                sent += 1;
            }
        }
        assert!((1_900..=2_100).contains(&sent), "{sent} KiB in a second");
        let mut burst = 0;
        while fast.free_at() <= at(60_000) {
            fast.sent(at(60_000));
            burst += 1;
        }
        assert!(burst <= 42, "{burst} at once after a pause of the caller");
    }

    #[test]
    fn timeouts_double_up_to_a_second_until_something_arrives() {
        let mut congestion = Congestion::new(at(0), TRIP);
        let mut timeouts = vec![congestion.timeout()];
        for _ in 0..4 {
            congestion.timed_out();
            timeouts.push(congestion.timeout());
        }
        assert_eq!(timeouts, [200, 400, 800, 1_000, 1_000].map(Span::from_millis));
        congestion.arrived(at(5_000), 1);
        assert_eq!(congestion.timeout(), Span::from_millis(200));
    }

    #[test]
    fn ack_within_half_the_shortest_trip_is_of_an_earlier_copy() {
        let mut congestion = Congestion::new(at(0), TRIP);
        congestion.measured(Span::from_millis(60));
        congestion.measured(Span::from_millis(200));
        assert!(congestion.is_plausible(Span::from_millis(30)));
        assert!(!congestion.is_plausible(Span::from_micros(29_999)));
    }

    #[test]
    fn late_caller_makes_up_for_twenty_milliseconds() {
        let mut congestion = Congestion::new(at(0), Span::from_millis(640));
        congestion.sent(at(0));
        assert_eq!(congestion.free_at(), at(10), "the window over half a round trip");
        congestion.sent(at(15));
        assert_eq!(congestion.free_at(), at(20));
        congestion.sent(at(1_000));
        assert_eq!(congestion.free_at(), at(990));
    }

    #[test]
    fn timeout_doubles_four_times_and_no_longer_than_a_second() {
        let mut congestion = Congestion::new(at(0), Span::from_millis(10));
        let mut timeouts = Vec::new();
        for _ in 0..6 {
            timeouts.push(congestion.timeout());
            congestion.timed_out();
            assert_eq!(congestion.window(), 8);
        }
        assert_eq!(timeouts, [100, 200, 400, 800, 1_000, 1_000].map(Span::from_millis));
        congestion.arrived(at(100), 1);
        assert_eq!((congestion.timeout(), congestion.window()), (Span::from_millis(100), 9));
        assert_eq!(Congestion::new(at(0), Span::from_secs(3)).timeout(), Span::from_secs(6));
    }
}
