//! The time at which others are drawn: behind the line of arrival by a delay that follows jitter, and never backward.

/// The delay at the start, and its greatest.
const FIRST_DELAY_NANOS: i64 = 100_000_000;
const MAX_DELAY_NANOS: i64 = 250_000_000;

/// How many mean deviations of jitter the delay covers.
const DEVIATIONS: i64 = 3;

/// Render time runs at most a twentieth faster or slower.
const MAX_CHANGE: i64 = 20;

/// A render time further off than this is not worth being caught up with.
const JUMP_NANOS: i64 = 250_000_000;

/// Render time, in nanoseconds on the server's frame count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Playout {
    min_delay: i64,
    delay: i64,
    /// The render time and our own time of the last call.
    time: Option<(i64, i64)>,
}

impl Playout {
    pub(super) fn new(broadcast_rate: u16) -> Self {
        let mut this = Self { min_delay: 0, delay: 0, time: None };
        this.set_rate(broadcast_rate);
        this
    }

    pub(super) fn set_rate(&mut self, broadcast_rate: u16) {
        let period = 1_000_000_000 / i64::from(broadcast_rate);
        self.min_delay = (period * 3 / 2).min(MAX_DELAY_NANOS);
        self.delay = FIRST_DELAY_NANOS.clamp(self.min_delay, MAX_DELAY_NANOS);
    }

    /// Moves render time on. `arrival` is the time that a snapshot would show if it arrived now.
    pub(super) fn advance(&mut self, now: i64, arrival: i64, jitter: i64) {
        let wanted = (self.min_delay + DEVIATIONS * jitter).clamp(self.min_delay, MAX_DELAY_NANOS);
        let Some((render, at)) = self.time else {
            self.time = Some((arrival - self.delay, now));
            return;
        };
        let passed = (now - at).max(0);
        // The delay itself moves slowly, so that a single burst of jitter does not shake the picture.
        self.delay += (wanted - self.delay).clamp(-passed / MAX_CHANGE, passed / MAX_CHANGE);
        let target = arrival - self.delay;
        let error = target - (render + passed);
        let next = if error > JUMP_NANOS {
            target
        } else if error < -JUMP_NANOS {
            // Never backward: it pauses until the target is reached.
            render
        } else {
            render + passed + error.clamp(-passed / MAX_CHANGE, passed / MAX_CHANGE)
        };
        self.time = Some((next, now));
    }

    /// The render time; `None` before there is one.
    pub(super) fn time(&self) -> Option<i64> {
        self.time.map(|(render, _)| render)
    }

    pub(super) fn delay(&self) -> i64 {
        self.delay
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    #[test]
    fn render_time_is_monotonic_and_within_five_percent_of_speed() {
        let mut playout = Playout::new(20);
        playout.advance(0, 1_000 * MS, 0);
        let mut last = playout.time().unwrap();
        assert_eq!(last, 900 * MS);
        for n in 1..600 {
            let now = n * 16 * MS;
            // The line of arrival moves about by 40 ms, and jitter rises in the middle.
            let shake = if n % 50 < 25 { 40 * MS } else { 0 };
            playout.advance(now, 1_000 * MS + now + shake, if n < 300 { 0 } else { 40 * MS });
            let moved = playout.time().unwrap() - last;
            assert!((15 * MS..=17 * MS).contains(&moved), "call {n}: {moved}");
            last = playout.time().unwrap();
        }
        assert_eq!(playout.delay(), 195 * MS);
        playout.advance(10_000 * MS, 5_000 * MS, 0);
        assert_eq!(playout.time(), Some(last), "it stands, and does not go back");
    }

    #[test]
    fn delay_is_one_and_a_half_periods_and_at_most_a_quarter_second() {
        for (rate, delay) in [(60, 100), (20, 100), (10, 150), (4, 250), (1, 250)] {
            assert_eq!(Playout::new(rate).delay(), delay * MS, "{rate} snapshots a second");
        }
    }

    #[test]
    fn delay_covers_three_deviations_up_to_a_quarter_second() {
        for (jitter, delay) in [(0, 75), (20, 135), (500, 250)] {
            let mut playout = Playout::new(20);
            (0..1_000).for_each(|n| playout.advance(n * 16 * MS, n * 16 * MS, jitter * MS));
            assert_eq!(playout.delay(), delay * MS, "{jitter} ms of jitter");
        }
    }

    #[test]
    fn render_time_far_behind_jumps_and_stands_while_time_does() {
        let mut playout = Playout::new(20);
        playout.advance(0, 1_000 * MS, 0);
        playout.advance(20 * MS, 1_269 * MS, 0);
        assert_eq!(playout.time(), Some((900 + 21) * MS), "a quarter of a second off");
        playout.advance(40 * MS, 3_000 * MS, 0);
        assert_eq!(playout.time(), Some(3_000 * MS - playout.delay()));
        let before = (playout.time(), playout.delay());
        playout.advance(30 * MS, 3_000 * MS, 100 * MS);
        assert_eq!((playout.time(), playout.delay()), before);
    }
}
