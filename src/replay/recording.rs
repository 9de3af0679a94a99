//! A replay file that is open: checked once, and read in place.

use super::chunk::MAX_CHUNK_LEN;
use super::codec::Reader;
use super::cursor::{Cursor, RecordCursor};
use super::header::{self, Header};
use super::record::{End, MatchEvent, Record};
use super::{MAX_FRAMES, ReadError, Replay, StreamRecorder, WriteError, rplk};
use crate::{Frame, Game, Inputs, Player};
use core::fmt;
use std::io::Write;

pub(super) const CRC_LEN: usize = 4;
/// The places in the file that are kept; where a file has more chunks, every second is forgotten, again and again.
const MAX_PLACES: usize = 1024;

/// A replay file of version 1 or 2, checked and open for reading.
///
/// A file of version 2 that was cut at any byte, or damaged, opens up to its last whole chunk, and
/// [`tail`](Self::tail) says so. Inputs are decoded where they are read: memory is that of the file and a constant,
/// however many frames the file declares.
///
/// ```
/// use rebout::replay::{Header, Recording, StreamRecorder, Tail, End, Outcome, Winner};
/// use rebout::{Buttons, Frame};
///
/// let mut recorder = StreamRecorder::new(&Header::new(7), Vec::new())?;
/// for frame in 0..150 {
///     recorder.record(Frame(frame), [Buttons(frame as u16 / 20), Buttons(0)].into())?;
/// }
/// let mut file = recorder.finish(End { outcome: Outcome::Local, winner: Winner::Undecided })?;
/// file.pop();
/// let recording = Recording::open(file)?;
/// assert_eq!(recording.frames(), 120, "two whole seconds");
/// assert!(matches!(recording.tail(), Tail::Cut { .. }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Recording {
    file: Vec<u8>,
    version: u8,
    header: Header,
    frames: u32,
    /// The end of the header, and of the last whole chunk.
    chunks: core::ops::Range<usize>,
    end: Option<End>,
    tail: Tail,
    places: Places,
    reached: Reached,
}

/// The values after the last whole chunk, with which the next one is checked.
#[derive(Clone, Debug, Default)]
struct Reached {
    crc: crc32fast::Hasher,
    inputs: Inputs,
    last_checksum: Option<Frame>,
}

/// How a replay file ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tail {
    /// With the end of the match; in version 1 with its last frame.
    Whole,
    /// With a whole chunk, but without the end of the match: it was cut off there, or is still being recorded.
    Open,
    /// Within a chunk, which is left out.
    Cut {
        /// The number of bytes that are left out.
        bytes: usize,
    },
    /// With a chunk that does not match its CRC or breaks a rule. It and the rest are left out.
    Damaged {
        /// The place of the chunk in the file.
        offset: usize,
    },
}

impl fmt::Display for Tail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => f.write_str("whole"),
            Self::Open => f.write_str("ends without the end of the match"),
            Self::Cut { bytes } => write!(f, "cut off: the last {bytes} bytes are not a whole chunk"),
            Self::Damaged { offset } => {
                write!(f, "damaged: the chunk at byte {offset} is not what was written")
            }
        }
    }
}

/// A chunk at which reading can begin.
#[derive(Clone, Copy, Debug)]
struct Place {
    at: usize,
    frame: Frame,
    inputs: Inputs,
}

/// Some of the chunks of a file, evenly spread.
#[derive(Clone, Debug)]
struct Places {
    kept: Vec<Place>,
    every: usize,
    seen: usize,
}

impl Places {
    fn see(&mut self, place: Place) {
        if self.kept.len() == MAX_PLACES {
            let mut index = 0;
            self.kept.retain(|_| {
                index += 1;
                index % 2 == 1
            });
            self.every *= 2;
        }
        if self.seen.is_multiple_of(self.every) {
            self.kept.push(place);
        }
        self.seen += 1;
    }

