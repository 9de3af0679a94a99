//! The inputs on their way to the peer: the unacknowledged run, and the packet that carries it.

use crate::Frame;
use crate::wire::rbn1;
use core::time::Duration;

/// What is to be sent, and what has arrived.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outbox {
    /// The peer has all our inputs before this frame.
    pub(super) acked: Frame,
    /// The most that was ever acknowledged: only what is new tells a round trip.
    pub(super) most_acked: Frame,
    /// All our inputs before this frame have been sent at least once.
    pub(super) sent: Frame,
    /// A packet is to be sent.
    pub(super) due: bool,
    /// A second copy of the last packet is to be sent then.
    copy_at: Option<Duration>,
    last: [u8; rbn1::MAX_LEN],
    last_len: u8,
    pub(super) packets: u32,
    pub(super) copies: u64,
}

impl Outbox {
    pub(super) fn new() -> Self {
        Self {
            acked: Frame::ZERO,
            most_acked: Frame::ZERO,
            sent: Frame::ZERO,
            due: false,
            copy_at: None,
            last: [0; rbn1::MAX_LEN],
            last_len: 0,
            packets: 0,
            copies: 0,
        }
    }

    /// A packet went out, with inputs up to `end`.
    #[inline]
    pub(super) fn sent(&mut self, packet: &[u8], end: Frame, copy_at: Option<Duration>) {
        self.due = false;
        self.sent = self.sent.max(end);
        self.packets = self.packets.wrapping_add(1);
        self.copy_at = copy_at;
        if copy_at.is_some() {
            self.last[..packet.len()].copy_from_slice(packet);
            self.last_len = packet.len() as u8;
        }
    }

    /// When the copy is due.
    #[inline]
    pub(super) fn copy_at(&self) -> Option<Duration> {
        self.copy_at
    }

    /// The copy, byte for byte, if it is due.
    #[inline]
    pub(super) fn take_copy(&mut self, now: Duration, buf: &mut [u8]) -> Option<usize> {
        if self.copy_at? > now {
            return None;
        }
        self.copy_at = None;
        let packet = &self.last[..usize::from(self.last_len)];
        buf.get_mut(..packet.len())?.copy_from_slice(packet);
        self.packets = self.packets.wrapping_add(1);
        self.copies += 1;
        Some(packet.len())
    }
}
