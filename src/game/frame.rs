//! The frame number: the one clock that both machines share.

use core::fmt;

/// The number of a frame. Input `f` drives state `f` to state `f + 1`.
///
/// There is no null frame: "none yet" is `Option<Frame>`.
///
/// ```
/// use rebout::Frame;
///
/// let frame = Frame(7);
/// assert_eq!(frame.next(), Frame(8));
/// assert_eq!(frame.checked_sub(8), None);
/// assert_eq!(Frame(9).since(frame), 2);
/// assert_eq!(frame.since(Frame(9)), 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Frame(pub u32);

impl Frame {
    /// The first frame of a match.
    pub const ZERO: Self = Self(0);

    /// The frame after this one.
    #[inline]
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }

    /// The frame `count` frames later.
    #[inline]
    #[must_use]
    pub const fn plus(self, count: u32) -> Self {
        Self(self.0.wrapping_add(count))
    }

    /// The frame `count` frames earlier, if there is one.
    #[inline]
    #[must_use]
    pub const fn checked_sub(self, count: u32) -> Option<Self> {
        match self.0.checked_sub(count) {
            Some(frame) => Some(Self(frame)),
            None => None,
        }
    }

    /// How many frames this one is later than `earlier`; 0 if it is not later.
    #[inline]
    #[must_use]
    pub const fn since(self, earlier: Self) -> u32 {
        self.0.saturating_sub(earlier.0)
    }

    /// The frames from this one up to, but not including, `end`.
    #[inline]
    pub fn until(self, end: Self) -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator {
        (self.0..end.0).map(Self)
    }
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}
