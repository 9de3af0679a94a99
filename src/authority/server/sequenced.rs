//! Inputs that are numbered by the packets that carry them, among others: a jitter buffer that knows a lost input by time.
//!
//! A client sends one input in each of its frames, and packets of other kinds in between, which take numbers too. A number that
//! is missing was an input or not: the time between the inputs around it tells. A lost input takes up its frame, so that
//! a player moves for as many frames as the keys were held.

use super::inputs::{Held, InputQueue, InputStats};
use crate::Frame;
use crate::authority::dialect::NumberedInput;
use crate::authority::{Command, nearest};
use crate::protocol::time::{Span, Time};

/// The size of the buffer, in inputs.
const KEPT: u64 = 128;

/// The number of packets without an input that are remembered.
const PASSED: usize = 512;

/// The queue starts once it holds this many inputs. Clients predict past the wait, and an input that comes too late moves a
/// player by a frame too many.
const BEGUN_BY: u64 = 4;

/// A queue that had inputs to spare in each of this many frames is longer than the jitter asks for.
const JUDGED_FRAMES: u32 = 60;

/// Inputs to spare that are no surplus: three in a row may be late or lost.
const SPARE: u64 = 3;

/// A queue this long comes from an outage, and is shortened in every frame.
const LONG: u64 = 16;

/// The most frames that were held before their inputs came.
const MAX_OWED: u32 = 30;

/// The weight of an arrival in the mean line of arrivals.
const LINE_SHARE: f64 = 1.0 / 32.0;

/// The place of an input in its client's count of frames.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Placed {
    at: u64,
    number: u64,
    command: Command,
}

/// The inputs of one client from the next one on. One place is used up in each frame.
#[derive(Clone, Debug)]
pub(crate) struct Sequenced {
    line: Line,
    placed: [Option<Placed>; KEPT as usize],
    /// Numbers of packets without an input, each at its remainder.
    passed: [u64; PASSED],
    next: u64,
    newest: Option<Placed>,
    begun: bool,
    surplus: Surplus,
    /// The last input, which is held while the next one is missing, and for how many frames that was done although nothing
    /// told that one was lost.
    last: Command,
    owed: u32,
    held: Held,
}

/// The mean line of arrivals: each input a frame after the one before it.
#[derive(Clone, Copy, Debug)]
struct Line {
    frame_nanos: f64,
    /// The mean of the arrival of an input less its place times the frame, in nanoseconds.
    begun: f64,
}

impl Line {
    fn away(&self, now: Time, at: u64) -> f64 {
        now.since(Time::ZERO).nanos() as f64 - at as f64 * self.frame_nanos - self.begun
    }

    /// The place of an input that arrives now.
    fn place(&self, now: Time) -> u64 {
        (self.away(now, 0) / self.frame_nanos).round().max(0.0) as u64
    }
}

/// Whether the queue is longer than the jitter asks for.
#[derive(Clone, Copy, Debug)]
struct Surplus {
    /// The least number of inputs to spare in the frames that are judged, and how many those are.
    spare: u64,
    judged: u32,
    is_surplus: bool,
}

impl Surplus {
    const NONE: Self = Self { spare: u64::MAX, judged: 0, is_surplus: false };

    /// Takes in a frame after which this many inputs wait.
    fn judge(&mut self, waiting: u64) {
        (self.spare, self.judged) = (self.spare.min(waiting), self.judged + 1);
        if self.judged >= JUDGED_FRAMES {
            *self = Self { is_surplus: self.spare > SPARE, ..Self::NONE };
        }
    }
}

impl Sequenced {
    fn new(frame_span: Span) -> Self {
        Self {
            line: Line { frame_nanos: frame_span.nanos() as f64, begun: 0.0 },
            placed: [None; KEPT as usize],
            passed: [u64::MAX; PASSED],
            next: KEPT,
            newest: None,
            begun: false,
            surplus: Surplus::NONE,
            last: Command::NEUTRAL,
            owed: 0,
            held: Held::default(),
        }
    }

