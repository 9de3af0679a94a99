//! The music of the duel: one piece for the menus, one for a fight and one for the last round, under the blows and never
//! above them. Each lasts more than a minute before it begins again.

mod fight;
mod instruments;
mod last_round;
mod menu;

use instruments::Band;
use stage::sound::synth::note;
use stage::sound::{Piece, Score};

pub(super) use fight::piece as fight;
pub(super) use last_round::piece as last_round;
pub(super) use menu::piece as menu;

const BEATS_PER_BAR: f32 = 4.0;
const BARS: usize = 8;

/// A chord: its root in half tones from A, and its third above that.
type Chord = (i32, i32);

/// What the drums play in each bar, as beats of it.
#[derive(Clone, Copy, Debug)]
struct Drums {
    kicks: &'static [f32],
    snares: &'static [f32],
    /// Strokes of the hi-hat in a bar.
    hats: u8,
}

/// How the chords are played.
#[derive(Clone, Copy, Debug)]
enum Harmony {
    /// Short chords on these beats.
    Stabs(&'static [f32]),
    /// The notes of the chord one after the other, so many in a bar.
    Arpeggio(u8),
    /// A held chord.
    Pad,
}

/// Eight bars of a piece.
#[derive(Clone, Copy, Debug)]
struct Section {
    chords: [Chord; BARS],
    drums: Drums,
    /// The bass of each bar: the beat, and half tones above the root.
    bass: &'static [(f32, i32)],
    harmony: &'static [Harmony],
    /// The melody: the beat of the section, and half tones from A.
    lead: &'static [(f32, i32)],
}

/// Writes the sections one after the other.
fn arrange(beats_per_minute: f32, sections: &[Section]) -> Piece {
    let beats = (sections.len() * BARS) as f32 * BEATS_PER_BAR;
    let mut score = Score::new(beats_per_minute, beats as u16);
    let mut band = Band::default();
    for (number, section) in sections.iter().enumerate() {
        let start = (number * BARS) as f32 * BEATS_PER_BAR;
        for (bar, chord) in section.chords.into_iter().enumerate() {
            let at = start + bar as f32 * BEATS_PER_BAR;
            drums(&mut score, &mut band, at, &section.drums, bar + 1 == BARS);
            for (beat, up) in section.bass {
                score.put(at + beat, &band.bass(note(chord.0 + up - 36)), 0.75, 0.0);
            }
            section.harmony.iter().for_each(|harmony| harmonies(&mut score, &mut band, at, chord, *harmony));
        }
        for (beat, half_tones) in section.lead {
            let clip = band.lead(note(*half_tones));
            score.put(start + beat, &clip, 0.38, 0.25);
            // An echo on the other side, which makes a room of two loudspeakers.
            score.put(start + beat + 0.75, &clip, 0.16, -0.8);
        }
    }
    score.finish()
}

fn drums(score: &mut Score, band: &mut Band, at: f32, drums: &Drums, has_fill: bool) {
    for beat in drums.kicks {
        score.put(at + beat, &band.kick(), 0.85, 0.0);
    }
    for beat in drums.snares {
        score.put(at + beat, &band.snare(), 0.7, -0.1);
    }
    for stroke in 0..drums.hats {
        let is_off = stroke % 2 == 1;
        let beat = f32::from(stroke) * BEATS_PER_BAR / f32::from(drums.hats);
        let pan = if is_off { 0.5 } else { -0.4 };
        score.put(at + beat, &band.hat(), if is_off { 0.30 } else { 0.18 }, pan);
    }
    if has_fill && !drums.snares.is_empty() {
        for (beat, pan) in [(3.25, -0.5), (3.5, 0.0), (3.75, 0.5)] {
            score.put(at + beat, &band.snare(), 0.5, pan);
        }
    }
}

fn harmonies(score: &mut Score, band: &mut Band, at: f32, (root, third): Chord, harmony: Harmony) {
    let chord = [root, root + third, root + 7];
    match harmony {
        Harmony::Stabs(beats) => {
            for (stroke, beat) in beats.iter().enumerate() {
                let pan = if stroke % 2 == 0 { -0.45 } else { 0.45 };
                score.put(at + beat, &band.stab(chord), 0.55, pan);
            }
        }
        Harmony::Arpeggio(count) => {
            let steps = [0, third, 7, 12, 12 + third, 12, 7, third];
            for stroke in 0..count {
                let beat = f32::from(stroke) * BEATS_PER_BAR / f32::from(count);
                let step = steps[usize::from(stroke) % steps.len()];
                let pan = f32::from(stroke % 4) / 1.5 - 1.0;
                score.put(at + beat, &band.pluck(note(root + step)), 0.32, pan * 0.7);
            }
        }
        Harmony::Pad => {
            // Two choirs a little out of tune, one on each side.
            for (detune, pan) in [(0.997, -0.8), (1.003, 0.8)] {
                score.put(at, &band.pad(chord, detune), 0.5, pan);
            }
        }
    }
}
