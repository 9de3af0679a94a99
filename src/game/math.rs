//! Fixed-point numbers for a simulation: the same bits on every machine, in every build profile.
//!
//! [`Fx`] has 16 bits before the point and 16 after: one 32-bit word in the state and in its checksum, room for a
//! stage of 65,536 units with steps of 1/65,536, and products that fit an `i64` without loss.
//!
//! Nothing in this module panics. Results that are too large *saturate* at [`Fx::MAX`] or [`Fx::MIN`]; results between
//! two numbers are *rounded to the nearest, halves away from zero*. Rounding is therefore symmetric, and a mirrored
//! stage favours neither player. Angles are in 1/65,536 of a turn: a `u16` *wraps* as angles do.
//!
//! The operators of [`Fx`] itself come from the `fixed` crate: `+`, `-` and `*` panic on overflow in a debug build
//! and wrap in a release build, and `*` and `/` round down. Where an overflow is possible, use [`mul`], [`div`],
//! `saturating_add` and their like, or [`Vec2`], whose operators all saturate.
//!
//! ```
//! use rebout::math::{Fx, Vec2, cos, sin};
//!
//! let mut position = Vec2::new(Fx::lit("2.5"), Fx::ZERO);
//! let eighth = 1 << 13;
//! position += Vec2::new(cos(eighth), sin(eighth)) * Fx::lit("4");
//! assert_eq!(position.y.to_string(), "2.82843");
//! ```

use core::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

/// A signed fixed-point number, 16 bits before the point and 16 after.
pub type Fx = fixed::types::I16F16;

const FRAC_BITS: u32 = 16;

/// The square root, rounded down.
#[inline]
#[must_use]
pub const fn isqrt(n: u64) -> u32 {
    // The root of a u64 is at most u32::MAX.
    n.isqrt() as u32
}

/// The square root, rounded down to a multiple of 1/65,536; 0 for a negative number.
#[inline]
#[must_use]
pub const fn sqrt(x: Fx) -> Fx {
    let bits = x.to_bits();
    if bits <= 0 {
        return Fx::ZERO;
    }
    // At most sqrt(2^47), far below i32::MAX.
    Fx::from_bits(isqrt((bits as u64) << FRAC_BITS) as i32)
}

/// `a * b`, rounded to the nearest and saturating.
#[inline]
#[must_use]
pub const fn mul(a: Fx, b: Fx) -> Fx {
    saturated(nearest(a.to_bits() as i64 * b.to_bits() as i64, 1 << FRAC_BITS))
}

/// `a / b`, rounded to the nearest and saturating. Division by 0 saturates with the sign of `a`, and 0 / 0 is 0.
#[inline]
#[must_use]
pub const fn div(a: Fx, b: Fx) -> Fx {
    let (a, b) = (a.to_bits() as i64, b.to_bits() as i64);
    if b == 0 {
        return saturated(a << 32);
    }
    saturated(nearest(if b < 0 { -a } else { a } << FRAC_BITS, b.abs()))
}

/// `x` limited to `low..=high`; `low` if `high` is less than `low`.
#[inline]
#[must_use]
pub fn clamp(x: Fx, low: Fx, high: Fx) -> Fx {
    x.min(high).max(low)
}

/// The sine of an angle in 1/65,536 of a turn, within 1/65,536 of the true value.
#[inline]
#[must_use]
pub const fn sin(angle: u16) -> Fx {
    let within = angle & (QUARTER_TURN - 1);
    let rising = if angle & QUARTER_TURN == 0 { within } else { QUARTER_TURN - within };
    let magnitude = quarter_sine(rising);
    Fx::from_bits(if angle & HALF_TURN == 0 { magnitude } else { -magnitude })
}

/// The cosine of an angle in 1/65,536 of a turn, within 1/65,536 of the true value.
#[inline]
#[must_use]
pub const fn cos(angle: u16) -> Fx {
    sin(angle.wrapping_add(QUARTER_TURN))
}

/// A vector in the plane. All its operators saturate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Vec2 {
    /// Horizontal part.
    pub x: Fx,
    /// Vertical part.
    pub y: Fx,
}

impl Vec2 {
    /// The vector of length 0.
    pub const ZERO: Self = Self::new(Fx::ZERO, Fx::ZERO);

    /// A vector from its two parts.
    #[inline]
    #[must_use]
    pub const fn new(x: Fx, y: Fx) -> Self {
        Self { x, y }
    }

