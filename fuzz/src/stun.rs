//! STUN Binding: requests that a rendezvous answers, and answers of any STUN server.

use crate::memory::within;
use rebout::lab::wire::stun::{MAX_ANSWER, answer, id_of, mapped, request};
use std::net::SocketAddr;

fn sources() -> [SocketAddr; 2] {
    [([192, 0, 2, 1], 7_000).into(), ([0x2001, 0xDB8, 0, 0, 0, 0, 0, 1], 7_000).into()]
}

pub fn run(data: &[u8]) {
    let Some(id) = id_of(data) else { return };
    for from in sources() {
        let mut buf = [0; MAX_ANSWER];
        if let Some(len) = within(0, || answer(data, from, &mut buf)) {
            assert!(len < data.len(), "an answer is shorter than its request");
            assert_eq!(mapped(&buf[..len], &id), Some(from));
        }
    }
    let found = within(0, || mapped(data, &id));
    let mut other = id;
    other[0] ^= 1;
    assert_eq!(mapped(data, &other), None, "{found:?} is the answer to one request alone");
}

pub fn seeds() -> Vec<Vec<u8>> {
    let ask = request(&[7; 12]);
    let answers = sources().map(|from| {
        let mut buf = [0; MAX_ANSWER];
        let len = answer(&ask, from, &mut buf).expect("a request");
        buf[..len].to_vec()
    });
    [&[ask.to_vec()], &answers[..]].concat()
}
