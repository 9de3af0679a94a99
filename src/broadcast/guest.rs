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
    status_at: Time,
    is_repeated: bool,
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
            status_at: Time::ZERO,
            is_repeated: false,
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
        (self.of, self.has, self.sender) = (of, has, None);
        (self.head_sent, self.head_known, self.status_at) = (0, 0, Time::ZERO);
    }

    /// Takes in an acknowledgement; `false` if it names bytes that were never sent.
    pub(super) fn acknowledge(&mut self, now: Time, ack: &Ack<'_>) -> bool {
        // An acknowledgement of the match before this one was under way.
        if ack.number != self.of.number || ack.head == 0 {
            return true;
        }
        if ack.head > self.head_sent {
            return false;
        }
        self.head_known = self.head_known.max(ack.head);
        let trip = if self.is_repeated { REPEAT_AFTER } else { now.since(self.status_at) };
        let sender = self.sender.get_or_insert_with(|| Sender::new(now, self.has, trip));
        sender.acknowledge(now, ack)
    }

    /// The next thing to send at `now`, of a log with this head.
    pub(super) fn poll(&mut self, now: Time, head: Option<&Head>) -> Option<Due> {
        if self.status_due(head) <= now {
            return Some(Due::Status);
        }
        let head = head.filter(|head| head.of == self.of)?;
        self.sender.as_mut()?.poll(now, head.len).map(Due::Piece)
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
        (self.head_sent, self.status_at) = (len, now);
    }

    fn status_due(&self, head: Option<&Head>) -> Time {
        match head {
            Some(head) if head.of != self.of || head.len > self.head_sent => Time::ZERO,
            Some(head) if head.len > self.head_known => self.status_at + REPEAT_AFTER,
            _ if self.status_at == Time::ZERO => Time::ZERO,
            _ => self.status_at + STATUS_AFTER,
        }
    }

    /// When something is due, of a log of this length.
    pub(super) fn poll_timeout(&self, shown: Option<(MatchId, u32)>) -> Time {
        let (is_new, len) =
            shown.map_or((false, 0), |(of, len)| (of != self.of || len > self.head_sent, len));
        let after = if len > self.head_known { REPEAT_AFTER } else { STATUS_AFTER };
        let status_at =
            if is_new || self.status_at == Time::ZERO { Time::ZERO } else { self.status_at + after };
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
