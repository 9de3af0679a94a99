//! When a client asks, when it shows that it is there, and when it says goodbye.

use crate::protocol::time::{Span, Time};

/// A client that has nothing else to say is heard of this often.
const ALIVE_EVERY: Span = Span::from_millis(100);

/// A client without a seat is heard of this often: a server sends it as much as it gets, and waits for several acks.
pub(super) const PROVING_EVERY: Span = Span::from_millis(25);

const FAREWELL_EVERY: Span = Span::from_millis(100);

/// The times at which the next of each is due.
#[derive(Debug)]
pub(super) struct Schedule {
    join_due: Time,
    alive_due: Time,
    farewells: u8,
    farewell_due: Time,
}

impl Schedule {
    pub(super) fn new() -> Self {
        Self { join_due: Time::ZERO, alive_due: Time::NEVER, farewells: 0, farewell_due: Time::NEVER }
    }

    pub(super) fn join_due(&self) -> Time {
        self.join_due
    }

    pub(super) fn join_at(&mut self, due: Time) {
        self.join_due = due;
    }

    pub(super) fn alive_due(&self) -> Time {
        self.alive_due
    }

    pub(super) fn alive_at(&mut self, due: Time) {
        self.alive_due = due;
    }

    /// Something is sent now that shows that we are there.
    pub(super) fn alive(&mut self, now: Time, is_proving: bool) {
        self.alive_due = now + if is_proving { PROVING_EVERY } else { ALIVE_EVERY };
    }

    /// Says goodbye this many times.
    pub(super) fn begin_farewell(&mut self, now: Time, count: u8) {
        (self.farewells, self.farewell_due) = (count, now);
    }

    pub(super) fn end_farewell(&mut self) {
        (self.farewells, self.farewell_due) = (0, Time::NEVER);
    }

    /// When the next goodbye is due; never if none is left.
    pub(super) fn farewell_due(&self) -> Time {
        self.farewell_due
    }

    /// A goodbye is sent now.
    pub(super) fn farewell(&mut self, now: Time) {
        (self.farewells, self.farewell_due) = (self.farewells.saturating_sub(1), now + FAREWELL_EVERY);
        if self.farewells == 0 {
            self.farewell_due = Time::NEVER;
        }
    }
}
