//! A stream of samples that a game makes itself, with rate control.
//!
//! The game's clock and that of the device are not the same, and a match paces its frames. The [`Feed`] therefore resamples by a
//! ratio that follows how full the buffer is: half a per cent at most, which nobody hears as a pitch.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::RATE;

/// Frames of sound that should wait for the device: 64 ms, the length of four frames of a game.
const TARGET: usize = RATE as usize * 64 / 1_000;
/// Frames of sound that wait at most; more are dropped.
const MAX_WAITING: usize = 4 * TARGET;
/// The most by which the rate is changed.
const MAX_CHANGE: f64 = 0.005;
/// The factor by which the last sample fades in each frame of an empty buffer, so that it ends without a click.
const FADE: f32 = 0.995;

/// The counters of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FeedStats {
    /// How often the device found the buffer empty in the middle of the stream.
    pub underruns: u64,
    /// Frames of sound that were dropped, because the buffer was full.
    pub dropped: u64,
    /// Frames of sound that the device has taken.
    pub taken: u64,
}

#[derive(Debug, Default)]
struct Waiting {
    frames: VecDeque<[f32; 2]>,
    last: [f32; 2],
    /// The buffer was full enough to begin.
    is_playing: bool,
    stats: FeedStats,
}

/// The buffer between a [`Feed`] and the mixer.
#[derive(Debug, Default)]
pub(super) struct Ring(Mutex<Waiting>);

impl Ring {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fills `out` with the next samples, left and right in turn; silence where there are none.
    pub(super) fn take(&self, out: &mut [f32]) {
        let mut waiting = self.lock();
        let Waiting { frames, last, is_playing, stats } = &mut *waiting;
        for sides in out.chunks_mut(2) {
            *is_playing |= frames.len() >= TARGET;
            let next = if *is_playing { frames.pop_front() } else { None };
            match next {
                Some(frame) => {
                    *last = frame;
                    stats.taken += 1;
                }
                None => {
                    stats.underruns += u64::from(std::mem::take(is_playing));
                    *last = last.map(|sample| sample * FADE);
                }
            }
            sides.copy_from_slice(&last[..sides.len()]);
        }
    }
}

/// The game's end of a stream. No call waits for the device.
#[derive(Debug)]
pub struct Feed {
    ring: Arc<Ring>,
    /// Frames of the game's sound for each of the device's.
    step: f64,
    /// The last four frames of the game, and how far the next sample is between the middle two.
    before: [[f32; 2]; 4],
    part: f64,
    made: Vec<[f32; 2]>,
}

impl Feed {
    pub(super) fn new(ring: Arc<Ring>, rate: f64) -> Self {
        let step = if rate.is_finite() { rate.clamp(1_000.0, 400_000.0) / f64::from(RATE) } else { 1.0 };
        *ring.lock() = Waiting::default();
        Self { ring, step, before: [[0.0; 2]; 4], part: 0.0, made: Vec::new() }
    }

    /// Adds the sound of a frame of the game.
    pub fn push(&mut self, samples: &[[i16; 2]]) {
        let waiting = self.ring.lock().frames.len();
        // A buffer that is too full is emptied faster: more of the game's frames go into each of the device's.
        let fullness = (waiting as f64 / TARGET as f64 - 1.0).clamp(-1.0, 1.0);
        let step = self.step * (1.0 + MAX_CHANGE * fullness);
        self.made.clear();
        for sample in samples {
            self.before.rotate_left(1);
            self.before[3] = sample.map(|side| f32::from(side) / 32_768.0);
            while self.part < 1.0 {
                let part = self.part as f32;
                self.made.push([0, 1].map(|side| between(self.before.map(|frame| frame[side]), part)));
                self.part += step;
            }
            self.part -= 1.0;
        }
        let mut waiting = self.ring.lock();
        let room = MAX_WAITING - waiting.frames.len().min(MAX_WAITING);
        waiting.frames.extend(self.made.iter().take(room));
        waiting.stats.dropped += self.made.len().saturating_sub(room) as u64;
    }

    /// Says that the game stands still, so that an empty buffer is no underrun.
    pub fn rest(&self) {
        self.ring.lock().is_playing = false;
    }

    /// The counters so far.
    pub fn stats(&self) -> FeedStats {
        self.ring.lock().stats
    }
}

/// The value between the middle two of four samples, on a curve through all of them.
fn between([a, b, c, d]: [f32; 4], part: f32) -> f32 {
    let slope = (c - a) / 2.0;
    let curve = a - 2.5 * b + 2.0 * c - d / 2.0;
    let bend = (d - a) / 2.0 + 1.5 * (b - c);
    ((bend * part + curve) * part + slope) * part + b
}
