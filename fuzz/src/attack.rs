//! What an attacker does to datagrams that it has seen, as the fuzzer chooses.

use crate::bytes::Bytes;
use rebout::Rng;
use rebout::lab::forge::Change;
use std::net::SocketAddr;

/// The most attacks of one input, so that an execution stays short.
pub(crate) const MAX_ATTACKS: usize = 48;
/// The newest datagrams among which an attacker chooses.
pub(crate) const SEEN: usize = 48;

pub(crate) fn stranger(bytes: &mut Bytes<'_>) -> SocketAddr {
    ([203, 0, 113, 9 + bytes.u8() % 3], 9_999).into()
}

pub(crate) fn change(bytes: &mut Bytes<'_>) -> Change {
    match bytes.below(9) {
        0 | 1 => Change::Nothing,
        2 => Change::Flip((0..=bytes.below(4)).map(|_| (bytes.u16(), bytes.u8())).collect()),
        3 => Change::Cut(bytes.u16()),
        4 => Change::Grow(bytes.u16() % 1_500, bytes.u8()),
        5 => Change::Splice(bytes.u16(), bytes.u16()),
        6 => Change::RightNumbers,
        7 => Change::RightFrames(bytes.u8() as i8, bytes.u8() as i8),
        _ => Change::Set(bytes.u16(), bytes.u32()),
    }
}

/// Changes that need no knowledge of a match.
pub(crate) fn damage(bytes: &mut Bytes<'_>, datagram: &mut Vec<u8>, others: &[Vec<u8>]) {
    let len = datagram.len().max(1);
    match bytes.below(8) {
        0 | 1 => {}
        2 => {
            let at = usize::from(bytes.u16()) % len;
            if let Some(byte) = datagram.get_mut(at) {
                *byte ^= bytes.u8();
            }
        }
        3 => datagram.truncate(usize::from(bytes.u16()) % len),
        4 => datagram.resize(len + usize::from(bytes.u16() % 1_500), bytes.u8()),
        5 if !others.is_empty() => {
            let at = usize::from(bytes.u16()) % len;
            let other = &others[usize::from(bytes.u8()) % others.len()];
            datagram.truncate(at);
            datagram.extend(other.iter().skip(at));
        }
        6 => {
            let at = usize::from(bytes.u16()) % len;
            for byte in datagram.iter_mut().skip(at).take(4) {
                *byte = bytes.u8();
            }
        }
        _ => *datagram = bytes.slice(1_500).to_vec(),
    }
}

/// Inputs to begin with: choices at random, of several lengths behind each of the first bytes.
pub(crate) fn random_seeds(firsts: &[&[u8]]) -> Vec<Vec<u8>> {
    let mut rng = Rng::new(0x5EED).expect("a seed");
    let mut seeds = Vec::new();
    for first in firsts {
        for len in [0, 8, 40, 160, 400] {
            let rest =
                (0..len).map(|_| rng.next_u32() as u8 & if rng.next_u32() & 1 == 0 { 0x0F } else { 0xFF });
            seeds.push(first.iter().copied().chain(rest).collect());
        }
    }
    seeds
}
