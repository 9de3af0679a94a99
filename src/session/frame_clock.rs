//! The frame clock: when the next frame is due, so that both machines keep one pace.

use crate::FrameRate;
use crate::protocol::time::{Span, Time};
use crate::session::peer::lead::ONE_FRAME;

/// No frame is longer or shorter by more than this: less than a player can see.
const MAX_TRIM_NANOS: i64 = 2_000_000;

/// How far trims may move this machine from the agreed clock altogether: enough to meet a peer that started early or
/// was away, which is at most a window of frames.
const MAX_SHIFT_NANOS: i64 = 250_000_000;

/// The part of a frame by which the shift is forgiven in each: the match runs at the agreed rate in the long run,
/// within 0.5 %: a frame that is a 202nd shorter makes the rate 0.4975 % higher.
const FORGIVEN_PART: u32 = 202;

/// The weight of the part of the lead outside one frame. On a far link it is 0: the peer's reaction comes too late, and a
/// stronger correction would oscillate.
const BEYOND_WEIGHT: i64 = 2;

/// A link is far above this RTT: with an RTT of 37 frames the machines would swing around each other by three frames.
const FAR_ABOVE_FRAMES: u32 = 20;

/// The match follows a slower peer when it has been trimmed beyond the shift for this many frames, and has recovered after
/// as many without.
const FOLLOWING_AFTER_FRAMES: u32 = 120;

/// A change of the rate that is worth telling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RateChange {
    /// The frames that arrive show that the peer is slower, and this machine follows it.
    PeerSlow { rate_permille: u16 },
    /// The agreed rate holds again.
    PeerRecovered,
}

/// Paces frames by the frame lead. Both sides do the same, so that neither carries the whole correction.
///
/// The lead rests on a delay that the peer claims, and a claim must not set the speed of a match. Trims are therefore
/// bounded: beyond a small shift they are taken only as far as the frames that arrive justify them.
#[derive(Clone, Copy, Debug)]
pub(super) struct FrameClock {
    /// In whole nanoseconds. The rest of a frame is `rest / parts` of one.
    frame_length: Span,
    rest: u64,
    parts: u64,
    due: Time,
    /// By how much the next frame is due after `due`, in `parts` of a nanosecond. It keeps the rounding of the frame length
    /// from adding up.
    fraction: u64,
    trim_nanos: i64,
    /// The sum of the trims so far, less what was forgiven. Positive: later than the agreed clock.
    shift_nanos: i64,
    forgiven_nanos: i64,
    beyond_weight: i64,
    /// Frames trimmed beyond the shift, as long as they outnumber the others; at most `FOLLOWING_AFTER_FRAMES`.
    beyond_frames: u32,
    is_following: bool,
    change: Option<RateChange>,
}

impl FrameClock {
    pub(super) fn new(first_due: Time, rate: FrameRate) -> Self {
        let frame_length = Span::from(rate.frame_length());
        let parts = u64::from(rate.numerator().max(1));
        Self {
            frame_length,
            rest: u64::from(rate.denominator()) * 1_000_000_000 % parts,
            parts,
            due: first_due,
            fraction: 0,
            trim_nanos: 0,
            shift_nanos: 0,
            forgiven_nanos: (frame_length / FORGIVEN_PART).nanos().cast_signed(),
            beyond_weight: BEYOND_WEIGHT,
            beyond_frames: 0,
            is_following: false,
            change: None,
        }
    }

    /// When the next frame is due.
    #[inline]
    pub(super) fn due(&self) -> Time {
        self.due
    }

    /// Whether the next frame is due.
    #[inline]
    pub(super) fn is_due(&self, now: Time) -> bool {
        now >= self.due
    }

    /// A frame was stepped at `now`: the next one is due a frame later, trimmed by the lead.
    ///
    /// `justified` is the longest trim that the frames that arrive justify. It is asked for only when the shift is used
    /// up. `behind` is how many frames the peer has gone ahead while this machine did not run, and is asked for only then.
    // Always inlined, as the call that it is the most of.
    #[inline(always)]
    pub(super) fn stepped(
        &mut self,
        now: Time,
        lead: Option<i32>,
        justified: impl FnOnce() -> i64,
        behind: impl FnOnce() -> u32,
    ) {
        self.trim_nanos = lead.map_or(0, |lead| weighted_trim(self.frame_length, lead, self.beyond_weight));
        let mut shift = self.shift_nanos + self.trim_nanos;
        if shift.unsigned_abs() > MAX_SHIFT_NANOS.unsigned_abs() {
            shift = self.bound(shift, justified);
        } else if self.beyond_frames > 0 {
            self.count(false);
        }
        self.shift_nanos = shift - shift.clamp(-self.forgiven_nanos, self.forgiven_nanos);
        self.move_on(now, behind);
    }

