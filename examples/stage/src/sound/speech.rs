//! Speech: a voice of pulses, breath and five resonances, for the calls of a game.
//!
//! A text is a row of phones, such as `"F AY T"` for "fight". A phone may be told its length in milliseconds: `"AY:300"`.
//! The values of the vowels are those that phoneticians measured for men.

use core::f32::consts::{PI, TAU};

use super::synth::{Filter, Noise, Osc};
use super::{Clip, RATE};

/// A stretch of sound within a phone.
#[derive(Clone, Copy, Debug)]
struct Sound {
    /// The three lowest resonances.
    hz: [f32; 3],
    /// How loud the pulses of the voice are, and the breath through the same resonances.
    voice: f32,
    breath: f32,
    /// How loud the hiss at the teeth is, and where.
    hiss: f32,
    hiss_hz: f32,
    millis: f32,
}

const fn voiced(hz: [f32; 3], voice: f32, millis: f32) -> Sound {
    Sound { hz, voice, breath: 0.0, hiss: 0.0, hiss_hz: 5_000.0, millis }
}

const fn hissed(hz: [f32; 3], voice: f32, hiss: f32, hiss_hz: f32, millis: f32) -> Sound {
    Sound { hz, voice, breath: 0.0, hiss, hiss_hz, millis }
}

const fn breathed(hz: [f32; 3], breath: f32, millis: f32) -> Sound {
    Sound { hz, voice: 0.0, breath, hiss: 0.0, hiss_hz: 5_000.0, millis }
}

/// Where the tongue closes for T and D, for K and G, and the lips for P and B.
const TEETH: [f32; 3] = [330.0, 1_750.0, 2_650.0];
const PALATE: [f32; 3] = [300.0, 2_000.0, 2_500.0];
const LIPS: [f32; 3] = [300.0, 800.0, 2_250.0];

const AA: [f32; 3] = [750.0, 1_150.0, 2_440.0];
const AH: [f32; 3] = [640.0, 1_190.0, 2_390.0];
const AO: [f32; 3] = [570.0, 840.0, 2_410.0];
const EH: [f32; 3] = [530.0, 1_840.0, 2_480.0];
const IH: [f32; 3] = [390.0, 1_990.0, 2_550.0];
const IY: [f32; 3] = [280.0, 2_290.0, 3_010.0];
const UH: [f32; 3] = [440.0, 1_020.0, 2_240.0];
const UW: [f32; 3] = [310.0, 870.0, 2_240.0];

/// The stretches of a phone; an unknown one is a pause.
fn phone(name: &str) -> Vec<Sound> {
    match name {
        "AA" => vec![voiced(AA, 1.0, 160.0)],
        "AH" => vec![voiced(AH, 1.0, 140.0)],
        "AO" => vec![voiced(AO, 1.0, 160.0)],
        "EH" => vec![voiced(EH, 1.0, 130.0)],
        "IH" => vec![voiced(IH, 0.95, 110.0)],
        "IY" => vec![voiced(IY, 1.1, 170.0)],
        "UW" => vec![voiced([330.0, 1_400.0, 2_300.0], 1.3, 60.0), voiced(UW, 1.3, 150.0)],
        "AY" => vec![
            voiced(AA, 1.0, 130.0),
            voiced([480.0, 1_800.0, 2_500.0], 0.95, 60.0),
            voiced(IY, 0.85, 60.0),
        ],
        "AW" => vec![voiced(AA, 1.0, 130.0), voiced(UH, 0.95, 90.0)],
        "EY" => vec![voiced(EH, 1.0, 90.0), voiced(IH, 0.95, 50.0), voiced(IY, 0.85, 90.0)],
        "OW" => {
            vec![voiced([540.0, 900.0, 2_400.0], 1.0, 130.0), voiced(UH, 0.95, 60.0), voiced(UW, 0.8, 110.0)]
        }
        "R" => vec![voiced([320.0, 1_080.0, 1_450.0], 0.75, 85.0)],
        "W" => vec![voiced([290.0, 610.0, 2_150.0], 0.7, 80.0)],
        "L" => vec![voiced([360.0, 1_050.0, 2_700.0], 0.65, 75.0)],
        "M" => vec![voiced([250.0, 1_000.0, 2_200.0], 0.45, 110.0)],
        "N" => vec![voiced([260.0, 1_500.0, 2_500.0], 0.50, 100.0)],
        "F" => vec![hissed([350.0, 1_100.0, 2_300.0], 0.0, 0.18, 7_500.0, 110.0)],
        "V" => vec![hissed([300.0, 1_100.0, 2_300.0], 0.4, 0.05, 7_000.0, 75.0)],
        "TH" => vec![hissed([320.0, 1_350.0, 2_550.0], 0.0, 0.15, 6_200.0, 110.0)],
        "S" => vec![hissed(TEETH, 0.0, 0.30, 6_000.0, 110.0)],
        "D" => vec![voiced(TEETH, 0.12, 45.0), hissed(TEETH, 0.2, 0.30, 3_800.0, 12.0)],
        "T" => vec![
            voiced(TEETH, 0.0, 55.0),
            hissed(TEETH, 0.0, 0.90, 4_300.0, 24.0),
            breathed(TEETH, 0.55, 50.0),
        ],
        "K" => vec![
            voiced(PALATE, 0.0, 50.0),
            hissed(PALATE, 0.0, 1.10, 2_300.0, 30.0),
            breathed(PALATE, 0.60, 55.0),
        ],
        "P" => {
            vec![voiced(LIPS, 0.0, 60.0), hissed(LIPS, 0.0, 0.35, 1_000.0, 12.0), breathed(LIPS, 0.25, 45.0)]
        }
        _ => vec![voiced(AH, 0.0, 90.0)],
    }
}

