//! GAME: the control packets of a duel, and the packets between a server and its clients. Big-endian.
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 4 | magic, `47 41 4D 45` |
//! | 4 | 2 | sequence number of this packet |
//! | 6 | 2 | acknowledged sequence number |
//! | 8 | 4 | bit k: the packet `acknowledged - 1 - k` was received |
//! | 12 | 1 | type, 1..=9 |
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
//!
//! An input is a sequence number u32, two moves as `f32` from -1 to 1, and a byte of actions; an entity is an id and
//! five `f32`: position, velocity, health. The two forms of INPUT are told apart by their length, which is never the
//! same. The 4 bytes that may end a SNAPSHOT are the sequence number of the last input that the server has processed;
//! the format's description does not have them, but peers in the field send them. Lengths are exact, and floats are
//! finite: the value of a PING must be finite too, although nothing computes with it.
//!
//! [`decode`] checks all of that once, and the [`Packet`] can be read without further checks.

use core::fmt;
use core::num::NonZeroU8;

use super::bytes::{Reader, Writer};
use super::entries::{ENTITY_LEN, INPUT_LEN, RecordCodec};
pub use super::entries::{EntityState, Entries, PlayerInput, Record, ValueError};

/// The first four bytes of every packet.
pub const MAGIC: [u8; 4] = *b"GAME";
/// Length of the header.
pub const HEADER_LEN: usize = 15;

/// The sequence number and the acks of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The sender's sequence number of this packet; it wraps around.
    pub sequence: u16,
    /// Ack: the newest sequence number received from the other side.
    pub ack: u16,
    /// Selective acks: bit k is set if `ack - 1 - k` was received too.
    pub ack_bits: u32,
}

/// The type byte of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum PacketType {
    /// A client asks to join.
    ConnectReq = 1,
    /// The client is accepted and gets its number.
    ConnectAck = 2,
    /// The sender leaves.
    Disconnect = 3,
    /// Inputs of a client.
    Input = 4,
    /// The state of a server's world.
    Snapshot = 5,
    /// A request to measure the RTT.
    Ping = 6,
    /// The answer to a ping.
    Pong = 7,
    /// A payload that is retransmitted until it is acked.
    ReliableEvent = 8,
    /// A keep-alive, which also carries acks.
    Heartbeat = 9,
}

impl PacketType {
    /// All types, in the order of their bytes.
    pub const ALL: [Self; 9] = [
        Self::ConnectReq,
        Self::ConnectAck,
        Self::Disconnect,
        Self::Input,
        Self::Snapshot,
        Self::Ping,
        Self::Pong,
        Self::ReliableEvent,
        Self::Heartbeat,
    ];

    fn from_byte(byte: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as u8 == byte)
    }
}

impl fmt::Display for PacketType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ConnectReq => "CONNECT_REQ",
            Self::ConnectAck => "CONNECT_ACK",
            Self::Disconnect => "DISCONNECT",
            Self::Input => "INPUT",
            Self::Snapshot => "SNAPSHOT",
            Self::Ping => "PING",
            Self::Pong => "PONG",
            Self::ReliableEvent => "RELIABLE_EVENT",
            Self::Heartbeat => "HEARTBEAT",
        })
    }
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
pub enum Payload<'a> {
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
}

impl Payload<'_> {
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
        }
    }
}

/// A packet that has passed all checks, borrowed from its datagram.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Packet<'a> {
    /// The sequence number and the acks.
    pub header: Header,
    /// The payload.
    pub payload: Payload<'a>,
}

/// Makes the value of a PING from random bits: the bits of a finite `f64`, with 63 of them random.
#[inline]
#[must_use]
pub const fn ping_value(random: u64) -> u64 {
    // An f64 is infinite or NaN only if all bits of its exponent are set, and bit 62 is one of them.
    random & !(1 << 62)
}

/// Decodes a datagram without copying it. The rules are checked in the order of [`DecodeError`]'s variants.
///
/// # Errors
/// The first rule that the datagram breaks.
pub fn decode(datagram: &[u8]) -> Result<Packet<'_>, DecodeError> {
    let Some((head, payload)) = datagram.split_first_chunk::<HEADER_LEN>() else {
        return Err(DecodeError::TooShort { len: datagram.len() });
    };
    let [m0, m1, m2, m3, s0, s1, a0, a1, b0, b1, b2, b3, kind, l0, l1] = *head;
    let magic = [m0, m1, m2, m3];
    if magic != MAGIC {
        return Err(DecodeError::Magic { magic });
    }
    let Some(kind) = PacketType::from_byte(kind) else {
        return Err(DecodeError::Type { kind });
    };
    let declared = u16::from_be_bytes([l0, l1]);
    if usize::from(declared) != payload.len() {
        return Err(DecodeError::Length { declared, len: payload.len() });
    }
    let header = Header {
        sequence: u16::from_be_bytes([s0, s1]),
        ack: u16::from_be_bytes([a0, a1]),
        ack_bits: u32::from_be_bytes([b0, b1, b2, b3]),
    };
    Ok(Packet { header, payload: decode_payload(kind, payload)? })
}

