//! The client's idea of the server's time, from the arrival of snapshots and from the mean round trip.

use crate::Frame;
use crate::authority::numbering::nearest;
use crate::protocol::time::{Span, Time};
use core::time::Duration;

/// The mean round trip is taken of this many pings; a newer one weighs as much as one of them.
const PINGS: i64 = 32;

/// The mean arrival is taken of the snapshots of this many seconds.
const ARRIVAL_SECONDS: i64 = 3;

/// A round trip beyond this says nothing about the path.
const MAX_ROUND_TRIP: Span = Span::from_secs(1);

/// A sample that is this far from the mean, and several times as far as others, is an outlier. Three in a row on the same
/// side are another path or another clock, of which the mean restarts.
const OUTLIER_NANOS: f64 = 30e6;
const OUTLIER_DEVIATIONS: f64 = 5.0;
const OUTLIERS: i8 = 3;

/// A snapshot this far from the line of arrival is forged, or the server's clock has jumped.
const IMPLAUSIBLE_NANOS: i64 = 1_000_000_000;

/// A server does not run for longer than this: times in nanoseconds stay within 64 bits, whatever a server claims.
const MAX_SECONDS: u64 = u32::MAX as u64 / 2;

/// The least safety of the lead.
const MIN_MARGIN_NANOS: i64 = 50_000_000;

/// A longer run of lost packets is an outage, which no lead can cover.
const MAX_LOSS_RUN: i64 = 4;

/// A mean of the last samples and the mean deviation from it.
#[derive(Clone, Copy, Debug)]
struct Mean {
    window: i64,
    count: i64,
    mean: f64,
    deviation: f64,
    /// The number of outliers in a row, negative if they were below the mean.
    outliers: i8,
}

impl Mean {
    const fn new(window: i64) -> Self {
        Self { window, count: 0, mean: 0.0, deviation: 0.0, outliers: 0 }
    }

    /// Takes in a sample. `false` if it is an outlier, which is left out.
    fn add(&mut self, sample: f64) -> bool {
        let away = sample - self.mean;
        if self.count > 0 && away.abs() > OUTLIER_NANOS.max(OUTLIER_DEVIATIONS * self.deviation) {
            let side = if away > 0.0 { 1 } else { -1 };
            self.outliers = if self.outliers.signum() == side { self.outliers + side } else { side };
            if self.outliers.abs() < OUTLIERS {
                return false;
            }
            *self = Self::new(self.window);
        }
        self.outliers = 0;
        self.count = (self.count + 1).min(self.window);
        let weight = 1.0 / self.count as f64;
        let away = sample - self.mean;
        self.mean += away * weight;
        if self.count > 1 {
            self.deviation += (away.abs() - self.deviation) / (self.count - 1) as f64;
        }
        true
    }
}

/// Server time, the lead over it, and the line of arrival behind it. Times are nanoseconds on the server's frame count.
#[derive(Clone, Copy, Debug)]
pub(super) struct ServerClock {
    frame_nanos: i64,
    round_trip: Mean,
    /// The last round trip, and the one smoothed up quickly and down slowly that the lead is made of.
    last_round_trip: f64,
    lead_round_trip: f64,
    /// The time of a snapshot less our time of its arrival.
    arrival: Mean,
    /// The newest frame, whole, and whether its first snapshot has arrived at these rates.
    newest: Option<u64>,
    arrived: Option<Frame>,
    loss_run: i64,
}

impl ServerClock {
    pub(super) fn new(frame_rate: u16, broadcast_rate: u16) -> Self {
        Self {
            frame_nanos: 1_000_000_000 / i64::from(frame_rate),
            round_trip: Mean::new(PINGS),
            last_round_trip: 0.0,
            lead_round_trip: 0.0,
            arrival: Mean::new(ARRIVAL_SECONDS * i64::from(broadcast_rate)),
            newest: None,
            arrived: None,
            loss_run: 0,
        }
    }

    /// Takes over the rates that the server has sent. Measurements of the path are kept.
    pub(super) fn set_rates(&mut self, frame_rate: u16, broadcast_rate: u16) {
        let frame_nanos = 1_000_000_000 / i64::from(frame_rate);
        if frame_nanos != self.frame_nanos {
            self.arrival = Mean::new(ARRIVAL_SECONDS * i64::from(broadcast_rate));
            (self.frame_nanos, self.arrived) = (frame_nanos, None);
        }
    }

    pub(super) fn frame_nanos(&self) -> i64 {
        self.frame_nanos
    }

    /// Takes in a round trip. `false` if it is an outlier: the path may have changed, and more pings will tell.
    pub(super) fn round_trip(&mut self, sample: Span) -> bool {
        let sample = sample.min(MAX_ROUND_TRIP).nanos() as f64;
        if self.round_trip.count == 0 {
            self.lead_round_trip = sample;
        }
        self.last_round_trip = sample;
        self.round_trip.add(sample)
    }

