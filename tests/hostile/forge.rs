//! What an attacker can write, who knows as much as he possibly can.

use crate::pair::{HOST, JOINER, Pair, addr};
use rebout::wire::control::{self, Header, Payload};
use rebout::wire::message::{Hello, Message, Offer, Ordered};
use rebout::wire::rbn1;
use rebout::wire::{self, Packet};
use rebout::{Buttons, Player};

/// What an attacker knows of a connection who has seen all of it.
#[derive(Clone, Debug)]
pub(crate) struct Knows {
    /// The first frame of the match on the wire; 1000 if there is none yet.
    pub(crate) first: u32,
    /// The next input that the victim expects, and the end of those it has sent.
    pub(crate) known: u32,
    pub(crate) sent: u32,
    /// The buttons of the newest input that the victim has.
    pub(crate) newest: Buttons,
    /// Numbers that the victim takes for its peer's.
    pub(crate) header: Header,
    /// The joiner's nonce.
    pub(crate) nonce: u64,
    pub(crate) token: u64,
    /// The seat of the joiner, as a CONNECT_ACK has it.
    pub(crate) seat: u8,
    /// The first and the last input packet of the peer.
    pub(crate) oldest: Vec<u8>,
    pub(crate) last: Vec<u8>,
}

impl Knows {
    pub(crate) fn of(pair: &Pair, victim: usize) -> Self {
        let (here, there) = (&pair.sides[victim], &pair.sides[1 - victim]);
        let offer = pair.sent(HOST, "OFFER").first().cloned();
        let hello = pair.sent(JOINER, "HELLO").first().cloned();
        let (mut first, mut token, mut seat, mut nonce) = (1_000, 0, 2, 0);
        if let Some(Message::Hello(hello)) = hello.as_deref().and_then(message_of) {
            nonce = hello.nonce;
        }
        if let Some(Message::Offer(offer)) = offer.as_deref().and_then(message_of) {
            (first, token, seat) = (offer.first_frame, offer.token, offer.seat.index() as u8 + 1);
        }
        let known = if here.heard_end == 0 { first } else { here.heard_end };
        Self {
            first,
            known,
            sent: if here.said_end == 0 { first } else { here.said_end },
            newest: here.heard_newest,
            header: Header { sequence: there.sequence.wrapping_add(1), ack: here.sequence, ack_bits: 0 },
            nonce,
            token,
            seat,
            oldest: pair.sent(1 - victim, "RBN1").pop().unwrap_or_default(),
            last: there.last_input.clone(),
        }
    }
}

impl Knows {
    /// The same, after some time has passed.
    pub(crate) fn now(mut self, pair: &Pair, victim: usize) -> Self {
        let (here, there) = (&pair.sides[victim], &pair.sides[1 - victim]);
        if here.heard_end != 0 {
            (self.known, self.newest) = (here.heard_end, here.heard_newest);
        }
        if here.said_end != 0 {
            self.sent = here.said_end;
        }
        self.header = Header { sequence: there.sequence.wrapping_add(1), ack: here.sequence, ack_bits: 0 };
        self
    }
}

/// The message in a datagram.
pub(crate) fn message_of(datagram: &[u8]) -> Option<Message<'_>> {
    let Ok(Packet::Game(packet)) = wire::decode(datagram) else { return None };
    let Payload::ReliableEvent(payload) = packet.payload else { return None };
    Message::decode(payload).ok()
}

pub(crate) fn peer(victim: usize) -> std::net::SocketAddr {
    addr(1 - victim)
}

/// An input packet.
pub(crate) fn inputs(start: u32, ack: u32, buttons: &[Buttons]) -> Vec<u8> {
    with_checksum(start, ack, None, buttons)
}

/// An input packet with a checksum.
pub(crate) fn with_checksum(start: u32, ack: u32, sum: Option<(u32, u32)>, buttons: &[Buttons]) -> Vec<u8> {
    let checksum = sum.map(|(frame, value)| rbn1::Checksum { frame, value });
    let mut buf = vec![0; rbn1::MAX_LEN];
    let header = rbn1::Header { start_frame: start, ack_frame: ack, checksum };
    let len = rbn1::encode(&header, buttons.iter().copied(), &mut buf).unwrap();
    buf.truncate(len);
    buf
}

/// A well-formed input packet with some of its bytes replaced.
pub(crate) fn bent(k: &Knows, at: usize, byte: u8) -> Vec<u8> {
    let mut bytes = inputs(k.known, k.sent.wrapping_sub(1), &[k.newest]);
    bytes[at] = byte;
    bytes
}

/// A control packet.
pub(crate) fn control(header: Header, payload: &Payload<'_>) -> Vec<u8> {
    let mut buf = vec![0; 9_000];
    let len = control::encode(&header, payload, &mut buf).unwrap();
    buf.truncate(len);
    buf
}

/// A control packet of any type with any payload, whether it may have it or not.
pub(crate) fn raw(header: Header, kind: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = control(header, &Payload::ReliableEvent(payload));
    bytes[12] = kind;
    bytes
}

/// A message in a control packet.
pub(crate) fn message(header: Header, message: &Message<'_>) -> Vec<u8> {
    let mut buf = vec![0; rebout::MAX_DATAGRAM];
    let len = wire::encode_message(&header, message, &mut buf).unwrap();
    buf.truncate(len);
    buf
}

/// The payload of a message, whatever is done to it then.
pub(crate) fn payload(message: &Message<'_>) -> Vec<u8> {
    let mut buf = vec![0; rebout::MAX_DATAGRAM];
    let len = message.encode(&mut buf).unwrap();
    buf.truncate(len);
    buf
}

pub(crate) fn event(k: &Knows, payload: &[u8]) -> Vec<u8> {
    control(k.header, &Payload::ReliableEvent(payload))
}

pub(crate) fn ordered(k: &Knows, number: u16, body: Ordered<'_>) -> Vec<u8> {
    message(k.header, &Message::Ordered { number, body })
}

/// A HELLO that fits the host of these tests.
pub(crate) fn hello(nonce: u64, cookie: u64) -> Message<'static> {
    Message::Hello(Hello {
        nonce,
        cookie,
        game_id: 0xB0,
        content_hash: 0,
        frame_rate: 60,
        delay_frames: 0,
        window_frames: 8,
        capabilities: 0,
        user_data: b"mallory",
    })
}

/// An OFFER that could be the host's.
pub(crate) fn offer(nonce: u64, token: u64) -> Message<'static> {
    Message::Offer(Offer {
        nonce,
        first_frame: 5_000,
        seed: 99,
        seat: Player::Two,
        delay_frames: 0,
        window_frames: 8,
        cadence_frames: 30,
        capabilities: 0,
        token,
        user_data: b"mallory",
    })
}

/// With its numbers changed.
pub(crate) fn at(header: Header, sequence: i32, ack: i32) -> Header {
    Header {
        sequence: header.sequence.wrapping_add(sequence as u16),
        ack: header.ack.wrapping_add(ack as u16),
        ..header
    }
}