    /// Takes in the RTT.
    pub(super) fn measured(&mut self, rtt: Span) {
        let is_far = rtt > self.frame_length * FAR_ABOVE_FRAMES;
        self.beyond_weight = if is_far { 0 } else { BEYOND_WEIGHT };
    }

    /// Bounds a trim that would move this machine too far from the agreed clock, to `shift`. Answers the shift that it
    /// gets.
    #[cold]
    fn bound(&mut self, shift: i64, justified: impl FnOnce() -> i64) -> i64 {
        let bounded = shift.clamp(-MAX_SHIFT_NANOS, MAX_SHIFT_NANOS);
        let within = bounded - self.shift_nanos;
        let wanted = self.trim_nanos;
        self.trim_nanos = if wanted > within { wanted.min(justified().max(within)) } else { within };
        self.count(self.trim_nanos > within);
        bounded
    }

    /// Counts a frame that was trimmed beyond the shift, or was not.
    #[cold]
    fn count(&mut self, beyond: bool) {
        if beyond && self.beyond_frames < FOLLOWING_AFTER_FRAMES {
            self.beyond_frames += 1;
            if self.beyond_frames == FOLLOWING_AFTER_FRAMES && !self.is_following {
                self.is_following = true;
                let nanos = self.frame_length.nanos();
                let rate = 1_000 * nanos / nanos.saturating_add_signed(self.trim_nanos).max(1);
                self.change = Some(RateChange::PeerSlow { rate_permille: rate as u16 });
            }
        } else if !beyond && self.beyond_frames > 0 {
            self.beyond_frames -= 1;
            if self.beyond_frames == 0 && self.is_following {
                self.is_following = false;
                self.change = Some(RateChange::PeerRecovered);
            }
        }
    }

    /// The change of the rate to tell of, each once.
    #[inline]
    pub(super) fn rate_change(&mut self) -> Option<RateChange> {
        self.change.take()
    }

    /// A frame was stalled at `now`: it is due again a frame later, untrimmed.
    pub(super) fn stalled(&mut self, now: Time) {
        self.trim_nanos = 0;
        self.move_on(now, || 0);
    }

    #[inline]
    fn move_on(&mut self, now: Time, behind: impl FnOnce() -> u32) {
        // Counted from when the frame was due and not from now, so that lateness does not add up.
        let mut next = self.due + self.frame_length;
        if now > next {
            next = self.after_absence(now, next, behind());
        }
        self.fraction += self.rest;
        let mut nanos = self.trim_nanos;
        if self.fraction >= self.parts {
            self.fraction -= self.parts;
            nanos += 1;
        }
        self.due = next.shifted(nanos);
    }

    /// When the next frame is due on a machine that did not run for longer than a frame. It makes up for as many frames as the
    /// peer is ahead, at once, because the peer would have to wait for them. It drops the others: the peer has not
    /// stepped them either.
    #[cold]
    fn after_absence(&self, now: Time, next: Time, behind: u32) -> Time {
        let made_up = (self.frame_length * behind).nanos().cast_signed();
        next.max((now + self.frame_length).shifted(-made_up))
    }

    /// The clock stood still: the next frame is due at `now`.
    pub(super) fn restart(&mut self, now: Time) {
        self.due = now;
    }

    /// A stalled frame has its input now: it is due at once.
    pub(super) fn hurry(&mut self, now: Time) {
        self.due = self.due.min(now);
    }

    /// By how much the last frame was made longer.
    pub(super) fn trim_micros(&self) -> i32 {
        (self.trim_nanos / 1_000) as i32
    }

    /// How far the time between the last frame and the next has gone at `now`, from 0 to 1.
    pub(super) fn phase(&self, now: Time) -> f32 {
        let left = self.due.since(now).nanos() as f32 / self.frame_length.nanos() as f32;
        (1.0 - left).clamp(0.0, 1.0)
    }
}

/// `frame_length * (lead / 32 + beyond(lead, 1) / 16)`, where `beyond` is the part of the lead outside one frame; `lead` is in
/// 1/65,536 of a frame.
///
/// Gentle within a frame, where jitter lives; three times as strong beyond it. The obvious tenth of the error
/// oscillates at round trips of 200 ms.
pub(super) fn trim(frame_length: Span, lead: i32) -> i64 {
    weighted_trim(frame_length, lead, BEYOND_WEIGHT)
}

