//! How evenly a view draws.

use std::time::{Duration, Instant};

/// Ten minutes at 60 frames a second; what comes later is not measured.
const LIMIT: usize = 36_000;

/// The time from one drawn picture to the next, and the time that drawing took.
#[derive(Debug, Default)]
pub(crate) struct Timings {
    last: Option<Instant>,
    intervals: Vec<Duration>,
    work: Vec<Duration>,
}

impl Timings {
    /// Notes a picture whose drawing began at `start` and is done now.
    pub(crate) fn note(&mut self, start: Instant) {
        let now = Instant::now();
        if let Some(last) = self.last.replace(now)
            && self.intervals.len() < LIMIT
        {
            self.intervals.push(now - last);
            self.work.push(now - start);
        }
    }
}

impl core::fmt::Display for Timings {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        if self.intervals.is_empty() {
            return f.write_str("no pictures were drawn");
        }
        let of = |times: &[Duration]| {
            let mut sorted = times.to_vec();
            sorted.sort_unstable();
            let at = |percent: usize| sorted[(sorted.len() - 1) * percent / 100].as_secs_f64() * 1e3;
            format!("p50 {:.2} ms, p99 {:.2} ms, max {:.2} ms", at(50), at(99), at(100))
        };
        write!(f, "{} pictures: from one to the next {}", self.intervals.len() + 1, of(&self.intervals))?;
        write!(f, "; to draw one {}", of(&self.work))
    }
}
