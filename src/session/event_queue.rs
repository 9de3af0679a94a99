//! The queue of events for the game.

use super::event::Event;
use std::collections::VecDeque;

/// How many events wait for the game.
const CAPACITY: usize = 64;

/// Events that wait to be polled. Bounded: a game that never polls does not make it grow.
#[derive(Clone, Debug)]
pub(super) struct EventQueue {
    queue: VecDeque<Event>,
    conflict_told: bool,
    /// The last event has been told; nothing follows it.
    closed: bool,
}

impl EventQueue {
    pub(super) fn new() -> Self {
        Self { queue: VecDeque::with_capacity(CAPACITY), conflict_told: false, closed: false }
    }

    /// Queues an event. The last slot is kept for the event that ends the match, which is always told; an input
    /// conflict is told once.
    pub(super) fn tell(&mut self, event: Event) {
        if self.closed {
            return;
        }
        if matches!(event, Event::InputConflict { .. }) && core::mem::replace(&mut self.conflict_told, true) {
            return;
        }
        self.closed = matches!(event, Event::Ended(_) | Event::Disconnected { .. });
        if self.closed || self.queue.len() < CAPACITY - 1 {
            self.queue.push_back(event);
        }
    }

    /// Whether there is room for a message of the game's own. Half of the queue is kept for the session's events.
    pub(super) fn has_room_for_message(&self) -> bool {
        self.queue.len() < CAPACITY / 2
    }

    /// The next event.
    #[inline]
    pub(super) fn poll(&mut self) -> Option<Event> {
        self.queue.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Buttons, Frame, Reason};

    #[test]
    fn last_event_is_told_even_when_nobody_polls() {
        let mut events = EventQueue::new();
        for _ in 0..1_000 {
            events.tell(Event::Resumed);
        }
        let last = Event::Disconnected { reason: Reason::Left };
        events.tell(last.clone());
        events.tell(Event::Resumed);
        let told: Vec<_> = std::iter::from_fn(|| events.poll()).collect();
        assert_eq!((told.len(), told.last()), (CAPACITY, Some(&last)));
    }

    #[test]
    fn input_conflict_is_told_once() {
        let mut events = EventQueue::new();
        for frame in [3, 4] {
            let (confirmed, refused) = (Buttons(1).into(), Buttons(2).into());
            events.tell(Event::InputConflict { frame: Frame(frame), confirmed, refused });
        }
        assert!(matches!(events.poll(), Some(Event::InputConflict { frame: Frame(3), .. })));
        assert_eq!(events.poll(), None);
    }

    #[test]
    fn messages_leave_half_of_the_queue_to_the_session() {
        let mut events = EventQueue::new();
        while events.has_room_for_message() {
            events.tell(Event::Message(Box::new([])));
        }
        assert_eq!(std::iter::from_fn(|| events.poll()).count(), CAPACITY / 2);
    }
}
