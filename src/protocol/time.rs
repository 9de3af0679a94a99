//! Points and lengths of time inside the crate: two types, each one word of nanoseconds.
//!
//! Callers pass `Duration` for both, because that is what a driver has. A state machine converts once, where a call
//! comes in: `Time` and `Span` cannot be mixed up, and their arithmetic saturates, so no limit of a config can overflow.

use core::ops::{Add, Div, Mul, Sub};
use core::time::Duration;

/// A point in time on the clock of the calls, in nanoseconds. 584 years fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Time(u64);

/// A length of time in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Span(u64);

impl Time {
    /// The first point in time: a deadline of `ZERO` has always passed.
    pub(crate) const ZERO: Self = Self(0);

    /// A deadline that never comes.
    pub(crate) const NEVER: Self = Self(u64::MAX);

    /// The time since `earlier`; nothing if that is later.
    #[inline]
    pub(crate) fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    /// This point moved by a signed number of nanoseconds.
    #[inline]
    pub(crate) fn shifted(self, nanos: i64) -> Self {
        Self(self.0.saturating_add_signed(nanos))
    }

    /// As a deadline at the seam: `None` if it never comes.
    #[inline]
    pub(crate) fn deadline(self) -> Option<Duration> {
        (self != Self::NEVER).then_some(Duration::from_nanos(self.0))
    }
}

impl Span {
    /// No time at all.
    pub(crate) const ZERO: Self = Self(0);

    #[inline]
    pub(crate) const fn from_secs(secs: u64) -> Self {
        Self(secs * 1_000_000_000)
    }

    #[inline]
    pub(crate) const fn from_millis(millis: u64) -> Self {
        Self(millis * 1_000_000)
    }

    #[inline]
    pub(crate) const fn from_micros(micros: u64) -> Self {
        Self(micros * 1_000)
    }

    #[inline]
    pub(crate) const fn nanos(self) -> u64 {
        self.0
    }

    pub(crate) fn checked_sub(self, other: Self) -> Option<Self> {
        self.0.checked_sub(other.0).map(Self)
    }

    #[cfg(feature = "authority")]
    pub(crate) fn seconds(self) -> f32 {
        (self.0 as f64 / 1e9) as f32
    }

    /// This average moved towards a sample, which counts for one in `weight`.
    #[inline]
    pub(crate) fn averaged(self, sample: Self, weight: u32) -> Self {
        (self * (weight - 1) + sample) / weight
    }

    #[inline]
    pub(crate) fn abs_diff(self, other: Self) -> Self {
        Self(self.0.abs_diff(other.0))
    }
}

impl From<Duration> for Time {
    #[inline]
    fn from(time: Duration) -> Self {
        Self(time.as_nanos() as u64)
    }
}

impl From<Duration> for Span {
    #[inline]
    /// A length beyond 584 years is never reached, and becomes the longest one.
    fn from(span: Duration) -> Self {
        Self(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl From<Time> for Duration {
    /// A point that never comes is the last one there is.
    #[inline]
    fn from(time: Time) -> Self {
        time.deadline().unwrap_or(Self::MAX)
    }
}

impl From<Span> for Duration {
    #[inline]
    fn from(span: Span) -> Self {
        Self::from_nanos(span.0)
    }
}

impl Add<Span> for Time {
    type Output = Self;
    #[inline]
    fn add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl Add for Span {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for Span {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Mul<u32> for Span {
    type Output = Self;
    #[inline]
    fn mul(self, times: u32) -> Self {
        Self(self.0.saturating_mul(u64::from(times)))
    }
}

impl Div<u32> for Span {
    type Output = Self;
    #[inline]
    fn div(self, by: u32) -> Self {
        Self(self.0 / u64::from(by))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_survives_conversion_to_a_duration() {
        assert_eq!(Time::ZERO + Span::from(Duration::MAX), Time::NEVER);
        assert_eq!(Duration::from(Time::NEVER), Duration::MAX);
        assert_eq!(Time::NEVER.deadline(), None);
        assert_eq!(Time::from(Duration::from_millis(3)).deadline(), Some(Duration::from_millis(3)));
    }

    #[test]
    fn arithmetic_saturates_at_both_ends() {
        let (early, late) = (Time::from(Duration::from_secs(1)), Time::from(Duration::from_secs(3)));
        assert_eq!(late.since(early), Span::from_secs(2));
        assert_eq!(early.since(late), Span::ZERO);
        assert_eq!(late + Span::from(Duration::MAX), Time::NEVER);
        assert_eq!(early.shifted(-2_000_000_000), Time::ZERO);
        assert_eq!(Span::from(Duration::MAX) * 2, Span::from(Duration::MAX));
        assert_eq!(Span::from_millis(1) - Span::from_millis(2), Span::ZERO);
    }
}
