//! Times as the two libraries want them: ICE counts in points of the system's clock, TURN in nanoseconds.

use core::time::Duration;
use std::time::Instant;

/// The point of the system's clock that stands for time zero. It is read once, and only differences to it are used: no
/// result depends on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin(Instant);

impl Origin {
    pub(super) fn new() -> Self {
        Self(Instant::now())
    }

    pub(super) fn ice(self, now: Duration) -> Instant {
        self.0 + now
    }

    pub(super) fn since(self, at: Instant) -> Duration {
        at.saturating_duration_since(self.0)
    }
}

pub(super) fn turn(now: Duration) -> turn_client_proto::stun::Instant {
    turn_client_proto::stun::Instant::from_nanos(i64::try_from(now.as_nanos()).unwrap_or(i64::MAX))
}

pub(super) fn from_turn(at: turn_client_proto::stun::Instant) -> Duration {
    Duration::from_nanos(u64::try_from(at.as_nanos()).unwrap_or(0))
}
