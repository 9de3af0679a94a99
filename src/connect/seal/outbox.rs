//! Packets of the link itself that wait to be sent: a few, of bounded length.

use super::limits::Limits;
use crate::wire::seal::INIT_LEN;
use std::collections::VecDeque;
use std::net::SocketAddr;

#[derive(Debug)]
struct Waiting {
    to: SocketAddr,
    len: usize,
    bytes: [u8; INIT_LEN],
}

/// The packets that wait. One more than the limit is dropped, as the network might have: its receiver asks again.
#[derive(Debug)]
pub(super) struct Outbox {
    packets: VecDeque<Waiting>,
    pub(super) limits: Limits,
}

impl Outbox {
    pub(super) fn new() -> Self {
        let limits = Limits::default();
        Self { packets: VecDeque::with_capacity(limits.packets()), limits }
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.packets.is_empty()
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
        }
    }

    /// Adds an answer to a KNOCK or INIT, if there is room for such.
    pub(super) fn answer(&mut self, to: SocketAddr, write: impl FnOnce(&mut [u8]) -> Option<usize>) {
        if self.packets.len() < self.limits.answers() {
            self.write(to, write);
        }
    }

    /// Adds a packet, if there is room.
    pub(super) fn push(&mut self, to: SocketAddr, packet: &[u8]) {
        self.write(to, |buf| copied(packet, buf));
    }

    /// Takes the oldest packet.
    #[inline]
    pub(super) fn pop(&mut self, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        let Waiting { to, len, bytes } = self.packets.pop_front()?;
        buf.get_mut(..len)?.copy_from_slice(&bytes[..len]);
        Some((to, len))
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

    #[test]
    fn answers_to_strangers_leave_room_for_packets_of_connections() {
        let (mut out, mut buf) = (Outbox::new(), [0; INIT_LEN]);
        let [stranger, peer] = [1, 2].map(|port| SocketAddr::from(([192, 0, 2, 7], port)));
        (0..100).for_each(|_| out.answer(stranger, |buf| copied(b"retry", buf)));
        (0..100).for_each(|_| out.push(peer, b"challenge"));
        out.answer(stranger, |buf| copied(b"retry", buf));
        let sent: Vec<_> = core::iter::from_fn(|| out.pop(&mut buf)).map(|(to, _)| to).collect();
        assert_eq!(sent.len(), 24);
        assert!(sent[..12].iter().all(|to| *to == stranger) && sent[12..].iter().all(|to| *to == peer));
    }
}
