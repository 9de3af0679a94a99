//! Decoding of rendezvous packets: each rule of the layout in turn.

use super::{
    ANSWER, ANSWER_HEAD_LEN, ASK, ASK_LEN, Answer, Ask, COOKIE, COOKIE_LEN, Cookie, DELIVER,
    DELIVER_HEAD_LEN, DecodeError, Deliver, Denial, GRANT, GRANT_LEN, Grant, Outcome, POST, POST_HEAD_LEN,
    Packet, Post, REGISTER, REGISTER_LEN, REPLY, REPLY_HEAD_LEN, Register, Reply, SIGNAL_LEN, TurnGrant,
    VERSION,
};
use crate::protocol::canonical;
use crate::wire::bytes::Reader;
use crate::wire::seal::{CONTROL, CONTROL_HEAD_LEN, INIT, Kind, RESP};
use core::ops::RangeInclusive;
use std::net::{IpAddr, SocketAddr};

/// Decodes a packet of a rendezvous.
///
/// # Errors
/// The first rule that the datagram breaks.
pub fn decode(datagram: &[u8]) -> Result<Packet<'_>, DecodeError> {
    let mut reader = Reader(datagram);
    let first = reader.u8().ok_or(DecodeError::First)?;
    let lengths = lengths(first).ok_or(DecodeError::First)?;
    // A later version may have other lengths, and is to be named as such.
    if is_request(first) && reader.u8().ok_or(DecodeError::Length)? != VERSION {
        return Err(DecodeError::Version);
    }
    if !lengths.contains(&datagram.len()) {
        return Err(DecodeError::Length);
    }
    packet(first, reader)
}

/// The nonce of a request of any version, to which a server can say that it speaks another one.
#[must_use]
pub fn request_nonce(datagram: &[u8]) -> Option<u64> {
    let mut reader = Reader(datagram);
    let first = reader.u8()?;
    let (_version, nonce) = (reader.u8()?, reader.u64()?);
    ((REGISTER..=POST).contains(&first) && reader.0.len() >= 8).then_some(nonce)
}

const fn is_request(first: u8) -> bool {
    matches!(first, REGISTER..=ANSWER)
}

fn lengths(first: u8) -> Option<RangeInclusive<usize>> {
    let with_signal = |head: usize| head + SIGNAL_LEN.start()..=head + SIGNAL_LEN.end();
    Some(match first {
        REGISTER => REGISTER_LEN..=REGISTER_LEN,
        ASK => ASK_LEN..=ASK_LEN,
        POST => with_signal(POST_HEAD_LEN),
        ANSWER => with_signal(ANSWER_HEAD_LEN),
        COOKIE => COOKIE_LEN..=COOKIE_LEN,
        GRANT => GRANT_LEN..=GRANT_LEN,
        DELIVER => with_signal(DELIVER_HEAD_LEN),
        REPLY => REPLY_HEAD_LEN..=REPLY_HEAD_LEN + SIGNAL_LEN.end(),
        _ => return None,
    })
}

