//! Shorthands for the forged datagrams of the table.

use rebout::lab::forge::{Knows, control, inputs, message};
use rebout::lab::wire::message::{Message, Ordered};
use rebout::wire::control::ControlPayload;

/// A well-formed input packet with one of its bytes replaced.
pub(crate) fn bent(k: &Knows, at: usize, byte: u8) -> Vec<u8> {
    let mut bytes = inputs(k.known, k.sent.wrapping_sub(1), &[k.newest]);
    bytes[at] = byte;
    bytes
}

/// A reliable event with any payload.
pub(crate) fn event(k: &Knows, payload: &[u8]) -> Vec<u8> {
    control(k.header, &ControlPayload::ReliableEvent(payload))
}

/// The ordered message that comes `number` after the first.
pub(crate) fn ordered(k: &Knows, number: u16, body: Ordered<'_>) -> Vec<u8> {
    let number = k.first_number.wrapping_add(number);
    message(k.header, &Message::Ordered { number, body })
}
