//! Desyncs on the disk.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rebout::net::folder;
use rebout::replay::Replay;
use rebout::{Autopsy, Bundle};

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
