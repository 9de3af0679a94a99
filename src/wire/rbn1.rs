//! RBN1 version 1: packets with a run of inputs, an ack, and sometimes a checksum. Little-endian.
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 4 | magic, `52 42 4E 31` |
//! | 4 | 1 | version, 1 |
//! | 5 | 1 | flags: bit 0 says that a checksum block follows; the others are 0 |
//! | 6 | 4 | start frame: the frame of the first input |
//! | 10 | 1 | count of inputs, 1..=32 |
//! | 11 | 4 | acknowledged frame |
//! | 15 | 4 | frame of the checksum, only with flag bit 0 |
//! | 19 | 4 | checksum, only with flag bit 0 |
//! | 15 or 23 | 2 a frame | buttons, oldest first |
//!
//! [`decode`] checks all of that once, and the accessors of [`InputPacket`] can neither fail nor panic. Frame numbers
//! are those on the wire, which are offset from those of the match; here they are opaque.

use core::fmt;

use super::numbering::WireFrame;
use crate::game::Buttons;

/// The first four bytes of every packet.
pub const MAGIC: [u8; 4] = *b"RBN1";
/// The version of the format.
pub const VERSION: u8 = 1;
/// Length of the header without a checksum block.
pub const HEADER_LEN: usize = 15;
/// Length of the header with a checksum block.
pub const HEADER_WITH_CHECKSUM_LEN: usize = 23;
/// The most inputs that one packet carries.
pub const MAX_INPUTS: usize = 32;
/// Length of the longest packet.
pub const MAX_LEN: usize = HEADER_WITH_CHECKSUM_LEN + MAX_INPUTS * INPUT_LEN;

const FLAG_CHECKSUM: u8 = 1;
const INPUT_LEN: usize = 2;

const AT_VERSION: usize = 4;
const AT_FLAGS: usize = 5;
const AT_START_FRAME: usize = 6;
const AT_COUNT: usize = 10;
const AT_ACK_FRAME: usize = 11;

/// The checksum of the state before frame `frame` is stepped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checksum {
    /// The frame of the state, as numbered on the wire.
    pub frame: WireFrame,
    /// The checksum of the state.
    pub value: u32,
}

/// The fields of a packet before its inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The frame of the first input, as numbered on the wire.
    pub start_frame: WireFrame,
    /// Ack: the newest frame up to which the sender has all of the receiver's inputs, as numbered on the wire.
    pub ack_frame: WireFrame,
    /// The checksum block, if there is one.
    pub checksum: Option<Checksum>,
}

/// Writes a packet to the front of `buf` and returns its length. Bytes after the packet stay as they were.
///
/// ```
/// use rebout::Buttons;
/// use rebout::wire::WireFrame;
/// use rebout::wire::rbn1::{self, Header};
///
/// let header = Header { start_frame: WireFrame(1), ack_frame: WireFrame(2), checksum: None };
/// let mut buf = [0; rbn1::MAX_LEN];
/// let len = rbn1::encode(&header, [Buttons(3)], &mut buf)?;
/// let packet = rbn1::decode(&buf[..len]).expect("what was just encoded");
/// assert_eq!(packet.input(0), Some(Buttons(3)));
/// # Ok::<(), rbn1::EncodeError>(())
/// ```
///
/// # Errors
/// If there are no inputs or more than [`MAX_INPUTS`], or if `buf` is too small. `buf` is then unchanged.
#[inline]
pub fn encode<I>(header: &Header, inputs: I, buf: &mut [u8]) -> Result<usize, EncodeError>
where
    I: IntoIterator<Item = Buttons, IntoIter: ExactSizeIterator>,
{
    let inputs = inputs.into_iter();
    let count = inputs.len();
    if count.wrapping_sub(1) >= MAX_INPUTS {
        return Err(EncodeError::Count { count });
    }
    let header_len = if header.checksum.is_some() { HEADER_WITH_CHECKSUM_LEN } else { HEADER_LEN };
    let len = header_len + count * INPUT_LEN;
    let room = buf.len();
    let Some((head, rest)) = buf.get_mut(..len).and_then(<[u8]>::split_first_chunk_mut::<HEADER_LEN>) else {
        return Err(EncodeError::Room { len, room });
    };
    head[..AT_VERSION].copy_from_slice(&MAGIC);
    head[AT_VERSION] = VERSION;
    head[AT_FLAGS] = if header.checksum.is_some() { FLAG_CHECKSUM } else { 0 };
    head[AT_START_FRAME..AT_COUNT].copy_from_slice(&header.start_frame.0.to_le_bytes());
    head[AT_COUNT] = count as u8;
    head[AT_ACK_FRAME..].copy_from_slice(&header.ack_frame.0.to_le_bytes());
    let body = match (header.checksum, rest) {
        (Some(checksum), [f0, f1, f2, f3, v0, v1, v2, v3, body @ ..]) => {
            [*f0, *f1, *f2, *f3] = checksum.frame.0.to_le_bytes();
            [*v0, *v1, *v2, *v3] = checksum.value.to_le_bytes();
            body
        }
        (_, body) => body,
    };
    let slots = body.as_chunks_mut().0;
    let mut written = 0;
    for (slot, input) in slots.iter_mut().zip(inputs) {
        *slot = input.0.to_le_bytes();
        written += 1;
    }
    // Fill up with neutral inputs, if the iterator was shorter than it said, rather than send old bytes of the buffer.
    for slot in slots.iter_mut().skip(written) {
        *slot = [0; INPUT_LEN];
    }
    Ok(len)
}

