//! What two machines know of each other's state: checksums, and what to do when they differ.

mod again;
mod archive;
mod bundle;
mod checksums;
mod dump;
mod evidence;
mod examiner;
mod exchange;
mod json;
mod leaves;
mod report;
mod rerun;

pub(crate) use archive::Archive;
pub use bundle::{Bundle, BundleError};
pub(crate) use checksums::Checksums;
pub(crate) use examiner::Examiner;
pub use json::JsonError;
pub use leaves::OwnedLeaf;
pub use report::{Autopsy, AutopsyVerdict, FieldDifference};
pub use rerun::Rerun;
