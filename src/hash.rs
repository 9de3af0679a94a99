//! `SimHash`: the checksum of a simulation state, FNV-1a over 32-bit words.

/// FNV-1a with 32 bits, fed a whole word at a time: `h ^= word; h *= 16777619`.
///
/// Word-wise FNV never spreads bit 31, and two flips of that bit can cancel. A checksum is therefore a cheap alarm
/// between peers; where both states are at hand (the sync test, the autopsy) the words themselves are compared.
///
/// ```
/// use rebout::SimHash;
///
/// let mut hash = SimHash::new();
/// hash.word(1);
/// assert_eq!(hash.finish(), (2_166_136_261 ^ 1_u32).wrapping_mul(16_777_619));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimHash(u32);

const OFFSET: u32 = 2_166_136_261;
const PRIME: u32 = 16_777_619;

/// The number of independent chains in which a large byte array is hashed. A single chain waits for a multiplication
/// at every word; eight keep the multiplier busy and fit the vector registers of every common target.
const LANES: usize = 8;

/// The rotation of a lane after each word. It moves bit 31 to where the next multiplication spreads it, which plain
/// FNV-1a never does.
const LANE_ROTATION: u32 = 13;

impl SimHash {
    /// The hash of no words: the offset basis of FNV-1a.
    #[inline]
    #[must_use]
    pub const fn new() -> Self {
        Self(OFFSET)
    }

    /// Mixes in one word.
    #[inline]
    pub const fn word(&mut self, word: u32) {
        self.0 = (self.0 ^ word).wrapping_mul(PRIME);
    }

    /// Mixes in a large byte array: little-endian words of four bytes (the last one padded with zeros), word `i` in
    /// lane `i % 8`, a lane rotated left by 13 after each word, and then the eight lanes as words.
    pub fn bytes(&mut self, bytes: &[u8]) {
        let mut lanes = [OFFSET; LANES];
        let mix = |lane: &mut u32, word: u32| {
            *lane = (*lane ^ word).wrapping_mul(PRIME).rotate_left(LANE_ROTATION);
        };
        let mut blocks = bytes.chunks_exact(4 * LANES);
        for block in &mut blocks {
            for (lane, word) in lanes.iter_mut().zip(block.as_chunks::<4>().0) {
                mix(lane, u32::from_le_bytes(*word));
            }
        }
        let (words, tail) = blocks.remainder().as_chunks::<4>();
        for (lane, word) in lanes.iter_mut().zip(words) {
            mix(lane, u32::from_le_bytes(*word));
        }
        if !tail.is_empty() {
            let mut word = [0; 4];
            word[..tail.len()].copy_from_slice(tail);
            mix(&mut lanes[words.len()], u32::from_le_bytes(word));
        }
        for lane in lanes {
            self.word(lane);
        }
    }

    /// The checksum of all words mixed in so far.
    #[inline]
    #[must_use]
    pub const fn finish(self) -> u32 {
        self.0
    }
}

impl Default for SimHash {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rule for byte arrays once more, one word at a time.
    fn bytes_by_the_rule(bytes: &[u8]) -> u32 {
        let mut lanes = [OFFSET; 8];
        for (i, chunk) in bytes.chunks(4).enumerate() {
            let mut word = 0_u32;
            for (k, byte) in chunk.iter().enumerate() {
                word |= u32::from(*byte) << (8 * k);
            }
            lanes[i % 8] = (lanes[i % 8] ^ word).wrapping_mul(PRIME).rotate_left(13);
        }
        lanes.iter().fold(OFFSET, |h, lane| (h ^ lane).wrapping_mul(PRIME))
    }

    #[test]
    fn byte_arrays_follow_the_written_rule_at_every_length() {
        let bytes: Vec<u8> = (0..200_u32).map(|i| (i * 37 + 11) as u8).collect();
        for len in 0..bytes.len() {
            let mut hash = SimHash::new();
            hash.bytes(&bytes[..len]);
            assert_eq!(hash.finish(), bytes_by_the_rule(&bytes[..len]), "length {len}");
        }
    }

    #[test]
    fn two_flips_of_bit_31_cancel_in_words_but_not_in_byte_arrays() {
        let words = |flip: u32| {
            let mut hash = SimHash::new();
            hash.word(7 ^ flip);
            hash.word(9 ^ flip);
            hash.finish()
        };
        assert_eq!(words(0), words(0x8000_0000), "the weakness the docs speak of");

        let mut bytes = [0x55; 128];
        let before = bytes_by_the_rule(&bytes);
        bytes[3] ^= 0x80;
        bytes[35] ^= 0x80;
        assert_ne!(before, bytes_by_the_rule(&bytes));
    }
}
