//! The last values of some frames, found by frame.

use crate::Frame;

/// Holds the values of the last frames that were taken in, in slots that are made once and then reused.
///
/// Frames come in rising order and at any distance from each other. The slots are filled in turn and each knows its
/// frame, so that a value is never mistaken for that of another frame, whatever distance there is between two.
#[derive(Clone, Debug)]
pub(crate) struct Kept<T> {
    slots: Box<[(Option<Frame>, T)]>,
    /// The slot that is filled next.
    next: usize,
}

impl<T> Kept<T> {
    /// Room for the values of `capacity` frames or somewhat more: the next power of two.
    pub(crate) fn new(capacity: u32, mut make: impl FnMut() -> T) -> Self {
        let capacity = capacity.max(1).next_power_of_two();
        Self { slots: (0..capacity).map(|_| (None, make())).collect(), next: 0 }
    }

    /// Drops all values.
    pub(crate) fn clear(&mut self) {
        self.slots.iter_mut().for_each(|(held, _)| *held = None);
    }

    #[inline]
    fn back(&self, count: usize) -> &(Option<Frame>, T) {
        &self.slots[self.next.wrapping_sub(count) & (self.slots.len() - 1)]
    }

    /// The slot for a new frame, with the value that it held before; `None` if a frame as new or newer is held.
    #[inline]
    pub(crate) fn claim(&mut self, frame: Frame) -> Option<&mut T> {
        if self.back(1).0 >= Some(frame) {
            return None;
        }
        let at = self.next;
        self.next = (at + 1) & (self.slots.len() - 1);
        let (held, value) = &mut self.slots[at];
        *held = Some(frame);
        Some(value)
    }

    /// The value of a frame, if it is held.
    #[inline]
    pub(crate) fn get(&self, frame: Frame) -> Option<&T> {
        self.nearest(frame).filter(|(held, _)| *held == frame).map(|(_, value)| value)
    }

    /// The newest value up to and with `frame`.
    #[inline]
    pub(crate) fn nearest(&self, frame: Frame) -> Option<(Frame, &T)> {
        for count in 1..=self.slots.len() {
            let (held, value) = self.back(count);
            // From the newest on; an empty slot compares as older than any frame.
            if *held <= Some(frame) {
                return held.map(|held| (held, value));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(kept: &mut Kept<u32>, frame: u32) -> bool {
        kept.claim(Frame(frame)).map(|slot| *slot = frame).is_some()
    }

    fn held(kept: &Kept<u32>) -> Vec<u32> {
        let frames = (0..100).filter(|frame| kept.get(Frame(*frame)).is_some());
        frames.inspect(|frame| assert_eq!(kept.get(Frame(*frame)), Some(frame))).collect()
    }

    #[test]
    fn last_frames_are_held_whatever_the_distance_between_them() {
        let mut kept = Kept::new(3, || 0);
        assert!(held(&kept).is_empty());
        for (frame, expected) in [
            (0, &[0][..]),
            (30, &[0, 30]),
            (60, &[0, 30, 60]),
            (64, &[0, 30, 60, 64]),
            (65, &[30, 60, 64, 65]),
            (72, &[60, 64, 65, 72]),
        ] {
            assert!(put(&mut kept, frame));
            assert_eq!(held(&kept), expected);
        }
    }

    #[test]
    fn frame_that_is_not_newer_is_refused() {
        let mut kept = Kept::new(4, || 0);
        assert!(put(&mut kept, 9));
        assert!(!put(&mut kept, 9) && !put(&mut kept, 5));
        assert_eq!(held(&kept), [9]);
    }

    #[test]
    fn highest_frame_number_is_a_frame_like_any_other() {
        let mut kept = Kept::new(1, || 7);
        assert_eq!(kept.get(Frame(u32::MAX)), None);
        assert!(put(&mut kept, u32::MAX));
        assert_eq!(kept.get(Frame(u32::MAX)), Some(&u32::MAX));
    }
}
