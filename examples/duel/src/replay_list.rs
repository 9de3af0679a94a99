//! The folder of recorded matches: where it is, and what is in it.

use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use rebout::replay::{Outcome, Recording, Tail, Winner, utc};
use rebout::{Player, Reason};

use crate::folder;
use crate::viewer::names;
use games::duel::identity::GAME_ID;

/// The longest file that is read: more than any duel has.
const MAX_FILE: u64 = 1 << 26;

/// The folder for matches of a player who names none: where programs of this system keep their data.
pub fn data_folder(var: impl Fn(&str) -> Option<OsString>) -> PathBuf {
    // Without a home there is still the folder that the duel was started in.
    folder::of_the_duel(var, "XDG_DATA_HOME", ".local/share").unwrap_or_else(|| PathBuf::from("replays"))
}

/// Opens a match of the duel, or says what is wrong with the file.
///
/// # Errors
/// A file that cannot be read, is no replay, or is one of another game.
pub fn open(path: &Path) -> Result<Recording, String> {
    let said = |error: &dyn fmt::Display| format!("{}: {error}", path.display());
    // A pipe would block, and a device may never end.
    if !fs::metadata(path).map_err(|error| said(&error))?.is_file() {
        return Err(said(&"not a file"));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| said(&error))?;
    file.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(|error| said(&error))?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(said(&format!("longer than {MAX_FILE} bytes")));
    }
    let recording = Recording::open(bytes).map_err(|error| said(&error))?;
    match recording.header().game_id {
        // Version 1 does not tell.
        0 | GAME_ID => Ok(recording),
        id => Err(said(&format!("a match of another game, {id:#x}"))),
    }
}

/// A recorded match, as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub path: PathBuf,
    /// The name that a player gave it.
    pub name: Option<String>,
    /// Seconds since 1970: of the match, or of the file where it does not tell.
    pub at_secs: u64,
    pub names: [String; 2],
    pub seconds: u32,
    pub result: String,
}

/// The newest matches in a folder, newest first, and at most `max`. Files that are no duels are left out.
pub fn list(folder: &Path, max: usize) -> Vec<Entry> {
    let Ok(files) = fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<(u64, PathBuf)> = files
        .filter_map(Result::ok)
        .filter(|file| file.path().extension().is_some_and(|extension| extension == "rplk"))
        .filter_map(|file| {
            let changed = file.metadata().ok()?.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
            Some((changed.as_secs(), file.path()))
        })
        .collect();
    files.sort_by(|a, b| b.cmp(a));
    files.into_iter().filter_map(|(at, path)| Some(entry(&open(&path).ok()?, at, path))).take(max).collect()
}

fn entry(recording: &Recording, changed_secs: u64, path: PathBuf) -> Entry {
    let header = recording.header();
    let names = names(recording);
    let result = result(recording, &names);
    Entry {
        name: given_name(&path),
        path,
        at_secs: if header.recorded_at_secs == 0 { changed_secs } else { header.recorded_at_secs },
        seconds: header.frame_rate.unwrap_or_default().time_of(recording.frames()).as_secs() as u32,
        names,
        result,
    }
}

/// The longest name of a replay.
pub const MAX_NAME: usize = 24;

/// The name of a file that a player has named. A recording is named by its date, which has no letters.
fn given_name(path: &Path) -> Option<String> {
    let stem = path.file_stem()?.to_str()?;
    let is_named = stem.chars().any(char::is_alphabetic);
    is_named.then(|| stage::characters::visible(stem).chars().take(MAX_NAME).collect())
}

/// Names a recorded match: the file gets the name.
///
/// # Errors
/// A name that no file can have or that another one has, or a file that cannot be renamed.
pub fn rename(path: &Path, name: &str) -> Result<(), String> {
    let name = name.trim();
    if !name.chars().any(char::is_alphabetic) {
        return Err("a name has at least one letter".to_owned());
    }
    if let Some(bad) = name.chars().find(|it| !(it.is_alphanumeric() || " -_".contains(*it))) {
        return Err(format!("{bad:?} cannot be in a name: letters, digits, spaces, - and _ can"));
    }
    if name.chars().count() > MAX_NAME {
        return Err(format!("a name has at most {MAX_NAME} characters"));
    }
    let target = path.with_file_name(format!("{name}.rplk"));
    if target.exists() {
        return Err(format!("another replay is called {name:?}"));
    }
    fs::rename(path, &target).map_err(|error| format!("{}: {error}", path.display()))
}

/// Deletes a recorded match.
///
/// # Errors
/// A file that is no recording, or that cannot be deleted.
pub fn delete(path: &Path) -> Result<(), String> {
    open(path)?;
    fs::remove_file(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn result(recording: &Recording, names: &[String; 2]) -> String {
    let name = |player: Player| &names[player.index()];
    let Some(end) = recording.end() else {
        return match recording.tail() {
            Tail::Whole => "not told".to_owned(),
            _ => "cut off".to_owned(),
        };
    };
    match (end.winner, end.outcome) {
        (_, Outcome::Differs { .. } | Outcome::Disconnected(Reason::Desync)) => "desync".to_owned(),
        (Winner::Player(player), _) => format!("{} won", name(player)),
        (Winner::Draw, _) => "a draw".to_owned(),
        (Winner::Undecided, Outcome::Disconnected(reason)) => stopped(reason, name),
        (Winner::Undecided, _) => "undecided".to_owned(),
    }
}

/// The end of a match that was not played to its end.
fn stopped<'a>(reason: Reason, name: impl Fn(Player) -> &'a String) -> String {
    match reason {
        Reason::Left | Reason::LeftHere => "left".to_owned(),
        Reason::VoidChecksums { of } => format!("{} forfeited: wrong states", name(of)),
        Reason::NotesWithheld => "desync, unexplained".to_owned(),
        Reason::InputsHeldBack => "inputs too late".to_owned(),
        Reason::PausedTooLong => "paused for too long".to_owned(),
        Reason::StateFailed | Reason::StateFailedHere => "state not saved".to_owned(),
        _ => "connection lost".to_owned(),
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [one, two] = &self.names;
        let (minutes, seconds) = (self.seconds / 60, self.seconds % 60);
        write!(f, "{}  {one} - {two}  {minutes}:{seconds:02}  {}", utc(self.at_secs), self.result)?;
        self.name.as_ref().map_or(Ok(()), |name| write!(f, "  {name}"))
    }
}
