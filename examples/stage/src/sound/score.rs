//! A score: notes put together to a loop whose end runs into its beginning.

use super::{Clip, RATE};

/// The longest loop that is written.
const MAX_SAMPLES: usize = 60 * RATE as usize;

/// A loop that is being written.
#[derive(Clone, Debug)]
pub struct Score {
    samples: Vec<f32>,
    samples_per_beat: f32,
}

impl Score {
    /// A silent loop of so many beats.
    pub fn new(beats_per_minute: f32, beats: u16) -> Self {
        let samples_per_beat = 60.0 / beats_per_minute.max(1.0) * RATE as f32;
        let len = ((samples_per_beat * f32::from(beats)) as usize).min(MAX_SAMPLES);
        Self { samples: vec![0.0; len], samples_per_beat }
    }

    /// Puts a clip at a beat. What does not fit before the end sounds on at the beginning.
    pub fn put(&mut self, beat: f32, clip: &Clip, gain: f32) {
        let len = self.samples.len();
        if len == 0 {
            return;
        }
        let start = (beat.max(0.0) * self.samples_per_beat) as usize;
        for (at, sample) in clip.samples().iter().enumerate() {
            self.samples[(start + at) % len] += sample * gain;
        }
    }

    /// The seconds of one beat, for instruments whose notes are as long.
    pub fn beat_seconds(&self) -> f32 {
        self.samples_per_beat / RATE as f32
    }

    pub fn finish(self) -> Clip {
        Clip::of_samples(self.samples)
    }
}