    /// The last chunk that begins at or before `frame`.
    fn before(&self, frame: Frame) -> Option<&Place> {
        self.kept[..self.kept.partition_point(|place| place.frame <= frame)].last()
    }
}

impl Recording {
    /// Opens a file that is in memory.
    ///
    /// # Errors
    /// A file without a valid header, and a file of version 1 that is not whole.
    pub fn open(file: Vec<u8>) -> Result<Self, ReadError> {
        let Some((start, _)) = file.split_first_chunk::<5>() else {
            return Err(ReadError::TooShort { len: file.len(), needed: rplk::HEADER_LEN });
        };
        let &[m, a, g, i, version] = start;
        if [m, a, g, i] != header::MAGIC {
            return Err(ReadError::Magic { magic: [m, a, g, i] });
        }
        let places = Places { kept: Vec::new(), every: 1, seen: 0 };
        match version {
            rplk::VERSION => {
                let (seed, frames) = rplk::check(&file)?;
                let header = Header::new(seed);
                let (tail, reached) = (Tail::Whole, Reached::default());
                Ok(Self { file, version, header, frames, chunks: 0..0, end: None, tail, places, reached })
            }
            header::VERSION => {
                let (header, len, crc) = Header::decode(&file)?;
                let mut recording = Self {
                    file,
                    version,
                    header,
                    frames: 0,
                    chunks: len..len,
                    end: None,
                    tail: Tail::Open,
                    places,
                    reached: Reached { crc, ..Reached::default() },
                };
                recording.scan();
                Ok(recording)
            }
            version => Err(ReadError::Version { version }),
        }
    }

