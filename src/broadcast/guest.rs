//! One spectator of a broadcast.

use super::sender::Sender;
use crate::channel::bucket::Bucket;
use crate::protocol::time::{Span, Time};
use crate::wire::broadcast::{Ack, Bye, Head, MatchId};
use core::ops::Range;
use std::net::SocketAddr;

/// A spectator that is not heard for this long is gone. It speaks at least once a second.
const SILENT_AFTER: Span = Span::from_secs(10);
/// A spectator that acknowledges nothing for this long is sent away.
const STALLED_AFTER: Span = Span::from_secs(15);
/// A head is repeated after this long while it is not acknowledged, and in any case.
const REPEAT_AFTER: Span = Span::from_millis(300);
const STATUS_AFTER: Span = Span::from_secs(2);
/// The most datagrams in a second that are read. An honest spectator acknowledges every fourth datagram of its share.
const MAX_DATAGRAMS: u32 = 200;
/// A spectator is sent away after this many datagrams beyond that, or that break a rule.
const MAX_STRIKES: u32 = 200;

/// The next thing to send to a spectator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// The newest head, or that there is none yet.
    Status,
    /// These bytes of the log.
    Piece(Range<u32>),
}

#[derive(Debug)]
pub(super) struct Guest {
    addr: SocketAddr,
    /// The match that is sent to it, and the bytes of it that it had before.
    of: MatchId,
    has: u32,
    /// `None` until it has acknowledged the first head.
    sender: Option<Sender>,
    /// The length of the newest head that it was sent, when, and whether for the first time; and that it has acknowledged.
    head_sent: u32,
    head_known: u32,
    status_at: Option<Time>,
    is_repeated: bool,
    /// The longest head of the match that it was ever sent, and the bytes: a WATCH that comes late or twice begins again, and
    /// acknowledgements of what was sent before it are still under way.
    head_ever: u32,
    bytes_ever: u32,
    heard_at: Time,
    inbound: Bucket,
    strikes: u32,
}

impl Guest {
    pub(super) fn new(now: Time, addr: SocketAddr) -> Self {
        Self {
            addr,
            of: MatchId::default(),
            has: 0,
            sender: None,
            head_sent: 0,
            head_known: 0,
            status_at: None,
            is_repeated: false,
            head_ever: 0,
            bytes_ever: 0,
            heard_at: now,
            inbound: Bucket::per_second(MAX_DATAGRAMS),
            strikes: 0,
        }
    }

    pub(super) fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// A datagram has come. `false` if it is one too many.
    pub(super) fn hear(&mut self, now: Time) -> bool {
        let is_within = self.inbound.take(now);
        if is_within {
            self.heard_at = now;
        } else {
            self.strike();
        }
        is_within
    }

    /// The spectator broke a rule.
    pub(super) fn strike(&mut self) {
        self.strikes += 1;
    }

    /// Begins, or begins again, with the match `of`, of which the spectator has the first `has` bytes.
    pub(super) fn watch(&mut self, of: MatchId, has: u32) {
        if of != self.of {
            (self.head_ever, self.bytes_ever) = (0, 0);
        }
        (self.of, self.has, self.sender) = (of, has, None);
        (self.head_sent, self.head_known, self.status_at) = (0, 0, None);
    }

    /// Takes in an acknowledgement; `false` if it names bytes that were never sent.
    pub(super) fn acknowledge(&mut self, now: Time, ack: &Ack<'_>) -> bool {
        // An acknowledgement of the match before this one was under way.
        if ack.number != self.of.number || ack.head == 0 {
            return true;
        }
        if ack.head > self.head_ever {
            return false;
        }
        if ack.head > self.head_sent {
            return true;
        }
        self.head_known = self.head_known.max(ack.head);
        let trip = match self.status_at {
            Some(at) if !self.is_repeated => now.since(at),
            _ => REPEAT_AFTER,
        };
        let sender = self.sender.get_or_insert_with(|| Sender::new(now, self.has, trip));
        let end = ack.end();
        if end > sender.next() && end <= self.bytes_ever {
            sender.skip_to(now, ack.next);
            return true;
        }
        sender.acknowledge(now, ack)
    }