#[inline]
fn weighted_trim(frame_length: Span, lead: i32, beyond_weight: i64) -> i64 {
    let lead = i64::from(lead);
    let one = i64::from(ONE_FRAME);
    let beyond = lead - lead.clamp(-one, one);
    // A shift, which rounds down by a nanosecond, is cheaper than a division by 32 * one.
    ((frame_length.nanos() as i64 * (lead + beyond_weight * beyond)) >> (5 + ONE_FRAME.ilog2()))
        .clamp(-MAX_TRIM_NANOS, MAX_TRIM_NANOS)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Span = Span::from_micros(16_667);
    const RATE: FrameRate = FrameRate::ratio(1_000_000, 16_667);

    fn at(span: Span) -> Time {
        Time::ZERO + span
    }

    #[test]
    fn trim_is_gentle_within_a_frame_and_bounded_beyond() {
        assert_eq!(trim(FRAME, 0), 0);
        assert_eq!(trim(FRAME, ONE_FRAME), 16_667_000 / 32);
        assert_eq!(trim(FRAME, -ONE_FRAME), -16_667_000 / 32 - 1, "rounded down");
        assert_eq!(trim(FRAME, 3 * ONE_FRAME / 2), 16_667_000 * 5 / 64, "1.5 / 32 + 0.5 / 16");
        assert_eq!(trim(FRAME, 100 * ONE_FRAME), 2_000_000);
        assert_eq!(trim(FRAME, i32::MIN), -2_000_000);
    }

    #[test]
    fn far_link_is_trimmed_gently_beyond_a_frame_too() {
        let mut clock = FrameClock::new(Time::ZERO, RATE);
        let mut trim = |rtt_frames: u32| {
            clock.measured(FRAME * rtt_frames);
            clock.stepped(clock.due(), Some(3 * ONE_FRAME / 2), || 0, || 0);
            clock.trim_micros()
        };
        assert_eq!((trim(20), trim(21), trim(20)), (1_302, 781, 1_302), "1.5 / 32 + 0.5 / 16, and 1.5 / 32");
    }

    #[test]
    fn lateness_within_a_frame_does_not_add_up() {
        let mut clock = FrameClock::new(Time::ZERO, RATE);
        for frame in 0..100 {
            clock.stepped(at(FRAME * frame + Span::from_millis(9)), None, || 0, || 0);
        }
        assert_eq!(clock.due(), at(FRAME * 100));
    }

    #[test]
    fn ten_million_frames_are_due_at_their_exact_times() {
        for rate in [
            FrameRate::ratio(39_375_000, 655_171),
            FrameRate::ratio(4_194_304, 70_224),
            FrameRate::ratio(u32::MAX, u32::MAX / 60),
            FrameRate::hz(60),
        ] {
            let mut clock = FrameClock::new(at(Span::from_secs(7)), rate);
            for frame in 1..=10_000_000 {
                let due = clock.due();
                // Late by up to 8 ms, as a loop is.
                clock.stepped(due + Span::from_micros(frame % 8_000), None, || 0, || 0);
                let exact = Span::from(rate.time_of(frame as u32));
                if frame % 999_983 < 3 || frame == 10_000_000 {
                    assert_eq!(clock.due(), at(Span::from_secs(7)) + exact, "frame {frame} at {rate}");
                }
            }
        }
    }

    #[test]
    fn trims_are_added_to_the_exact_rate() {
        let rate = FrameRate::ratio(39_375_000, 655_171);
        let (mut clock, mut trims) = (FrameClock::new(Time::ZERO, rate), 0);
        for frame in 1..=100_000 {
            let (due, lead) = (clock.due(), (frame % 7 - 3) * ONE_FRAME);
            clock.stepped(due, Some(lead / 8), || 0, || 0);
            trims += clock.trim_nanos;
        }
        assert_eq!(clock.due(), at(rate.time_of(100_000).into()).shifted(trims));
    }

    #[test]
    fn frames_missed_are_dropped_if_the_peer_is_not_ahead() {
        let mut clock = FrameClock::new(Time::ZERO, RATE);
        let late = at(Span::from_secs(10));
        clock.stepped(late, None, || 0, || 0);
        assert_eq!(clock.due(), late + FRAME);
        let later = at(Span::from_secs(20));
        clock.stalled(later);
        assert_eq!(clock.due(), later + FRAME);
    }

    #[test]
    fn phase_runs_from_0_to_1() {
        let clock = FrameClock::new(at(FRAME), RATE);
        assert_eq!(clock.phase(Time::ZERO).to_bits(), 0.0_f32.to_bits());
        assert!((clock.phase(at(FRAME / 2)) - 0.5).abs() < 0.001);
        assert_eq!(clock.phase(at(FRAME * 3)).to_bits(), 1.0_f32.to_bits());
    }

    /// Steps 36,000 frames with the same lead, and answers the length of the last 3,000 in thousandths.
    fn long_run_permille(lead: i32, justified: i64) -> u64 {
        let mut clock = FrameClock::new(Time::ZERO, RATE);
        let mut from = Time::ZERO;
        for frame in 0..36_000 {
            if frame == 33_000 {
                from = clock.due();
            }
            let due = clock.due();
            clock.stepped(due, Some(lead), || justified, || 0);
        }
        clock.due().since(from).nanos() / (FRAME.nanos() * 3)
    }

    #[test]
    fn lead_that_is_only_claimed_does_not_set_the_speed() {
        assert_eq!(long_run_permille(8 * ONE_FRAME, 0), 1_004, "a 202nd slower at most");
        assert!((994..=995).contains(&long_run_permille(-8 * ONE_FRAME, 9_000_000)), "and never faster");
        assert_eq!(long_run_permille(8 * ONE_FRAME, 1_000_000), 1_059, "as slow as the frames that arrive");
        assert_eq!(long_run_permille(8 * ONE_FRAME, 9_000_000), 1_119, "within the bound of every trim");
    }

    #[test]
    fn real_lead_is_corrected_at_once() {
        let mut clock = FrameClock::new(Time::ZERO, RATE);
        for _ in 0..60 {
            let due = clock.due();
            clock.stepped(due, Some(7 * ONE_FRAME), || 0, || 0);
            assert_eq!(clock.trim_micros(), 2_000);
        }
    }

    #[test]
    fn following_a_slower_peer_is_told_once_and_taken_back_once() {
        let mut clock = FrameClock::new(Time::ZERO, RATE);
        let mut told = Vec::new();
        for frame in 0..3_000 {
            let lead = if frame < 1_000 { 4 * ONE_FRAME } else { 0 };
            let due = clock.due();
            clock.stepped(due, Some(lead), || 2_000_000, || 0);
            told.extend(clock.rate_change().map(|change| (frame, change)));
        }
        let (slow, recovered) = (told[0], told[1]);
        assert_eq!((slow.1, told.len()), (RateChange::PeerSlow { rate_permille: 892 }, 2));
        assert_eq!(recovered.1, RateChange::PeerRecovered);
        assert!(recovered.0 >= 1_000 + FOLLOWING_AFTER_FRAMES - 1, "not at the first frame: {recovered:?}");
    }

    #[test]
    fn short_pause_is_not_made_up_for() {
        for frames in 2..10 {
            let mut clock = FrameClock::new(Time::ZERO, RATE);
            let late = at(FRAME * frames);
            clock.stepped(late, None, || 0, || 0);
            assert_eq!(clock.due(), late + FRAME, "{frames} frames late");
        }
    }

    #[test]
    fn absence_is_made_up_for_as_far_as_the_peer_is_ahead() {
        // After an absence of four and a half frames, of a peer that is ahead by so many.
        for (ahead, at_once) in [(0, 0), (2, 2), (5, 4), (60, 4)] {
            let mut clock = FrameClock::new(Time::ZERO, RATE);
            let now = at(FRAME * 9 / 2);
            clock.stepped(now, None, || 0, || ahead);
            let mut made_up = 0;
            while clock.is_due(now) {
                made_up += 1;
                clock.stepped(now, None, || 0, || ahead.saturating_sub(made_up));
            }
            assert_eq!(made_up, at_once, "{ahead} frames ahead");
            let next = if ahead < 5 { now + FRAME } else { at(FRAME * 5) };
            assert_eq!(clock.due(), next, "never before the agreed time");
        }
    }

    #[test]
    fn stalled_frame_is_due_when_its_input_comes_and_never_later() {
        let mut clock = FrameClock::new(Time::ZERO, RATE);
        clock.stalled(Time::ZERO);
        let arrival = at(FRAME / 3);
        clock.hurry(arrival);
        assert!(clock.is_due(arrival));
        clock.hurry(at(FRAME / 2));
        assert_eq!(clock.due(), arrival, "a second packet does not put it off");
        clock.stepped(arrival, None, || 0, || 0);
        assert_eq!(clock.due(), arrival + FRAME, "the frames after it keep their distance");
    }

    #[test]
    fn stalled_frame_is_not_trimmed() {
        let mut clock = FrameClock::new(Time::ZERO, RATE);
        clock.stepped(Time::ZERO, Some(7 * ONE_FRAME), || 0, || 0);
        assert_eq!(clock.trim_micros(), 2_000);
        let due = clock.due();
        clock.stalled(due);
        assert_eq!(
            (clock.due(), clock.trim_micros()),
            (due + FRAME, 0),
            "the lead of before the stall is stale"
        );
    }
}