fn sounds(text: &str) -> Vec<Sound> {
    let mut sounds = Vec::new();
    for word in text.split_whitespace() {
        let (name, millis) = match word.split_once(':') {
            Some((name, millis)) => (name, millis.parse::<f32>().ok()),
            None => (word, None),
        };
        let mut parts = phone(name);
        let total: f32 = parts.iter().map(|part| part.millis).sum();
        let stretch = millis.map_or(1.0, |millis| millis.clamp(10.0, 2_000.0) / total);
        parts.iter_mut().for_each(|part| part.millis *= stretch);
        sounds.append(&mut parts);
    }
    sounds
}

/// A resonance as Klatt's: what is far below it passes as it is.
#[derive(Clone, Copy, Default)]
struct Resonance {
    /// The factors of the two samples before.
    factors: [f32; 2],
    before: [f32; 2],
}

impl Resonance {
    fn tune(&mut self, hz: f32, width_hz: f32) {
        let r = (-PI * width_hz / RATE as f32).exp();
        self.factors = [2.0 * r * (TAU * hz / RATE as f32).cos(), -r * r];
    }

    fn pass(&mut self, sample: f32) -> f32 {
        let [one, two] = self.factors;
        let out = (1.0 - one - two) * sample + one * self.before[0] + two * self.before[1];
        self.before = [out, self.before[0]];
        out
    }
}

/// The upper two resonances are those of the head, and do not move.
const HEAD_HZ: [f32; 2] = [3_400.0, 4_300.0];
const WIDTHS_HZ: [f32; 5] = [75.0, 95.0, 140.0, 230.0, 300.0];
/// A mouth moves slowly beside a sample.
const TUNED_EVERY: u32 = 16;
/// The share of a cycle in which the folds are open.
const OPEN: f32 = 0.62;

/// Says `text` while the pitch of the voice goes from one value to the other.
///
/// ```
/// let fight = stage::sound::speech::say("F AY:280 T", [120.0, 90.0]);
/// assert!(fight.peak() > 0.1);
/// ```
pub fn say(text: &str, pitch_hz: [f32; 2]) -> Clip {
    let sounds = sounds(text);
    let seconds = sounds.iter().map(|sound| sound.millis).sum::<f32>() / 1e3;
    let mut now = match sounds.first() {
        Some(first) => Sound { voice: 0.0, breath: 0.0, hiss: 0.0, ..*first },
        None => return Clip::of_samples(Vec::new()),
    };
    let (mut folds, mut noise, mut teeth) = (Osc::default(), Noise::new(97), Filter::default());
    let (mut tremble, mut before, mut resonances) = (Osc::default(), 0.0, [Resonance::default(); 5]);
    let (mut at, mut ends, mut samples) = (0, sounds[0].millis / 1e3, 0_u32);
    Clip::make(seconds + 0.08, |t| {
        while t >= ends && at < sounds.len() {
            at += 1;
            ends += sounds.get(at).map_or(f32::INFINITY, |sound| sound.millis / 1e3);
        }
        let silence = Sound { voice: 0.0, breath: 0.0, hiss: 0.0, ..now };
        chase(&mut now, sounds.get(at).unwrap_or(&silence));
        let pitch = pitch_hz[0] + (pitch_hz[1] - pitch_hz[0]) * (t / seconds).min(1.0);
        let flow = pulse(folds.phase(pitch * (1.0 + 0.012 * tremble.sine(4.7))));
        // A voice that calls through a hall is brighter than one that speaks.
        let pulse = flow - 0.75 * before;
        before = flow;
        let hiss = noise.sample();
        let mut sample = pulse * now.voice + 0.25 * hiss * now.breath;
        if samples % TUNED_EVERY == 0 {
            let hz = [now.hz[0], now.hz[1], now.hz[2], HEAD_HZ[0], HEAD_HZ[1]];
            let tuned = resonances.iter_mut().zip(hz).zip(WIDTHS_HZ);
            tuned.for_each(|((resonance, hz), width)| resonance.tune(hz, width));
        }
        samples += 1;
        for resonance in &mut resonances {
            sample = resonance.pass(sample);
        }
        sample + 0.5 * teeth.band(hiss, now.hiss_hz, 1.8) * now.hiss
    })
    .with_peak(1.0)
}

/// Moves every value a little towards its target: a mouth has weight, its closures are quick.
fn chase(now: &mut Sound, target: &Sound) {
    let step = |millis: f32| 1.0 - (-1_000.0 / (millis * RATE as f32)).exp();
    let (slow, quick) = (step(16.0), step(5.0));
    for (hz, goal) in now.hz.iter_mut().zip(target.hz) {
        *hz += (goal - *hz) * slow;
    }
    now.voice += (target.voice - now.voice) * quick;
    now.breath += (target.breath - now.breath) * quick;
    now.hiss += (target.hiss - now.hiss) * step(3.0);
    now.hiss_hz = target.hiss_hz;
}

/// The change of the air's flow through the folds: it opens slowly and shuts at once.
fn pulse(phase: f32) -> f32 {
    let part = phase / OPEN;
    if part < 1.0 { 2.0 * part - 3.0 * part * part } else { 0.0 }
}
