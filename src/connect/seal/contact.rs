//! When packets of a peer were opened last, and when it is asked whether it is still there.

use crate::protocol::time::{Span, Time};

/// Without a decrypted packet for this long, a peer gets a FIND, and a joiner starts again beside what it has.
pub(super) const PATIENCE: Span = Span::from_secs(1);
/// A peer of which nothing was decrypted for this long is gone.
const GONE: Span = Span::from_secs(60);
/// Nothing was decrypted for so long that other paths are tried.
pub(super) const SILENT: Span = Span::from_millis(300);
/// A connection on which packets are rare is silent after this many times their interval.
const SILENT_INTERVALS: u32 = 4;
/// The interval of packets before any was measured.
const FIRST_INTERVAL: Span = Span::from_secs(1);

/// The times of opened packets and of FINDs.
#[derive(Debug)]
pub(super) struct Contact {
    opened_at: Time,
    /// The mean interval between opened packets.
    interval: Span,
    /// When the inner protocol had an opening message after a silence: the peer may have other keys by now.
    sought_at: Option<Time>,
    /// When a FIND may be sent next.
    find_at: Time,
    /// How many datagrams of the inner protocol were sealed when a FIND was last due, and when that was another number than before.
    sealed: u64,
    used_at: Time,
}

impl Contact {
    pub(super) fn new(now: Time) -> Self {
        Self {
            opened_at: now,
            interval: FIRST_INTERVAL,
            sought_at: None,
            find_at: now,
            sealed: 0,
            used_at: now,
        }
    }

    /// When a packet was decrypted last, or the time began again.
    pub(super) fn opened_at(&self) -> Time {
        self.opened_at
    }

    /// Since when nothing was decrypted, and the inner protocol has sent nothing: while it waits for the peer, it sends. Right to a
    /// second.
    pub(super) fn idle_since(&self) -> Time {
        self.opened_at.max(self.used_at)
    }

    /// Notes a decrypted packet.
    #[inline]
    pub(super) fn opened(&mut self, now: Time) {
        self.interval = self.interval.averaged(now.since(self.opened_at), 8);
        self.opened_at = now;
    }

    /// Begins the time without a decrypted packet again: the peer could not have sent one before.
    pub(super) fn restart(&mut self, now: Time) {
        self.opened_at = now;
    }

    /// Whether nothing was decrypted for so long that a joiner begins again.
    #[inline]
    pub(super) fn is_quiet(&self, now: Time) -> bool {
        now.since(self.opened_at) >= PATIENCE
    }

    /// When nothing was decrypted for longer than the interval of packets explains.
    pub(super) fn silent_at(&self) -> Time {
        self.opened_at + SILENT.max(self.interval * SILENT_INTERVALS)
    }

    /// Notes that the inner protocol looks for the peer by another handshake.
    pub(super) fn seek(&mut self, now: Time) {
        self.sought_at = Some(now);
    }

    /// Whether something was opened since the inner protocol looked for the peer.
    pub(super) fn holds(&self) -> bool {
        self.sought_at.is_none_or(|at| at <= self.opened_at)
    }

    /// When a FIND is due.
    pub(super) fn find_at(&self) -> Time {
        self.find_at.max(self.opened_at + PATIENCE)
    }

    /// Whether a FIND goes out at `now`, on a connection that has sealed this many datagrams of the inner protocol. A peer that is
    /// gone gets one only while anything else is sent to it.
    pub(super) fn finds(&mut self, now: Time, is_kept: bool, sealed: u64) -> bool {
        if now < self.find_at() {
            return false;
        }
        self.find_at = now + PATIENCE;
        if sealed != self.sealed {
            (self.sealed, self.used_at) = (sealed, now);
        }
        is_kept && (now.since(self.opened_at) < GONE || self.used_at == now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn peer_holds_if_heard_since_it_was_sought() {
        let mut contact = Contact::new(at(0));
        assert!(contact.holds());
        contact.seek(at(5));
        assert!(!contact.holds());
        contact.opened(at(5));
        assert!(contact.holds());
    }

    #[test]
    fn silent_peer_is_sought_for_a_minute_or_while_packets_go_out() {
        let (mut contact, mut sealed) = (Contact::new(at(0)), 0);
        let mut sought = |ms, others: u64| {
            sealed += others;
            contact.finds(at(ms), true, sealed)
        };
        let times = [(999, 0), (1_000, 0), (1_999, 0), (59_999, 0), (61_000, 0), (62_000, 1), (63_000, 0)];
        assert_eq!(
            times.map(|(ms, others)| sought(ms, others)),
            [false, true, false, true, false, true, false]
        );
    }

    #[test]
    fn silent_peer_is_not_idle_while_the_inner_protocol_sends() {
        let mut contact = Contact::new(at(0));
        for seconds in 1..=29 {
            contact.finds(at(seconds * 1_000), true, seconds * 60);
        }
        assert!((30..40).all(|seconds| contact.finds(at(seconds * 1_000), true, 29 * 60)));
        assert_eq!(contact.idle_since(), at(29_000));
        contact.opened(at(41_000));
        assert_eq!(contact.idle_since(), at(41_000));
    }

    #[test]
    fn peer_that_is_not_kept_gets_no_find() {
        let mut contact = Contact::new(at(0));
        assert!(!contact.finds(at(1_000), false, 0));
        assert_eq!(contact.find_at(), at(2_000));
    }
}