fn decode_payload(kind: PacketType, payload: &[u8]) -> Result<Payload<'_>, DecodeError> {
    let decoded = match (kind, payload) {
        (PacketType::ConnectReq, []) => Payload::ConnectReq,
        (PacketType::ConnectAck, [client_id]) => {
            let client_id = NonZeroU8::new(*client_id).ok_or(DecodeError::ClientId)?;
            Payload::ConnectAck { client_id }
        }
        (PacketType::Disconnect, []) => Payload::Disconnect,
        (PacketType::Input, _) => decode_inputs(payload)?,
        (PacketType::Snapshot, _) => Payload::Snapshot(decode_snapshot(payload)?),
        (PacketType::Ping | PacketType::Pong, &[b0, b1, b2, b3, b4, b5, b6, b7]) => {
            let bits = u64::from_be_bytes([b0, b1, b2, b3, b4, b5, b6, b7]);
            check_timestamp(bits)?;
            if kind == PacketType::Ping { Payload::Ping(bits) } else { Payload::Pong(bits) }
        }
        (PacketType::ReliableEvent, _) => Payload::ReliableEvent(payload),
        (PacketType::Heartbeat, []) => Payload::Heartbeat,
        _ => return Err(DecodeError::PayloadLength { kind, len: payload.len() }),
    };
    Ok(decoded)
}

fn decode_inputs(payload: &[u8]) -> Result<Payload<'_>, DecodeError> {
    let len = payload.len();
    if let Ok(bytes) = payload.try_into() {
        let input = PlayerInput::read(bytes);
        input.check()?;
        return Ok(Payload::Input(input));
    }
    let Some((&count, records)) = payload.split_first() else {
        return Err(DecodeError::PayloadLength { kind: PacketType::Input, len });
    };
    let (inputs, rest) = records.as_chunks::<INPUT_LEN>();
    if inputs.is_empty() || !rest.is_empty() {
        return Err(DecodeError::PayloadLength { kind: PacketType::Input, len });
    }
    if inputs.len() != usize::from(count) {
        return Err(DecodeError::Count { kind: PacketType::Input, count, len });
    }
    Ok(Payload::Inputs(Entries::checked(inputs)?))
}

fn decode_snapshot(payload: &[u8]) -> Result<Snapshot<'_>, DecodeError> {
    let len = payload.len();
    let mut reader = Reader(payload);
    let (Some(tick), Some(count)) = (reader.u32(), reader.u8()) else {
        return Err(DecodeError::PayloadLength { kind: PacketType::Snapshot, len });
    };
    let wrong_count = DecodeError::Count { kind: PacketType::Snapshot, count, len };
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

/// Writes a packet to the front of `buf` and returns its length. Bytes after the packet stay as they were.
///
/// # Errors
/// If `payload` has a value that [`decode`] would refuse, or if `buf` is too small; `buf` then holds no packet.
pub fn encode(header: &Header, payload: &Payload<'_>, buf: &mut [u8]) -> Result<usize, EncodeError> {
    let room = buf.len();
    let (head, body) = buf.split_at_mut(room.min(HEADER_LEN));
    let mut writer = Writer::new(body);
    match payload {
        Payload::ConnectReq | Payload::Disconnect | Payload::Heartbeat => {}
        Payload::ConnectAck { client_id } => writer.u8(client_id.get()),
        Payload::Input(input) => {
            input.check()?;
            writer.put(&input.write());
        }
        Payload::Inputs(inputs) => {
            if inputs.is_empty() {
                return Err(EncodeError::Count { kind: PacketType::Input, count: 0 });
            }
            put_entries(&mut writer, PacketType::Input, inputs)?;
        }
        Payload::Snapshot(Snapshot { tick, entities, last_input }) => {
            writer.u32(*tick);
            put_entries(&mut writer, PacketType::Snapshot, entities)?;
            if let Some(last_input) = last_input {
                writer.u32(*last_input);
            }
        }
        Payload::Ping(bits) | Payload::Pong(bits) => {
            check_timestamp(*bits)?;
            writer.u64(*bits);
        }
        Payload::ReliableEvent(bytes) => writer.put(bytes),
    }
    put_header(header, payload.packet_type(), writer.len(), head, room)
}

