//! The frame clock: when the next frame is due, so that both machines keep one pace.

use crate::math::Fx;
use crate::time::{Span, Time};

/// No frame is longer or shorter by more than this: less than a player can see.
const MAX_TRIM_NANOS: i64 = 2_000_000;

/// Paces frames by the frame lead. Both sides do the same, so that neither carries the whole correction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pacing {
    frame_length: Span,
    due: Time,
    trim_nanos: i64,
}

impl Pacing {
    pub(super) fn new(first_due: Time, frame_length: Span) -> Self {
        Self { frame_length, due: first_due, trim_nanos: 0 }
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
    #[inline]
    pub(super) fn stepped(&mut self, now: Time, lead: Option<Fx>) {
        self.trim_nanos = lead.map_or(0, |lead| trim(self.frame_length, lead));
        self.move_on(now);
    }

    /// A frame was stalled at `now`: it is due again a frame later, untrimmed.
    pub(super) fn stalled(&mut self, now: Time) {
        self.trim_nanos = 0;
        self.move_on(now);
    }

    #[inline]
    fn move_on(&mut self, now: Time) {
        // Counted from when the frame was due and not from now, so that lateness does not add up. A machine that was
        // away for longer than a frame makes nothing up.
        if now > self.due + self.frame_length {
            self.due = now;
        }
        self.due = (self.due + self.frame_length).shifted(self.trim_nanos);
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

/// `frame_length * (lead / 32 + beyond(lead, 1) / 16)`, where `beyond` is the part of the lead outside one frame.
///
/// Gentle within a frame, where jitter lives; three times as strong beyond it. The obvious tenth of the error
/// oscillates at round trips of 200 ms.
#[inline]
fn trim(frame_length: Span, lead: Fx) -> i64 {
    let lead = i64::from(lead.to_bits());
    let one = i64::from(Fx::ONE.to_bits());
    let beyond = lead - lead.clamp(-one, one);
    (frame_length.nanos() as i64 * (lead + 2 * beyond) / (32 * one)).clamp(-MAX_TRIM_NANOS, MAX_TRIM_NANOS)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Span = Span::from_micros(16_667);

    fn at(span: Span) -> Time {
        Time::ZERO + span
    }

    #[test]
    fn the_trim_is_gentle_within_a_frame_and_bounded_beyond() {
        assert_eq!(trim(FRAME, Fx::ZERO), 0);
        assert_eq!(trim(FRAME, Fx::ONE), 16_667_000 / 32);
        assert_eq!(trim(FRAME, -Fx::ONE), -16_667_000 / 32);
        assert_eq!(trim(FRAME, Fx::lit("1.5")), 16_667_000 * 5 / 64, "1.5 / 32 + 0.5 / 16");
        assert_eq!(trim(FRAME, Fx::lit("100")), 2_000_000);
        assert_eq!(trim(FRAME, Fx::MIN), -2_000_000);
    }

    #[test]
    fn lateness_within_a_frame_does_not_add_up() {
        let mut pacing = Pacing::new(Time::ZERO, FRAME);
        for frame in 0..100 {
            pacing.stepped(at(FRAME * frame + Span::from_millis(9)), None);
        }
        assert_eq!(pacing.due(), at(FRAME * 100));
    }

    #[test]
    fn nothing_is_made_up_after_a_pause() {
        let mut pacing = Pacing::new(Time::ZERO, FRAME);
        let late = at(Span::from_secs(10));
        pacing.stepped(late, None);
        assert_eq!(pacing.due(), late + FRAME);
        let later = at(Span::from_secs(20));
        pacing.stalled(later);
        assert_eq!(pacing.due(), later + FRAME);
    }

    #[test]
    fn the_phase_runs_from_0_to_1() {
        let pacing = Pacing::new(at(FRAME), FRAME);
        assert_eq!(pacing.phase(Time::ZERO).to_bits(), 0.0_f32.to_bits());
        assert!((pacing.phase(at(FRAME / 2)) - 0.5).abs() < 0.001);
        assert_eq!(pacing.phase(at(FRAME * 3)).to_bits(), 1.0_f32.to_bits());
    }
}
