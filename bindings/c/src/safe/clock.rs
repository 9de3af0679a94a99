//! The clock of a match at one machine: the system's, or the caller's.

use std::time::{Duration, Instant};

/// A clock that begins at 0.
#[derive(Clone, Copy, Debug)]
pub(super) enum Clock {
    System(Instant),
    Given(Duration),
}

impl Clock {
    pub(super) fn system() -> Self {
        Self::System(Instant::now())
    }

    pub(super) fn now(self) -> Duration {
        match self {
            Self::System(start) => start.elapsed(),
            Self::Given(now) => now,
        }
    }

    /// From now on the time is the caller's, and never runs backwards.
    pub(super) fn set(&mut self, now: Duration) {
        *self = Self::Given(match *self {
            Self::System(_) => now,
            Self::Given(before) => now.max(before),
        });
    }

    /// Sleeps until `at`, at most for `most`; not at all on a clock of the caller's.
    pub(super) fn sleep_until(self, at: Duration, most: Duration) {
        if let Self::System(_) = self {
            std::thread::sleep(at.saturating_sub(self.now()).min(most));
        }
    }
}
