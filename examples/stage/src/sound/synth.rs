//! Parts that sounds are made of: oscillators, noise, filters and envelopes.
//!
//! Each part keeps its own state and gives the next sample at [`RATE`](super::RATE); a [`Clip`](super::Clip) is made of a
//! closure that owns some of them.

use core::f32::consts::{PI, TAU};

use super::RATE;

/// A falling envelope: 1 at 0, and a third of it after each `seconds`.
pub fn decay(t: f32, seconds: f32) -> f32 {
    if t < 0.0 { 0.0 } else { (-t / seconds).exp() }
}

/// A rising ramp: 0 at 0, and 1 from `seconds` on.
pub fn rise(t: f32, seconds: f32) -> f32 {
    (t / seconds).clamp(0.0, 1.0)
}

/// A bump between 0 and `seconds`, round at both ends.
pub fn bump(t: f32, seconds: f32) -> f32 {
    if (0.0..seconds).contains(&t) { (t / seconds * PI).sin() } else { 0.0 }
}

/// The frequency of a note, counted in half tones from A at 440 Hz.
pub fn note(half_tones: i32) -> f32 {
    440.0 * (half_tones as f32 / 12.0).exp2()
}

/// An oscillator, whose pitch may change with every sample.
#[derive(Clone, Copy, Debug, Default)]
pub struct Osc {
    phase: f32,
}

impl Osc {
    /// The phase from 0 to 1 after one more sample.
    pub fn phase(&mut self, hz: f32) -> f32 {
        let phase = self.phase;
        self.phase = (phase + hz / RATE as f32).fract();
        phase
    }

    /// A pure tone.
    pub fn sine(&mut self, hz: f32) -> f32 {
        (self.phase(hz) * TAU).sin()
    }

    /// A soft, hollow tone.
    pub fn triangle(&mut self, hz: f32) -> f32 {
        1.0 - 4.0 * (self.phase(hz) - 0.5).abs()
    }

    /// A bright tone. Its step is rounded, so that high notes have no false tones.
    pub fn saw(&mut self, hz: f32) -> f32 {
        let (phase, step) = (self.phase(hz), hz / RATE as f32);
        2.0 * phase - 1.0 - rounding(phase, step)
    }

    /// A reedy tone.
    pub fn square(&mut self, hz: f32) -> f32 {
        let (phase, step) = (self.phase(hz), hz / RATE as f32);
        let sign = if phase < 0.5 { 1.0 } else { -1.0 };
        sign + rounding(phase, step) - rounding((phase + 0.5).fract(), step)
    }
}

/// The difference between a step and one that spreads over two samples.
fn rounding(phase: f32, step: f32) -> f32 {
    if phase < step {
        let t = phase / step;
        t + t - t * t - 1.0
    } else if phase > 1.0 - step {
        let t = (phase - 1.0) / step;
        t * t + t + t + 1.0
    } else {
        0.0
    }
}

/// White noise, the same in every run.
#[derive(Clone, Copy, Debug)]
pub struct Noise(u32);

impl Noise {
    pub const fn new(seed: u32) -> Self {
        Self(seed | 1)
    }

    /// The next sample, from -1 to 1. An oscillator of no pitch at all, and no iterator, because it never ends.
    pub fn sample(&mut self) -> f32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        (self.0 >> 8) as f32 / 8_388_608.0 - 1.0
    }
}

/// A filter with a low, a band and a high output, which stays calm while its pitch moves.
#[derive(Clone, Copy, Debug, Default)]
pub struct Filter {
    band: f32,
    low: f32,
}

impl Filter {
    /// Takes in a sample; answers what is below, around and above `hz`. A larger `sharpness` rings longer.
    pub fn split(&mut self, sample: f32, hz: f32, sharpness: f32) -> [f32; 3] {
        let g = (PI * hz.clamp(10.0, 20_000.0) / RATE as f32).tan();
        let k = 1.0 / sharpness.max(0.3);
        let a = 1.0 / (1.0 + g * (g + k));
        let v1 = a * (self.band + g * (sample - self.low));
        let v2 = self.low + g * v1;
        self.band = 2.0 * v1 - self.band;
        self.low = 2.0 * v2 - self.low;
        [v2, v1, sample - k * v1 - v2]
    }

    pub fn low(&mut self, sample: f32, hz: f32) -> f32 {
        self.split(sample, hz, 0.7)[0]
    }

    pub fn high(&mut self, sample: f32, hz: f32) -> f32 {
        self.split(sample, hz, 0.7)[2]
    }

    /// What is around `hz`, as loud as it comes in.
    pub fn band(&mut self, sample: f32, hz: f32, sharpness: f32) -> f32 {
        self.split(sample, hz, sharpness)[1] / sharpness.max(0.3)
    }
}
