//! The messages that carry the host's first state to the joiner: FIRST_STATE and FIRST_STATE_ACK.
//!
//! Both travel in packets outside the sequence numbers of the connection, because a transfer has far more packets under
//! way than those numbers reach. The token of the match proves them.

use super::bytes::{Reader, Writer};
use super::control::ControlHeader;
use super::message::{DecodeError, EncodeError, Kind, Message};

/// The most bytes of a first state: 4 MiB.
pub const MAX_FIRST_STATE: u32 = 4 << 20;
/// The bytes of each part of a first state but the last, which has the rest.
pub const PART_LEN: usize = 1_024;
/// The number of parts after the first missing one that an acknowledgement names.
pub const REACH: u16 = 512;

const REACH_BYTES: usize = REACH as usize / 8;
const ACK_LEN: usize = 1 + 8 + 1 + 2 + REACH_BYTES;
const _: () = assert!(MAX_FIRST_STATE as usize / PART_LEN <= u16::MAX as usize);

/// A part of the host's first state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstStatePart<'a> {
    /// The token of the match.
    pub token: u64,
    /// The number of the part, from 0.
    pub number: u16,
    /// Its bytes, 1 to [`PART_LEN`].
    pub bytes: &'a [u8],
}

/// The parts that the joiner has. The first one, of no part, asks the host to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstStateAck {
    /// The token of the match.
    pub token: u64,
    /// Whether all parts are here and do not have the hash of the OFFER.
    pub is_damaged: bool,
    /// The number of the first part that is not here; the number of all parts if none is missing.
    pub missing: u16,
    /// Bit k of byte b: part `missing + 1 + 8 * b + k` is here.
    pub beyond: [u8; REACH_BYTES],
}

impl FirstStateAck {
    /// Whether the part with this number is here.
    #[must_use]
    pub fn has(&self, number: u16) -> bool {
        match number.checked_sub(self.missing) {
            None => true,
            Some(0) => false,
            Some(offset) => {
                let bit = usize::from(offset - 1);
                self.beyond.get(bit / 8).is_some_and(|byte| byte >> (bit % 8) & 1 == 1)
            }
        }
    }

    /// One past the last part that is named as being here.
    #[must_use]
    pub fn end(&self) -> u32 {
        let bits = |(at, byte): (usize, &u8)| (*byte != 0).then(|| 8 * at as u32 + byte.ilog2() + 1);
        let beyond = self.beyond.iter().enumerate().rev().find_map(bits);
        u32::from(self.missing) + beyond.map_or(0, |bits| bits + 1)
    }
}

impl Message<'_> {
    /// Writes a packet outside the sequence numbers of a connection, whose message is proven by its token.
    ///
    /// # Errors
    /// As [`encode_packet`](Self::encode_packet).
    pub fn encode_outside(&self, buf: &mut [u8]) -> Result<usize, EncodeError> {
        self.encode_packet(&ControlHeader::default(), buf)
    }
}

pub(super) fn read_part(payload: &[u8]) -> Result<FirstStatePart<'_>, DecodeError> {
    let mut reader = Reader(payload);
    let fields = (reader.u8(), reader.u64(), reader.u16());
    let (Some(_), Some(token), Some(number), false) = (fields.0, fields.1, fields.2, reader.0.is_empty())
    else {
        return Err(DecodeError::Length { kind: Kind::FirstState, len: payload.len() });
    };
    let part = FirstStatePart { token, number, bytes: reader.rest() };
    check_part(&part)?;
    Ok(part)
}

pub(super) fn read_ack(payload: &[u8]) -> Result<FirstStateAck, DecodeError> {
    let read = |mut reader: Reader<'_>| {
        reader.u8()?;
        let fields = (reader.u64()?, reader.u8()?, reader.u16()?, reader.array()?);
        reader.end()?;
        Some(fields)
    };
    let kind = Kind::FirstStateAck;
    let (token, is_damaged, missing, beyond) =
        read(Reader(payload)).ok_or(DecodeError::Length { kind, len: payload.len() })?;
    let is_damaged = match is_damaged {
        0 => false,
        1 => true,
        byte => return Err(DecodeError::Flag { kind, byte }),
    };
    Ok(FirstStateAck { token, is_damaged, missing, beyond })
}

