//! The reliable packets of one R-Type connection: each is resent under its number every 100 ms until its ACK comes.

use super::numbers::Numbers;
use crate::protocol::time::{Span, Time};
use crate::wire::rtype::{RtypeHeader, RtypePacket, RtypePayload};
use std::collections::VecDeque;

/// A packet without an ACK is resent after this long.
pub(super) const RESEND_EVERY: Span = Span::from_millis(100);

/// The number of resends after which a peer that answers nothing is gone.
pub(super) const MAX_RESENDS: u32 = 5;

/// The number of resends after which a peer that is heard of, but does not acknowledge this packet, is gone: a bad link may
/// lose the first six copies or their ACKs while everything else comes through.
const MAX_RESENDS_HEARD: u32 = 20;

/// The most packets that wait: a newcomer is sent 255 entities and 256 projectiles at once.
const KEPT: usize = 1_024;

/// The most packets under way.
const IN_FLIGHT: usize = 64;

/// The longest reliable packet of a server, ENTITY_SPAWN.
const MAX_PACKET: usize = 11;

#[derive(Clone, Copy, Debug)]
struct Slot {
    bytes: [u8; MAX_PACKET],
    len: usize,
    mark: u64,
    /// The number, and when it was sent first.
    sent: Option<(u16, Time)>,
    due: Time,
    resends: u32,
    acknowledged: bool,
}

/// A queue in a fixed memory, oldest first. The front is never acknowledged: such packets are taken off.
#[derive(Clone, Debug)]
pub(super) struct Outbox {
    slots: VecDeque<Slot>,
    heard_at: Time,
}

impl Outbox {
    pub(super) fn new() -> Self {
        Self { slots: VecDeque::with_capacity(KEPT), heard_at: Time::ZERO }
    }

    pub(super) fn clear(&mut self, now: Time) {
        self.slots.clear();
        self.heard_at = now;
    }

    /// Notes that the peer was heard of.
    pub(super) fn heard(&mut self, now: Time) {
        self.heard_at = now;
    }

    /// Whether this many packets more can wait.
    pub(super) fn has_room(&self, count: usize) -> bool {
        self.slots.len() + count <= KEPT
    }

    /// Queues a packet. One that finds no room is dropped; the caller has asked for room before.
    pub(super) fn push(&mut self, now: Time, payload: &RtypePayload<'_>, mark: u64) {
        let mut bytes = [0; MAX_PACKET];
        if let (true, Ok(len)) = (
            self.has_room(1),
            RtypePacket::encode(RtypeHeader { asks_ack: true, sequence: 0 }, payload, &mut bytes),
        ) {
            let slot = Slot { bytes, len, mark, sent: None, due: now, resends: 0, acknowledged: false };
            self.slots.push_back(slot);
        }
    }

    /// Gives everything that waits this mark.
    pub(super) fn mark_all(&mut self, mark: u64) {
        self.slots.iter_mut().for_each(|slot| slot.mark = mark);
    }

    /// The mark up to which everything was acknowledged; `None` if nothing waits.
    pub(super) fn acknowledged_mark(&self) -> Option<u64> {
        self.slots.front().map(|slot| slot.mark.saturating_sub(1))
    }

    fn under_way(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter().take(IN_FLIGHT).filter(|slot| !slot.acknowledged)
    }

    pub(super) fn has_due(&self, now: Time) -> bool {
        self.under_way().any(|slot| slot.due <= now)
    }

    /// Writes the oldest packet that is due.
    pub(super) fn write(&mut self, now: Time, numbers: &mut Numbers, buf: &mut [u8]) -> Option<usize> {
        let slot =
            self.slots.iter_mut().take(IN_FLIGHT).find(|slot| !slot.acknowledged && slot.due <= now)?;
        match slot.sent {
            None => {
                let number = numbers.next();
                slot.bytes[2..4].copy_from_slice(&number.to_be_bytes());
                (slot.sent, slot.due) = (Some((number, now)), now + RESEND_EVERY);
            }
            // The time of the next one is counted from when this one was due: a frame of lateness does not add up.
            Some(_) => {
                slot.resends += 1;
                slot.due = (slot.due + RESEND_EVERY).max(now);
            }
        }
        buf.get_mut(..slot.len)?.copy_from_slice(&slot.bytes[..slot.len]);
        Some(slot.len)
    }

    /// Takes in an ACK. `false` if it is of no packet under way.
    pub(super) fn acknowledged(&mut self, number: u16) -> bool {
        let mut slots = self.slots.iter_mut().take(IN_FLIGHT);
        let is_of = |slot: &&mut Slot| slot.sent.is_some_and(|(sent, _)| sent == number);
        let Some(slot) = slots.find(|slot| is_of(slot) && !slot.acknowledged) else { return false };
        slot.acknowledged = true;
        while self.slots.front().is_some_and(|slot| slot.acknowledged) {
            self.slots.pop_front();
        }
        true
    }

