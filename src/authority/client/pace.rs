//! When the client steps: a simulated time that is led towards its target.

use crate::Frame;
use crate::authority::numbering::FrameTime;

/// The error of the simulated time is corrected by a tenth a frame, and by at most 2 ms.
const SHARE: i64 = 10;
const MAX_NUDGE_NANOS: i64 = 2_000_000;

/// An error beyond this is jumped over.
const JUMP_NANOS: i64 = 250_000_000;

/// The most steps in one call.
const MAX_STEPS: u64 = 8;

/// The simulated time, and the steps that it has led to. The clock decides when a step happens and never which it is:
/// steps are numbered without a gap.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    frame_nanos: i64,
    simulated: i64,
    /// Our own time of the last call.
    at: i64,
    /// The whole number of the last step that was taken.
    step: u64,
}

impl Pace {
    /// Begins at `target`; the first step is the frame after it.
    pub(super) fn begin(now: i64, target: i64, frame_nanos: i64) -> Self {
        let step = u64::try_from(target / frame_nanos).unwrap_or(0);
        Self { frame_nanos, simulated: target, at: now, step }
    }

    /// Moves the simulated time to `now` and towards `target`. Returns how many steps are due, at most 8.
    pub(super) fn advance(&mut self, now: i64, target: i64) -> u32 {
        let passed = (now - self.at).max(0);
        self.at = now;
        self.simulated += passed;
        let error = target - self.simulated;
        if error.abs() > JUMP_NANOS {
            self.simulated = target;
        } else {
            // A call is a frame long, or a part of one on a faster screen.
            let part = passed.min(self.frame_nanos * MAX_STEPS as i64);
            let nudge = (error / SHARE).clamp(-MAX_NUDGE_NANOS, MAX_NUDGE_NANOS);
            self.simulated += nudge * part / self.frame_nanos;
        }
        let due = u64::try_from(self.simulated / self.frame_nanos).unwrap_or(0);
        due.saturating_sub(self.step).min(MAX_STEPS) as u32
    }

    /// Takes the next step, and returns its number.
    pub(super) fn take_step(&mut self) -> Frame {
        self.step += 1;
        self.step()
    }

    pub(super) fn step(&self) -> Frame {
        Frame(self.step as u32)
    }

    /// The simulated time in frames.
    pub(super) fn simulated_frame(&self) -> FrameTime {
        FrameTime::of_nanos(self.simulated, self.frame_nanos)
    }

    /// How far the simulated time is from the last step to the next, 0 to 1.
    pub(super) fn between_steps(&self) -> f32 {
        let past = self.simulated - self.step as i64 * self.frame_nanos;
        (past as f32 / self.frame_nanos as f32).clamp(0.0, 1.0)
    }

    /// Our own time at which the next step is due, unless the target moves.
    pub(super) fn next_at(&self) -> i64 {
        self.at + ((self.step as i64 + 1) * self.frame_nanos - self.simulated).max(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: i64 = 16_666_666;

    #[test]
    fn steps_have_no_gap_and_at_most_eight_come_at_once() {
        let mut pace = Pace::begin(0, 100 * FRAME, FRAME);
        assert_eq!(pace.step(), Frame(100));
        let mut steps = Vec::new();
        for (now, target) in [(FRAME, 101 * FRAME), (2 * FRAME, 140 * FRAME), (3 * FRAME, 141 * FRAME)] {
            let due = pace.advance(now, target);
            steps.push(due);
            (0..due).for_each(|_| {
                pace.take_step();
            });
        }
        assert_eq!(steps, [1, 8, 8], "the jump is worked off in order");
        assert_eq!(pace.step(), Frame(117));
    }

    #[test]
    fn small_error_is_worked_off_without_overshooting() {
        let mut pace = Pace::begin(0, 0, FRAME);
        let mut last = i64::MAX;
        for n in 1..200 {
            let now = n * FRAME;
            pace.advance(now, now + 30_000_000);
            let error = now + 30_000_000 - pace.simulated;
            assert!(error >= 0 && error <= last, "frame {n}: {error} after {last}");
            assert!(last == i64::MAX || last - error <= MAX_NUDGE_NANOS, "frame {n}");
            last = error;
        }
        assert!(last < 100_000, "{last} ns");
    }

    #[test]
    fn target_far_off_is_jumped_to_in_both_directions() {
        for away in [-20, 20] {
            let mut pace = Pace::begin(0, 100 * FRAME, FRAME);
            let target = (101 + away) * FRAME;
            pace.advance(FRAME, target);
            assert_eq!(pace.simulated, target);
        }
        let mut pace = Pace::begin(0, 100 * FRAME, FRAME);
        pace.advance(FRAME, 100 * FRAME);
        assert!((101 * FRAME - 2_000_000..101 * FRAME).contains(&pace.simulated), "a near one is led to");
    }

    #[test]
    fn error_is_corrected_for_at_most_eight_frames_of_a_pause() {
        let mut pace = Pace::begin(0, 0, FRAME);
        assert_eq!(pace.next_at(), FRAME);
        pace.advance(60 * FRAME, 60 * FRAME + 200_000_000);
        assert_eq!(pace.simulated, 60 * FRAME + 8 * MAX_NUDGE_NANOS);
    }

    #[test]
    fn part_of_a_step_is_counted_from_the_last_one() {
        let mut pace = Pace::begin(0, 100 * FRAME, FRAME);
        assert!(pace.between_steps().abs() < 1e-6);
        assert_eq!(pace.advance(FRAME / 2, 100 * FRAME + FRAME / 2), 0);
        assert!((pace.between_steps() - 0.5).abs() < 1e-3, "{}", pace.between_steps());
        assert_eq!(pace.next_at(), FRAME);
        assert_eq!(pace.advance(FRAME, 101 * FRAME), 1);
        assert!((pace.between_steps() - 1.0).abs() < 1e-3, "the step is due");
        assert_eq!(pace.next_at(), FRAME, "at once");
    }
}
