//! Files with keys, which their owner alone may read.

use core::fmt;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

/// The key as hexadecimal digits, and the end of their line.
const FILE_BYTES: usize = 65;

/// The key in a file; `None` if there is no such file.
///
/// # Errors
/// A file that [`open`] refuses or that has no key, and errors of the file system.
pub(crate) fn read_key(path: &Path) -> io::Result<Option<[u8; 32]>> {
    let Some(file) = open(path, OpenOptions::new().read(true))? else { return Ok(None) };
    let mut text = String::new();
    let len = file.take(FILE_BYTES as u64 + 1).read_to_string(&mut text)?;
    let key = if len <= FILE_BYTES { key_of(text.trim_end()) } else { None };
    key.map(Some).ok_or_else(|| io::Error::other("not a key: 64 hexadecimal digits"))
}

/// Writes a key into a new file.
///
/// # Errors
/// A file that exists, and errors of the file system.
pub(crate) fn write_key(path: &Path, key: &[u8; 32]) -> io::Result<()> {
    writeln!(create(path, OpenOptions::new().write(true))?, "{}", digits(key))
}

/// The text of a file of at most `max` bytes; `None` if there is no such file.
///
/// # Errors
/// A file that [`open`] refuses or that is longer, and errors of the file system.
pub(crate) fn read_text(path: &Path, max: u64) -> io::Result<Option<String>> {
    let Some(file) = open(path, OpenOptions::new().read(true))? else { return Ok(None) };
    let mut text = String::new();
    let len = file.take(max + 1).read_to_string(&mut text)?;
    if len as u64 > max { Err(io::Error::other("the file is too long")) } else { Ok(Some(text)) }
}

/// Writes a text into a new file.
///
/// # Errors
/// A file that exists, and errors of the file system.
pub(crate) fn write_text(path: &Path, text: &str) -> io::Result<()> {
    create(path, OpenOptions::new().write(true))?.write_all(text.as_bytes())
}

/// The bytes in hexadecimal digits.
pub(crate) fn digits(bytes: &[u8; 32]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A file of keys that grows by lines.
#[derive(Debug)]
pub(crate) struct KeyLog(File);

impl KeyLog {
    /// Opens a file to append to it.
    ///
    /// # Errors
    /// A file that [`open`] refuses, and errors of the file system.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        match open(path, OpenOptions::new().append(true))? {
            Some(file) => Ok(Self(file)),
            None => create(path, OpenOptions::new().append(true)).map(Self),
        }
    }

    pub(crate) fn add(&mut self, line: &impl fmt::Display) -> io::Result<()> {
        writeln!(self.0, "{line}")
    }
}

/// The key in 64 hexadecimal digits.
pub(crate) fn key_of(digits: &str) -> Option<[u8; 32]> {
    let (pairs, odd) = digits.as_bytes().as_chunks::<2>();
    let byte = |[high, low]: &[u8; 2]| {
        let digit = |character: &u8| char::from(*character).to_digit(16);
        Some((digit(high)? << 4 | digit(low)?) as u8)
    };
    let bytes: Vec<u8> = pairs.iter().map(byte).collect::<Option<_>>()?;
    bytes.try_into().ok().filter(|_| odd.is_empty())
}

/// Creates a file that its owner alone can read. A symbolic link counts as a file that exists and is never followed.
fn create(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options.create_new(true).open(path)
}

/// Opens a file that its owner alone can read, without following a symbolic link; `None` if there is no file.
fn open(path: &Path, options: &OpenOptions) -> io::Result<Option<File>> {
    let found = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        found => found?,
    };
    if found.is_symlink() {
        return Err(io::Error::other("it is a symbolic link, which may lead to a file of somebody else"));
    }
    // Checked before the file is opened, because opening a pipe blocks.
    if !found.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let file = options.open(path)?;
    check(&found, &file.metadata()?)?;
    Ok(Some(file))
}

/// Refuses a file that took the place of the one that was checked, and one that others on this machine can read.
#[cfg(unix)]
fn check(checked: &Metadata, opened: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    if [checked.dev(), checked.ino()] != [opened.dev(), opened.ino()] {
        return Err(io::Error::other("it was replaced while it was opened"));
    }
    if opened.mode() & 0o077 != 0 {
        let words = "others on this machine can read it: run chmod 600 on it";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, words));
    }
    Ok(())
}

#[cfg(not(unix))]
fn check(_: &Metadata, _: &Metadata) -> io::Result<()> {
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
        let key = core::array::from_fn(|at| at as u8 + 9);
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
        let longer = format!("{}\n0", "0".repeat(64));
        for text in ["", "12", &"g".repeat(64), &"0".repeat(66), &"0".repeat(63), &longer] {
            std::fs::write(&path, text).unwrap();
            assert!(read_key(&path).is_err(), "{text:?}");
        }
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn key_log_grows_when_it_is_opened_again() {
        let path = std::env::temp_dir().join(format!("rebout-key-log-{}", std::process::id()));
        let _ = fs::remove_file(&path);
        for line in ["one", "two"] {
            KeyLog::open(&path).unwrap().add(&line).unwrap();
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntwo\n");
        fs::remove_file(&path).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn symlinks_and_devices_are_refused() {
        let folder = std::env::temp_dir().join(format!("rebout-links-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let [victim, link, dangling, missing] =
            ["victim", "link", "dangling", "missing"].map(|name| folder.join(name));
        write_key(&victim, &[7; 32]).unwrap();
        std::os::unix::fs::symlink(&victim, &link).unwrap();
        std::os::unix::fs::symlink(&missing, &dangling).unwrap();
        for path in [&link, &dangling] {
            assert!(read_key(path).unwrap_err().to_string().contains("symbolic link"));
            assert!(KeyLog::open(path).unwrap_err().to_string().contains("symbolic link"));
            assert!(write_key(path, &[8; 32]).is_err());
        }
        assert_eq!(read_key(&victim).unwrap(), Some([7; 32]), "unchanged");
        assert!(!missing.exists(), "nothing is created through a link");
        let other = folder.join("other");
        write_key(&other, &[9; 32]).unwrap();
        let [checked, opened] = [&victim, &other].map(|path| fs::metadata(path).unwrap());
        assert!(check(&checked, &checked).is_ok());
        assert!(check(&checked, &opened).unwrap_err().to_string().contains("replaced"));
        assert!(read_key(Path::new("/dev/null")).unwrap_err().to_string().contains("regular file"));
        fs::remove_dir_all(&folder).unwrap();
    }
}
