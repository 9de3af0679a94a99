//! `Fields` for the numbers of `fixed`, and for the vectors of [`math`](crate::math) made of them.

use super::impls::quarters;
use super::{Fields, Scalar, Visitor, halves};
use crate::game::math::Vec2;
use fixed::types::extra::{LeEqU8, LeEqU16, LeEqU32, LeEqU64, LeEqU128};

/// A fixed-point number is hashed by its bits and printed as a decimal.
macro_rules! fixed_point {
    ($($type:ident<$bound:ident>: |$bits:ident| $words:expr),* $(,)?) => {$(
        impl<Frac: $bound> Fields for fixed::$type<Frac> {
            #[inline]
            fn visit<V: Visitor>(&self, visitor: &mut V) {
                let $bits = self.to_bits();
                visitor.leaf(&$words, self);
            }

            #[inline]
            fn visit_items<V: Visitor>(items: &[Self], visitor: &mut V) {
                visitor.numbers(items);
            }
        }

        impl<Frac: $bound> Scalar for fixed::$type<Frac> {
            const BYTES: usize = size_of::<Self>();

            #[inline]
            fn bits(&self) -> u64 {
                Scalar::bits(&self.to_bits())
            }
        }
    )*};
}
fixed_point!(
    FixedI8<LeEqU8>: |bits| [i32::from(bits) as u32],
    FixedU8<LeEqU8>: |bits| [u32::from(bits)],
    FixedI16<LeEqU16>: |bits| [i32::from(bits) as u32],
    FixedU16<LeEqU16>: |bits| [u32::from(bits)],
    FixedI32<LeEqU32>: |bits| [bits as u32],
    FixedU32<LeEqU32>: |bits| [bits],
    FixedI64<LeEqU64>: |bits| halves(bits as u64),
    FixedU64<LeEqU64>: |bits| halves(bits),
);

impl<Frac: LeEqU128> Fields for fixed::FixedI128<Frac> {
    #[inline]
    fn visit<V: Visitor>(&self, visitor: &mut V) {
        visitor.leaf(&quarters(self.to_bits() as u128), self);
    }
}

impl<Frac: LeEqU128> Fields for fixed::FixedU128<Frac> {
    #[inline]
    fn visit<V: Visitor>(&self, visitor: &mut V) {
        visitor.leaf(&quarters(self.to_bits()), self);
    }
}

crate::fields!(Vec2 { x, y });
