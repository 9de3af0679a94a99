//! R-Type: the packets of RFC-RTYPE-UDP-01 between a server and its clients. Big-endian.
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 1 | opcode |
//! | 1 | 1 | flags: bit 0 asks for an ACK; all others are 0 |
//! | 2 | 2 | sequence number of this packet |
//! | 4 | | payload |
//!
//! | opcode | | payload | asks for an ACK |
//! |---|---|---|---|
//! | 01 | ACK | sequence u16 | never |
//! | 02 | NACK | sequence u16 | never |
//! | 10 | HELLO | version u8, name: 1 to 32 bytes of UTF-8 | yes |
//! | 11 | WELCOME | player id u8, seed u32 | yes |
//! | 12 | PLAYER_LEAVE | empty | yes |
//! | 13 | PLAYER_LEFT | player id u8 | yes |
//! | 20 | INPUT | bits: 01 up, 02 down, 04 left, 08 right, 10 shoot | no |
//! | 30 | ENTITY_SPAWN | entity id u16, type u8, x u16, y u16 | yes |
//! | 31 | ENTITY_UPDATE | entity id u16, x u16, y u16 | no |
//! | 32 | ENTITY_DESTROY | entity id u16 | yes |
//! | 40 | HIT_EVENT | entity id u16, damage u8 | yes |
//! | 50 | HEARTBEAT | empty | never |
//!
//! The format has no magic and no length: a datagram is told from others by its port alone, and the payload is the rest of
//! it. Where the description is silent: the seed of WELCOME is big-endian, PLAYER_LEAVE is empty, PLAYER_LEFT is one byte,
//! HIT_EVENT is an entity and a damage, HEARTBEAT is empty. Reserved bits are refused, and so is an ACK, a NACK or a
//! HEARTBEAT that asks for an ACK. Other packets may ask for one or not: the last column is what this crate writes.
//!
//! [`RtypePacket::decode`] checks all of that once, and the packet can be read without further checks.

mod error;
mod input;

pub use error::{RtypeDecodeError, RtypeEncodeError};
pub use input::InputFlags;

use super::bytes::{Reader, Writer};
use super::kinds::kinds;

const HEADER_LEN: usize = RtypePacket::HEADER_LEN;
const MAX_LEN: usize = RtypePacket::MAX_LEN;
const MAX_NAME: usize = RtypePacket::MAX_NAME;

/// Bit 0 of the flags: the sender waits for an ACK.
const ASKS_ACK: u8 = 0x01;

/// The flag and the sequence number of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RtypeHeader {
    /// The sender waits for an ACK of this packet.
    pub asks_ack: bool,
    /// The sender's sequence number of this packet; it wraps around.
    pub sequence: u16,
}

kinds! {
    /// The opcode of a packet.
    Opcode:
    /// A packet was received.
    Ack(0x01) = "ACK",
    /// A packet was rejected.
    Nack(0x02) = "NACK",
    /// A client asks to join.
    Hello(0x10) = "HELLO",
    /// The client is accepted and gets its id.
    Welcome(0x11) = "WELCOME",
    /// A client leaves.
    PlayerLeave(0x12) = "PLAYER_LEAVE",
    /// A player has left.
    PlayerLeft(0x13) = "PLAYER_LEFT",
    /// The input of a client.
    Input(0x20) = "INPUT",
    /// There is a new entity.
    EntitySpawn(0x30) = "ENTITY_SPAWN",
    /// The position of an entity.
    EntityUpdate(0x31) = "ENTITY_UPDATE",
    /// An entity is gone.
    EntityDestroy(0x32) = "ENTITY_DESTROY",
    /// An entity was damaged.
    HitEvent(0x40) = "HIT_EVENT",
    /// A keep-alive.
    Heartbeat(0x50) = "HEARTBEAT",
}

impl Opcode {
    /// Whether the format's table calls the packet reliable: it is sent again until an ACK comes.
    #[must_use]
    pub const fn is_reliable(self) -> bool {
        !matches!(self, Self::Ack | Self::Nack | Self::Input | Self::EntityUpdate | Self::Heartbeat)
    }

    /// Whether a packet may ask for an ACK. An ACK of an ACK would never end.
    #[must_use]
    pub const fn may_ask_ack(self) -> bool {
        !matches!(self, Self::Ack | Self::Nack | Self::Heartbeat)
    }
}

