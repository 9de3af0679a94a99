//! The autopsy: two machines whose checksums differ find the first frame that differs, its fields and the cause.

mod budget;
mod evidence;
mod examined_state;
mod examiner;
mod exchange;
mod findings;
mod judgement;
mod past;
mod peer_claims;
mod phases;
mod recorder;
mod report;
mod resimulate;

pub(crate) use budget::Budget;
pub(crate) use evidence::{by_path, differing_fields};
pub(crate) use examiner::{Conclusion, Examiner};
pub(crate) use judgement::{Judgement, Void};
pub(crate) use past::Past;
pub use report::{Autopsy, AutopsyVerdict, FieldDifference, PhaseDifference};
