//! The packets between a broadcast and its spectators, inside a sealed link. Big-endian.
//!
//! The sealed link proves the role of either side, so that the packets need no magic. A decoded packet is well-formed and nothing
//! more: the source's signature in a [`Head`] says which bytes of a log are true. `docs/SPECTATORS.md` has the rules.

use super::broken_rules::broken_rules;
use super::bytes::{Reader, Writer};

/// The version of these packets, in every one that begins or continues an exchange.
pub const VERSION: u8 = 1;
/// The most bytes of a log in one DATA.
pub const PIECE_LEN: usize = 1_024;
/// The most ranges that an ACK names.
pub const MAX_RANGES: usize = 32;
/// The time of a WAIT that does not know when the first bytes will come.
pub const UNKNOWN_MILLIS: u32 = u32::MAX;

const WATCH: u8 = 0x01;
const ACK: u8 = 0x02;
const LEAVE: u8 = 0x03;
const HEAD: u8 = 0x10;
const DATA: u8 = 0x11;
const WAIT: u8 = 0x12;
const BYE: u8 = 0x13;

const SIGNED_NAME: &[u8] = b"rebout broadcast 1";
/// The flag of the last head of a match.
const LAST: u8 = 1;

/// The identity of a match in its broadcast, and how many matches of that source were before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MatchId {
    /// Random bytes.
    pub id: [u8; 16],
    /// Counts up from 1.
    pub number: u32,
}

/// A signed statement of the source: the first `len` bytes of the log of a match have this hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The match.
    pub of: MatchId,
    /// Whether the log ends with these bytes.
    pub is_last: bool,
    /// The length of the log.
    pub len: u32,
    /// The BLAKE2s-256 of the match and of the log up to that length.
    pub hash: [u8; 32],
    /// The source's Ed25519 signature of [`signed_text`](Self::signed_text).
    pub signature: [u8; 64],
}

impl Head {
    /// The bytes that are signed.
    #[must_use]
    pub fn signed_text(&self) -> [u8; SIGNED_NAME.len() + 57] {
        let mut text = [0; SIGNED_NAME.len() + 57];
        let mut writer = Writer::new(&mut text);
        writer.put(SIGNED_NAME);
        self.put_statement(&mut writer);
        text
    }

    fn put_statement(&self, writer: &mut Writer<'_>) {
        writer.put(&self.of.id);
        writer.u32(self.of.number);
        writer.u8(u8::from(self.is_last) * LAST);
        writer.u32(self.len);
        writer.put(&self.hash);
    }
}

/// The state of the broadcast besides its log. It is not signed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// The number of spectators that this broadcast serves.
    pub spectators: u16,
    /// The age at which a frame leaves the source.
    pub delay_millis: u32,
}

/// A packet to the broadcast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToBroadcast<'a> {
    /// WATCH: asks for a log.
    Watch {
        /// The match of which the spectator has a beginning; zeros if of none.
        id: [u8; 16],
        /// The length of that beginning.
        len: u32,
    },
    /// ACK: the bytes that are here.
    Ack(Ack<'a>),
    /// LEAVE: the spectator goes.
    Leave,
}

/// The bytes of a log that are here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack<'a> {
    /// The number of the match.
    pub number: u32,
    /// Every byte before this one is here.
    pub next: u32,
    /// The length of the newest [`Head`] that is here, 0 if none is.
    pub head: u32,
    ranges: &'a [[u8; 8]],
}

impl Ack<'_> {
    /// No byte from this one on is here.
    pub(crate) fn end(&self) -> u32 {
        self.ranges().last().map_or(self.next, |range| range.end)
    }

    /// The ranges of bytes after [`next`](Self::next) that are here: in order, not empty, and not adjacent.
    pub fn ranges(&self) -> impl Iterator<Item = core::ops::Range<u32>> {
        self.ranges.iter().map(|&[a, b, c, d, e, f, g, h]| {
            u32::from_be_bytes([a, b, c, d])..u32::from_be_bytes([e, f, g, h])
        })
    }
}

