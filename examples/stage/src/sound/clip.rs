//! Clips and the bank of them: every sound of a game, made by code when the game starts.

use std::sync::Arc;

use super::Piece;

/// Samples a second of every clip and of the mix.
pub const RATE: u32 = 48_000;

/// Longest clip that is made.
const MAX_SECONDS: f32 = 60.0;
/// A clip begins and ends with a ramp of this many samples, because a step in the wave is heard as a click.
const RAMP: usize = 24;

/// One sound, in mono at [`RATE`]. A copy shares the samples.
#[derive(Clone, Debug)]
pub struct Clip(Arc<[f32]>);

impl Clip {
    /// Makes a clip of `seconds` from a function of time.
    ///
    /// ```
    /// use stage::sound::Clip;
    /// let beep = Clip::make(0.1, |t| (t * 440.0 * core::f32::consts::TAU).sin());
    /// assert_eq!(beep.samples().len(), 4_800);
    /// ```
    pub fn make(seconds: f32, mut wave: impl FnMut(f32) -> f32) -> Self {
        let len = (seconds.clamp(0.0, MAX_SECONDS) * RATE as f32) as usize;
        let mut samples: Vec<f32> = (0..len).map(|at| wave(at as f32 / RATE as f32)).collect();
        let ramp = RAMP.min(len / 2);
        for at in 0..ramp {
            let part = at as f32 / ramp as f32;
            samples[at] *= part;
            samples[len - 1 - at] *= part;
        }
        Self(samples.into())
    }

    /// A clip of samples as they are, without a ramp at its ends.
    pub fn of_samples(samples: Vec<f32>) -> Self {
        Self(samples.into())
    }

    /// The same clip, so loud that its highest sample is `peak`.
    #[must_use]
    pub fn with_peak(self, peak: f32) -> Self {
        let now = self.peak();
        if now <= 0.0 {
            return self;
        }
        Self(self.0.iter().map(|sample| sample * peak / now).collect())
    }

    /// Several clips in one, each with the second at which it begins and the factor of its loudness.
    pub fn together(parts: &[(f32, &Self, f32)]) -> Self {
        let start = |seconds: f32| (seconds.clamp(0.0, MAX_SECONDS) * RATE as f32) as usize;
        let ends = parts.iter().map(|(seconds, clip, _)| start(*seconds) + clip.0.len());
        let mut samples = vec![0.0; ends.max().unwrap_or(0)];
        for (seconds, clip, gain) in parts {
            let place = samples[start(*seconds)..].iter_mut();
            place.zip(clip.0.iter()).for_each(|(sum, sample)| *sum += sample * gain);
        }
        Self(samples.into())
    }

    /// The same clip with its peaks bent down, which makes it denser: 1 bends little, 4 much.
    #[must_use]
    pub fn driven(self, drive: f32) -> Self {
        let peak = self.peak().max(f32::MIN_POSITIVE);
        Self(self.0.iter().map(|sample| (sample / peak * drive).tanh()).collect())
    }

    /// The highest sample, positive or negative.
    pub fn peak(&self) -> f32 {
        self.0.iter().fold(0.0, |peak, sample| sample.abs().max(peak))
    }

    /// The samples from the first to the last.
    pub fn samples(&self) -> &[f32] {
        &self.0
    }
}

/// The number of a sound in its bank. A game gives its own from 0 on; those of [`ui`](super::ui) are the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SoundId(pub u16);

/// The sounds and the music of a game by number. A number without either is silent.
#[derive(Clone, Debug, Default)]
pub struct Bank {
    clips: Vec<(SoundId, Clip)>,
    pieces: Vec<(SoundId, Piece)>,
}

impl Bank {
    /// Adds a sound, in place of the one that had the number before.
    #[must_use]
    pub fn with(mut self, id: SoundId, clip: Clip) -> Self {
        self.clips.retain(|(known, _)| *known != id);
        self.clips.push((id, clip));
        self
    }

    /// Adds a piece of music, in place of the one that had the number before.
    #[must_use]
    pub fn with_music(mut self, id: SoundId, piece: Piece) -> Self {
        self.pieces.retain(|(known, _)| *known != id);
        self.pieces.push((id, piece));
        self
    }

    /// The clip of a number.
    pub fn get(&self, id: SoundId) -> Option<&Clip> {
        self.clips.iter().find_map(|(known, clip)| (*known == id).then_some(clip))
    }

    /// The piece of music of a number.
    pub fn music(&self, id: SoundId) -> Option<&Piece> {
        self.pieces.iter().find_map(|(known, piece)| (*known == id).then_some(piece))
    }

    /// Every sound, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = (SoundId, &Clip)> {
        self.clips.iter().map(|(id, clip)| (*id, clip))
    }
}
