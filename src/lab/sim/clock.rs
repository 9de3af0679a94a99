//! The clock of one simulated machine, and the pauses of the machine.

use crate::lab::link::nanos;
use std::time::Duration;

const MILLION: u64 = 1_000_000;
/// The greatest skew in either direction. Within it both mappings are exact.
const MAX_SKEW_PPM: i32 = 500_000;

/// The clock of one machine: `local = offset + true * (1 + skew_ppm / 1,000,000)`.
///
/// ```
/// use rebout::lab::sim::Clock;
/// use std::time::Duration;
///
/// let fast = Clock::new(Duration::from_secs(100), 1_000);
/// assert_eq!(fast.local(Duration::from_secs(10)), Duration::from_millis(110_010));
/// assert_eq!(fast.true_at(Duration::from_millis(110_010)), Duration::from_secs(10));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    offset: u64,
    skew_ppm: i32,
    pauses: Vec<Pause>,
}

/// A time in which a machine does not run. Its clock goes on, and its datagrams wait in the socket's buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// The start, in true time.
    pub start: Duration,
    /// The length, in true time.
    pub length: Duration,
}

impl Clock {
    /// A clock that shows `offset` at true time zero and runs `skew_ppm` parts of a million too fast, or too slow if
    /// negative. The skew is limited to half a million either way.
    #[must_use]
    pub fn new(offset: Duration, skew_ppm: i32) -> Self {
        let skew_ppm = skew_ppm.clamp(-MAX_SKEW_PPM, MAX_SKEW_PPM);
        Self { offset: nanos(offset), skew_ppm, pauses: Vec::new() }
    }

    /// The same clock on a machine that pauses for `length` from true time `start` on.
    #[must_use]
    pub fn with_pause(mut self, start: Duration, length: Duration) -> Self {
        self.pauses.push(Pause { start, length });
        self
    }

    /// The pauses of the machine.
    #[must_use]
    pub fn pauses(&self) -> &[Pause] {
        &self.pauses
    }

    /// The time that the clock shows at true time `time`. Never runs backwards.
    #[must_use]
    pub fn local(&self, time: Duration) -> Duration {
        Duration::from_nanos(self.local_nanos(nanos(time)))
    }

    /// The first true time at which the clock shows `local` or more.
    #[must_use]
    pub fn true_at(&self, local: Duration) -> Duration {
        Duration::from_nanos(self.true_nanos(nanos(local)))
    }

    /// `time`, or the end of the pause that it falls into.
    #[must_use]
    pub fn runs_at(&self, time: Duration) -> Duration {
        Duration::from_nanos(self.runs_nanos(nanos(time)))
    }

    fn rate(&self) -> u64 {
        MILLION.saturating_add_signed(i64::from(self.skew_ppm))
    }

    #[inline]
    pub(crate) fn local_nanos(&self, time: u64) -> u64 {
        if self.skew_ppm == 0 {
            return self.offset.saturating_add(time);
        }
        let whole = (time / MILLION).saturating_mul(self.rate());
        self.offset.saturating_add(whole).saturating_add(time % MILLION * self.rate() / MILLION)
    }

    #[inline]
    pub(crate) fn true_nanos(&self, local: u64) -> u64 {
        let since = local.saturating_sub(self.offset);
        if self.skew_ppm == 0 {
            return since;
        }
        let rate = self.rate();
        (since / rate).saturating_mul(MILLION).saturating_add((since % rate * MILLION).div_ceil(rate))
    }

    #[inline]
    pub(crate) fn runs_nanos(&self, mut time: u64) -> u64 {
        if self.pauses.is_empty() {
            return time;
        }
        // Repeat, because a pause may end inside another one, listed before it or after.
        while let Some(end) = self.pauses.iter().find_map(|pause| pause.end_if_within(time)) {
            time = end;
        }
        time
    }
}

impl Pause {
    fn end_if_within(&self, time: u64) -> Option<u64> {
        let start = nanos(self.start);
        let end = start.saturating_add(nanos(self.length));
        (start..end).contains(&time).then_some(end)
    }
}
