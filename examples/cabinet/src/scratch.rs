//! A folder for temporary files, which is deleted with everything in it.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A new folder among the temporary files of the system.
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// Makes a folder whose path was never used in this process, because a system's loader knows an open library by its path. A
    /// process that was killed may have left one of the same name, which is passed over.
    ///
    /// # Errors
    /// A sentence, if it cannot be made.
    pub fn new() -> Result<Self, String> {
        static FOLDERS: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
            let path = std::env::temp_dir().join(format!("cabinet-{}-{number}", std::process::id()));
            match std::fs::create_dir(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(format!("{}: {error}", path.display())),
            }
        }
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A library that a system keeps locked stays until the system deletes its temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
