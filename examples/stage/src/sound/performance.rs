//! A performance: one piece of music on its way through the mix.

use super::Piece;

/// Notes that sound at once; one more is left out.
const MAX_NOTES: usize = 64;

/// A note that sounds: its number in the piece, and the next sample of its clip.
#[derive(Clone, Copy, Debug)]
struct Sounding {
    note: usize,
    at: usize,
}

#[derive(Clone, Debug)]
pub(super) struct Performance {
    piece: Piece,
    at: usize,
    /// The next note to begin.
    next: usize,
    sounding: Vec<Sounding>,
    /// The envelope: its value, and its change with each sample.
    level: f32,
    slope: f32,
}

impl Performance {
    /// A piece from its beginning, which fades in over so many samples.
    pub(super) fn of(piece: &Piece, samples: f32) -> Self {
        Self {
            piece: piece.clone(),
            at: 0,
            next: 0,
            sounding: Vec::with_capacity(MAX_NOTES),
            level: 0.0,
            slope: 1.0 / samples,
        }
    }

    pub(super) fn plays(&self, piece: &Piece) -> bool {
        self.slope > 0.0 && self.piece.is(piece)
    }

    pub(super) fn fade(&mut self, samples: f32) {
        // One that fades already is not made to last longer.
        self.slope = self.slope.min(-1.0 / samples);
    }

    pub(super) fn is_over(&self) -> bool {
        self.piece.is_empty() || (self.slope < 0.0 && self.level <= 0.0)
    }

    /// The next sample of both sides.
    pub(super) fn next(&mut self) -> [f32; 2] {
        let notes = &self.piece.notes;
        while notes.get(self.next).is_some_and(|note| note.at <= self.at) {
            self.sounding.retain(|it| it.at < notes[it.note].clip.samples().len());
            if self.sounding.len() < MAX_NOTES {
                self.sounding.push(Sounding { note: self.next, at: 0 });
            }
            self.next += 1;
        }
        let mut sum = [0.0; 2];
        for it in &mut self.sounding {
            let note = &notes[it.note];
            let sample = note.clip.samples().get(it.at).copied().unwrap_or(0.0);
            it.at += 1;
            sum[0] += sample * note.sides[0];
            sum[1] += sample * note.sides[1];
        }
        self.at += 1;
        if self.at >= self.piece.len() {
            (self.at, self.next) = (0, 0);
        }
        let level = self.level;
        self.level = (level + self.slope).clamp(0.0, 1.0);
        self.piece.bent(sum).map(|side| side * level)
    }
}
