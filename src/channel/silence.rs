//! Silence of the peer, measured in time that this machine spent listening.

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

/// However long a match has waited before, it waits for this long: a hiccup after an outage does not end it.
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
mod tests {
    use super::*;
    use core::time::Duration;

    const LIMITS: SilenceLimits = SilenceLimits {
        interrupted: Span::from_millis(750),
        lost: Span::from_secs(30),
        no_progress: Span::from_secs(30),
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
        let said = run(&mut silence, 750, 30_000);
        assert_eq!(said[0], (750, SilenceChange::Interrupted { disconnect_at: ms(30_000) }));
        assert_eq!(said[1..], [(30_000, SilenceChange::Lost)]);
    }

    #[test]
    fn a_new_frame_resumes_it_once() {
        let mut silence = Silence::new(ms(0), LIMITS, FRAME);
        silence.pass(ms(50));
        silence.heard();
        silence.progressed(1, || None);
        assert_eq!(run(&mut silence, 100, 900).len(), 1);
        silence.heard();
        assert_eq!(run(&mut silence, 950, 1_000), [], "a packet without one says nothing");
        silence.heard();
        silence.progressed(8, || None);
        assert_eq!(run(&mut silence, 1_050, 1_500), [(1_050, SilenceChange::Resumed)]);
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
        let mut said = (60_000..91_000).step_by(50).filter_map(|at| {
            silence.pass(ms(at));
            silence.excuse_standstill();
            silence.change().map(|change| (at, change))
        });
        assert!(matches!(said.next(), Some((60_700, SilenceChange::Interrupted { .. }))));
        assert_eq!(said.next(), Some((89_950, SilenceChange::Lost)));
    }

    #[test]
    fn a_game_that_only_listens_hears_silence() {
        let mut silence = Silence::new(ms(0), LIMITS, FRAME);
        let mut said = (50..31_000).step_by(50).filter_map(|at| {
            silence.listen(ms(at));
            silence.change().map(|change| (at, change))
        });
        assert_eq!(said.next(), Some((750, SilenceChange::Interrupted { disconnect_at: ms(30_000) })));
        assert_eq!(said.next(), Some((30_000, SilenceChange::Lost)));
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
        let mut said = (50..=30_000).step_by(50).filter_map(|at| {
            silence.pass(ms(at));
            silence.heard();
            silence.change().map(|change| (at, change))
        });
        assert_eq!(said.next(), Some((30_000, SilenceChange::NoProgress)));
    }

    #[test]
    fn peer_that_is_heard_and_brings_no_frame_is_waited_for() {
        let mut silence = Silence::new(ms(0), LIMITS, FRAME);
        run(&mut silence, 0, 50);
        silence.heard();
        silence.progressed(1, || None);
        let mut said = (100..=40_000).step_by(50).filter_map(|at| {
            silence.pass(ms(at));
            silence.heard();
            silence.change().map(|change| (at, change))
        });
        let interrupted = SilenceChange::Interrupted { disconnect_at: ms(30_050) };
        assert_eq!(said.next(), Some((800, interrupted)), "the peer may not hear this machine");
        assert_eq!(said.next(), Some((30_050, SilenceChange::NoProgress)));
    }

    /// The change that ends the match, if this is one.
    fn ending(at: u64, change: Option<SilenceChange>) -> Option<(u64, SilenceChange)> {
        let goes_on = |change: &SilenceChange| {
            matches!(change, SilenceChange::Interrupted { .. } | SilenceChange::Resumed)
        };
        change.filter(|change| !goes_on(change)).map(|change| (at, change))
    }

    /// Sends a new frame every `every` ms for a minute, and answers how the match is ended.
    fn ended_at(every: u64) -> Option<(u64, SilenceChange)> {
        let mut silence = Silence::new(ms(0), LIMITS, FRAME);
        (0..60_000).step_by(10).find_map(|at| {
            silence.pass(ms(at));
            silence.heard();
            if at % every == 0 {
                silence.progressed(1, || None);
            }
            ending(at, silence.change())
        })
    }

