//! Forged datagrams, by an attacker who has seen the whole traffic.
//!
//! [`Knows`] holds the numbers that such an attacker has overheard of a [match](super::SimMatch). The functions write packets
//! of every kind with any numbers in them, and a [`Change`] damages a real packet. [`Guesses`] are the packets of a stranger
//! who has seen nothing. [`SimMatch::inject`](super::SimMatch::inject) delivers the result.

mod change;
mod guess;
mod knows;
mod packets;

pub use change::Change;
pub use guess::Guesses;
pub use knows::Knows;
pub use packets::{
    control, hello, inputs, inputs_with_checksum, label, message, message_of, offer, payload, raw, shifted,
};
