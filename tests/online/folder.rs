//! A folder of a test.

use std::path::PathBuf;

/// A folder that is gone when the test is over.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    /// The name of a folder that does not exist.
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("rebout-online-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Self(path)
    }

    /// The name of a file in the folder, which then exists.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        std::fs::create_dir_all(&self.0).unwrap();
        self.0.join(name)
    }

    pub(crate) fn entries(&self) -> Vec<PathBuf> {
        let read = std::fs::read_dir(&self.0).into_iter().flatten();
        let mut found: Vec<PathBuf> = read.map(|entry| entry.unwrap().path()).collect();
        found.sort();
        found
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
