//! Messages: the payload of a RELIABLE_EVENT in a match. Big-endian, byte 0 is the kind. `docs/WIRE.md` has the fields.
//!
//! Kinds 1 to 15 are answered, or repeated with newer figures, and therefore never queued, numbered or acknowledged. Kinds
//! from 16 are [`Ordered`]: numbered by each side from a number in the token, sent until acknowledged, delivered once and in
//! order. Kinds 16 to 31 belong to the match, 32 to 47 to the desync analysis. Other kinds are refused. Lengths are exact.
//! Frames are those of the wire.

use core::fmt;

use super::bytes::{Reader, Writer};
use super::control::{self, ControlHeader, ControlPacket};
use super::first_state;
pub use super::first_state::{FirstStateAck, FirstStatePart, MAX_FIRST_STATE, PART_LEN, REACH};
use super::handshake::{self, AnyHello};
pub use super::handshake::{
    Challenge, Extensions, ForeignHello, HELLO_LEN, Hello, MAX_CADENCE, MAX_FIRST_FRAME, MAX_USER_DATA,
    MAX_WINDOW_AND_DELAY, Offer, VERSION,
};
use super::kinds::kinds;
pub use super::message_error::{DecodeError, EncodeError};
use super::numbering::WireFrame;
use super::pause;
pub use super::pause::{Pause, PauseStep, Resume};
use super::refuse;
pub use super::refuse::{Refuse, RefuseField};

/// The most bytes in a [`Ordered::User`].
pub const MAX_USER: usize = 1_024;
/// The most bytes in an [`Ordered::Autopsy`].
pub const MAX_AUTOPSY: usize = 1_100;
/// Length of the longest message.
pub const MAX_LEN: usize = ORDERED_HEADER_LEN + MAX_AUTOPSY;

const ORDERED_HEADER_LEN: usize = 3;
const _: () = assert!(ControlPacket::HEADER_LEN + MAX_LEN <= crate::protocol::MAX_DATAGRAM);

kinds! {
    /// Byte 0 of a message.
    Kind:
    /// A joiner asks for a match.
    Hello(1) = "HELLO",
    /// The host asks the joiner to prove its address.
    Challenge(2) = "CHALLENGE",
    /// The host accepts.
    Offer(3) = "OFFER",
    /// The host refuses.
    Refuse(4) = "REFUSE",
    /// Counts of input packets sent and received.
    Report(5) = "REPORT",
    /// The control channel begins again.
    Resync(6) = "RESYNC",
    /// The sender leaves.
    Leaving(7) = "LEAVING",
    /// A part of the host's first state.
    FirstState(8) = "FIRST_STATE",
    /// The parts of the first state that the joiner has.
    FirstStateAck(9) = "FIRST_STATE_ACK",
    /// A paused match goes on.
    Resume(10) = "RESUME",
    /// The sender's last state, and its checksum.
    Verdict(16) = "VERDICT",
    /// A message of the game's own.
    User(17) = "USER",
    /// The sender's input delay changes.
    Delay(18) = "DELAY",
    /// A pause is asked for, agreed on or refused.
    Pause(21) = "PAUSE",
    /// Part of a desync autopsy.
    Autopsy(32) = "AUTOPSY",
}

