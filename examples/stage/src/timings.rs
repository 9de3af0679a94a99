//! How evenly a view draws, and how soon a key is seen.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Ten minutes at 60 frames a second; what comes later is not measured.
const LIMIT: usize = 36_000;
const FRAME_MILLIS: f64 = 1e3 / 60.0;

static BEGUN: OnceLock<Instant> = OnceLock::new();

/// Notes when the view was asked for.
pub(crate) fn begin() {
    BEGUN.get_or_init(Instant::now);
}

/// The time to the first picture, from one to the next, for drawing one, and from a key to the picture that knows of it.
#[derive(Debug, Default)]
pub(crate) struct Timings {
    first: Option<Duration>,
    last: Option<Instant>,
    intervals: Vec<Duration>,
    work: Vec<Duration>,
    /// A key that the game has taken, and the picture that was made after that, once there is one.
    key: Option<(Instant, Option<u64>)>,
    keys: Vec<Duration>,
}

impl Timings {
    /// Notes that the game has taken a key that was pressed at this time.
    pub(crate) fn note_key(&mut self, pressed_at: Instant) {
        self.key.get_or_insert((pressed_at, None));
    }

    /// Notes that the game has made the picture of this version.
    pub(crate) fn note_made(&mut self, version: u64) {
        if let Some((_, made)) = &mut self.key {
            made.get_or_insert(version);
        }
    }

    /// Notes a picture whose drawing began at `start` and is done now.
    pub(crate) fn note_drawn(&mut self, version: u64, start: Instant) {
        let now = Instant::now();
        if self.first.is_none() {
            self.first = BEGUN.get().map(|begun| now - *begun);
        }
        if let Some((pressed_at, _)) = self.key.take_if(|(_, made)| made.is_some_and(|made| made <= version))
            && self.keys.len() < LIMIT
        {
            self.keys.push(now - pressed_at);
        }
        if let Some(last) = self.last.replace(now)
            && self.intervals.len() < LIMIT
        {
            self.intervals.push(now - last);
            self.work.push(now - start);
        }
    }
}

/// The time at a percentage of the sorted times, in milliseconds.
fn at(times: &[Duration], percent: usize) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    sorted[(sorted.len() - 1) * percent / 100].as_secs_f64() * 1e3
}

impl core::fmt::Display for Timings {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        if self.intervals.is_empty() {
            return f.write_str("no pictures were drawn");
        }
        let of = |times: &[Duration]| {
            let [p50, p99, max] = [50, 99, 100].map(|percent| at(times, percent));
            format!("p50 {p50:.2} ms, p99 {p99:.2} ms, max {max:.2} ms")
        };
        write!(f, "{} pictures: from one to the next {}", self.intervals.len() + 1, of(&self.intervals))?;
        write!(f, "; to draw one {}", of(&self.work))?;
        if let Some(first) = self.first {
            write!(f, "; the first after {:.0} ms", first.as_secs_f64() * 1e3)?;
        }
        if !self.keys.is_empty() {
            let [p50, p99] = [50, 99].map(|percent| at(&self.keys, percent) / FRAME_MILLIS);
            write!(f, "; from a key to its picture p50 {p50:.2} frames, p99 {p99:.2} frames")?;
        }
        Ok(())
    }
}
