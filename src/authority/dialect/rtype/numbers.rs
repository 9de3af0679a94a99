//! The sequence numbers of one R-Type connection: those that are sent, and which have been received.

use crate::authority::dialect::AcceptRange;
use crate::channel::refusal::Refusal;
use crate::channel::sequence::Received;
use crate::channel::window::Window;
use crate::protocol::time::Time;
use crate::wire::rtype::{RtypeHeader, RtypePacket, RtypePayload};

/// How many received numbers are remembered behind the newest.
const WINDOW: u64 = 2_048;
const WINDOW_WORDS: usize = WINDOW as usize / 64;

/// An ACK or NACK may name any of the last this many packets.
const NAMED: u64 = 4_096;

/// A client sends one packet a frame, and ACKs. The range is narrow ahead: a guess that hits moves the newest by no more
/// than this.
pub(super) const OF_CLIENT: AcceptRange = AcceptRange::new(8, 512, 256);
/// A server sends up to 300 updates a second, and resends a message for seconds under its first number.
pub(super) const OF_SERVER: AcceptRange = AcceptRange::new(64, 2_048, WINDOW - 1);
/// The numbers of challenges leave gaps of up to 1,023, and three in a row may be lost.
pub(super) const OF_CHALLENGES: AcceptRange = OF_SERVER.with_ahead(4_096);

/// Both directions of one connection.
#[derive(Clone, Debug)]
pub(super) struct Numbers {
    range: AcceptRange,
    next: u16,
    sent: u64,
    /// The numbers received, with the turns of the counter, and when the newest last moved.
    window: Window<WINDOW_WORDS>,
    moved_at: Time,
}

impl Numbers {
    /// Numbers that begin with `first`; `nat` is that of the other side.
    pub(super) fn new(first: u16, range: AcceptRange) -> Self {
        Self { range, next: first, sent: 0, window: Window::new(), moved_at: Time::ZERO }
    }

    /// The number of a packet that goes out now.
    pub(super) fn next(&mut self) -> u16 {
        let next = self.next;
        (self.next, self.sent) = (next.wrapping_add(1), self.sent.saturating_add(1));
        next
    }

    /// Writes a packet that goes out now.
    pub(super) fn write(
        &mut self,
        asks_ack: bool,
        payload: &RtypePayload<'_>,
        buf: &mut [u8],
    ) -> Option<usize> {
        RtypePacket::encode(RtypeHeader { asks_ack, sequence: self.next() }, payload, buf).ok()
    }

    /// Whether a packet of this number was sent lately.
    pub(super) fn was_sent(&self, number: u16) -> bool {
        u64::from(self.next.wrapping_sub(1).wrapping_sub(number)) < self.sent.min(NAMED)
    }

    /// Lets the other side's numbers begin anywhere.
    pub(super) fn forget_received(&mut self) {
        self.window = Window::new();
    }

    pub(super) fn set_range(&mut self, range: AcceptRange) {
        self.range = range;
    }

    /// The whole number of a packet, if it is in range and, by its number, has not been here before.
    pub(super) fn look_at(&self, now: Time, number: u16) -> Result<(u64, Received), Refusal> {
        let Some(newest) = self.window.end().checked_sub(1) else {
            // The first turn of the counter is left free, for packets from before the first.
            return Ok((u64::from(number) + (1 << 16), Received::New));
        };
        let away = number.wrapping_sub(newest as u16).cast_signed();
        if !self.range.allows(away, now.since(self.moved_at)) {
            return Err(Refusal::FarSequence);
        }
        let whole = newest.saturating_add_signed(i64::from(away));
        Ok((whole, if self.window.is_new(whole) { Received::New } else { Received::Duplicate }))
    }

