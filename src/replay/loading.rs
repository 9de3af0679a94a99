//! The first pass through a recording, which keeps snapshots and compares checksums.

use super::Recording;
use super::cursor::{Cursor, RecordCursor};
use super::verify::VerifyError;
use crate::game::saved;
use crate::{Cues, Fields, Frame, Game, StateError, checksum};

/// Frames between snapshots at first. The distance doubles whenever all snapshots are taken.
const FIRST_SPACING: u32 = 60;

/// The snapshots of a recording, as far as it is loaded.
#[derive(Debug)]
pub(super) struct Loading<S> {
    cursor: Cursor,
    cues: Cues,
    /// The state of the cursor's frame, and a slot for the state that is shown meanwhile.
    head: S,
    shown: S,
    /// The states of frame 0, `spacing`, twice that, and so on.
    kept: Vec<S>,
    spacing: u32,
    max_kept: usize,
    /// Whether the state of frame 0 was checked.
    begun: bool,
    records: RecordCursor,
    next_checksum: Option<(Frame, u32)>,
    compared: u32,
    /// The first checksum that differs, or the state that the game could not save or restore, with which all is over.
    trouble: Option<VerifyError>,
}

impl<S: Fields> Loading<S> {
    pub(super) fn new<G: Game<Snapshot = S>>(game: &G, recording: &Recording, max_kept: usize) -> Self {
        let mut records = recording.record_cursor();
        let (mut head, mut first) = (game.snapshot(), game.snapshot());
        let saved = game.save(&mut head).and_then(|()| game.save(&mut first));
        let trouble = saved.err().map(|error| VerifyError::State { frame: Frame::ZERO, error });
        Self {
            cursor: recording.cursor(Frame::ZERO),
            cues: Cues::unseen(),
            head,
            shown: game.snapshot(),
            kept: vec![first],
            spacing: FIRST_SPACING,
            max_kept: max_kept.max(2),
            begun: false,
            next_checksum: records.next_checksum(recording),
            records,
            compared: 0,
            trouble,
        }
    }

    /// Loads up to `steps` more frames, and puts the game back; `true` once all are loaded, or the game could not save or
    /// restore a state.
    pub(super) fn run<G: Game<Snapshot = S>>(
        &mut self,
        game: &mut G,
        recording: &Recording,
        steps: u32,
        look: impl FnMut(Frame, &G),
    ) -> bool {
        if self.has_failed() {
            return true;
        }
        self.load(game, recording, steps, look).unwrap_or_else(|error| {
            self.fail(error);
            true
        })
    }

    /// Notes that the game could not save or restore a state.
    pub(super) fn fail(&mut self, error: StateError) {
        self.trouble = Some(VerifyError::State { frame: self.cursor.frame(), error });
    }

    pub(super) fn has_failed(&self) -> bool {
        matches!(self.trouble, Some(VerifyError::State { .. }))
    }

    fn load<G: Game<Snapshot = S>>(
        &mut self,
        game: &mut G,
        recording: &Recording,
        steps: u32,
        mut look: impl FnMut(Frame, &G),
    ) -> Result<bool, StateError> {
        game.save(&mut self.shown)?;
        game.restore(&self.head)?;
        if core::mem::replace(&mut self.begun, true) {
            // The checksum of this state may have been recorded since.
            self.compare(game, recording)?;
        } else {
            self.arrive(game, recording, &mut look)?;
        }
        let mut is_done = false;
        for _ in 0..steps {
            let Some(inputs) = self.cursor.next(recording) else {
                is_done = true;
                break;
            };
            self.cues.clear();
            game.step(inputs, &mut self.cues);
            self.arrive(game, recording, &mut look)?;
        }
        game.save(&mut self.head)?;
        game.restore(&self.shown)?;
        Ok(is_done || self.cursor.frame().0 == recording.frames())
    }

    /// Looks at a new state: keeps it if it is one of those to keep, and compares its checksum if it was recorded.
    fn arrive<G: Game<Snapshot = S>>(
        &mut self,
        game: &G,
        recording: &Recording,
        look: &mut impl FnMut(Frame, &G),
    ) -> Result<(), StateError> {
        let frame = self.cursor.frame();
        if frame.0 == self.kept.len() as u32 * self.spacing {
            self.keep(game)?;
        }
        self.compare(game, recording)?;
        look(frame, game);
        Ok(())
    }

    /// Compares the checksum of the state of the cursor's frame, if it was recorded.
    fn compare<G: Game<Snapshot = S>>(&mut self, game: &G, recording: &Recording) -> Result<(), StateError> {
        let frame = self.cursor.frame();
        let Some(expected) = self.recorded_checksum(recording) else { return Ok(()) };
        game.save(&mut self.head)?;
        let found = checksum(&self.head);
        self.compared += 1;
        if found != expected && self.trouble.is_none() {
            self.trouble = Some(VerifyError::Checksum { frame, expected, found });
        }
        Ok(())
    }

    /// Takes the recorded checksum of the cursor's frame. One of a frame that has passed before it was recorded is left out.
    fn recorded_checksum(&mut self, recording: &Recording) -> Option<u32> {
        loop {
            let (due, expected) = match self.next_checksum {
                Some(next) => next,
                None => *self.next_checksum.insert(self.records.next_checksum(recording)?),
            };
            if due > self.cursor.frame() {
                return None;
            }
            self.next_checksum = None;
            if due == self.cursor.frame() {
                return Some(expected);
            }
        }
    }

    /// The checksum of the newest state that is loaded.
    pub(super) fn checksum(&self) -> u32 {
        checksum(&self.head)
    }

    /// Keeps a snapshot; where there are too many, every second is dropped.
    fn keep<G: Game<Snapshot = S>>(&mut self, game: &G) -> Result<(), StateError> {
        if self.kept.len() < self.max_kept {
            self.kept.push(saved(game)?);
            return Ok(());
        }
        let mut index = 0;
        self.kept.retain(|_| {
            index += 1;
            index % 2 == 1
        });
        self.spacing *= 2;
        if self.cursor.frame().0 == self.kept.len() as u32 * self.spacing {
            self.kept.push(saved(game)?);
        }
        Ok(())
    }

    /// The newest kept state at or before `frame`, and its frame.
    pub(super) fn nearest(&self, frame: Frame) -> (Frame, &S) {
        let (loaded, head) = (self.cursor.frame(), &self.head);
        if frame >= loaded {
            return (loaded, head);
        }
        let index = (frame.0 / self.spacing).min(self.kept.len() as u32 - 1);
        (Frame(index * self.spacing), &self.kept[index as usize])
    }

    pub(super) fn frame(&self) -> Frame {
        self.cursor.frame()
    }

    pub(super) fn verified(&self) -> Result<u32, VerifyError> {
        match &self.trouble {
            Some(trouble) => Err(trouble.clone()),
            None => Ok(self.compared),
        }
    }
}
