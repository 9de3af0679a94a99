//! RBN1 version 1: packets with a run of inputs, an ack, and blocks for what else is due. Little-endian.
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 4 | magic, `52 42 4E 31` |
//! | 4 | 1 | version, 1 |
//! | 5 | 1 | flags: a bit for each block |
//! | 6 | 4 | start frame: the frame of the first input |
//! | 10 | 1 | count of inputs, 1..=32 |
//! | 11 | 4 | acknowledged frame |
//!
//! The blocks follow in the order of their bits. Bit 0 is version 1's own; the others are extensions, of which a packet
//! carries only those that both machines have agreed on.
//!
//! | flag | block | size | fields |
//! |---|---|---|---|
//! | bit 0 | checksum | 8 | frame of the checksum u32, checksum u32 |
//! | bit 1 | time | 6 | mark u16, echo u16, held u16 |
//! | bit 2 | loss | 4 | packets sent before this one u16, packets received u16 |
//! | bit 3 | axes | 1 | number of axes A, 1..=6 |
//! | | inputs | (2 + A) a frame | buttons u16, then A axes i8, oldest first |
//!
//! [`InputPacket::decode`] checks all of that once, and the accessors of [`InputPacket`] can neither fail nor panic. Frame numbers
//! are those on the wire, which are offset from those of the match; here they are opaque.

mod blocks;
mod error;
mod packet;

pub use blocks::{Checksum, Flags, LossCounts, TimeSync};
pub use error::{InputDecodeError, InputEncodeError};
pub use packet::InputPacket;

use super::bytes::Writer;
use super::numbering::WireFrame;
use crate::{Input, MAX_AXES};
use blocks::Blocks;

const HEADER_LEN: usize = InputPacket::HEADER_LEN;
const MAX_INPUTS: usize = InputPacket::MAX_INPUTS;
const CHECKSUM_LEN: usize = 8;
/// Length of all blocks together.
const BLOCKS_LEN: usize = 19;
const INPUT_LEN: usize = 2;

const AT_VERSION: usize = 4;
const AT_FLAGS: usize = 5;
const AT_START_FRAME: usize = 6;
const AT_COUNT: usize = 10;
const AT_ACK_FRAME: usize = 11;

/// The fields of a packet before its inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InputHeader {
    /// The frame of the first input, as numbered on the wire.
    pub start_frame: WireFrame,
    /// Ack: the newest frame up to which the sender has all of the receiver's inputs, as numbered on the wire.
    pub ack_frame: WireFrame,
    /// The checksum block, if there is one.
    pub checksum: Option<Checksum>,
    /// The time block, if there is one.
    pub time: Option<TimeSync>,
    /// The loss block, if there is one.
    pub loss: Option<LossCounts>,
    /// The number of axes of each input; 0 for an input of buttons only, which has no axes block.
    pub axes: u8,
}

impl InputHeader {
    fn blocks(&self) -> Blocks {
        Blocks { checksum: self.checksum, time: self.time, loss: self.loss, axes: self.axes }
    }

    /// Whether there is a block that version 1 alone does not have.
    #[inline]
    const fn is_extended(&self) -> bool {
        self.time.is_some() || self.loss.is_some() || self.axes > 0
    }
}

