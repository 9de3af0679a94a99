//! Reading a recording in order: its inputs frame by frame, and its records.

use super::codec::Reader;
use super::record::{self, Change, Record};
use super::recording::Recording;
use super::rplk;
use crate::{Frame, Inputs};

/// A place in a recording, from which its frames are read in order. Borrows nothing, and is handed the recording.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor {
    /// The place of the next byte to read, and the end of the records of its chunk.
    at: usize,
    chunk_end: usize,
    frame: Frame,
    inputs: Inputs,
    /// Frames and changes that are left in the record of inputs, and the next change with its gap counted down.
    frames: u32,
    changes: u32,
    change: Option<Change>,
}

impl Cursor {
    /// The place at which a chunk begins.
    pub(super) fn at_chunk(at: usize, frame: Frame, inputs: Inputs) -> Self {
        Self { at, chunk_end: at, frame, inputs, frames: 0, changes: 0, change: None }
    }

    /// The frame whose inputs come next.
    pub(super) fn frame(&self) -> Frame {
        self.frame
    }

    /// The inputs of the next frame; `None` at the end.
    #[inline]
    pub(super) fn next(&mut self, recording: &Recording) -> Option<Inputs> {
        if self.frame.0 >= recording.frames() {
            return None;
        }
        if recording.version() == rplk::VERSION {
            self.inputs = rplk::inputs_at(recording.file(), self.frame.0)?;
        } else {
            self.next_coded(recording)?;
        }
        self.frame = self.frame.next();
        Some(self.inputs)
    }

    fn next_coded(&mut self, recording: &Recording) -> Option<()> {
        let (file, axes) = (recording.file(), recording.header().axes);
        while self.frames == 0 {
            self.enter_record(file, axes)?;
        }
        self.frames -= 1;
        while let Some(change) = self.change.take_if(|change| change.gap == 0) {
            change.apply(&mut self.inputs);
            self.read_change(file, axes)?;
        }
        if let Some(change) = &mut self.change {
            change.gap -= 1;
        }
        Some(())
    }

    /// Enters the next record if it has inputs, and passes it otherwise.
    fn enter_record(&mut self, file: &[u8], axes: u8) -> Option<()> {
        if self.at == self.chunk_end {
            let mut reader = Reader::new(file, self.at);
            // The CRC of the chunk before it has been passed already.
            let len = usize::from(reader.u16()?);
            (self.at, self.chunk_end) = (reader.at, reader.at + len);
        }
        let mut reader = Reader::new(file, self.at);
        if reader.u8()? == record::INPUTS {
            (self.frames, self.changes) = record::read_inputs_head(&mut reader)?;
            self.at = reader.at;
            self.read_change(file, axes)?;
        } else {
            reader = Reader::new(file, self.at);
            Record::read(&mut reader, axes, &mut Inputs::default())?;
            self.at = reader.at;
        }
        self.pass_crc();
        Some(())
    }

    fn read_change(&mut self, file: &[u8], axes: u8) -> Option<()> {
        self.change = None;
        if self.changes > 0 {
            let mut reader = Reader::new(file, self.at);
            self.change = Some(Change::read(&mut reader, axes)?);
            (self.at, self.changes) = (reader.at, self.changes - 1);
            self.pass_crc();
        }
        Some(())
    }

    /// Passes the CRC where the records of a chunk are read, so that the next chunk is at `at`.
    fn pass_crc(&mut self) {
        if self.at == self.chunk_end {
            self.at += super::recording::CRC_LEN;
            self.chunk_end = self.at;
        }
    }
}

/// A place in a recording, from which its records are read in order. Borrows nothing, and is handed the recording.
#[derive(Clone, Debug)]
pub(super) struct RecordCursor {
    at: usize,
    chunk_end: usize,
    end: usize,
}

impl RecordCursor {
    /// The place at which the first of the chunks begins.
    pub(super) fn at_chunk(chunks: core::ops::Range<usize>) -> Self {
        Self { at: chunks.start, chunk_end: chunks.start, end: chunks.end }
    }

    /// The next record; `None` at the end.
    pub(super) fn next(&mut self, recording: &Recording) -> Option<Record> {
        if self.at >= self.end {
            return None;
        }
        let mut reader = Reader::new(recording.file(), self.at);
        if self.at == self.chunk_end {
            let len = usize::from(reader.u16()?);
            self.chunk_end = reader.at + len;
        }
        let record = Record::read(&mut reader, recording.header().axes, &mut Inputs::default())?;
        self.at = reader.at;
        if self.at == self.chunk_end {
            self.at += super::recording::CRC_LEN;
            self.chunk_end = self.at;
        }
        Some(record)
    }

    /// The next checksum, past all other records.
    pub(super) fn next_checksum(&mut self, recording: &Recording) -> Option<(Frame, u32)> {
        loop {
            if let Record::Checksum { frame, checksum } = self.next(recording)? {
                return Some((frame, checksum));
            }
        }
    }
}
