//! The music of a match: eight bars in a loop, under the blows and never above them.

use stage::sound::synth::{Filter, Noise, Osc, decay, note, rise};
use stage::sound::{Clip, Score};

const BEATS_PER_MINUTE: f32 = 126.0;
const BARS: u16 = 8;
/// The root of each bar, in half tones from A: A minor, F, G, and E to come back by.
const ROOTS: [i32; BARS as usize] = [0, 0, -4, -2, 0, 0, -4, -5];
/// The third of each bar's chord.
const THIRDS: [i32; BARS as usize] = [3, 3, 4, 4, 3, 3, 4, 4];
/// The loudest sample of the loop: a heavy hit is half as loud again.
const PEAK: f32 = 0.45;

pub(super) fn theme() -> Clip {
    let mut score = Score::new(BEATS_PER_MINUTE, BARS * 4);
    let (kick, snare, hat) = (kick(), snare(), hat());
    for bar in 0..usize::from(BARS) {
        let start = bar as f32 * 4.0;
        drums(&mut score, start, bar, [&kick, &snare, &hat]);
        let root = ROOTS[bar];
        // Low eighths, with the octave on the off-beats.
        for (at, up) in [0, 0, 12, 0, 0, 12, 0, 7].into_iter().enumerate() {
            score.put(start + at as f32 * 0.5, &bass(note(root + up - 36)), 0.85);
        }
        for beat in [0.0, 1.5, 3.0] {
            score.put(start + beat, &stab([root, root + THIRDS[bar], root + 7]), 0.33);
        }
        melody(&mut score, start, bar);
    }
    score.finish().driven(2.0).with_peak(PEAK)
}

fn drums(score: &mut Score, start: f32, bar: usize, [kick, snare, hat]: [&Clip; 3]) {
    for beat in [0.0, 1.0, 2.0, 3.0, 2.5] {
        score.put(start + beat, kick, if beat > 2.4 && beat < 2.6 { 0.6 } else { 1.0 });
    }
    for beat in [1.0, 3.0] {
        score.put(start + beat, snare, 0.7);
    }
    for half in 0..8_u8 {
        score.put(start + f32::from(half) * 0.5, hat, if half % 2 == 1 { 0.30 } else { 0.16 });
    }
    // A fill before the line begins again.
    if bar % 4 == 3 {
        for beat in [3.25, 3.5, 3.75] {
            score.put(start + beat, snare, 0.5);
        }
    }
}

/// A short line over bars three and four, and its answer at the end.
fn melody(score: &mut Score, start: f32, bar: usize) {
    let line: &[(f32, i32)] = match bar {
        2 => &[(0.0, 8), (0.75, 7), (1.5, 3), (2.5, 5)],
        3 => &[(0.0, 7), (0.75, 5), (1.5, 2), (2.5, 3)],
        6 => &[(0.0, 12), (0.75, 10), (1.5, 8), (2.5, 7)],
        7 => &[(0.0, 8), (1.0, 7), (2.0, 11), (3.0, 14)],
        _ => &[],
    };
    for (beat, half_tones) in line {
        score.put(start + beat, &lead(note(*half_tones)), 0.34);
    }
}

fn kick() -> Clip {
    let mut body = Osc::default();
    Clip::make(0.24, |t| body.sine(46.0 + 120.0 * decay(t, 0.03)) * decay(t, 0.10))
}

fn snare() -> Clip {
    let (mut noise, mut edge, mut body) = (Noise::new(83), Filter::default(), Osc::default());
    Clip::make(0.20, |t| {
        let wires = edge.high(noise.sample(), 1_400.0) * decay(t, 0.055);
        0.5 * wires + 0.5 * body.sine(190.0) * decay(t, 0.04)
    })
}

fn hat() -> Clip {
    let (mut noise, mut edge) = (Noise::new(89), Filter::default());
    Clip::make(0.07, |t| edge.high(noise.sample(), 7_000.0) * decay(t, 0.018))
}

fn bass(hz: f32) -> Clip {
    let (mut tone, mut warm) = (Osc::default(), Filter::default());
    Clip::make(0.24, |t| {
        let bright = 200.0 + 1_100.0 * decay(t, 0.07);
        warm.split(tone.saw(hz), bright, 1.2)[0] * rise(t, 0.004) * decay(t, 0.14)
    })
}

fn stab(chord: [i32; 3]) -> Clip {
    let mut tones = [Osc::default(); 6];
    let mut warm = Filter::default();
    Clip::make(0.40, |t| {
        let pitches = chord.map(|half_tones| note(half_tones - 12));
        let all = tones.iter_mut().enumerate();
        let saws: f32 =
            all.map(|(at, tone)| tone.saw(pitches[at / 2] * if at % 2 == 0 { 0.996 } else { 1.004 })).sum();
        warm.low(saws, 700.0 + 2_200.0 * decay(t, 0.08)) * rise(t, 0.005) * decay(t, 0.12) / 3.0
    })
}

fn lead(hz: f32) -> Clip {
    let (mut tone, mut shake, mut warm) = (Osc::default(), Osc::default(), Filter::default());
    Clip::make(0.55, |t| {
        let bent = hz * (1.0 + 0.006 * shake.sine(5.5) * rise(t - 0.12, 0.1));
        warm.low(tone.square(bent), 2_600.0) * rise(t, 0.008) * decay(t, 0.24)
    })
}
