//! The sequence numbers of one R-Type connection: those that are sent, and which have been received.

use crate::channel::refusal::Refusal;
use crate::channel::sequence::Received;
use crate::protocol::time::Time;

/// How many received numbers are remembered behind the newest.
const WINDOW: u64 = 2_048;

/// An ACK or NACK may name any of the last this many packets.
const NAMED: u64 = 4_096;

/// The distance from the newest number within which a packet is taken. It is all that tells a packet of the other side from
/// a blind guess, so it is narrow ahead: a guess that hits moves the newest by no more than this.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reach {
    ahead: u64,
    /// Added for each second in which the newest did not move.
    a_second: u64,
    behind: u64,
}

impl Reach {
    /// A client sends one packet a frame, and ACKs.
    pub(super) const OF_CLIENT: Self = Self { ahead: 8, a_second: 512, behind: 256 };
    /// A server sends up to 300 updates a second, and resends a message for seconds under its first number.
    pub(super) const OF_SERVER: Self = Self { ahead: 64, a_second: 2_048, behind: WINDOW - 1 };
    /// The numbers of challenges leave gaps of up to 1,023, and three in a row may be lost.
    pub(super) const OF_CHALLENGES: Self = Self { ahead: 4_096, ..Self::OF_SERVER };
}

/// Both directions of one connection.
#[derive(Clone, Debug)]
pub(super) struct Numbers {
    reach: Reach,
    next: u16,
    sent: u64,
    /// The newest number received, with the turns of the counter, and when it last moved.
    newest: Option<(u64, Time)>,
    seen: [u64; WINDOW as usize / 64],
}

impl Numbers {
    /// Numbers that begin with `first`; `nat` is that of the other side.
    pub(super) fn new(first: u16, reach: Reach) -> Self {
        Self { reach, next: first, sent: 0, newest: None, seen: [0; WINDOW as usize / 64] }
    }

    /// The number of a packet that goes out now.
    pub(super) fn next(&mut self) -> u16 {
        let next = self.next;
        (self.next, self.sent) = (next.wrapping_add(1), self.sent.saturating_add(1));
        next
    }

    /// Whether a packet of this number was sent lately.
    pub(super) fn was_sent(&self, number: u16) -> bool {
        u64::from(self.next.wrapping_sub(1).wrapping_sub(number)) < self.sent.min(NAMED)
    }

    /// Lets the other side's numbers begin anywhere.
    pub(super) fn forget_received(&mut self) {
        self.newest = None;
    }

    pub(super) fn set_reach(&mut self, reach: Reach) {
        self.reach = reach;
    }

    /// The whole number of a packet, if it is within reach and, by its number, has not been here before.
    pub(super) fn look_at(&self, now: Time, number: u16) -> Result<(u64, Received), Refusal> {
        let Some((newest, moved_at)) = self.newest else {
            // The first turn of the counter is left free, for packets from before the first.
            return Ok((u64::from(number) + (1 << 16), Received::New));
        };
        let away = number.wrapping_sub(newest as u16).cast_signed();
        let whole = newest.saturating_add_signed(i64::from(away));
        let still = now.since(moved_at).nanos();
        let ahead = self.reach.ahead + still.saturating_mul(self.reach.a_second) / 1_000_000_000;
        let reach = if away > 0 { ahead } else { self.reach.behind };
        if u64::from(away.unsigned_abs()) > reach {
            return Err(Refusal::FarSequence);
        }
        let seen = away <= 0 && self.seen[word(whole)] & bit(whole) != 0;
        Ok((whole, if seen { Received::Duplicate } else { Received::New }))
    }

    /// Takes in the number of a packet.
    pub(super) fn accept(&mut self, now: Time, number: u16) -> Result<(u64, Received), Refusal> {
        let (whole, received) = self.look_at(now, number)?;
        match self.newest {
            None => {
                self.seen = [0; WINDOW as usize / 64];
                self.newest = Some((whole, now));
            }
            Some((newest, _)) if whole > newest => {
                for passed in (newest + 1..=whole).take(WINDOW as usize) {
                    self.seen[word(passed)] &= !bit(passed);
                }
                self.newest = Some((whole, now));
            }
            Some(_) => {}
        }
        self.seen[word(whole)] |= bit(whole);
        Ok((whole, received))
    }
}

fn word(number: u64) -> usize {
    (number % WINDOW / 64) as usize
}

fn bit(number: u64) -> u64 {
    1 << (number % 64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::time::Span;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn a_number_is_new_once_across_the_wrap_and_in_any_order() {
        let mut numbers = Numbers::new(0, Reach::OF_SERVER);
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
    fn a_guess_far_ahead_is_refused_unless_it_was_silent_for_long() {
        let mut numbers = Numbers::new(0, Reach::OF_CLIENT);
        numbers.accept(at(0), 1_000).unwrap();
        assert_eq!(numbers.accept(at(0), 1_009).unwrap_err(), Refusal::FarSequence);
        assert_eq!(numbers.accept(at(0), 743).unwrap_err(), Refusal::FarSequence);
        assert!(numbers.accept(at(0), 744).is_ok() && numbers.accept(at(0), 1_008).is_ok());
        assert_eq!(numbers.accept(at(900), 1_508).unwrap_err(), Refusal::FarSequence);
        assert!(numbers.accept(at(1_000), 1_508).is_ok());
    }

    #[test]
    fn only_what_was_sent_can_be_named() {
        let mut numbers = Numbers::new(65_535, Reach::OF_CLIENT);
        assert!(!numbers.was_sent(65_534) && !numbers.was_sent(65_535));
        let sent = [numbers.next(), numbers.next()];
        assert_eq!(sent, [65_535, 0]);
        assert!(numbers.was_sent(65_535) && numbers.was_sent(0));
        assert!(!numbers.was_sent(1) && !numbers.was_sent(65_534));
    }

    #[test]
    fn only_the_last_4096_packets_can_be_named() {
        let mut numbers = Numbers::new(0, Reach::OF_CLIENT);
        (0..5_000).for_each(|_| {
            numbers.next();
        });
        assert!(numbers.was_sent(4_999) && numbers.was_sent(904));
        assert!(!numbers.was_sent(5_000) && !numbers.was_sent(903));
    }

    #[test]
    fn numbers_that_begin_anew_have_not_been_seen() {
        let mut numbers = Numbers::new(0, Reach::OF_SERVER);
        numbers.accept(at(0), 100).unwrap();
        numbers.forget_received();
        numbers.accept(at(0), 101).unwrap();
        assert_eq!(numbers.look_at(at(0), 100).unwrap().1, Received::New);
        assert_eq!(numbers.look_at(at(0), 101).unwrap().1, Received::Duplicate);
    }
}