/// A message, borrowed from its datagram or about to be sent.
///
/// ```
/// use rebout::lab::wire::message::{Message, Ordered};
///
/// let message = Message::Ordered { number: 7, body: Ordered::User(b"gg") };
/// let mut buf = [0; 16];
/// let len = message.encode(&mut buf)?;
/// assert_eq!(buf[..len], [17, 0, 7, b'g', b'g']);
/// assert_eq!(Message::decode(&buf[..len]), Ok(message));
/// # Ok::<(), rebout::lab::wire::message::EncodeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message<'a> {
    /// A joiner asks for a match.
    Hello(Hello<'a>),
    /// A joiner that speaks another version asks for a match.
    ForeignHello(ForeignHello),
    /// The host asks the joiner to prove its address.
    Challenge(Challenge),
    /// The host accepts.
    Offer(Offer<'a>),
    /// The host refuses.
    Refuse(Refuse),
    /// Counts of input packets sent and received. All of them only grow, so an older report can be told from a newer one.
    Report {
        /// RBN1 packets sent since the match began.
        sent: u32,
        /// RBN1 packets received since the match began.
        received: u32,
        /// The newest frame among them.
        newest_frame: WireFrame,
    },
    /// The control channel begins again at the numbers of this packet. The token proves its sender.
    Resync(Resync),
    /// The sender leaves the match. The token proves its sender.
    Leaving(Leaving),
    /// A part of the host's first state. The token proves its sender.
    FirstState(FirstStatePart<'a>),
    /// The parts of the first state that the joiner has. The token proves its sender.
    FirstStateAck(FirstStateAck),
    /// A paused match goes on. The token proves its sender.
    Resume(Resume),
    /// A message that arrives once and in order.
    Ordered {
        /// Its place in the order; it wraps.
        number: u16,
        /// Its content.
        body: Ordered<'a>,
    },
}

/// Recovery of a control channel whose sequence numbers no longer match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resync {
    /// The token of the match.
    pub token: u64,
    /// The number of the ordered message that the sender expects next.
    pub expected: u16,
    /// Whether the sender asks for a RESYNC in return.
    pub asks: bool,
}

/// The sender leaves: after which frame, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaving {
    /// The token of the match.
    pub token: u64,
    /// The first frame for which the sender has given no input.
    pub end: WireFrame,
    /// Why.
    pub why: LeavingWhy,
}

/// Why a side leaves a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum LeavingWhy {
    /// Its player left.
    Left = 1,
    /// It received nothing new from the other side for too long.
    GaveUp = 2,
    /// Its game could not save or restore a state.
    StateFailed = 3,
    /// The checksums differ, and it stops at a desync.
    Desync = 4,
    /// The other player has paused the match for longer than it allows.
    PausedTooLong = 5,
}

impl fmt::Display for LeavingWhy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Left => "left",
            Self::GaveUp => "gave up",
            Self::StateFailed => "its game could not save or restore a state",
            Self::Desync => "stops at a desync",
            Self::PausedTooLong => "was paused for too long",
        })
    }
}

/// A message that arrives once and in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ordered<'a> {
    /// The sender's last state, and its checksum.
    Verdict {
        /// The first frame whose confirmed state is finished.
        frame: WireFrame,
        /// The checksum of that state.
        checksum: u32,
        /// Whether the sender's game is finished in it. A side that only follows the other to its end says no.
        finished: bool,
    },
    /// A message of the game's own, at most [`MAX_USER`] bytes.
    User(&'a [u8]),
    /// The sender's input delay changes.
    Delay {
        /// The first frame with the new delay.
        from_frame: WireFrame,
        /// The new delay, at most [`MAX_WINDOW_AND_DELAY`].
        delay_frames: u8,
    },
    /// A pause is asked for, agreed on or refused.
    Pause(Pause),
    /// Part of a desync autopsy, at most [`MAX_AUTOPSY`] bytes.
    Autopsy(&'a [u8]),
}

impl Ordered<'_> {
    /// The kind, which is byte 0 on the wire.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Verdict { .. } => Kind::Verdict,
            Self::User(_) => Kind::User,
            Self::Delay { .. } => Kind::Delay,
            Self::Pause(_) => Kind::Pause,
            Self::Autopsy(_) => Kind::Autopsy,
        }
    }
}

