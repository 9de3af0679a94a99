//! A part of a checksum: the leaves between two positions of a state.

use super::{Fields, Scalar, Visitor, is_large};
use crate::game::hash::{BLOCK_BYTES, SimHash};
use core::fmt::Display;

/// The hash after a slice, and where the slice ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hashed {
    pub(crate) hash: SimHash,
    /// The position at which the next slice begins, in bytes of the state.
    pub(crate) end: usize,
    /// The size of the whole state.
    pub(crate) total: usize,
}

/// Goes on with a checksum from position `from`, an `end` of the slice before or 0, up to the first leaf or block that
/// begins at `to` or later.
///
/// All slices of a state, one after the other, give the same as [`checksum`](super::checksum). A large array is skipped in
/// no time, and each leaf before and after the slice costs a comparison.
#[inline]
pub(crate) fn hash_slice<T: Fields + ?Sized>(state: &T, hash: SimHash, from: usize, to: usize) -> Hashed {
    let mut slice = Slice { hash, from, to, at: 0, end: from };
    state.visit(&mut slice);
    Hashed { hash: slice.hash, end: slice.end, total: slice.at }
}

/// The size of a state as slices count it: four bytes for each word of a leaf, and the bytes of arrays of numbers.
///
/// The size of a state of fixed shape is a constant to the compiler.
#[inline]
pub(crate) fn size_bytes<T: Fields + ?Sized>(state: &T) -> usize {
    hash_slice(state, SimHash::new(), 0, 0).total
}

struct Slice {
    hash: SimHash,
    from: usize,
    to: usize,
    /// The position of the next leaf.
    at: usize,
    end: usize,
}

impl Slice {
    /// Passes a leaf, and hashes it if it begins in the slice.
    #[inline]
    fn pass(&mut self, bytes: usize, hash: impl FnOnce(&mut SimHash)) {
        let hashed = (self.from..self.to).contains(&self.at);
        self.at += bytes;
        if hashed {
            hash(&mut self.hash);
            self.end = self.at;
        }
    }
}

impl Visitor for Slice {
    #[inline]
    fn leaf(&mut self, words: &[u32], _: &dyn Display) {
        self.pass(4 * words.len(), |hash| words.iter().for_each(|word| hash.word(*word)));
    }

    #[inline]
    fn numbers<T: Scalar>(&mut self, numbers: &[T]) {
        if !is_large(numbers) {
            self.pass(T::BYTES * numbers.len(), |hash| hash.small(numbers));
            return;
        }
        let after = self.at + T::BYTES * numbers.len();
        // Slices end between blocks, so that the ones before the slice are whole.
        let skipped = self.from.saturating_sub(self.at).div_ceil(BLOCK_BYTES);
        self.at += skipped * BLOCK_BYTES;
        for block in numbers.chunks(BLOCK_BYTES / T::BYTES).skip(skipped) {
            if self.at >= self.to {
                break;
            }
            self.pass(T::BYTES * block.len(), |hash| hash.block(block));
        }
        self.at = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checksum;

    struct Ram {
        frame: u32,
        bytes: Vec<u8>,
        pair: (i64, Option<u16>),
        few: [u16; 5],
        words: Vec<u64>,
        none: Vec<u32>,
        last: bool,
    }
    crate::fields!(Ram { frame, bytes, pair, few, words, none, last });

    fn ram(bytes: usize, words: usize) -> Ram {
        Ram {
            frame: 9,
            bytes: (0..bytes).map(|i| (i * 31 + i / 256) as u8).collect(),
            pair: (-2, Some(7)),
            few: [1, 2, 3, 4, 5],
            words: (0..words as u64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect(),
            none: Vec::new(),
            last: true,
        }
    }

    #[test]
    fn slices_of_every_size_give_the_checksum_of_the_whole() {
        for (bytes, words) in [(0, 0), (5, 3), (64, 8), (4_096, 512), (4_097, 513), (10_000, 3_000)] {
            let ram = ram(bytes, words);
            let whole = checksum(&ram);
            for step in [1, 5, 100, 4_096, 5_000, 9_999, 1_000_000] {
                let mut slice = hash_slice(&ram, SimHash::new(), 0, step);
                let mut slices = 1;
                while slice.end < slice.total {
                    let next = hash_slice(&ram, slice.hash, slice.end, slice.end + step);
                    assert!(next.end > slice.end, "it goes on at {} of {}", slice.end, slice.total);
                    slice = next;
                    slices += 1;
                }
                assert_eq!(slice.hash.finish(), whole, "{bytes} bytes, {words} words, steps of {step}");
                assert!(slices <= slice.total / step + 1, "{slices} slices of {step} in {}", slice.total);
            }
        }
    }
}
