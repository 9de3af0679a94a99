//! Matches and desyncs on the disk.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rebout::net::folder;
use rebout::replay::{RecordError, Replay};
use rebout::{Autopsy, Bundle};

/// Writes the replay, and says under which name, or why not; and why it is not whole, if it is not.
pub(super) fn save(replay: &Replay, unrecorded: Option<RecordError>, folder: &Path) -> Vec<String> {
    let mut lines = vec![match write(replay, folder) {
        Ok(path) => format!("Recorded to {}", path.display()),
        Err(error) => format!("Not recorded to {}: {error}", folder.display()),
    }];
    lines.extend(unrecorded.map(|error| format!("The recording ends early: {error}")));
    lines
}

/// Writes the replay under a name that is not taken yet.
///
/// # Errors
/// What the disk says.
pub(super) fn write(replay: &Replay, folder: &Path) -> io::Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let mut number = 1;
    loop {
        let path = folder.join(format!("duel-{:08x}-{number}.rplk", replay.seed));
        match fs::File::create_new(&path) {
            Ok(file) => {
                let mut writer = io::BufWriter::new(file);
                replay.write(&mut writer).map_err(io::Error::other)?;
                writer.flush()?;
                return Ok(path);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error),
        }
    }
}

/// Writes what is known of a desync into a folder of its own, and says where, or why not.
pub(super) fn save_desync(autopsy: &Autopsy, replay: &Replay, folder: &Path) -> String {
    let bundle = Bundle::new("duel", autopsy.clone(), replay.clone());
    let files = match bundle.and_then(|bundle| bundle.files()) {
        Ok(files) => files,
        Err(error) => return format!("No report of the desync: {error}"),
    };
    let mut number = 1;
    let mut dir = PathBuf::new();
    // Whoever makes the folder has it, also when two matches end at once.
    let made = fs::create_dir_all(folder).and_then(|()| {
        loop {
            dir = folder.join(format!("desync-{:08x}-{number}", replay.seed));
            match fs::create_dir(&dir) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                done => return done,
            }
        }
    });
    match made
        .map_err(|error| error.to_string())
        .and_then(|()| folder::write(&dir, &files).map_err(|error| error.to_string()))
    {
        Ok(()) => format!("A report of the desync is in {}", dir.display()),
        Err(error) => format!("No report of the desync in {}: {error}", folder.display()),
    }
}
