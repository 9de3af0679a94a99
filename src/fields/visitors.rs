//! The visitors that need no names: checksum, words, comparison of words.

use super::scalar::lanes;
use super::{Fields, Scalar, Visitor, halves, is_large};
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
    fn numbers<T: Scalar>(&mut self, numbers: &[T]) {
        if is_large(numbers) {
            Self::numbers(self, numbers);
        } else {
            self.small(numbers);
        }
    }
}

/// Replaces the contents of `words` by the words of a state, in declared order; a large array of numbers gives one word
/// for every four bytes.
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
    fn numbers<T: Scalar>(&mut self, numbers: &[T]) {
        self.0 += words_of(numbers);
    }
}

/// Whether an array gives the words of its lanes, rather than a word for each number.
#[inline]
const fn is_packed<T: Scalar>(numbers: &[T]) -> bool {
    T::BYTES == 8 || T::BYTES < 4 && is_large(numbers)
}

/// How many words an array gives.
#[inline]
const fn words_of<T: Scalar>(numbers: &[T]) -> usize {
    if is_packed(numbers) { (numbers.len() * T::BYTES).div_ceil(4) } else { numbers.len() }
}

struct Collect<'a> {
    words: &'a mut [u32],
    len: usize,
}

impl Collect<'_> {
    #[inline]
    fn room(&mut self, count: usize) -> &mut [u32] {
        let start = self.len;
        self.len += count;
        // There is always room: `count_words` was shown the same leaves.
        self.words.get_mut(start..start + count).unwrap_or_default()
    }
}

impl Visitor for Collect<'_> {
    #[inline]
    fn leaf(&mut self, words: &[u32], _: &dyn Display) {
        self.room(words.len()).iter_mut().zip(words).for_each(|(slot, word)| *slot = *word);
    }

    #[inline]
    fn numbers<T: Scalar>(&mut self, numbers: &[T]) {
        let room = self.room(words_of(numbers));
        if !is_packed(numbers) {
            room.iter_mut().zip(numbers).for_each(|(slot, number)| *slot = number.bits() as u32);
            return;
        }
        let (full, rest) = lanes(numbers);
        let (slots, last) = room.split_at_mut(2 * full.len());
        for (slots, lane) in slots.as_chunks_mut::<2>().0.iter_mut().zip(full) {
            *slots = halves(lane);
        }
        last.iter_mut().zip(halves(rest)).for_each(|(slot, word)| *slot = word);
    }
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
    different: u64,
}

impl<'a> Compare<'a> {
    /// The next words that are expected; `None`, and a difference, if there are not as many.
    #[inline]
    fn next(&mut self, count: usize) -> Option<&'a [u32]> {
        let expected = self.expected.get(self.len..self.len + count);
        self.different |= u64::from(expected.is_none());
        self.len += count;
        expected
    }

    #[inline]
    fn words(&mut self, count: usize, words: impl Iterator<Item = u32>) {
        if let Some(expected) = self.next(count) {
            let different = words.zip(expected).fold(0, |all, (word, expected)| all | (word ^ expected));
            self.different |= u64::from(different);
        }
    }
}

impl Visitor for Compare<'_> {
    #[inline]
    fn leaf(&mut self, words: &[u32], _: &dyn Display) {
        self.words(words.len(), words.iter().copied());
    }

    #[inline]
    fn numbers<T: Scalar>(&mut self, numbers: &[T]) {
        if !is_packed(numbers) {
            self.words(numbers.len(), numbers.iter().map(|number| number.bits() as u32));
            return;
        }
        let Some(expected) = self.next(words_of(numbers)) else { return };
        let (full, rest) = lanes(numbers);
        let (expected, last) = expected.split_at(2 * full.len());
        let different =
            full.zip(expected.as_chunks::<2>().0).fold(0, |all, (lane, words)| all | (lane ^ joined(words)));
        self.different |= different | (rest ^ joined(last));
    }
}

/// At most two words as one number, the first in the low half.
#[inline]
fn joined(words: &[u32]) -> u64 {
    words.iter().rev().fold(0, |all, word| all << 32 | u64::from(*word))
}
