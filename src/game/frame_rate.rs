//! The frame rate of a game, as an exact fraction.

use core::fmt;
use core::time::Duration;

/// Frames a second, as a fraction in lowest terms, from 1 to 1,000.
///
/// Consoles do not run at whole numbers: a NES has 39,375,000 / 655,171 frames a second, which is about 60.0988. Frames
/// are due by the exact fraction, so that a long match does not drift away from the sound and the clock of an emulator.
/// The rate of both machines must be equal.
///
/// ```
/// use core::time::Duration;
/// use rebout::FrameRate;
///
/// let game_boy = FrameRate::ratio(4_194_304, 70_224);
/// assert_eq!(game_boy.to_string(), "262144/4389 (59.7275)");
/// assert_eq!(FrameRate::hz(60).time_of(90), Duration::from_millis(1_500));
/// ```
///
/// Any numbers can be given. [`Config::check`](crate::Config::check) refuses a rate outside the limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FrameRate {
    numerator: u32,
    denominator: u32,
}

impl FrameRate {
    /// The greatest number of frames a second. The least is 1.
    pub(crate) const MAX_HZ: u32 = 1_000;

    /// A whole number of frames a second.
    #[must_use]
    pub const fn hz(frames: u32) -> Self {
        Self { numerator: frames, denominator: 1 }
    }

    /// A number of frames in a number of seconds. For a console: its clock, and the clocks of a frame.
    #[must_use]
    pub const fn ratio(frames: u32, seconds: u32) -> Self {
        let (mut divisor, mut rest) = (frames, seconds);
        while rest != 0 {
            (divisor, rest) = (rest, divisor % rest);
        }
        match divisor {
            0 => Self { numerator: 0, denominator: 0 },
            _ => Self { numerator: frames / divisor, denominator: seconds / divisor },
        }
    }

    /// The fraction that a number such as libretro's `timing.fps` stands for: 60.098813897440515 is 39375000/655171.
    ///
    /// Both machines must compute the rate from the same number. A number outside the limits gives a rate outside them.
    #[must_use]
    pub fn from_f64(hz: f64) -> Self {
        let max = f64::from(Self::MAX_HZ);
        if !(1.0..=max).contains(&hz) {
            return Self::hz(if hz > max { hz.ceil() } else { hz } as u32);
        }
        // The convergents of the number's continued fraction, in integers: the number is an exact fraction of its
        // mantissa by a power of two. The last one that fits is nearer than the number's own precision, or is the number.
        let bits = hz.to_bits();
        let fraction_bits = 1_075 - (bits >> 52);
        let (mut high, mut low) = (bits & ((1 << 52) - 1) | 1 << 52, 1_u64 << fraction_bits);
        let (mut before, mut convergent) = ((0_u32, 1_u32), (1_u32, 0_u32));
        while low != 0 {
            let (whole, rest) = (high / low, high % low);
            let next = |before: u32, now: u32| {
                whole.checked_mul(now.into())?.checked_add(before.into())?.try_into().ok()
            };
            let (Some(numerator), Some(denominator)) =
                (next(before.0, convergent.0), next(before.1, convergent.1))
            else {
                break;
            };
            (before, convergent) = (convergent, (numerator, denominator));
            (high, low) = (low, rest);
        }
        Self { numerator: convergent.0, denominator: convergent.1 }
    }

    /// The numerator of the fraction in lowest terms.
    #[must_use]
    pub const fn numerator(self) -> u32 {
        self.numerator
    }

    /// The denominator of the fraction in lowest terms.
    #[must_use]
    pub const fn denominator(self) -> u32 {
        self.denominator
    }