impl<'a> Message<'a> {
    /// The kind, which is byte 0 on the wire.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Hello(_) | Self::ForeignHello(_) => Kind::Hello,
            Self::Challenge(_) => Kind::Challenge,
            Self::Offer(_) => Kind::Offer,
            Self::Refuse(_) => Kind::Refuse,
            Self::Report { .. } => Kind::Report,
            Self::Resync(_) => Kind::Resync,
            Self::Leaving(_) => Kind::Leaving,
            Self::FirstState(_) => Kind::FirstState,
            Self::FirstStateAck(_) => Kind::FirstStateAck,
            Self::Resume(_) => Kind::Resume,
            Self::Ordered { body, .. } => body.kind(),
        }
    }

    /// Decodes the payload of a RELIABLE_EVENT. The message borrows it.
    ///
    /// # Errors
    ///
    /// The first rule that the payload breaks: not empty, a known kind, its length, the range of each field.
    pub fn decode(payload: &'a [u8]) -> Result<Self, DecodeError> {
        let Some(&byte) = payload.first() else {
            return Err(DecodeError::Empty);
        };
        let Some(kind) = Kind::from_byte(byte) else {
            return Err(DecodeError::Kind { kind: byte });
        };
        match kind {
            Kind::Hello => handshake::read_hello(payload).map(|hello| match hello {
                AnyHello::Ours(hello) => Self::Hello(hello),
                AnyHello::Foreign(hello) => Self::ForeignHello(hello),
            }),
            Kind::Challenge => handshake::read_challenge(payload).map(Self::Challenge),
            Kind::Offer => handshake::read_offer(payload).map(Self::Offer),
            Kind::Refuse => refuse::read(payload).map(Self::Refuse),
            Kind::Leaving => read_leaving(payload).map(Self::Leaving),
            Kind::Resume => pause::read_resume(payload).map(Self::Resume),
            Kind::Pause => pause::read_pause(payload),
            Kind::Resync => read_resync(payload).map(Self::Resync),
            Kind::FirstState => first_state::read_part(payload).map(Self::FirstState),
            Kind::FirstStateAck => first_state::read_ack(payload).map(Self::FirstStateAck),
            Kind::Verdict => read_verdict(payload),
            Kind::Report | Kind::User | Kind::Delay | Kind::Autopsy => {
                let message = read_rest(kind, payload);
                let message = message.ok_or(DecodeError::Length { kind, len: payload.len() })?;
                message.check()?;
                Ok(message)
            }
        }
    }

    /// Writes the message to the front of `buf` and returns its length. Bytes after it stay as they were.
    ///
    /// # Errors
    ///
    /// If [`Message::decode`] would refuse a field, or if `buf` is too small; `buf` then holds no message.
    pub fn encode(&self, buf: &mut [u8]) -> Result<usize, EncodeError> {
        self.check()?;
        let mut writer = Writer::new(buf);
        writer.u8(self.kind() as u8);
        match self {
            Self::Hello(hello) => handshake::put_hello(&mut writer, hello)?,
            Self::ForeignHello(hello) => handshake::put_foreign_hello(&mut writer, hello)?,
            Self::Challenge(challenge) => handshake::put_challenge(&mut writer, challenge)?,
            Self::Offer(offer) => handshake::put_offer(&mut writer, offer)?,
            Self::Refuse(refuse) => refuse::put(&mut writer, refuse),
            Self::Report { sent, received, newest_frame } => {
                writer.u32(*sent);
                writer.u32(*received);
                writer.u32(newest_frame.0);
            }
            Self::Resync(Resync { token, expected, asks }) => {
                writer.u64(*token);
                writer.u16(*expected);
                writer.u8(u8::from(*asks));
            }
            Self::Leaving(Leaving { token, end, why }) => {
                writer.u64(*token);
                writer.u32(end.0);
                writer.u8(*why as u8);
            }
            Self::FirstState(part) => first_state::put_part(&mut writer, part)?,
            Self::FirstStateAck(ack) => first_state::put_ack(&mut writer, ack),
            Self::Resume(resume) => pause::put_resume(&mut writer, resume),
            Self::Ordered { number, body } => {
                writer.u16(*number);
                match body {
                    Ordered::Verdict { frame, checksum, finished } => {
                        writer.u32(frame.0);
                        writer.u32(*checksum);
                        writer.u8(u8::from(*finished));
                    }
                    Ordered::User(bytes) | Ordered::Autopsy(bytes) => writer.put(bytes),
                    Ordered::Delay { from_frame, delay_frames } => {
                        writer.u32(from_frame.0);
                        writer.u8(*delay_frames);
                    }
                    Ordered::Pause(pause) => pause::put_pause(&mut writer, pause),
                }
            }
        }
        writer.finish().map_err(|(len, room)| EncodeError::Room { len, room })
    }

    /// Writes a RELIABLE_EVENT that carries this message to the front of `buf` and returns its length.
    ///
    /// # Errors
    /// If the message has a value that would be refused on arrival, or if `buf` is too small; `buf` then holds no packet.
    pub fn encode_packet(&self, header: &ControlHeader, buf: &mut [u8]) -> Result<usize, EncodeError> {
        let room = buf.len();
        let (head, body) = buf.split_at_mut(room.min(ControlPacket::HEADER_LEN));
        let payload_len = self.encode(body).map_err(|error| match error {
            EncodeError::Room { len, .. } => EncodeError::Room { len: ControlPacket::HEADER_LEN + len, room },
            other => other,
        })?;
        let len = ControlPacket::HEADER_LEN + payload_len;
        control::put_header(header, control::PacketType::ReliableEvent, payload_len, head, room)
            .map_err(|_| EncodeError::Room { len, room })
    }

    /// Checks the ranges of all messages but those of the handshake.
    fn check(&self) -> Result<(), DecodeError> {
        let Self::Ordered { body, .. } = self else {
            return Ok(());
        };
        let (bytes, limit) = match body {
            Ordered::User(bytes) => (bytes.len(), MAX_USER),
            Ordered::Autopsy(bytes) => (bytes.len(), MAX_AUTOPSY),
            Ordered::Delay { delay_frames, .. } if *delay_frames > MAX_WINDOW_AND_DELAY => {
                return Err(DecodeError::Delay { delay_frames: *delay_frames });
            }
            Ordered::Delay { .. } | Ordered::Verdict { .. } | Ordered::Pause(_) => (0, 0),
        };
        if bytes > limit {
            Err(DecodeError::TooLong { kind: body.kind(), len: bytes, limit })
        } else {
            Ok(())
        }
    }
}

