//! The clock by which a session measures a step, a save and a restore.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The time since the first call, from the system's monotonic clock: for
/// [`RollbackConfig::stopwatch`](crate::RollbackConfig::stopwatch).
#[must_use]
pub fn stopwatch() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}
