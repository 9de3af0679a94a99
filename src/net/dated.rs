//! New files and folders named by the time, for recordings and reports.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// The most names that are tried for a new file.
const MAX_TRIES: u32 = 1_000;

/// Makes a new file in `dir`, named by the time; returns its path and the time in seconds since 1970.
///
/// # Errors
/// Errors of the file system.
pub(crate) fn new_file(dir: &Path, extension: &str) -> io::Result<(PathBuf, File, u64)> {
    fs::create_dir_all(dir)?;
    let (secs, stamp) = stamp();
    first_free(|suffix| {
        let path = dir.join(format!("{stamp}{suffix}.{extension}"));
        let file = OpenOptions::new().write(true).create_new(true).open(&path)?;
        Ok((path, file, secs))
    })
}

/// Writes a text into a new file of `dir`, named by the time, that its owner alone can read.
///
/// # Errors
/// Errors of the file system.
pub(crate) fn new_private(dir: &Path, extension: &str, text: &str) -> io::Result<PathBuf> {
    fs::create_dir_all(dir)?;
    let (_, stamp) = stamp();
    first_free(|suffix| {
        let path = dir.join(format!("{stamp}{suffix}.{extension}"));
        super::private::write_text(&path, text)?;
        Ok(path)
    })
}

/// Makes a new folder in `dir`, named by the time.
///
/// # Errors
/// Errors of the file system.
pub(crate) fn new_folder(dir: &Path) -> io::Result<PathBuf> {
    fs::create_dir_all(dir)?;
    let (_, stamp) = stamp();
    first_free(|suffix| {
        let path = dir.join(format!("{stamp}{suffix}"));
        fs::create_dir(&path)?;
        Ok(path)
    })
}

/// Removes a file that nobody needs. If it stays, nothing depends on that.
pub(crate) fn remove(path: &Path) {
    let _ = fs::remove_file(path);
}

/// Tries names with suffixes until one is not taken.
fn first_free<T>(make: impl Fn(&str) -> io::Result<T>) -> io::Result<T> {
    for number in 1..MAX_TRIES {
        let suffix = if number == 1 { String::new() } else { format!("-{number}") };
        match make(&suffix) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made,
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// The time in seconds since 1970, and as `20260131-235959` in UTC.
/// The time in seconds since 1970.
pub(crate) fn secs() -> u64 {
    super::system::unix_seconds().unwrap_or(0)
}

fn stamp() -> (u64, String) {
    let secs = secs();
    (secs, written(secs))
}

fn written(secs: u64) -> String {
    let (days, secs) = (secs / 86_400, secs % 86_400);
    let [year, month, day] = date(days);
    format!("{year:04}{month:02}{day:02}-{:02}{:02}{:02}", secs / 3_600, secs / 60 % 60, secs % 60)
}

/// The date of a day since 1970, counted in years that begin in March, so that a leap day is the last of its year.
fn date(days: u64) -> [u64; 3] {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    [era * 400 + year_of_era + u64::from(month <= 2), month, day]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_stamps_are_dates_in_utc() {
        for (secs, text) in [
            (0, "19700101-000000"),
            (951_782_399, "20000228-235959"),
            (951_782_400, "20000229-000000"),
            (1_709_251_199, "20240229-235959"),
            (4_107_542_400, "21000301-000000"),
        ] {
            assert_eq!(written(secs), text);
        }
    }

    #[test]
    fn new_files_and_folders_never_replace_old_ones() {
        let dir = std::env::temp_dir().join(format!("rebout-new-{}", std::process::id()));
        let paths: Vec<_> = (0..3).map(|_| new_file(&dir, "rplk").unwrap().0).collect();
        let folders: Vec<_> = (0..3).map(|_| new_folder(&dir).unwrap()).collect();
        assert!(paths.iter().all(|path| path.is_file()) && folders.iter().all(|path| path.is_dir()));
        assert!(paths[0] != paths[1] && paths[1] != paths[2] && folders[0] != folders[1]);
        remove(&paths[0]);
        assert!(!paths[0].exists());
        fs::remove_dir_all(&dir).unwrap();
    }
}
