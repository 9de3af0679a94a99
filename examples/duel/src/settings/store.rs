//! The settings on the disk: where they are, how they are read, and how they are replaced in one piece.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::Settings;
use crate::folder;

/// The longest file that is read: many times what the duel writes.
const MAX_FILE: u64 = 1 << 16;

/// The folder of the settings: where programs of this system keep theirs. `None` without a home.
pub fn config_folder(var: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    folder::of_the_duel(var, "XDG_CONFIG_HOME", ".config")
}

/// The file of the settings.
#[derive(Clone, Debug)]
pub struct Store {
    /// `None`: nothing is kept.
    path: Option<PathBuf>,
    /// The file cannot be read as settings, and must not be lost when new ones are written.
    is_bad: bool,
}

impl Store {
    /// The file in `folder`; without one nothing is kept.
    pub fn new(folder: Option<PathBuf>) -> Self {
        Self { path: folder.map(|folder| folder.join("settings.conf")), is_bad: false }
    }

    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The settings of the file, or the usual ones and what is wrong with the file. The file stays as it is.
    pub fn load(&mut self) -> (Settings, Option<String>) {
        let Some(path) = &self.path else { return (Settings::default(), None) };
        let text = match read(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return (Settings::default(), None),
            Err(error) => return self.refuse(&error.to_string()),
        };
        match Settings::read(&text) {
            Ok(settings) => (settings, None),
            Err(error) => self.refuse(&error.to_string()),
        }
    }

    fn refuse(&mut self, reason: &str) -> (Settings, Option<String>) {
        self.is_bad = true;
        let path = self.path.as_deref().unwrap_or_else(|| Path::new("")).display();
        let text = format!("{path}, {reason}. The usual settings are used, and the file is left as it is.");
        (Settings::default(), Some(text))
    }

    /// Replaces the file in one piece: whatever happens, either the old or the new one is there. A file that could not
    /// be read is kept under another name.
    ///
    /// # Errors
    /// What the system says, with the path.
    pub fn save(&mut self, settings: &Settings) -> Result<(), String> {
        let Some(path) = &self.path else { return Ok(()) };
        let said = |error: io::Error| format!("the settings are not kept: {}: {error}", path.display());
        let folder = path.parent().unwrap_or_else(|| Path::new("."));
        fs::create_dir_all(folder).map_err(said)?;
        if self.is_bad {
            keep_aside(path).map_err(said)?;
            self.is_bad = false;
        }
        let fresh = path.with_extension(format!("new-{}", std::process::id()));
        let written = write(&fresh, &settings.write()).and_then(|()| fs::rename(&fresh, path));
        if written.is_err() {
            // Half a file helps nobody.
            let _ = fs::remove_file(&fresh);
        }
        written.map_err(said)
    }
}

fn read(path: &Path) -> io::Result<String> {
    // A pipe would block, and a device may never end.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("not a file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(io::Error::other(format!("longer than {MAX_FILE} bytes")));
    }
    let line_of = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'\n').count() + 1;
    String::from_utf8(bytes).map_err(|error| {
        let line = line_of(&error.as_bytes()[..error.utf8_error().valid_up_to()]);
        io::Error::other(format!("line {line}: not text"))
    })
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Renames a file to the first name with a number that is free.
fn keep_aside(path: &Path) -> io::Result<()> {
    let aside = (1..)
        .map(|number: u32| path.with_extension(format!("bad-{number}")))
        .find(|aside| !aside.exists())
        .ok_or(io::ErrorKind::AlreadyExists)?;
    match fs::rename(path, aside) {
        // Somebody else has taken it away meanwhile: there is nothing to keep.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}
