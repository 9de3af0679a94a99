//! Reading a recording in order: its inputs frame by frame, and its records.

use super::codec::Reader;
use super::record::{self, Change, Record};
use super::recording::Recording;
use super::rplk;
use crate::{Frame, Inputs};

/// A place in a recording, from which its frames are read in order. Borrows nothing, and is handed the recording.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor {
    place: Place,
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
        Self { place: Place::at_chunk(at), frame, inputs, frames: 0, changes: 0, change: None }
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
        let (file, axes) = (recording.file(), recording.header().recorded_axes());
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
        let start = self.place.record(file)?;
        let mut reader = start;
        if reader.u8()? == record::INPUTS {
            (self.frames, self.changes) = record::read_inputs_head(&mut reader)?;
            self.place.at = reader.at;
            self.read_change(file, axes)
        } else {
            reader = start;
            Record::read(&mut reader, axes, &mut Inputs::default())?;
            self.place.at = reader.at;
            Some(())
        }
    }

    fn read_change(&mut self, file: &[u8], axes: u8) -> Option<()> {
        self.change = None;
        if self.changes > 0 {
            let mut reader = Reader::new(file, self.place.at);
            self.change = Some(Change::read(&mut reader, axes)?);
            (self.place.at, self.changes) = (reader.at, self.changes - 1);
        }
        Some(())
    }
}

/// A place among the records of a file.
#[derive(Clone, Copy, Debug)]
struct Place {
    at: usize,
    /// The end of the records of the chunk; `None` if `at` is the beginning of a chunk.
    chunk_end: Option<usize>,
}

impl Place {
    fn at_chunk(at: usize) -> Self {
        Self { at, chunk_end: None }
    }

    /// A reader of the next record, which may be the first of the next chunk.
    fn record<'a>(&mut self, file: &'a [u8]) -> Option<Reader<'a>> {
        if self.chunk_end == Some(self.at) {
            *self = Self::at_chunk(self.at + super::recording::CRC_LEN);
        }
        let mut reader = Reader::new(file, self.at);
        if self.chunk_end.is_none() {
            let len = usize::from(reader.u16()?);
            (self.at, self.chunk_end) = (reader.at, Some(reader.at + len));
        }
        Some(reader)
    }
}

/// A place in a recording, from which its records are read in order. Borrows nothing, and is handed the recording.
#[derive(Clone, Debug)]
pub(super) struct RecordCursor {
    place: Place,
}

impl RecordCursor {
    /// The place at which a chunk begins.
    pub(super) fn at_chunk(at: usize) -> Self {
        Self { place: Place::at_chunk(at) }
    }

    /// The next record; `None` at the end, which moves on with the recording.
    pub(super) fn next(&mut self, recording: &Recording) -> Option<Record> {
        let mut reader = self.place.record(recording.file().get(..recording.chunks_end())?)?;
        let record = Record::read(&mut reader, recording.header().recorded_axes(), &mut Inputs::default())?;
        self.place.at = reader.at;
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
