//! Clients of an authority on both wires against a hostile server.
//!
//! An ack of a packet that was never sent is refused, what is drawn is finite, and datagrams of strangers are refused.

use crate::attack::random_seeds;
use crate::authority::attack;
use crate::bytes::Bytes;
use rebout::authority::{GameWire, RtypeWire};

const CLIENT: usize = 1;

pub fn run(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    if bytes.flag() { attack(RtypeWire, CLIENT, &mut bytes) } else { attack(GameWire, CLIENT, &mut bytes) }
}

pub fn seeds() -> Vec<Vec<u8>> {
    random_seeds(&[
        &[0, 0, 0],
        &[0, 0, 8],
        &[0, 0, 90],
        &[0, 1, 90],
        &[1, 0, 0],
        &[1, 0, 8],
        &[1, 0, 90],
        &[1, 1, 90],
    ])
}
