//! The packets of a rendezvous.

use crate::memory::within;
use rebout::MAX_DATAGRAM;
use rebout::lab::rendezvous::Denial;
use rebout::lab::wire::rendezvous::{
    Answer, Ask, Cookie, Deliver, Grant, Outcome, Packet, Post, Register, Reply, TurnGrant, decode, encode,
    request_nonce,
};

pub fn run(data: &[u8]) {
    let _ = within(0, || request_nonce(data));
    match within(0, || decode(data)) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(packet) => {
            let mut buf = [0xA5; MAX_DATAGRAM];
            let len = within(0, || encode(&packet, &mut buf)).expect("decoded");
            assert_eq!(&buf[..len], data, "{packet:?}");
        }
    }
}

pub(crate) fn written(packet: &Packet<'_>) -> Vec<u8> {
    let mut buf = [0; MAX_DATAGRAM];
    let len = encode(packet, &mut buf).expect("it fits");
    buf[..len].to_vec()
}

/// What an INIT and a RESP look like to a rendezvous.
pub(crate) fn signals() -> [Vec<u8>; 2] {
    [[&[0xE2, 1, 3][..], &[7; 330]].concat(), [&[0xE3][..], &[7; 309]].concat()]
}

pub fn seeds() -> Vec<Vec<u8>> {
    let [init, resp] = &signals();
    let (nonce, cookie, room) = (9, 3, [6; 16]);
    let observed = ([192, 0, 2, 1], 7_000).into();
    let turn = TurnGrant { server: observed, expiry: 1, valid_secs: 600, id: [7; 6], password: [8; 20] };
    let grant = Grant { nonce, observed, ticket: 5, turn: None };
    [
        Packet::Register(Register { nonce, cookie, key: [1; 32], ticket: 2, signature: [3; 64] }),
        Packet::Ask(Ask { nonce, cookie, room }),
        Packet::Post(Post { nonce, cookie, room, signal: init }),
        Packet::Answer(Answer { guest: 4, signal: resp }),
        Packet::Cookie(Cookie { nonce, cookie, observed }),
        Packet::Grant(grant),
        Packet::Grant(Grant { turn: Some(turn), ..grant }),
        Packet::Deliver(Deliver { nonce, guest: 4, signal: init }),
        Packet::Reply(Reply { nonce, outcome: Outcome::Posted }),
        Packet::Reply(Reply { nonce, outcome: Outcome::Answered(resp) }),
        Packet::Reply(Reply { nonce, outcome: Outcome::Refused(Denial::Busy) }),
    ]
    .iter()
    .map(written)
    .collect()
}
