//! The rate at which the peer's frames really arrive.

use crate::protocol::time::{Span, Time};

/// How many frames make a sample: jitter of a few frames is a small part of it.
const SAMPLE_FRAMES: u32 = 128;

/// Measures the length of the peer's frames by their arrival alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrivals {
    since: Time,
    frames: u32,
    length: Option<Span>,
}

impl Arrivals {
    pub(crate) fn new(now: Time) -> Self {
        Self { since: now, frames: 0, length: None }
    }

    /// Notes `frames` new frames.
    #[inline]
    pub(crate) fn heard(&mut self, now: Time, frames: u32) {
        self.frames += frames;
        if self.frames >= SAMPLE_FRAMES {
            self.sample(now);
        }
    }

    #[cold]
    fn sample(&mut self, now: Time) {
        let sample = now.since(self.since) / self.frames;
        self.length = Some(self.length.map_or(sample, |length| length.averaged(sample, 4)));
        (self.since, self.frames) = (now, 0);
    }

    /// Begins the sample again.
    pub(crate) fn skip_to(&mut self, now: Time) {
        (self.since, self.frames) = (now, 0);
    }

    /// The mean length of a frame, smoothed; `None` before the first sample.
    pub(crate) fn frame_length(&self) -> Option<Span> {
        self.length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_of_a_frame_is_measured_through_jitter_and_bursts() {
        let mut arrivals = Arrivals::new(Time::ZERO);
        assert_eq!(arrivals.frame_length(), None);
        for packet in 0..1_000_u64 {
            let jitter = [0, 9, 25, 3][packet as usize % 4];
            arrivals.heard(Time::ZERO + Span::from_millis(packet * 40 + jitter), 2);
        }
        let length = arrivals.frame_length().unwrap();
        assert!(length.abs_diff(Span::from_millis(20)) < Span::from_micros(300), "{length:?}");
    }

    #[test]
    fn time_that_is_skipped_is_in_no_sample() {
        let mut arrivals = Arrivals::new(Time::ZERO);
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        (0..100).for_each(|frame| arrivals.heard(at(frame * 20), 1));
        arrivals.skip_to(at(60_000));
        (1..=128).for_each(|frame| arrivals.heard(at(60_000 + frame * 20), 1));
        assert_eq!(arrivals.frame_length(), Some(Span::from_millis(20)));
    }
}
