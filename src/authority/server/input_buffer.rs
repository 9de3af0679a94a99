//! The inputs of one client, of which one is applied in each frame.

use super::sequenced::Sequenced;
use crate::authority::dialect::NumberedInput;
use crate::authority::numbering::nearest;
use crate::authority::world::Command;
use crate::protocol::time::{Span, Time};

/// The size of the buffer, in inputs.
pub(crate) const KEPT: u64 = 128;

/// The queue of counted inputs starts once it holds this many.
const BEGUN_BY: usize = 2;

const EMPTY: u64 = u64::MAX;

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

/// The inputs of one client, tagged by number. Each is applied at most once, however many copies come.
#[derive(Clone, Debug)]
pub(super) struct InputBuffer {
    slots: [(u64, Command); KEPT as usize],
    /// The number from which on numbers are the frames that they ask for. Before they are a plain count: a queue.
    numbered_from: Option<u64>,
    /// The newest number that is here, and the frame in which it came.
    newest: Option<u64>,
    newest_in: u64,
    /// The number that was applied last.
    applied: u64,
    begun: bool,
    last: Command,
    missing: u16,
    stats: InputStats,
    /// The packets of a wire whose inputs have no numbers of their own.
    sequenced: Option<Box<Sequenced>>,
}

impl InputBuffer {
    /// The buffer of a wire whose inputs are numbered by their packets.
    pub(super) fn by_packets(frame_span: Span) -> Self {
        Self { sequenced: Some(Box::new(Sequenced::new(frame_span))), ..Self::new() }
    }

    /// Forgets everything, for another client in the same seat.
    pub(super) fn begin_anew(&mut self) {
        let mut sequenced = self.sequenced.take();
        sequenced.iter_mut().for_each(|sequenced| sequenced.begin_anew());
        *self = Self { sequenced, ..Self::new() };
    }

    pub(super) fn new() -> Self {
        Self {
            slots: [(EMPTY, Command::NEUTRAL); KEPT as usize],
            numbered_from: None,
            newest: None,
            newest_in: 0,
            applied: 0,
            begun: false,
            last: Command::NEUTRAL,
            missing: 0,
            stats: InputStats::default(),
            sequenced: None,
        }
    }

    /// Notes a packet without an input.
    pub(super) fn pass(&mut self, number: u32) {
        if let Some(sequenced) = &mut self.sequenced {
            sequenced.pass(number);
        }
    }

    /// From `first` on inputs are numbered by the frame that they ask for.
    pub(super) fn number_by_frames(&mut self, frame: u64, first: u32) {
        if self.numbered_from.is_none() {
            let (stats, last) = (self.stats, self.last);
            let numbered_from = Some(nearest(frame, first));
            *self = Self { numbered_from, begun: true, stats, last, ..Self::new() };
        }
    }

    /// Takes in an input that is numbered by its packet.
    pub(super) fn insert_by_packet(&mut self, now: Time, (number, command): NumberedInput) {
        if let Some(sequenced) = &mut self.sequenced {
            self.stats.known_or_late += u64::from(!sequenced.insert(now, number, command));
        }
    }

    /// Takes in the inputs of a packet; `frame` is the one that was stepped last.
    pub(super) fn insert(&mut self, frame: u64, inputs: &[NumberedInput]) {
        for (number, command) in inputs {
            match self.numbered_from {
                Some(first) => {
                    let past = frame.max(first.saturating_sub(1));
                    self.insert_for_frame(past, frame, *number, *command);
                }
                None => self.insert_counted(frame, *number, *command),
            }
        }
    }

    /// `past` is the last frame for which it is too late.
    fn insert_for_frame(&mut self, past: u64, frame: u64, number: u32, command: Command) {
        let number = nearest(frame, number);
        if number <= past {
            self.stats.known_or_late += 1;
        } else if number >= frame + KEPT {
            self.stats.far_ahead += 1;
        } else {
            self.put(number, command);
        }
    }

    fn insert_counted(&mut self, frame: u64, number: u32, command: Command) {
        let Some(newest) = self.newest else {
            let number = u64::from(number);
            self.applied = number.saturating_sub(1);
            (self.newest, self.newest_in) = (Some(number), frame);
            self.put(number, command);
            return;
        };
        let number = nearest(newest, number);
        // A client counts one a frame; twice that is already generous. A number from nowhere must not outrun the honest ones.
        if number > newest + KEPT + 2 * frame.saturating_sub(self.newest_in) {
            self.stats.far_ahead += 1;
            return;
        }
        if number <= self.applied {
            self.stats.known_or_late += 1;
            return;
        }
        if number > newest {
            (self.newest, self.newest_in) = (Some(number), frame);
            // The oldest give way, so that at most 128 wait.
            self.applied = self.applied.max(number.saturating_sub(KEPT));
        }
        self.put(number, command);
    }

    fn put(&mut self, number: u64, command: Command) {
        let slot = &mut self.slots[(number % KEPT) as usize];
        if slot.0 == number {
            self.stats.known_or_late += 1;
        } else {
            *slot = (number, command);
        }
    }

