//! The steps of the own player, and how many of their inputs are still to be sent.

use super::pace::Pace;
use crate::Frame;
use crate::authority::numbering::FrameTime;

/// Steps on a pace, once it has begun.
#[derive(Clone, Debug)]
pub(crate) struct Steps {
    frame_rate: u16,
    pace: Option<Pace>,
    inputs_due: u32,
}

impl Steps {
    pub(super) fn new(frame_rate: u16) -> Self {
        Self { frame_rate, pace: None, inputs_due: 0 }
    }

    pub(super) fn set_rate(&mut self, frame_rate: u16) {
        self.frame_rate = frame_rate;
    }

    pub(super) fn frame_rate(&self) -> u16 {
        self.frame_rate
    }

    pub(super) fn have_begun(&self) -> bool {
        self.pace.is_some()
    }

    /// Begins at `target`; returns the frame before the first step.
    pub(super) fn begin(&mut self, now: i64, target: i64, frame_nanos: i64) -> Frame {
        self.pace.insert(Pace::begin(now, target, frame_nanos)).step()
    }

    /// Takes the steps that are due, and returns their number.
    pub(super) fn take(&mut self, now: i64, target: i64, mut step: impl FnMut(Frame)) -> u32 {
        let Some(pace) = &mut self.pace else { return 0 };
        let count = pace.advance(now, target);
        (0..count).for_each(|_| step(pace.take_step()));
        self.inputs_due += count;
        count
    }

    /// The number of steps whose inputs are to be sent.
    pub(super) fn inputs_due(&mut self) -> &mut u32 {
        &mut self.inputs_due
    }

    /// The last step.
    pub(super) fn frame(&self) -> Option<Frame> {
        self.pace.as_ref().map(Pace::step)
    }

    /// The simulated time in frames.
    pub(super) fn simulated_frame(&self) -> Option<FrameTime> {
        self.pace.as_ref().map(Pace::simulated_frame)
    }

    /// How far the simulated time is from the last step to the next, 0 to 1.
    pub(super) fn between(&self) -> f32 {
        self.pace.as_ref().map_or(1.0, Pace::between_steps)
    }

    /// Our own time at which the next step is due; `None` before the first.
    pub(super) fn next_at(&self) -> Option<u64> {
        self.pace.as_ref().map(|pace| u64::try_from(pace.next_at()).unwrap_or(0))
    }
}