/// A packet to a spectator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToSpectator<'a> {
    /// HEAD: a signed statement about the log.
    Head(Head, Status),
    /// DATA: bytes of the log.
    Data {
        /// The number of the match.
        number: u32,
        /// The place of the bytes in the log.
        offset: u32,
        /// 1 to [`PIECE_LEN`] bytes.
        bytes: &'a [u8],
    },
    /// WAIT: there is nothing to see yet.
    Wait {
        /// The time until the first bytes, or [`UNKNOWN_MILLIS`].
        millis: u32,
        /// The state of the broadcast.
        status: Status,
    },
    /// BYE: the spectator is not served, or no more.
    Bye(Bye),
}

crate::protocol::texts! {
    /// Why a spectator is not served, or no more.
    #[non_exhaustive]
    pub Bye:
    /// As many spectators watch as are allowed.
    Full(1) = "as many spectators watch as are allowed",
    /// Nothing was heard of the spectator for too long.
    Silent(2) = "the spectator was silent for too long",
    /// The spectator acknowledged nothing for too long.
    TooSlow(3) = "the spectator received nothing for too long",
    /// The spectator sent too much, or acknowledged bytes that it was never sent.
    Misbehaved(4) = "the spectator broke the rules of the broadcast",
    /// The broadcast is over.
    Closed(5) = "the broadcast is over",
}

impl Bye {
    const ALL: [Self; 5] = [Self::Full, Self::Silent, Self::TooSlow, Self::Misbehaved, Self::Closed];
}

broken_rules! {
    /// Why a packet of a broadcast was dropped.
    DecodeError {
        /// The first byte names no packet in this direction.
        Kind = "broadcast-kind", "no such packet in this direction",
        /// The packet has another version.
        Version = "broadcast-version", "another version",
        /// The length is not that of the packet.
        Length = "broadcast-length", "wrong length",
        /// The ranges of an ACK are not in order, or empty.
        Ranges = "broadcast-ranges", "ranges out of order",
        /// A flag, a reason or a number that has no meaning.
        Value = "broadcast-value", "a value without meaning",
    }
}

impl<'a> ToBroadcast<'a> {
    /// Decodes a packet of a spectator.
    ///
    /// # Errors
    /// The first rule that it breaks.
    pub fn decode(packet: &'a [u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader(packet);
        match reader.u8() {
            Some(WATCH) => {
                check_version(&mut reader)?;
                exact(reader, |reader| Some(Self::Watch { id: reader.array()?, len: reader.u32()? }))
            }
            Some(ACK) => {
                let count = reader.u8().ok_or(DecodeError::Length)?;
                let (ranges, rest) = packet.get(14..).ok_or(DecodeError::Length)?.as_chunks();
                if !rest.is_empty() || ranges.len() != usize::from(count) || ranges.len() > MAX_RANGES {
                    return Err(DecodeError::Length);
                }
                let head = (reader.u32(), reader.u32(), reader.u32());
                let (Some(number), Some(next), Some(head)) = head else { return Err(DecodeError::Length) };
                let ack = Ack { number, next, head, ranges };
                let mut end = next;
                for range in ack.ranges() {
                    if range.start <= end || range.is_empty() {
                        return Err(DecodeError::Ranges);
                    }
                    end = range.end;
                }
                Ok(Self::Ack(ack))
            }
            Some(LEAVE) => exact(reader, |_| Some(Self::Leave)),
            Some(_) => Err(DecodeError::Kind),
            None => Err(DecodeError::Length),
        }
    }
}

/// Writes a WATCH, and returns its length; `None` if `buf` is too short.
#[must_use]
pub fn encode_watch(id: &[u8; 16], len: u32, buf: &mut [u8]) -> Option<usize> {
    let mut writer = Writer::new(buf);
    writer.put(&[WATCH, VERSION]);
    writer.put(id);
    writer.u32(len);
    writer.finish().ok()
}

/// Writes an ACK of at most [`MAX_RANGES`] ranges, and returns its length; `None` if `buf` is too short.
#[must_use]
pub fn encode_ack(
    number: u32,
    next: u32,
    head: u32,
    ranges: &[core::ops::Range<u32>],
    buf: &mut [u8],
) -> Option<usize> {
    let ranges = &ranges[..ranges.len().min(MAX_RANGES)];
    let mut writer = Writer::new(buf);
    writer.put(&[ACK, ranges.len() as u8]);
    [number, next, head].into_iter().for_each(|field| writer.u32(field));
    ranges.iter().flat_map(|range| [range.start, range.end]).for_each(|place| writer.u32(place));
    writer.finish().ok()
}

