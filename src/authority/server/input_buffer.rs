//! Inputs with numbers of their own: the frame that each asks for, or a plain count.

use super::inputs::{Held, InputQueue, InputStats};
use crate::Frame;
use crate::authority::dialect::NumberedInput;
use crate::authority::{Command, ahead};
use crate::protocol::time::{Span, Time};

/// The size of the buffer, in inputs.
const KEPT: i32 = 128;

/// The queue of counted inputs starts once it holds this many.
const BEGUN_BY: usize = 2;

/// The inputs of one client, tagged by number. Each is applied at most once, however many copies come.
#[derive(Clone, Debug)]
pub(crate) struct InputBuffer {
    slots: [Option<(u32, Command)>; KEPT as usize],
    /// The number from which on numbers are the frames that they ask for. Before they are a plain count: a queue.
    numbered_from: Option<u32>,
    /// The newest number that is here, and the frame in which it came.
    newest: Option<u32>,
    newest_in: Frame,
    /// The number that was applied last.
    applied: u32,
    begun: bool,
    held: Held,
}

impl InputBuffer {
    fn new() -> Self {
        Self {
            slots: [None; KEPT as usize],
            numbered_from: None,
            newest: None,
            newest_in: Frame::ZERO,
            applied: 0,
            begun: false,
            held: Held::default(),
        }
    }

    fn insert_for_frame(&mut self, frame: Frame, number: u32, command: Command) {
        match ahead(number, frame.0) {
            ..=0 => self.held.count_late(),
            1..KEPT => self.put(number, command),
            _ => self.held.count_far_ahead(),
        }
    }

    fn insert_counted(&mut self, frame: Frame, number: u32, command: Command) {
        let Some(newest) = self.newest else {
            self.applied = number.wrapping_sub(1);
            (self.newest, self.newest_in) = (Some(number), frame);
            self.put(number, command);
            return;
        };
        // A client counts one a frame; twice that is already generous. A number from nowhere must not outrun the honest ones.
        let passed = i64::from(ahead(frame.0, self.newest_in.0).max(0));
        if i64::from(ahead(number, newest)) > i64::from(KEPT) + 2 * passed {
            self.held.count_far_ahead();
            return;
        }
        if ahead(number, self.applied) <= 0 {
            self.held.count_late();
            return;
        }
        if ahead(number, newest) > 0 {
            (self.newest, self.newest_in) = (Some(number), frame);
            // The oldest give way, so that at most 128 wait.
            if ahead(number, self.applied) > KEPT {
                self.applied = number.wrapping_sub(KEPT.unsigned_abs());
            }
        }
        self.put(number, command);
    }

    fn slot(&mut self, number: u32) -> &mut Option<(u32, Command)> {
        &mut self.slots[number as usize % KEPT as usize]
    }

    fn put(&mut self, number: u32, command: Command) {
        let slot = self.slot(number);
        if slot.is_some_and(|(known, _)| known == number) {
            self.held.count_late();
        } else {
            *slot = Some((number, command));
        }
    }

    fn take_slot(&mut self, number: u32) -> Option<Command> {
        self.slot(number).take_if(|(known, _)| *known == number).map(|(_, command)| command)
    }

    /// The number of the input for this frame, and the input.
    fn due(&mut self, frame: Frame) -> Option<(u32, Command)> {
        if self.numbered_from.is_some() {
            return self.take_slot(frame.0).map(|command| (frame.0, command));
        }
        // At most 128 numbers lie between; lost ones are passed over.
        let (applied, newest) = (self.applied, self.newest?);
        let mut waiting = (1..=ahead(newest, applied)).map(|n| applied.wrapping_add_signed(n));
        if !self.begun {
            let is_here = |number: &u32| self.slot(*number).is_some_and(|(known, _)| known == *number);
            self.begun = waiting.clone().filter(is_here).count() >= BEGUN_BY;
        }
        if !self.begun {
            return None;
        }
        waiting.find_map(|number| self.take_slot(number).map(|command| (number, command)))
    }
}