    /// The time of a frame: its number, across the wrap nearest to the newest, times its length.
    pub(super) fn time_of(&self, frame: Frame) -> i64 {
        self.whole(frame) as i64 * self.frame_nanos
    }

    fn whole(&self, frame: Frame) -> u64 {
        self.newest.map_or(u64::from(frame.0), |newest| nearest(newest, frame.0))
    }

    /// Notes that the server has reached a frame.
    pub(super) fn reached(&mut self, frame: Frame) {
        self.newest = self.newest.max(Some(self.whole(frame)));
    }

    /// Takes in the arrival of a snapshot. `false` if it cannot be of this server's time; three in a row are a new time.
    pub(super) fn arrived(&mut self, now: Time, frame: Frame) -> bool {
        if self.whole(frame) > MAX_SECONDS * 1_000_000_000 / self.frame_nanos.unsigned_abs() {
            return false;
        }
        let was_implausible = self.is_implausible(now, frame);
        // Further parts of the same frame say nothing new.
        if self.arrived != Some(frame) {
            self.arrived = Some(frame);
            self.arrival.add((self.time_of(frame) - nanos(now)) as f64);
        }
        let is_taken = !(was_implausible && self.is_implausible(now, frame));
        if is_taken {
            self.reached(frame);
        }
        is_taken
    }

    fn is_implausible(&self, now: Time, frame: Frame) -> bool {
        let away = self.time_of(frame) - self.arrival_line(now);
        self.arrival.count > 0 && away.abs() > IMPLAUSIBLE_NANOS
    }

    /// One step of the smoothing for the lead: a longer round trip is believed quickly, a shorter one slowly. `loss_run` is
    /// the longest run of packets lost lately.
    pub(super) fn smooth_lead(&mut self, loss_run: u32) {
        self.loss_run = i64::from(loss_run).min(MAX_LOSS_RUN);
        let away = self.last_round_trip - self.lead_round_trip;
        self.lead_round_trip += away * if away > 0.0 { 0.1 } else { 0.01 };
    }

    pub(super) fn is_ready(&self) -> bool {
        self.round_trip.count > 0 && self.arrival.count > 0
    }

    /// The time that the newest snapshot would show if it arrived now: server time less the mean way here.
    pub(super) fn arrival_line(&self, now: Time) -> i64 {
        nanos(now) + self.arrival.mean as i64
    }

    /// The server's time now.
    pub(super) fn server_time(&self, now: Time) -> i64 {
        self.arrival_line(now) + self.mean_round_trip() / 2
    }

    /// The time at which an input that is made now should be applied.
    pub(super) fn target(&self, now: Time) -> i64 {
        self.server_time(now) + (self.lead_round_trip / 2.0) as i64 + self.margin()
    }

    /// The safety of the lead. A run of lost packets delays the oldest of their inputs as jitter does: by one frame for
    /// each, until the first packet after them.
    fn margin(&self) -> i64 {
        let jitter = 2 * self.round_trip.deviation.max(self.arrival.deviation) as i64;
        MIN_MARGIN_NANOS.max(jitter + self.loss_run * self.frame_nanos)
    }

    pub(super) fn mean_round_trip(&self) -> i64 {
        self.round_trip.mean as i64
    }

    /// The mean deviation of the arrival of snapshots.
    pub(super) fn arrival_jitter(&self) -> i64 {
        self.arrival.deviation as i64
    }
}

/// A point of our own time in nanoseconds.
pub(super) fn nanos(now: Time) -> i64 {
    now.since(Time::ZERO).nanos() as i64
}