    fn whole(&self, number: u32) -> u64 {
        self.newest.map_or(u64::from(number), |newest| nearest(newest.number, number))
    }

    /// Takes in an input. `false` if it is too late.
    fn insert(&mut self, now: Time, number: u32, command: Command) -> bool {
        let number = self.whole(number);
        let Some(newest) = self.newest else {
            self.line.begun += self.line.away(now, self.next);
            self.put(Placed { at: self.next, number, command });
            return true;
        };
        let by_time = self.line.place(now);
        let at = if number > newest.number {
            // At least one place on; for each missing number at most one more.
            by_time.clamp(newest.at + 1, newest.at + 1 + self.missing(newest.number, number))
        } else {
            match self.place_between(number, by_time) {
                Some(at) => at,
                None => return false,
            }
        };
        self.line.begun += self.line.away(now, at) * LINE_SHARE;
        self.put(Placed { at, number, command });
        true
    }

    fn put(&mut self, placed: Placed) {
        // The oldest give way.
        self.next = self.next.max((placed.at + 1).saturating_sub(KEPT));
        self.placed[(placed.at % KEPT) as usize] = Some(placed);
        if self.newest.is_none_or(|newest| placed.number > newest.number) {
            self.newest = Some(placed);
        }
    }

    /// How many packets between two numbers have not come.
    fn missing(&self, from: u64, to: u64) -> u64 {
        let unknown = |number: &u64| self.passed[*number as usize % PASSED] != *number;
        (from + 1..to).take(PASSED).filter(unknown).count() as u64
    }

    /// The place of an input that was overtaken; `None` if the inputs around it have left none.
    fn place_between(&self, number: u64, by_time: u64) -> Option<u64> {
        let newest = self.newest?;
        let known = |at: u64| self.placed(at).map(|placed| placed.number);
        let after = (self.next..=newest.at).find(|at| known(*at).is_some_and(|known| known > number))?;
        let before = (self.next..after).rev().find(|at| known(*at).is_some());
        if before.is_some_and(|before| known(before) == Some(number)) {
            return None;
        }
        let (first, last) = (before.map_or(self.next, |before| before + 1), after.checked_sub(1)?);
        (first <= last).then(|| by_time.clamp(first, last))
    }

    fn placed(&self, at: u64) -> Option<Placed> {
        self.placed[(at % KEPT) as usize].filter(|placed| placed.at == at)
    }

    /// The number of places that wait, lost ones included.
    fn waiting(&self) -> u64 {
        self.newest.map_or(0, |newest| (newest.at + 1).saturating_sub(self.next))
    }

    /// The input of the next frame; `None` if it was lost or has not come yet.
    fn take_next(&mut self) -> Option<Command> {
        self.begun |= self.waiting() >= BEGUN_BY;
        if !self.begun {
            return None;
        }
        self.settle();
        let next = if self.waiting() == 0 {
            self.owed = (self.owed + 1).min(MAX_OWED);
            None
        } else {
            self.next += 1;
            self.placed(self.next - 1).map(|placed| placed.command)
        };
        self.last = next.unwrap_or(self.last);
        self.judge();
        next
    }

    /// Passes over places for which the last input was held before they came: lost ones, and ones that say the same.
    fn settle(&mut self) {
        while self.owed > 0 && self.waiting() > 1 {
            if self.placed(self.next).is_some_and(|placed| placed.command != self.last) {
                return;
            }
            (self.next, self.owed) = (self.next + 1, self.owed - 1);
        }
    }

