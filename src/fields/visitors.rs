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

/// Replaces the contents of `words` by the words of a state, in declared order; a large byte array gives one word for
/// every four bytes.
#[inline]
pub fn collect_words<T: Fields + ?Sized>(state: &T, words: &mut Vec<u32>) {
    words.resize(count_words(state), 0);
    state.visit(&mut Collect { words: words.as_mut_slice(), len: 0 });
}

/// The number of words of a state.
///
/// For a state of fixed shape the compiler evaluates it to a constant, and drops the bounds check at every leaf.
#[inline]
fn count_words<T: Fields + ?Sized>(state: &T) -> usize {
    let mut count = Count(0);
    state.visit(&mut count);
    count.0
}

struct Count(usize);

impl Visitor for Count {
    #[inline]
    fn leaf(&mut self, words: &[u32], _: &dyn Display) {
        self.0 += words.len();
    }

    #[inline]
    fn word_items<T: Fields>(&mut self, items: &[T], _: impl Fn(&T) -> u32) {
        self.0 += items.len();
    }

    #[inline]
    fn bytes(&mut self, bytes: &[u8]) {
        self.0 += bytes.len().div_ceil(4);
    }
}

struct Collect<'a> {
    words: &'a mut [u32],
    len: usize,
}

impl Collect<'_> {
    #[inline]
    fn put(&mut self, count: usize, words: impl Iterator<Item = u32>) {
        // There is always room: `count_words` was shown the same leaves.
        if let Some(slots) = self.words.get_mut(self.len..self.len + count) {
            slots.iter_mut().zip(words).for_each(|(slot, word)| *slot = word);
        }
        self.len += count;
    }
}

impl Visitor for Collect<'_> {
    #[inline]
    fn leaf(&mut self, words: &[u32], _: &dyn Display) {
        self.put(words.len(), words.iter().copied());
    }

    #[inline]
    fn word_items<T: Fields>(&mut self, items: &[T], word: impl Fn(&T) -> u32) {
        self.put(items.len(), items.iter().map(word));
    }

    #[inline]
    fn bytes(&mut self, bytes: &[u8]) {
        self.put(bytes.len().div_ceil(4), words_of(bytes));
    }
}

/// The little-endian words of a byte array, the last one padded with zeros.
fn words_of(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes.chunks(4).map(|chunk| {
        let mut word = [0; 4];
        word[..chunk.len()].copy_from_slice(chunk);
        u32::from_le_bytes(word)
    })
}

/// Whether a state has exactly these words, as [`collect_words`] gives them.
///
/// Unlike a comparison of checksums, this finds every difference.
#[inline]
#[must_use]
pub fn words_equal<T: Fields + ?Sized>(state: &T, words: &[u32]) -> bool {
    if count_words(state) != words.len() {
        return false;
    }
    let mut compare = Compare { expected: words, len: 0, different: 0 };
    state.visit(&mut compare);
    compare.different == 0
}

/// Compares words, and collects their differences in one number instead of branching at each: states are nearly
/// always equal.
struct Compare<'a> {
    expected: &'a [u32],
    /// How many words were compared. A position rather than a shrinking slice, because it is a constant at every leaf
    /// of a state of fixed shape.
    len: usize,
    different: u32,
}

impl Compare<'_> {
    #[inline]
    fn with(&mut self, count: usize, words: impl Iterator<Item = u32>) {
        self.different |= match self.expected.get(self.len..self.len + count) {
            Some(expected) => words.zip(expected).fold(0, |all, (word, expected)| all | (word ^ expected)),
            None => 1,
        };
        self.len += count;
    }
}

impl Visitor for Compare<'_> {
    #[inline]
    fn leaf(&mut self, words: &[u32], _: &dyn Display) {
        self.with(words.len(), words.iter().copied());
    }

    #[inline]
    fn word_items<T: Fields>(&mut self, items: &[T], word: impl Fn(&T) -> u32) {
        self.with(items.len(), items.iter().map(word));
    }

    #[inline]
    fn bytes(&mut self, bytes: &[u8]) {
        let (whole, tail) = bytes.as_chunks::<4>();
        self.with(whole.len(), whole.iter().map(|word| u32::from_le_bytes(*word)));
        self.with(tail.len().div_ceil(4), words_of(tail));
    }
}
