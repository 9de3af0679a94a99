//! Recording into an RPLK version 2 file while the match runs.

use super::chunk::Chunk;
use super::record::{self, End, MatchEvent, Outcome};
use super::recorder::{RecordError, check_next};
use super::{Header, WriteError};
use crate::rollback::Rollback;
use crate::{Event, Fields, Frame, Input, Inputs, Player, Session, checksum};
use std::io::{self, Write};

/// A recorder of a running match into an RPLK version 2 file, a chunk for each second of frames.
///
/// A match that is cut off (a crash, a full disk) is recorded up to the last whole chunk. Pass a
/// [`FileAppender`](crate::net::append::FileAppender) as the writer: its calls return at once, and a thread of its own
/// does the rest. An error of the writer ends the recording and never the match: [`take_error`](Self::take_error) tells
/// it once.
///
/// ```
/// use rebout::replay::{End, Header, Outcome, Recording, StreamRecorder, Winner};
/// use rebout::{Buttons, Frame};
///
/// let mut recorder = StreamRecorder::new(&Header::new(999), Vec::new())?;
/// for frame in 0..90 {
///     recorder.record(Frame(frame), [Buttons(1), Buttons(8)].into())?;
/// }
/// let file = recorder.finish(End { outcome: Outcome::Local, winner: Winner::Draw })?;
/// let recording = Recording::open(file)?;
/// assert_eq!(recording.frames(), 90);
/// assert_eq!(recording.inputs().next(), Some([Buttons(1), Buttons(8)].into()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// With a [`Session`], call [`record_session`](Self::record_session) after each `advance` and [`hear`](Self::hear) for
/// each event. Nothing is allocated after [`new`](Self::new).
#[derive(Debug)]
pub struct StreamRecorder<W> {
    output: Output<W>,
    axes: u8,
    pads: u8,
    chunk_frames: u32,
    next: Frame,
    chunk: Chunk,
    checksum_due: Frame,
    outcome: Option<Outcome>,
}

/// The writer, and the error that has ended the recording.
#[derive(Debug)]
struct Output<W> {
    writer: W,
    failed: bool,
    error: Option<io::Error>,
}

impl<W: Write> Output<W> {
    /// Passes on a chunk in one call, so that a writer never sees part of a chunk. After an error nothing more is written: a
    /// chunk that follows a lost one could not be read.
    fn write(&mut self, chunk: &[u8]) {
        if !self.failed
            && let Err(error) = self.writer.write_all(chunk)
        {
            (self.failed, self.error) = (true, Some(error));
        }
    }
}

impl<W: Write> StreamRecorder<W> {
    /// Writes the header, and waits until it is flushed: a file without a header could not be opened. The first state is passed
    /// to the writer after it, without waiting.
    ///
    /// # Errors
    /// A header that is not valid, before anything is written, and errors of the writer.
    pub fn new(header: &Header, mut writer: W) -> Result<Self, WriteError> {
        let (bytes, crc) = header.encode()?;
        writer.write_all(&bytes)?;
        writer.flush()?;
        writer.write_all(&header.first_state)?;
        let rate = header.frame_rate.unwrap_or_default();
        Ok(Self {
            output: Output { writer, failed: false, error: None },
            axes: header.axes,
            pads: header.pads,
            chunk_frames: rate.numerator() / rate.denominator(),
            next: Frame::ZERO,
            chunk: Chunk::new(crc),
            checksum_due: Frame::ZERO,
            outcome: None,
        })
    }

    /// Records the inputs of the next frame, of which the first is frame 0.
    ///
    /// # Errors
    /// [`RecordError`] if `frame` is not the next one, if it has an axis or a pad that the header does not declare, or if the
    /// replay is full. Nothing is recorded then.
    #[inline]
    pub fn record(&mut self, frame: Frame, inputs: Inputs) -> Result<(), RecordError> {
        check_next(frame, self.next)?;
        let Self { axes, pads, .. } = *self;
        if inputs.0.iter().any(|input| input.axes_used() > Input::axes_of(axes, pads)) {
            return Err(RecordError::Input { frame, axes, pads });
        }
        self.next = frame.next();
        if self.chunk.add(inputs) == self.chunk_frames {
            self.seal();
        }
        Ok(())
    }

