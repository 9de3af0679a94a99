//! How long nothing has come from the peer, counted so that a machine that was asleep does not blame the other.

use core::time::Duration;

/// A gap between our own calls counts for at most this much: a stopped process has heard nothing because it did not
/// listen.
const LONGEST_GAP_NANOS: u64 = 250_000_000;

/// What the silence has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SilenceChange {
    /// Nothing came for as long as an interruption takes.
    Interrupted {
        /// When it will count as lost.
        disconnect_at: Duration,
    },
    /// Something came after all.
    Resumed,
    /// Nothing came for too long.
    Lost,
    /// Packets came, but no new frame for too long.
    NoProgress,
}

/// After which silence what is said.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SilenceLimits {
    pub(crate) interrupted: Duration,
    pub(crate) lost: Duration,
    pub(crate) no_progress: Duration,
}

/// A clock of what was really listened to. It runs at every call, so it counts nanoseconds in one word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Silence {
    limits: SilenceLimits,
    last_call_nanos: u64,
    /// Since the last valid packet.
    quiet_nanos: u64,
    /// Since the last new frame.
    stuck_nanos: u64,
    /// As long as both are below this, and nothing is interrupted, there is nothing to say.
    least_nanos: u64,
    interrupted: bool,
}

impl Silence {
    pub(crate) fn new(now: Duration, limits: SilenceLimits) -> Self {
        Self {
            limits,
            last_call_nanos: nanos(now),
            quiet_nanos: 0,
            stuck_nanos: 0,
            least_nanos: nanos(limits.interrupted.min(limits.no_progress)),
            interrupted: false,
        }
    }

    /// Lets time pass. To be called whenever the machine is running.
    #[inline]
    pub(crate) fn pass(&mut self, now: Duration) {
        let now = nanos(now);
        let gap = now.saturating_sub(self.last_call_nanos).min(LONGEST_GAP_NANOS);
        self.last_call_nanos = now;
        self.quiet_nanos += gap;
        self.stuck_nanos += gap;
    }

    /// A valid packet came.
    #[inline]
    pub(crate) fn heard(&mut self) {
        self.quiet_nanos = 0;
    }

    /// A new frame came.
    #[inline]
    pub(crate) fn progressed(&mut self) {
        self.stuck_nanos = 0;
    }

    /// How long no new frame has come.
    pub(crate) fn stuck(&self) -> Duration {
        Duration::from_nanos(self.stuck_nanos)
    }

    /// What there is to say now, each change once.
    #[inline]
    pub(crate) fn change(&mut self) -> Option<SilenceChange> {
        if self.quiet_nanos.max(self.stuck_nanos) < self.least_nanos && !self.interrupted {
            return None;
        }
        self.look()
    }

    fn look(&mut self) -> Option<SilenceChange> {
        let quiet = Duration::from_nanos(self.quiet_nanos);
        if quiet >= self.limits.lost {
            return Some(SilenceChange::Lost);
        }
        if self.stuck() >= self.limits.no_progress {
            return Some(SilenceChange::NoProgress);
        }
        let silent = quiet >= self.limits.interrupted;
        if silent == self.interrupted {
            return None;
        }
        self.interrupted = silent;
        Some(if silent {
            let last_call = Duration::from_nanos(self.last_call_nanos);
            SilenceChange::Interrupted { disconnect_at: last_call.saturating_add(self.limits.lost - quiet) }
        } else {
            SilenceChange::Resumed
        })
    }
}

/// 584 years fit.
#[inline]
fn nanos(time: Duration) -> u64 {
    time.as_nanos() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: SilenceLimits = SilenceLimits {
        interrupted: Duration::from_millis(750),
        lost: Duration::from_secs(5),
        no_progress: Duration::from_secs(10),
    };

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// Lets time pass in steps of 50 ms and gathers what is said.
    fn run(silence: &mut Silence, from: u64, to: u64) -> Vec<(u64, SilenceChange)> {
        let mut said = Vec::new();
        for at in (from..=to).step_by(50) {
            silence.pass(ms(at));
            said.extend(silence.change().map(|change| (at, change)));
        }
        said
    }

    #[test]
    fn a_silence_is_interrupted_then_lost() {
        let mut silence = Silence::new(ms(0), LIMITS);
        assert_eq!(run(&mut silence, 50, 700), []);
        let said = run(&mut silence, 750, 5_000);
        assert_eq!(said[0], (750, SilenceChange::Interrupted { disconnect_at: ms(5_000) }));
        assert_eq!(said[1..], [(5_000, SilenceChange::Lost)]);
    }

    #[test]
    fn a_packet_resumes_it_once() {
        let mut silence = Silence::new(ms(0), LIMITS);
        run(&mut silence, 50, 900);
        silence.heard();
        assert_eq!(run(&mut silence, 950, 1_500), [(950, SilenceChange::Resumed)]);
    }

    #[test]
    fn a_machine_that_slept_does_not_blame_the_other() {
        let mut silence = Silence::new(ms(0), LIMITS);
        silence.pass(ms(60_000));
        assert_eq!(silence.change(), None);
        let said = run(&mut silence, 60_050, 60_500);
        assert!(matches!(said[..], [(60_500, SilenceChange::Interrupted { .. })]), "{said:?}");
    }

    #[test]
    fn a_limit_that_is_never_reached_does_not_overflow() {
        let never = SilenceLimits { lost: Duration::MAX, no_progress: Duration::MAX, ..LIMITS };
        let mut silence = Silence::new(ms(0), never);
        let said = run(&mut silence, 50, 2_000);
        assert_eq!(said, [(750, SilenceChange::Interrupted { disconnect_at: Duration::MAX })]);
    }

    #[test]
    fn packets_without_new_frames_end_it_too() {
        let mut silence = Silence::new(ms(0), LIMITS);
        for at in (50..10_000).step_by(50) {
            silence.pass(ms(at));
            silence.heard();
            assert_eq!(silence.change(), None, "at {at} ms");
        }
        silence.pass(ms(10_000));
        assert_eq!(silence.change(), Some(SilenceChange::NoProgress));
    }
}