/// A packet that has passed all checks, borrowed from its datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputPacket<'a> {
    header: Header,
    inputs: &'a [[u8; INPUT_LEN]],
}

/// Decodes a datagram without copying it. The six rules are checked in the order of [`DecodeError`]'s variants.
///
/// # Errors
/// The first rule that the datagram breaks.
#[inline]
pub fn decode(datagram: &[u8]) -> Result<InputPacket<'_>, DecodeError> {
    let len = datagram.len();
    let Some((head, rest)) = datagram.split_first_chunk::<HEADER_LEN>() else {
        return Err(DecodeError::TooShort { len });
    };
    let [m0, m1, m2, m3, version, flags, s0, s1, s2, s3, count, a0, a1, a2, a3] = *head;
    let magic = [m0, m1, m2, m3];
    if magic != MAGIC {
        return Err(DecodeError::Magic { magic });
    }
    if version != VERSION {
        return Err(DecodeError::Version { version });
    }
    if flags & !FLAG_CHECKSUM != 0 {
        return Err(DecodeError::Flags { flags });
    }
    if usize::from(count.wrapping_sub(1)) >= MAX_INPUTS {
        return Err(DecodeError::Count { count });
    }
    let has_checksum = flags & FLAG_CHECKSUM != 0;
    let header_len = if has_checksum { HEADER_WITH_CHECKSUM_LEN } else { HEADER_LEN };
    let expected = header_len + usize::from(count) * INPUT_LEN;
    if len != expected {
        return Err(DecodeError::Length { len, expected });
    }
    let (checksum, body) = match rest {
        [f0, f1, f2, f3, v0, v1, v2, v3, body @ ..] if has_checksum => {
            let frame = WireFrame(u32::from_le_bytes([*f0, *f1, *f2, *f3]));
            let value = u32::from_le_bytes([*v0, *v1, *v2, *v3]);
            (Some(Checksum { frame, value }), body)
        }
        body => (None, body),
    };
    let start_frame = WireFrame(u32::from_le_bytes([s0, s1, s2, s3]));
    let ack_frame = WireFrame(u32::from_le_bytes([a0, a1, a2, a3]));
    Ok(InputPacket { header: Header { start_frame, ack_frame, checksum }, inputs: body.as_chunks().0 })
}

impl<'a> InputPacket<'a> {
    /// The fields of the packet before its inputs.
    #[inline]
    #[must_use]
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// The frame of the first input, as numbered on the wire.
    #[inline]
    #[must_use]
    pub const fn start_frame(&self) -> WireFrame {
        self.header.start_frame
    }

    /// The ack of the packet, as numbered on the wire.
    #[inline]
    #[must_use]
    pub const fn ack_frame(&self) -> WireFrame {
        self.header.ack_frame
    }

    /// The checksum block, if there is one.
    #[inline]
    #[must_use]
    pub const fn checksum(&self) -> Option<Checksum> {
        self.header.checksum
    }

    /// The number of inputs, 1..=32.
    #[inline]
    #[must_use]
    pub const fn count(&self) -> usize {
        self.inputs.len()
    }

    /// The input of frame `start_frame + index`.
    #[inline]
    #[must_use]
    pub fn input(&self, index: usize) -> Option<Buttons> {
        self.inputs.get(index).map(|bytes| Buttons(u16::from_le_bytes(*bytes)))
    }

