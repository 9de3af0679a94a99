//! The work that an autopsy may do in one `advance`, so that the match goes on meanwhile.

use crate::protocol::time::Span;
use core::time::Duration;

/// The most steps of an autopsy in one `advance`, if they are not measured. At 60 Hz the longest autopsy, of 600 frames, then
/// takes eight seconds.
const MAX_STEPS: u32 = 3;

/// The part of a frame's time in which an autopsy works, if that is measured: the frame itself needs the rest.
const PART_OF_FRAME: u32 = 4;

/// The bytes that are hashed, and the leaves that are looked at, in the place of a step. Both take less than a millisecond.
pub(super) const BYTES_A_STEP: usize = 256 * 1_024;
pub(super) const LEAVES_A_STEP: usize = 16 * 1_024;

/// The steps that an autopsy may still make in this `advance`, or other work of the same length.
pub(crate) struct Budget {
    steps: u32,
    /// The clock by which steps are measured, and when on it their time is up. The first step is made in any case.
    clock: Option<(fn() -> Duration, Duration)>,
    is_begun: bool,
}

impl Budget {
    pub(crate) fn of_one_advance(stopwatch: Option<fn() -> Duration>, frame_length: Span) -> Self {
        let time = Duration::from(frame_length / PART_OF_FRAME);
        let clock = stopwatch.map(|clock| (clock, clock().saturating_add(time)));
        Self { steps: if clock.is_some() { u32::MAX } else { MAX_STEPS }, clock, is_begun: false }
    }

    /// Takes one step, if there is one left.
    pub(crate) fn take(&mut self) -> bool {
        let is_left = self.steps > 0 && !self.is_late();
        self.steps -= u32::from(is_left);
        self.is_begun = true;
        is_left
    }

    /// The bytes that may be hashed in the place of a step, if there is one left.
    pub(super) fn bytes(&mut self) -> Option<usize> {
        self.take().then_some(BYTES_A_STEP)
    }

    /// The leaves that may be looked at in the place of a step, if there is one left.
    pub(super) fn leaves(&mut self) -> Option<usize> {
        self.take().then_some(LEAVES_A_STEP)
    }

    fn is_late(&self) -> bool {
        self.is_begun && self.clock.is_some_and(|(clock, until)| clock() >= until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::Cell;

    /// How many steps there are in one `advance` of a frame of 16 ms.
    fn steps(stopwatch: Option<fn() -> Duration>) -> usize {
        let mut budget = Budget::of_one_advance(stopwatch, Span::from_millis(16));
        (0..1_000).take_while(|_| budget.take()).count()
    }

    std::thread_local! {
        static CLOCK: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    }

    /// A clock on which as many microseconds pass from one look to the next.
    fn clock<const MICROS: u64>() -> Duration {
        CLOCK.set(CLOCK.get() + Duration::from_micros(MICROS));
        CLOCK.get()
    }

    #[test]
    fn steps_of_one_advance_take_a_quarter_of_a_frame() {
        assert_eq!(steps(None), 3, "not measured");
        assert_eq!(steps(Some(clock::<1_000>)), 4);
        assert_eq!(steps(Some(clock::<100>)), 40);
        assert_eq!(steps(Some(clock::<50_000>)), 1, "there is always one");
    }
}
