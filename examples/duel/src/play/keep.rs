//! Keys on the disk, readable by their owner alone: that of an invite, and a log of those of matches.

use std::fs::{File, OpenOptions};
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
    match File::open(path) {
        Ok(file) => {
            let key = read(file).map_err(|error| about(&error))?;
            Seal::host_with_key(Randomness::System, key).map_err(|error| about(&error))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let seal = Seal::host(Randomness::System).map_err(|error| about(&error))?;
            let key = seal.secret_key().ok_or_else(|| about(&"this seal has no key for an invite"))?;
            write(path, &key).map_err(|error| about(&error))?;
            Ok(seal)
        }
        Err(error) => Err(about(&error)),
    }
}

fn read(file: File) -> Result<[u8; 32], String> {
    is_private(&file)?;
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
    writeln!(private(OpenOptions::new().write(true).create_new(true)).open(path)?, "{digits}")
}

/// Opens a log of keys, to be continued.
///
/// # Errors
/// If the file cannot be used, in words for the player.
pub(super) fn log(path: &Path) -> Result<File, String> {
    let file = private(OpenOptions::new().append(true).create(true)).open(path);
    let file = file.map_err(|error| error.to_string()).and_then(|file| is_private(&file).map(|()| file));
    file.map_err(|error| format!("{}: {error}", path.display()))
}

/// For the owner alone, if the file is made.
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

/// Refuses a key that others on this machine can read.
#[cfg(unix)]
fn is_private(file: &File) -> Result<(), String> {
    let mode = file.metadata().map_err(|error| error.to_string())?;
    let mode = std::os::unix::fs::MetadataExt::mode(&mode);
    if mode & 0o077 == 0 { Ok(()) } else { Err("others on this machine can read it: chmod 600".to_owned()) }
}

#[cfg(not(unix))]
fn is_private(_: &File) -> Result<(), String> {
    Ok(())
}