    fn take_slot(&mut self, number: u64) -> Option<Command> {
        let slot = &mut self.slots[(number % KEPT) as usize];
        (slot.0 == number).then(|| {
            slot.0 = EMPTY;
            slot.1
        })
    }

    /// The number of the input for this frame, and the input.
    fn due(&mut self, frame: u64) -> Option<(u64, Command)> {
        if let Some(sequenced) = &mut self.sequenced {
            return sequenced.take_next().map(|command| (frame, command));
        }
        if self.numbered_from.is_some() {
            return self.take_slot(frame).map(|command| (frame, command));
        }
        let (waiting, newest) = (self.applied + 1, self.newest?);
        if !self.begun {
            let here = (waiting..=newest).filter(|n| self.slots[(n % KEPT) as usize].0 == *n).count();
            self.begun = here >= BEGUN_BY;
        }
        if !self.begun {
            return None;
        }
        // At most 128 numbers lie between; lost ones are passed over.
        (waiting..=newest).find_map(|number| self.take_slot(number).map(|command| (number, command)))
    }

    /// The command of this frame, limited in length: the input that asks for it, the last one held, or none.
    pub(super) fn take(&mut self, frame: u64, hold_frames: u16) -> Command {
        if let Some((number, command)) = self.due(frame) {
            (self.applied, self.last, self.missing) = (number, command.limited(), 0);
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

    /// The number of the last input applied, as it was sent.
    pub(super) fn applied(&self) -> u32 {
        if self.stats.applied == 0 { 0 } else { self.applied as u32 }
    }

    pub(super) fn stats(&self) -> InputStats {
        self.stats
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
    fn applied(buffer: &mut InputBuffer, from: u64, frames: u64) -> Vec<u8> {
        (from..from + frames).map(|frame| buffer.take(frame, 30).actions).collect()
    }

    #[test]
    fn counted_inputs_are_queued_and_applied_once() {
        let mut buffer = InputBuffer::new();
        buffer.insert(0, &inputs([1]));
        assert_eq!(applied(&mut buffer, 1, 2), [0, 0], "one alone does not begin");
        buffer.insert(2, &inputs([1, 2]));
        buffer.insert(2, &inputs([1, 2, 3]));
        buffer.insert(2, &inputs([1, 2, 3]));
        assert_eq!(applied(&mut buffer, 3, 5), [1, 2, 3, 3, 3], "then the last is held");
        buffer.insert(7, &inputs([1, 2, 3]));
        assert_eq!(applied(&mut buffer, 8, 1), [3], "a late copy is not applied again");
        buffer.insert(8, &inputs([6, 7]));
        assert_eq!(applied(&mut buffer, 9, 3), [6, 7, 7], "lost ones are passed over");
        assert_eq!((buffer.applied(), buffer.stats().known_or_late), (7, 6 + 3), "copies are counted");
    }

    #[test]
    fn nothing_is_applied_or_held_before_the_queue_begins() {
        let mut buffer = InputBuffer::new();
        buffer.insert(0, &inputs([5]));
        assert_eq!(applied(&mut buffer, 1, 40), [0; 40]);
        assert_eq!((buffer.applied(), buffer.stats()), (0, InputStats::default()));
    }

    #[test]
    fn inputs_from_before_the_first_received_are_late() {
        let mut buffer = InputBuffer::new();
        buffer.insert(0, &inputs([10]));
        buffer.insert(0, &inputs([9, 11]));
        assert_eq!(applied(&mut buffer, 1, 2), [10, 11]);
        assert_eq!(buffer.stats().known_or_late, 1);
    }

    #[test]
    fn first_copy_of_an_input_counts() {
        let mut buffer = InputBuffer::new();
        buffer.insert(0, &inputs([1, 2]));
        buffer.insert(0, &[(2, command(9))]);
        assert_eq!(applied(&mut buffer, 1, 2), [1, 2]);
    }

    #[test]
    fn input_that_gave_way_does_not_replace_a_newer_one() {
        let mut buffer = InputBuffer::new();
        buffer.insert(0, &inputs(1..=200));
        buffer.insert(0, &inputs([200 - KEPT as u32]));
        assert_eq!(buffer.stats().known_or_late, 1);
        let expected: Vec<u8> = (73..=200).collect();
        assert_eq!(applied(&mut buffer, 1, 128), expected);
    }

    #[test]
    fn last_command_is_held_when_numbering_changes() {
        let mut buffer = InputBuffer::new();
        buffer.insert(0, &inputs([1, 2]));
        assert_eq!(applied(&mut buffer, 1, 2), [1, 2]);
        buffer.number_by_frames(2, 5);
        assert_eq!(applied(&mut buffer, 3, 2), [2, 2], "until the first input that names its frame");
        assert_eq!((buffer.stats().applied, buffer.stats().held), (2, 2));
        buffer.insert(4, &inputs([5, 6]));
        buffer.number_by_frames(4, 9);
        assert_eq!(applied(&mut buffer, 5, 2), [5, 6], "only the first change counts");
    }

    #[test]
    fn frames_without_an_input_are_counted_anew_after_each_input() {
        let mut buffer = InputBuffer::new();
        buffer.number_by_frames(0, 1);
        buffer.insert(0, &inputs([1, 22]));
        applied(&mut buffer, 1, 42);
        assert_eq!((buffer.stats().held, buffer.stats().neutral), (40, 0));
    }

    #[test]
    fn surplus_inputs_give_no_speed_and_at_most_128_wait() {
        let mut buffer = InputBuffer::new();
        for first in (1..1_000).step_by(100) {
            buffer.insert(u64::from(first), &inputs(first..first + 100));
        }
        let applied = applied(&mut buffer, 1_000, 200);
        assert_eq!(buffer.stats().applied, 128);
        assert_eq!(applied[..3], [command(873).actions, command(874).actions, command(875).actions]);
    }

    #[test]
    fn a_numbered_input_is_applied_in_its_frame_and_in_no_other() {
        let mut buffer = InputBuffer::new();
        buffer.number_by_frames(8, 10);
        buffer.insert(10, &inputs([9, 10, 11, 13]));
        assert_eq!(applied(&mut buffer, 11, 3), [11, 11, 13], "frame 12 holds");
        buffer.insert(13, &inputs([12, 13]));
        assert_eq!(buffer.stats().known_or_late, 4);
        buffer.insert(13, &inputs([13 + 128, 60_000, u32::MAX]));
        assert_eq!((buffer.stats().far_ahead, buffer.stats().known_or_late), (2, 5));
        let mut buffer = InputBuffer::new();
        buffer.number_by_frames(10, 15);
        buffer.insert(10, &inputs([14, 15]));
        assert_eq!(applied(&mut buffer, 14, 2), [0, 15], "14 was a count");
    }

    #[test]
    fn last_input_is_held_for_thirty_frames() {
        let mut buffer = InputBuffer::new();
        buffer.number_by_frames(0, 1);
        buffer.insert(0, &inputs([1]));
        let applied = applied(&mut buffer, 1, 40);
        assert_eq!(applied.iter().filter(|actions| **actions == 1).count(), 31);
        assert_eq!(applied[31..], [0; 9]);
        assert_eq!((buffer.stats().held, buffer.stats().neutral), (30, 9));
    }

    #[test]
    fn a_number_from_nowhere_does_not_outrun_the_honest_ones() {
        let mut buffer = InputBuffer::new();
        buffer.insert(0, &inputs([1, 2]));
        buffer.insert(0, &inputs([1_000_000, 0x7FFF_FFFF]));
        buffer.insert(0, &inputs([3]));
        assert_eq!(applied(&mut buffer, 1, 3), [1, 2, 3]);
        assert_eq!(buffer.stats().far_ahead, 2);
    }

    #[test]
    fn a_count_may_jump_by_128_and_by_two_for_each_frame() {
        // Numbers with their frames, then the frame of the jump. The frames count from the newest input.
        type Case<'a> = (&'a [(u64, u32)], u64, u32);
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
                came.iter().for_each(|(frame, number)| buffer.insert(*frame, &inputs([*number])));
                buffer.insert(frame, &inputs([number]));
                assert_eq!(buffer.stats().far_ahead, far, "{number} in frame {frame}");
            }
        }
    }