    /// Records the frames that the last `advance` of `session` confirmed, and a checksum about once a second. Call it
    /// once after every `advance`.
    ///
    /// # Errors
    /// [`RecordError`] at the first frame that is not the next one, or if the replay is full.
    pub fn record_session<S: Fields>(&mut self, session: &Session<S>) -> Result<(), RecordError> {
        self.check_state(self.next.min(session.settled()), |frame| session.snapshot(frame));
        for (frame, inputs) in session.confirmed() {
            self.record(frame, inputs)?;
        }
        self.check_state(session.settled(), |frame| session.snapshot(frame));
        Ok(())
    }

    /// Records the frames that the last `advance` of `engine` settled, and a checksum about once a second. Call it once
    /// after every `advance`.
    ///
    /// # Errors
    /// [`RecordError`] at the first frame that is not the next one, or if the replay is full.
    pub fn record_settled<S: Fields>(&mut self, engine: &Rollback<S>) -> Result<(), RecordError> {
        self.check_state(self.next.min(engine.settled()), |frame| engine.snapshot(frame));
        engine.newly_confirmed().try_for_each(|(frame, inputs)| self.record(frame, inputs))?;
        self.check_state(engine.settled(), |frame| engine.snapshot(frame));
        Ok(())
    }

    /// Records the checksum of a state that follows from the recorded frames, if one is due.
    ///
    /// The state before the frames of an `advance` is kept even where the one after them is not: on a link without predictions the
    /// newest certain state has no snapshot.
    #[inline]
    fn check_state<'a, S: Fields + 'a>(&mut self, frame: Frame, state: impl FnOnce(Frame) -> Option<&'a S>) {
        if self.is_checksum_due()
            && frame == self.next
            && let Some(state) = state(frame)
        {
            self.checksum(frame, checksum(state));
        }
    }

    /// Whether the state of the [`next`](Self::next) frame is due to be recorded by its checksum.
    #[must_use]
    pub fn is_checksum_due(&self) -> bool {
        self.next >= self.checksum_due
    }

    /// Records the checksum of the state of a frame up to [`next`](Self::next). A frame before that of the last checksum,
    /// or after the next frame, is left out.
    pub fn checksum(&mut self, frame: Frame, checksum: u32) {
        let is_first_of_all = self.checksum_due == Frame::ZERO;
        let last = self.checksum_due.checked_sub(self.chunk_frames);
        if frame > self.next || (!is_first_of_all && last.is_none_or(|last| frame <= last)) {
            return;
        }
        self.checksum_due = frame.plus(self.chunk_frames);
        self.note(|notes| record::put_checksum(notes, frame, checksum));
    }

    /// Records an event that happened at the [`next`](Self::next) frame.
    pub fn event(&mut self, event: MatchEvent) {
        self.event_at(self.next, event);
    }

    /// Records an event of a frame up to [`next`](Self::next).
    pub(super) fn event_at(&mut self, frame: Frame, event: MatchEvent) {
        let frame = frame.min(self.next);
        self.note(|notes| record::put_event(notes, frame, event));
    }

    /// Records a message of a player at the [`next`](Self::next) frame. One that is empty, or longer than a session sends, is left out.
    pub fn message(&mut self, player: Player, message: &[u8]) {
        if (1..=record::MAX_MESSAGE_LEN).contains(&message.len()) {
            let next = self.next;
            self.note(|notes| record::put_message(notes, next, player, message));
        }
    }