    /// A vector of length 1 in the direction of `angle`, in 1/65,536 of a turn from the x axis towards the y axis.
    #[inline]
    #[must_use]
    pub const fn from_angle(angle: u16) -> Self {
        Self::new(cos(angle), sin(angle))
    }

    /// The scalar product, rounded once and saturating.
    #[inline]
    #[must_use]
    pub const fn dot(self, other: Self) -> Fx {
        let x = self.x.to_bits() as i64 * other.x.to_bits() as i64;
        let y = self.y.to_bits() as i64 * other.y.to_bits() as i64;
        // Only (MIN, MIN) with itself reaches 2^63; saturated, it saturates the result just the same.
        saturated(nearest(x.saturating_add(y), 1 << FRAC_BITS))
    }

    /// The length, rounded down and saturating.
    #[inline]
    #[must_use]
    pub const fn length(self) -> Fx {
        saturated(
            isqrt(length_squared(self.x.to_bits().unsigned_abs(), self.y.to_bits().unsigned_abs())) as i64
        )
    }

    /// The vector of length 1 in this direction; [`Vec2::ZERO`] has no direction and stays as it is.
    ///
    /// Each part is within 1/65,536 of the true value, for the shortest and for the longest vector.
    #[must_use]
    pub const fn normalized(self) -> Self {
        let (x, y) = (self.x.to_bits(), self.y.to_bits());
        let (width, height) = (x.unsigned_abs(), y.unsigned_abs());
        // Scale a short vector up, or its length would lose most of its digits.
        let shift = (width | height).leading_zeros();
        if shift == u32::BITS {
            return Self::ZERO;
        }
        // Take the length of half the vector, whose sum of squares fits a u64.
        let length = isqrt(length_squared((width << shift) >> 1, (height << shift) >> 1)) as i64 * 2;
        let (x, y) = ((x as i64) << shift, (y as i64) << shift);
        Self::new(saturated(nearest(x << FRAC_BITS, length)), saturated(nearest(y << FRAC_BITS, length)))
    }
}

impl Add for Vec2 {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self::new(self.x.saturating_add(other.x), self.y.saturating_add(other.y))
    }
}

impl Sub for Vec2 {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self::new(self.x.saturating_sub(other.x), self.y.saturating_sub(other.y))
    }
}

impl Neg for Vec2 {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        Self::new(self.x.saturating_neg(), self.y.saturating_neg())
    }
}

impl Mul<Fx> for Vec2 {
    type Output = Self;
    #[inline]
    fn mul(self, factor: Fx) -> Self {
        Self::new(mul(self.x, factor), mul(self.y, factor))
    }
}

