//! The content of a core: a ROM, and the folders that a core may read and write.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::scratch::Scratch;

/// The largest content that is read into memory.
const MAX_BYTES: u64 = 256 << 20;

/// A ROM and the folders around it.
#[derive(Clone, Debug)]
pub struct Content {
    pub path: PathBuf,
    pub bytes: Arc<Vec<u8>>,
    /// Where a core looks for a BIOS.
    pub system: PathBuf,
    /// Where a core may write battery files. It is a new folder for each process, so that no file of an earlier game makes two
    /// machines differ, and it is deleted with the last copy of the content.
    pub saves: Arc<Scratch>,
}

impl Content {
    /// Reads a ROM.
    ///
    /// # Errors
    /// A sentence, if it cannot be read or is too large.
    pub fn open(path: &Path, system: Option<&Path>) -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("{} cannot be read: {error}", path.display());
        let file = std::fs::File::open(path).map_err(failed)?;
        let mut bytes = Vec::new();
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(format!("{} has more than {} MiB", path.display(), MAX_BYTES >> 20));
        }
        let path = path.canonicalize().map_err(failed)?;
        let saves = Arc::new(Scratch::new()?);
        let system = system.unwrap_or_else(|| saves.path()).to_owned();
        Ok(Self { path, bytes: Arc::new(bytes), system, saves })
    }

    /// The name of the file.
    pub fn name(&self) -> String {
        self.path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
    }
}