    /// How long this many frames take, rounded down to nanoseconds. It is exact for any number of them.
    #[must_use]
    pub fn time_of(self, frames: u32) -> Duration {
        let nanos = u128::from(frames) * u128::from(self.denominator) * 1_000_000_000;
        let nanos = nanos / u128::from(self.numerator.max(1));
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// The length of a frame, rounded down to nanoseconds.
    #[must_use]
    pub fn frame_length(self) -> Duration {
        self.time_of(1)
    }

    /// Whether the rate is within the limits and, as one from outside may not be, in lowest terms.
    pub(crate) fn is_valid(self) -> bool {
        let (numerator, denominator) = (u64::from(self.numerator), u64::from(self.denominator));
        (denominator..=denominator * u64::from(Self::MAX_HZ)).contains(&numerator)
            && self == Self::ratio(self.numerator, self.denominator)
            && denominator > 0
    }

    /// The rate as one number: the numerator in the upper half, the denominator in the lower.
    pub(crate) const fn to_bits(self) -> u64 {
        (self.numerator as u64) << 32 | self.denominator as u64
    }

    /// A rate from outside, which may be any.
    pub(crate) const fn from_bits(bits: u64) -> Self {
        Self { numerator: (bits >> 32) as u32, denominator: bits as u32 }
    }
}

/// 60 frames a second.
impl Default for FrameRate {
    fn default() -> Self {
        Self::hz(60)
    }
}

/// The whole number, or the fraction with its value in brackets: `60`, `262144/4389 (59.7275)`.
impl fmt::Display for FrameRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { numerator, denominator } = self;
        match denominator {
            0 => write!(f, "{numerator}/0"),
            1 => write!(f, "{numerator}"),
            _ => {
                let value = u64::from(*numerator) * 10_000 / u64::from(*denominator);
                write!(f, "{numerator}/{denominator} ({}.{:04})", value / 10_000, value % 10_000)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_in_lowest_terms() {
        assert_eq!(FrameRate::ratio(120, 2), FrameRate::hz(60));
        assert_eq!(FrameRate::ratio(4_194_304, 70_224).to_string(), "262144/4389 (59.7275)");
        assert_eq!(FrameRate::ratio(u32::MAX, u32::MAX), FrameRate::hz(1));
        assert_eq!(FrameRate::ratio(39_375_000, 655_171).to_string(), "39375000/655171 (60.0988)");
    }

    #[test]
    fn only_rates_from_1_to_1000_are_valid() {
        for valid in [FrameRate::hz(1), FrameRate::hz(1_000), FrameRate::ratio(u32::MAX, u32::MAX - 1)] {
            assert!(valid.is_valid(), "{valid}");
            assert_eq!(FrameRate::from_bits(valid.to_bits()), valid);
        }
        let beyond = [(0, 1), (1, 0), (0, 0), (1_001, 1), (65_535, 1), (1, 2), (u32::MAX, 1), (1, u32::MAX)];
        for (numerator, denominator) in beyond {
            let rate = FrameRate::ratio(numerator, denominator);
            assert!(!rate.is_valid(), "{rate}");
            let _ = (rate.time_of(u32::MAX), rate.frame_length());
        }
        assert!(!FrameRate::from_bits(120 << 32 | 2).is_valid(), "not in lowest terms");
    }

    #[test]
    fn times_of_many_frames_are_exact() {
        let rate = FrameRate::ratio(39_375_000, 655_171);
        assert_eq!(rate.frame_length(), Duration::from_nanos(16_639_263), "16,639,263.49...");
        assert_eq!(rate.time_of(39_375_000), Duration::from_secs(655_171));
        assert_eq!(FrameRate::hz(1).time_of(u32::MAX), Duration::from_secs(u32::MAX.into()));
    }

    #[test]
    fn floats_of_emulators_become_their_fractions() {
        let exact = |numerator: u32, denominator: u32| {
            let rate = FrameRate::ratio(numerator, denominator);
            assert_eq!(FrameRate::from_f64(f64::from(numerator) / f64::from(denominator)), rate);
        };
        for (numerator, denominator) in [
            (39_375_000, 655_171),
            (21_477_272, 357_366),
            (4_194_304, 70_224),
            (60_000, 1_001),
            (5_982, 100),
            (50_007, 1_000),
            (59_185_606, 1_000_000),
            (1, 1),
            (1_000, 1),
            (999_999, 1_000),
        ] {
            exact(numerator, denominator);
        }
        let third = FrameRate::from_f64(core::f64::consts::PI * 19.0);
        let value = f64::from(third.numerator()) / f64::from(third.denominator());
        assert!((value - core::f64::consts::PI * 19.0).abs() < 1e-12, "{third}");
    }

    #[test]
    fn floats_outside_the_limits_are_not_valid() {
        for hz in
            [0.0, -60.0, 0.999, 1_000.000_1, 65_535.0, 1e300, f64::NAN, f64::INFINITY, f64::MIN_POSITIVE]
        {
            assert!(!FrameRate::from_f64(hz).is_valid(), "{hz}");
        }
    }
}
