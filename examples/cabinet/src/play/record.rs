//! The recording of a match at this machine, which `cabinet replay` shows and verifies.

use std::path::{Path, PathBuf};

use rebout::net::append::FileAppender;
use rebout::replay::{End, Header, Outcome, StreamRecorder, Winner};
use rebout::{Offline, Reason, Save, checksum};

use super::Terms;
use crate::machine::{Machine, Snapshot};

/// A file that grows with the match.
pub(super) struct LocalRecord {
    path: PathBuf,
    recorder: StreamRecorder<FileAppender>,
}

impl LocalRecord {
    /// Begins a file in a folder, with the state that the match begins from. The machine takes it too, as that of a replay will: some
    /// cores go on from a restored state in another way than from a fresh one.
    ///
    /// # Errors
    /// A sentence, if the core does not save it or the folder cannot be written.
    pub(super) fn begin(folder: &Path, terms: &Terms, machine: &mut Machine) -> Result<Self, String> {
        let mut header = Header::of_offline(&terms.config, 1);
        header.first_state = terms.first_state(machine)?.into();
        terms.begin(machine, &header.first_state)?;
        let (path, recorder) = StreamRecorder::create_in(folder, header)
            .map_err(|error| format!("the match cannot be recorded to {}: {error}", folder.display()))?;
        Ok(Self { path, recorder })
    }

    /// Records the frame that was stepped; a sentence if no more can be.
    pub(super) fn note(&mut self, offline: &Offline<Snapshot>, machine: &Machine) -> Option<String> {
        let mut trouble = None;
        for (frame, inputs) in offline.confirmed() {
            trouble = trouble.or(self.recorder.record(frame, inputs).err().map(|error| error.to_string()));
        }
        if self.recorder.is_checksum_due() && offline.failure().is_none() {
            self.recorder.checksum(offline.current(), checksum(&machine.snapshot()));
        }
        let trouble = trouble.or_else(|| self.recorder.take_error().map(|error| error.to_string()));
        trouble.map(|error| format!("the recording ends early: {error}"))
    }

    /// Ends the file; a line about it.
    pub(super) fn end(self, is_played: bool) -> String {
        let outcome = if is_played { Outcome::Local } else { Outcome::Disconnected(Reason::LeftHere) };
        let ended = self.recorder.finish(End { outcome, winner: Winner::Undecided });
        match ended.and_then(FileAppender::finish) {
            Ok(_) => format!("recorded to {}", self.path.display()),
            Err(error) => format!("the recording ends early: {error}"),
        }
    }
}
