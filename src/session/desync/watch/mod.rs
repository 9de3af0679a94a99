//! The certain past: its checksums, which the two machines compare, and its states and inputs, which an autopsy needs.

mod archive;
mod checksums;
mod kept;
mod sliced;

pub(crate) use archive::Archive;
pub(crate) use checksums::{CheckedChecksum, Checksums, Comparison};
pub(crate) use sliced::{Progress, Sliced};
