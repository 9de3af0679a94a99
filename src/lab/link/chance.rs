//! A probability as an integer, with which a seed gives the same draws on every machine.

use super::seeded::Seeded;
use std::fmt;

/// A probability in parts of a million.
///
/// ```
/// use rebout::lab::link::Chance;
///
/// assert_eq!(Chance::percent(3), Chance::per_million(30_000));
/// assert_eq!(Chance::from_percent(0.5), Ok(Chance::per_million(5_000)));
/// assert_eq!(
///     Chance::from_percent(120.0).unwrap_err().to_string(),
///     "a chance is between 0 and 100 percent, not 120"
/// );
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Chance(u32);

const CERTAIN: u32 = 1_000_000;

impl Chance {
    /// Probability 0.
    pub const NEVER: Self = Self(0);
    /// Probability 1.
    pub const ALWAYS: Self = Self(CERTAIN);

    /// `parts` of a million; a million and more is always.
    #[must_use]
    pub const fn per_million(parts: u32) -> Self {
        Self(if parts > CERTAIN { CERTAIN } else { parts })
    }

    /// Whole percent; 100 and more is always.
    #[must_use]
    pub const fn percent(percent: u32) -> Self {
        Self::per_million(percent.saturating_mul(10_000))
    }

    /// Percent as a float, rounded to the nearest part of a million.
    ///
    /// # Errors
    /// [`BadChance`] for anything outside 0 to 100, NaN included.
    pub fn from_percent(percent: f64) -> Result<Self, BadChance> {
        if !(0.0..=100.0).contains(&percent) {
            return Err(BadChance(percent));
        }
        Ok(Self((percent * 10_000.0).round() as u32))
    }

    /// The parts of a million.
    #[must_use]
    pub const fn parts(self) -> u32 {
        self.0
    }

    /// Draws whether it happens. [`NEVER`](Self::NEVER) consumes no draw.
    #[inline]
    pub(crate) fn hits(self, rng: &mut Seeded) -> bool {
        self.0 != 0 && rng.below(u64::from(CERTAIN)) < u64::from(self.0)
    }
}

impl fmt::Display for Chance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} %", f64::from(self.0) / 10_000.0)
    }
}

/// A percentage that is not from 0 to 100.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BadChance(
    /// The percentage.
    pub f64,
);

impl fmt::Display for BadChance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a chance is between 0 and 100 percent, not {}", self.0)
    }
}

impl std::error::Error for BadChance {}
