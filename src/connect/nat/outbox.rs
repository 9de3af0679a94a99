//! Datagrams of our own that wait to be sent, and the time until which nothing is due.

use crate::protocol::time::Time;
use core::time::Duration;
use std::collections::VecDeque;
use std::net::SocketAddr;

/// More datagrams are dropped, as the network might have.
const MAX_WAITING: usize = 128;

/// Checks, messages to the relay and messages to the rendezvous.
#[derive(Debug)]
pub(super) struct Outbox {
    waiting: VecDeque<(SocketAddr, Vec<u8>)>,
    /// The bytes of all datagrams so far.
    bytes: u64,
    /// Nothing is due before this time. `ZERO` if that is not known.
    idle_until: Time,
}

impl Outbox {
    pub(super) fn new() -> Self {
        Self { waiting: VecDeque::new(), bytes: 0, idle_until: Time::ZERO }
    }

    pub(super) fn push(&mut self, to: SocketAddr, datagram: Vec<u8>) {
        if self.waiting.len() < MAX_WAITING {
            self.bytes += datagram.len() as u64;
            self.waiting.push_back((to, datagram));
        }
    }

    #[inline]
    pub(super) fn pop(&mut self, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        let (to, datagram) = self.waiting.pop_front()?;
        buf.get_mut(..datagram.len())?.copy_from_slice(&datagram);
        Some((to, datagram.len()))
    }

    /// Something may be due sooner than was known.
    pub(super) fn stir(&mut self) {
        self.idle_until = Time::ZERO;
    }

    /// Nothing is due before `until`.
    pub(super) fn idle_until(&mut self, until: Time) {
        self.idle_until = until;
    }

    #[inline]
    pub(super) fn is_due(&self, now: Time) -> bool {
        self.idle_until <= now
    }

    /// When there is something to send or to do.
    #[inline]
    pub(super) fn deadline(&self) -> Option<Duration> {
        if self.waiting.is_empty() { self.idle_until.deadline() } else { Some(Duration::ZERO) }
    }

    /// The bytes of all datagrams so far.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_datagrams_are_bounded() {
        let (mut outbox, to) = (Outbox::new(), SocketAddr::from(([192, 0, 2, 1], 7)));
        (0..1_000).for_each(|_| outbox.push(to, vec![0]));
        assert_eq!((outbox.waiting.len(), outbox.bytes()), (MAX_WAITING, MAX_WAITING as u64));
        outbox.idle_until(Time::NEVER);
        assert_eq!(outbox.deadline(), Some(Duration::ZERO), "they are to be sent");
        while outbox.pop(&mut [0; 9]).is_some() {}
        assert_eq!(outbox.deadline(), None);
        outbox.stir();
        assert_eq!(outbox.deadline(), Some(Duration::ZERO));
    }
}
