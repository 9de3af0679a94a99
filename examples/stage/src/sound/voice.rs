//! A voice: one clip on its way through the mix.

use super::score::sides;
use super::{Clip, Play, RATE};

/// Samples in which a cancelled voice fades out: too short to be heard as a sound, too long to be a click.
const CUT: f32 = 576.0;
/// Samples in which a voice fades in that begins in the middle of its clip.
const LATE_IN: f32 = 96.0;
/// The slowest and the fastest that a clip is played.
const PITCHES: core::ops::RangeInclusive<f32> = 0.25..=4.0;

#[derive(Clone, Debug)]
pub(super) struct Voice {
    clip: Clip,
    at: f64,
    pitch: f64,
    sides: [f32; 2],
    /// The envelope: its value, and its change with each sample.
    level: f32,
    slope: f32,
    pub(super) mark: Option<u64>,
}

impl Voice {
    pub(super) fn of(clip: &Clip, play: &Play) -> Self {
        let pitch = f64::from(play.pitch.clamp(*PITCHES.start(), *PITCHES.end()));
        let at = play.late.as_secs_f64() * f64::from(RATE) * pitch;
        let is_late = at > 0.0;
        Self {
            clip: clip.clone(),
            at,
            pitch,
            sides: sides(play.pan).map(|side| side * play.gain),
            level: if is_late { 0.0 } else { 1.0 },
            slope: if is_late { 1.0 / LATE_IN } else { 0.0 },
            mark: play.mark,
        }
    }

    pub(super) fn cut(&mut self) {
        self.slope = -1.0 / CUT;
    }

    pub(super) fn is_cut(&self) -> bool {
        self.slope < 0.0
    }

    pub(super) fn is_over(&self) -> bool {
        let ended = self.at >= self.clip.samples().len() as f64;
        ended || (self.is_cut() && self.level <= 0.0)
    }

    /// The next sample of both sides.
    pub(super) fn next(&mut self) -> [f32; 2] {
        if self.is_over() {
            return [0.0; 2];
        }
        let samples = self.clip.samples();
        let (index, part) = (self.at as usize, self.at.fract() as f32);
        let first = samples.get(index).copied().unwrap_or(0.0);
        let second = samples.get(index + 1).copied().unwrap_or(0.0);
        let sample = (first + (second - first) * part) * self.level;
        self.level = (self.level + self.slope).clamp(0.0, 1.0);
        self.at += self.pitch;
        self.sides.map(|side| side * sample)
    }
}