    #[test]
    fn counted_numbers_wrap() {
        let mut buffer = InputBuffer::new();
        buffer.insert(0, &inputs([u32::MAX - 1, u32::MAX, 0, 1]));
        assert_eq!(applied(&mut buffer, 1, 4), [254, 255, 0, 1]);
        assert_eq!((buffer.stats().applied, buffer.applied()), (4, 1));
    }

    #[test]
    fn queue_does_not_begin_with_one_that_outran_the_first() {
        let mut buffer = InputBuffer::new();
        buffer.insert(0, &inputs([1]));
        buffer.insert(0, &inputs([129]));
        assert_eq!(applied(&mut buffer, 1, 1), [0]);
        assert_eq!(buffer.stats().applied, 0, "1 gave way to 129");
        buffer.insert(1, &inputs([130]));
        assert_eq!(applied(&mut buffer, 2, 2), [129, 130]);
    }

    #[test]
    fn commands_are_applied_limited_in_length() {
        let mut buffer = InputBuffer::new();
        buffer.number_by_frames(0, 1);
        buffer.insert(0, &[(1, Command { x: 1.0, y: 1.0, actions: 0 })]);
        for frame in 1..3 {
            let taken = buffer.take(frame, 30);
            assert!((taken.x.hypot(taken.y) - 1.0).abs() < 1e-6, "{taken:?} in frame {frame}");
        }
    }

    #[test]
    fn numbers_are_frames_beyond_32_bits() {
        let (mut buffer, turn) = (InputBuffer::new(), 1 << 32);
        buffer.number_by_frames(turn + 5, 10);
        buffer.insert(turn + 5, &inputs([8, 10]));
        assert_eq!(applied(&mut buffer, turn + 6, 6), [0, 0, 0, 0, 10, 10], "8 was a count");
        assert_eq!((buffer.applied(), buffer.stats().known_or_late), (10, 1));
    }
}
