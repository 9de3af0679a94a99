//! The visitors that need no names: checksum, words, comparison of words.

use super::{Fields, Visitor};
use crate::hash::SimHash;
use core::fmt::Display;

/// The `SimHash` of a state: one mix for every word, in declared order.
///
/// ```
/// use rebout::{SimHash, checksum};
///
/// let mut hash = SimHash::new();
/// [1, 2, 0xffff_ffff].iter().for_each(|word| hash.word(*word));
/// assert_eq!(checksum(&(1_u8, 2_u32, -1_i16)), hash.finish());
/// ```
#[inline]
#[must_use]
pub fn checksum<T: Fields + ?Sized>(state: &T) -> u32 {
    let mut hash = SimHash::new();
    state.visit(&mut hash);
    hash.finish()
}

impl Visitor for SimHash {
    #[inline]
    fn leaf(&mut self, words: &[u32], _: &dyn Display) {
        for word in words {
            self.word(*word);
        }
    }

    #[inline]
    fn bytes(&mut self, bytes: &[u8]) {
        Self::bytes(self, bytes);
    }
}

/// Replaces what is in `words` by the words of a state, in declared order; a large byte array gives a word for four bytes.
pub fn collect_words<T: Fields + ?Sized>(state: &T, words: &mut Vec<u32>) {
    words.clear();
    state.visit(&mut Collect(words));
}

struct Collect<'a>(&'a mut Vec<u32>);

impl Visitor for Collect<'_> {
    #[inline]
    fn leaf(&mut self, words: &[u32], _: &dyn Display) {
        self.0.extend_from_slice(words);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend(words_of(bytes));
    }
}

/// Little-endian words, the last one padded with zeros.
fn words_of(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes.chunks(4).map(|chunk| {
        let mut word = [0; 4];
        word[..chunk.len()].copy_from_slice(chunk);
        u32::from_le_bytes(word)
    })
}

/// Whether a state has exactly these words, as [`collect_words`] gives them.
///
/// Unlike a checksum this misses nothing.
#[inline]
#[must_use]
pub fn words_equal<T: Fields + ?Sized>(state: &T, words: &[u32]) -> bool {
    let mut compare = Compare { expected: words, different: 0 };
    state.visit(&mut compare);
    compare.different == 0 && compare.expected.is_empty()
}

/// Gathers differences instead of branching on each: equal states are what is expected.
struct Compare<'a> {
    expected: &'a [u32],
    different: u32,
}

impl Visitor for Compare<'_> {
    #[inline]
    fn leaf(&mut self, words: &[u32], _: &dyn Display) {
        match self.expected.split_at_checked(words.len()) {
            Some((expected, rest)) => {
                for (a, b) in words.iter().zip(expected) {
                    self.different |= a ^ b;
                }
                self.expected = rest;
            }
            None => self.different = 1,
        }
    }

    fn bytes(&mut self, bytes: &[u8]) {
        let count = bytes.len().div_ceil(4);
        match self.expected.split_at_checked(count) {
            Some((expected, rest)) => {
                let (whole, tail) = bytes.as_chunks::<4>();
                for (a, b) in whole.iter().zip(expected) {
                    self.different |= u32::from_le_bytes(*a) ^ b;
                }
                if let (Some(a), Some(b)) = (words_of(tail).next(), expected.last()) {
                    self.different |= a ^ b;
                }
                self.expected = rest;
            }
            None => self.different = 1,
        }
    }
}
