//! Files with keys, which their owner alone may read.

use core::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

/// The key as hexadecimal digits, and the end of their line.
const FILE_BYTES: usize = 65;

/// The key in a file; `None` if there is no such file.
///
/// # Errors
/// A file that others can read or that has no key, and errors of the file system.
pub(crate) fn read_key(path: &Path) -> io::Result<Option<[u8; 32]>> {
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    check(&file)?;
    let mut text = String::new();
    let len = file.take(FILE_BYTES as u64 + 1).read_to_string(&mut text)?;
    let key = if len <= FILE_BYTES { key_of(text.trim_end()) } else { None };
    key.map(Some).ok_or_else(|| io::Error::other("not the key of a host: 64 hexadecimal digits"))
}

/// Writes a key into a new file.
///
/// # Errors
/// A file that exists, and errors of the file system.
pub(crate) fn write_key(path: &Path, key: &[u8; 32]) -> io::Result<()> {
    let digits: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
    writeln!(owned(OpenOptions::new().write(true).create_new(true)).open(path)?, "{digits}")
}

/// A file of keys that grows by lines.
#[derive(Debug)]
pub(crate) struct KeyLog(File);

impl KeyLog {
    /// Opens a file to append to it.
    ///
    /// # Errors
    /// A file that others can read, and errors of the file system.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = owned(OpenOptions::new().append(true).create(true)).open(path)?;
        check(&file)?;
        Ok(Self(file))
    }

    pub(crate) fn add(&mut self, line: &impl fmt::Display) -> io::Result<()> {
        writeln!(self.0, "{line}")
    }
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

/// For the owner alone, if the file is made.
fn owned(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

/// Refuses a file that others on this machine can read.
#[cfg(unix)]
fn check(file: &File) -> io::Result<()> {
    let mode = std::os::unix::fs::MetadataExt::mode(&file.metadata()?);
    if mode & 0o077 == 0 {
        Ok(())
    } else {
        Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "others on this machine can read it: run chmod 600 on it",
        ))
    }
}

#[cfg(not(unix))]
fn check(_: &File) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_file_is_private_and_read_back() {
        let path = std::env::temp_dir().join(format!("rebout-key-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        assert!(matches!(read_key(&path), Ok(None)));
        let key = core::array::from_fn(|at| at as u8 * 9);
        write_key(&path, &key).unwrap();
        assert_eq!(read_key(&path).unwrap(), Some(key));
        assert!(write_key(&path, &key).is_err(), "an existing key is never replaced");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
            assert!(read_key(&path).unwrap_err().to_string().contains("chmod 600"));
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        }
        for text in ["", "12", &"g".repeat(64), &"0".repeat(66), &"0".repeat(63)] {
            std::fs::write(&path, text).unwrap();
            assert!(read_key(&path).is_err(), "{text:?}");
        }
        std::fs::remove_file(&path).unwrap();
    }
}
