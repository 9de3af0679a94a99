//! Packets of every kind, with any numbers in them.
//!
//! A packet that cannot be encoded at all is a mistake of the test that forges it, and panics.

use crate::wire::control::{ControlHeader, ControlPacket, ControlPayload};
use crate::wire::message::{Hello, Message, Offer};
use crate::wire::rbn1::{Checksum, Flags, InputHeader, InputPacket};
use crate::wire::{Packet, WireFrame};
use crate::{Config, Input, MAX_DATAGRAM, Player};

/// The name of a datagram: `RBN1`, the type of a control packet, the kind of a message, or the rule that it breaks.
///
/// ```
/// use rebout::Buttons;
/// use rebout::lab::forge;
///
/// assert_eq!(forge::label(&forge::inputs(5, 4, &[Buttons(1)])), "RBN1");
/// ```
#[must_use]
pub fn label(datagram: &[u8]) -> String {
    match Packet::decode(datagram, Flags::ALL) {
        Err(error) => error.to_string(),
        Ok(Packet::Rbn1(_)) => "RBN1".into(),
        Ok(Packet::Game(packet)) => match packet.payload {
            ControlPayload::ReliableEvent(payload) => match Message::decode(payload) {
                Ok(message) => message.kind().to_string(),
                Err(error) => error.to_string(),
            },
            payload => payload.packet_type().to_string(),
        },
    }
}

/// The message in a datagram, if there is one.
#[must_use]
pub fn message_of(datagram: &[u8]) -> Option<Message<'_>> {
    let Ok(Packet::Game(packet)) = Packet::decode(datagram, Flags::ALL) else { return None };
    let ControlPayload::ReliableEvent(payload) = packet.payload else { return None };
    Message::decode(payload).ok()
}

/// An input packet.
#[must_use]
pub fn inputs<I: Into<Input> + Copy>(start: u32, ack: u32, inputs: &[I]) -> Vec<u8> {
    inputs_with_checksum(start, ack, None, inputs)
}

/// An input packet with a checksum: its frame and its value.
#[must_use]
pub fn inputs_with_checksum<I: Into<Input> + Copy>(
    start: u32,
    ack: u32,
    checksum: Option<(u32, u32)>,
    inputs: &[I],
) -> Vec<u8> {
    let checksum = checksum.map(|(frame, value)| Checksum { frame: WireFrame(frame), value });
    let header = InputHeader {
        start_frame: WireFrame(start),
        ack_frame: WireFrame(ack),
        checksum,
        ..Default::default()
    };
    written(InputPacket::MAX_LEN, |buf| {
        InputPacket::encode(&header, inputs.iter().copied(), buf).expect("a few inputs")
    })
}

/// A control packet.
#[must_use]
pub fn control(header: ControlHeader, payload: &ControlPayload<'_>) -> Vec<u8> {
    written(9_000, |buf| ControlPacket::encode(&header, payload, buf).expect("a payload that fits"))
}

/// A control packet of any type with any payload, even one that the type does not allow.
#[must_use]
pub fn raw(header: ControlHeader, kind: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = control(header, &ControlPayload::ReliableEvent(payload));
    bytes[12] = kind;
    bytes
}

/// A message in a control packet.
#[must_use]
pub fn message(header: ControlHeader, message: &Message<'_>) -> Vec<u8> {
    written(MAX_DATAGRAM, |buf| message.encode_packet(&header, buf).expect("a message that fits"))
}

/// The payload of a message alone, to be damaged.
#[must_use]
pub fn payload(message: &Message<'_>) -> Vec<u8> {
    written(MAX_DATAGRAM, |buf| message.encode(buf).expect("a message that fits"))
}

/// The HELLO of a joiner with this config.
#[must_use]
pub fn hello(config: &Config, nonce: u64, cookie: u64) -> Message<'_> {
    Message::Hello(Hello {
        nonce,
        cookie,
        game_id: config.game.id,
        content_hash: config.game.content_hash,
        frame_rate: config.game.frame_rate,
        delay_frames: config.rollback.delay_frames.unwrap_or(0),
        window_frames: config.rollback.window_frames,
        round_trip: 0,
        axes: config.game.axes,
        pads: config.game.pads,
        first_state_limit: config.lobby.first_state_limit,
        capabilities: config.capabilities(),
        user_data: &config.lobby.user_data,
    })
}

/// The OFFER of a host with this config: the joiner is player two, and frame 0 is 5000 on the wire.
#[must_use]
pub fn offer(config: &Config, nonce: u64, token: u64) -> Message<'_> {
    Message::Offer(Offer {
        nonce,
        first_frame: WireFrame(5_000),
        seed: 99,
        seat: Player::Two,
        delay_frames: config.rollback.delay_frames.unwrap_or(0),
        window_frames: config.rollback.window_frames,
        round_trip: 0,
        cadence_frames: 30,
        capabilities: config.capabilities(),
        token,
        first_state_len: config.lobby.first_state.len() as u32,
        first_state_hash: config.lobby.first_state.hash(),
        user_data: &config.lobby.user_data,
    })
}

/// A header with an offset added to its sequence and to its ack.
#[must_use]
pub fn shifted(header: ControlHeader, sequence: i32, ack: i32) -> ControlHeader {
    ControlHeader {
        sequence: header.sequence.wrapping_add(sequence as u16),
        ack: header.ack.wrapping_add(ack as u16),
        ..header
    }
}

fn written(room: usize, write: impl FnOnce(&mut [u8]) -> usize) -> Vec<u8> {
    let mut buf = vec![0; room];
    let len = write(&mut buf);
    buf.truncate(len);
    buf
}
