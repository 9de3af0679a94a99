//! The sounds of the arcade: shots, hits, bursts, and the music of the flight.

use std::collections::BTreeMap;

use stage::sound::synth::{Filter, Noise, Osc, decay, note, rise};
use stage::sound::{Bank, Clip, Piece, Play, Score, SoundId};

use crate::scene::Sound;

/// The music of a flight, in a loop.
pub const MUSIC: SoundId = SoundId(0x100);

const BEATS_PER_MINUTE: f32 = 138.0;
const BARS: u16 = 8;

/// Eight bars of the music.
struct Section {
    /// The root of each bar, in half tones from A.
    roots: [i32; BARS as usize],
    /// The notes of a broken chord, in half tones above the root.
    steps: [i32; 8],
    has_drums: bool,
}

/// E minor, C, G and D, and A minor, B and C between them.
const SECTIONS: [Section; 5] = [
    Section { roots: [-5, -5, -9, -9, -2, -2, -7, -7], steps: UP_AND_DOWN, has_drums: true },
    Section {
        roots: [0, 0, -5, -5, -10, -10, -9, -7],
        steps: [0, 12, 7, 15, 12, 19, 15, 7],
        has_drums: true,
    },
    Section { roots: [-5, -5, -9, -9, -2, -2, -7, -7], steps: [12, 7, 0, 7, 15, 7, 19, 7], has_drums: false },
    Section { roots: [-9, -9, -7, -7, -5, -5, -10, -10], steps: UP_AND_DOWN, has_drums: true },
    Section { roots: [0, -2, -4, -5, 0, -2, -9, -10], steps: [0, 7, 12, 19, 24, 19, 12, 7], has_drums: true },
];
const UP_AND_DOWN: [i32; 8] = [0, 7, 12, 15, 19, 15, 12, 7];

/// Every sound of the arcade. The peaks are the balance: a gun that fires all the time stays in the background.
pub fn bank() -> Bank {
    let sounds = [
        (Sound::Bolt, bolt(1_500.0).with_peak(0.16)),
        (Sound::Pellet, bolt(620.0).with_peak(0.16)),
        (Sound::Clang, clang().with_peak(0.24)),
        (Sound::Boom, boom().with_peak(0.50)),
        (Sound::LostLife, lost_life().with_peak(0.65)),
        (Sound::Pickup, notes(&[4, 11, 16], 0.07).with_peak(0.36)),
        (Sound::Cleared, notes(&[-5, -1, 2, 7], 0.15).with_peak(0.48)),
    ];
    let bank = sounds.into_iter().fold(Bank::default(), |bank, (sound, clip)| bank.with(id_of(sound), clip));
    bank.with_music(MUSIC, theme())
}

const fn id_of(sound: Sound) -> SoundId {
    SoundId(sound as u16)
}

/// How a sound of the scene is played. `dice` varies the pitch, so that a row of bursts is no machine.
pub fn play_of(sound: Sound, dice: u32) -> Play {
    let spread = (dice.wrapping_mul(2_654_435_761) >> 16) as f32 / 65_535.0 * 2.0 - 1.0;
    let by = if matches!(sound, Sound::Pickup | Sound::Cleared | Sound::LostLife) { 0.0 } else { 0.08 };
    Play::of(id_of(sound)).pitch(1.0 + spread * by)
}

/// A shot: a tone that falls fast.
fn bolt(hz: f32) -> Clip {
    let mut osc = Osc::default();
    Clip::make(0.12, |t| osc.square(hz * (0.25 + 0.75 * decay(t, 0.05))) * decay(t, 0.035))
}

fn clang() -> Clip {
    let mut tones = [Osc::default(); 3];
    Clip::make(0.18, |t| {
        let parts = [(523.0, 0.05), (1_319.0, 0.035), (2_217.0, 0.02)];
        tones.iter_mut().zip(parts).map(|(tone, (hz, fall))| tone.sine(hz) * decay(t, fall)).sum()
    })
}

fn boom() -> Clip {
    let (mut noise, mut smoke, mut body) = (Noise::new(101), Filter::default(), Osc::default());
    Clip::make(0.75, |t| {
        let burst = smoke.low(noise.sample(), 3_000.0 * decay(t, 0.14) + 110.0) * decay(t, 0.20);
        let knock = body.sine(42.0 + 110.0 * decay(t, 0.06)) * decay(t, 0.22);
        (1.8 * burst + 1.1 * knock).tanh()
    })
}

/// The own ship is hit: a burst, and a tone that gives up.
fn lost_life() -> Clip {
    let (mut tone, mut warm) = (Osc::default(), Filter::default());
    let falling = Clip::make(0.9, |t| {
        warm.low(tone.saw(90.0 + 560.0 * decay(t, 0.30)), 1_900.0) * rise(t, 0.01) * decay(t, 0.40)
    });
    Clip::together(&[(0.0, &boom(), 1.0), (0.04, &falling, 0.6)])
}

/// Notes one after the other, the last one held.
fn notes(half_tones: &[i32], seconds: f32) -> Clip {
    let mut osc = Osc::default();
    let last = half_tones.len() - 1;
    Clip::make(seconds * half_tones.len() as f32 + 0.5, |t| {
        let at = ((t / seconds) as usize).min(last);
        let since = t - at as f32 * seconds;
        let fall = if at == last { 0.22 } else { 0.10 };
        osc.triangle(note(half_tones[at])) * rise(since, 0.004) * decay(since, fall)
    })
}

fn theme() -> Piece {
    let mut score = Score::new(BEATS_PER_MINUTE, SECTIONS.len() as u16 * BARS * 4);
    let (kick, hat) = (kick(), hat());
    let mut plucks: BTreeMap<i32, Clip> = BTreeMap::new();
    let mut pluck =
        |half_tones: i32| plucks.entry(half_tones).or_insert_with(|| pluck(note(half_tones))).clone();
    for (bar, (root, section)) in
        SECTIONS.iter().flat_map(|section| section.roots.map(|root| (root, section))).enumerate()
    {
        let start = bar as f32 * 4.0;
        for beat in 0..4_u8 {
            if section.has_drums {
                score.put(start + f32::from(beat), &kick, 0.9, 0.0);
            }
            score.put(start + f32::from(beat) + 0.5, &hat, 0.35, if beat % 2 == 0 { -0.5 } else { 0.5 });
        }
        // Broken chords in sixteenths, from one side to the other.
        for (at, step) in (0_u8..16).zip(section.steps.into_iter().cycle()) {
            let pan = f32::from(at % 8) / 3.5 - 1.0;
            score.put(start + f32::from(at) * 0.25, &pluck(root + step - 12), 0.30, pan * 0.7);
        }
        for beat in [0.0, 1.5, 2.5] {
            score.put(start + beat, &pluck(root - 24), 0.9, 0.0);
        }
    }
    score.finish().driven(0.8, 0.42)
}

fn kick() -> Clip {
    let mut body = Osc::default();
    Clip::make(0.22, |t| body.sine(48.0 + 110.0 * decay(t, 0.03)) * decay(t, 0.09))
}

fn hat() -> Clip {
    let (mut noise, mut edge) = (Noise::new(103), Filter::default());
    Clip::make(0.06, |t| edge.high(noise.sample(), 6_500.0) * decay(t, 0.016))
}

fn pluck(hz: f32) -> Clip {
    let (mut tone, mut warm) = (Osc::default(), Filter::default());
    Clip::make(0.30, |t| {
        warm.low(tone.saw(hz), 300.0 + 2_200.0 * decay(t, 0.06)) * rise(t, 0.003) * decay(t, 0.11)
    })
}
