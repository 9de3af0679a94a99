//! Whether the game gives one clock to all of its calls.
//!
//! A game that reads another clock for `advance` than for its datagrams plays far too slowly, or always late, and both
//! machines would blame the peer. Inputs are sent after the frame that they belong to, so that a time of sending before that
//! of the frame proves two clocks, however slow the machine is.

use crate::protocol::time::{Span, Time};

/// A smaller difference is no evidence: two readings of one clock are that far apart on a slow machine.
const MIN_OFFSET: Span = Span::from_millis(40);

/// The mistake is told when the differences of a few frames, in units of [`MIN_OFFSET`], add up to this: with 200 ms after
/// eight frames.
const ENOUGH: u64 = 40;

/// Frames with a difference that are further apart than this have nothing to do with each other.
const REMEMBERED: Span = Span::from_secs(10);

/// The difference between the times of frames and those of datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ClockMistake {
    pub(super) offset: Span,
    /// Whether the times of frames are the later ones.
    pub(super) is_ahead: bool,
}

/// Compares the times of `advance` with those at which input packets are sent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ClockCheck {
    frame_at: Time,
    sent_at: Time,
    /// The time of the last frame with a difference, and the sum of the differences up to it.
    found_at: Option<Time>,
    sum: u64,
    is_told: bool,
}

impl ClockCheck {
    /// A frame is due at `now`. Returns the mistake to tell the game of, once.
    #[inline]
    pub(super) fn frame(&mut self, now: Time) -> Option<ClockMistake> {
        let found = if now < self.sent_at { self.frame_before_sending(now) } else { None };
        self.frame_at = now;
        found
    }

    /// An input packet is sent at `now`. Returns the mistake to tell the game of, once.
    #[inline]
    pub(super) fn send(&mut self, now: Time) -> Option<ClockMistake> {
        self.sent_at = now;
        if now < self.frame_at { self.sending_before_frame(now) } else { None }
    }

    #[cold]
    fn sending_before_frame(&mut self, now: Time) -> Option<ClockMistake> {
        self.note(ClockMistake { offset: self.frame_at.since(now), is_ahead: true }, self.frame_at)
    }

    /// A slow loop that reads its clock once at its beginning is late by as much as its frames are long.
    #[cold]
    fn frame_before_sending(&mut self, now: Time) -> Option<ClockMistake> {
        let offset = self.sent_at.since(now);
        if offset <= now.since(self.frame_at) * 2 {
            return None;
        }
        self.note(ClockMistake { offset, is_ahead: false }, now)
    }

    fn note(&mut self, mistake: ClockMistake, frame_at: Time) -> Option<ClockMistake> {
        if mistake.offset < MIN_OFFSET || self.found_at == Some(frame_at) {
            return None;
        }
        if !self.was_found(frame_at) {
            self.sum = 0;
        }
        // One frame alone is no evidence, however great its difference: a clock may be set once.
        let is_second = self.sum > 0;
        self.found_at = Some(frame_at);
        self.sum += mistake.offset.nanos() / MIN_OFFSET.nanos();
        let is_news = is_second && self.sum >= ENOUGH && !self.is_told;
        self.is_told |= is_news;
        is_news.then_some(mistake)
    }

    fn was_found(&self, now: Time) -> bool {
        self.found_at.is_some_and(|at| now.since(at) <= REMEMBERED)
    }

    /// Whether the game was told of a mistake, and still makes it at `now`.
    pub(super) fn is_wrong(&self, now: Time) -> bool {
        self.is_told && self.was_found(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// Plays frames at these times, each with the time of `advance` and that of sending; the first mistake that is told.
    fn told(frames: impl Iterator<Item = (u64, u64)>) -> Option<(usize, ClockMistake)> {
        let mut check = ClockCheck::default();
        frames.enumerate().find_map(|(n, (frame, send))| {
            let mistakes = [check.frame(ms(frame)), check.send(ms(send))];
            mistakes.into_iter().flatten().next().map(|mistake| (n, mistake))
        })
    }

    #[test]
    fn times_of_frames_that_are_ahead_are_told_after_eight_frames() {
        let (frame, mistake) = told((0..100).map(|n| (n * 216 + 200, n * 216))).unwrap();
        assert_eq!((frame, mistake), (7, ClockMistake { offset: Span::from_millis(200), is_ahead: true }));
        assert_eq!(told((0..10).map(|n| (n * 5_016 + 5_000, n * 5_016))).unwrap().0, 1);
        assert_eq!(told((0..100).map(|n| (n * 66 + 50, n * 66))).unwrap().0, 39);
    }

    #[test]
    fn times_of_frames_that_are_behind_are_told() {
        let (_, mistake) = told((60..200).map(|n| (n * 16 - 200, n * 16))).unwrap();
        assert_eq!(mistake, ClockMistake { offset: Span::from_millis(184), is_ahead: false });
    }

    #[test]
    fn slow_machines_make_no_mistake() {
        assert_eq!(told((0..1_000).map(|n| (n * 16, n * 16))), None);
        assert_eq!(told((0..1_000).map(|n| (n * 500, n * 500 + 450))), None, "a step takes 450 ms");
        let once_a_loop = (0..1_000).map(|n| (n * 300, n * 300 + 299));
        assert_eq!(told(once_a_loop), None, "a clock that is read at the beginning of a slow loop");
        let sends_late = (0..1_000).map(|n| (n * 300, n * 300 + 350));
        assert_eq!(told(sends_late), None, "the same, and the packets of a frame leave in the next loop");
        let hiccups = (0..1_000).map(|n| (n * 16, n * 16 + if n % 60 == 0 { 400 } else { 0 }));
        assert_eq!(told(hiccups.take(60 * 4)), None);
    }

    #[test]
    fn clock_set_once_is_no_error() {
        let set_back =
            (0..1_000).map(|n| if n < 500 { (n * 16 + 9_000, n * 16 + 9_000) } else { (n * 16, n * 16) });
        assert_eq!(told(set_back), None);
    }
}
