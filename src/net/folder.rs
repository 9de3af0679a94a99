//! Writing and reading of a folder of named files, which is how a desync bundle is stored on disk.

use crate::shown;
use core::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Writes files into a folder, which is created if it does not exist. Files of the same name are replaced.
///
/// # Errors
/// A name that is not a plain file name (nothing is written then), or an error of the file system.
pub fn write<N: AsRef<str>, B: AsRef<[u8]>>(dir: &Path, files: &[(N, B)]) -> Result<(), FolderError> {
    for (name, _) in files {
        check(dir, name.as_ref())?;
    }
    fs::create_dir_all(dir).map_err(|error| FolderError::Io { path: dir.to_owned(), error })?;
    for (name, bytes) in files {
        let path = dir.join(name.as_ref());
        fs::write(&path, bytes.as_ref()).map_err(|error| FolderError::Io { path, error })?;
    }
    Ok(())
}

/// Reads the files of these names, each at most as long as the number beside its name. Memory is allocated for the
/// bytes that are there, not for the bound.
///
/// # Errors
/// A name that is not a plain file name, a file that is too long, or an error of the file system, such as a missing
/// file.
pub fn read<N: AsRef<str>>(dir: &Path, names: &[(N, u64)]) -> Result<Vec<(String, Vec<u8>)>, FolderError> {
    let mut files = Vec::with_capacity(names.len());
    for (name, max_bytes) in names {
        check(dir, name.as_ref())?;
        let path = dir.join(name.as_ref());
        let io = |error| FolderError::Io { path: path.clone(), error };
        // Refuse pipes, which block when opened, and devices, which may never end.
        if !fs::metadata(&path).map_err(io)?.is_file() {
            return Err(FolderError::NotAFile { path });
        }
        let file = File::open(&path).map_err(io)?;
        let mut bytes = Vec::new();
        file.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes).map_err(io)?;
        if bytes.len() as u64 > *max_bytes {
            return Err(FolderError::TooLong { path, max_bytes: *max_bytes });
        }
        files.push((name.as_ref().to_owned(), bytes));
    }
    Ok(files)
}

/// Checks that `name` is a plain file name, which cannot leave the folder.
fn check(dir: &Path, name: &str) -> Result<(), FolderError> {
    let plain = !matches!(name, "" | "." | "..") && !name.contains(['/', '\\', ':', '\0']);
    if plain { Ok(()) } else { Err(FolderError::Name { dir: dir.to_owned(), name: name.to_owned() }) }
}

/// Why a folder was not written or read.
#[derive(Debug)]
#[non_exhaustive]
pub enum FolderError {
    /// A name is not a plain file name.
    Name {
        /// The folder.
        dir: PathBuf,
        /// The name.
        name: String,
    },
    /// A file is longer than it may be.
    TooLong {
        /// The file.
        path: PathBuf,
        /// The greatest length allowed.
        max_bytes: u64,
    },
    /// The path is not a regular file.
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// The file system failed.
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The error.
        error: io::Error,
    },
}

impl fmt::Display for FolderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name { dir, name } => write!(f, "{}: {name:?} is not a plain file name", safe(dir)),
            Self::TooLong { path, max_bytes } => {
                write!(f, "{}: longer than {max_bytes} bytes", safe(path))
            }
            Self::NotAFile { path } => write!(f, "{}: not a file", safe(path)),
            Self::Io { path, error } => write!(f, "{}: {error}", safe(path)),
        }
    }
}

/// A path as it is shown: a folder that came from somebody else may be called anything.
fn safe(path: &Path) -> String {
    shown(&path.display().to_string()).into_owned()
}

impl std::error::Error for FolderError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { error, .. } => Some(error),
            _ => None,
        }
    }
}
