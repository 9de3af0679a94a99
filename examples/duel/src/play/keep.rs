//! Keys on the disk, readable by their owner alone: that of an invite, and a log of those of matches.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

use rebout::seal::{Randomness, Seal};

/// The key as hexadecimal digits, and the end of their line.
const FILE_BYTES: usize = 65;

/// The seal of the key in a file, or a new one whose key is then in the file.
///
/// # Errors
/// If the file cannot be used, in words for the player.
pub(super) fn seal(path: &Path) -> Result<Seal, String> {
    let about = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    match open(path, OpenOptions::new().read(true)).map_err(|error| about(&error))? {
        Some(file) => {
            let key = read(file).map_err(|error| about(&error))?;
            Seal::host_with_key(Randomness::System, key).map_err(|error| about(&error))
        }
        None => {
            let seal = Seal::host(Randomness::System).map_err(|error| about(&error))?;
            let key = seal.secret_key().ok_or_else(|| about(&"this seal has no key for an invite"))?;
            write(path, &key).map_err(|error| about(&error))?;
            Ok(seal)
        }
    }
}

fn read(file: File) -> Result<[u8; 32], String> {
    let mut text = String::new();
    let length =
        file.take(FILE_BYTES as u64 + 1).read_to_string(&mut text).map_err(|error| error.to_string())?;
    let key = if length <= FILE_BYTES { key_of(text.trim_end()) } else { None };
    key.ok_or_else(|| "not the key of an invite".to_owned())
}

fn key_of(digits: &str) -> Option<[u8; 32]> {
    let (pairs, odd) = digits.as_bytes().as_chunks::<2>();
    let byte = |[high, low]: &[u8; 2]| {
        let digit = |letter: &u8| char::from(*letter).to_digit(16);
        Some((digit(high)? << 4 | digit(low)?) as u8)
    };
    let bytes: Vec<u8> = pairs.iter().map(byte).collect::<Option<_>>()?;
    bytes.try_into().ok().filter(|_| odd.is_empty())
}

fn write(path: &Path, key: &[u8; 32]) -> io::Result<()> {
    let digits: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
    writeln!(create(path, OpenOptions::new().write(true))?, "{digits}")
}

/// Opens a log of keys, to be continued.
///
/// # Errors
/// If the file cannot be used, in words for the player.
pub(super) fn log(path: &Path) -> Result<File, String> {
    let about = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    match open(path, OpenOptions::new().append(true)).map_err(|error| about(&error))? {
        Some(file) => Ok(file),
        None => create(path, OpenOptions::new().append(true)).map_err(|error| about(&error)),
    }
}

/// Creates a file that its owner alone can read. A symbolic link counts as a file that exists and is never followed.
fn create(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options.create_new(true).open(path)
}

/// Opens a file that its owner alone can read, without following a symbolic link; `None` if there is no file.
fn open(path: &Path, options: &OpenOptions) -> Result<Option<File>, String> {
    let found = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        found => found.map_err(|error| error.to_string())?,
    };
    if found.is_symlink() {
        return Err("is a symbolic link, which may lead to a file of somebody else".to_owned());
    }
    // Checked before the file is opened, because opening a pipe blocks.
    if !found.is_file() {
        return Err("is not a regular file".to_owned());
    }
    let file = options.open(path).map_err(|error| error.to_string())?;
    let opened = file.metadata().map_err(|error| error.to_string())?;
    check_opened(&found, &opened)?;
    Ok(Some(file))
}

/// Refuses a file that took the place of the one that was checked, and one that others on this machine can read.
#[cfg(unix)]
fn check_opened(checked: &Metadata, opened: &Metadata) -> Result<(), String> {
    use std::os::unix::fs::MetadataExt;
    if [checked.dev(), checked.ino()] != [opened.dev(), opened.ino()] {
        return Err("was replaced while it was opened".to_owned());
    }
    if opened.mode() & 0o077 != 0 {
        return Err("others on this machine can read it: chmod 600".to_owned());
    }
    Ok(())
}

#[cfg(not(unix))]
fn check_opened(_: &Metadata, _: &Metadata) -> Result<(), String> {
    Ok(())
}
