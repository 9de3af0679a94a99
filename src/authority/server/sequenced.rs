//! Inputs that are numbered by the packets that carry them: a jitter buffer in which a missing packet is a lost input.

use crate::authority::numbering::nearest;
use crate::authority::world::Command;

/// The size of the buffer, in packets.
const KEPT: u64 = 128;

/// The queue starts once it holds this many inputs.
const BEGUN_BY: u64 = 2;

/// A queue that had inputs to spare in each of this many frames is longer than the jitter asks for.
const JUDGED_FRAMES: u32 = 60;

/// Inputs to spare that are no surplus.
const SPARE: u64 = 1;

/// A queue this long comes from an outage, and is shortened in every frame.
const LONG: u64 = 12;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Packet {
    Input(Command),
    /// A packet without an input.
    Other,
}

/// The packets of one client from the next one on. One number is used up in each frame; packets without an input do not count.
#[derive(Clone, Debug)]
pub(super) struct Sequenced {
    packets: [Option<(u64, Packet)>; KEPT as usize],
    next: u64,
    newest: Option<u64>,
    begun: bool,
    /// The least number of inputs to spare in the frames that are judged, and how many those are.
    spare: u64,
    judged: u32,
}

/// The input of a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Next {
    Input(Command),
    /// Its packet was lost, or has not come yet.
    Missing,
}

impl Sequenced {
    pub(super) fn new() -> Self {
        Self {
            packets: [None; KEPT as usize],
            next: 0,
            newest: None,
            begun: false,
            spare: u64::MAX,
            judged: 0,
        }
    }

    /// Takes in a packet, with the input in it if there is one. `false` if it is too late.
    pub(super) fn insert(&mut self, number: u32, input: Option<Command>) -> bool {
        let number = nearest(self.newest.unwrap_or(u64::from(number)), number);
        let newest = *self.newest.get_or_insert_with(|| {
            self.next = number;
            number
        });
        if number < self.next {
            return false;
        }
        self.newest = Some(newest.max(number));
        // The oldest give way.
        self.next = self.next.max((number + 1).saturating_sub(KEPT));
        let slot = &mut self.packets[(number % KEPT) as usize];
        if slot.is_none_or(|(known, _)| known != number) {
            *slot = Some((number, input.map_or(Packet::Other, Packet::Input)));
        }
        true
    }

    fn packet(&self, number: u64) -> Option<Packet> {
        self.packets[(number % KEPT) as usize].filter(|(known, _)| *known == number).map(|(_, packet)| packet)
    }

    /// The number of inputs that wait, lost ones included.
    fn waiting(&self) -> u64 {
        let Some(newest) = self.newest else { return 0 };
        (self.next..=newest).filter(|number| self.packet(*number) != Some(Packet::Other)).count() as u64
    }

    /// Uses up the next number that stands for an input.
    fn take(&mut self) -> Next {
        while self.newest.is_some_and(|newest| self.next <= newest) {
            let packet = self.packet(self.next);
            self.next += 1;
            match packet {
                Some(Packet::Input(command)) => return Next::Input(command),
                Some(Packet::Other) => {}
                None => return Next::Missing,
            }
        }
        Next::Missing
    }

    /// The input of the next frame. A lost one takes up its frame, so that all others keep their distances.
    pub(super) fn take_next(&mut self) -> Next {
        self.begun |= self.waiting() >= BEGUN_BY;
        if !self.begun {
            return Next::Missing;
        }
        let next = self.take();
        self.judge();
        next
    }

    /// Shortens a queue that is longer than it has to be: its length is delay.
    fn judge(&mut self) {
        let waiting = self.waiting();
        self.spare = self.spare.min(waiting);
        self.judged += 1;
        if waiting > LONG {
            self.take();
        } else if self.judged >= JUDGED_FRAMES {
            if self.spare > SPARE {
                self.take();
            }
            (self.spare, self.judged) = (u64::MAX, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(n: u32) -> Command {
        Command { x: 0.0, y: 0.0, actions: n as u8 }
    }

    fn taken(queue: &mut Sequenced, frames: usize) -> Vec<u8> {
        let mut number = || match queue.take_next() {
            Next::Input(command) => command.actions,
            Next::Missing => 0,
        };
        (0..frames).map(|_| number()).collect()
    }

    #[test]
    fn a_lost_input_takes_up_its_frame_and_packets_without_one_do_not() {
        let mut queue = Sequenced::new();
        assert!(queue.insert(100, Some(command(1))));
        assert_eq!(taken(&mut queue, 1), [0], "one alone does not begin");
        for number in [101, 104, 103, 106] {
            queue.insert(number, Some(command(number - 99)));
        }
        queue.insert(102, None);
        // 105 is missing.
        assert_eq!(taken(&mut queue, 7), [1, 2, 4, 5, 0, 7, 0]);
        assert!(!queue.insert(105, Some(command(6))), "too late");
        assert!(queue.insert(107, Some(command(8))), "late, and not too late: nothing came after it");
        assert_eq!(taken(&mut queue, 1), [8]);
    }

    #[test]
    fn a_queue_that_an_outage_left_behind_becomes_short_again() {
        let mut queue = Sequenced::new();
        (0..40).for_each(|number| {
            queue.insert(number, Some(command(1)));
        });
        for number in 40..640 {
            queue.insert(number, Some(command(1)));
            queue.take_next();
        }
        assert!(queue.waiting() <= 3, "{} wait", queue.waiting());
    }

    #[test]
    fn numbers_wrap_and_at_most_128_wait() {
        let mut queue = Sequenced::new();
        queue.insert(u32::MAX - 1, Some(command(1)));
        queue.insert(u32::MAX, Some(command(2)));
        queue.insert(0, Some(command(3)));
        assert_eq!(taken(&mut queue, 3), [1, 2, 3]);
        (1..1_000).for_each(|number| {
            queue.insert(number, Some(command(number)));
        });
        assert_eq!(queue.waiting(), 128);
    }
}
