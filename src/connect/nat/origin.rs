//! Times as the two libraries want them: ICE counts in points of the system's clock, TURN in nanoseconds.

use crate::protocol::time::Time;
use core::time::Duration;
use std::time::Instant;

/// The point of the system's clock that stands for time zero: any one, because only differences to it are used.
///
/// The ICE library counts in such points. `NatTraversal` reads no clock, so its owner hands one over: `Instant::now()` is as good as any.
#[derive(Clone, Copy, Debug)]
pub struct Origin(Instant);

/// A point of the system's clock.
#[cfg(feature = "webrtc")]
pub(super) type Point = Instant;

impl From<Instant> for Origin {
    fn from(at: Instant) -> Self {
        Self(at)
    }
}

impl Origin {
    pub(super) fn ice(self, now: Time) -> Instant {
        self.0 + Duration::from(now)
    }

    pub(super) fn since(self, at: Instant) -> Time {
        Time::from(at.saturating_duration_since(self.0))
    }
}

pub(super) fn turn(now: Time) -> turn_client_proto::stun::Instant {
    turn_client_proto::stun::Instant::from_nanos(
        i64::try_from(now.since(Time::ZERO).nanos()).unwrap_or(i64::MAX),
    )
}

pub(super) fn from_turn(at: turn_client_proto::stun::Instant) -> Time {
    Time::from(Duration::from_nanos(u64::try_from(at.as_nanos()).unwrap_or(0)))
}