/// Writes a LEAVE, and returns its length; `None` if `buf` is too short.
#[must_use]
pub fn encode_leave(buf: &mut [u8]) -> Option<usize> {
    let mut writer = Writer::new(buf);
    writer.u8(LEAVE);
    writer.finish().ok()
}

impl<'a> ToSpectator<'a> {
    /// Decodes a packet of a broadcast.
    ///
    /// # Errors
    /// The first rule that it breaks.
    pub fn decode(packet: &'a [u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader(packet);
        match reader.u8() {
            Some(HEAD) => {
                check_version(&mut reader)?;
                let (head, status, flags) = exact(reader, read_head)?;
                if flags & !LAST != 0 || head.of.number == 0 || head.len == 0 {
                    return Err(DecodeError::Value);
                }
                Ok(Self::Head(head, status))
            }
            Some(DATA) => {
                let (Some(number), Some(offset)) = (reader.u32(), reader.u32()) else {
                    return Err(DecodeError::Length);
                };
                let bytes = reader.rest();
                if !(1..=PIECE_LEN).contains(&bytes.len()) {
                    return Err(DecodeError::Length);
                }
                Ok(Self::Data { number, offset, bytes })
            }
            Some(WAIT) => {
                check_version(&mut reader)?;
                exact(reader, |reader| {
                    let status = Status { spectators: reader.u16()?, delay_millis: reader.u32()? };
                    Some(Self::Wait { millis: reader.u32()?, status })
                })
            }
            Some(BYE) => {
                let reason = exact(reader, Reader::u8)?;
                let bye = Bye::ALL.into_iter().find(|bye| *bye as u8 == reason);
                bye.map(Self::Bye).ok_or(DecodeError::Value)
            }
            Some(_) => Err(DecodeError::Kind),
            None => Err(DecodeError::Length),
        }
    }

    /// Writes the packet, and returns its length; `None` if `buf` is too short.
    #[must_use]
    pub fn encode(&self, buf: &mut [u8]) -> Option<usize> {
        let mut writer = Writer::new(buf);
        match self {
            Self::Head(head, status) => {
                writer.put(&[HEAD, VERSION]);
                writer.u16(status.spectators);
                writer.u32(status.delay_millis);
                head.put_statement(&mut writer);
                writer.put(&head.signature);
            }
            Self::Data { number, offset, bytes } => {
                writer.u8(DATA);
                writer.u32(*number);
                writer.u32(*offset);
                writer.put(bytes);
            }
            Self::Wait { millis, status } => {
                writer.put(&[WAIT, VERSION]);
                writer.u16(status.spectators);
                writer.u32(status.delay_millis);
                writer.u32(*millis);
            }
            Self::Bye(bye) => writer.put(&[BYE, *bye as u8]),
        }
        writer.finish().ok()
    }
}

fn read_head(reader: &mut Reader<'_>) -> Option<(Head, Status, u8)> {
    let status = Status { spectators: reader.u16()?, delay_millis: reader.u32()? };
    let of = MatchId { id: reader.array()?, number: reader.u32()? };
    let flags = reader.u8()?;
    let (len, hash, signature) = (reader.u32()?, reader.array()?, reader.array()?);
    Some((Head { of, is_last: flags & LAST != 0, len, hash, signature }, status, flags))
}

fn check_version(reader: &mut Reader<'_>) -> Result<(), DecodeError> {
    match reader.u8() {
        Some(VERSION) => Ok(()),
        Some(_) => Err(DecodeError::Version),
        None => Err(DecodeError::Length),
    }
}

/// Reads the rest of a packet, which has to end with it.
fn exact<'a, T>(
    mut reader: Reader<'a>,
    read: impl FnOnce(&mut Reader<'a>) -> Option<T>,
) -> Result<T, DecodeError> {
    let read = read(&mut reader);
    read.filter(|_| reader.0.is_empty()).ok_or(DecodeError::Length)
}
