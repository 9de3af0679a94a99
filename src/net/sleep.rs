//! Sleeping with a finer resolution than the poller's, without missing datagrams: `sleep_on` where the system has such a call, and
//! `sleep` elsewhere and for several sources.

use mio::{Events, Poll};
use std::io::{self, ErrorKind};
use std::time::Duration;

/// The resolution of the poller, which rounds up to whole milliseconds.
const POLLER_GRAIN: Duration = Duration::from_millis(1);
/// The longest sleep outside the poller, for times below its resolution. A datagram waits no longer than this; at most
/// four naps a frame are not a busy loop.
const NAP: Duration = Duration::from_micros(250);
/// The longest single sleep, which fits the poller's counter.
const MAX_POLL: Duration = Duration::from_secs(3_600);

/// The cause that ended a sleep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Woken {
    /// The time is over, and no datagram is waiting.
    Timeout,
    /// The time was over, or a datagram or a waker came; perhaps before the requested time.
    Up,
    /// A signal interrupted it.
    Interrupted,
}

/// Sleeps for at most `time`: whole milliseconds in the poller, where a datagram ends the sleep, or else one nap. The
/// caller checks its socket and sleeps again until its deadline.
pub(crate) fn sleep(poll: &mut Poll, events: &mut Events, time: Duration) -> io::Result<Woken> {
    if time < POLLER_GRAIN {
        std::thread::sleep(time.min(NAP));
        return Ok(Woken::Up);
    }
    // Round down here, or the poller would round up past the deadline.
    let whole = Duration::from_millis(time.min(MAX_POLL).as_millis() as u64);
    match poll.poll(events, Some(whole)) {
        Ok(()) => Ok(Woken::Up),
        Err(error) if error.kind() == ErrorKind::Interrupted => Ok(Woken::Interrupted),
        Err(error) => Err(error),
    }
}

/// Sleeps for at most `time`, to the nanosecond, until the socket has a datagram or an error to tell.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn sleep_on(socket: &impl std::os::fd::AsFd, time: Duration) -> io::Result<Woken> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let time = time.min(MAX_POLL);
    let time = Timespec { tv_sec: time.as_secs() as _, tv_nsec: time.subsec_nanos().into() };
    match poll(&mut [PollFd::new(socket, PollFlags::IN)], Some(&time)) {
        Ok(0) => Ok(Woken::Timeout),
        Ok(_) => Ok(Woken::Up),
        Err(rustix::io::Errno::INTR) => Ok(Woken::Interrupted),
        Err(error) => Err(error.into()),
    }
}
