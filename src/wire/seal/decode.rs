//! Decoding of sealed packets: each rule of the layout in turn.

use super::{
    CONTROL, CONTROL_HEAD_LEN, Control, DATA_GAME, DATA_HEAD_LEN, DATA_INPUTS, DATA_PLAIN, Data, DecodeError,
    Form, INIT, INIT_HEAD_LEN, INIT_LEN, Init, InitHead, Kind, MAC_LEN, MIN_RESP_LEN, Packet, Pattern,
    REQUEST, RESP, RESP_HEAD_LEN, RETRY, Request, Resp, Retry, TAG_LEN, VERSION,
};
use crate::wire::bytes::Reader;

/// The bytes that the mac at the end of a REQUEST, RETRY or INIT covers, and that mac.
#[must_use]
pub fn split_mac(datagram: &[u8]) -> Option<(&[u8], u64)> {
    let (covered, mac) = datagram.split_last_chunk::<MAC_LEN>()?;
    Some((covered, u64::from_be_bytes(*mac)))
}

/// Decodes DATA, which nearly all packets are; `None` if the datagram is none.
#[must_use]
#[inline]
pub(crate) fn decode_data(datagram: &[u8]) -> Option<Data<'_>> {
    let (head, sealed) = datagram.split_first_chunk::<DATA_HEAD_LEN>()?;
    let [first, i0, i1, c0, c1] = *head;
    let form = match first {
        DATA_INPUTS => Form::Inputs,
        DATA_GAME => Form::Game,
        DATA_PLAIN => Form::Plain,
        _ => return None,
    };
    if sealed.len() < TAG_LEN || datagram.len() > crate::protocol::MAX_DATAGRAM {
        return None;
    }
    let (index, counter) = (u16::from_be_bytes([i0, i1]), u16::from_be_bytes([c0, c1]));
    Some(Data { form, index, counter, head: *head, sealed })
}

/// Decodes a packet of a sealed link.
///
/// # Errors
/// The first rule that the datagram breaks.
pub fn decode(datagram: &[u8]) -> Result<Packet<'_>, DecodeError> {
    if let Some(data) = decode_data(datagram) {
        return Ok(Packet::Data(data));
    }
    match datagram.first() {
        Some(&(DATA_INPUTS | DATA_GAME | DATA_PLAIN)) => Err(DecodeError::Length),
        Some(&REQUEST) => request(datagram).map(Packet::Request),
        Some(&RETRY) => retry(datagram).map(Packet::Retry),
        Some(&INIT) => init(datagram).map(Packet::Init),
        Some(&RESP) => {
            let (head, message) = datagram.split_at_checked(RESP_HEAD_LEN).ok_or(DecodeError::Length)?;
            if !(MIN_RESP_LEN..INIT_LEN).contains(&datagram.len()) {
                return Err(DecodeError::Length);
            }
            Ok(Packet::Resp(Resp { index: u16::from_be_bytes([head[1], head[2]]), message }))
        }
        Some(&CONTROL) => control(datagram).map(Packet::Control),
        _ => Err(DecodeError::First),
    }
}

/// Version, pattern, index and nonce, as REQUEST and INIT have them behind the first byte.
fn opening(reader: &mut Reader<'_>) -> Result<(Pattern, u16, u64), DecodeError> {
    let (Some(_), Some(version)) = (reader.u8(), reader.u8()) else { return Err(DecodeError::Length) };
    if version != VERSION {
        return Err(DecodeError::Version);
    }
    let pattern = Pattern::of(reader.u8().ok_or(DecodeError::Length)?).ok_or(DecodeError::Pattern)?;
    let (Some(index), Some(nonce)) = (reader.u16(), reader.u64()) else { return Err(DecodeError::Length) };
    Ok((pattern, index, nonce))
}

fn request(datagram: &[u8]) -> Result<Request, DecodeError> {
    let mut reader = Reader(datagram);
    let (pattern, index, nonce) = opening(&mut reader)?;
    if pattern == Pattern::Signal {
        return Err(DecodeError::Pattern);
    }
    if datagram.len() != pattern.request_len() {
        return Err(DecodeError::Length);
    }
    let padding = reader.slice(reader.0.len() - MAC_LEN).ok_or(DecodeError::Length)?;
    if padding.iter().any(|byte| *byte != 0) {
        return Err(DecodeError::Padding);
    }
    Ok(Request { pattern, index, nonce })
}

fn retry(datagram: &[u8]) -> Result<Retry, DecodeError> {
    let open = match datagram.len() {
        len if len == Pattern::Invite.retry_len() => false,
        len if len == Pattern::Open.retry_len() => true,
        _ => return Err(DecodeError::Length),
    };
    let mut reader = Reader(&datagram[1..]);
    let (Some(index), Some(nonce), Some(cookie)) = (reader.u16(), reader.u64(), reader.u64()) else {
        return Err(DecodeError::Length);
    };
    let open_key = if open { Some(reader.array().ok_or(DecodeError::Length)?) } else { None };
    Ok(Retry { index, nonce, cookie, open_key })
}

fn init(datagram: &[u8]) -> Result<Init<'_>, DecodeError> {
    let mut reader = Reader(datagram);
    let (pattern, index, nonce) = opening(&mut reader)?;
    if datagram.len() != INIT_LEN {
        return Err(DecodeError::Length);
    }
    let cookie = reader.u64().ok_or(DecodeError::Length)?;
    Ok(Init {
        head: InitHead { pattern, index, nonce, cookie },
        prologue: &datagram[..INIT_HEAD_LEN],
        message: &datagram[INIT_HEAD_LEN..datagram.len() - MAC_LEN],
    })
}

fn control(datagram: &[u8]) -> Result<Control<'_>, DecodeError> {
    let (head, sealed) = datagram.split_first_chunk::<CONTROL_HEAD_LEN>().ok_or(DecodeError::Length)?;
    let mut reader = Reader(&head[1..]);
    let (Some(index), Some(counter), Some(kind)) = (reader.u16(), reader.u32(), reader.u8()) else {
        return Err(DecodeError::Length);
    };
    let kind = *Kind::ALL.iter().find(|known| known.number() == kind).ok_or(DecodeError::Kind)?;
    if sealed.len() != kind.plain_len() + TAG_LEN {
        return Err(DecodeError::Length);
    }
    Ok(Control { index, counter, kind, head: *head, sealed })
}
