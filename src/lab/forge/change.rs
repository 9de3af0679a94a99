//! Damage to a real datagram.

use super::Knows;

/// A change to a real datagram before it is injected. Positions are taken modulo its length, so that any number fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// No change: a replayed datagram.
    Nothing,
    /// Flips bits, each by the position of its byte and its number in the byte.
    Flip(Vec<(u16, u8)>),
    /// Truncates the datagram to a length.
    Cut(u16),
    /// Appends a number of bytes of one value.
    Grow(u16, u8),
    /// Replaces the rest by that of another real datagram: its number, and the position from which on.
    Splice(u16, u16),
    /// Sets sequence and ack of a control packet to the numbers that the victim expects.
    RightNumbers,
    /// Sets start and ack of an input packet to the frames that the victim expects, each with an offset.
    RightFrames(i8, i8),
    /// Overwrites four bytes from a position on.
    Set(u16, u32),
}

impl Change {
    /// Applies the change to `datagram`. `others` are the real datagrams to splice with.
    ///
    /// # Panics
    ///
    /// When a splice has no other datagrams.
    pub fn apply(&self, datagram: &mut Vec<u8>, others: &[Vec<u8>], knows: &Knows) {
        let len = datagram.len().max(1);
        match self {
            Self::Nothing => {}
            Self::Flip(bits) => {
                for (at, bit) in bits {
                    if let Some(byte) = datagram.get_mut(usize::from(*at) % len) {
                        *byte ^= 1 << (bit % 8);
                    }
                }
            }
            Self::Cut(to) => datagram.truncate(usize::from(*to) % len),
            Self::Grow(by, byte) => datagram.resize(len + usize::from(*by), *byte),
            Self::Splice(with, at) => {
                let other = &others[usize::from(*with) % others.len()];
                let at = usize::from(*at) % len;
                datagram.truncate(at);
                datagram.extend(other.iter().skip(at));
            }
            Self::RightNumbers if datagram.len() >= 12 && datagram.starts_with(b"GAME") => {
                datagram[4..6].copy_from_slice(&knows.header.sequence.to_be_bytes());
                datagram[6..8].copy_from_slice(&knows.header.ack.to_be_bytes());
            }
            Self::RightFrames(start, ack) if datagram.len() >= 15 && datagram.starts_with(b"RBN1") => {
                let start = knows.known.wrapping_add_signed((*start).into());
                let ack = knows.sent.wrapping_sub(1).wrapping_add_signed((*ack).into());
                datagram[6..10].copy_from_slice(&start.to_le_bytes());
                datagram[11..15].copy_from_slice(&ack.to_le_bytes());
            }
            Self::RightNumbers | Self::RightFrames(..) => {}
            Self::Set(at, word) => {
                let at = usize::from(*at) % len;
                for (byte, value) in datagram.iter_mut().skip(at).zip(word.to_le_bytes()) {
                    *byte = value;
                }
            }
        }
    }
}