    /// Records an event of the session, if it is of a kind that a replay keeps; `local` is the seat at this machine.
    pub fn hear(&mut self, local: Player, event: &Event) {
        match *event {
            Event::Interrupted { .. } => self.event(MatchEvent::Interrupted),
            Event::Resumed => self.event(MatchEvent::Resumed),
            Event::DelayChanged { delay_frames } => {
                self.event(MatchEvent::Delay { player: local, delay_frames });
            }
            Event::PeerDelay { delay_frames } => {
                self.event(MatchEvent::Delay { player: local.other(), delay_frames });
            }
            Event::Desync(desync) => {
                let event = MatchEvent::Desync { ours: desync.ours, theirs: desync.theirs };
                self.event_at(desync.frame, event);
            }
            Event::Mended { from, to } => self.event_at(to, MatchEvent::Mended { from }),
            Event::Ended(verdict) => self.outcome = Some(verdict.into()),
            Event::Disconnected { reason } => self.outcome = Some(Outcome::Disconnected(reason)),
            _ => {}
        }
    }

    /// The end of the match that [`hear`](Self::hear) was told of, if it was.
    #[must_use]
    pub fn outcome(&self) -> Option<Outcome> {
        self.outcome
    }

    /// The frame to record next.
    #[must_use]
    pub fn next(&self) -> Frame {
        self.next
    }

    /// The error of the writer that has ended the recording, reported once.
    pub fn take_error(&mut self) -> Option<io::Error> {
        self.output.error.take()
    }

    /// Writes the rest and the end, and returns the writer.
    ///
    /// # Errors
    /// The error of the writer that has ended the recording; without its reason if that was told already.
    pub fn finish(mut self, end: End) -> io::Result<W> {
        self.end(end);
        match self.output {
            Output { error: Some(error), .. } => Err(error),
            Output { failed: true, .. } => Err(io::Error::other("the recording had ended early")),
            Output { writer, .. } => Ok(writer),
        }
    }

    /// Writes the rest without an end, as of a match that still runs, and returns the writer.
    pub(super) fn leave_open(mut self) -> io::Result<W> {
        self.seal();
        self.output.error.map_or(Ok(self.output.writer), Err)
    }

    /// Records the end. Nothing may follow it.
    pub(crate) fn end(&mut self, end: End) {
        self.chunk.note(|notes| record::put_end(notes, end));
        self.seal();
    }

    /// Writes the rest, as of a match that was cut off.
    #[cfg(all(feature = "seal", not(target_family = "wasm")))]
    pub(crate) fn write_rest(&mut self) {
        self.seal();
    }

    #[cfg(all(feature = "seal", not(target_family = "wasm")))]
    pub(crate) fn writer(&self) -> &W {
        &self.output.writer
    }

    #[cfg(all(feature = "seal", not(target_family = "wasm")))]
    pub(crate) fn into_writer(self) -> W {
        self.output.writer
    }

    fn note(&mut self, put: impl FnOnce(&mut Vec<u8>)) {
        if !self.chunk.note(put) {
            self.seal();
        }
    }