    /// All inputs, oldest first.
    #[inline]
    pub fn inputs(&self) -> impl DoubleEndedIterator<Item = Buttons> + ExactSizeIterator + Clone + use<'a> {
        self.inputs.iter().map(|bytes| Buttons(u16::from_le_bytes(*bytes)))
    }
}

/// Why a datagram is not an RBN1 packet. The rules are checked in this order, and the first one broken is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeError {
    /// The datagram is shorter than a header.
    TooShort {
        /// Length of the datagram.
        len: usize,
    },
    /// The first four bytes are not [`MAGIC`].
    Magic {
        /// The bytes found.
        magic: [u8; 4],
    },
    /// The version is not [`VERSION`].
    Version {
        /// The version found.
        version: u8,
    },
    /// A flag bit other than bit 0 is set.
    Flags {
        /// The flags found.
        flags: u8,
    },
    /// The count is outside 1..=32.
    Count {
        /// The count found.
        count: u8,
    },
    /// The length is not the one that flags and count require.
    Length {
        /// Length of the datagram.
        len: usize,
        /// The length that flags and count require.
        expected: usize,
    },
}

impl DecodeError {
    /// A short name of the broken rule. Names never change.
    #[must_use]
    pub const fn rule(&self) -> &'static str {
        match self {
            Self::TooShort { .. } => "rbn1-too-short",
            Self::Magic { .. } => "rbn1-magic",
            Self::Version { .. } => "rbn1-version",
            Self::Flags { .. } => "rbn1-flags",
            Self::Count { .. } => "rbn1-count",
            Self::Length { .. } => "rbn1-length",
        }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooShort { len } => write!(f, "{len} bytes are less than a header of {HEADER_LEN}"),
            Self::Magic { magic } => write!(f, "it begins with {magic:02X?}, not with \"RBN1\""),
            Self::Version { version } => write!(f, "version {version} is not {VERSION}"),
            Self::Flags { flags } => write!(f, "flags {flags:#04x} have bits set beyond bit 0"),
            Self::Count { count } => write!(f, "a count of {count} is outside 1..={MAX_INPUTS}"),
            Self::Length { len, expected } => {
                write!(f, "{len} bytes, but flags and count ask for {expected}")
            }
        }
    }
}

impl std::error::Error for DecodeError {}

/// Why a packet cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EncodeError {
    /// There are no inputs, or more than [`MAX_INPUTS`].
    Count {
        /// The number of inputs.
        count: usize,
    },
    /// The buffer is too small.
    Room {
        /// Length of the packet.
        len: usize,
        /// Length of the buffer.
        room: usize,
    },
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count { count } => write!(f, "a count of {count} inputs is outside 1..={MAX_INPUTS}"),
            Self::Room { len, room } => write!(f, "a packet of {len} bytes does not fit a buffer of {room}"),
        }
    }
}

