//! A ring of slots, each tagged with the frame it holds.

use crate::Frame;

/// A ring buffer with one value for each of the last few frames. Its slots are allocated once and reused.
///
/// A slot whose tag is not the requested frame reads as absent, never as stale data; a late write never overwrites
/// a newer frame.
#[derive(Clone, Debug)]
pub(crate) struct FrameRing<T> {
    slots: Box<[Slot<T>]>,
}

#[derive(Clone, Debug)]
struct Slot<T> {
    /// `frame + 1`, which fits a `u64` for every frame; 0 marks an empty slot. One comparison, where an
    /// `Option<Frame>` would take two.
    tag: u64,
    value: T,
}

#[inline]
fn tag(frame: Frame) -> u64 {
    u64::from(frame.0) + 1
}

impl<T> FrameRing<T> {
    /// A ring for the last `capacity` frames, rounded up to a power of two.
    ///
    /// # Panics
    /// If `capacity` is more than 2^31.
    pub(crate) fn new(capacity: u32, mut make: impl FnMut() -> T) -> Self {
        let capacity = capacity.max(1).checked_next_power_of_two().expect("a ring has at most 2^31 slots");
        Self { slots: (0..capacity).map(|_| Slot { tag: 0, value: make() }).collect() }
    }

    #[inline]
    fn index(&self, frame: Frame) -> usize {
        frame.0 as usize & (self.slots.len() - 1)
    }

    /// Drops all values.
    pub(crate) fn clear(&mut self) {
        self.slots.iter_mut().for_each(|slot| slot.tag = 0);
    }

    /// The value of `frame`, if the ring still holds it.
    #[inline]
    #[must_use]
    pub(crate) fn get(&self, frame: Frame) -> Option<&T> {
        let slot = &self.slots[self.index(frame)];
        if slot.tag == tag(frame) { Some(&slot.value) } else { None }
    }

    /// Tags the slot of `frame` and returns it with its old value, to be overwritten in place.
    ///
    /// `None` if the slot holds a newer frame.
    #[inline]
    #[must_use = "the slot still holds its old value"]
    pub(crate) fn claim(&mut self, frame: Frame) -> Option<&mut T> {
        let slot = &mut self.slots[self.index(frame)];
        if slot.tag > tag(frame) {
            return None;
        }
        slot.tag = tag(frame);
        Some(&mut slot.value)
    }

    /// Stores `value` for `frame`, unless the slot holds a value for it or for a newer frame.
    #[inline]
    pub(crate) fn insert_first(&mut self, frame: Frame, value: T) {
        let index = self.index(frame);
        let slot = &mut self.slots[index];
        if slot.tag < tag(frame) {
            *slot = Slot { tag: tag(frame), value };
        }
    }

    /// Stores `value` for `frame`; `false` if the slot holds a newer frame.
    #[inline]
    pub(crate) fn insert(&mut self, frame: Frame, value: T) -> bool {
        match self.claim(frame) {
            Some(slot) => {
                *slot = value;
                true
            }
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(ring: &FrameRing<u32>, frames: core::ops::Range<u32>) -> Vec<u32> {
        frames.filter(|f| ring.get(Frame(*f)).is_some()).collect()
    }

    #[test]
    fn ring_holds_the_last_frames_and_no_other() {
        let mut ring = FrameRing::new(5, || 0);
        assert!(held(&ring, 0..20).is_empty());
        for frame in 0..20 {
            assert!(ring.insert(Frame(frame), frame * 2));
        }
        assert_eq!(held(&ring, 0..40), (12..20).collect::<Vec<_>>());
        assert_eq!(ring.get(Frame(15)), Some(&30));
    }

    #[test]
    fn late_write_changes_nothing() {
        let mut ring = FrameRing::new(4, || 0);
        ring.insert(Frame(9), 9);
        assert!(ring.claim(Frame(5)).is_none());
        assert!(!ring.insert(Frame(1), 1));
        assert_eq!(ring.get(Frame(9)), Some(&9));
        assert!(ring.insert(Frame(9), 10), "the same frame again is a correction");
        assert_eq!(ring.get(Frame(9)), Some(&10));
    }

    #[test]
    fn first_value_of_a_frame_stays() {
        let mut ring = FrameRing::new(4, || 0);
        for (frame, value) in [(1, 10), (1, 11), (5, 50), (1, 12)] {
            ring.insert_first(Frame(frame), value);
        }
        assert_eq!((ring.get(Frame(1)), ring.get(Frame(5))), (None, Some(&50)));
        ring.insert_first(Frame(2), 20);
        ring.insert_first(Frame(2), 21);
        assert_eq!(ring.get(Frame(2)), Some(&20));
    }

    #[test]
    fn last_number_is_a_frame_like_any_other() {
        let mut ring = FrameRing::new(4, || 7);
        assert_eq!(ring.get(Frame(u32::MAX)), None, "nothing is held yet");
        assert!(ring.insert(Frame(u32::MAX), 1));
        assert!(!ring.insert(Frame(3), 2), "older, in the same slot");
        assert_eq!(ring.get(Frame(u32::MAX)), Some(&1));
    }
}
