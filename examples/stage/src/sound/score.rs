//! A score: notes put together to a piece that is played in a loop.
//!
//! A [`Piece`] keeps its notes instead of its samples. Minutes of music then take the memory of a few short clips, and
//! nothing but these clips has to be made when the game starts.

use std::sync::Arc;

use super::{Clip, RATE};

/// The longest loop that is written.
const MAX_SAMPLES: usize = 600 * RATE as usize;

/// A clip that begins at a sample of the loop.
#[derive(Clone, Debug)]
pub(super) struct Note {
    pub(super) at: usize,
    pub(super) clip: Clip,
    /// The factors of the left and the right side.
    pub(super) sides: [f32; 2],
}

/// A loop that is being written.
#[derive(Clone, Debug)]
pub struct Score {
    notes: Vec<Note>,
    len: usize,
    samples_per_beat: f32,
}

impl Score {
    /// A silent loop of so many beats.
    pub fn new(beats_per_minute: f32, beats: u16) -> Self {
        let samples_per_beat = 60.0 / beats_per_minute.max(1.0) * RATE as f32;
        let len = ((samples_per_beat * f32::from(beats)) as usize).min(MAX_SAMPLES);
        Self { notes: Vec::new(), len, samples_per_beat }
    }

    /// Puts a clip at a beat; -1 is left, 1 is right. What does not fit before the end sounds on at the beginning.
    pub fn put(&mut self, beat: f32, clip: &Clip, gain: f32, pan: f32) {
        if self.len == 0 || clip.samples().is_empty() {
            return;
        }
        let at = (beat.max(0.0) * self.samples_per_beat) as usize % self.len;
        self.notes.push(Note { at, clip: clip.clone(), sides: sides(pan).map(|side| side * gain) });
    }

    /// The piece, as loud as its notes.
    pub fn finish(mut self) -> Piece {
        self.notes.sort_by_key(|note| note.at);
        Piece { notes: self.notes.into(), len: self.len, bend: None }
    }
}

/// The factors of the left and the right side for a place from -1 to 1.
pub(super) fn sides(pan: f32) -> [f32; 2] {
    let pan = pan.clamp(-1.0, 1.0);
    [1.0 - pan.max(0.0), 1.0 + pan.min(0.0)]
}

/// A piece of music in stereo, which is played in a loop. A copy shares the notes.
#[derive(Clone, Debug)]
pub struct Piece {
    pub(super) notes: Arc<[Note]>,
    len: usize,
    bend: Option<(f32, f32)>,
}

impl Piece {
    /// The same piece with its peaks bent down, so that no sample is higher than `peak`. A larger `drive` makes it denser.
    #[must_use]
    pub fn driven(self, drive: f32, peak: f32) -> Self {
        Self { bend: Some((drive, peak)), ..self }
    }

    /// Samples of one side until the piece begins again.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the piece has no notes.
    pub fn is_empty(&self) -> bool {
        self.notes.is_empty()
    }

    /// The shortest time, in samples, after which the notes are the same again: [`len`](Self::len) unless the piece is made
    /// of equal parts.
    pub fn period(&self) -> usize {
        let is_like = |one: &Note, other: &Note| {
            one.sides.map(f32::to_bits) == other.sides.map(f32::to_bits)
                && one.clip.samples() == other.clip.samples()
        };
        let repeats = |by: usize| {
            let moved = |note: &Note| (note.at + by) % self.len.max(1);
            self.notes.iter().all(|note| {
                // Beats are rounded to samples.
                self.notes.iter().any(|other| other.at.abs_diff(moved(note)) <= 2 && is_like(note, other))
            })
        };
        let parts = (2..=self.notes.len()).rev();
        parts.map(|parts| self.len / parts).find(|by| *by > 0 && repeats(*by)).unwrap_or(self.len)
    }

    pub(super) fn bent(&self, sides: [f32; 2]) -> [f32; 2] {
        match self.bend {
            Some((drive, peak)) => sides.map(|side| (side * drive).tanh() * peak),
            None => sides,
        }
    }

    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.notes, &other.notes)
    }
}