/// The payload of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtypePayload<'a> {
    /// The packet of this sequence number was received.
    Ack(u16),
    /// The packet of this sequence number was rejected.
    Nack(u16),
    /// A client asks to join.
    Hello {
        /// The version of the format that the client speaks.
        version: u8,
        /// The name of the player, 1 to 32 bytes.
        name: &'a str,
    },
    /// The client is accepted and gets its id.
    Welcome {
        /// The player's id, which the entity of its ship has too.
        player_id: u8,
        /// The seed of the game.
        seed: u32,
    },
    /// A client leaves.
    PlayerLeave,
    /// A player has left.
    PlayerLeft {
        /// The player's id.
        player_id: u8,
    },
    /// The input of a client.
    Input(InputFlags),
    /// There is a new entity.
    EntitySpawn {
        /// Its id.
        id: u16,
        /// Its type, whose meaning is the game's.
        kind: u8,
        /// Horizontal position.
        x: u16,
        /// Vertical position.
        y: u16,
    },
    /// The position of an entity.
    EntityUpdate {
        /// Its id.
        id: u16,
        /// Horizontal position.
        x: u16,
        /// Vertical position.
        y: u16,
    },
    /// An entity is gone.
    EntityDestroy {
        /// Its id.
        id: u16,
    },
    /// An entity was damaged.
    HitEvent {
        /// Its id.
        id: u16,
        /// The damage, whose scale is the game's.
        damage: u8,
    },
    /// A keep-alive.
    Heartbeat,
}

impl RtypePayload<'_> {
    /// The opcode of a packet with this payload.
    #[must_use]
    pub const fn opcode(&self) -> Opcode {
        match self {
            Self::Ack(_) => Opcode::Ack,
            Self::Nack(_) => Opcode::Nack,
            Self::Hello { .. } => Opcode::Hello,
            Self::Welcome { .. } => Opcode::Welcome,
            Self::PlayerLeave => Opcode::PlayerLeave,
            Self::PlayerLeft { .. } => Opcode::PlayerLeft,
            Self::Input(_) => Opcode::Input,
            Self::EntitySpawn { .. } => Opcode::EntitySpawn,
            Self::EntityUpdate { .. } => Opcode::EntityUpdate,
            Self::EntityDestroy { .. } => Opcode::EntityDestroy,
            Self::HitEvent { .. } => Opcode::HitEvent,
            Self::Heartbeat => Opcode::Heartbeat,
        }
    }
}

/// A packet that has passed all checks, borrowed from its datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RtypePacket<'a> {
    /// The flag and the sequence number.
    pub header: RtypeHeader,
    /// The payload.
    pub payload: RtypePayload<'a>,
}

impl RtypePacket<'_> {
    /// Length of the header.
    pub const HEADER_LEN: usize = 4;
    /// The longest datagram.
    pub const MAX_LEN: usize = 256;
    /// The longest name of a player, in bytes.
    pub const MAX_NAME: usize = 32;
    /// The version that this crate writes into HELLO.
    pub const VERSION: u8 = 1;

    /// Writes a packet to the front of `buf` and returns its length. Bytes after the packet stay as they were.
    ///
    /// # Errors
    /// If `header` or `payload` has a value that [`decode`](RtypePacket::decode) would refuse, or if `buf` is too small; `buf` then holds no packet.
    pub fn encode(
        header: RtypeHeader,
        payload: &RtypePayload<'_>,
        buf: &mut [u8],
    ) -> Result<usize, RtypeEncodeError> {
        let opcode = payload.opcode();
        if header.asks_ack && !opcode.may_ask_ack() {
            return Err(RtypeEncodeError::AsksAck { opcode });
        }
        let mut writer = Writer::new(buf);
        writer.u8(opcode as u8);
        writer.u8(if header.asks_ack { ASKS_ACK } else { 0 });
        writer.u16(header.sequence);
        match *payload {
            RtypePayload::Ack(sequence) | RtypePayload::Nack(sequence) => writer.u16(sequence),
            RtypePayload::Hello { version, name } => {
                if !(1..=MAX_NAME).contains(&name.len()) {
                    return Err(RtypeEncodeError::Name { len: name.len() });
                }
                writer.u8(version);
                writer.put(name.as_bytes());
            }
            RtypePayload::Welcome { player_id, seed } => {
                writer.u8(player_id);
                writer.u32(seed);
            }
            RtypePayload::PlayerLeft { player_id } => writer.u8(player_id),
            RtypePayload::Input(flags) => {
                flags.check().map_err(|bits| RtypeEncodeError::Input { bits })?;
                writer.u8(flags.0);
            }
            RtypePayload::EntitySpawn { id, kind, x, y } => {
                writer.u16(id);
                writer.u8(kind);
                writer.u16(x);
                writer.u16(y);
            }
            RtypePayload::EntityUpdate { id, x, y } => {
                [id, x, y].into_iter().for_each(|value| writer.u16(value));
            }
            RtypePayload::EntityDestroy { id } => writer.u16(id),
            RtypePayload::HitEvent { id, damage } => {
                writer.u16(id);
                writer.u8(damage);
            }
            RtypePayload::PlayerLeave | RtypePayload::Heartbeat => {}
        }
        writer.finish().map_err(|(len, room)| RtypeEncodeError::Room { len, room })
    }

    /// The sequence number of a datagram that [`decode`](RtypePacket::decode) refuses, for the NACK that answers it; `None` if there is none to
    /// name, or if the datagram claims to be a NACK, which is not answered.
    #[must_use]
    pub fn refused_sequence(datagram: &[u8]) -> Option<u16> {
        match *datagram {
            [opcode, _, s0, s1, ..] if opcode != Opcode::Nack as u8 => Some(u16::from_be_bytes([s0, s1])),
            _ => None,
        }
    }
}

