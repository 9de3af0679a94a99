//! The handshake: agreed terms, lost packets, machines that vanish or restart, joiners that are refused, forgeries.

mod agreeing;
mod forging;
mod refusing;
mod restarting;
mod vanishing;

use crate::pair::{Pair, hello, ms};
use rebout::lab::HOST;
use rebout::lab::forge::{message, message_of};
use rebout::lab::wire::message::{Hello, Message, Refuse};
use rebout::wire::control::ControlHeader;
use std::net::SocketAddr;

/// Whether a pair has come to some point.
type When = fn(&Pair) -> bool;

/// The last CHALLENGE that a host has sent to an address: its cookie.
pub(super) fn cookie_for(pair: &Pair, to: SocketAddr) -> Option<u64> {
    pair.said().rev().filter(|said| said.to == to).find_map(|said| match message_of(said.datagram)? {
        Message::Challenge(challenge) => Some(challenge.cookie),
        _ => None,
    })
}

/// Says HELLO from an address, and again with the cookie that comes back.
pub(super) fn prove(pair: &mut Pair, from: SocketAddr, nonce: u64) {
    prove_with(pair, from, nonce, |_| {});
}

/// The same with a change to the HELLO.
pub(super) fn prove_with(pair: &mut Pair, from: SocketAddr, nonce: u64, change: fn(&mut Hello<'_>)) {
    let say = |pair: &mut Pair, cookie| {
        let mut hello = hello(nonce, cookie);
        if let Message::Hello(hello) = &mut hello {
            change(hello);
        }
        pair.inject(HOST, from, &message(ControlHeader::default(), &hello));
        pair.run_for(ms(1));
    };
    say(pair, 0);
    let cookie = cookie_for(pair, from).expect("a challenge");
    say(pair, cookie);
}

/// The last REFUSE of a host to an address.
pub(super) fn refusal_to(pair: &Pair, to: SocketAddr) -> Option<Refuse> {
    pair.said().rev().filter(|said| said.to == to).find_map(|said| match message_of(said.datagram)? {
        Message::Refuse(refuse) => Some(refuse),
        _ => None,
    })
}
