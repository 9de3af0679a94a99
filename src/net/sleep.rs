//! Sleeping until a time below the poller's grain, without missing what comes in.

use mio::{Events, Poll};
use std::io::{self, ErrorKind};
use std::time::Duration;

/// The poller counts in milliseconds and rounds up.
const POLLER_GRAIN: Duration = Duration::from_millis(1);
/// What is left below that is slept in naps: short, so that a datagram waits no longer than this; not so short that
/// it is a busy loop (at most four naps a frame).
pub(super) const NAP: Duration = Duration::from_micros(250);
/// An hour at a time is as good as any longer one, and fits the poller's counter.
const MAX_POLL: Duration = Duration::from_secs(3_600);

/// What ended a sleep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Woken {
    /// Time, a datagram or a waker. It need not be the time that was asked for.
    Up,
    /// A signal.
    Interrupted,
}

/// Sleeps for at most `time`: whole milliseconds in the poller, where a datagram ends them, or one nap. The caller looks
/// what has come and sleeps again until its time is reached.
pub(super) fn sleep(poll: &mut Poll, events: &mut Events, time: Duration) -> io::Result<Woken> {
    if time < POLLER_GRAIN {
        std::thread::sleep(time.min(NAP));
        return Ok(Woken::Up);
    }
    // Rounded down here, or the poller would round it up past the deadline.
    let whole = Duration::from_millis(time.min(MAX_POLL).as_millis() as u64);
    match poll.poll(events, Some(whole)) {
        Ok(()) => Ok(Woken::Up),
        Err(error) if error.kind() == ErrorKind::Interrupted => Ok(Woken::Interrupted),
        Err(error) => Err(error),
    }
}
