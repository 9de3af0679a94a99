//! How the search goes, for the player: its progress, and how long the first path took.

use super::progress::Progress;
use crate::protocol::time::{Span, Time};
use crate::protocol::trace;

/// The progress of a machine.
#[derive(Debug)]
pub(super) struct Report {
    progress: Progress,
    /// Since when there is no way.
    no_way_since: Option<Time>,
    /// When the search began: a joiner's at its first turn, a host's with its guest's signal.
    since: Option<Time>,
    found_after: Option<Span>,
}

impl Report {
    pub(super) fn new(progress: Progress) -> Self {
        Self { progress, no_way_since: None, since: None, found_after: None }
    }

    pub(super) fn progress(&self) -> Progress {
        self.progress
    }

    /// The peer may have found the path: packets that came on it can be opened before the own checks have ended.
    pub(super) fn set(&mut self, now: Time, progress: Progress) {
        if progress.is_connected() {
            self.found_after.get_or_insert(now.since(self.since.unwrap_or(now)));
        }
        let before = core::mem::replace(&mut self.progress, progress);
        let Progress::NoWay { why } = progress else {
            self.no_way_since = None;
            return;
        };
        self.no_way_since.get_or_insert(now);
        if before != progress {
            trace::no_path(&why);
        }
    }

    /// Since when there is no way.
    pub(super) fn no_way_since(&self) -> Option<Time> {
        self.no_way_since
    }

    /// A joiner searches, from its first turn on.
    pub(super) fn begin(&mut self, now: Time) {
        self.since.get_or_insert(now);
    }

    /// A host searches for another guest.
    pub(super) fn begin_anew(&mut self, now: Time) {
        if self.found_after.is_none() {
            self.since = Some(now);
        }
    }

    /// How long the first path took to find.
    pub(super) fn found_after(&self) -> Option<Span> {
        self.found_after
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_to_the_first_path_counts_from_its_guest() {
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        let mut report = Report::new(Progress::Waiting);
        report.begin_anew(at(100));
        report.begin_anew(at(400));
        report.set(at(450), Progress::Direct);
        report.begin_anew(at(700));
        report.set(at(900), Progress::Direct);
        assert_eq!(report.found_after(), Some(Span::from_millis(50)));
        let mut joiner = Report::new(Progress::Waiting);
        joiner.begin(at(100));
        joiner.begin(at(400));
        joiner.set(at(450), Progress::Direct);
        assert_eq!(joiner.found_after(), Some(Span::from_millis(350)));
    }
}
