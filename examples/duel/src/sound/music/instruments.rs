//! The instruments of the music. Each makes a note once and hands out copies, which share its samples.

use std::collections::BTreeMap;

use stage::sound::Clip;
use stage::sound::synth::{Filter, Noise, Osc, decay, note, rise};

/// The notes that were made so far: by instrument, and by pitches as bits.
#[derive(Debug, Default)]
pub(super) struct Band(BTreeMap<(&'static str, [u32; 4]), Clip>);

impl Band {
    fn kept(&mut self, name: &'static str, pitches: [u32; 4], make: impl FnOnce() -> Clip) -> Clip {
        self.0.entry((name, pitches)).or_insert_with(make).clone()
    }

    pub(super) fn kick(&mut self) -> Clip {
        self.kept("kick", [0; 4], || {
            let mut body = Osc::default();
            Clip::make(0.24, |t| body.sine(46.0 + 120.0 * decay(t, 0.03)) * decay(t, 0.10))
        })
    }

    pub(super) fn snare(&mut self) -> Clip {
        self.kept("snare", [0; 4], || {
            let (mut noise, mut edge, mut body) = (Noise::new(83), Filter::default(), Osc::default());
            Clip::make(0.20, |t| {
                let wires = edge.high(noise.sample(), 1_400.0) * decay(t, 0.055);
                0.5 * wires + 0.5 * body.sine(190.0) * decay(t, 0.04)
            })
        })
    }

    pub(super) fn hat(&mut self) -> Clip {
        self.kept("hat", [0; 4], || {
            let (mut noise, mut edge) = (Noise::new(89), Filter::default());
            Clip::make(0.07, |t| edge.high(noise.sample(), 7_000.0) * decay(t, 0.018))
        })
    }

    pub(super) fn bass(&mut self, hz: f32) -> Clip {
        self.kept("bass", [hz.to_bits(), 0, 0, 0], || {
            let (mut tone, mut warm) = (Osc::default(), Filter::default());
            Clip::make(0.24, |t| {
                let bright = 200.0 + 1_100.0 * decay(t, 0.07);
                warm.split(tone.saw(hz), bright, 1.2)[0] * rise(t, 0.004) * decay(t, 0.14)
            })
        })
    }

    /// A short chord.
    pub(super) fn stab(&mut self, chord: [i32; 3]) -> Clip {
        let [a, b, c] = chord.map(i32::cast_unsigned);
        self.kept("stab", [a, b, c, 0], || {
            let mut tones = [Osc::default(); 6];
            let mut warm = Filter::default();
            let pitches = chord.map(|half_tones| note(half_tones - 12));
            Clip::make(0.40, |t| {
                let all = tones.iter_mut().enumerate();
                let saws: f32 = all
                    .map(|(at, tone)| tone.saw(pitches[at / 2] * if at % 2 == 0 { 0.996 } else { 1.004 }))
                    .sum();
                warm.low(saws, 700.0 + 2_200.0 * decay(t, 0.08)) * rise(t, 0.005) * decay(t, 0.12) / 3.0
            })
        })
    }

    /// A held chord that swells and falls, a little out of tune by the factor `detune`.
    pub(super) fn pad(&mut self, chord: [i32; 3], detune: f32) -> Clip {
        let [a, b, c] = chord.map(i32::cast_unsigned);
        self.kept("pad", [a, b, c, detune.to_bits()], || {
            let mut tones = [Osc::default(); 3];
            let mut warm = Filter::default();
            let pitches = chord.map(|half_tones| note(half_tones - 12) * detune);
            Clip::make(2.6, |t| {
                let saws: f32 = tones.iter_mut().zip(pitches).map(|(tone, hz)| tone.saw(hz)).sum();
                let swell = rise(t, 0.5) * (1.0 - rise(t - 1.6, 1.0));
                warm.low(saws, 380.0 + 500.0 * swell) * swell / 3.0
            })
        })
    }

    /// A plucked string.
    pub(super) fn pluck(&mut self, hz: f32) -> Clip {
        self.kept("pluck", [hz.to_bits(), 0, 0, 0], || {
            let (mut tone, mut warm) = (Osc::default(), Filter::default());
            Clip::make(0.45, |t| {
                warm.low(tone.triangle(hz), 500.0 + 3_000.0 * decay(t, 0.08))
                    * rise(t, 0.003)
                    * decay(t, 0.16)
            })
        })
    }

    pub(super) fn lead(&mut self, hz: f32) -> Clip {
        self.kept("lead", [hz.to_bits(), 0, 0, 0], || {
            let (mut tone, mut shake, mut warm) = (Osc::default(), Osc::default(), Filter::default());
            Clip::make(0.55, |t| {
                let bent = hz * (1.0 + 0.006 * shake.sine(5.5) * rise(t - 0.12, 0.1));
                warm.low(tone.square(bent), 2_600.0) * rise(t, 0.008) * decay(t, 0.24)
            })
        })
    }
}