pub(super) fn put_part(writer: &mut Writer<'_>, part: &FirstStatePart<'_>) -> Result<(), DecodeError> {
    check_part(part)?;
    writer.u64(part.token);
    writer.u16(part.number);
    writer.put(part.bytes);
    Ok(())
}

pub(super) fn put_ack(writer: &mut Writer<'_>, ack: &FirstStateAck) {
    writer.u64(ack.token);
    writer.u8(u8::from(ack.is_damaged));
    writer.u16(ack.missing);
    writer.put(&ack.beyond);
}

fn check_part(part: &FirstStatePart<'_>) -> Result<(), DecodeError> {
    match part.bytes.len() {
        0 => Err(DecodeError::Length { kind: Kind::FirstState, len: 1 + 8 + 2 }),
        1..=PART_LEN => Ok(()),
        len => Err(DecodeError::TooLong { kind: Kind::FirstState, len, limit: PART_LEN }),
    }
}

const _: () = assert!(ACK_LEN <= super::handshake::HELLO_LEN, "a damaged one is sent like an answer");

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(message: &Message<'_>, change: impl FnOnce(&mut Vec<u8>)) -> Result<(), DecodeError> {
        let mut buf = [0; 1_200];
        let len = message.encode(&mut buf).unwrap();
        let mut bytes = buf[..len].to_vec();
        change(&mut bytes);
        Message::decode(&bytes).map(|_| ())
    }

    #[test]
    fn parts_and_acks_are_read_back() {
        let mut beyond = [0; REACH_BYTES];
        (beyond[0], beyond[63]) = (0b101, 0x80);
        let ack = FirstStateAck { token: 7, is_damaged: true, missing: 9, beyond };
        let part = FirstStatePart { token: 7, number: 4_095, bytes: &[5; PART_LEN] };
        for message in [Message::FirstStateAck(ack), Message::FirstState(part)] {
            let mut buf = [0; 1_200];
            let len = message.encode(&mut buf).unwrap();
            assert_eq!(Message::decode(&buf[..len]), Ok(message));
        }
    }

    #[test]
    fn other_lengths_and_flags_are_refused() {
        let (token, bytes) = (7, &[5; PART_LEN][..]);
        let part = Message::FirstState(FirstStatePart { token, number: 0, bytes });
        let too_long = decode(&part, |bytes| bytes.push(0));
        assert!(matches!(too_long, Err(DecodeError::TooLong { len: 1_025, limit: 1_024, .. })));
        let empty = decode(&part, |bytes| bytes.truncate(11));
        assert_eq!(empty, Err(DecodeError::Length { kind: Kind::FirstState, len: 11 }));
        assert_eq!(decode(&part, |bytes| bytes.truncate(12)), Ok(()), "one byte");
        let ack = FirstStateAck { token, is_damaged: false, missing: 0, beyond: [0; REACH_BYTES] };
        let ack = Message::FirstStateAck(ack);
        for change in [|bytes: &mut Vec<u8>| bytes.push(0), |bytes: &mut Vec<u8>| bytes.truncate(75)] {
            assert!(matches!(decode(&ack, change), Err(DecodeError::Length { .. })));
        }
        assert!(matches!(decode(&ack, |bytes| bytes[9] = 2), Err(DecodeError::Flag { byte: 2, .. })));
    }

    #[test]
    fn ack_names_the_parts_before_and_beyond_the_missing_one() {
        let mut beyond = [0; REACH_BYTES];
        (beyond[0], beyond[63]) = (0b101, 0x80);
        let ack = FirstStateAck { token: 7, is_damaged: false, missing: 9, beyond };
        let here: Vec<u16> = (0..700).filter(|number| ack.has(*number)).collect();
        assert_eq!(here, [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 9 + REACH]);
        assert_eq!(ack.end(), u32::from(9 + REACH) + 1);
        assert_eq!(FirstStateAck { beyond: [0; REACH_BYTES], ..ack }.end(), 9);
    }
}
