//! A state as plain numbers, for a comparison that finds every difference.

use super::scalar::lanes;
use super::{Fields, Scalar, Visitor, halves, is_large};
use core::fmt::Display;

/// The numbers of a state in declared order: 32-bit words, and apart from them the 64-bit lanes of its arrays.
///
/// Lanes are apart so that arrays of wide numbers are compared as whole slices. Unlike a comparison of checksums, this one
/// finds every difference.
///
/// ```
/// use rebout::fields::Image;
///
/// let mut image = Image::default();
/// image.take(&(7_u32, [1_u64; 100]));
/// assert!(image.is_of(&(7_u32, [1_u64; 100])));
/// assert!(!image.is_of(&(7_u32, [2_u64; 100])));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image {
    words: Vec<u32>,
    lanes: Vec<u64>,
}

impl Image {
    /// Takes the image of another state.
    #[inline]
    pub fn take<T: Fields + ?Sized>(&mut self, state: &T) {
        let size = size(state);
        self.words.resize(size.words, 0);
        self.lanes.resize(size.lanes, 0);
        let (words, lanes) = (&mut self.words[..size.words], &mut self.lanes[..size.lanes]);
        state.visit(&mut Take { words, lanes, at: Size::default() });
    }

    /// Whether a state has exactly these numbers.
    #[inline]
    #[must_use]
    pub fn is_of<T: Fields + ?Sized>(&self, state: &T) -> bool {
        let size = size(state);
        if self.words.len() != size.words || self.lanes.len() != size.lanes {
            return false;
        }
        let (words, lanes) = (&self.words[..size.words], &self.lanes[..size.lanes]);
        let mut compare = Compare { words, lanes, at: Size::default(), different: 0 };
        state.visit(&mut compare);
        compare.different == 0
    }

    /// The words.
    #[must_use]
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// The lanes.
    #[must_use]
    pub fn lanes(&self) -> &[u64] {
        &self.lanes
    }
}

/// How many words and lanes there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Size {
    words: usize,
    lanes: usize,
}

/// The size of the image of a state. For a state of fixed shape the compiler evaluates it to a constant, and drops the bounds
/// check at every leaf.
#[inline]
fn size<T: Fields + ?Sized>(state: &T) -> Size {
    let mut size = Size::default();
    state.visit(&mut size);
    size
}

impl Visitor for Size {
    #[inline]
    fn leaf(&mut self, words: &[u32], _: &dyn Display) {
        self.words += words.len();
    }

    #[inline]
    fn numbers<T: Scalar>(&mut self, numbers: &[T]) {
        if in_lanes(numbers) {
            self.lanes += (numbers.len() * T::BYTES).div_ceil(8);
        } else {
            self.words += numbers.len() * words_per::<T>();
        }
    }
}

/// Whether an array gives lanes, rather than a word for each number or two.
#[inline]
const fn in_lanes<T: Scalar>(numbers: &[T]) -> bool {
    T::BYTES != 4 && is_large(numbers)
}

/// The words of a number of a small array: two of a wide one.
#[inline]
fn words_of<T: Scalar>(number: &T) -> impl Iterator<Item = u32> {
    halves(number.bits()).into_iter().take(words_per::<T>())
}

#[inline]
const fn words_per<T: Scalar>() -> usize {
    T::BYTES.div_ceil(4)
}

struct Take<'a> {
    words: &'a mut [u32],
    lanes: &'a mut [u64],
    /// How many were taken. Positions rather than shrinking slices, because they are constants at every leaf of a state of
    /// fixed shape.
    at: Size,
}

/// The next `count` slots. There is always room: [`size`] was shown the same leaves.
#[inline]
fn room<'a, N>(all: &'a mut [N], at: &mut usize, count: usize) -> &'a mut [N] {
    let start = *at;
    *at += count;
    all.get_mut(start..start + count).unwrap_or_default()
}

impl Visitor for Take<'_> {
    #[inline]
    fn leaf(&mut self, words: &[u32], _: &dyn Display) {
        let room = room(self.words, &mut self.at.words, words.len());
        room.iter_mut().zip(words).for_each(|(slot, word)| *slot = *word);
    }

    #[inline]
    fn numbers<T: Scalar>(&mut self, numbers: &[T]) {
        if !in_lanes(numbers) {
            let room = room(self.words, &mut self.at.words, numbers.len() * words_per::<T>());
            room.iter_mut().zip(numbers.iter().flat_map(words_of)).for_each(|(slot, word)| *slot = word);
            return;
        }
        let (full, rest) = lanes(numbers);
        let room = room(self.lanes, &mut self.at.lanes, (numbers.len() * T::BYTES).div_ceil(8));
        let (slots, last) = room.split_at_mut(full.len());
        slots.iter_mut().zip(full).for_each(|(slot, lane)| *slot = lane);
        last.iter_mut().for_each(|slot| *slot = rest);
    }
}

/// Compares numbers, and collects their differences in one number instead of branching at each: states are nearly
/// always equal.
struct Compare<'a> {
    words: &'a [u32],
    lanes: &'a [u64],
    at: Size,
    different: u64,
}

/// The next numbers that are expected; there are always as many as [`size`] has counted.
#[inline]
fn next<'a, N>(all: &'a [N], at: &mut usize, count: usize) -> &'a [N] {
    let start = *at;
    *at += count;
    all.get(start..start + count).unwrap_or_default()
}

impl Visitor for Compare<'_> {
    #[inline]
    fn leaf(&mut self, words: &[u32], _: &dyn Display) {
        let expected = next(self.words, &mut self.at.words, words.len());
        let different = words.iter().zip(expected).fold(0, |all, (word, expected)| all | (word ^ expected));
        self.different |= u64::from(different);
    }

    #[inline]
    fn numbers<T: Scalar>(&mut self, numbers: &[T]) {
        if !in_lanes(numbers) {
            let expected = next(self.words, &mut self.at.words, numbers.len() * words_per::<T>());
            // A call for a few numbers costs more than a loop.
            let different = match T::as_words(numbers).filter(|_| is_large(numbers)) {
                Some(words) => u32::from(words != expected),
                None => {
                    let words = numbers.iter().flat_map(words_of).zip(expected);
                    words.fold(0, |all, (word, expected)| all | (word ^ expected))
                }
            };
            self.different |= u64::from(different);
            return;
        }
        let expected = next(self.lanes, &mut self.at.lanes, (numbers.len() * T::BYTES).div_ceil(8));
        self.different |= match T::as_lanes(numbers) {
            Some(lanes) => u64::from(lanes != expected),
            None => {
                let (full, rest) = lanes(numbers);
                let last = expected.get(full.len()).map_or(0, |last| last ^ rest);
                full.zip(expected).fold(last, |all, (lane, expected)| all | (lane ^ expected))
            }
        };
    }
}
