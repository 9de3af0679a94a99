//! How a page stands with its rendezvous, and with the host that it asks for there.

use crate::protocol::time::{Span, Time};

/// A server or a host that is silent for this long will not answer.
const PATIENCE: Span = Span::from_secs(10);

/// What a player is told.
#[derive(Debug, Default)]
pub(super) struct Standing {
    has_answered: bool,
    /// A trouble in words, and since when.
    trouble: Option<(String, Time)>,
}

impl Standing {
    pub(super) fn set_answered(&mut self) {
        self.has_answered = true;
    }

    /// Whether the rendezvous has ever answered.
    pub(super) fn has_answered(&self) -> bool {
        self.has_answered
    }

    pub(super) fn set_trouble(&mut self, now: Time, why: String) {
        let since = self.trouble.take().map_or(now, |(_, since)| since);
        self.trouble = Some((why, since));
    }

    pub(super) fn clear_trouble(&mut self) {
        self.trouble = None;
    }

    pub(super) fn trouble(&self) -> Option<&str> {
        self.trouble.as_ref().map(|(why, _)| &**why)
    }

    /// The trouble, if it has lasted.
    pub(super) fn failure(&self, now: Time) -> Option<&str> {
        self.trouble.as_ref().filter(|(_, since)| now >= *since + PATIENCE).map(|(why, _)| &**why)
    }
}
