//! The blocks of an RBN1 packet between its header and its inputs, and the flags that announce them.

use super::{AT_FLAGS, BLOCKS_LEN, CHECKSUM_LEN, HEADER_LEN, InputDecodeError};
use crate::MAX_AXES;
use crate::wire::bytes::Writer;
use crate::wire::numbering::WireFrame;

const TIME_LEN: usize = 6;
const LOSS_LEN: usize = 4;
const AXES_LEN: usize = 1;
const _: () = assert!(BLOCKS_LEN == CHECKSUM_LEN + TIME_LEN + LOSS_LEN + AXES_LEN);

/// The flags of a packet: a bit for each block that follows the header.
///
/// Both machines agree on them in the handshake. A packet with another flag is refused, because its length could not be
/// checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flags(u8);

impl Flags {
    /// No block.
    pub const NONE: Self = Self(0);
    /// A checksum block, the only one of version 1's document that needs no agreement.
    pub const CHECKSUM: Self = Self(1);
    /// A time block.
    pub const TIME: Self = Self(2);
    /// A loss block.
    pub const LOSS: Self = Self(4);
    /// An axes block, and axes in every input.
    pub const AXES: Self = Self(8);
    /// The flags of a packet of version 1 without extensions.
    pub const VERSION_1: Self = Self::CHECKSUM;
    /// All known flags, for a tool that reads the packets of any match.
    pub const ALL: Self = Self(15);

    /// The flags as they are on the wire.
    #[inline]
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// These flags and those of `other`.
    #[inline]
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether all flags of `other` are among these.
    #[inline]
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The flags that a byte of the wire sets, if it sets none but these and that of a checksum.
    #[inline]
    pub(super) const fn or_checksum(self, bits: u8) -> Option<Self> {
        if bits <= Self::CHECKSUM.0 || bits & !(self.0 | Self::CHECKSUM.0) == 0 {
            Some(Self(bits))
        } else {
            None
        }
    }
}

/// The time block: measures the RTT on the packets that carry inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeSync {
    /// A random number of the sender's for this packet, not 0, which the other side repeats.
    pub mark: u16,
    /// The newest mark that the sender has received; 0 if there is none.
    pub echo: u16,
    /// The time from the arrival of the echoed mark to this packet, in units of 100 microseconds;
    /// [`NO_SAMPLE`](Self::NO_SAMPLE) if that is too long to tell.
    pub held: u16,
}

impl TimeSync {
    /// The value of [`held`](Self::held) that makes the echo no RTT sample.
    pub const NO_SAMPLE: u16 = u16::MAX;
}

/// The loss block: counts of RBN1 packets, from which both sides learn the loss of both directions. They refer to the
/// frame that the packet acknowledges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LossCounts {
    /// The packets that the sender has sent before this one; it wraps.
    pub sent: u16,
    /// The packets that the sender has received; it wraps.
    pub received: u16,
}

/// The checksum of the state before frame `frame` is stepped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checksum {
    /// The frame of the state, as numbered on the wire.
    pub frame: WireFrame,
    /// The checksum of the state.
    pub value: u32,
}

/// The blocks of one packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Blocks {
    pub(super) checksum: Option<Checksum>,
    pub(super) time: Option<TimeSync>,
    pub(super) loss: Option<LossCounts>,
    /// 0 without an axes block.
    pub(super) axes: u8,
}

impl Blocks {
    pub(super) fn flags(&self) -> Flags {
        let mut flags = Flags::NONE;
        for (is_there, flag) in [
            (self.checksum.is_some(), Flags::CHECKSUM),
            (self.time.is_some(), Flags::TIME),
            (self.loss.is_some(), Flags::LOSS),
            (self.axes > 0, Flags::AXES),
        ] {
            if is_there {
                flags = flags.and(flag);
            }
        }
        flags
    }

    /// Checks the values that a receiver would refuse.
    pub(super) fn check(&self) -> Result<(), InputDecodeError> {
        if self.axes > MAX_AXES {
            return Err(InputDecodeError::Axes { axes: self.axes });
        }
        if self.time.is_some_and(|time| time.mark == 0) {
            return Err(InputDecodeError::Mark);
        }
        Ok(())
    }

    pub(super) fn put(&self, writer: &mut Writer<'_>) {
        if let Some(Checksum { frame, value }) = self.checksum {
            writer.put(&frame.0.to_le_bytes());
            writer.put(&value.to_le_bytes());
        }
        if let Some(TimeSync { mark, echo, held }) = self.time {
            writer.put(&mark.to_le_bytes());
            writer.put(&echo.to_le_bytes());
            writer.put(&held.to_le_bytes());
        }
        if let Some(LossCounts { sent, received }) = self.loss {
            writer.put(&sent.to_le_bytes());
            writer.put(&received.to_le_bytes());
        }
        if self.axes > 0 {
            writer.u8(self.axes);
        }
    }
}

impl Flags {
    #[inline]
    const fn bit(self, bit: u32) -> usize {
        (self.0 >> bit & 1) as usize
    }

    /// The flags whose blocks come before that of `flag`.
    #[inline]
    pub(super) const fn before(self, flag: Self) -> Self {
        Self(self.0 & (flag.0 - 1))
    }

    /// The length of the blocks that these flags announce.
    #[inline]
    pub(super) const fn blocks_len(self) -> usize {
        self.bit(0) * CHECKSUM_LEN + self.bit(1) * TIME_LEN + self.bit(2) * LOSS_LEN + self.bit(3) * AXES_LEN
    }
}

/// Cuts the time block out of a packet that has one, and returns the new length.
#[cold]
pub(super) fn cut_time(packet: &mut [u8], len: usize) -> usize {
    let flags = Flags(packet[AT_FLAGS]);
    let at = HEADER_LEN + flags.bit(0) * CHECKSUM_LEN;
    packet.copy_within(at + TIME_LEN..len, at);
    packet[AT_FLAGS] &= !Flags::TIME.0;
    len - TIME_LEN
}

/// The number of axes in the axes block, the last in `rest`, the bytes after the header; 0 if `flags` announce none. A
/// datagram that ends before its axes block counts as one with an axis, the shortest that the flags allow.
pub(super) fn axes(flags: Flags, rest: &[u8]) -> Result<u8, InputDecodeError> {
    if !flags.has(Flags::AXES) {
        return Ok(0);
    }
    match rest.get(flags.blocks_len() - AXES_LEN) {
        None => Ok(1),
        Some(&axes) if (1..=MAX_AXES).contains(&axes) => Ok(axes),
        Some(&axes) => Err(InputDecodeError::Axes { axes }),
    }
}
