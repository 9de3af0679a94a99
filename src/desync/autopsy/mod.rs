//! The autopsy: two machines whose checksums differ find the first frame that differs, its fields and the cause.

mod evidence;
mod examiner;
mod exchange;
mod leaves;
mod report;
mod resimulate;

pub(crate) use examiner::Examiner;
pub use leaves::OwnedLeaf;
pub use report::{Autopsy, AutopsyVerdict, FieldDifference};
