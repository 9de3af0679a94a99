//! Silence of the peer, measured in time that this machine spent listening.

use super::listening::Listening;
use crate::protocol::time::{Span, Time};

/// Each new frame makes up for this many frames of time: a peer that sends fewer than one frame in four falls behind.
const FRAMES_MADE_UP: u32 = 4;

/// A time without a new frame that is longer than this and the RTT is a standstill: longer than jitter and most bursts of
/// loss. On a link whose latency exceeds the window frames come in bursts, an RTT apart.
const STANDSTILL: Span = Span::from_millis(250);

/// A standstill counts for at most this much: longer silence has limits of its own.
const MAX_STANDSTILL: Span = Span::from_secs(2);

/// The part of the time that may be standstills: bursts of loss on a bad link take less.
const STANDSTILL_PART: u32 = 8;

/// Standstills beyond that part count this many times for the limit of slowness: a match that stands still again and again
/// is worse than one that is slow.
const STANDSTILL_WEIGHT: u32 = 3;

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
            lowest_limit: limits.interrupted.min(limits.no_progress).min(limits.too_slow),
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
        let counted = (self.standstills.add(now, stuck) * STANDSTILL_WEIGHT).nanos().min(i64::MAX as u64);
        self.made_up_to = self.made_up_to.min(now.shifted(-counted.cast_signed()));
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

    /// The time since the last new frame, whoever stood still.
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
        let quiet = self.listening.now().since(self.heard_at);
        if quiet >= self.limits.lost {
            return Some(SilenceChange::Lost);
        }
        if self.stuck() >= self.limits.no_progress {
            return Some(SilenceChange::NoProgress);
        }
        let is_advancing = self.listening.now().since(self.advanced_at) <= Listening::MAX_GAP;
        if is_advancing && self.listening.now().since(self.made_up_to) >= self.limits.too_slow {
            return Some(SilenceChange::TooSlow);
        }
        let silent = quiet >= self.limits.interrupted;
        if silent == self.interrupted {
            return None;
        }
        self.interrupted = silent;
        Some(if silent {
            SilenceChange::Interrupted {
                disconnect_at: self.listening.called_at() + (self.limits.lost - quiet),
            }
        } else {
            SilenceChange::Resumed
        })
    }
}

/// The standstills of a match, less the part of the time that may be standstills.
#[derive(Clone, Copy, Debug, Default)]
struct Standstills {
    sum: Span,
    /// Up to when that part has been taken off.
    forgiven_to: Time,
}

impl Standstills {
    /// Adds a standstill that ended now; returns the sum.
    fn add(&mut self, now: Time, length: Span) -> Span {
        let forgiven = now.since(self.forgiven_to) / STANDSTILL_PART;
        self.sum = (self.sum + length.min(MAX_STANDSTILL)) - forgiven;
        self.forgiven_to = now;
        self.sum
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
        too_slow: Span::from_secs(30),
    };

