//! The outbox of inputs: what the peer has acknowledged, and the packet to send next.

use crate::Frame;
use crate::protocol::time::Time;
use crate::wire::rbn1::{self, InputPacket};

/// The unacknowledged run of our inputs, and the last packet for a second copy.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outbox {
    /// The peer has all our inputs before this frame.
    acked: Frame,
    /// The highest ack so far. An ack may go back, and only a new one is an RTT sample.
    max_acked: Frame,
    /// All our inputs before this frame have been sent at least once.
    sent_end: Frame,
    due: bool,
    /// When a second copy of the last packet is due.
    copy_at: Option<Time>,
    last: [u8; InputPacket::MAX_LEN],
    last_len: u16,
    copies: u64,
}

impl Outbox {
    pub(super) fn new() -> Self {
        Self {
            acked: Frame::ZERO,
            max_acked: Frame::ZERO,
            sent_end: Frame::ZERO,
            due: false,
            copy_at: None,
            last: [0; InputPacket::MAX_LEN],
            last_len: 0,
            copies: 0,
        }
    }

    /// The peer has all our inputs before `acked`, and those before `sent_end` have been sent, of which it may know nothing.
    pub(super) fn resume_at(&mut self, acked: Frame, sent_end: Frame) {
        (self.acked, self.max_acked, self.sent_end) = (acked, acked, sent_end);
        self.due = true;
    }

    /// Asks for a packet to be sent.
    #[inline]
    pub(super) fn ask(&mut self) {
        self.due = true;
    }

    #[inline]
    pub(super) fn is_due(&self) -> bool {
        self.due
    }

    /// Whether a packet was asked for; asked for no longer.
    #[inline]
    pub(super) fn take_due(&mut self) -> bool {
        core::mem::take(&mut self.due)
    }

    /// The peer has all our inputs before this frame.
    #[inline]
    pub(super) fn acked(&self) -> Frame {
        self.acked
    }

    /// All our inputs before this frame have been sent.
    #[inline]
    pub(super) fn sent_end(&self) -> Frame {
        self.sent_end
    }

    /// Notes a packet that went out, with inputs up to `end`.
    #[inline]
    pub(super) fn sent(&mut self, packet: &[u8], end: Frame, copy_at: Option<Time>) {
        self.sent_end = self.sent_end.max(end);
        self.copy_at = copy_at;
        if copy_at.is_some() {
            // Without a time block: alone it would measure half a frame too much.
            self.last_len = rbn1::copy_without_time(packet, &mut self.last) as u16;
        }
    }

    /// Takes in an ack from a packet that is as new as any. `Some` if it is higher than every ack before.
    ///
    /// A lower ack is believed too: if the one before was forged or damaged, the peer misses inputs that would never
    /// be sent again. If this packet only arrived late, some inputs are sent once more than needed.
    #[inline]
    pub(super) fn acknowledged(&mut self, acked: Frame) -> Option<Frame> {
        self.acked = acked;
        if acked > self.max_acked {
            self.max_acked = acked;
            return Some(acked);
        }
        None
    }

    /// When the second copy is due.
    #[inline]
    pub(super) fn copy_at(&self) -> Option<Time> {
        self.copy_at
    }

    /// Writes the second copy, byte for byte, if it is due.
    #[inline]
    pub(super) fn take_copy(&mut self, now: Time, buf: &mut [u8]) -> Option<usize> {
        if self.copy_at? > now {
            return None;
        }
        self.copy_at = None;
        let packet = &self.last[..usize::from(self.last_len)];
        buf.get_mut(..packet.len())?.copy_from_slice(packet);
        self.copies += 1;
        Some(packet.len())
    }

    /// Second copies sent so far.
    pub(super) fn copies(&self) -> u64 {
        self.copies
    }
}