impl std::error::Error for EncodeError {}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: [u8; 17] = [
        0x52, 0x42, 0x4E, 0x31, 0x01, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x02, 0x00, 0x00, 0x00, 0x03, 0x00,
    ];
    const PLAIN_HEADER: Header =
        Header { start_frame: WireFrame(1), ack_frame: WireFrame(2), checksum: None };

    const FULL: [u8; 29] = [
        0x52, 0x42, 0x4E, 0x31, 0x01, 0x01, 0x78, 0x56, 0x34, 0x12, 0x03, 0xEF, 0xCD, 0xAB, 0x90, 0x04, 0x03,
        0x02, 0x01, 0xB7, 0x3D, 0xB7, 0x41, 0x34, 0x12, 0x00, 0x80, 0xFF, 0xFF,
    ];
    const FULL_HEADER: Header = Header {
        start_frame: WireFrame(0x1234_5678),
        ack_frame: WireFrame(0x90AB_CDEF),
        checksum: Some(Checksum { frame: WireFrame(0x0102_0304), value: 0x41B7_3DB7 }),
    };
    const FULL_INPUTS: [Buttons; 3] = [Buttons(0x1234), Buttons(0x8000), Buttons(0xFFFF)];

    fn emitted(header: &Header, inputs: &[Buttons]) -> Vec<u8> {
        let mut buf = [0xA5; 128];
        let len = encode(header, inputs.iter().copied(), &mut buf).unwrap();
        assert!(buf[len..].iter().all(|&byte| byte == 0xA5), "wrote past the end of the packet");
        buf[..len].to_vec()
    }

    fn with(at: usize, byte: u8) -> [u8; 17] {
        let mut bytes = PLAIN;
        bytes[at] = byte;
        bytes
    }

    #[test]
    fn a_known_packet_has_the_pinned_bytes() {
        assert_eq!(emitted(&PLAIN_HEADER, &[Buttons(3)]), PLAIN);
    }

    #[test]
    fn a_known_packet_with_a_checksum_has_the_pinned_bytes() {
        assert_eq!(emitted(&FULL_HEADER, &FULL_INPUTS), FULL);
    }

    #[test]
    fn a_round_trip_keeps_every_field() {
        for (header, inputs, bytes) in
            [(PLAIN_HEADER, &[Buttons(3)][..], &PLAIN[..]), (FULL_HEADER, &FULL_INPUTS, &FULL)]
        {
            let packet = decode(bytes).unwrap();
            assert_eq!(*packet.header(), header);
            assert_eq!(packet.start_frame(), header.start_frame);
            assert_eq!(packet.ack_frame(), header.ack_frame);
            assert_eq!(packet.checksum(), header.checksum);
            assert_eq!(packet.count(), inputs.len());
            assert_eq!(packet.inputs().collect::<Vec<_>>(), inputs);
            assert_eq!(packet.input(inputs.len() - 1), inputs.last().copied());
            assert_eq!(packet.input(inputs.len()), None);
        }
    }

    #[test]
    fn a_bad_magic_is_refused() {
        let error = decode(&with(0, 0xAD)).unwrap_err();
        assert_eq!(error, DecodeError::Magic { magic: [0xAD, 0x42, 0x4E, 0x31] });
        assert_eq!(error.to_string(), "it begins with [AD, 42, 4E, 31], not with \"RBN1\"");
    }

    #[test]
    fn a_bad_version_is_refused() {
        assert_eq!(decode(&with(4, 0xFF)), Err(DecodeError::Version { version: 0xFF }));
    }

    #[test]
    fn a_wrong_length_is_refused() {
        assert_eq!(decode(&PLAIN[..16]), Err(DecodeError::Length { len: 16, expected: 17 }));
    }

    #[test]
    fn unknown_flags_are_refused() {
        assert_eq!(decode(&with(5, 2)), Err(DecodeError::Flags { flags: 2 }));
    }

    #[test]
    fn a_count_outside_1_to_32_is_refused() {
        assert_eq!(decode(&with(10, 0)), Err(DecodeError::Count { count: 0 }));
        assert_eq!(decode(&with(10, 33)), Err(DecodeError::Count { count: 33 }));
    }

    #[test]
    fn encoding_refuses_too_few_and_too_many_inputs_and_leaves_the_buffer() {
        for count in [0, 33, 300] {
            let mut buf = [0xA5; 128];
            let inputs = vec![Buttons(1); count];
            assert_eq!(encode(&PLAIN_HEADER, inputs, &mut buf), Err(EncodeError::Count { count }));
            assert_eq!(buf, [0xA5; 128]);
        }
    }

    #[test]
    fn encoding_refuses_every_buffer_that_is_too_small_and_leaves_it() {
        for room in 0..FULL.len() {
            let mut buf = vec![0xA5; room];
            let result = encode(&FULL_HEADER, FULL_INPUTS, &mut buf);
            assert_eq!(result, Err(EncodeError::Room { len: 29, room }));
            assert_eq!(buf, vec![0xA5; room]);
        }
        let mut buf = [0xA5; 29];
        assert_eq!(encode(&FULL_HEADER, FULL_INPUTS, &mut buf), Ok(29));
        assert_eq!(buf, FULL);
    }

    #[test]
    fn an_iterator_shorter_than_it_says_leaves_neutral_inputs() {
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
        assert_eq!(encode(&PLAIN_HEADER, Liar, &mut buf), Ok(19));
        assert_eq!(decode(&buf).unwrap().inputs().collect::<Vec<_>>(), [Buttons::NONE; 2]);
    }

    #[test]
    fn the_longest_packet_is_87_bytes() {
        assert_eq!(emitted(&FULL_HEADER, &[Buttons(7); MAX_INPUTS]).len(), MAX_LEN);
        assert_eq!(MAX_LEN, 87);
    }
}