    /// The next thing to send at `now`, of a log with this head.
    pub(super) fn poll(&mut self, now: Time, head: Option<&Head>) -> Option<Due> {
        if self.status_due(head) <= now {
            return Some(Due::Status);
        }
        let head = head.filter(|head| head.of == self.of)?;
        let piece = self.sender.as_mut()?.poll(now, head.len)?;
        self.bytes_ever = self.bytes_ever.max(piece.end);
        Some(Due::Piece(piece))
    }

    /// The status went out.
    pub(super) fn sent_status(&mut self, now: Time, head: Option<&Head>) {
        let len = head.map_or(0, |head| head.len);
        if let Some(head) = head
            && head.of != self.of
        {
            self.watch(head.of, 0);
        }
        self.is_repeated = self.head_sent == len;
        (self.head_sent, self.status_at) = (len, Some(now));
        self.head_ever = self.head_ever.max(len);
    }

    fn status_due(&self, head: Option<&Head>) -> Time {
        self.status_due_for(head.map(|head| (head.of, head.len)))
    }

    /// When the status of a log of this length is due: at once if it is news, or the first.
    fn status_due_for(&self, shown: Option<(MatchId, u32)>) -> Time {
        let (is_new, len) =
            shown.map_or((false, 0), |(of, len)| (of != self.of || len > self.head_sent, len));
        let after = if len > self.head_known { REPEAT_AFTER } else { STATUS_AFTER };
        self.status_at.filter(|_| !is_new).map_or(Time::ZERO, |at| at + after)
    }

    /// When something is due, of a log of this length.
    pub(super) fn poll_timeout(&self, shown: Option<(MatchId, u32)>) -> Time {
        let (status_at, len) = (self.status_due_for(shown), shown.map_or(0, |(_, len)| len));
        let piece_at = self.sender.as_ref().map_or(Time::NEVER, |sender| sender.poll_timeout(len));
        status_at.min(piece_at).min(self.heard_at + SILENT_AFTER)
    }

    /// Whether the spectator has the whole log with this head.
    pub(super) fn has_all(&self, of: MatchId, len: u32) -> bool {
        self.of == of && self.sender.as_ref().is_some_and(|sender| sender.is_done(len))
    }

