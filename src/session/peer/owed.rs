//! Answers that the peer waits for: a PONG, a CONNECT_ACK, the ack of a message.

use crate::protocol::time::{Span, Time};
use crate::wire::control::ControlPayload;
use core::num::NonZeroU8;

/// A pong that has waited for longer would be taken for a long way.
const MAX_WAIT: Span = Span::from_millis(100);

/// The answers that are owed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owed {
    /// The value of a ping, and when it came.
    pong: Option<(u64, Time)>,
    /// The answer to a CONNECT_REQ, with this seat.
    connect_ack: Option<NonZeroU8>,
    /// A message has to be acknowledged by then.
    ack_due: Option<Time>,
    /// When the first of them is due, `Time::NEVER` if none is. It is asked for more often than it changes.
    due: Time,
    frame_length: Span,
}

impl Owed {
    pub(crate) fn new(frame_length: Span) -> Self {
        Self { pong: None, connect_ack: None, ack_due: None, due: Time::NEVER, frame_length }
    }

    /// Notes a ping, to be answered by a pong. A newer ping replaces one that waits.
    pub(crate) fn pinged(&mut self, now: Time, value: u64) {
        self.pong = Some((value, now));
        self.due = Time::ZERO;
    }

    /// Notes a CONNECT_REQ, to be answered with this seat.
    pub(crate) fn asked_for_seat(&mut self, seat: NonZeroU8) {
        self.connect_ack = Some(seat);
        self.due = Time::ZERO;
    }

    /// Notes a message, to be acknowledged within a frame.
    pub(crate) fn message(&mut self, now: Time) {
        let ack_due = *self.ack_due.get_or_insert(now + self.frame_length);
        self.due = self.due.min(ack_due);
    }

    /// Notes that a packet goes out, which carries all acks that are due.
    pub(crate) fn acknowledged(&mut self) {
        self.ack_due = None;
        self.settle_due();
    }

    /// The next answer that is a packet of its own. While packets are held back a ping gets a HEARTBEAT, which acknowledges it
    /// too.
    pub(crate) fn take(&mut self, now: Time) -> Option<ControlPayload<'static>> {
        let connect_ack = self.connect_ack.take().map(|client_id| ControlPayload::ConnectAck { client_id });
        let pong = |(value, came)| {
            if now.since(came) <= MAX_WAIT { ControlPayload::Pong(value) } else { ControlPayload::Heartbeat }
        };
        let answer = connect_ack.or_else(|| self.pong.take().map(pong));
        self.settle_due();
        answer
    }

    /// When an answer is due.
    #[inline]
    pub(crate) fn due(&self) -> Time {
        self.due
    }

    fn settle_due(&mut self) {
        let at_once = self.pong.is_some() || self.connect_ack.is_some();
        self.due = if at_once { Time::ZERO } else { self.ack_due.unwrap_or(Time::NEVER) };
    }

    /// Whether a ping waits to be answered.
    pub(crate) fn owes_pong(&self) -> bool {
        self.pong.is_some()
    }

    /// Whether a message waits for its ack.
    pub(crate) fn owes_ack(&self) -> bool {
        self.ack_due.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ping_that_waited_gets_no_pong() {
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        let mut owed = Owed::new(Span::from_millis(16));
        for (came, answer) in [(900, ControlPayload::Pong(7)), (899, ControlPayload::Heartbeat)] {
            owed.pinged(at(came), 7);
            assert_eq!(
                (owed.take(at(1_000)), owed.take(at(1_000))),
                (Some(answer), None),
                "came at {came} ms"
            );
        }
    }
}