impl<'a> RtypePacket<'a> {
    /// Decodes a datagram without copying it. The rules are checked in the order of [`RtypeDecodeError`]'s variants.
    ///
    /// ```
    /// use rebout::wire::rtype::{RtypePacket, RtypePayload};
    ///
    /// let packet = RtypePacket::decode(&[0x31, 0, 0x12, 0x5A, 0x03, 0x10, 0x01, 0x90, 0, 0x50]).unwrap();
    /// assert_eq!(packet.payload, RtypePayload::EntityUpdate { id: 0x0310, x: 400, y: 80 });
    /// assert_eq!(RtypePacket::decode(&[0x20, 0, 0, 1, 0x20]).unwrap_err().rule(), "rtype-input");
    /// ```
    ///
    /// # Errors
    /// The first rule that the datagram breaks.
    pub fn decode(datagram: &'a [u8]) -> Result<Self, RtypeDecodeError> {
        let Some((&[opcode, flags, s0, s1], payload)) = datagram.split_first_chunk::<HEADER_LEN>() else {
            return Err(RtypeDecodeError::TooShort { len: datagram.len() });
        };
        if datagram.len() > MAX_LEN {
            return Err(RtypeDecodeError::TooLong { len: datagram.len() });
        }
        let Some(opcode) = Opcode::from_byte(opcode) else {
            return Err(RtypeDecodeError::Opcode { opcode });
        };
        if flags & !ASKS_ACK != 0 {
            return Err(RtypeDecodeError::Flags { flags });
        }
        let asks_ack = flags & ASKS_ACK != 0;
        if asks_ack && !opcode.may_ask_ack() {
            return Err(RtypeDecodeError::AsksAck { opcode });
        }
        let header = RtypeHeader { asks_ack, sequence: u16::from_be_bytes([s0, s1]) };
        Ok(Self { header, payload: decode_payload(opcode, payload)? })
    }
}

fn decode_payload(opcode: Opcode, payload: &[u8]) -> Result<RtypePayload<'_>, RtypeDecodeError> {
    let wrong_length = RtypeDecodeError::PayloadLength { opcode, len: payload.len() };
    if let Opcode::Hello = opcode {
        return decode_hello(payload).ok_or(wrong_length)?;
    }
    let mut reader = Reader(payload);
    let decoded =
        decode_fields(opcode, &mut reader).filter(|_| reader.end().is_some()).ok_or(wrong_length)?;
    if let RtypePayload::Input(flags) = decoded {
        flags.check().map_err(|bits| RtypeDecodeError::Input { bits })?;
    }
    Ok(decoded)
}

/// Reads the fields of every opcode but HELLO; `None` if the payload ends too early.
fn decode_fields(opcode: Opcode, reader: &mut Reader<'_>) -> Option<RtypePayload<'static>> {
    Some(match opcode {
        Opcode::Ack => RtypePayload::Ack(reader.u16()?),
        Opcode::Nack => RtypePayload::Nack(reader.u16()?),
        Opcode::Welcome => RtypePayload::Welcome { player_id: reader.u8()?, seed: reader.u32()? },
        Opcode::PlayerLeft => RtypePayload::PlayerLeft { player_id: reader.u8()? },
        Opcode::Input => RtypePayload::Input(InputFlags(reader.u8()?)),
        Opcode::EntitySpawn => RtypePayload::EntitySpawn {
            id: reader.u16()?,
            kind: reader.u8()?,
            x: reader.u16()?,
            y: reader.u16()?,
        },
        Opcode::EntityUpdate => {
            RtypePayload::EntityUpdate { id: reader.u16()?, x: reader.u16()?, y: reader.u16()? }
        }
        Opcode::EntityDestroy => RtypePayload::EntityDestroy { id: reader.u16()? },
        Opcode::HitEvent => RtypePayload::HitEvent { id: reader.u16()?, damage: reader.u8()? },
        Opcode::PlayerLeave => RtypePayload::PlayerLeave,
        Opcode::Heartbeat => RtypePayload::Heartbeat,
        Opcode::Hello => return None,
    })
}

/// `None` if the length is wrong.
fn decode_hello(payload: &[u8]) -> Option<Result<RtypePayload<'_>, RtypeDecodeError>> {
    let (&version, name) = payload.split_first()?;
    if !(1..=MAX_NAME).contains(&name.len()) {
        return None;
    }
    let hello = core::str::from_utf8(name).map(|name| RtypePayload::Hello { version, name });
    Some(hello.map_err(|error| RtypeDecodeError::Name { valid_up_to: error.valid_up_to() }))
}