impl InputPacket<'_> {
    /// The first four bytes of every packet.
    pub const MAGIC: [u8; 4] = *b"RBN1";
    /// The version of the format.
    pub const VERSION: u8 = 1;
    /// Length of the header without any block.
    pub const HEADER_LEN: usize = 15;
    /// Length of the header with a checksum block.
    pub const HEADER_WITH_CHECKSUM_LEN: usize = Self::HEADER_LEN + CHECKSUM_LEN;
    /// The most inputs that one packet carries.
    pub const MAX_INPUTS: usize = 32;
    /// Length of the longest packet without extensions.
    pub const MAX_PLAIN_LEN: usize = Self::HEADER_WITH_CHECKSUM_LEN + Self::MAX_INPUTS * INPUT_LEN;
    /// Length of the longest packet, with every block and every axis.
    pub const MAX_LEN: usize =
        Self::HEADER_LEN + BLOCKS_LEN + Self::MAX_INPUTS * (INPUT_LEN + MAX_AXES as usize);

    /// Writes a packet to the front of `buf` and returns its length. Bytes after the packet stay as they were, and axes beyond
    /// [`InputHeader::axes`] are left out.
    ///
    /// ```
    /// use rebout::Buttons;
    /// use rebout::wire::WireFrame;
    /// use rebout::wire::rbn1::{Flags, InputHeader, InputPacket};
    ///
    /// let header = InputHeader { start_frame: WireFrame(1), ack_frame: WireFrame(2), ..InputHeader::default() };
    /// let mut buf = [0; InputPacket::MAX_LEN];
    /// let len = InputPacket::encode(&header, [Buttons(3)], &mut buf)?;
    /// let packet = InputPacket::decode(&buf[..len], Flags::VERSION_1).expect("what was just encoded");
    /// assert_eq!(packet.input(0), Some(Buttons(3).into()));
    /// # Ok::<(), rebout::wire::rbn1::InputEncodeError>(())
    /// ```
    ///
    /// # Errors
    /// If there are no inputs or more than [`Self::MAX_INPUTS`], if `buf` is too small, or if a block has a value that would be
    /// refused on arrival. `buf` is then unchanged.
    #[inline]
    pub fn encode<I>(header: &InputHeader, inputs: I, buf: &mut [u8]) -> Result<usize, InputEncodeError>
    where
        I: IntoIterator<Item: Into<Input>, IntoIter: ExactSizeIterator>,
    {
        let inputs = inputs.into_iter();
        let count = inputs.len();
        if count.wrapping_sub(1) >= MAX_INPUTS {
            return Err(InputEncodeError::Count { count });
        }
        if header.is_extended() {
            return encode_extended(header, count, inputs.map(Into::into), buf);
        }
        let slots = put_plain(header, count, buf)?.as_chunks_mut().0;
        let mut written = 0;
        for (slot, input) in slots.iter_mut().zip(inputs) {
            *slot = input.into().buttons().0.to_le_bytes();
            written += 1;
        }
        // Fill up with neutral inputs, if the iterator was shorter than it said, rather than send old bytes of the buffer.
        for slot in slots.iter_mut().skip(written) {
            *slot = [0; INPUT_LEN];
        }
        Ok(plain_len(header, count))
    }
}

impl<'a> InputPacket<'a> {
    /// Decodes a datagram without copying it. The rules are checked in the order of [`InputDecodeError`]'s variants.
    ///
    /// `allowed` are the flags that both machines have agreed on: [`Flags::VERSION_1`] without an agreement. A checksum is always
    /// allowed.
    ///
    /// # Errors
    /// The first rule that the datagram breaks.
    // Always inlined: as a call it would write the packet to memory and read it back, for every datagram.
    #[inline(always)]
    pub fn decode(datagram: &'a [u8], allowed: Flags) -> Result<Self, InputDecodeError> {
        let len = datagram.len();
        let Some((head, rest)) = datagram.split_first_chunk::<HEADER_LEN>() else {
            return Err(InputDecodeError::TooShort { len });
        };
        let [m0, m1, m2, m3, version, flags, s0, s1, s2, s3, count, a0, a1, a2, a3] = *head;
        let magic = [m0, m1, m2, m3];
        if magic != Self::MAGIC {
            return Err(InputDecodeError::Magic { magic });
        }
        if version != Self::VERSION {
            return Err(InputDecodeError::Version { version });
        }
        let Some(flags) = allowed.or_checksum(flags) else {
            return Err(InputDecodeError::Flags { flags, allowed });
        };
        if usize::from(count.wrapping_sub(1)) >= MAX_INPUTS {
            return Err(InputDecodeError::Count { count });
        }
        let (start_frame, ack_frame) = ([s0, s1, s2, s3], [a0, a1, a2, a3]);
        let (axes, blocks_len) = match flags {
            Flags::NONE => (0, 0),
            Flags::CHECKSUM => (0, CHECKSUM_LEN),
            _ => (blocks::axes(flags, rest)?, flags.blocks_len()),
        };
        let expected = HEADER_LEN + blocks_len + usize::from(count) * (INPUT_LEN + usize::from(axes));
        let (blocks, inputs) = match rest.split_at_checked(blocks_len) {
            Some(parts) if len == expected => parts,
            _ => return Err(InputDecodeError::Length { len, expected }),
        };
        let packet = Self {
            start_frame: WireFrame(u32::from_le_bytes(start_frame)),
            ack_frame: WireFrame(u32::from_le_bytes(ack_frame)),
            flags,
            count,
            axes,
            blocks,
            inputs,
        };
        if flags.has(Flags::TIME) && packet.time().is_some_and(|time| time.mark == 0) {
            return Err(InputDecodeError::Mark);
        }
        Ok(packet)
    }
}

