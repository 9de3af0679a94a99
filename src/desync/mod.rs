//! What two machines know of each other's state: checksums, and what to do when they differ.

mod archive;
mod checksums;
mod examiner;
mod exchange;
mod leaves;
mod report;

pub(crate) use archive::Archive;
pub(crate) use checksums::Checksums;
pub(crate) use examiner::Examiner;
pub use leaves::OwnedLeaf;
pub use report::{Autopsy, AutopsyVerdict, FieldDifference};
