//! `Bits`: a float as part of a state, compared bit by bit.

use super::{Fields, Scalar, Visitor};
use core::fmt;
use core::ops::{Deref, DerefMut};

/// A float in a simulation state: its bit pattern in the checksum, the number in a report.
///
/// Floats are deterministic only where nothing between the source and the processor changes: the same build of the game on
/// the same kind of processor, no fast-math, no `sin` or `powf` of the system's library, and no value that depends on
/// the order in which threads finish. Between a Windows and a Linux player, or x86-64 and ARM, that seldom holds. A
/// [`fixed`](https://docs.rs/fixed) number has none of these traps. `Bits` is for a physics engine or an emulator
/// that comes with floats and promises determinism.
///
/// ```
/// use rebout::fields::Bits;
/// use rebout::{diff, fields};
///
/// #[derive(Clone, Copy)]
/// struct Ball { height: Bits<f32>, speed: Bits<f64> }
/// fields!(Ball { height, speed });
///
/// let ball = Ball { height: Bits(1.0), speed: Bits(-0.5) };
/// let mut other = ball;
/// *other.height = f32::from_bits(other.height.to_bits() + 1);
/// assert_eq!(diff(&ball, &other)[0].to_string(), "height: 1.0 / 1.0000001");
/// ```
///
/// Two zeros of different sign and two NaNs with different payloads are different states.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Bits<T>(pub T);

impl<T> Deref for Bits<T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Bits<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T> From<T> for Bits<T> {
    #[inline]
    fn from(value: T) -> Self {
        Self(value)
    }
}

/// Prints the shortest decimal that stands for exactly this value; for a NaN its bits too, which tell two of them apart.
macro_rules! bits {
    ($($type:ty, $digits:literal: |$bits:ident| $words:expr;)*) => {$(
        impl Fields for Bits<$type> {
            #[inline]
            fn visit<V: Visitor>(&self, visitor: &mut V) {
                let $bits = self.0.to_bits();
                visitor.leaf(&$words, self);
            }

            #[inline]
            fn visit_items<V: Visitor>(items: &[Self], visitor: &mut V) {
                visitor.numbers(items);
            }
        }

        impl Scalar for Bits<$type> {
            const BYTES: usize = size_of::<Self>();

            #[inline]
            fn bits(&self) -> u64 {
                Scalar::bits(&self.0.to_bits())
            }
        }

        impl fmt::Display for Bits<$type> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                if self.0.is_nan() {
                    write!(f, concat!("NaN ({:#0", $digits, "x})"), self.0.to_bits())
                } else {
                    write!(f, "{:?}", self.0)
                }
            }
        }
    )*};
}
bits!(
    f32, "10": |bits| [bits];
    f64, "18": |bits| [bits as u32, (bits >> 32) as u32];
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{checksum, diff};

    #[test]
    fn bits_are_hashed_low_word_first() {
        assert_eq!(checksum(&Bits(1.5_f32)), checksum(&1.5_f32.to_bits()));
        assert_eq!(checksum(&Bits(-1.5_f64)), checksum(&(-1.5_f64).to_bits()));
    }

    #[test]
    fn values_that_are_equal_but_not_the_same_differ() {
        let shown =
            |a: Bits<f32>, b: Bits<f32>| diff(&a, &b).first().map(|d| (d.left.clone(), d.right.clone()));
        let text = |a: &str, b: &str| Some((Some(a.to_owned()), Some(b.to_owned())));
        assert_eq!(shown(Bits(0.0), Bits(-0.0)), text("0.0", "-0.0"));
        let nan = |bits| Bits(f32::from_bits(bits));
        assert_eq!(shown(nan(0x7fc0_0000), nan(0x7fc0_0001)), text("NaN (0x7fc00000)", "NaN (0x7fc00001)"));
        assert_eq!(shown(nan(0x7fc0_0000), nan(0x7fc0_0000)), None);
    }
}
