//! What two machines know of each other's state.

mod checksums;

pub(crate) use checksums::Checksums;