    fn seal(&mut self) {
        if let Some(chunk) = self.chunk.seal() {
            self.output.write(chunk);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Recording, Tail, Winner};
    use super::*;
    use crate::{Buttons, Desync};

    const END: End = End { outcome: Outcome::Local, winner: Winner::Draw };

    fn recorder(frames: u32) -> StreamRecorder<Vec<u8>> {
        let mut recorder = StreamRecorder::new(&Header::new(7), Vec::new()).unwrap();
        record_until(&mut recorder, frames);
        recorder
    }

    fn record_until(recorder: &mut StreamRecorder<Vec<u8>>, frames: u32) {
        for frame in recorder.next().until(Frame(frames)) {
            recorder.record(frame, Inputs::from([Buttons(frame.0 as u16), Buttons(0)])).unwrap();
        }
    }

    fn finished(recorder: StreamRecorder<Vec<u8>>) -> Recording {
        let recording = Recording::open(recorder.finish(END).unwrap()).unwrap();
        assert_eq!(recording.tail(), Tail::Whole);
        recording
    }

    #[test]
    fn desync_heard_before_its_frame_does_not_damage_the_file() {
        let mut recorder = recorder(100);
        let desync = Desync { frame: Frame(120), ours: 1, theirs: 2, last_match: None };
        recorder.hear(Player::One, &Event::Desync(desync));
        record_until(&mut recorder, 200);
        let recording = finished(recorder);
        assert_eq!(recording.frames(), 200);
        assert!(recording.events().eq([(Frame(100), MatchEvent::Desync { ours: 1, theirs: 2 })]));
    }

    #[test]
    fn messages_of_a_length_that_a_session_sends_are_kept() {
        let mut recorder = recorder(10);
        for len in [0, 1, 1_024, 1_025] {
            recorder.message(Player::Two, &vec![b'a'; len]);
        }
        let recording = finished(recorder);
        let kept = recording.messages().map(|(frame, player, text)| (frame, player, text.len()));
        assert!(kept.eq([(Frame(10), Player::Two, 1), (Frame(10), Player::Two, 1_024)]));
    }

    #[test]
    fn file_that_ends_with_a_whole_second_has_no_empty_chunk() {
        let recording = Recording::open(recorder(120).leave_open().unwrap()).unwrap();
        assert_eq!((recording.tail(), recording.frames()), (Tail::Open, 120));
    }

    #[test]
    fn checksum_is_left_out_unless_it_is_newer_and_recorded() {
        let mut recorder = recorder(50);
        recorder.checksum(Frame(51), 0);
        recorder.checksum(Frame(10), 1);
        recorder.checksum(Frame(10), 2);
        recorder.checksum(Frame(9), 3);
        recorder.checksum(Frame(11), 4);
        assert!(finished(recorder).checksums().eq([(Frame(10), 1), (Frame(11), 4)]));
    }

    #[test]
    fn checksum_is_due_a_second_after_the_frame_of_the_last() {
        let mut recorder = recorder(50);
        assert!(recorder.is_checksum_due(), "the first of all");
        recorder.checksum(Frame(10), 1);
        for (next, is_due) in [(69, false), (70, true)] {
            record_until(&mut recorder, next);
            assert_eq!(recorder.is_checksum_due(), is_due, "frame {next}");
        }
    }

    #[test]
    fn only_the_state_of_the_next_frame_is_recorded() {
        let mut recorder = recorder(5);
        recorder.check_state(Frame(4), |_| Some(&1_u32));
        recorder.check_state(Frame(6), |_| Some(&2_u32));
        recorder.check_state(Frame(5), |_| None::<&u32>);
        recorder.check_state(Frame(5), |_| Some(&3_u32));
        assert!(finished(recorder).checksums().eq([(Frame(5), checksum(&3_u32))]));
    }

    #[test]
    fn events_of_any_number_are_recorded_without_allocating() {
        let mut recorder = recorder(5);
        let room = recorder.chunk.room();
        (0..20_000).for_each(|mark| recorder.event(MatchEvent::Mark(mark)));
        assert_eq!(recorder.chunk.room(), room);
        let recording = finished(recorder);
        assert!(recording.events().eq((0..20_000).map(|mark| (Frame(5), MatchEvent::Mark(mark)))));
    }

    /// Takes the header, and fails with every chunk.
    struct HeaderOnly(bool);

    impl Write for HeaderOnly {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if core::mem::replace(&mut self.0, true) {
                return Err(io::ErrorKind::StorageFull.into());
            }
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn copy_that_could_not_be_written_is_an_error() {
        let recording = Recording::open(recorder(90).leave_open().unwrap()).unwrap();
        let written = recording.write_version_2(recording.header(), Frame(90), HeaderOnly(false));
        assert!(matches!(written, Err(WriteError::Io(_))));
    }

    #[test]
    fn header_is_flushed_before_the_match() {
        struct Flushed(usize);
        impl Write for Flushed {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                Ok(bytes.len())
            }

            fn flush(&mut self) -> io::Result<()> {
                self.0 += 1;
                Ok(())
            }
        }
        assert_eq!(StreamRecorder::new(&Header::new(7), Flushed(0)).unwrap().output.writer.0, 1);
    }
}
