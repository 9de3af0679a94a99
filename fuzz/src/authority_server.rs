//! An authority server on both wires against hostile clients.
//!
//! An ack of a packet that was never sent is refused, nothing is amplified towards strangers, and nobody else loses a seat.

use crate::attack::random_seeds;
use crate::authority::attack;
use crate::bytes::Bytes;
use rebout::authority::{GameWire, RtypeWire};

const SERVER: usize = 0;

pub fn run(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    if bytes.flag() { attack(RtypeWire, SERVER, &mut bytes) } else { attack(GameWire, SERVER, &mut bytes) }
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