/// The same as [`InputPacket::encode`] for inputs whose `buttons` lie in one piece as they are on the wire: without axes they are copied
/// as a whole. With axes `inputs` are used, of which there must be as many.
// Always inlined, for the reason of `InputPacket::decode`.
#[inline(always)]
pub(crate) fn encode_run(
    header: &InputHeader,
    buttons: &[[u8; INPUT_LEN]],
    inputs: impl ExactSizeIterator<Item = Input>,
    buf: &mut [u8],
) -> Result<usize, InputEncodeError> {
    let count = buttons.len();
    if count.wrapping_sub(1) >= MAX_INPUTS {
        return Err(InputEncodeError::Count { count });
    }
    if header.axes > 0 {
        return encode_extended(header, count, inputs, buf);
    }
    if header.is_extended() {
        let (body, len) = put_extended(header, count, buf)?;
        body.copy_from_slice(buttons.as_flattened());
        return Ok(len);
    }
    put_plain(header, count, buf)?.copy_from_slice(buttons.as_flattened());
    Ok(plain_len(header, count))
}

/// Length of a packet without extensions.
#[inline]
const fn plain_len(header: &InputHeader, count: usize) -> usize {
    let header_len =
        if header.checksum.is_some() { InputPacket::HEADER_WITH_CHECKSUM_LEN } else { HEADER_LEN };
    header_len + count * INPUT_LEN
}

/// Writes the header of a packet without extensions, and returns the room for its inputs.
#[inline]
fn put_plain<'a>(
    header: &InputHeader,
    count: usize,
    buf: &'a mut [u8],
) -> Result<&'a mut [u8], InputEncodeError> {
    let (len, room) = (plain_len(header, count), buf.len());
    let Some((head, rest)) = buf.get_mut(..len).and_then(<[u8]>::split_first_chunk_mut::<HEADER_LEN>) else {
        return Err(InputEncodeError::Room { len, room });
    };
    put_head(header, u8::from(header.checksum.is_some()), count, head);
    Ok(match (header.checksum, rest) {
        (Some(checksum), [f0, f1, f2, f3, v0, v1, v2, v3, body @ ..]) => {
            [*f0, *f1, *f2, *f3] = checksum.frame.0.to_le_bytes();
            [*v0, *v1, *v2, *v3] = checksum.value.to_le_bytes();
            body
        }
        (_, body) => body,
    })
}

/// Copies a packet without its time block to the front of `copy`, and returns the length. `packet` is one that was encoded
/// here, and `copy` is as long as the longest.
#[inline]
pub(crate) fn copy_without_time(packet: &[u8], copy: &mut [u8; InputPacket::MAX_LEN]) -> usize {
    copy[..packet.len()].copy_from_slice(packet);
    if copy[AT_FLAGS] & Flags::TIME.bits() == 0 { packet.len() } else { blocks::cut_time(copy, packet.len()) }
}

#[inline]
fn put_head(header: &InputHeader, flags: u8, count: usize, head: &mut [u8; HEADER_LEN]) {
    head[..AT_VERSION].copy_from_slice(&InputPacket::MAGIC);
    head[AT_VERSION] = InputPacket::VERSION;
    head[AT_FLAGS] = flags;
    head[AT_START_FRAME..AT_COUNT].copy_from_slice(&header.start_frame.0.to_le_bytes());
    head[AT_COUNT] = count as u8;
    head[AT_ACK_FRAME..].copy_from_slice(&header.ack_frame.0.to_le_bytes());
}

/// Writes a packet with blocks beyond version 1.
#[inline(never)]
fn encode_extended(
    header: &InputHeader,
    count: usize,
    inputs: impl Iterator<Item = Input>,
    buf: &mut [u8],
) -> Result<usize, InputEncodeError> {
    let (body, len) = put_extended(header, count, buf)?;
    let input_len = INPUT_LEN + usize::from(header.axes);
    // As in version 1: an iterator that is shorter than it said leaves neutral inputs.
    let inputs = inputs.chain(core::iter::repeat(Input::NEUTRAL));
    for (slot, input) in body.chunks_exact_mut(input_len).zip(inputs) {
        slot.copy_from_slice(&input.bits().to_le_bytes()[..input_len]);
    }
    Ok(len)
}

