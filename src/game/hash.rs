//! `SimHash`: the checksum of a simulation state, FNV-1a over 32-bit words, and large arrays in 64-bit lanes.

use crate::game::fields::{Scalar, halves, lane, per_lane};

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

/// The number of independent chains in which a large array is hashed. A single chain waits for a multiplication at
/// every step; four keep the multiplier busy.
const LANES: usize = 4;

/// The bytes of a block. Each is hashed on its own, so that a large state can be hashed over several frames.
pub(crate) const BLOCK_BYTES: usize = 4096;

/// The start of a lane and its multiplier: the offset basis of FNV-1a with 64 bits, and an odd number with bits all over.
const LANE_OFFSET: u64 = 0xCBF2_9CE4_8422_2325;
const LANE_FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

/// The rotation of a lane after each step. It moves the highest bit to where the next multiplication spreads it, which
/// plain FNV-1a never does.
const LANE_ROTATION: u32 = 29;

#[inline]
const fn mix(lane: u64, bits: u64) -> u64 {
    (lane ^ bits).wrapping_mul(LANE_FACTOR).rotate_left(LANE_ROTATION)
}

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

    /// Mixes in the numbers of a small array, each as its words.
    #[inline]
    pub(crate) fn small<T: Scalar>(&mut self, numbers: &[T]) {
        for number in numbers {
            let [low, high] = halves(number.bits());
            self.word(low);
            if T::BYTES == 8 {
                self.word(high);
            }
        }
    }

    /// Mixes in a large array of numbers, in blocks of 4,096 bytes.
    pub fn numbers<T: Scalar>(&mut self, numbers: &[T]) {
        for block in numbers.chunks(BLOCK_BYTES / T::BYTES) {
            self.block(block);
        }
    }

    /// Mixes in one block: its little-endian bytes in words of 64 bits (the last one padded with zeros), word `i` in lane
    /// `i % 4`; then the lanes in one, and the two halves of that.
    pub(crate) fn block<T: Scalar>(&mut self, numbers: &[T]) {
        let mut lanes = [LANE_OFFSET; LANES];
        let mut rows = numbers.chunks_exact(LANES * per_lane::<T>());
        for row in &mut rows {
            for (state, numbers) in lanes.iter_mut().zip(row.chunks_exact(per_lane::<T>())) {
                *state = mix(*state, lane(numbers));
            }
        }
        for (state, numbers) in lanes.iter_mut().zip(rows.remainder().chunks(per_lane::<T>())) {
            *state = mix(*state, lane(numbers));
        }
        let [low, high] = halves(lanes.into_iter().fold(LANE_OFFSET, mix));
        self.word(low);
        self.word(high);
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

    /// The rule for large arrays once more, one word at a time.
    fn by_the_rule(bytes: &[u8]) -> u32 {
        let mut hash = 2_166_136_261_u32;
        for block in bytes.chunks(4096) {
            let mut lanes = [0xCBF2_9CE4_8422_2325_u64; 4];
            for (i, chunk) in block.chunks(8).enumerate() {
                let mut word = 0_u64;
                for (k, byte) in chunk.iter().enumerate() {
                    word |= u64::from(*byte) << (8 * k);
                }
                lanes[i % 4] = (lanes[i % 4] ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
            }
            let mut all = 0xCBF2_9CE4_8422_2325_u64;
            for lane in lanes {
                all = (all ^ lane).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
            }
            for half in [all as u32, (all >> 32) as u32] {
                hash = (hash ^ half).wrapping_mul(16_777_619);
            }
        }
        hash
    }

    fn hashed<T: Scalar>(numbers: &[T]) -> u32 {
        let mut hash = SimHash::new();
        hash.numbers(numbers);
        hash.finish()
    }

    #[test]
    fn large_arrays_follow_the_written_rule_at_every_length() {
        let bytes: Vec<u8> = (0..9_000_u32).map(|i| (i * 37 + i / 251) as u8).collect();
        for len in (0..200).chain(4_000..4_200).chain([8_191, 8_192, 8_193, 9_000]) {
            assert_eq!(hashed(&bytes[..len]), by_the_rule(&bytes[..len]), "length {len}");
        }
    }

    #[test]
    fn numbers_of_every_width_hash_as_their_little_endian_bytes() {
        let bytes: Vec<u8> = (0..8_200_u32).map(|i| (i * 89 + i / 251) as u8).collect();
        let expected = by_the_rule(&bytes);
        let pairs: Vec<i16> = bytes.chunks(2).map(|c| i16::from_le_bytes(c.try_into().unwrap())).collect();
        let words: Vec<i32> = bytes.chunks(4).map(|c| i32::from_le_bytes(c.try_into().unwrap())).collect();
        let wide: Vec<u64> = bytes.chunks(8).map(|c| u64::from_le_bytes(c.try_into().unwrap())).collect();
        assert_eq!([hashed(&pairs), hashed(&words), hashed(&wide)], [expected; 3]);
    }

    #[test]
    fn two_top_bit_flips_cancel_in_words_but_not_in_lanes() {
        let words = |flip: u32| {
            let mut hash = SimHash::new();
            hash.word(7 ^ flip);
            hash.word(9 ^ flip);
            hash.finish()
        };
        assert_eq!(words(0), words(0x8000_0000), "the weakness the docs speak of");

        let numbers = [0x5555_u64; 16];
        for (one, other) in [(0, 4), (0, 1), (3, 15), (0, 8)] {
            let mut flipped = numbers;
            flipped[one] ^= 1 << 63;
            flipped[other] ^= 1 << 63;
            assert_ne!(hashed(&numbers), hashed(&flipped), "{one} and {other}");
        }
    }
}
