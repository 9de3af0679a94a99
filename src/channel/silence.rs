//! Silence of the peer, measured in the time that this machine was running and receiving.

use super::listening::Listening;
use crate::protocol::time::{Span, Time};

/// Each new frame makes up for this many frames of time: a peer that sends fewer than one frame in four falls behind.
const FRAMES_MADE_UP: u32 = 4;

/// A time without a new frame that is longer than this and the RTT is a standstill: longer than jitter and most bursts of
/// loss. On a link whose latency exceeds the window frames come in bursts, an RTT apart.
const STANDSTILL: Span = Span::from_millis(250);

/// A standstill counts as slowness for at most this much. A longer one is an outage, and counts as a wait.
const MAX_STANDSTILL: Span = Span::from_secs(2);

/// The part of the time that may be standstills, or waits: bursts of loss on a bad link take less.
const STANDSTILL_PART: u32 = 8;

/// The shortest wait, even after long outages: a short gap must not end the match.
const MIN_WAIT: Span = Span::from_secs(5);

/// Standstills beyond that part count this many times for the limit of slowness: a match that stands still again and again
/// is worse than one that is slow.
const STANDSTILL_WEIGHT: u32 = 3;

/// A change that the game should know about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SilenceChange {
    /// No new frame came for as long as an interruption takes: the match waits.
    Interrupted {
        /// When it will count as lost.
        disconnect_at: Time,
    },
    /// New frames came after all.
    Resumed,
    /// Nothing came for too long.
    Lost,
    /// Packets came, but no new frame for too long.
    NoProgress,
    /// New frames came, but at less than a quarter of their rate for too long, or with too many standstills.
    TooSlow,
}

/// How much silence leads to which change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SilenceLimits {
    pub(crate) interrupted: Span,
    pub(crate) lost: Span,
    pub(crate) no_progress: Span,
    pub(crate) too_slow: Span,
}

/// A stopwatch for silence: since the last valid packet, since the last new frame, and the time that new frames have
/// not made up for. All are points on the clock of the time that was spent listening.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Silence {
    limits: SilenceLimits,
    listening: Listening,
    /// When the last valid packet came, and the last new frame.
    heard_at: Time,
    progressed_at: Time,
    /// Up to where new frames have made up for the time: one frame now and then is no progress. Never
    /// later than the last new frame, which is never later than the last valid packet.
    made_up_to: Time,
    made_up: Span,
    standstills: Standstills,
    /// The outages that the match has waited through. They shorten the next wait, so that a peer that falls silent on purpose
    /// cannot hold the match up for more than the limit and a part of the time.
    waits: Standstills,
    /// The lowest limit. While less than this is to be made up for, and nothing is interrupted, there is nothing to say.
    lowest_limit: Span,
    interrupted: bool,
    /// When the game last asked for a frame.
    advanced_at: Time,
}

impl Silence {
    pub(crate) fn new(now: Time, limits: SilenceLimits, frame_length: Span) -> Self {
        Self {
            limits,
            listening: Listening::new(now),
            heard_at: Time::ZERO,
            progressed_at: Time::ZERO,
            made_up_to: Time::ZERO,
            made_up: frame_length * FRAMES_MADE_UP,
            standstills: Standstills::default(),
            waits: Standstills::default(),
            lowest_limit: limits.interrupted.min(limits.no_progress).min(limits.too_slow).min(MIN_WAIT),
            interrupted: false,
            advanced_at: Time::ZERO,
        }
    }

    /// Lets time pass while the game asks for a frame.
    #[inline]
    pub(crate) fn pass(&mut self, now: Time) {
        self.listening.pass(now);
        let gap = self.listening.now().since(self.advanced_at);
        if gap > Listening::MAX_GAP {
            self.stood_still_here(gap);
        }
        self.advanced_at = self.listening.now();
    }

    /// Lets time pass while datagrams are sent and received. A game that only does that stands still itself: the peer waits
    /// for its frames.
    #[inline]
    pub(crate) fn listen(&mut self, now: Time) {
        self.listening.pass(now);
    }

    /// The game of this machine asked for no frame for this long, which counts for as much as a gap between its calls.
    #[cold]
    fn stood_still_here(&mut self, gap: Span) {
        self.listening.stood_still(gap);
        self.excuse(gap - Listening::MAX_GAP);
    }

    /// No new frame can come now: the time since the last one is no evidence.
    pub(crate) fn excuse_standstill(&mut self) {
        self.excuse(self.unmoved());
    }

    /// Takes a time in which no new frame could come out of the time without one.
    fn excuse(&mut self, span: Span) {
        self.progressed_at = (self.progressed_at + span).min(self.listening.now());
        self.made_up_to = (self.made_up_to + span).min(self.progressed_at).min(self.heard_at);
    }

    /// Notes that a valid packet came.
    #[inline]
    pub(crate) fn heard(&mut self) {
        self.heard_at = self.listening.now();
    }

