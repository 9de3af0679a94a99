//! The queues of sources in front of full rooms: free places are given in the order in which sources have asked.

use crate::channel::source::Source;
use crate::protocol::time::{Span, Time};
use crate::wire::rendezvous::Room;
use std::collections::{BTreeMap, VecDeque};

/// A source that has not asked again for this long loses its turn. A joiner repeats its POST every second.
const PATIENCE: Span = Span::from_millis(2_500);
/// The most sources that wait for one room, and of those the most of one larger network.
const MAX_PER_ROOM: usize = 64;
const MAX_PER_NETWORK: usize = 16;

/// The waiting sources of all rooms, each with the time at which it asked last.
#[derive(Debug)]
pub(super) struct Queues {
    rooms: BTreeMap<Room, VecDeque<(Source, Time)>>,
    len: usize,
    max: usize,
    sweep_at: Time,
}

impl Queues {
    pub(super) fn new(max: usize) -> Self {
        Self { rooms: BTreeMap::new(), len: 0, max, sweep_at: Time::NEVER }
    }

    /// Whether it is this source's turn to take one of `free` places of a room. Otherwise it waits from now on. Sources that
    /// `is_blocked` names may not take a place, and nobody waits for them.
    pub(super) fn is_turn(
        &mut self,
        now: Time,
        room: Room,
        source: Source,
        free: usize,
        is_blocked: impl Fn(Source) -> bool,
    ) -> bool {
        self.forget(now);
        let queue = self.rooms.entry(room).or_default();
        let waited = queue.len();
        queue.retain(|(_, asked)| now.since(*asked) < PATIENCE);
        self.len -= waited - queue.len();
        let place = queue.iter().position(|(waiting, _)| *waiting == source);
        let ahead = queue.iter().take(place.unwrap_or(queue.len()));
        let is_turn = ahead.filter(|(source, _)| !is_blocked(*source)).count() < free && !is_blocked(source);
        let of_network = queue.iter().filter(|(one, _)| one.network() == source.network()).count();
        let has_place = queue.len() < MAX_PER_ROOM && of_network < MAX_PER_NETWORK && self.len < self.max;
        match place {
            Some(place) if is_turn => {
                queue.remove(place);
                self.len -= 1;
            }
            Some(place) => queue[place].1 = now,
            None if !is_turn && has_place => {
                queue.push_back((source, now));
                self.len += 1;
                self.sweep_at = self.sweep_at.min(now + PATIENCE);
            }
            None => {}
        }
        if queue.is_empty() {
            self.rooms.remove(&room);
        }
        is_turn
    }

    /// Forgets sources that have stopped asking.
    pub(super) fn forget(&mut self, now: Time) {
        if now < self.sweep_at {
            return;
        }
        self.rooms.retain(|_, queue| {
            queue.retain(|(_, asked)| now.since(*asked) < PATIENCE);
            !queue.is_empty()
        });
        self.len = self.rooms.values().map(VecDeque::len).sum();
        self.sweep_at = if self.len == 0 { Time::NEVER } else { now + PATIENCE };
    }

    /// When sources are forgotten the next time.
    pub(super) fn next_end(&self) -> Option<Time> {
        (self.sweep_at != Time::NEVER).then_some(self.sweep_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: Room = [1; 16];

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// Each of its own network.
    fn source(number: u8) -> Source {
        Source::machine(([10, number, 0, 1], 7_000).into())
    }

    fn is_turn(queues: &mut Queues, ms: u64, from: u8, free: usize) -> bool {
        queues.is_turn(at(ms), ROOM, source(from), free, |_| false)
    }

    #[test]
    fn places_are_given_in_the_order_of_asking() {
        let mut queues = Queues::new(99);
        for from in 0..4 {
            assert!(!is_turn(&mut queues, from.into(), from, 0));
        }
        assert!(!is_turn(&mut queues, 100, 2, 2), "two are ahead of the free places");
        assert!(!is_turn(&mut queues, 100, 9, 4), "a source that asks for the first time");
        assert!(is_turn(&mut queues, 100, 1, 2));
        assert!(is_turn(&mut queues, 100, 0, 1));
        assert!(!is_turn(&mut queues, 100, 3, 1));
        assert!(is_turn(&mut queues, 100, 2, 1));
        assert!(queues.is_turn(at(100), [2; 16], source(9), 1, |_| false), "another room has its own queue");
    }

    #[test]
    fn blocked_source_waits_without_holding_up_others() {
        let mut queues = Queues::new(99);
        assert!(!is_turn(&mut queues, 0, 1, 0));
        assert!(!is_turn(&mut queues, 0, 2, 0));
        let is_blocked = |one: Source| one == source(1);
        assert!(!queues.is_turn(at(1), ROOM, source(1), 1, is_blocked));
        assert!(queues.is_turn(at(1), ROOM, source(2), 1, is_blocked));
        assert!(!is_turn(&mut queues, 2, 3, 1), "it has kept its turn");
        assert!(is_turn(&mut queues, 2, 1, 1));
    }

    #[test]
    fn source_that_stops_asking_loses_its_turn() {
        let mut queues = Queues::new(99);
        assert!(!is_turn(&mut queues, 0, 1, 0));
        assert!(!is_turn(&mut queues, 2_000, 1, 0), "asked again");
        assert!(!is_turn(&mut queues, 4_000, 2, 1));
        assert!(is_turn(&mut queues, 4_500, 2, 1));
    }

    #[test]
    fn place_of_a_source_that_stopped_asking_is_free_again() {
        let mut queues = Queues::new(1);
        assert!(is_turn(&mut queues, 0, 1, 1) && queues.rooms.is_empty(), "nobody waits");
        assert!(!is_turn(&mut queues, 0, 1, 0) && !is_turn(&mut queues, 1_000, 1, 0));
        queues.forget(at(2_500));
        assert_eq!((queues.len, queues.next_end()), (1, Some(at(5_000))));
        assert!(!is_turn(&mut queues, 3_600, 2, 0));
        assert_eq!((queues.len, queues.rooms[&ROOM][0].0), (1, source(2)));
    }

    #[test]
    fn queues_are_bounded_and_forgotten() {
        let mut queues = Queues::new(100);
        for room in 0..3 {
            for from in 0..200 {
                queues.is_turn(at(0), [room; 16], source(from), 0, |_| false);
            }
        }
        assert_eq!((queues.rooms[&[0; 16]].len(), queues.len, queues.rooms.len()), (64, 100, 2));
        assert_eq!(queues.next_end(), Some(at(2_500)));
        queues.forget(at(2_500));
        assert_eq!((queues.len, queues.rooms.len(), queues.next_end()), (0, 0, None));
        for last in 0..200 {
            let source = Source::machine(([192, 0, 2, last], 7_000).into());
            queues.is_turn(at(3_000), ROOM, source, 0, |_| false);
        }
        assert_eq!(queues.len, 16, "of one network");
    }
}
