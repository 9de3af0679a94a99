//! The visitor of a checksum, which needs no names.

use super::{Fields, Scalar, Visitor, is_large};
use crate::game::hash::SimHash;
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