    /// Why the spectator has to go, if it has.
    pub(super) fn fault(&self, now: Time) -> Option<Bye> {
        let is_stuck = self.sender.as_ref().is_some_and(|sender| sender.has_stalled(now, STALLED_AFTER));
        if self.strikes > MAX_STRIKES {
            Some(Bye::Misbehaved)
        } else if now.since(self.heard_at) > SILENT_AFTER {
            Some(Bye::Silent)
        } else if is_stuck {
            Some(Bye::TooSlow)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::broadcast::{ToBroadcast, encode_ack};

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn guest() -> Guest {
        Guest::new(at(1_000), ([192, 0, 2, 7], 1).into())
    }

    fn head(len: u32) -> Head {
        let of = MatchId { id: [1; 16], number: 1 };
        Head { of, is_last: false, len, hash: [0; 32], signature: [0; 64] }
    }

    fn acknowledge(guest: &mut Guest, ms: u64, (number, next, head): (u32, u32, u32)) -> bool {
        let mut buf = [0; 100];
        let len = encode_ack(number, next, head, &[], &mut buf).unwrap();
        let Ok(ToBroadcast::Ack(ack)) = ToBroadcast::decode(&buf[..len]) else { panic!("no ACK") };
        guest.acknowledge(at(ms), &ack)
    }

    /// A guest that was sent the head of a log of 1,000 bytes at one second, and has acknowledged it.
    fn receiving() -> Guest {
        let mut guest = guest();
        guest.watch(head(1_000).of, 0);
        guest.sent_status(at(1_000), Some(&head(1_000)));
        assert!(acknowledge(&mut guest, 1_050, (1, 0, 1_000)));
        guest
    }

    #[test]
    fn spectator_is_silent_after_ten_seconds() {
        let mut guest = guest();
        assert_eq!(guest.fault(at(11_000)), None);
        assert_eq!(guest.fault(at(11_001)), Some(Bye::Silent));
        assert!(guest.hear(at(2_000)));
        guest.sent_status(at(11_999), None);
        assert_eq!((guest.fault(at(12_000)), guest.poll_timeout(None)), (None, at(12_000)));
        assert_eq!(guest.fault(at(12_001)), Some(Bye::Silent));
    }

    #[test]
    fn wait_at_time_zero_is_repeated_after_two_seconds_only() {
        let mut guest = Guest::new(at(0), ([192, 0, 2, 7], 1).into());
        assert_eq!((guest.poll(at(0), None), guest.poll_timeout(None)), (Some(Due::Status), at(0)));
        guest.sent_status(at(0), None);
        assert_eq!((guest.poll(at(0), None), guest.poll_timeout(None)), (None, at(2_000)));
        assert_eq!((guest.poll(at(1_999), None), guest.poll(at(2_000), None)), (None, Some(Due::Status)));
    }

    #[test]
    fn spectator_may_break_two_hundred_rules() {
        let mut guest = guest();
        (0..200).for_each(|_| guest.strike());
        assert_eq!(guest.fault(at(1_000)), None);
        guest.strike();
        assert_eq!(guest.fault(at(1_000)), Some(Bye::Misbehaved));
    }

    #[test]
    fn datagrams_beyond_the_rate_are_dropped_and_break_a_rule() {
        let mut guest = guest();
        let heard = (0..251).filter(|_| guest.hear(at(5_000))).count();
        assert_eq!((heard, guest.fault(at(5_000))), (50, Some(Bye::Misbehaved)), "a quarter of a second's");
        assert!(!guest.hear(at(5_004)) && guest.hear(at(5_005)));
    }

    #[test]
    fn spectator_without_progress_for_fifteen_seconds_is_too_slow() {
        let mut guest = receiving();
        assert_eq!(guest.poll(at(1_050), Some(&head(1_000))), Some(Due::Piece(0..1_000)));
        for second in 2..=16 {
            assert!(guest.hear(at(second * 1_000)));
        }
        assert_eq!(guest.fault(at(16_050)), None);
        assert_eq!(guest.fault(at(16_051)), Some(Bye::TooSlow));
        assert!(acknowledge(&mut guest, 16_060, (1, 1_000, 1_000)));
        assert_eq!((guest.fault(at(16_061)), guest.has_all(head(1).of, 1_000)), (None, true));
    }

    #[test]
    fn ack_of_bytes_or_heads_that_were_never_sent_is_a_lie() {
        let mut guest = receiving();
        for (ack, is_true) in [
            ((1, 0, 1_000), true),
            ((1, 0, 1_001), false),
            ((1, 1, 1_000), false),
            ((2, 9_999, 9_999), true),
            ((1, 9_999, 0), true),
        ] {
            assert_eq!(acknowledge(&mut guest, 1_100, ack), is_true, "{ack:?}");
        }
    }

    #[test]
    fn head_is_repeated_until_it_is_acknowledged() {
        let mut guest = guest();
        let due = |guest: &Guest, len| {
            let head = head(len);
            assert_eq!(guest.poll_timeout(Some((head.of, head.len))), guest.status_due(Some(&head)));
            guest.status_due(Some(&head))
        };
        guest.watch(head(1).of, 0);
        assert_eq!(due(&guest, 500), Time::ZERO);
        guest.sent_status(at(1_000), Some(&head(500)));
        assert_eq!((due(&guest, 500), due(&guest, 501)), (at(1_300), Time::ZERO), "a longer one at once");
        assert!(acknowledge(&mut guest, 1_050, (1, 0, 500)));
        assert_eq!(guest.status_due(Some(&head(500))), at(3_000));
        guest.watch(head(1).of, 0);
        assert_eq!(due(&guest, 500), Time::ZERO, "it asks again");
    }

    #[test]
    fn spectator_of_another_match_begins_with_its_head() {
        let mut guest = receiving();
        let next = Head { of: MatchId { id: [2; 16], number: 2 }, ..head(300) };
        assert_eq!(guest.poll(at(1_100), Some(&next)), Some(Due::Status));
        guest.sent_status(at(1_100), Some(&next));
        assert_eq!(guest.poll(at(1_100), Some(&next)), None, "no bytes before it has the head");
        assert!(acknowledge(&mut guest, 1_150, (2, 0, 300)));
        assert_eq!(guest.poll(at(1_150), Some(&next)), Some(Due::Piece(0..300)));
        assert!(!guest.has_all(next.of, 300));
    }
}
