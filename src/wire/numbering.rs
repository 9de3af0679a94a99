//! Frame numbers as they travel: a match begins at a random number, not at 0.

use crate::Frame;
use core::fmt;

/// The number of a frame on the wire.
///
/// Its own type, because adding a wire number to a [`Frame`] of the match, or comparing the two, is always a mistake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WireFrame(pub u32);

impl fmt::Display for WireFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// Converts frames of one match to and from their numbers on the wire.
///
/// ```
/// use rebout::Frame;
/// use rebout::wire::{Numbering, WireFrame};
///
/// let numbering = Numbering::new(WireFrame(1_000));
/// assert_eq!(numbering.wire(Frame(5)), WireFrame(1_005));
/// assert_eq!(numbering.frame(WireFrame(1_005)), Some(Frame(5)));
/// assert_eq!(numbering.frame(WireFrame(999)), None, "before the match");
/// // An acknowledgement names the newest frame, the engine the first one that is missing.
/// assert_eq!(numbering.ack(Frame(0)), WireFrame(999), "nothing received yet");
/// assert_eq!(numbering.acked(WireFrame(1_004)), Some(Frame(5)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbering {
    first: WireFrame,
}

impl Numbering {
    /// Frame 0 of the match is `first` on the wire, 1..=2^31: an ack of nothing is the number before it.
    #[must_use]
    pub const fn new(first: WireFrame) -> Self {
        Self { first }
    }

    /// The number of frame 0.
    #[must_use]
    pub const fn first(self) -> WireFrame {
        self.first
    }

    /// The number of `frame` on the wire.
    #[inline]
    #[must_use]
    pub const fn wire(self, frame: Frame) -> WireFrame {
        WireFrame(self.first.0.wrapping_add(frame.0))
    }

    /// The frame that has this number; `None` if it lies before the match.
    #[inline]
    #[must_use]
    pub const fn frame(self, wire: WireFrame) -> Option<Frame> {
        match wire.0.checked_sub(self.first.0) {
            Some(frame) => Some(Frame(frame)),
            None => None,
        }
    }

    /// The ack that says: all inputs before `next` are here.
    #[inline]
    #[must_use]
    pub const fn ack(self, next: Frame) -> WireFrame {
        WireFrame(self.first.0.wrapping_add(next.0).wrapping_sub(1))
    }

    /// The first frame that an ack does not cover; `None` if it names a frame before the match.
    #[inline]
    #[must_use]
    pub const fn acked(self, ack: WireFrame) -> Option<Frame> {
        match ack.0.checked_sub(self.first.0.wrapping_sub(1)) {
            Some(next) => Some(Frame(next)),
            None => None,
        }
    }
}