impl AddAssign for Vec2 {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for Vec2 {
    #[inline]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

/// The sum of the squares of two magnitudes of at most 2^31; for larger ones it would overflow.
const fn length_squared(width: u32, height: u32) -> u64 {
    let (width, height) = (width as u64, height as u64);
    width * width + height * height
}

/// `n / d` rounded to the nearest, halves away from zero. Exact for `d` from 1 to 2^33 and `n` below 2^63 - 2^33;
/// larger `n` saturate.
const fn nearest(n: i64, d: i64) -> i64 {
    let half = d / 2;
    if n < 0 { n.saturating_sub(half) / d } else { n.saturating_add(half) / d }
}

const fn saturated(bits: i64) -> Fx {
    if bits > i32::MAX as i64 {
        Fx::MAX
    } else if bits < i32::MIN as i64 {
        Fx::MIN
    } else {
        Fx::from_bits(bits as i32)
    }
}

const HALF_TURN: u16 = 1 << 15;
const QUARTER_TURN: u16 = 1 << 14;
const TABLE_STEPS: usize = 256;
const TABLE_STEP: u16 = QUARTER_TURN / TABLE_STEPS as u16;
const TABLE_BITS: u32 = 30;

/// The sine of the first quarter turn, with 30 bits after the point. 256 steps keep linear interpolation within a
/// third of 1/65,536 of the curve.
static QUARTER_SINE: [u32; TABLE_STEPS + 1] = quarter_sine_table();

/// The sine of an angle of at most a quarter turn, with 16 bits after the point.
const fn quarter_sine(angle: u16) -> i32 {
    let at = (angle / TABLE_STEP) as usize;
    let part = (angle % TABLE_STEP) as u32;
    let low = QUARTER_SINE[at];
    let value = if part == 0 { low } else { low + (QUARTER_SINE[at + 1] - low) * part / TABLE_STEP as u32 };
    let drop = TABLE_BITS - FRAC_BITS;
    ((value + (1 << (drop - 1))) >> drop) as i32
}

/// Computes the table from the power series, in integers with 60 bits after the point. Without floats, every target
/// computes the same table.
const fn quarter_sine_table() -> [u32; TABLE_STEPS + 1] {
    const BITS: u32 = 60;
    // pi / 2 with 60 bits after the point.
    const HALF_PI: i128 = 1_811_004_864_519_280_711;
    let mut table = [0; TABLE_STEPS + 1];
    let mut at = 0;
    while at < table.len() {
        let x = HALF_PI * at as i128 / TABLE_STEPS as i128;
        let square = (x * x) >> BITS;
        let (mut term, mut sum, mut n) = (x, x, 1);
        while term != 0 {
            n += 2;
            term = -((term * square) >> BITS) / (n * (n - 1));
            sum += term;
        }
        let drop = BITS - TABLE_BITS;
        table[at] = ((sum + (1 << (drop - 1))) >> drop) as u32;
        at += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    const ULP: f64 = 1.0 / 65_536.0;

    fn fx(bits: i32) -> Fx {
        Fx::from_bits(bits)
    }

    fn exact(x: Fx) -> f64 {
        f64::from(x.to_bits()) * ULP
    }

    #[test]
    fn sine_has_these_bits_on_every_target() {
        let golden = [
            (0, 0),
            (1, 6),
            (100, 628),
            (8_192, 46_341),
            (12_345, 60_683),
            (16_384, 65_536),
            (20_000, 61_637),
            (32_768, 0),
            (40_000, -41_886),
            (49_152, -65_536),
            (65_535, -6),
        ];
        for (angle, bits) in golden {
            assert_eq!(sin(angle).to_bits(), bits, "angle {angle}");
        }
        // All of them in one number.
        let mut hash = crate::SimHash::new();
        (0..=u16::MAX).for_each(|angle| hash.word(sin(angle).to_bits().cast_unsigned()));
        assert_eq!(hash.finish(), 0x0C0E_FB85);
    }

    #[test]
    fn sine_and_cosine_are_within_one_step_of_the_true_value() {
        for angle in 0..=u16::MAX {
            let radians = f64::from(angle) / 65_536.0 * core::f64::consts::TAU;
            assert!((exact(sin(angle)) - radians.sin()).abs() < ULP, "sine of {angle}");
            assert!((exact(cos(angle)) - radians.cos()).abs() < ULP, "cosine of {angle}");
        }
    }

    #[test]
    fn sine_is_odd_and_repeats_with_opposite_sign_after_half_a_turn() {
        for angle in 0..=u16::MAX {
            assert_eq!(sin(angle.wrapping_neg()), -sin(angle));
            assert_eq!(sin(angle.wrapping_add(HALF_TURN)), -sin(angle));
        }
    }

    #[test]
    fn isqrt_is_the_largest_root_that_is_not_too_large() {
        for n in (0..70_000).chain([u64::from(u32::MAX), u64::MAX - 1, u64::MAX]) {
            let root = u128::from(isqrt(n));
            assert!(root * root <= u128::from(n) && (root + 1) * (root + 1) > u128::from(n), "{n}");
        }
    }

    #[test]
    fn roots_of_squares_are_exact() {
        assert_eq!(sqrt(Fx::lit("2.25")), Fx::lit("1.5"));
        assert_eq!(sqrt(Fx::MAX).to_bits(), 11_863_283);
        assert_eq!(sqrt(fx(1)), fx(256));
        assert_eq!(sqrt(Fx::ZERO), Fx::ZERO);
        assert_eq!(sqrt(Fx::MIN), Fx::ZERO);
    }

    #[test]
    fn products_and_quotients_round_to_the_nearest_and_mirror() {
        assert_eq!(mul(fx(3), Fx::lit("0.5")), fx(2));
        assert_eq!(mul(fx(-3), Fx::lit("0.5")), fx(-2));
        assert_eq!(mul(fx(1), Fx::lit("0.25")), fx(0));
        assert_eq!(div(Fx::ONE, Fx::lit("3")), fx(21_845));
        assert_eq!(div(-Fx::ONE, Fx::lit("3")), fx(-21_845));
        assert_eq!(div(Fx::ONE, -Fx::lit("3")), fx(-21_845));
        assert_eq!(div(Fx::lit("2"), Fx::lit("3")), fx(43_691));
    }

    #[test]
    fn products_and_quotients_saturate() {
        assert_eq!(mul(Fx::MIN, Fx::MIN), Fx::MAX);
        assert_eq!(mul(Fx::MIN, Fx::MAX), Fx::MIN);
        assert_eq!(div(Fx::MIN, fx(-1)), Fx::MAX);
        assert_eq!(div(Fx::MIN, fx(1)), Fx::MIN);
        assert_eq!(div(fx(1), Fx::ZERO), Fx::MAX);
        assert_eq!(div(fx(-1), Fx::ZERO), Fx::MIN);
        assert_eq!(div(Fx::ZERO, Fx::ZERO), Fx::ZERO);
    }

    #[test]
    fn clamp_takes_the_nearer_end_and_accepts_swapped_ends() {
        assert_eq!(clamp(fx(5), fx(1), fx(9)), fx(5));
        assert_eq!(clamp(fx(0), fx(1), fx(9)), fx(1));
        assert_eq!(clamp(fx(10), fx(1), fx(9)), fx(9));
        assert_eq!(clamp(fx(5), fx(9), fx(1)), fx(9));
    }

    #[test]
    fn vectors_saturate_instead_of_overflowing() {
        let corner = Vec2::new(Fx::MIN, Fx::MIN);
        assert_eq!(-corner, Vec2::new(Fx::MAX, Fx::MAX));
        assert_eq!(corner + corner, corner);
        assert_eq!(corner - Vec2::new(Fx::MAX, Fx::MAX), corner);
        assert_eq!(corner * Fx::MIN, Vec2::new(Fx::MAX, Fx::MAX));
        assert_eq!(corner.length(), Fx::MAX);
        assert_eq!(corner.dot(corner), Fx::MAX);
        assert_eq!(corner.dot(Vec2::new(Fx::MAX, Fx::MAX)), Fx::MIN);
    }

    #[test]
    fn length_is_exact_where_it_can_be() {
        let vector = Vec2::new(Fx::lit("3"), Fx::lit("-4"));
        assert_eq!(vector.length(), Fx::lit("5"));
        assert_eq!(vector.dot(vector), Fx::lit("25"));
        assert_eq!(
            vector.normalized(),
            Vec2::new(div(Fx::lit("3"), Fx::lit("5")), -div(Fx::lit("4"), Fx::lit("5")))
        );
    }

    #[test]
    fn normalizing_is_accurate_at_every_length_and_symmetric() {
        let parts = [0, 1, 2, 3, 100, 65_535, 65_536, 1 << 30, i32::MAX - 1, i32::MAX];
        for x in parts {
            for y in parts {
                if (x, y) == (0, 0) {
                    continue;
                }
                let unit = Vec2::new(fx(x), fx(y)).normalized();
                let length = f64::from(x).hypot(f64::from(y));
                assert!((exact(unit.x) - f64::from(x) / length).abs() < ULP, "{x} {y}");
                assert!((exact(unit.y) - f64::from(y) / length).abs() < ULP, "{x} {y}");
                assert_eq!(Vec2::new(fx(-x), fx(y)).normalized(), Vec2::new(-unit.x, unit.y), "{x} {y}");
                assert_eq!(Vec2::new(fx(y), fx(x)).normalized(), Vec2::new(unit.y, unit.x), "{x} {y}");
            }
        }
        assert_eq!(Vec2::ZERO.normalized(), Vec2::ZERO);
        assert_eq!(Vec2::new(Fx::MIN, Fx::ZERO).normalized(), Vec2::new(-Fx::ONE, Fx::ZERO));
    }

    #[test]
    fn unit_vector_points_along_its_angle() {
        assert_eq!(Vec2::from_angle(0), Vec2::new(Fx::ONE, Fx::ZERO));
        assert_eq!(Vec2::from_angle(QUARTER_TURN), Vec2::new(Fx::ZERO, Fx::ONE));
        assert_eq!(Vec2::from_angle(HALF_TURN), Vec2::new(-Fx::ONE, Fx::ZERO));
    }
}
