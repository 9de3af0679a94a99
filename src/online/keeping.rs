//! The files of a match: its recording, and the report about a desync. Errors with them never stop the match.

use super::options::Match;
use crate::net::append::FileAppender;
use crate::net::{dated, folder};
use crate::replay::{End, Header, MatchEvent, Outcome, Recorder, Replay, StreamRecorder, Winner};
use crate::{Agreed, Autopsy, Bundle, Event, Fields, Frame, Inputs, Player, Reason, Session};
use std::io;
use std::path::{Path, PathBuf};

/// Frames that are kept in memory for a report without another allocation: an hour at 60 frames a second.
const USUAL_FRAMES: u32 = 60 * 60 * 60;

/// The files of the match that runs.
#[derive(Debug, Default)]
pub(super) struct Keeping {
    file: Option<StreamRecorder<FileAppender>>,
    /// The file of the match, or of the last one.
    path: Option<PathBuf>,
    /// The whole match, for a report.
    whole: Option<Recorder>,
    winner: Winner,
}

impl Keeping {
    /// The file of the match, or of the last one.
    pub(super) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    pub(super) fn winner(&self) -> Winner {
        self.winner
    }

    pub(super) fn set_winner(&mut self, winner: Winner) {
        self.winner = winner;
    }

    /// Begins the files of a match; returns a notice if that fails.
    pub(super) fn begin(&mut self, options: &Match, agreed: &Agreed) -> Option<String> {
        let keeps = options.bundles_to.as_ref().or(options.rejoin_in.as_ref());
        self.whole = keeps.map(|_| {
            let mut whole = Recorder::with_capacity(agreed.seed, USUAL_FRAMES);
            whole.set_first_state(agreed.first_state.clone());
            whole
        });
        self.winner = Winner::Undecided;
        (self.file, self.path) = (None, None);
        let folder = options.record_to.as_ref()?;
        let names = options.names(agreed);
        let header = Header { names, ..Header::of_match(&options.config, agreed) };
        match StreamRecorder::create_in(folder, header) {
            Ok((path, recorder)) => {
                (self.file, self.path) = (Some(recorder), Some(path));
                None
            }
            Err(error) => Some(format!("The match cannot be recorded to {}: {error}", folder.display())),
        }
    }

    /// Records the frames that the last `advance` confirmed; returns a notice, once, when recording fails.
    #[inline]
    pub(super) fn advanced<S: Fields>(&mut self, session: &Session<S>) -> Option<String> {
        if let Some(whole) = &mut self.whole {
            // A frame out of order cannot come; the report would then refuse the replay.
            let _ = session.confirmed().try_for_each(|(frame, inputs)| whole.record(frame, inputs));
        }
        let recorder = self.file.as_mut()?;
        let refused = recorder.record_session(session).err().map(|error| error.to_string());
        let error = refused.or_else(|| recorder.take_error().map(|error| error.to_string()))?;
        self.file = None;
        Some(format!("The recording ends early: {error}"))
    }

    /// Records a frame of the log that this machine steps to come back.
    pub(super) fn log(&mut self, frame: Frame, inputs: Inputs) {
        if let Some(whole) = &mut self.whole {
            let _ = whole.record(frame, inputs);
        }
        if let Some(recorder) = &mut self.file {
            let _ = recorder.record(frame, inputs);
        }
    }

    /// The match so far, if it is kept.
    pub(super) fn replay(&self) -> Option<&Replay> {
        self.whole.as_ref().map(Recorder::replay)
    }

    pub(super) fn hear(&mut self, local: Player, event: &Event) {
        if let Some(recorder) = &mut self.file {
            recorder.hear(local, event);
        }
    }

    /// Keeps a change of the input delay of this machine.
    pub(super) fn delay(&mut self, player: Player, delay_frames: u8) {
        if let Some(recorder) = &mut self.file {
            recorder.event(MatchEvent::Delay { player, delay_frames });
        }
    }

    /// Writes the report about a desync; returns a notice with its folder or the error.
    pub(super) fn report(&self, options: &Match, autopsy: &Autopsy) -> Option<String> {
        let (folder, whole) = options.bundles_to.as_ref().zip(self.whole.as_ref())?;
        let game = format!("{:016x}", options.config.game.id);
        let written = Bundle::new(&game, autopsy.clone(), whole.replay().clone())
            .and_then(|bundle| bundle.files())
            .map_err(|error| error.to_string())
            .and_then(|files| {
                let path = dated::new_folder(folder).map_err(|error| error.to_string())?;
                folder::write(&path, &files).map_err(|error| error.to_string())?;
                Ok(path)
            });
        Some(match written {
            Ok(path) => format!("The report about the desync is in {}", path.display()),
            Err(error) => {
                format!("The report about the desync could not be written to {}: {error}", folder.display())
            }
        })
    }

    /// Ends the files; returns a notice if that fails.
    pub(super) fn finish(&mut self) -> Option<String> {
        self.whole = None;
        let recorder = self.file.take()?;
        let is_empty = recorder.next() == crate::Frame::ZERO;
        let outcome = recorder.outcome().unwrap_or(Outcome::Disconnected(Reason::LeftHere));
        let ended = recorder.finish(End { outcome, winner: self.winner }).and_then(FileAppender::finish);
        if is_empty {
            self.path.take().iter().for_each(|path| dated::remove(path));
            return None;
        }
        ended.err().map(|error| format!("The recording ends early: {error}"))
    }
}

impl StreamRecorder<FileAppender> {
    /// Begins the recording of a match in a new file of this folder, which is made if it does not exist. The file is named
    /// by the time, which becomes that of the header. Returns its path too.
    ///
    /// # Errors
    /// Errors of the file system, and a header that a file cannot hold.
    pub fn create_in(folder: &Path, mut header: Header) -> io::Result<(PathBuf, Self)> {
        let (path, file, secs) = dated::new_file(folder, "rplk")?;
        header.recorded_at_secs = secs;
        let recorder = Self::new(&header, FileAppender::new(file)?).map_err(io::Error::other)?;
        Ok((path, recorder))
    }
}
