//! An RBN1 packet that has passed all checks.

use super::{Checksum, Flags, InputHeader, LossCounts, TimeSync};
use crate::wire::numbering::WireFrame;
use crate::{Buttons, Input};

/// A packet that has passed all checks, borrowed from its datagram. Its blocks are read when they are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputPacket<'a> {
    pub(super) start_frame: WireFrame,
    pub(super) ack_frame: WireFrame,
    pub(super) flags: Flags,
    pub(super) count: u8,
    pub(super) axes: u8,
    /// The blocks that the flags announce.
    pub(super) blocks: &'a [u8],
    /// `count` inputs of `2 + axes` bytes each.
    pub(super) inputs: &'a [u8],
}

impl<'a> InputPacket<'a> {
    /// The fields of the packet before its inputs.
    #[must_use]
    pub fn header(&self) -> InputHeader {
        let Self { start_frame, ack_frame, axes, .. } = *self;
        let (checksum, time, loss) = (self.checksum(), self.time(), self.loss());
        InputHeader { start_frame, ack_frame, checksum, time, loss, axes }
    }

    /// The frame of the first input, as numbered on the wire.
    #[inline]
    #[must_use]
    pub const fn start_frame(&self) -> WireFrame {
        self.start_frame
    }

    /// The ack of the packet, as numbered on the wire.
    #[inline]
    #[must_use]
    pub const fn ack_frame(&self) -> WireFrame {
        self.ack_frame
    }

    /// The checksum block, if there is one.
    #[inline]
    #[must_use]
    pub fn checksum(&self) -> Option<Checksum> {
        let [f0, f1, f2, f3, v0, v1, v2, v3] = self.block(Flags::CHECKSUM)?;
        let frame = WireFrame(u32::from_le_bytes([f0, f1, f2, f3]));
        Some(Checksum { frame, value: u32::from_le_bytes([v0, v1, v2, v3]) })
    }

    /// The time block, if there is one.
    #[must_use]
    pub fn time(&self) -> Option<TimeSync> {
        let [mark, echo, held] = numbers(self.block::<6>(Flags::TIME)?);
        Some(TimeSync { mark, echo, held })
    }

    /// The loss block, if there is one.
    #[must_use]
    pub fn loss(&self) -> Option<LossCounts> {
        let [sent, received] = numbers(self.block::<4>(Flags::LOSS)?);
        Some(LossCounts { sent, received })
    }

    /// The bytes of the block that `flag` announces, if there is one.
    #[inline]
    fn block<const N: usize>(&self, flag: Flags) -> Option<[u8; N]> {
        if !self.flags.has(flag) {
            return None;
        }
        self.blocks.get(self.flags.before(flag).blocks_len()..)?.first_chunk().copied()
    }

    /// The number of axes of each input, 0 without an axes block.
    #[inline]
    #[must_use]
    pub const fn axes(&self) -> u8 {
        self.axes
    }

    /// The number of inputs, 1..=32.
    #[inline]
    #[must_use]
    pub const fn count(&self) -> usize {
        self.count as usize
    }

    /// The input of frame `start_frame + index`.
    #[inline]
    #[must_use]
    pub fn input(&self, index: usize) -> Option<Input> {
        match self.buttons() {
            Some(buttons) => buttons.get(index).map(|bytes| Input::new(Buttons(u16::from_le_bytes(*bytes)))),
            None => self.wide_input(index),
        }
    }

    fn wide_input(&self, index: usize) -> Option<Input> {
        let len = 2 + usize::from(self.axes);
        let start = index.checked_mul(len)?;
        self.inputs.get(start..start.checked_add(len)?).map(Input::from_wire)
    }

    /// The buttons of all inputs as they are on the wire, oldest first, if they have no axes.
    #[inline]
    pub(crate) fn buttons(&self) -> Option<&'a [[u8; 2]]> {
        if self.axes == 0 { Some(self.inputs.as_chunks().0) } else { None }
    }

    /// All inputs, oldest first.
    #[inline]
    pub fn inputs(&self) -> impl DoubleEndedIterator<Item = Input> + ExactSizeIterator + Clone + use<'a> {
        let packet = *self;
        (0..self.count()).map(move |index| packet.input(index).unwrap_or_default())
    }
}

/// Little-endian numbers of 16 bits.
fn numbers<const BYTES: usize, const N: usize>(bytes: [u8; BYTES]) -> [u16; N] {
    let (pairs, _) = bytes.as_chunks();
    core::array::from_fn(|at| pairs.get(at).map_or(0, |pair| u16::from_le_bytes(*pair)))
}