    const FRAME: Span = Span::from_micros(16_667);

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
        let mut silence = Silence::new(ms(0), LIMITS, FRAME);
        assert_eq!(run(&mut silence, 50, 700), []);
        let said = run(&mut silence, 750, 5_000);
        assert_eq!(said[0], (750, SilenceChange::Interrupted { disconnect_at: ms(5_000) }));
        assert_eq!(said[1..], [(5_000, SilenceChange::Lost)]);
    }

    #[test]
    fn a_packet_resumes_it_once() {
        let mut silence = Silence::new(ms(0), LIMITS, FRAME);
        run(&mut silence, 50, 900);
        silence.heard();
        assert_eq!(run(&mut silence, 950, 1_500), [(950, SilenceChange::Resumed)]);
    }

    #[test]
    fn a_machine_that_slept_does_not_blame_the_other() {
        let mut silence = Silence::new(ms(0), LIMITS, FRAME);
        silence.pass(ms(60_000));
        assert_eq!(silence.change(), None);
        let said = run(&mut silence, 60_050, 60_500);
        assert!(matches!(said[..], [(60_500, SilenceChange::Interrupted { .. })]), "{said:?}");
    }

    #[test]
    fn a_game_that_only_listens_does_not_blame_the_other() {
        let mut silence = Silence::new(ms(0), LIMITS, FRAME);
        for at in (50..60_000).step_by(50) {
            silence.listen(ms(at));
            silence.heard();
            assert_eq!(silence.change(), None, "at {at} ms");
        }
        assert!(silence.unmoved() > Span::from_secs(59) && silence.stuck() == Listening::MAX_GAP);
        silence.pass(ms(60_000));
        assert_eq!((silence.change(), silence.stuck()), (None, Listening::MAX_GAP));
        assert!(silence.was_away(ms(60_000)), "a peer that gave up on this machine is believed");
        silence.progressed(8, || None);
        assert_eq!(silence.standstills.sum, Span::ZERO);
    }

    #[test]
    fn excused_standstill_ends_nothing_and_silence_in_it_does() {
        let mut silence = Silence::new(ms(0), LIMITS, FRAME);
        for at in (50..60_000).step_by(50) {
            silence.pass(ms(at));
            silence.heard();
            silence.excuse_standstill();
            assert_eq!((silence.change(), silence.stuck()), (None, Span::ZERO));
        }
        silence.progressed(1, || None);
        assert_eq!(silence.standstills.sum, Span::ZERO);
        let mut said = (60_000..66_000).step_by(50).filter_map(|at| {
            silence.pass(ms(at));
            silence.excuse_standstill();
            silence.change().map(|change| (at, change))
        });
        assert!(matches!(said.next(), Some((60_700, SilenceChange::Interrupted { .. }))));
        assert_eq!(said.next(), Some((64_950, SilenceChange::Lost)));
    }

    #[test]
    fn a_game_that_only_listens_hears_silence() {
        let mut silence = Silence::new(ms(0), LIMITS, FRAME);
        let mut said = (50..6_000).step_by(50).filter_map(|at| {
            silence.listen(ms(at));
            silence.change().map(|change| (at, change))
        });
        assert_eq!(said.next(), Some((750, SilenceChange::Interrupted { disconnect_at: ms(5_000) })));
        assert_eq!(said.next(), Some((5_000, SilenceChange::Lost)));
    }

    #[test]
    fn a_limit_that_is_never_reached_does_not_overflow() {
        let never = SilenceLimits {
            lost: Duration::MAX.into(),
            no_progress: Duration::MAX.into(),
            too_slow: Duration::MAX.into(),
            ..LIMITS
        };
        let mut silence = Silence::new(ms(0), never, FRAME);
        let said = run(&mut silence, 50, 2_000);
        assert_eq!(said, [(750, SilenceChange::Interrupted { disconnect_at: Time::NEVER })]);
    }

    #[test]
    fn packets_without_new_frames_end_it_too() {
        let mut silence = Silence::new(ms(0), LIMITS, FRAME);
        for at in (50..10_000).step_by(50) {
            silence.pass(ms(at));
            silence.heard();
            assert_eq!(silence.change(), None, "at {at} ms");
        }
        silence.pass(ms(10_000));
        assert_eq!(silence.change(), Some(SilenceChange::NoProgress));
    }

    /// Sends a new frame every `every` ms for a minute, and answers when the match is ended as too slow.
    fn ended_at(every: u64) -> Option<u64> {
        let mut silence = Silence::new(ms(0), LIMITS, FRAME);
        for at in (0..60_000).step_by(10) {
            silence.pass(ms(at));
            silence.heard();
            if at % every == 0 {
                silence.progressed(1, || None);
            }
            match silence.change() {
                None => {}
                Some(SilenceChange::TooSlow) => return Some(at),
                Some(change) => panic!("{change:?} at {at}"),
            }
        }
        None
    }

    #[test]
    fn a_frame_now_and_then_is_no_progress() {
        assert_eq!(ended_at(60), None, "a little over a quarter of the rate");
        assert!(ended_at(9_500).is_some_and(|at| at < 31_000), "{:?}", ended_at(9_500));
        assert!(ended_at(140).is_some_and(|at| at > 50_000), "half of that: {:?}", ended_at(140));
    }

    /// Falls silent for `silent` of every `cycle` ms, and brings the frames that it held back after that. Answers when the
    /// match is ended as too slow, in ten minutes.
    fn switched_off(silent: u64, cycle: u64, rtt: Option<u64>) -> Option<u64> {
        let limits = SilenceLimits { interrupted: Span::from_secs(5), ..LIMITS };
        let mut silence = Silence::new(ms(0), limits, FRAME);
        let rtt = rtt.map(Span::from_millis);
        (0..600_000).step_by(10).find(|at| {
            silence.pass(ms(*at));
            if at % cycle >= silent {
                silence.heard();
                silence.progressed(if at % cycle == silent { 20 } else { 1 }, || rtt);
            }
            silence.change() == Some(SilenceChange::TooSlow)
        })
    }

    #[test]
    fn standstills_again_and_again_are_too_slow() {
        let ended = switched_off(600, 2_000, Some(80));
        assert!(ended.is_some_and(|at| (45_000..60_000).contains(&at)), "{ended:?}");
        let ended = switched_off(400, 1_000, Some(80));
        assert!(ended.is_some_and(|at| at < 45_000), "{ended:?}");
        assert_eq!(switched_off(600, 5_000, Some(80)), None, "an eighth of the time is forgiven");
        assert_eq!(switched_off(600, 2_000, Some(400)), None, "a long way explains it");
        assert_eq!(switched_off(200, 600, None), None, "jitter");
    }

    #[test]
    fn a_long_standstill_counts_for_two_seconds() {
        let mut silence = Silence::new(ms(0), LIMITS, FRAME);
        for at in (50..37_000).step_by(50) {
            silence.pass(ms(at));
            silence.heard();
            if at % 9_000 == 0 {
                silence.progressed(600, || None);
            }
            assert_eq!(silence.change(), None, "at {at} ms");
        }
    }

    #[test]
    fn each_limit_may_be_the_shortest() {
        let ended = |limits: SilenceLimits, heard: bool, progresses: bool| {
            let mut silence = Silence::new(ms(0), limits, FRAME);
            (50..20_000).step_by(50).find_map(|at| {
                silence.pass(ms(at));
                if heard {
                    silence.heard();
                }
                if progresses && at % 400 == 0 {
                    // No standstill on a link with this RTT.
                    silence.progressed(1, || Some(Span::from_millis(200)));
                }
                silence.change().map(|change| (at, change))
            })
        };
        let short = Span::from_millis(500);
        let no_progress = SilenceLimits { no_progress: short, ..LIMITS };
        assert_eq!(ended(no_progress, true, false), Some((500, SilenceChange::NoProgress)));
        let too_slow = SilenceLimits { too_slow: short, ..LIMITS };
        // A frame at 400 ms makes up for 67 ms.
        assert_eq!(ended(too_slow, true, true), Some((600, SilenceChange::TooSlow)));
        let lost = SilenceLimits { lost: short, interrupted: short, ..LIMITS };
        assert_eq!(ended(lost, false, false), Some((500, SilenceChange::Lost)));
    }
}