    /// Shortens a queue that is longer than it has to be: its length is delay. An input is dropped where nobody moves.
    fn judge(&mut self) {
        let waiting = self.waiting();
        self.surplus.judge(waiting);
        let stands = self.last.x == 0.0 && self.last.y == 0.0;
        let same = self.placed(self.next).is_some_and(|placed| placed.command == self.last);
        if waiting > LONG || (self.surplus.is_surplus && stands && same) {
            self.next += 1;
            self.surplus.is_surplus = false;
        }
    }
}

impl InputQueue for Sequenced {
    fn empty(frame_span: Span) -> Self {
        Self::new(frame_span)
    }

    fn clear(&mut self) {
        let line = Line { begun: 0.0, ..self.line };
        *self = Self { line, ..Self::new(Span::ZERO) };
    }

    fn hear(&mut self, now: Time, _: Frame, inputs: &[NumberedInput]) {
        for (number, command) in inputs {
            if !self.insert(now, *number, *command) {
                self.held.count_late();
            }
        }
    }

    fn pass(&mut self, number: u32) {
        let number = self.whole(number);
        self.passed[number as usize % PASSED] = number;
    }

    fn take(&mut self, _: Frame, hold_frames: u16) -> Command {
        let next = self.take_next();
        self.held.apply(next, hold_frames)
    }

    /// The wire does not carry it.
    fn applied(&self) -> u32 {
        0
    }

