//! GAME: the control packets of a duel, and the packets between a server and its clients. Big-endian.
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 4 | magic, `47 41 4D 45` |
//! | 4 | 2 | sequence number of this packet |
//! | 6 | 2 | acknowledged sequence number |
//! | 8 | 4 | bit k: the packet `acknowledged - 1 - k` was received |
//! | 12 | 1 | type, 1..=10 |
//! | 13 | 2 | length of the payload |
//! | 15 | | payload |
//!
//! | type | | payload |
//! |---|---|---|
//! | 1 | CONNECT_REQ | empty |
//! | 2 | CONNECT_ACK | client id, 1..=255 |
//! | 3 | DISCONNECT | empty |
//! | 4 | INPUT | one input (13 bytes), or a count N from 1 and N inputs (1 + 13 N), oldest first |
//! | 5 | SNAPSHOT | tick u32, count N, N entities (21 bytes each); then 4 bytes more or none |
//! | 6, 7 | PING, PONG | a finite `f64`, echoed by its bits |
//! | 8 | RELIABLE_EVENT | anything; in a duel a message |
//! | 9 | HEARTBEAT | empty |
//! | 10 | DELTA | an extension: a snapshot as differences to earlier ones, to clients that asked for it |
//!
//! An input is a sequence number u32, two moves as `f32` from -1 to 1, and a byte of actions; an entity is an id and
//! five `f32`: position, velocity, health. The two forms of INPUT are told apart by their length, which is never the
//! same. The 4 bytes that may end a SNAPSHOT are the sequence number of the last input that the server has processed;
//! the format's description does not have them, but peers in the field send them. Lengths are exact, and floats are
//! finite: the value of a PING must be finite too, although nothing computes with it.
//!
//! [`ControlPacket::decode`] checks all of that once, and the packet can be read without further checks.

use core::num::NonZeroU8;

use super::bytes::{Reader, Writer};
pub use super::control_error::{ControlDecodeError, ControlEncodeError};
use super::entries::{ENTITY_LEN, INPUT_LEN, RecordCodec};
pub use super::entries::{EntityState, Entries, PlayerInput, Record, ValueError};
use super::kinds::kinds;

const HEADER_LEN: usize = ControlPacket::HEADER_LEN;

/// The sequence number and the acks of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ControlHeader {
    /// The sender's sequence number of this packet; it wraps around.
    pub sequence: u16,
    /// Ack: the newest sequence number received from the other side.
    pub ack: u16,
    /// Selective acks: bit k is set if `ack - 1 - k` was received too.
    pub ack_bits: u32,
}

kinds! {
    /// The type byte of a packet.
    PacketType:
    /// A client asks to join.
    ConnectReq(1) = "CONNECT_REQ",
    /// The client is accepted and gets its number.
    ConnectAck(2) = "CONNECT_ACK",
    /// The sender leaves.
    Disconnect(3) = "DISCONNECT",
    /// Inputs of a client.
    Input(4) = "INPUT",
    /// The state of a server's world.
    Snapshot(5) = "SNAPSHOT",
    /// A request to measure the RTT.
    Ping(6) = "PING",
    /// The answer to a ping.
    Pong(7) = "PONG",
    /// A payload that is retransmitted until it is acked.
    ReliableEvent(8) = "RELIABLE_EVENT",
    /// A keep-alive, which also carries acks.
    Heartbeat(9) = "HEARTBEAT",
    /// The state of a server's world as differences to earlier ones.
    Delta(10) = "DELTA",
}

/// The state of a server's world at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Snapshot<'a> {
    /// The server's number of this state.
    pub tick: u32,
    /// The entities, at most 255.
    pub entities: Entries<'a, EntityState>,
    /// The sequence number of the receiver's last input that the server has processed, if the server sends it.
    pub last_input: Option<u32>,
}

