//! The certain past: its checksums, which the two machines compare, and its states and inputs, which an autopsy needs.

mod archive;
mod checksums;
mod kept;

pub(crate) use archive::Archive;
pub(crate) use checksums::{CheckedChecksum, Checksums, Comparison};