fn packet(first: u8, mut reader: Reader<'_>) -> Result<Packet<'_>, DecodeError> {
    let short = DecodeError::Length;
    Ok(match first {
        REGISTER => Packet::Register(register(&mut reader).ok_or(short)?),
        ASK => {
            let (nonce, cookie, room) = ask(&mut reader).ok_or(short)?;
            if reader.rest().iter().any(|byte| *byte != 0) {
                return Err(DecodeError::Padding);
            }
            Packet::Ask(Ask { nonce, cookie, room })
        }
        POST => {
            let (nonce, cookie, room) = ask(&mut reader).ok_or(short)?;
            Packet::Post(Post { nonce, cookie, room, signal: signal(INIT, &mut reader)? })
        }
        ANSWER => {
            let guest = reader.u64().ok_or(short)?;
            Packet::Answer(Answer { guest, signal: signal(RESP, &mut reader)? })
        }
        COOKIE => {
            let (nonce, cookie) = reader.u64().zip(reader.u64()).ok_or(short)?;
            let observed = address(&mut reader).ok_or(short)?;
            if cookie == 0 {
                return Err(DecodeError::Cookie);
            }
            Packet::Cookie(Cookie { nonce, cookie, observed })
        }
        GRANT => Packet::Grant(grant(&mut reader)?),
        DELIVER => {
            let (nonce, guest) = reader.u64().zip(reader.u64()).ok_or(short)?;
            Packet::Deliver(Deliver { nonce, guest, signal: signal(INIT, &mut reader)? })
        }
        _ => {
            let (nonce, kind) = reader.u64().zip(reader.u8()).ok_or(short)?;
            Packet::Reply(Reply { nonce, outcome: outcome(kind, &mut reader)? })
        }
    })
}

fn register(reader: &mut Reader<'_>) -> Option<Register> {
    Some(Register {
        nonce: reader.u64()?,
        cookie: reader.u64()?,
        key: reader.array()?,
        ticket: reader.u64()?,
        signature: reader.array()?,
    })
}

fn ask(reader: &mut Reader<'_>) -> Option<(u64, u64, super::Room)> {
    Some((reader.u64()?, reader.u64()?, reader.array()?))
}

/// An INIT or a RESP, by its first byte, or a sealed SIGNAL: a server hands on nothing else.
fn signal<'a>(first: u8, reader: &mut Reader<'a>) -> Result<&'a [u8], DecodeError> {
    let signal = reader.rest();
    if is_carried(first, signal) { Ok(signal) } else { Err(DecodeError::Signal) }
}

/// Whether a packet is one that a rendezvous carries: a handshake packet with this first byte, or a control packet of a
/// connection that exists already, of the kind SIGNAL.
#[must_use]
pub fn is_carried(first: u8, packet: &[u8]) -> bool {
    let is_signal = |packet: &[u8]| {
        packet.first() == Some(&CONTROL) && packet.get(CONTROL_HEAD_LEN - 1) == Some(&Kind::Signal.number())
    };
    SIGNAL_LEN.contains(&packet.len()) && (packet.first() == Some(&first) || is_signal(packet))
}

fn grant(reader: &mut Reader<'_>) -> Result<Grant, DecodeError> {
    let head = |reader: &mut Reader<'_>| Some((reader.u64()?, address(reader)?, reader.u64()?));
    let (nonce, observed, ticket) = head(reader).ok_or(DecodeError::Length)?;
    let is_empty = reader.0.iter().all(|byte| *byte == 0);
    let turn = turn(reader).ok_or(DecodeError::Length)?;
    if !is_empty && turn.server.port() == 0 {
        return Err(DecodeError::Turn);
    }
    Ok(Grant { nonce, observed, ticket, turn: (!is_empty).then_some(turn) })
}

fn turn(reader: &mut Reader<'_>) -> Option<TurnGrant> {
    Some(TurnGrant {
        server: address(reader)?,
        expiry: reader.u32()?,
        valid_secs: reader.u16()?,
        id: reader.array()?,
        password: reader.array()?,
    })
}

fn address(reader: &mut Reader<'_>) -> Option<SocketAddr> {
    let ip = IpAddr::from(reader.array::<16>()?);
    Some(canonical((ip, reader.u16()?).into()))
}

fn outcome<'a>(kind: u8, reader: &mut Reader<'a>) -> Result<Outcome<'a>, DecodeError> {
    if kind == 1 {
        return signal(RESP, reader).map(Outcome::Answered);
    }
    reader.end().ok_or(DecodeError::Length)?;
    match Denial::from_byte(kind) {
        Some(denial) => Ok(Outcome::Refused(denial)),
        None if kind == 0 => Ok(Outcome::Posted),
        None => Err(DecodeError::Outcome),
    }
}
