//! Packets of the link itself that wait to be sent, few and of bounded length, and when the link has something to do next.

use super::limits::{Limits, RoleLimits};
use super::paths::Paths;
use super::roam::MAX_CANDIDATES;
use crate::protocol::MAX_DATAGRAM;
use crate::protocol::time::Time;
use crate::wire::seal::INIT_LEN;
use core::time::Duration;
use std::collections::VecDeque;
use std::net::SocketAddr;

#[derive(Debug)]
struct Waiting {
    to: SocketAddr,
    len: usize,
    bytes: [u8; INIT_LEN],
}

/// Copies of the packet that was sent last, for the other addresses of a peer that may have moved: the same bytes, because a counter
/// seals one packet.
#[derive(Debug)]
struct Copies {
    to: Vec<SocketAddr>,
    packet: Box<[u8; MAX_DATAGRAM]>,
    len: usize,
}

/// The packets that wait. One more than the limit is dropped, as the network might have: its receiver asks again.
#[derive(Debug)]
pub(super) struct Outbox {
    packets: VecDeque<Waiting>,
    copies: Copies,
    limits: RoleLimits,
    /// When the connections have something to do next. `ZERO` if that is not known.
    due_at: Time,
    /// Nothing waits to be sent and nothing is due before this time: the one comparison of a driver's poll.
    idle_until: Time,
    /// The same as a driver asks for it.
    deadline: Option<Duration>,
}

impl Outbox {
    pub(super) fn new() -> Self {
        let limits = RoleLimits::default();
        let packets = VecDeque::with_capacity(limits.packets());
        let (to, packet) = (Vec::with_capacity(MAX_CANDIDATES), Box::new([0; MAX_DATAGRAM]));
        let copies = Copies { to, packet, len: 0 };
        Self { packets, copies, limits, due_at: Time::ZERO, idle_until: Time::ZERO, deadline: None }
    }

    /// Sets the limits by the number of guests that are expected in each role.
    pub(super) fn expect(&mut self, limits: RoleLimits) {
        self.limits = limits;
    }

    /// Whether nothing waits to be sent and nothing is due at `now`.
    #[inline]
    pub(super) fn is_idle(&self, now: Time) -> bool {
        now < self.idle_until
    }

    /// When there is something to send or to do next.
    #[inline]
    pub(super) fn deadline(&self) -> Option<Duration> {
        self.deadline
    }

    /// Whether the connections have something to do at `now`.
    pub(super) fn is_due(&self, now: Time) -> bool {
        now >= self.due_at
    }

    /// The connections have nothing to do before `at`.
    pub(super) fn due_at(&mut self, at: Time) {
        self.due_at = at;
    }

    /// The connections may have something to do sooner than was known.
    pub(super) fn stir(&mut self) {
        self.due_at = Time::ZERO;
        self.wake();
    }

    /// Something waits to be sent.
    fn wake(&mut self) {
        self.idle_until = Time::ZERO;
        self.deadline = Some(Duration::ZERO);
    }

    /// Nothing waits to be sent.
    pub(super) fn rest(&mut self) {
        self.idle_until = self.due_at;
        self.deadline = self.due_at.deadline();
    }

    /// Adds the packet that `write` writes, if there is room and it wrote one.
    pub(super) fn write(&mut self, to: SocketAddr, write: impl FnOnce(&mut [u8]) -> Option<usize>) {
        if self.packets.len() >= self.limits.packets() {
            return;
        }
        let mut waiting = Waiting { to, len: 0, bytes: [0; INIT_LEN] };
        if let Some(len) = write(&mut waiting.bytes) {
            waiting.len = len;
            self.packets.push_back(waiting);
            self.wake();
        }
    }

    /// Adds an answer to a REQUEST or INIT, if there is room for such of a key with these limits.
    pub(super) fn answer(
        &mut self,
        to: SocketAddr,
        limits: Limits,
        write: impl FnOnce(&mut [u8]) -> Option<usize>,
    ) {
        if self.packets.len() < limits.answers() {
            self.write(to, write);
        }
    }

    /// Adds a packet, if there is room.
    pub(super) fn push(&mut self, to: SocketAddr, packet: &[u8]) {
        self.write(to, |buf| copied(packet, buf));
    }

    /// Keeps a packet that was sent for the other addresses of its peer.
    #[cold]
    pub(super) fn copy(&mut self, packet: &[u8], paths: &mut Paths) {
        self.copies.packet[..packet.len()].copy_from_slice(packet);
        self.copies.len = packet.len();
        paths.also_to(packet.len(), |to| self.copies.to.push(to));
        self.wake();
    }

    /// Takes the next copy, or else the oldest packet.
    pub(super) fn pop(&mut self, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        if let Some(to) = self.copies.to.pop() {
            return Some((to, copied(&self.copies.packet[..self.copies.len], buf)?));
        }
        let Waiting { to, len, bytes } = self.packets.pop_front()?;
        Some((to, copied(&bytes[..len], buf)?))
    }
}

/// Copies a packet to the front of `buf`, and returns its length.
pub(super) fn copied(packet: &[u8], buf: &mut [u8]) -> Option<usize> {
    buf.get_mut(..packet.len())?.copy_from_slice(packet);
    Some(packet.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::PeerRole;

    #[test]
    fn answers_to_strangers_leave_room_for_packets_of_connections() {
        let (mut out, mut buf) = (Outbox::new(), [0; INIT_LEN]);
        let [stranger, peer] = [1, 2].map(|port| SocketAddr::from(([192, 0, 2, 7], port)));
        let limits = |role| Limits::of(role, 1);
        let [player, spectator] = [PeerRole::Player, PeerRole::Spectator].map(limits);
        (0..100).for_each(|_| out.answer(stranger, spectator, |buf| copied(b"retry", buf)));
        assert_eq!(out.packets.len(), 6, "half of the room is for answers to players");
        (0..100).for_each(|_| out.answer(stranger, player, |buf| copied(b"retry", buf)));
        (0..100).for_each(|_| out.push(peer, b"challenge"));
        out.answer(stranger, player, |buf| copied(b"retry", buf));
        let sent: Vec<_> = core::iter::from_fn(|| out.pop(&mut buf)).map(|(to, _)| to).collect();
        assert_eq!(sent.len(), 24);
        assert!(sent[..12].iter().all(|to| *to == stranger) && sent[12..].iter().all(|to| *to == peer));
    }
}