/// The payload of a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ControlPayload<'a> {
    /// A client asks to join.
    ConnectReq,
    /// The client is accepted and gets its number.
    ConnectAck {
        /// The client's number.
        client_id: NonZeroU8,
    },
    /// The sender leaves.
    Disconnect,
    /// One input of a client, in the form without a count.
    Input(PlayerInput),
    /// 1 to 255 inputs of a client, oldest first, in the form with a count.
    Inputs(Entries<'a, PlayerInput>),
    /// The state of a server's world.
    Snapshot(Snapshot<'a>),
    /// A request to measure the RTT: the bits of a finite `f64`, opaque to the receiver.
    Ping(u64),
    /// The answer to a ping: the same bits.
    Pong(u64),
    /// A payload that is retransmitted until it is acked; in a duel a message.
    ReliableEvent(&'a [u8]),
    /// A keep-alive, which also carries acks.
    Heartbeat,
    /// The state of a server's world as differences to earlier ones, which only a client that has those can read.
    Delta(&'a [u8]),
}

impl ControlPayload<'_> {
    /// The type of a packet with this payload.
    #[must_use]
    pub const fn packet_type(&self) -> PacketType {
        match self {
            Self::ConnectReq => PacketType::ConnectReq,
            Self::ConnectAck { .. } => PacketType::ConnectAck,
            Self::Disconnect => PacketType::Disconnect,
            Self::Input(_) | Self::Inputs(_) => PacketType::Input,
            Self::Snapshot(_) => PacketType::Snapshot,
            Self::Ping(_) => PacketType::Ping,
            Self::Pong(_) => PacketType::Pong,
            Self::ReliableEvent(_) => PacketType::ReliableEvent,
            Self::Heartbeat => PacketType::Heartbeat,
            Self::Delta(_) => PacketType::Delta,
        }
    }
}

/// A packet that has passed all checks, borrowed from its datagram.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ControlPacket<'a> {
    /// The sequence number and the acks.
    pub header: ControlHeader,
    /// The payload.
    pub payload: ControlPayload<'a>,
}

impl ControlPacket<'_> {
    /// The first four bytes of every packet.
    pub const MAGIC: [u8; 4] = *b"GAME";
    /// Length of the header.
    pub const HEADER_LEN: usize = 15;

    /// Writes a packet to the front of `buf` and returns its length. Bytes after the packet stay as they were.
    ///
    /// # Errors
    /// If `payload` has a value that [`decode`](ControlPacket::decode) would refuse, or if `buf` is too small; `buf` then holds no packet.
    pub fn encode(
        header: &ControlHeader,
        payload: &ControlPayload<'_>,
        buf: &mut [u8],
    ) -> Result<usize, ControlEncodeError> {
        let room = buf.len();
        let (head, body) = buf.split_at_mut(room.min(HEADER_LEN));
        let mut writer = Writer::new(body);
        match payload {
            ControlPayload::ConnectReq | ControlPayload::Disconnect | ControlPayload::Heartbeat => {}
            ControlPayload::ConnectAck { client_id } => writer.u8(client_id.get()),
            ControlPayload::Input(input) => {
                input.check()?;
                writer.put(&input.write());
            }
            ControlPayload::Inputs(inputs) => {
                if inputs.is_empty() {
                    return Err(ControlEncodeError::Count { kind: PacketType::Input, count: 0 });
                }
                put_entries(&mut writer, PacketType::Input, inputs)?;
            }
            ControlPayload::Snapshot(Snapshot { tick, entities, last_input }) => {
                writer.u32(*tick);
                put_entries(&mut writer, PacketType::Snapshot, entities)?;
                if let Some(last_input) = last_input {
                    writer.u32(*last_input);
                }
            }
            ControlPayload::Ping(bits) | ControlPayload::Pong(bits) => {
                check_timestamp(*bits)?;
                writer.u64(*bits);
            }
            ControlPayload::ReliableEvent(bytes) | ControlPayload::Delta(bytes) => writer.put(bytes),
        }
        put_header(header, payload.packet_type(), writer.len(), head, room)
    }

    /// Writes the header of a DELTA whose payload of this length is already behind it, and returns the length of the packet.
    #[cfg(feature = "authority")]
    pub(crate) fn put_delta_header(
        header: &ControlHeader,
        payload_len: usize,
        buf: &mut [u8],
    ) -> Option<usize> {
        let room = buf.len();
        let head = buf.get_mut(..HEADER_LEN)?;
        put_header(header, PacketType::Delta, payload_len, head, room).ok()
    }

    /// Makes the value of a PING from random bits: the bits of a finite `f64`, with 63 of them random.
    #[inline]
    #[must_use]
    pub const fn ping_value(random: u64) -> u64 {
        // An f64 is infinite or NaN only if all bits of its exponent are set, and bit 62 is one of them.
        random & !(1 << 62)
    }
}

impl<'a> ControlPacket<'a> {
    /// Decodes a datagram without copying it. The rules are checked in the order of [`ControlDecodeError`]'s variants.
    ///
    /// # Errors
    /// The first rule that the datagram breaks.
    pub fn decode(datagram: &'a [u8]) -> Result<Self, ControlDecodeError> {
        let Some((head, payload)) = datagram.split_first_chunk::<HEADER_LEN>() else {
            return Err(ControlDecodeError::TooShort { len: datagram.len() });
        };
        let [m0, m1, m2, m3, s0, s1, a0, a1, b0, b1, b2, b3, kind, l0, l1] = *head;
        let magic = [m0, m1, m2, m3];
        if magic != Self::MAGIC {
            return Err(ControlDecodeError::Magic { magic });
        }
        let Some(kind) = PacketType::from_byte(kind) else {
            return Err(ControlDecodeError::Type { kind });
        };
        let declared = u16::from_be_bytes([l0, l1]);
        if usize::from(declared) != payload.len() {
            return Err(ControlDecodeError::Length { declared, len: payload.len() });
        }
        let header = ControlHeader {
            sequence: u16::from_be_bytes([s0, s1]),
            ack: u16::from_be_bytes([a0, a1]),
            ack_bits: u32::from_be_bytes([b0, b1, b2, b3]),
        };
        Ok(Self { header, payload: decode_payload(kind, payload)? })
    }
}