    #[test]
    fn a_frame_now_and_then_is_no_progress() {
        assert_eq!(ended_at(60), None, "a little over a quarter of the rate");
        let rare = ended_at(9_500);
        assert!(matches!(rare, Some((30_000..35_000, SilenceChange::NoProgress))), "{rare:?}");
        let half = ended_at(140);
        assert!(matches!(half, Some((50_000.., SilenceChange::TooSlow))), "half of that: {half:?}");
    }

    /// Falls silent for `silent` of every `cycle` ms, and brings the frames that it held back after that. Answers how the match is
    /// ended, in ten minutes.
    fn switched_off(silent: u64, cycle: u64, rtt: Option<u64>) -> Option<(u64, SilenceChange)> {
        let mut silence = Silence::new(ms(0), LIMITS, FRAME);
        let rtt = rtt.map(Span::from_millis);
        (0..600_000).step_by(10).find_map(|at| {
            silence.pass(ms(at));
            if at % cycle >= silent {
                silence.heard();
                silence.progressed(if at % cycle == silent { 20 } else { 1 }, || rtt);
            }
            ending(at, silence.change())
        })
    }

    #[test]
    fn outages_again_and_again_are_waited_for_less() {
        let ended = switched_off(25_000, 60_000, Some(80));
        assert!(matches!(ended, Some((70_000..75_000, SilenceChange::Lost))), "{ended:?}");
        let ended = switched_off(9_000, 30_000, Some(80));
        assert!(matches!(ended, Some((120_000..240_000, SilenceChange::Lost))), "{ended:?}");
        assert_eq!(switched_off(29_000, 300_000, Some(80)), None, "an eighth of the time is forgiven");
        assert_eq!(switched_off(4_900, 50_000, Some(80)), None);
    }

    #[test]
    fn outage_after_a_slow_time_is_waited_for() {
        let mut silence = Silence::new(ms(0), LIMITS, FRAME);
        for at in (0..20_000).step_by(10) {
            silence.pass(ms(at));
            silence.heard();
            if at % 200 == 0 {
                silence.progressed(1, || None);
            }
            assert_eq!(silence.change(), None);
        }
        let said = run(&mut silence, 20_000, 48_000);
        assert!(matches!(said[..], [(_, SilenceChange::Interrupted { .. })]), "{said:?}");
        silence.heard();
        silence.progressed(8, || None);
        assert_eq!(run(&mut silence, 48_050, 48_100), [(48_050, SilenceChange::Resumed)]);
    }

    #[test]
    fn hiccup_after_an_outage_ends_nothing() {
        let mut silence = Silence::new(ms(0), LIMITS, FRAME);
        run(&mut silence, 50, 29_000);
        silence.heard();
        silence.progressed(8, || None);
        let said = run(&mut silence, 29_050, 34_300);
        let hiccup = SilenceChange::Interrupted { disconnect_at: ms(34_000) };
        assert_eq!(said[1], (29_750, hiccup));
        assert!(matches!(said[2..], [(34_000..=34_300, SilenceChange::Lost)]), "{said:?}");
    }

    #[test]
    fn standstills_again_and_again_are_too_slow() {
        let ended = switched_off(600, 2_000, Some(80));
        assert!(matches!(ended, Some((45_000..60_000, SilenceChange::TooSlow))), "{ended:?}");
        let ended = switched_off(400, 1_000, Some(80));
        assert!(matches!(ended, Some((0..45_000, SilenceChange::TooSlow))), "{ended:?}");
        assert_eq!(switched_off(600, 5_000, Some(80)), None, "an eighth of the time is forgiven");
        assert_eq!(switched_off(600, 2_000, Some(400)), None, "a long way explains it");
        assert_eq!(switched_off(200, 600, None), None, "jitter");
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