    fn stats(&self) -> InputStats {
        self.held.stats()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Span = Span::from_millis(20);

    fn command(n: u32) -> Command {
        Command { x: 0.0, y: 0.0, actions: n as u8 }
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// A queue into which inputs come with their number, at a time.
    fn queue(inputs: &[(u64, u32, u32)]) -> Sequenced {
        let mut queue = Sequenced::new(FRAME);
        for (ms, number, n) in inputs {
            queue.insert(at(*ms), *number, command(*n));
        }
        queue
    }

    fn taken(queue: &mut Sequenced, frames: usize) -> Vec<u8> {
        (0..frames).map(|_| queue.take_next().map_or(0, |command| command.actions)).collect()
    }

    #[test]
    fn missing_number_was_an_input_if_its_time_has_passed() {
        let mut early = queue(&[(0, 100, 1)]);
        assert_eq!(taken(&mut early, 1), [0], "one alone does not begin");
        let mut early = queue(&[(0, 100, 1), (20, 101, 2), (40, 102, 3)]);
        assert_eq!(taken(&mut early, 2), [0, 0], "nor do three");
        // 101 is missing and was an input: 40 ms. 103 is missing and was none: 20 ms.
        let mut inputs = queue(&[(0, 100, 1), (40, 102, 2), (60, 104, 3), (80, 105, 4)]);
        assert_eq!(taken(&mut inputs, 5), [1, 0, 2, 3, 4]);
        // The nearest frame counts: 35 ms are two frames.
        let mut inputs = queue(&[(0, 100, 1), (35, 102, 2), (55, 103, 3), (75, 104, 4)]);
        assert_eq!(taken(&mut inputs, 5), [1, 0, 2, 3, 4]);
        // A packet without an input is known to be none, however late the next one comes.
        let mut inputs = queue(&[(0, 100, 1)]);
        inputs.pass(101);
        for (ms, number, n) in [(40, 102, 2), (60, 103, 3), (80, 104, 4)] {
            inputs.insert(at(ms), number, command(n));
        }
        assert_eq!(taken(&mut inputs, 4), [1, 2, 3, 4]);
    }

    #[test]
    fn overtaken_input_is_placed_unless_too_late() {
        let mut inputs = queue(&[(0, 7, 1), (40, 9, 3), (41, 8, 2), (60, 10, 4), (61, 9, 9)]);
        assert_eq!(taken(&mut inputs, 4), [1, 2, 3, 4]);
        assert!(!inputs.insert(at(80), 8, command(2)), "too late");
    }

    #[test]
    fn input_that_was_held_before_it_came_is_not_applied_again() {
        let mut inputs = queue(&[(0, 0, 1), (20, 1, 1), (40, 2, 1), (60, 3, 1)]);
        assert_eq!(taken(&mut inputs, 6), [1, 1, 1, 1, 0, 0], "held twice");
        // The two that were held for: one lost, one that says the same.
        for (ms, number, n) in [(100, 5, 1), (120, 6, 2), (140, 7, 2), (160, 8, 2)] {
            inputs.insert(at(ms), number, command(n));
        }
        assert_eq!(taken(&mut inputs, 3), [2, 2, 2]);
    }

    #[test]
    fn queue_that_an_outage_left_behind_becomes_short_again() {
        let mut inputs = Sequenced::new(FRAME);
        (0..40).for_each(|n| {
            inputs.insert(at(u64::from(n) * 20), n, command(1));
        });
        for n in 40..1_640 {
            inputs.insert(at(u64::from(n) * 20), n, command(1));
            inputs.take_next();
        }
        assert!(inputs.waiting() <= SPARE + 1, "{} wait", inputs.waiting());
    }

    #[test]
    fn surplus_shrinks_by_one_input_a_second() {
        let mut inputs = Sequenced::new(FRAME);
        let mut waiting = Vec::new();
        for n in 0..=10 + 3 * JUDGED_FRAMES {
            inputs.insert(at(u64::from(n) * 20), n, command(1));
            if n >= 10 {
                inputs.take_next();
                waiting.push(inputs.waiting());
            }
        }
        let after = |seconds: u32| waiting[(seconds * JUDGED_FRAMES) as usize - 2];
        assert_eq!([1, 2, 3].map(after), [10, 9, 8]);
    }

    #[test]
    fn numbers_wrap_and_at_most_128_wait() {
        let mut inputs = queue(&[(0, u32::MAX - 1, 1), (20, u32::MAX, 2), (40, 0, 3), (60, 1, 4)]);
        assert_eq!(taken(&mut inputs, 4), [1, 2, 3, 4]);
        (2..1_000).for_each(|n| {
            inputs.insert(at(60 + u64::from(n) * 20), n, command(n));
        });
        assert_eq!(inputs.waiting(), 128);
    }

    #[test]
    fn at_most_30_inputs_are_passed_over_after_an_outage() {
        let mut inputs = queue(&[(0, 0, 1), (20, 1, 1), (40, 2, 1), (60, 3, 1)]);
        taken(&mut inputs, 104);
        (4..64).for_each(|n| {
            inputs.insert(at(2_000 + u64::from(n) * 20), n, command(1));
        });
        inputs.take_next();
        assert!((25..=30).contains(&inputs.waiting()), "{} wait", inputs.waiting());
    }

    #[test]
    fn inputs_that_arrive_at_once_get_a_place_each() {
        let mut inputs = queue(&[(0, 0, 1), (0, 1, 2), (0, 2, 3), (0, 3, 4)]);
        assert_eq!(taken(&mut inputs, 4), [1, 2, 3, 4]);
        // The newest input remains the newest when one that it overtook arrives.
        let mut inputs = queue(&[(0, 7, 1), (40, 9, 3), (41, 8, 2), (41, 10, 4)]);
        assert_eq!(taken(&mut inputs, 4), [1, 2, 3, 4]);
    }

    #[test]
    fn overtaken_input_takes_no_place_of_another() {
        let mut inputs = queue(&[(0, 7, 1), (20, 8, 2), (60, 10, 4), (80, 11, 5)]);
        for number in [8, 10, 11] {
            assert!(!inputs.insert(at(81), number, command(9)), "a copy of {number}");
        }
        assert_eq!(taken(&mut inputs, 5), [1, 2, 0, 4, 5]);
        let mut inputs = queue(&[(0, 7, 1), (60, 10, 4), (80, 11, 5), (0, 9, 3)]);
        assert_eq!(taken(&mut inputs, 4), [1, 3, 0, 4], "no earlier than the one before it");
    }

    #[test]
    fn slower_clock_of_a_client_is_followed() {
        let mut inputs = Sequenced::new(FRAME);
        let arrival = |n: u32| Time::ZERO + Span::from_micros(20_100) * n;
        for n in 0..300 {
            inputs.insert(arrival(n), n, command(n));
            inputs.take_next();
        }
        let waiting = inputs.waiting();
        // 300 was a packet without an input, and is lost.
        inputs.insert(arrival(300), 301, command(1));
        assert_eq!(inputs.waiting(), waiting + 1);
    }

    #[test]
    fn last_input_that_waits_is_not_passed_over() {
        let mut inputs = queue(&[(0, 0, 1), (20, 1, 1), (40, 2, 1), (60, 3, 1)]);
        assert_eq!(taken(&mut inputs, 5), [1, 1, 1, 1, 0]);
        inputs.insert(at(80), 4, command(1));
        assert_eq!(taken(&mut inputs, 1), [1]);
    }

    /// How many inputs wait after `frames` frames with a queue of `length`.
    fn waiting_after(frames: u32, length: u32, command: impl Fn(u32) -> Command) -> u64 {
        let mut inputs = Sequenced::new(FRAME);
        (0..length).for_each(|n| {
            inputs.insert(at(u64::from(n) * 20), n, command(n));
        });
        for n in length..length + frames {
            inputs.insert(at(u64::from(n) * 20), n, command(n));
            inputs.take_next();
        }
        inputs.waiting()
    }

    #[test]
    fn only_a_surplus_of_a_standing_player_is_dropped() {
        let moving = |_| Command { x: 1.0, y: 0.0, actions: 0 };
        assert_eq!(waiting_after(200, 10, moving), 10);
        assert_eq!(waiting_after(200, 10, |n| Command { x: 0.0, y: -1.0, actions: n as u8 & 2 }), 10);
        assert_eq!(waiting_after(200, 10, |n| command(n % 2)), 10, "the next input differs");
        assert_eq!(waiting_after(200, 3, |_| command(1)), 3, "three to spare are no surplus");
        assert_eq!(waiting_after(200, 16, moving), 16);
        assert_eq!(waiting_after(200, 19, moving), 16, "an outage left more than 16");
    }

    #[test]
    fn queue_that_ran_short_in_a_second_has_no_surplus() {
        let mut inputs = Sequenced::new(FRAME);
        (0..8).for_each(|n| {
            inputs.insert(at(u64::from(n) * 20), n, command(1));
        });
        for frame in 0..2 * JUDGED_FRAMES {
            // Six of the inputs of every second come late, at once.
            let n = 8 + frame;
            match frame % JUDGED_FRAMES {
                30..36 => {}
                36 => (n - 6..=n).for_each(|n| {
                    inputs.insert(at(u64::from(n) * 20), n, command(1));
                }),
                _ => {
                    inputs.insert(at(u64::from(n) * 20), n, command(1));
                }
            }
            inputs.take_next();
        }
        assert_eq!(inputs.waiting(), 8);
        for n in 8 + 2 * JUDGED_FRAMES..8 + 4 * JUDGED_FRAMES {
            inputs.insert(at(u64::from(n) * 20), n, command(1));
            inputs.take_next();
        }
        assert!(inputs.waiting() < 8, "each second is judged by itself");
    }

    #[test]
    fn lost_input_is_none_although_its_place_was_used_before() {
        let mut inputs = Sequenced::new(FRAME);
        let mut lost = 0;
        for n in (0..300).filter(|n| *n != 250) {
            inputs.insert(at(u64::from(n) * 20), n, command(1));
            // The place of 250 is passed a frame before that of 251 comes.
            lost += u32::from(n > 10 && inputs.take_next().is_none());
        }
        while inputs.waiting() > 0 {
            lost += u32::from(inputs.take_next().is_none());
        }
        assert_eq!(lost, 1);
    }
}
