//! The queue of seats that have something to send.

use std::collections::VecDeque;

/// Seats in the order in which they send, each at most once.
#[derive(Debug)]
pub(super) struct Ready {
    queue: VecDeque<u8>,
    waits: Vec<bool>,
}

impl Ready {
    pub(super) fn new(seats: usize) -> Self {
        Self { queue: VecDeque::with_capacity(seats), waits: vec![false; seats] }
    }

    pub(super) fn push(&mut self, seat: usize) {
        if !core::mem::replace(&mut self.waits[seat], true) {
            self.queue.push_back(seat as u8);
        }
    }

    /// The seat that is next to send.
    pub(super) fn front(&self) -> Option<usize> {
        self.queue.front().map(|seat| usize::from(*seat))
    }

    /// The seat that was next has nothing more to send.
    pub(super) fn pop(&mut self) {
        if let Some(seat) = self.queue.pop_front() {
            self.waits[usize::from(seat)] = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seat_waits_to_send_once_and_again_after_it_has_sent() {
        let mut ready = Ready::new(2);
        for _ in 0..2 {
            [1, 0, 1, 0].into_iter().for_each(|seat| ready.push(seat));
            let sent = [(); 3].map(|()| {
                let seat = ready.front();
                ready.pop();
                seat
            });
            assert_eq!(sent, [Some(1), Some(0), None]);
        }
    }
}