fn decode_payload(kind: PacketType, payload: &[u8]) -> Result<ControlPayload<'_>, ControlDecodeError> {
    let decoded = match (kind, payload) {
        (PacketType::ConnectReq, []) => ControlPayload::ConnectReq,
        (PacketType::ConnectAck, [client_id]) => {
            let client_id = NonZeroU8::new(*client_id).ok_or(ControlDecodeError::ClientId)?;
            ControlPayload::ConnectAck { client_id }
        }
        (PacketType::Disconnect, []) => ControlPayload::Disconnect,
        (PacketType::Input, _) => decode_inputs(payload)?,
        (PacketType::Snapshot, _) => ControlPayload::Snapshot(decode_snapshot(payload)?),
        (PacketType::Ping | PacketType::Pong, &[b0, b1, b2, b3, b4, b5, b6, b7]) => {
            let bits = u64::from_be_bytes([b0, b1, b2, b3, b4, b5, b6, b7]);
            check_timestamp(bits)?;
            if kind == PacketType::Ping { ControlPayload::Ping(bits) } else { ControlPayload::Pong(bits) }
        }
        (PacketType::ReliableEvent, _) => ControlPayload::ReliableEvent(payload),
        (PacketType::Heartbeat, []) => ControlPayload::Heartbeat,
        (PacketType::Delta, _) => ControlPayload::Delta(payload),
        _ => return Err(ControlDecodeError::PayloadLength { kind, len: payload.len() }),
    };
    Ok(decoded)
}

fn decode_inputs(payload: &[u8]) -> Result<ControlPayload<'_>, ControlDecodeError> {
    let len = payload.len();
    if let Ok(bytes) = payload.try_into() {
        let input = PlayerInput::read(bytes);
        input.check()?;
        return Ok(ControlPayload::Input(input));
    }
    let Some((&count, records)) = payload.split_first() else {
        return Err(ControlDecodeError::PayloadLength { kind: PacketType::Input, len });
    };
    let (inputs, rest) = records.as_chunks::<INPUT_LEN>();
    if inputs.is_empty() || !rest.is_empty() {
        return Err(ControlDecodeError::PayloadLength { kind: PacketType::Input, len });
    }
    if inputs.len() != usize::from(count) {
        return Err(ControlDecodeError::Count { kind: PacketType::Input, count, len });
    }
    Ok(ControlPayload::Inputs(Entries::checked(inputs)?))
}

fn decode_snapshot(payload: &[u8]) -> Result<Snapshot<'_>, ControlDecodeError> {
    let len = payload.len();
    let mut reader = Reader(payload);
    let (Some(tick), Some(count)) = (reader.u32(), reader.u8()) else {
        return Err(ControlDecodeError::PayloadLength { kind: PacketType::Snapshot, len });
    };
    let wrong_count = ControlDecodeError::Count { kind: PacketType::Snapshot, count, len };
    let records = reader.slice(usize::from(count) * ENTITY_LEN).ok_or(wrong_count)?;
    let last_input = match *reader.rest() {
        [] => None,
        [b0, b1, b2, b3] => Some(u32::from_be_bytes([b0, b1, b2, b3])),
        _ => return Err(wrong_count),
    };
    Ok(Snapshot { tick, entities: Entries::checked(records.as_chunks().0)?, last_input })
}

fn check_timestamp(bits: u64) -> Result<(), ValueError> {
    if f64::from_bits(bits).is_finite() { Ok(()) } else { Err(ValueError::Timestamp { bits }) }
}

fn put_entries<T: Record>(
    writer: &mut Writer<'_>,
    kind: PacketType,
    entries: &Entries<'_, T>,
) -> Result<(), ControlEncodeError> {
    entries.check()?;
    let count = entries.len();
    writer.u8(u8::try_from(count).map_err(|_| ControlEncodeError::Count { kind, count })?);
    for record in entries.iter() {
        writer.put(record.write().as_ref());
    }
    Ok(())
}

/// Writes the header of a packet whose payload of `payload_len` bytes is already behind it, and returns the length of
/// the packet. `room` is the length of the buffer that holds both.
pub(super) fn put_header(
    header: &ControlHeader,
    kind: PacketType,
    payload_len: usize,
    head: &mut [u8],
    room: usize,
) -> Result<usize, ControlEncodeError> {
    let declared =
        u16::try_from(payload_len).map_err(|_| ControlEncodeError::Payload { len: payload_len })?;
    let len = HEADER_LEN + payload_len;
    if len > room {
        return Err(ControlEncodeError::Room { len, room });
    }
    let mut writer = Writer::new(head);
    writer.put(&ControlPacket::MAGIC);
    writer.u16(header.sequence);
    writer.u16(header.ack);
    writer.u32(header.ack_bits);
    writer.u8(kind as u8);
    writer.u16(declared);
    Ok(len)
}