    /// Notes that new frames came, in a valid packet, on a link with this RTT, which is asked for only after a standstill.
    #[inline]
    pub(crate) fn progressed(&mut self, frames: u32, rtt: impl FnOnce() -> Option<Span>) {
        let (now, before) = (self.listening.now(), self.progressed_at);
        self.progressed_at = now;
        self.made_up_to = (self.made_up_to + self.made_up * frames).min(now);
        if now.since(before) > STANDSTILL {
            self.stood_still(before, rtt);
        }
    }

    /// Counts a standstill. A peer that falls silent again and again otherwise makes up for it with the frames that it held
    /// back.
    #[cold]
    fn stood_still(&mut self, since: Time, rtt: impl FnOnce() -> Option<Span>) {
        let stuck = self.stuck_since(since);
        if stuck <= STANDSTILL + rtt().unwrap_or_default() {
            return;
        }
        let now = self.listening.now();
        if stuck > MAX_STANDSTILL {
            self.waits.add(now, stuck);
            self.made_up_to = (self.made_up_to + (stuck - MAX_STANDSTILL)).min(now);
        }
        let sum = self.standstills.add(now, stuck.min(MAX_STANDSTILL));
        let counted = (sum * STANDSTILL_WEIGHT).nanos().min(i64::MAX as u64);
        self.made_up_to = self.made_up_to.min(now.shifted(-counted.cast_signed()));
    }

    /// Whether the match waits: the game was told of an interruption.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupted
    }

    /// The latest time of a call.
    pub(crate) fn called_at(&self) -> Time {
        self.listening.called_at()
    }

    /// When to let time pass again, so that all of it counts.
    pub(crate) fn next_look(&self) -> Time {
        self.listening.called_at() + Listening::MAX_GAP
    }

    /// Whether this machine was away lately: it did not run for a second or more.
    pub(crate) fn was_away(&self, now: Time) -> bool {
        self.listening.was_away(now)
    }

    /// The time since the last new frame, without the standstills of this machine.
    pub(crate) fn stuck(&self) -> Span {
        self.stuck_since(self.progressed_at)
    }

    fn stuck_since(&self, progressed_at: Time) -> Span {
        self.listening.now().min(self.advanced_at + Listening::MAX_GAP).since(progressed_at)
    }

    /// The time since the last new frame, even if this machine stood still.
    pub(crate) fn unmoved(&self) -> Span {
        self.listening.now().since(self.progressed_at)
    }

    /// The change to tell of now, each once.
    #[inline]
    pub(crate) fn change(&mut self) -> Option<SilenceChange> {
        if self.listening.now().since(self.made_up_to) < self.lowest_limit && !self.interrupted {
            return None;
        }
        self.look()
    }

    fn look(&mut self) -> Option<SilenceChange> {
        let now = self.listening.now();
        let (quiet, stuck) = (now.since(self.heard_at), self.stuck());
        let waited = self.waits.sum_at(now);
        let left = |limit: Span, passed: Span| (limit - waited).max(limit.min(MIN_WAIT)) - passed;
        let left = left(self.limits.lost, quiet).min(left(self.limits.no_progress, stuck));
        let is_silent = quiet >= self.limits.interrupted;
        if left == Span::ZERO {
            return Some(if is_silent { SilenceChange::Lost } else { SilenceChange::NoProgress });
        }
        let is_advancing = now.since(self.advanced_at) <= Listening::MAX_GAP;
        let slow = now.since(self.made_up_to) - (stuck - MAX_STANDSTILL);
        if is_advancing && slow >= self.limits.too_slow {
            return Some(SilenceChange::TooSlow);
        }
        // Before the first frame the peer may still load its game.
        let has_begun = self.progressed_at > Time::ZERO;
        let waits = is_silent || has_begun && stuck >= self.limits.interrupted;
        if waits == self.interrupted {
            return None;
        }
        self.interrupted = waits;
        Some(if waits {
            SilenceChange::Interrupted { disconnect_at: self.listening.called_at() + left }
        } else {
            SilenceChange::Resumed
        })
    }
}

/// A sum of standstills, less the part of the time that may be standstills.
#[derive(Clone, Copy, Debug, Default)]
struct Standstills {
    sum: Span,
    /// Up to when that part has been taken off.
    forgiven_to: Time,
}

impl Standstills {
    /// Adds a standstill that ended now; returns the sum.
    fn add(&mut self, now: Time, length: Span) -> Span {
        self.sum = (self.sum + length) - now.since(self.forgiven_to) / STANDSTILL_PART;
        self.forgiven_to = now;
        self.sum
    }

    /// The sum at `now`.
    fn sum_at(&self, now: Time) -> Span {
        self.sum - now.since(self.forgiven_to) / STANDSTILL_PART
    }
}

#[cfg(test)]
mod tests;
