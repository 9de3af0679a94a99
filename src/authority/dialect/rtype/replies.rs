//! The ACKs and NACKs of one R-Type connection: those that wait to be sent, and how many NACKs have come.

use super::numbers::Numbers;
use crate::channel::sequence::Received;
use crate::protocol::time::{Span, Time};
use crate::wire::rtype::{RtypePacket, RtypePayload};
use std::collections::VecDeque;

/// The most replies that wait. A packet whose ACK finds no room is resent.
const KEPT: usize = 256;

/// The most NACKs in a second: a flood of bad datagrams is not answered with a flood.
const MAX_NACKS_A_SECOND: u32 = 32;

/// This many NACKs without a pause of a second end a connection.
const MAX_NACKS: u32 = 64;
const PAUSE: Span = Span::from_secs(1);

/// The replies of one side.
#[derive(Clone, Debug)]
pub(super) struct Replies {
    waiting: VecDeque<RtypePayload<'static>>,
    /// The NACKs queued in the second that began then.
    nacked: (Time, u32),
    /// The NACKs that came, and the last one of them.
    heard: (Time, u32),
}

impl Replies {
    pub(super) fn new() -> Self {
        Self { waiting: VecDeque::with_capacity(KEPT), nacked: (Time::ZERO, 0), heard: (Time::ZERO, 0) }
    }

    pub(super) fn clear(&mut self) {
        self.waiting.clear();
        (self.nacked, self.heard) = ((Time::ZERO, 0), (Time::ZERO, 0));
    }

    fn push(&mut self, reply: RtypePayload<'static>) {
        if self.waiting.len() < KEPT {
            self.waiting.push_back(reply);
        }
    }

    /// Queues an ACK.
    pub(super) fn ack(&mut self, number: u16) {
        self.push(RtypePayload::Ack(number));
    }

    /// Queues a NACK of a datagram that breaks a rule, if its number is the next of an honest sender: a number that was
    /// here before, or that is nowhere near, is somebody else's.
    pub(super) fn nack(&mut self, now: Time, numbers: &Numbers, datagram: &[u8]) {
        let Some(number) = RtypePacket::refused_sequence(datagram) else { return };
        if !matches!(numbers.look_at(now, number), Ok((_, Received::New))) {
            return;
        }
        if now.since(self.nacked.0) >= PAUSE {
            self.nacked = (now, 0);
        }
        self.nacked.1 += 1;
        if self.nacked.1 <= MAX_NACKS_A_SECOND {
            self.push(RtypePayload::Nack(number));
        }
    }

    /// Takes in a NACK of a packet that was sent.
    pub(super) fn nack_heard(&mut self, now: Time) {
        let count = if now.since(self.heard.0) >= PAUSE { 0 } else { self.heard.1 };
        self.heard = (now, count + 1);
    }

    /// Whether too many NACKs have come.
    pub(super) fn are_rejected(&self) -> bool {
        self.heard.1 >= MAX_NACKS
    }

    pub(super) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    pub(super) fn write(&mut self, numbers: &mut Numbers, buf: &mut [u8]) -> Option<usize> {
        let reply = self.waiting.pop_front()?;
        numbers.write(false, &reply, buf)
    }
}

#[cfg(test)]
mod tests {
    use super::super::numbers::OF_CLIENT;
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn flood_of_bad_datagrams_gets_32_nacks_a_second() {
        let (mut replies, mut numbers) = (Replies::new(), Numbers::new(0, OF_CLIENT));
        numbers.accept(at(0), 100).unwrap();
        (0..1_000).for_each(|_| replies.nack(at(1), &numbers, &[0x99, 0, 0, 101]));
        assert_eq!(replies.waiting.len(), 32);
        replies.nack(at(1_001), &numbers, &[0x99, 0, 0, 101]);
        assert_eq!(replies.waiting.len(), 33);
        // Here before, nowhere near, no number, a NACK.
        for datagram in [&[0x99, 0, 0, 100][..], &[0x99, 0, 50, 0], &[0x99, 0], &[0x02, 1, 0, 101]] {
            replies.nack(at(1_002), &numbers, datagram);
        }
        assert_eq!(replies.waiting.len(), 33);
    }

    #[test]
    fn sixty_four_nacks_without_a_pause_are_too_many() {
        let mut replies = Replies::new();
        (1..=200).for_each(|n| replies.nack_heard(at(n * 1_000)));
        assert!(!replies.are_rejected(), "one a second");
        (1..64).for_each(|n| replies.nack_heard(at(200_000 + n * 900)));
        assert!(replies.are_rejected(), "sixty-four with less than a second between");
    }

    #[test]
    fn at_most_256_replies_wait_and_none_after_a_reset() {
        let (mut replies, mut numbers) = (Replies::new(), Numbers::new(0, OF_CLIENT));
        (0..300).for_each(|number| replies.ack(number));
        let written = |replies: &mut Replies, numbers: &mut Numbers| {
            core::iter::from_fn(|| replies.write(numbers, &mut [0; 20])).count()
        };
        assert_eq!(written(&mut replies, &mut numbers), 256);
        numbers.accept(at(0), 100).unwrap();
        (0..64).for_each(|_| {
            replies.nack(at(1), &numbers, &[0x99, 0, 0, 101]);
            replies.nack_heard(at(1));
        });
        assert!(replies.is_waiting() && replies.are_rejected());
        replies.clear();
        assert!(!replies.is_waiting() && !replies.are_rejected());
        replies.nack(at(2), &numbers, &[0x99, 0, 0, 101]);
        assert_eq!(written(&mut replies, &mut numbers), 1, "the next client has its own 32");
    }
}
