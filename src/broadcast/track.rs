//! The log of one match at its source, and the age at which its bytes may leave.

use super::signing::{LogHash, SigningKey};
use crate::protocol::time::{Span, Time};
use crate::replay::{End, Header, StreamRecorder};
use crate::wire::broadcast::{Head, MatchId};
use std::collections::VecDeque;
use std::io;

/// Bytes of a log for which memory is taken at the start: more than an hour of a usual match.
const USUAL_LEN: usize = 256 * 1024;

/// The bytes of a log, up to a limit.
#[derive(Debug)]
pub(super) struct Tape {
    bytes: Vec<u8>,
    max_len: usize,
}

impl io::Write for Tape {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > self.max_len {
            return Err(io::Error::other("the log is full"));
        }
        // A vector that grows by itself may take twice its limit.
        let len = self.bytes.len() + bytes.len();
        if len > self.bytes.capacity() {
            let wanted = len.max(2 * self.bytes.capacity()).min(self.max_len);
            self.bytes.reserve_exact(wanted - self.bytes.len());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[derive(Debug)]
// There are a few of these.
#[allow(clippy::large_enum_variant)]
enum Writing {
    Open(StreamRecorder<Tape>),
    Done(Tape),
}

/// The log of one match: written by a [`StreamRecorder`], byte by byte the file that it would write.
#[derive(Debug)]
pub(super) struct Track {
    of: MatchId,
    writing: Option<Writing>,
    /// Lengths of the log, and when that much may leave.
    due: VecDeque<(Time, u32)>,
    /// The length of the log so far, and of the part that has left.
    written: u32,
    released: u32,
    hash: LogHash,
    head: Option<Head>,
}

impl Track {
    /// Begins the log of a match; `None` if a file cannot hold it.
    pub(super) fn new(now: Time, of: MatchId, header: &Header, delay: Span, max_len: usize) -> Option<Self> {
        let usual = (USUAL_LEN + header.first_state.len()).min(max_len);
        let tape = Tape { bytes: Vec::with_capacity(usual), max_len };
        let recorder = StreamRecorder::new(header, tape).ok()?;
        let seconds = delay.nanos() / 1_000_000_000;
        let mut track = Self {
            of,
            writing: Some(Writing::Open(recorder)),
            due: VecDeque::with_capacity(seconds as usize + 16),
            written: 0,
            released: 0,
            hash: LogHash::new(of),
            head: None,
        };
        track.note(now, delay);
        Some(track)
    }

    pub(super) fn of(&self) -> MatchId {
        self.of
    }

    /// The recorder, while the match goes on and the log is not full.
    pub(super) fn recorder(&mut self) -> Option<&mut StreamRecorder<Tape>> {
        match &mut self.writing {
            Some(Writing::Open(recorder)) => Some(recorder),
            _ => None,
        }
    }

    /// Notes when the bytes that were written until now may leave. `false` once the log is full.
    #[inline]
    pub(super) fn note(&mut self, now: Time, delay: Span) -> bool {
        let len = self.tape().map_or(0, Vec::len) as u32;
        if len > self.written {
            self.due.push_back((now + delay, len));
            self.written = len;
        }
        let is_full = self.recorder().is_some_and(|recorder| recorder.take_error().is_some());
        if is_full {
            self.close();
        }
        !is_full
    }

    /// Ends the log as it is, and gives back the memory that it did not need: a delayed broadcast keeps many logs.
    pub(super) fn close(&mut self) {
        self.writing = self.writing.take().map(|writing| match writing {
            Writing::Open(recorder) => {
                let mut tape = recorder.into_writer();
                tape.bytes.shrink_to_fit();
                Writing::Done(tape)
            }
            done => done,
        });
    }

    /// Ends the log of a match of which no end was told: the next one begins.
    pub(super) fn cut_off(&mut self, now: Time, delay: Span) {
        if let Some(Writing::Open(recorder)) = &mut self.writing {
            recorder.write_rest();
            self.close();
            self.note(now, delay);
        }
    }

    /// Writes the end of the match.
    pub(super) fn finish(&mut self, now: Time, delay: Span, end: End) {
        // A match ends once, and keeps its log.
        if let Some(Writing::Open(recorder)) = &mut self.writing {
            recorder.end(end);
            self.close();
            self.note(now, delay);
        }
    }

    /// Lets out the bytes that are old enough.
    pub(super) fn release(&mut self, now: Time) {
        let mut len = self.released;
        while let Some((_, due)) = self.due.front().filter(|(at, _)| *at <= now) {
            len = *due;
            self.due.pop_front();
        }
        if len > self.released {
            let fresh = self.released as usize..len as usize;
            match &self.writing {
                Some(Writing::Open(recorder)) => self.hash.update(&recorder.writer().bytes[fresh]),
                Some(Writing::Done(tape)) => self.hash.update(&tape.bytes[fresh]),
                None => {}
            }
            self.released = len;
        }
    }

    /// The source's statement about the bytes that have left; `None` before the first have. It is signed when it is asked for, so
    /// that a match that nobody watches signs nothing.
    pub(super) fn head(&mut self, key: &SigningKey) -> Option<Head> {
        let stated = (self.released, self.is_over());
        if self.released > 0 && self.head.is_none_or(|head| (head.len, head.is_last) != stated) {
            self.head = Some(key.sign(self.of, stated.1, stated.0, self.hash.value()));
        }
        self.head
    }

    /// Whether the match has ended, and its whole log has left.
    pub(super) fn is_over(&self) -> bool {
        matches!(self.writing, Some(Writing::Done(_))) && self.due.is_empty()
    }

    /// When the next bytes may leave.
    pub(super) fn due_at(&self) -> Time {
        self.due.front().map_or(Time::NEVER, |(at, _)| *at)
    }

    /// The bytes that have left.
    pub(super) fn bytes(&self) -> &[u8] {
        self.tape().map_or(&[], |bytes| &bytes[..self.released as usize])
    }

    /// The memory of the log.
    pub(super) fn memory(&self) -> usize {
        self.tape().map_or(0, Vec::capacity)
    }

    fn tape(&self) -> Option<&Vec<u8>> {
        match &self.writing {
            Some(Writing::Open(recorder)) => Some(&recorder.writer().bytes),
            Some(Writing::Done(tape)) => Some(&tape.bytes),
            None => None,
        }
    }
}