    /// Whether the peer is gone: five resends of a packet were not answered by anything at all, or too many by everything
    /// but its ACK.
    pub(super) fn is_unanswered(&self, now: Time) -> bool {
        let patience = RESEND_EVERY * (MAX_RESENDS + 1);
        self.under_way().any(|slot| {
            let since = slot.sent.map(|(_, first_sent)| first_sent.max(self.heard_at));
            let is_silent = since.is_some_and(|since| now.since(since) >= patience);
            let limit = if is_silent { MAX_RESENDS } else { MAX_RESENDS_HEARD + 1 };
            slot.resends >= limit
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::numbers::OF_CLIENT;
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn spawn(id: u16) -> RtypePayload<'static> {
        RtypePayload::EntitySpawn { id, kind: 1, x: 2, y: 3 }
    }

    #[test]
    fn packet_is_resent_five_times_before_the_peer_is_lost() {
        let (mut outbox, mut numbers) = (Outbox::new(), Numbers::new(7, OF_CLIENT));
        outbox.push(at(0), &spawn(9), 1);
        let (mut sent, mut buf) = (Vec::new(), [0; 20]);
        let gone = (0..2_000).find(|ms| {
            if outbox.is_unanswered(at(*ms)) {
                return true;
            }
            while let Some(len) = outbox.write(at(*ms), &mut numbers, &mut buf) {
                assert_eq!(buf[..len], [0x30, 1, 0, 7, 0, 9, 1, 0, 2, 0, 3]);
                sent.push(*ms);
            }
            false
        });
        assert_eq!((sent, gone), (vec![0, 100, 200, 300, 400, 500], Some(600)));
    }

    #[test]
    fn peer_that_is_heard_of_has_longer_but_not_for_ever() {
        let (mut outbox, mut numbers) = (Outbox::new(), Numbers::new(0, OF_CLIENT));
        outbox.push(at(0), &spawn(1), 1);
        let gone = (0..20_000).find(|ms| {
            outbox.heard(at(*ms));
            while outbox.write(at(*ms), &mut numbers, &mut [0; 20]).is_some() {}
            outbox.is_unanswered(at(*ms))
        });
        assert_eq!(gone, Some(2_100));
    }

    #[test]
    fn marks_rise_with_what_is_acknowledged_in_any_order() {
        let (mut outbox, mut numbers, mut buf) = (Outbox::new(), Numbers::new(0, OF_CLIENT), [0; 20]);
        (1..=3).for_each(|n| outbox.push(at(0), &spawn(n), u64::from(n) + 10));
        while outbox.write(at(0), &mut numbers, &mut buf).is_some() {}
        assert_eq!(outbox.acknowledged_mark(), Some(10));
        assert!(outbox.acknowledged(1) && !outbox.acknowledged(1));
        assert_eq!(outbox.acknowledged_mark(), Some(10));
        assert!(outbox.acknowledged(0));
        assert_eq!(outbox.acknowledged_mark(), Some(12));
        assert!(outbox.acknowledged(2));
        assert_eq!(outbox.acknowledged_mark(), None);
    }

    #[test]
    fn pause_of_the_server_is_not_made_up_in_resends() {
        let (mut outbox, mut numbers) = (Outbox::new(), Numbers::new(0, OF_CLIENT));
        outbox.push(at(0), &spawn(1), 1);
        let mut written =
            |ms| core::iter::from_fn(|| outbox.write(at(ms), &mut numbers, &mut [0; 20])).count();
        assert_eq!(written(0), 1);
        assert!(written(1_000) <= 2);
        assert_eq!(written(1_050), 0);
    }

    #[test]
    fn at_most_64_packets_are_under_way() {
        let (mut outbox, mut numbers) = (Outbox::new(), Numbers::new(0, OF_CLIENT));
        (0..100).for_each(|n| outbox.push(at(0), &spawn(n), 1));
        let written = core::iter::from_fn(|| outbox.write(at(0), &mut numbers, &mut [0; 20])).count();
        assert_eq!((written, outbox.has_due(at(0))), (64, false));
        assert!(outbox.acknowledged(5) && !outbox.acknowledged(64));
        assert!(!outbox.has_due(at(0)), "the oldest is still under way");
        assert!(outbox.acknowledged(0) && outbox.has_due(at(0)));
    }

    #[test]
    fn marks_are_all_replaced() {
        let mut outbox = Outbox::new();
        (1..=2).for_each(|n| outbox.push(at(0), &spawn(n), u64::from(n)));
        outbox.mark_all(50);
        assert_eq!(outbox.acknowledged_mark(), Some(49));
    }

    #[test]
    fn acknowledged_packet_behind_another_is_not_due() {
        let (mut outbox, mut numbers) = (Outbox::new(), Numbers::new(0, OF_CLIENT));
        (0..2).for_each(|n| outbox.push(at(0), &spawn(n), 1));
        while outbox.write(at(0), &mut numbers, &mut [0; 20]).is_some() {}
        assert!(outbox.acknowledged(1));
        assert!(!outbox.has_due(at(99)) && outbox.has_due(at(100)));
        assert!(outbox.write(at(100), &mut numbers, &mut [0; 20]).is_some());
        assert!(!outbox.has_due(at(150)));
        assert_eq!(outbox.write(at(150), &mut numbers, &mut [0; 20]), None);
    }
}