fn put_entries<T: Record>(
    writer: &mut Writer<'_>,
    kind: PacketType,
    entries: &Entries<'_, T>,
) -> Result<(), EncodeError> {
    entries.check()?;
    let count = entries.len();
    writer.u8(u8::try_from(count).map_err(|_| EncodeError::Count { kind, count })?);
    for record in entries.iter() {
        writer.put(record.write().as_ref());
    }
    Ok(())
}

/// Writes the header of a packet whose payload of `payload_len` bytes is already behind it, and returns the length of
/// the packet. `room` is the length of the buffer that holds both.
pub(super) fn put_header(
    header: &Header,
    kind: PacketType,
    payload_len: usize,
    head: &mut [u8],
    room: usize,
) -> Result<usize, EncodeError> {
    let declared = u16::try_from(payload_len).map_err(|_| EncodeError::Payload { len: payload_len })?;
    let len = HEADER_LEN + payload_len;
    if len > room {
        return Err(EncodeError::Room { len, room });
    }
    let mut writer = Writer::new(head);
    writer.put(&MAGIC);
    writer.u16(header.sequence);
    writer.u16(header.ack);
    writer.u32(header.ack_bits);
    writer.u8(kind as u8);
    writer.u16(declared);
    Ok(len)
}

/// Why a datagram is not a GAME packet. The rules are checked in this order, and the first one broken is reported.
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
    /// The type is outside 1..=9.
    Type {
        /// The type found.
        kind: u8,
    },
    /// The declared length is not that of the payload.
    Length {
        /// The length declared.
        declared: u16,
        /// The length found.
        len: usize,
    },
    /// The length is impossible for a payload of this type.
    PayloadLength {
        /// The type.
        kind: PacketType,
        /// Length of the payload.
        len: usize,
    },
    /// The count of records does not match the length of the payload.
    Count {
        /// The type.
        kind: PacketType,
        /// The count found.
        count: u8,
        /// Length of the payload.
        len: usize,
    },
    /// The client id is 0.
    ClientId,
    /// A number is not finite or out of range.
    Value(ValueError),
}

impl DecodeError {
    /// A short name of the broken rule. Names never change.
    #[must_use]
    pub const fn rule(&self) -> &'static str {
        match self {
            Self::TooShort { .. } => "game-too-short",
            Self::Magic { .. } => "game-magic",
            Self::Type { .. } => "game-type",
            Self::Length { .. } => "game-length",
            Self::PayloadLength { .. } => "game-payload-length",
            Self::Count { .. } => "game-count",
            Self::ClientId => "game-client-id",
            Self::Value(error) => error.rule(),
        }
    }
}

impl From<ValueError> for DecodeError {
    fn from(error: ValueError) -> Self {
        Self::Value(error)
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooShort { len } => write!(f, "{len} bytes are less than a header of {HEADER_LEN}"),
            Self::Magic { magic } => write!(f, "it begins with {magic:02X?}, not with \"GAME\""),
            Self::Type { kind } => write!(f, "type {kind} is outside 1..=9"),
            Self::Length { declared, len } => {
                write!(f, "the header declares a payload of {declared} bytes, but there are {len}")
            }
            Self::PayloadLength { kind, len } => write!(f, "no {kind} has a payload of {len} bytes"),
            Self::Count { kind, count, len } => {
                write!(f, "a count of {count} does not go with the {len} bytes of this {kind}")
            }
            Self::ClientId => f.write_str("client id 0 is outside 1..=255"),
            Self::Value(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for DecodeError {}

/// Why a packet cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EncodeError {
    /// The buffer is too small.
    Room {
        /// Length of the packet.
        len: usize,
        /// Length of the buffer.
        room: usize,
    },
    /// The payload is too long for its 16-bit length.
    Payload {
        /// Length of the payload.
        len: usize,
    },
    /// There are no inputs, or more than 255 records.
    Count {
        /// The type.
        kind: PacketType,
        /// The number of records.
        count: usize,
    },
    /// A number is not finite or out of range.
    Value(ValueError),
}

impl From<ValueError> for EncodeError {
    fn from(error: ValueError) -> Self {
        Self::Value(error)
    }
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Room { len, room } => write!(f, "a packet of {len} bytes does not fit a buffer of {room}"),
            Self::Payload { len } => write!(f, "a payload of {len} bytes is longer than {}", u16::MAX),
            Self::Count { kind, count } => write!(f, "{kind} cannot list {count} records"),
            Self::Value(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for EncodeError {}
