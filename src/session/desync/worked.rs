//! The outcome of a frame's work on a desync.

use super::{Autopsy, Stop};
use crate::Frame;

/// The outcome of the work in one `advance` that the session acts on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Worked {
    /// The report of an autopsy that is done.
    pub(crate) autopsy: Option<Autopsy>,
    /// The frames that were stepped again, once the engine has the new state.
    pub(crate) mended: Option<(Frame, Frame)>,
    /// Why the match ends.
    pub(crate) stop: Option<Stop>,
}