    /// Takes in the number of a packet.
    pub(super) fn accept(&mut self, now: Time, number: u16) -> Result<(u64, Received), Refusal> {
        let (whole, received) = self.look_at(now, number)?;
        if received == Received::New && self.window.take(whole) {
            self.moved_at = now;
        }
        Ok((whole, received))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::time::Span;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn number_is_new_once_across_the_wrap_and_in_any_order() {
        let mut numbers = Numbers::new(0, OF_SERVER);
        let order: Vec<u16> = [65_530_u16, 65_533, 65_531, 2, 65_535, 0, 1].into();
        for number in &order {
            assert_eq!(numbers.accept(at(0), *number).unwrap().1, Received::New, "{number}");
        }
        for number in order {
            assert_eq!(numbers.accept(at(0), number).unwrap().1, Received::Duplicate, "{number}");
        }
        let (before, after) = (numbers.look_at(at(0), 65_534).unwrap(), numbers.look_at(at(0), 3).unwrap());
        assert_eq!((before.1, after.1), (Received::New, Received::New));
        assert_eq!(after.0 - before.0, 5, "the order goes on across the wrap");
    }

    #[test]
    fn guess_far_ahead_is_refused_unless_it_was_silent_for_long() {
        let mut numbers = Numbers::new(0, OF_CLIENT);
        numbers.accept(at(0), 1_000).unwrap();
        assert_eq!(numbers.accept(at(0), 1_009).unwrap_err(), Refusal::FarSequence);
        assert_eq!(numbers.accept(at(0), 743).unwrap_err(), Refusal::FarSequence);
        assert!(numbers.accept(at(0), 744).is_ok() && numbers.accept(at(0), 1_008).is_ok());
        assert_eq!(numbers.accept(at(900), 1_508).unwrap_err(), Refusal::FarSequence);
        assert!(numbers.accept(at(1_000), 1_508).is_ok());
    }

    #[test]
    fn only_what_was_sent_can_be_named() {
        let mut numbers = Numbers::new(65_535, OF_CLIENT);
        assert!(!numbers.was_sent(65_534) && !numbers.was_sent(65_535));
        let sent = [numbers.next(), numbers.next()];
        assert_eq!(sent, [65_535, 0]);
        assert!(numbers.was_sent(65_535) && numbers.was_sent(0));
        assert!(!numbers.was_sent(1) && !numbers.was_sent(65_534));
    }

    #[test]
    fn only_the_last_4096_packets_can_be_named() {
        let mut numbers = Numbers::new(0, OF_CLIENT);
        (0..5_000).for_each(|_| {
            numbers.next();
        });
        assert!(numbers.was_sent(4_999) && numbers.was_sent(904));
        assert!(!numbers.was_sent(5_000) && !numbers.was_sent(903));
    }

    #[test]
    fn numbers_that_begin_anew_have_not_been_seen() {
        let mut numbers = Numbers::new(0, OF_SERVER);
        numbers.accept(at(0), 100).unwrap();
        numbers.forget_received();
        numbers.accept(at(0), 101).unwrap();
        assert_eq!(numbers.look_at(at(0), 100).unwrap().1, Received::New);
        assert_eq!(numbers.look_at(at(0), 101).unwrap().1, Received::Duplicate);
    }

    #[test]
    fn reach_grows_while_the_newest_stands() {
        let mut numbers = Numbers::new(0, OF_CLIENT);
        numbers.accept(at(0), 1_000).unwrap();
        numbers.accept(at(900), 990).unwrap();
        assert!(numbers.accept(at(1_000), 1_000 + 8 + 512).is_ok(), "an overtaken packet moves nothing");
        assert_eq!(numbers.accept(at(1_000), 1_529), Err(Refusal::FarSequence));
    }

    #[test]
    fn packets_from_before_the_first_are_told_apart_across_the_wrap() {
        let mut numbers = Numbers::new(0, OF_SERVER);
        let wholes: Vec<u64> = [1, 65_535, 65_534]
            .map(|number| {
                let (whole, received) = numbers.accept(at(0), number).unwrap();
                assert_eq!(received, Received::New, "{number}");
                whole
            })
            .into();
        assert_eq!([wholes[0] - wholes[1], wholes[1] - wholes[2]], [2, 1]);
    }
}
