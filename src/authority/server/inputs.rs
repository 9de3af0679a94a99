//! The inputs of a seat: one is applied in each frame, and a missing one is held.

use crate::Frame;
use crate::authority::dialect::NumberedInput;
use crate::authority::world::Command;
use crate::protocol::time::{Span, Time};
use core::fmt::Debug;

/// Counts of the frames with and without an input of their own, and of dropped inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct InputStats {
    /// Frames in which an input was applied.
    pub applied: u64,
    /// Frames in which the last input was held, because the one that was asked for was not here.
    pub held: u64,
    /// Frames that were neutral, because there was none for too long.
    pub neutral: u64,
    /// Inputs that came after their frame, or that were applied before: redundancy, mostly.
    pub known_or_late: u64,
    /// Inputs that were refused because they are too far ahead.
    pub far_ahead: u64,
}

/// The inputs of one client that wait for their frame, as its wire numbers them. Their memory is taken once.
pub(crate) trait InputQueue: Debug {
    /// A queue without inputs, at a server whose frames are this long.
    fn empty(frame_span: Span) -> Self;

    /// Forgets everything, for another client in the same seat.
    fn clear(&mut self);

    /// Takes in the inputs of a packet; `frame` is the one that was stepped last.
    fn hear(&mut self, now: Time, frame: Frame, inputs: &[NumberedInput]);

    /// From `first` on inputs are numbered by the frame that they ask for.
    fn number_by_frames(&mut self, _first: u32) {}

    /// Notes a packet without an input.
    fn pass(&mut self, _number: u32) {}

    /// The command of this frame, limited in length: the input that asks for it, the last one held, or none.
    fn take(&mut self, frame: Frame, hold_frames: u16) -> Command;

    /// The number of the input that was applied last.
    fn applied(&self) -> u32;

    fn stats(&self) -> InputStats;
}

/// The input that was applied last, which is held while the next one is missing; and the counts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Held {
    last: Command,
    missing: u16,
    stats: InputStats,
}

impl Held {
    /// The command of a frame for which this input is here.
    pub(super) fn apply(&mut self, input: Option<Command>, hold_frames: u16) -> Command {
        if let Some(command) = input {
            (self.last, self.missing) = (command.limited(), 0);
            self.stats.applied += 1;
            return self.last;
        }
        if self.stats.applied == 0 {
            return Command::NEUTRAL;
        }
        self.missing = self.missing.saturating_add(1);
        if self.missing <= hold_frames {
            self.stats.held += 1;
            self.last
        } else {
            self.stats.neutral += 1;
            Command::NEUTRAL
        }
    }

    pub(super) fn count_late(&mut self) {
        self.stats.known_or_late += 1;
    }

    pub(super) fn count_far_ahead(&mut self) {
        self.stats.far_ahead += 1;
    }

    pub(super) fn stats(&self) -> InputStats {
        self.stats
    }
}