/// Writes header and blocks of a packet with extensions; returns the room for its inputs, and the length of the packet.
#[inline(never)]
fn put_extended<'a>(
    header: &InputHeader,
    count: usize,
    buf: &'a mut [u8],
) -> Result<(&'a mut [u8], usize), InputEncodeError> {
    let blocks = header.blocks();
    blocks.check().map_err(InputEncodeError::Refused)?;
    let flags = blocks.flags();
    let blocks_len = flags.blocks_len();
    let len = HEADER_LEN + blocks_len + count * (INPUT_LEN + usize::from(header.axes));
    let room = buf.len();
    let Some((head, rest)) = buf.get_mut(..len).and_then(<[u8]>::split_first_chunk_mut::<HEADER_LEN>) else {
        return Err(InputEncodeError::Room { len, room });
    };
    put_head(header, flags.bits(), count, head);
    let (block_bytes, body) = rest.split_at_mut(blocks_len);
    blocks.put(&mut Writer::new(block_bytes));
    Ok((body, len))
}

/// Whether a datagram that has passed all checks has a time or a loss block.
#[inline]
pub(crate) fn measures(datagram: &[u8]) -> bool {
    datagram.get(AT_FLAGS).is_some_and(|flags| flags & Flags::TIME.and(Flags::LOSS).bits() != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Buttons;

    const PLAIN: [u8; 17] = [
        0x52, 0x42, 0x4E, 0x31, 0x01, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x02, 0x00, 0x00, 0x00, 0x03, 0x00,
    ];
    const PLAIN_HEADER: InputHeader = InputHeader {
        start_frame: WireFrame(1),
        ack_frame: WireFrame(2),
        checksum: None,
        time: None,
        loss: None,
        axes: 0,
    };

    const FULL: [u8; 29] = [
        0x52, 0x42, 0x4E, 0x31, 0x01, 0x01, 0x78, 0x56, 0x34, 0x12, 0x03, 0xEF, 0xCD, 0xAB, 0x90, 0x04, 0x03,
        0x02, 0x01, 0xB7, 0x3D, 0xB7, 0x41, 0x34, 0x12, 0x00, 0x80, 0xFF, 0xFF,
    ];
    const FULL_HEADER: InputHeader = InputHeader {
        start_frame: WireFrame(0x1234_5678),
        ack_frame: WireFrame(0x90AB_CDEF),
        checksum: Some(Checksum { frame: WireFrame(0x0102_0304), value: 0x41B7_3DB7 }),
        ..PLAIN_HEADER
    };
    const FULL_INPUTS: [Buttons; 3] = [Buttons(0x1234), Buttons(0x8000), Buttons(0xFFFF)];

    fn emitted(header: &InputHeader, inputs: &[Buttons]) -> Vec<u8> {
        let mut buf = [0xA5; 128];
        let len = InputPacket::encode(header, inputs.iter().copied(), &mut buf).unwrap();
        assert!(buf[len..].iter().all(|&byte| byte == 0xA5), "wrote past the end of the packet");
        buf[..len].to_vec()
    }

    fn with(at: usize, byte: u8) -> [u8; 17] {
        let mut bytes = PLAIN;
        bytes[at] = byte;
        bytes
    }

    #[test]
    fn known_packet_has_the_pinned_bytes() {
        assert_eq!(emitted(&PLAIN_HEADER, &[Buttons(3)]), PLAIN);
    }

    #[test]
    fn known_packet_with_a_checksum_has_the_pinned_bytes() {
        assert_eq!(emitted(&FULL_HEADER, &FULL_INPUTS), FULL);
    }

    #[test]
    fn round_trip_keeps_every_field() {
        for (header, inputs, bytes) in
            [(PLAIN_HEADER, &[Buttons(3)][..], &PLAIN[..]), (FULL_HEADER, &FULL_INPUTS, &FULL)]
        {
            let packet = InputPacket::decode(bytes, Flags::VERSION_1).unwrap();
            assert_eq!(packet.header(), header);
            assert_eq!(packet.start_frame(), header.start_frame);
            assert_eq!(packet.ack_frame(), header.ack_frame);
            assert_eq!(packet.checksum(), header.checksum);
            assert_eq!(packet.count(), inputs.len());
            assert!(packet.inputs().eq(inputs.iter().map(|buttons| Input::new(*buttons))));
            assert_eq!(packet.input(inputs.len() - 1), inputs.last().map(|buttons| Input::new(*buttons)));
            assert_eq!(packet.input(inputs.len()), None);
        }
    }

    #[test]
    fn bad_magic_is_refused() {
        let error = InputPacket::decode(&with(0, 0xAD), Flags::VERSION_1).unwrap_err();
        assert_eq!(error, InputDecodeError::Magic { magic: [0xAD, 0x42, 0x4E, 0x31] });
        assert_eq!(error.to_string(), "it begins with [AD, 42, 4E, 31], not with \"RBN1\"");
    }

    #[test]
    fn bad_version_is_refused() {
        assert_eq!(
            InputPacket::decode(&with(4, 0xFF), Flags::VERSION_1),
            Err(InputDecodeError::Version { version: 0xFF })
        );
    }

    #[test]
    fn wrong_length_is_refused() {
        assert_eq!(
            InputPacket::decode(&PLAIN[..16], Flags::VERSION_1),
            Err(InputDecodeError::Length { len: 16, expected: 17 })
        );
    }

    #[test]
    fn unknown_flags_are_refused() {
        assert_eq!(
            InputPacket::decode(&with(5, 2), Flags::VERSION_1),
            Err(InputDecodeError::Flags { flags: 2, allowed: Flags::VERSION_1 })
        );
    }

    #[test]
    fn count_outside_1_to_32_is_refused() {
        assert_eq!(
            InputPacket::decode(&with(10, 0), Flags::VERSION_1),
            Err(InputDecodeError::Count { count: 0 })
        );
        assert_eq!(
            InputPacket::decode(&with(10, 33), Flags::VERSION_1),
            Err(InputDecodeError::Count { count: 33 })
        );
    }

    #[test]
    fn encoding_refuses_bad_input_counts_and_keeps_the_buffer() {
        for count in [0, 33, 300] {
            let mut buf = [0xA5; 128];
            let inputs = vec![Buttons(1); count];
            assert_eq!(
                InputPacket::encode(&PLAIN_HEADER, inputs, &mut buf),
                Err(InputEncodeError::Count { count })
            );
            assert_eq!(buf, [0xA5; 128]);
        }
    }

    #[test]
    fn encoding_refuses_short_buffers_and_keeps_them() {
        for room in 0..FULL.len() {
            let mut buf = vec![0xA5; room];
            let result = InputPacket::encode(&FULL_HEADER, FULL_INPUTS, &mut buf);
            assert_eq!(result, Err(InputEncodeError::Room { len: 29, room }));
            assert_eq!(buf, vec![0xA5; room]);
        }
        let mut buf = [0xA5; 29];
        assert_eq!(InputPacket::encode(&FULL_HEADER, FULL_INPUTS, &mut buf), Ok(29));
        assert_eq!(buf, FULL);
    }

    #[test]
    fn iterator_shorter_than_it_says_leaves_neutral_inputs() {
        struct Liar;
        impl Iterator for Liar {
            type Item = Buttons;
            fn next(&mut self) -> Option<Buttons> {
                None
            }
            fn size_hint(&self) -> (usize, Option<usize>) {
                (2, Some(2))
            }
        }
        impl ExactSizeIterator for Liar {}
        let mut buf = [0xA5; 19];
        assert_eq!(InputPacket::encode(&PLAIN_HEADER, Liar, &mut buf), Ok(19));
        assert_eq!(
            InputPacket::decode(&buf, Flags::VERSION_1).unwrap().inputs().collect::<Vec<_>>(),
            [Input::NEUTRAL; 2]
        );
    }

    #[test]
    fn longest_packet_without_extensions_is_87_bytes() {
        assert_eq!(emitted(&FULL_HEADER, &[Buttons(7); MAX_INPUTS]).len(), InputPacket::MAX_PLAIN_LEN);
        assert_eq!((InputPacket::MAX_PLAIN_LEN, InputPacket::MAX_LEN), (87, 290));
    }
}
