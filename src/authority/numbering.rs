//! Numbers of 32 bits that wrap: a server runs for longer than they count, and nobody is ever half of that away.

use crate::Frame;

/// How far `number` is ahead of `other`, across the wrap; negative if it is behind.
pub(crate) fn ahead(number: u32, other: u32) -> i32 {
    number.wrapping_sub(other).cast_signed()
}

/// The whole number whose low bits are `wire` and which is nearest to `near`.
pub(crate) fn nearest(near: u64, wire: u32) -> u64 {
    near.saturating_add_signed(i64::from(ahead(wire, near as u32)))
}

/// A point in time on a server's count of frames: a frame, and a part of the way to the next one.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct FrameTime(f64);

impl FrameTime {
    /// A point in time this many nanoseconds after frame 0, where a frame takes `frame_nanos`.
    pub(crate) fn of_nanos(nanos: i64, frame_nanos: i64) -> Self {
        Self(nanos as f64 / frame_nanos as f64)
    }

    /// The nanoseconds after frame 0, where a frame takes `frame_nanos`.
    pub(crate) fn nanos(self, frame_nanos: i64) -> i64 {
        (self.0 * frame_nanos as f64) as i64
    }

    /// How many frames this is later than `frame`; negative if it is earlier.
    #[must_use]
    pub fn since(self, frame: Frame) -> f64 {
        let whole = self.0.floor();
        f64::from(ahead(whole as i64 as u32, frame.0)) + (self.0 - whole)
    }
}

impl From<Frame> for FrameTime {
    fn from(frame: Frame) -> Self {
        Self(f64::from(frame.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_across_the_wrap() {
        let wrap = 1_u64 << 32;
        assert_eq!(nearest(5, 7), 7);
        assert_eq!(nearest(wrap - 2, 3), wrap + 3);
        assert_eq!(nearest(wrap + 3, 0xFFFF_FFFE), wrap - 2);
        assert_eq!(nearest(3, 0xFFFF_FFFE), 0, "nothing is before the first");
    }

    #[test]
    fn time_is_since_a_frame_across_the_wrap() {
        let late = FrameTime(f64::from(u32::MAX) + 3.25);
        let early = FrameTime::from(Frame(7)).since(Frame(9));
        assert_eq!((late.since(Frame(0)), late.since(Frame(u32::MAX)), early), (2.25, 3.25, -2.0));
    }
}