impl InputQueue for InputBuffer {
    fn empty(_: Span) -> Self {
        Self::new()
    }

    fn clear(&mut self) {
        *self = Self::new();
    }

    fn hear(&mut self, _: Time, frame: Frame, inputs: &[NumberedInput]) {
        for (number, command) in inputs {
            match self.numbered_from {
                Some(first) if ahead(*number, first) < 0 => self.held.count_late(),
                Some(_) => self.insert_for_frame(frame, *number, *command),
                None => self.insert_counted(frame, *number, *command),
            }
        }
    }

    fn number_by_frames(&mut self, first: u32) {
        if self.numbered_from.is_none() {
            *self = Self { numbered_from: Some(first), begun: true, held: self.held, ..Self::new() };
        }
    }

    fn take(&mut self, frame: Frame, hold_frames: u16) -> Command {
        let due = self.due(frame);
        self.applied = due.map_or(self.applied, |(number, _)| number);
        self.held.apply(due.map(|(_, command)| command), hold_frames)
    }

    fn applied(&self) -> u32 {
        if self.stats().applied == 0 { 0 } else { self.applied }
    }

    fn stats(&self) -> InputStats {
        self.held.stats()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(n: u32) -> Command {
        Command { x: 0.0, y: 0.0, actions: n as u8 }
    }

    fn inputs(numbers: impl IntoIterator<Item = u32>) -> Vec<NumberedInput> {
        numbers.into_iter().map(|n| (n, command(n))).collect()
    }

    /// The inputs applied in the next `frames` frames, as numbers; 0 is neutral.
    fn applied(buffer: &mut InputBuffer, from: u32, frames: u32) -> Vec<u8> {
        (from..from + frames).map(|frame| buffer.take(Frame(frame), 30).actions).collect()
    }

    #[test]
    fn counted_inputs_are_queued_and_applied_once() {
        let mut buffer = InputBuffer::new();
        buffer.hear(Time::ZERO, Frame(0), &inputs([1]));
        assert_eq!(applied(&mut buffer, 1, 2), [0, 0], "one alone does not begin");
        buffer.hear(Time::ZERO, Frame(2), &inputs([1, 2]));
        buffer.hear(Time::ZERO, Frame(2), &inputs([1, 2, 3]));
        buffer.hear(Time::ZERO, Frame(2), &inputs([1, 2, 3]));
        assert_eq!(applied(&mut buffer, 3, 5), [1, 2, 3, 3, 3], "then the last is held");
        buffer.hear(Time::ZERO, Frame(7), &inputs([1, 2, 3]));
        assert_eq!(applied(&mut buffer, 8, 1), [3], "a late copy is not applied again");
        buffer.hear(Time::ZERO, Frame(8), &inputs([6, 7]));
        assert_eq!(applied(&mut buffer, 9, 3), [6, 7, 7], "lost ones are passed over");
        assert_eq!((buffer.applied(), buffer.stats().known_or_late), (7, 6 + 3), "copies are counted");
    }

    #[test]
    fn nothing_is_applied_or_held_before_the_queue_begins() {
        let mut buffer = InputBuffer::new();
        buffer.hear(Time::ZERO, Frame(0), &inputs([5]));
        assert_eq!(applied(&mut buffer, 1, 40), [0; 40]);
        assert_eq!((buffer.applied(), buffer.stats()), (0, InputStats::default()));
    }

    #[test]
    fn inputs_from_before_the_first_received_are_late() {
        let mut buffer = InputBuffer::new();
        buffer.hear(Time::ZERO, Frame(0), &inputs([10]));
        buffer.hear(Time::ZERO, Frame(0), &inputs([9, 11]));
        assert_eq!(applied(&mut buffer, 1, 2), [10, 11]);
        assert_eq!(buffer.stats().known_or_late, 1);
    }

    #[test]
    fn first_copy_of_an_input_counts() {
        let mut buffer = InputBuffer::new();
        buffer.hear(Time::ZERO, Frame(0), &inputs([1, 2]));
        buffer.hear(Time::ZERO, Frame(0), &[(2, command(9))]);
        assert_eq!(applied(&mut buffer, 1, 2), [1, 2]);
    }

    #[test]
    fn input_that_gave_way_does_not_replace_a_newer_one() {
        let mut buffer = InputBuffer::new();
        buffer.hear(Time::ZERO, Frame(0), &inputs(1..=200));
        buffer.hear(Time::ZERO, Frame(0), &inputs([200 - KEPT as u32]));
        assert_eq!(buffer.stats().known_or_late, 1);
        let expected: Vec<u8> = (73..=200).collect();
        assert_eq!(applied(&mut buffer, 1, 128), expected);
    }

    #[test]
    fn last_command_is_held_when_numbering_changes() {
        let mut buffer = InputBuffer::new();
        buffer.hear(Time::ZERO, Frame(0), &inputs([1, 2]));
        assert_eq!(applied(&mut buffer, 1, 2), [1, 2]);
        buffer.number_by_frames(5);
        assert_eq!(applied(&mut buffer, 3, 2), [2, 2], "until the first input that names its frame");
        assert_eq!((buffer.stats().applied, buffer.stats().held), (2, 2));
        buffer.hear(Time::ZERO, Frame(4), &inputs([5, 6]));
        buffer.number_by_frames(9);
        assert_eq!(applied(&mut buffer, 5, 2), [5, 6], "only the first change counts");
    }

    #[test]
    fn frames_without_an_input_are_counted_anew_after_each_input() {
        let mut buffer = InputBuffer::new();
        buffer.number_by_frames(1);
        buffer.hear(Time::ZERO, Frame(0), &inputs([1, 22]));
        applied(&mut buffer, 1, 42);
        assert_eq!((buffer.stats().held, buffer.stats().neutral), (40, 0));
    }

    #[test]
    fn surplus_inputs_give_no_speed_and_at_most_128_wait() {
        let mut buffer = InputBuffer::new();
        for first in (1..1_000).step_by(100) {
            buffer.hear(Time::ZERO, Frame(first), &inputs(first..first + 100));
        }
        let applied = applied(&mut buffer, 1_000, 200);
        assert_eq!(buffer.stats().applied, 128);
        assert_eq!(applied[..3], [command(873).actions, command(874).actions, command(875).actions]);
    }

    #[test]
    fn numbered_input_is_applied_in_its_frame_and_in_no_other() {
        let mut buffer = InputBuffer::new();
        buffer.number_by_frames(10);
        buffer.hear(Time::ZERO, Frame(10), &inputs([9, 10, 11, 13]));
        assert_eq!(applied(&mut buffer, 11, 3), [11, 11, 13], "frame 12 holds");
        buffer.hear(Time::ZERO, Frame(13), &inputs([12, 13]));
        assert_eq!(buffer.stats().known_or_late, 4);
        buffer.hear(Time::ZERO, Frame(13), &inputs([13 + 128, 60_000, u32::MAX]));
        assert_eq!((buffer.stats().far_ahead, buffer.stats().known_or_late), (2, 5));
        let mut buffer = InputBuffer::new();
        buffer.number_by_frames(15);
        buffer.hear(Time::ZERO, Frame(10), &inputs([14, 15]));
        assert_eq!(applied(&mut buffer, 14, 2), [0, 15], "14 was a count");
    }

    #[test]
    fn last_input_is_held_for_thirty_frames() {
        let mut buffer = InputBuffer::new();
        buffer.number_by_frames(1);
        buffer.hear(Time::ZERO, Frame(0), &inputs([1]));
        let applied = applied(&mut buffer, 1, 40);
        assert_eq!(applied.iter().filter(|actions| **actions == 1).count(), 31);
        assert_eq!(applied[31..], [0; 9]);
        assert_eq!((buffer.stats().held, buffer.stats().neutral), (30, 9));
    }

    #[test]
    fn number_from_nowhere_does_not_outrun_the_honest_ones() {
        let mut buffer = InputBuffer::new();
        buffer.hear(Time::ZERO, Frame(0), &inputs([1, 2]));
        buffer.hear(Time::ZERO, Frame(0), &inputs([1_000_000, 0x7FFF_FFFF]));
        buffer.hear(Time::ZERO, Frame(0), &inputs([3]));
        assert_eq!(applied(&mut buffer, 1, 3), [1, 2, 3]);
        assert_eq!(buffer.stats().far_ahead, 2);
    }

    #[test]
    fn count_may_jump_by_128_and_by_two_for_each_frame() {
        // Numbers with their frames, then the frame of the jump. The frames count from the newest input.
        type Case<'a> = (&'a [(u32, u32)], u32, u32);
        let cases: [Case<'_>; 5] = [
            (&[(0, 1), (0, 2)], 0, 130),
            (&[(0, 1), (0, 2)], 10, 150),
            (&[(7, 2)], 7, 130),
            (&[(0, 1), (7, 2)], 10, 136),
            (&[(0, 2), (7, 1)], 10, 150),
        ];
        for (came, frame, limit) in cases {
            for (number, far) in [(limit, 0), (limit + 1, 1)] {
                let mut buffer = InputBuffer::new();
                came.iter()
                    .for_each(|(frame, number)| buffer.hear(Time::ZERO, Frame(*frame), &inputs([*number])));
                buffer.hear(Time::ZERO, Frame(frame), &inputs([number]));
                assert_eq!(buffer.stats().far_ahead, far, "{number} in frame {frame}");
            }
        }
    }

