//! Silence of the peer, measured in time that this machine spent listening.

use crate::time::{Span, Time};

/// A gap between our own calls counts for at most this much: a process that was stopped heard nothing because it did
/// not listen, and must not blame the peer.
const MAX_GAP: Span = Span::from_millis(250);

/// A change that the game should know about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SilenceChange {
    /// Nothing came for as long as an interruption takes.
    Interrupted {
        /// When it will count as lost.
        disconnect_at: Time,
    },
    /// Something came after all.
    Resumed,
    /// Nothing came for too long.
    Lost,
    /// Packets came, but no new frame for too long.
    NoProgress,
}

/// How much silence leads to which change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SilenceLimits {
    pub(crate) interrupted: Span,
    pub(crate) lost: Span,
    pub(crate) no_progress: Span,
}

/// A stopwatch for silence: since the last valid packet, and since the last new frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Silence {
    limits: SilenceLimits,
    last_call: Time,
    /// Since the last valid packet.
    quiet: Span,
    /// Since the last new frame.
    stuck: Span,
    /// The lowest limit. While both are below it, and nothing is interrupted, there is nothing to say.
    lowest_limit: Span,
    interrupted: bool,
}

impl Silence {
    pub(crate) fn new(now: Time, limits: SilenceLimits) -> Self {
        Self {
            limits,
            last_call: now,
            quiet: Span::ZERO,
            stuck: Span::ZERO,
            lowest_limit: limits.interrupted.min(limits.no_progress),
            interrupted: false,
        }
    }

    /// Lets time pass. To be called whenever this machine runs.
    #[inline]
    pub(crate) fn pass(&mut self, now: Time) {
        let gap = now.since(self.last_call).min(MAX_GAP);
        self.last_call = now;
        self.quiet = self.quiet + gap;
        self.stuck = self.stuck + gap;
    }

    /// Notes that a valid packet came.
    #[inline]
    pub(crate) fn heard(&mut self) {
        self.quiet = Span::ZERO;
    }

    /// Notes that a new frame came.
    #[inline]
    pub(crate) fn progressed(&mut self) {
        self.stuck = Span::ZERO;
    }

    /// The time since the last new frame.
    pub(crate) fn stuck(&self) -> Span {
        self.stuck
    }

    /// The change to tell of now, each once.
    #[inline]
    pub(crate) fn change(&mut self) -> Option<SilenceChange> {
        if self.quiet.max(self.stuck) < self.lowest_limit && !self.interrupted {
            return None;
        }
        self.look()
    }

    fn look(&mut self) -> Option<SilenceChange> {
        if self.quiet >= self.limits.lost {
            return Some(SilenceChange::Lost);
        }
        if self.stuck >= self.limits.no_progress {
            return Some(SilenceChange::NoProgress);
        }
        let silent = self.quiet >= self.limits.interrupted;
        if silent == self.interrupted {
            return None;
        }
        self.interrupted = silent;
        Some(if silent {
            SilenceChange::Interrupted { disconnect_at: self.last_call + (self.limits.lost - self.quiet) }
        } else {
            SilenceChange::Resumed
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::time::Duration;

    const LIMITS: SilenceLimits = SilenceLimits {
        interrupted: Span::from_millis(750),
        lost: Span::from_secs(5),
        no_progress: Span::from_secs(10),
    };

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
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
        let never = SilenceLimits { lost: Duration::MAX.into(), no_progress: Duration::MAX.into(), ..LIMITS };
        let mut silence = Silence::new(ms(0), never);
        let said = run(&mut silence, 50, 2_000);
        assert_eq!(said, [(750, SilenceChange::Interrupted { disconnect_at: Time::NEVER })]);
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