/// A length of time in nanoseconds; nothing if it is negative.
pub(super) fn duration(nanos: i64) -> Duration {
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn without_jitter_the_clock_is_exact() {
        let mut clock = ServerClock::new(50, 10);
        assert!(!clock.is_ready());
        clock.round_trip(Span::from_millis(80));
        // Frame 100 of 20 ms, sent at 2 s of the server's time, arrives at 7 s of ours.
        clock.arrived(at(7_000), Frame(100));
        clock.arrived(at(7_003), Frame(100));
        assert_eq!(clock.server_time(at(7_000)), 2_040_000_000);
        assert_eq!(clock.arrival_line(at(7_010)), 2_010_000_000);
        assert_eq!(clock.target(at(7_000)), 2_130_000_000);
    }

    #[test]
    fn one_outlier_moves_nothing_and_three_are_a_new_clock() {
        let mut clock = ServerClock::new(50, 10);
        clock.round_trip(Span::from_millis(80));
        for n in 0..20 {
            clock.arrived(at(1_000 + 100 * n), Frame(5 * n as u32));
        }
        let before = clock.server_time(at(3_000));
        clock.arrived(at(3_700), Frame(100));
        assert_eq!(clock.server_time(at(3_000)), before);
        clock.arrived(at(3_800), Frame(105));
        clock.arrived(at(3_900), Frame(110));
        assert_eq!(before - clock.server_time(at(3_000)), 700_000_000);
    }

    /// A clock that knows a round trip of 80 ms and snapshots in every fifth frame of 20 ms.
    fn running() -> ServerClock {
        let mut clock = ServerClock::new(50, 10);
        clock.round_trip(Span::from_millis(80));
        (0..20).for_each(|n| assert!(clock.arrived(at(1_000 + 100 * n), Frame(5 * n as u32))));
        clock
    }

    /// The lead over the server's time, in milliseconds.
    fn lead(clock: &ServerClock) -> i64 {
        (clock.target(at(3_000)) - clock.server_time(at(3_000))) / 1_000_000
    }

    #[test]
    fn outliers_of_both_sides_and_with_others_between_are_left_out() {
        let mut clock = running();
        let before = clock.server_time(at(3_000));
        for (n, late) in [(20, 200), (21, 0), (22, 200), (23, 200), (24, 0), (25, 200), (26, 200)] {
            clock.arrived(at(1_100 + 100 * n - 100 + late), Frame(5 * n as u32));
            assert_eq!(clock.server_time(at(3_000)), before, "snapshot {n}");
        }
        let mut clock = running();
        for (n, arrives) in [(20, 3_200), (21, 3_300), (23, 3_100), (24, 3_200)] {
            clock.arrived(at(arrives), Frame(5 * n));
            assert_eq!(clock.server_time(at(3_000)), before, "snapshot {n}");
        }
        clock.arrived(at(3_300), Frame(5 * 25));
        assert_eq!(clock.server_time(at(3_000)), before + 200_000_000, "three in a row on one side");
    }

    #[test]
    fn other_frame_rate_begins_the_line_of_arrival_anew() {
        let mut clock = running();
        clock.set_rates(50, 10);
        assert!(clock.is_ready());
        clock.set_rates(100, 10);
        assert!(!clock.is_ready() && clock.frame_nanos() == 10_000_000);
        clock.arrived(at(3_000), Frame(95));
        assert_eq!(clock.arrival_line(at(3_000)), 950_000_000, "a frame of the same number too");
    }

    #[test]
    fn snapshot_more_than_a_second_off_is_implausible() {
        assert!(!ServerClock::new(50, 10).is_implausible(at(0), Frame(1_000_000)), "nothing is known yet");
        let clock = running();
        // Frame 100 would arrive at 3,000 ms.
        let away = |ms| clock.is_implausible(at(ms), Frame(100));
        assert_eq!([1_999, 2_000, 3_000, 4_000, 4_001].map(away), [true, false, false, false, true]);
    }

    #[test]
    fn round_trip_is_at_most_a_second() {
        let mut clock = ServerClock::new(50, 10);
        clock.round_trip(Span::from_secs(5));
        assert_eq!(clock.mean_round_trip(), 1_000_000_000);
    }

    #[test]
    fn lead_grows_quickly_and_shrinks_slowly() {
        let mut clock = running();
        assert_eq!(lead(&clock), 40 + 50);
        clock.round_trip(Span::from_millis(100));
        assert_eq!(lead(&clock), 40 + 50, "not at once");
        clock.smooth_lead(0);
        assert_eq!(lead(&clock), 41 + 50, "a tenth of 20 ms, each way");
        (0..200).for_each(|_| clock.smooth_lead(0));
        assert_eq!(lead(&clock), 49 + 50);
        clock.round_trip(Span::from_millis(80));
        (0..10).for_each(|_| clock.smooth_lead(0));
        assert_eq!(lead(&clock), 49 + 50, "a tenth of the way");
    }

    #[test]
    fn lead_covers_runs_of_up_to_four_lost_packets() {
        let mut clock = running();
        for (run, margin) in [(0, 50), (2, 50), (3, 60), (4, 80), (20, 80)] {
            clock.smooth_lead(run);
            assert_eq!(lead(&clock), 40 + margin, "{run} lost");
        }
    }

    #[test]
    fn lead_covers_twice_the_jitter_of_either_direction() {
        let mut clock = ServerClock::new(50, 10);
        clock.round_trip(Span::from_millis(80));
        // Two arrivals that are 28 ms apart from each other's line.
        clock.arrived(at(1_000), Frame(0));
        clock.arrived(at(1_128), Frame(5));
        assert_eq!((clock.arrival_jitter(), lead(&clock)), (28_000_000, 40 + 56));
        let mut clock = running();
        clock.round_trip(Span::from_millis(108));
        assert_eq!((clock.arrival_jitter(), lead(&clock)), (0, 40 + 56));
    }

    #[test]
    fn implausible_snapshot_is_not_the_newest_frame() {
        let mut clock = running();
        assert!(clock.arrived(at(3_000), Frame(100)));
        assert_eq!(clock.newest, Some(100));
        assert!(!clock.arrived(at(3_001), Frame(5_000)));
        assert_eq!(clock.newest, Some(100));
        assert!(clock.arrived(at(3_100), Frame(105)));
        assert_eq!(clock.newest, Some(105));
    }
}