    #[test]
    fn counted_numbers_wrap() {
        let mut buffer = InputBuffer::new();
        buffer.hear(Time::ZERO, Frame(0), &inputs([u32::MAX - 1, u32::MAX, 0, 1]));
        assert_eq!(applied(&mut buffer, 1, 4), [254, 255, 0, 1]);
        assert_eq!((buffer.stats().applied, buffer.applied()), (4, 1));
    }

    #[test]
    fn queue_does_not_begin_with_one_that_outran_the_first() {
        let mut buffer = InputBuffer::new();
        buffer.hear(Time::ZERO, Frame(0), &inputs([1]));
        buffer.hear(Time::ZERO, Frame(0), &inputs([129]));
        assert_eq!(applied(&mut buffer, 1, 1), [0]);
        assert_eq!(buffer.stats().applied, 0, "1 gave way to 129");
        buffer.hear(Time::ZERO, Frame(1), &inputs([130]));
        assert_eq!(applied(&mut buffer, 2, 2), [129, 130]);
    }

    #[test]
    fn commands_are_applied_limited_in_length() {
        let mut buffer = InputBuffer::new();
        buffer.number_by_frames(1);
        buffer.hear(Time::ZERO, Frame(0), &[(1, Command { x: 1.0, y: 1.0, actions: 0 })]);
        for frame in 1..3 {
            let taken = buffer.take(Frame(frame), 30);
            assert!((taken.x.hypot(taken.y) - 1.0).abs() < 1e-6, "{taken:?} in frame {frame}");
        }
    }

    #[test]
    fn numbers_are_frames_across_the_wrap() {
        let mut buffer = InputBuffer::new();
        buffer.number_by_frames(1);
        buffer.hear(Time::ZERO, Frame(u32::MAX - 1), &inputs([0, 1]));
        let taken = [u32::MAX, 0, 1, 2].map(|frame| buffer.take(Frame(frame), 30).actions);
        assert_eq!(taken, [0, 0, 1, 1], "0 was a count");
        assert_eq!((buffer.applied(), buffer.stats().known_or_late), (1, 1));
    }
}