    /// Adds bytes that were written to the file since, and reads the chunks that they complete: a match that still runs, or one
    /// that is received. Returns how the file ends now. A damaged file stays as it is, and so does one of version 1.
    ///
    /// ```
    /// use rebout::replay::{Header, Recording, StreamRecorder, Tail, End, Outcome, Winner};
    /// use rebout::{Buttons, Frame};
    ///
    /// let mut recorder = StreamRecorder::new(&Header::new(7), Vec::new())?;
    /// for frame in 0..90 {
    ///     recorder.record(Frame(frame), [Buttons(1), Buttons(0)].into())?;
    /// }
    /// let file = recorder.finish(End { outcome: Outcome::Local, winner: Winner::Undecided })?;
    /// let (so_far, rest) = file.split_at(80);
    /// let mut recording = Recording::open(so_far.to_vec())?;
    /// assert_eq!(recording.frames(), 60);
    /// assert_eq!((recording.append(rest), recording.frames()), (Tail::Whole, 90));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn append(&mut self, bytes: &[u8]) -> Tail {
        if matches!(self.tail, Tail::Open | Tail::Cut { .. }) {
            self.file.extend_from_slice(bytes);
            self.scan();
        }
        self.tail
    }

    /// Goes through the chunks up to the end, or the first that is not whole.
    fn scan(&mut self) {
        self.tail = Tail::Open;
        while self.end.is_none() && self.chunks.end < self.file.len() {
            let at = self.chunks.end;
            let mut reader = Reader::new(&self.file, at);
            let left = self.file.len() - at;
            let Some(len) = reader.u16().map(usize::from).filter(|len| 2 + len + CRC_LEN <= left) else {
                self.tail = Tail::Cut { bytes: left };
                return;
            };
            let records = &self.file[at..at + 2 + len];
            let place = Place { at, frame: Frame(self.frames), inputs: self.reached.inputs };
            let mut reached = self.reached.clone();
            reached.crc.update(records);
            let stated = Reader::new(&self.file, at + 2 + len).u32();
            let is_right =
                stated == Some(reached.crc.clone().finalize()) && (1..=MAX_CHUNK_LEN).contains(&len);
            if !is_right || self.scan_chunk(at + 2, len, &mut reached).is_none() {
                self.tail = Tail::Damaged { offset: at };
                return;
            }
            self.reached = reached;
            self.places.see(place);
            self.chunks.end = at + 2 + len + CRC_LEN;
        }
        if self.end.is_some() {
            let is_last = self.chunks.end == self.file.len();
            self.tail = if is_last { Tail::Whole } else { Tail::Damaged { offset: self.chunks.end } };
        }
    }

    /// Checks the records of a chunk; nothing of a chunk that breaks a rule is taken over.
    fn scan_chunk(&mut self, at: usize, len: usize, reached: &mut Reached) -> Option<()> {
        let Reached { inputs, last_checksum, .. } = reached;
        let mut reader = Reader::new(&self.file[..at + len], at);
        let (mut frames, mut end) = (self.frames, None);
        while reader.at < at + len {
            if end.is_some() {
                return None;
            }
            match Record::read(&mut reader, self.header.recorded_axes(), inputs)? {
                Record::Inputs { frames: more } => frames += more,
                Record::Checksum { frame, .. } => {
                    if frame.0 > frames || last_checksum.is_some_and(|last| frame <= last) {
                        return None;
                    }
                    *last_checksum = Some(frame);
                }
                Record::Event { frame, .. } | Record::Message { frame, .. } if frame.0 > frames => {
                    return None;
                }
                Record::Event { .. } | Record::Message { .. } => {}
                Record::End(found) => end = Some(found),
            }
        }
        if frames > MAX_FRAMES {
            return None;
        }
        (self.frames, self.end) = (frames, end);
        Some(())
    }

    /// The version of the file, 1 or 2.
    #[must_use]
    pub fn version(&self) -> u8 {
        self.version
    }

    /// The facts at the beginning of the file. Version 1 has only the seed.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The number of frames that can be read.
    #[must_use]
    pub fn frames(&self) -> u32 {
        self.frames
    }

    /// How the match ended, if the file says so.
    #[must_use]
    pub fn end(&self) -> Option<End> {
        self.end
    }

    /// How the file ends, and what is left out.
    #[must_use]
    pub fn tail(&self) -> Tail {
        self.tail
    }

    /// The length of the file so far, with the bytes that are left out.
    #[expect(clippy::len_without_is_empty, reason = "a file without a header is none")]
    #[must_use]
    pub fn len(&self) -> usize {
        self.file.len()
    }

    pub(super) fn file(&self) -> &[u8] {
        &self.file
    }

    /// The end of the last whole chunk.
    pub(super) fn chunks_end(&self) -> usize {
        self.chunks.end
    }

    /// A cursor whose next inputs are those of `frame`, or at the end.
    pub(super) fn cursor(&self, frame: Frame) -> Cursor {
        let mut cursor = match self.places.before(frame) {
            Some(place) => Cursor::at_chunk(place.at, place.frame, place.inputs),
            // Version 1 has no chunks, and finds every frame by its number.
            None => Cursor::at_chunk(self.chunks.start, frame.min(Frame(self.frames)), Inputs::default()),
        };
        while cursor.frame() < frame && cursor.next(self).is_some() {}
        cursor
    }

    /// The inputs of all frames, from `frame` on.
    pub(crate) fn inputs_from(&self, frame: Frame) -> impl Iterator<Item = Inputs> {
        let mut cursor = self.cursor(frame);
        core::iter::from_fn(move || cursor.next(self))
    }

    /// The inputs of all frames, from frame 0 on.
    pub fn inputs(&self) -> impl Iterator<Item = Inputs> {
        let mut cursor = self.cursor(Frame::ZERO);
        core::iter::from_fn(move || cursor.next(self))
    }

    /// The recorded checksums of states, in the order of their frames, but for those of a live state that was
    /// [mended](MatchEvent::Mended) later.
    pub fn checksums(&self) -> impl Iterator<Item = (Frame, u32)> {
        let void = self.events().find_map(|(to, event)| match event {
            MatchEvent::Mended { from } => Some((from, to)),
            _ => None,
        });
        self.records()
            .filter_map(move |record| match record {
                Record::Checksum { frame, checksum } => Some((frame, checksum)),
                _ => None,
            })
            .filter(move |(frame, _)| void.is_none_or(|(from, to)| *frame <= from || *frame > to))
    }

    /// The recorded events, in the order in which they were recorded.
    pub fn events(&self) -> impl Iterator<Item = (Frame, MatchEvent)> {
        self.records().filter_map(|record| match record {
            Record::Event { frame, event } => Some((frame, event)),
            _ => None,
        })
    }

    /// The recorded messages of the players, in the order in which they were recorded. Nobody has checked their bytes.
    pub fn messages(&self) -> impl Iterator<Item = (Frame, Player, &[u8])> {
        self.records().filter_map(|record| match record {
            Record::Message { frame, player, at, len } => Some((frame, player, self.file.get(at..at + len)?)),
            _ => None,
        })
    }

    fn records(&self) -> impl Iterator<Item = Record> {
        let mut cursor = self.record_cursor();
        core::iter::from_fn(move || cursor.next(self))
    }

    /// A cursor at the first record.
    pub(super) fn record_cursor(&self) -> RecordCursor {
        RecordCursor::at_chunk(self.chunks.start)
    }

    /// Steps `game`, in its first state, through all frames, and compares its states with the recorded checksums.
    /// Returns how many were compared.
    ///
    /// # Errors
    /// The first checksum that differs; and a file without checksums, because such a run proves nothing.
    pub fn verify<G: Game>(&self, game: &mut G) -> Result<u32, super::VerifyError> {
        super::verify::verify_inputs(self.inputs(), game, self.checksums())
    }

    /// All inputs in memory, 16 bytes a frame: for a desync bundle or a test.
    #[must_use]
    pub fn to_replay(&self) -> Replay {
        let first_state = self.header.first_state.clone();
        Replay { seed: self.header.seed, first_state, inputs: self.inputs().collect() }
    }

    /// Writes the inputs as a file of version 1, which holds neither axes nor more than one pad, no first state nor anything but inputs.
    ///
    /// # Errors
    /// A match with axes, more than one pad or a first state, before anything is written, and errors of the writer.
    pub fn write_version_1(&self, writer: &mut impl Write) -> Result<(), WriteError> {
        if !self.header.first_state.is_empty() {
            return Err(WriteError::FirstState);
        }
        rplk::write(self.header.seed, self.frames, || self.inputs(), writer)
    }

    /// Writes the frames before `until` as a file of version 2 with another header, but with the axes, pads and first state of
    /// this one. Messages are left out. The end of the match is written only if all frames are.
    ///
    /// # Errors
    /// A header that is not valid, before anything is written, and errors of the writer.
    pub fn write_version_2<W: Write>(
        &self,
        header: &Header,
        until: Frame,
        writer: W,
    ) -> Result<W, WriteError> {
        let Header { axes, pads, .. } = self.header;
        let first_state = self.header.first_state.clone();
        let header = Header { axes, pads, first_state, ..header.clone() };
        let mut out = StreamRecorder::new(&header, writer)?;
        let mut checksums = self.checksums().peekable();
        let mut events = self.events().peekable();
        let mut tell = |out: &mut StreamRecorder<W>| {
            while let Some((frame, checksum)) = checksums.next_if(|(frame, _)| *frame <= out.next()) {
                out.checksum(frame, checksum);
            }
            while let Some((frame, event)) = events.next_if(|(frame, _)| *frame <= out.next()) {
                out.event_at(frame, event);
            }
        };
        tell(&mut out);
        for inputs in self.inputs().take(until.0 as usize) {
            let frame = out.next();
            out.record(frame, inputs).map_err(|_| WriteError::Axes { frame })?;
            tell(&mut out);
        }
        let end = self.end.filter(|_| until.0 >= self.frames);
        let written = match end {
            Some(end) => out.finish(end),
            None => out.leave_open(),
        };
        Ok(written?)
    }
}

#[cfg(test)]
mod tests;
