//! Numbers of fixed width, whose arrays are hashed and compared in 64-bit lanes.

use super::Fields;

/// A number of 1, 2, 4 or 8 bytes.
pub trait Scalar: Fields {
    /// The width: 1, 2, 4 or 8.
    const BYTES: usize;

    /// The bits, extended by the sign if there is one.
    fn bits(&self) -> u64;

    /// An array of `u32` as what it is, so that it is compared as a whole slice.
    #[doc(hidden)]
    #[inline]
    fn as_words(_: &[Self]) -> Option<&[u32]>
    where
        Self: Sized,
    {
        None
    }

    /// An array of `u64` as what it is, so that it is compared as a whole slice.
    #[doc(hidden)]
    #[inline]
    fn as_lanes(_: &[Self]) -> Option<&[u64]>
    where
        Self: Sized,
    {
        None
    }
}

/// How many numbers a lane holds.
#[inline]
pub(crate) const fn per_lane<T: Scalar>() -> usize {
    8 / T::BYTES
}

/// At most [`per_lane`] numbers in one lane, the first in the lowest bits. Missing ones are zero.
///
/// Computed from values and not from memory, so that it is the same on machines of either byte order.
#[inline]
pub(crate) fn lane<T: Scalar>(numbers: &[T]) -> u64 {
    let bits = 8 * T::BYTES as u32 % 64;
    let mask = if bits == 0 { u64::MAX } else { (1 << bits) - 1 };
    numbers.iter().rev().fold(0, |lane, number| lane << bits | number.bits() & mask)
}

/// The full lanes of an array, and the last one with what is left. The full ones make one loop without a branch.
#[inline]
pub(crate) fn lanes<T: Scalar>(numbers: &[T]) -> (impl ExactSizeIterator<Item = u64>, u64) {
    let full = numbers.chunks_exact(per_lane::<T>());
    let rest = lane(full.remainder());
    (full.map(lane), rest)
}

macro_rules! scalar {
    ($($type:ty as $extended:ty $(: $whole:ident -> $number:ty)?),*) => {$(
        impl Scalar for $type {
            const BYTES: usize = size_of::<Self>();

            #[inline]
            fn bits(&self) -> u64 {
                <$extended>::from(*self) as u64
            }

            $(#[inline]
            fn $whole(numbers: &[Self]) -> Option<&[$number]> {
                Some(numbers)
            })?
        }
    )*};
}
scalar!(bool as u64, char as u64, u8 as u64, u16 as u64);
scalar!(u32 as u64: as_words -> u32, u64 as u64: as_lanes -> u64);
scalar!(i8 as i64, i16 as i64, i32 as i64, i64 as i64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lane_is_the_little_endian_bytes_of_its_numbers() {
        let bytes = [1_u8, 2, 3, 4, 5, 6, 7, 0xFF];
        let expected = u64::from_le_bytes(bytes);
        assert_eq!(lane(&bytes), expected);
        assert_eq!(lane(&[0x0201_u16, 0x0403, 0x0605, 0xFF07]), expected);
        assert_eq!(lane(&[0x0403_0201_u32, 0xFF07_0605]), expected);
        assert_eq!(lane(&[expected]), expected);
        assert_eq!(lane(&[1_i8, -1]), 0xFF01, "a sign does not run over into the next number");
        assert_eq!(lane(&[-1_i16, 2, 3]), 0x0003_0002_FFFF);
        assert_eq!((lane(&[-1_i64]), lane::<u8>(&[])), (u64::MAX, 0));
        assert_eq!((lane(&[true, false, true]), lane(&['a', 'ñ'])), (0x01_0001, 0xF1_0000_0061));
    }
}
