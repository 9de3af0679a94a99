//! A chunk of an RPLK version 2 file that is being filled.

use super::codec::put_number;
use super::record::{self, MAX_CHANGE_LEN, MAX_RECORD_FRAMES};
use crate::Inputs;

/// The most bytes of checksums, events and messages that wait for the end of a chunk; a full chunk is written at once.
const MAX_NOTES_LEN: usize = 1024;
/// The longest record besides inputs: a message.
const MAX_NOTE_LEN: usize = 16 + record::MAX_MESSAGE_LEN;
/// The most bytes of changes of input in a chunk.
const MAX_CHANGES_LEN: usize = 2 * MAX_CHANGE_LEN * MAX_RECORD_FRAMES as usize;

/// The most bytes of the records of one chunk.
pub(super) const MAX_CHUNK_LEN: usize = 32 * 1024;
/// Kind, frames and changes at the head of a record of inputs; length and CRC of the chunk around it.
const MAX_FRAMING_LEN: usize = 16;

const _: () = assert!(MAX_CHANGES_LEN + MAX_NOTES_LEN + MAX_NOTE_LEN + MAX_FRAMING_LEN <= MAX_CHUNK_LEN);

/// The inputs and notes since the last chunk. Nothing is allocated after [`new`](Self::new).
#[derive(Debug)]
pub(super) struct Chunk {
    /// The inputs of the last frame.
    inputs: Inputs,
    frames: u32,
    last_change: u32,
    changes: u32,
    changed: Vec<u8>,
    notes: Vec<u8>,
    /// The encoded chunk on its way to the writer.
    bytes: Vec<u8>,
    /// That of the file so far.
    crc: crc32fast::Hasher,
}

impl Chunk {
    /// The first chunk after a header with this CRC.
    pub(super) fn new(crc: crc32fast::Hasher) -> Self {
        Self {
            inputs: Inputs::default(),
            frames: 0,
            last_change: 0,
            changes: 0,
            changed: Vec::with_capacity(MAX_CHANGES_LEN),
            notes: Vec::with_capacity(MAX_NOTES_LEN + MAX_NOTE_LEN),
            bytes: Vec::with_capacity(MAX_CHUNK_LEN + MAX_FRAMING_LEN),
            crc,
        }
    }

    /// Adds the inputs of the next frame; returns how many frames the chunk has.
    #[inline]
    pub(super) fn add(&mut self, inputs: Inputs) -> u32 {
        if inputs != self.inputs {
            let gap = self.frames - self.last_change;
            self.changes += record::put_changes(&mut self.changed, gap, self.inputs, inputs);
            (self.last_change, self.inputs) = (self.frames, inputs);
        }
        self.frames += 1;
        self.frames
    }

    /// Adds a record that `put` writes; whether the chunk has room for another.
    pub(super) fn note(&mut self, put: impl FnOnce(&mut Vec<u8>)) -> bool {
        put(&mut self.notes);
        self.notes.len() <= MAX_NOTES_LEN
    }

    /// Encodes the chunk and begins the next one. `None` if it is empty.
    pub(super) fn seal(&mut self) -> Option<&[u8]> {
        if self.frames == 0 && self.notes.is_empty() {
            return None;
        }
        self.bytes.clear();
        self.bytes.extend([0; 2]);
        if self.frames > 0 {
            self.bytes.push(record::INPUTS);
            put_number(&mut self.bytes, self.frames);
            put_number(&mut self.bytes, self.changes);
            self.bytes.extend_from_slice(&self.changed);
        }
        self.bytes.extend_from_slice(&self.notes);
        let len = (self.bytes.len() - 2) as u16;
        self.bytes[..2].copy_from_slice(&len.to_le_bytes());
        self.crc.update(&self.bytes);
        self.bytes.extend(self.crc.clone().finalize().to_le_bytes());
        (self.frames, self.changes, self.last_change) = (0, 0, 0);
        self.changed.clear();
        self.notes.clear();
        Some(&self.bytes)
    }

    /// The memory that was taken for notes and for the encoded chunk.
    #[cfg(test)]
    pub(super) fn room(&self) -> [usize; 2] {
        [self.notes.capacity(), self.bytes.capacity()]
    }
}
