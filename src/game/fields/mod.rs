//! One description of a state, which its checksum, its dump and the named difference of two states are made from.

mod bits;
pub(crate) mod diff;
#[cfg(feature = "fixed")]
mod fixed_point;
mod image;
mod impls;
pub(crate) mod leaves;
mod macros;
mod scalar;
mod skipped;
mod slice;
pub(crate) mod traits;
pub(crate) mod visitors;
pub(crate) mod walk;

pub use bits::Bits;
pub use image::Image;
pub use scalar::Scalar;
pub(crate) use scalar::{lane, per_lane};
pub use skipped::not_compared;
pub(crate) use slice::{hash_slice, size_bytes};
pub(crate) use traits::{Fields, Visitor};
pub(crate) use walk::{Leaf, count, walk, walk_slice};
pub use walk::{Path, Segment};

/// The size from which on an array of numbers is hashed in 64-bit lanes instead of word by word.
pub const LARGE_BYTES: usize = 64;

/// Whether an array is hashed in lanes.
#[inline]
pub(crate) const fn is_large<T: Scalar>(numbers: &[T]) -> bool {
    numbers.len() * T::BYTES >= LARGE_BYTES
}

/// The two words of a 64-bit number, low first.
#[inline]
pub(crate) const fn halves(bits: u64) -> [u32; 2] {
    [bits as u32, (bits >> 32) as u32]
}