fn read_resync(payload: &[u8]) -> Result<Resync, DecodeError> {
    let read = |mut reader: Reader<'_>| {
        reader.u8()?;
        let fields = (reader.u64()?, reader.u16()?, reader.u8()?);
        reader.end()?;
        Some(fields)
    };
    let (token, expected, asks) =
        read(Reader(payload)).ok_or(DecodeError::Length { kind: Kind::Resync, len: payload.len() })?;
    Ok(Resync { token, expected, asks: flag(Kind::Resync, asks)? })
}

fn flag(kind: Kind, byte: u8) -> Result<bool, DecodeError> {
    match byte {
        0 => Ok(false),
        1 => Ok(true),
        byte => Err(DecodeError::Flag { kind, byte }),
    }
}

fn read_verdict(payload: &[u8]) -> Result<Message<'_>, DecodeError> {
    let read = |mut reader: Reader<'_>| {
        reader.u8()?;
        let fields = (reader.u16()?, reader.u32()?, reader.u32()?, reader.u8()?);
        reader.end()?;
        Some(fields)
    };
    let (number, frame, checksum, finished) =
        read(Reader(payload)).ok_or(DecodeError::Length { kind: Kind::Verdict, len: payload.len() })?;
    let finished = flag(Kind::Verdict, finished)?;
    Ok(Message::Ordered { number, body: Ordered::Verdict { frame: WireFrame(frame), checksum, finished } })
}

fn read_leaving(payload: &[u8]) -> Result<Leaving, DecodeError> {
    let read = |mut reader: Reader<'_>| {
        reader.u8()?;
        let fields = (reader.u64()?, reader.u32()?, reader.u8()?);
        reader.end()?;
        Some(fields)
    };
    let (token, end, why) =
        read(Reader(payload)).ok_or(DecodeError::Length { kind: Kind::Leaving, len: payload.len() })?;
    let why = match why {
        1 => LeavingWhy::Left,
        2 => LeavingWhy::GaveUp,
        3 => LeavingWhy::StateFailed,
        4 => LeavingWhy::Desync,
        5 => LeavingWhy::PausedTooLong,
        why => return Err(DecodeError::Leaving { why }),
    };
    Ok(Leaving { token, end: WireFrame(end), why })
}

/// Reads all messages but those of the handshake; `None` if the length is wrong.
fn read_rest(kind: Kind, payload: &[u8]) -> Option<Message<'_>> {
    let mut reader = Reader(payload);
    reader.u8()?;
    if kind == Kind::Report {
        let (sent, received, newest_frame) = (reader.u32()?, reader.u32()?, WireFrame(reader.u32()?));
        reader.end()?;
        return Some(Message::Report { sent, received, newest_frame });
    }
    let number = reader.u16()?;
    let body = match kind {
        Kind::Delay => Ordered::Delay { from_frame: WireFrame(reader.u32()?), delay_frames: reader.u8()? },
        Kind::User => Ordered::User(reader.rest()),
        Kind::Autopsy => Ordered::Autopsy(reader.rest()),
        Kind::Hello
        | Kind::Challenge
        | Kind::Offer
        | Kind::Refuse
        | Kind::Report
        | Kind::Resync
        | Kind::Leaving
        | Kind::FirstState
        | Kind::FirstStateAck
        | Kind::Resume
        | Kind::Pause
        | Kind::Verdict => return None,
    };
    reader.end()?;
    Some(Message::Ordered { number, body })
}
