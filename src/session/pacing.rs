//! When the next frame is due: both machines onto one clock.

use crate::math::Fx;
use core::time::Duration;

/// No frame is longer or shorter by more than this: less than a player can see.
const MOST_TRIM_NANOS: i64 = 2_000_000;

/// Paces frames by the frame lead. Both sides do the same, so that neither carries the whole correction.
///
/// Counts nanoseconds in one word: it runs every frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pacing {
    frame_nanos: u64,
    due_nanos: u64,
    trim_nanos: i64,
}

impl Pacing {
    pub(crate) fn new(first_due: Duration, frame: Duration) -> Self {
        Self { frame_nanos: nanos(frame), due_nanos: nanos(first_due), trim_nanos: 0 }
    }

    /// When the next frame is due.
    #[inline]
    pub(crate) fn due(&self) -> Duration {
        Duration::from_nanos(self.due_nanos)
    }

    /// Whether the next frame is due.
    #[inline]
    pub(crate) fn is_due(&self, now: Duration) -> bool {
        nanos(now) >= self.due_nanos
    }

    /// A frame was stepped at `now`.
    #[inline]
    pub(crate) fn stepped(&mut self, now: Duration, lead: Option<Fx>) {
        self.trim_nanos = lead.map_or(0, |lead| trim(self.frame_nanos, lead));
        self.move_on(now);
    }

    /// A frame was stalled at `now`.
    pub(crate) fn stalled(&mut self, now: Duration) {
        self.trim_nanos = 0;
        self.move_on(now);
    }

    #[inline]
    fn move_on(&mut self, now: Duration) {
        // From due and not from now, so that no lateness adds up; but a machine that was away makes nothing up.
        let now = nanos(now);
        if now > self.due_nanos + self.frame_nanos {
            self.due_nanos = now;
        }
        self.due_nanos = (self.due_nanos + self.frame_nanos).saturating_add_signed(self.trim_nanos);
    }

    /// What a stalled frame waited for is here: it is due at once.
    pub(crate) fn hurry(&mut self, now: Duration) {
        self.due_nanos = self.due_nanos.min(nanos(now));
    }

    /// By how much the last frame was made longer.
    pub(crate) fn trim_micros(&self) -> i32 {
        (self.trim_nanos / 1_000) as i32
    }

    /// How far the time between the last frame and the next has gone at `now`, from 0 to 1.
    pub(crate) fn phase(&self, now: Duration) -> f32 {
        let left = self.due_nanos.saturating_sub(nanos(now)) as f32 / self.frame_nanos as f32;
        (1.0 - left).clamp(0.0, 1.0)
    }
}

/// `frame * (lead / 32 + beyond(lead, 1) / 16)`, where `beyond` is the part of the lead outside one frame.
///
/// Gentle within a frame, where jitter lives; three times as strong beyond it. A tenth of the error, as one would
/// think of first, oscillates at round trips of 200 ms.
#[inline]
fn trim(frame_nanos: u64, lead: Fx) -> i64 {
    let lead = i64::from(lead.to_bits());
    let one = i64::from(Fx::ONE.to_bits());
    let beyond = lead - lead.clamp(-one, one);
    (frame_nanos as i64 * (lead + 2 * beyond) / (32 * one)).clamp(-MOST_TRIM_NANOS, MOST_TRIM_NANOS)
}

/// 584 years fit.
#[inline]
fn nanos(time: Duration) -> u64 {
    time.as_nanos() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Duration = Duration::from_nanos(16_666_667);

    #[test]
    fn the_trim_is_gentle_within_a_frame_and_bounded_beyond() {
        assert_eq!(trim(nanos(FRAME), Fx::ZERO), 0);
        assert_eq!(trim(nanos(FRAME), Fx::ONE), 16_666_667 / 32);
        assert_eq!(trim(nanos(FRAME), -Fx::ONE), -16_666_667 / 32);
        assert_eq!(trim(nanos(FRAME), Fx::lit("1.5")), 16_666_667 * 5 / 64, "1.5 / 32 + 0.5 / 16");
        assert_eq!(trim(nanos(FRAME), Fx::lit("100")), 2_000_000);
        assert_eq!(trim(nanos(FRAME), Fx::MIN), -2_000_000);
    }

    #[test]
    fn lateness_within_a_frame_does_not_add_up() {
        let mut pacing = Pacing::new(Duration::ZERO, FRAME);
        for frame in 0..100 {
            pacing.stepped(FRAME * frame + Duration::from_millis(9), None);
        }
        assert_eq!(pacing.due(), FRAME * 100);
    }

    #[test]
    fn nothing_is_made_up_after_a_pause() {
        let mut pacing = Pacing::new(Duration::ZERO, FRAME);
        let late = Duration::from_secs(10);
        pacing.stepped(late, None);
        assert_eq!(pacing.due(), late + FRAME);
        let later = Duration::from_secs(20);
        pacing.stalled(later);
        assert_eq!(pacing.due(), later + FRAME);
    }

    #[test]
    fn the_phase_runs_from_0_to_1() {
        let pacing = Pacing::new(FRAME, FRAME);
        assert_eq!(pacing.phase(Duration::ZERO).to_bits(), 0.0_f32.to_bits());
        assert!((pacing.phase(FRAME / 2) - 0.5).abs() < 0.001);
        assert_eq!(pacing.phase(FRAME * 3).to_bits(), 1.0_f32.to_bits());
    }
}
