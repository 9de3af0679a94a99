//! The recording of a match on the disk while it runs.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rebout::net::append::FileAppender;
use rebout::replay::{End, Header, MAX_NAME, MatchEvent, Outcome, RecordError, StreamRecorder, Winner};
use rebout::rollback::Rollback;
use rebout::{Event, Player, Reason, Session};

use games::duel::{Duel, Phase};

/// A file that grows with the match. Trouble with it never stops the match, and is told once.
pub(super) struct Reel {
    folder: PathBuf,
    file: Option<(PathBuf, StreamRecorder<FileAppender>)>,
    trouble: Option<String>,
    is_told: bool,
}

/// What became of a recording.
#[derive(Clone, Debug)]
pub struct Saved {
    /// The file, if there is one.
    pub path: Option<PathBuf>,
    folder: PathBuf,
    /// Why it is not there, or not whole.
    pub trouble: Option<String>,
}

impl Reel {
    /// Begins a file in `folder`, under a name that is not taken yet.
    pub(super) fn begin(folder: &Path, mut header: Header, names: &[String; 2]) -> Self {
        header.names = names.each_ref().map(|name| fitting(name));
        header.recorded_at_secs = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
        let (file, trouble) = match begin(folder, &header) {
            Ok(file) => (Some(file), None),
            Err(error) => (None, Some(error.to_string())),
        };
        Self { folder: folder.to_owned(), file, trouble, is_told: false }
    }

    /// Records what the last `advance` of a session made certain.
    pub(super) fn session(&mut self, session: &Session<Duel>) {
        self.record(|recorder| recorder.record_session(session));
    }

    /// Records what the last `advance` of an engine made certain.
    pub(super) fn settled(&mut self, engine: &Rollback<Duel>) {
        self.record(|recorder| recorder.record_settled(engine));
    }

    fn record(&mut self, work: impl FnOnce(&mut StreamRecorder<FileAppender>) -> Result<(), RecordError>) {
        let Some((_, recorder)) = &mut self.file else { return };
        let error = work(recorder).err().map(|error| error.to_string());
        if let Some(error) = error.or_else(|| recorder.take_error().map(|error| error.to_string())) {
            self.trouble.get_or_insert(error);
        }
    }

    /// Keeps an event of the session; `local` is the seat at this machine.
    pub(super) fn hear(&mut self, local: Player, event: &Event) {
        if let Some((_, recorder)) = &mut self.file {
            recorder.hear(local, event);
        }
    }

    /// Keeps a change of the input delay of this machine.
    pub(super) fn delay(&mut self, player: Player, delay_frames: u8) {
        if let Some((_, recorder)) = &mut self.file {
            recorder.event(MatchEvent::Delay { player, delay_frames });
        }
    }

    /// Why the match is not recorded any more, told once.
    pub(super) fn take_trouble(&mut self) -> Option<String> {
        let trouble = self.trouble.as_ref()?;
        (!std::mem::replace(&mut self.is_told, true)).then(|| format!("not recorded any more: {trouble}"))
    }

    /// Ends the file with the last certain state. A match without a frame leaves none.
    pub(super) fn finish(self, last: &Duel, alone: bool) -> Saved {
        let Self { folder, file, mut trouble, .. } = self;
        let mut path = None;
        if let Some((name, recorder)) = file {
            let is_empty = recorder.next().0 == 0;
            let left = if alone { Outcome::Local } else { Outcome::Disconnected(Reason::LeftHere) };
            let end = End { outcome: recorder.outcome().unwrap_or(left), winner: winner(last) };
            if let Err(error) = recorder.finish(end).and_then(FileAppender::finish) {
                trouble.get_or_insert(error.to_string());
            }
            if is_empty {
                // Nobody misses it, and nothing can be done about a file that stays.
                let _ = fs::remove_file(&name);
            } else {
                path = Some(name);
            }
        }
        Saved { path, folder, trouble }
    }
}

impl Saved {
    /// Where the match is recorded, or why it is not; and why it is not whole, if it is not.
    pub fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> =
            self.path.iter().map(|path| format!("Recorded to {}", path.display())).collect();
        lines.extend(self.trouble.as_ref().map(|trouble| match &self.path {
            Some(_) => format!("The recording ends early: {trouble}"),
            None => format!("Not recorded to {}: {trouble}", self.folder.display()),
        }));
        lines
    }
}

fn begin(folder: &Path, header: &Header) -> io::Result<(PathBuf, StreamRecorder<FileAppender>)> {
    fs::create_dir_all(folder)?;
    let mut number = 1;
    loop {
        let path = folder.join(format!("duel-{:08x}-{number}.rplk", header.seed));
        match File::create_new(&path) {
            Ok(file) => {
                let recorder = StreamRecorder::new(header, FileAppender::new(file)?);
                return Ok((path, recorder.map_err(io::Error::other)?));
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error),
        }
    }
}

fn winner(duel: &Duel) -> Winner {
    match duel.phase {
        Phase::Done { winner } | Phase::MatchOver { winner } => winner.map_or(Winner::Draw, Winner::Player),
        _ => Winner::Undecided,
    }
}

/// As much of a name as a file has room for.
fn fitting(name: &str) -> String {
    let ends = name.char_indices().map(|(at, letter)| at + letter.len_utf8());
    let len = ends.take_while(|end| *end <= MAX_NAME).last().unwrap_or(0);
    name[..len].to_owned()
}
