//! Desync detection: checksums of certain states, the autopsy that two machines make when they differ, and the bundle
//! that keeps what they found.

mod autopsy;
mod bundle;
mod watch;

pub(crate) use autopsy::Examiner;
pub use autopsy::{Autopsy, AutopsyVerdict, FieldDifference, OwnedLeaf};
pub use bundle::{Bundle, BundleError, JsonError, Rerun};
pub(crate) use watch::{Archive, Checksums};
