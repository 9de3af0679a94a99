//! The snapshots of the last frames, in slots that are allocated once and reused.

use crate::Frame;

/// Holds a snapshot for each of the last few frames, without a gap.
///
/// The number of slots is exactly the number needed, and not a power of two: the size of all snapshots together
/// decides whether they stay in the cache. The slots need no tags: without a gap, the newest frame tells which frame
/// each slot holds.
#[derive(Clone, Debug)]
pub(super) struct Snapshots<S> {
    slots: Box<[S]>,
    /// The slot of the newest frame.
    newest: usize,
    /// The frame after the newest.
    next: Frame,
    /// How many frames are held.
    len: u32,
    /// A bit for each slot whose snapshot was released. Its frame reads as absent until the slot is claimed again.
    released: u32,
}

impl<S> Snapshots<S> {
    pub(super) fn new(capacity: u32, mut make: impl FnMut() -> S) -> Self {
        debug_assert!(capacity <= u32::BITS, "a bit for each slot");
        let slots = (0..capacity).map(|_| make()).collect();
        Self { slots, newest: 0, next: Frame::ZERO, len: 0, released: 0 }
    }

    /// Drops all frames. The next one to be saved is `frame`.
    pub(super) fn restart(&mut self, frame: Frame) {
        (self.next, self.len, self.released) = (frame, 0, 0);
    }

    /// The slot for the snapshot of `frame`, with its old contents, to be overwritten. `frame` is one that is held,
    /// or the next one, which takes the slot of the oldest.
    #[inline]
    pub(super) fn claim(&mut self, frame: Frame) -> Option<&mut S> {
        if frame != self.next {
            return self.index(frame).and_then(|index| self.slots.get_mut(index));
        }
        self.newest = if self.newest + 1 < self.slots.len() { self.newest + 1 } else { 0 };
        self.next = frame.next();
        self.len = (self.len + 1).min(self.slots.len() as u32);
        self.released &= !(1 << self.newest);
        self.slots.get_mut(self.newest)
    }

    #[inline]
    pub(super) fn get(&self, frame: Frame) -> Option<&S> {
        self.index(frame).and_then(|index| self.slots.get(index))
    }

    /// Releases the slot of a frame, whose contents the caller may swap. The frame reads as absent from now on.
    #[inline]
    pub(super) fn release(&mut self, frame: Frame) -> Option<&mut S> {
        let index = self.index(frame)?;
        self.released |= 1 << index;
        self.slots.get_mut(index)
    }

    /// The slot of a frame that is held and was not released.
    #[inline]
    fn index(&self, frame: Frame) -> Option<usize> {
        if frame >= self.next || self.next.0 - frame.0 > self.len {
            return None;
        }
        let back = (self.next.0 - frame.0 - 1) as usize;
        let index =
            if back <= self.newest { self.newest - back } else { self.newest + self.slots.len() - back };
        if self.released >> index & 1 == 0 { Some(index) } else { None }
    }

    /// Drops every frame after `frame`. If that is not held, it is the next to be saved and no other is held.
    pub(super) fn truncate_after(&mut self, frame: Frame) {
        match self.index(frame) {
            Some(index) => {
                self.len -= self.next.0 - frame.0 - 1;
                (self.newest, self.next) = (index, frame.next());
            }
            None if frame == self.next => {}
            None => self.restart(frame),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rollback::ring::FrameRing;

    fn held(snapshots: &Snapshots<u32>) -> Vec<(u32, u32)> {
        (0..100).filter_map(|frame| Some((frame, *snapshots.get(Frame(frame))?))).collect()
    }

    fn save(snapshots: &mut Snapshots<u32>, frame: u32, value: u32) {
        *snapshots.claim(Frame(frame)).unwrap() = value;
    }

    #[test]
    fn last_frames_are_held_whatever_was_saved_again() {
        for capacity in 2..12 {
            let mut snapshots = Snapshots::new(capacity, || 0);
            let mut model = FrameRing::new(128, || 0);
            for frame in 0..90 {
                save(&mut snapshots, frame, frame);
                model.insert(Frame(frame), frame);
                let again = frame.saturating_sub(frame * 7 % capacity);
                save(&mut snapshots, again, 1000 + frame);
                model.insert(Frame(again), 1000 + frame);
                let first = (frame + 1).saturating_sub(capacity);
                let expected: Vec<_> = (first..=frame).map(|f| (f, *model.get(Frame(f)).unwrap())).collect();
                assert_eq!(held(&snapshots), expected, "capacity {capacity}");
            }
        }
    }

    #[test]
    fn only_held_frames_and_the_next_can_be_claimed() {
        let mut snapshots = Snapshots::new(3, || 0);
        (0..5).for_each(|frame| save(&mut snapshots, frame, frame));
        assert!(snapshots.claim(Frame(1)).is_none(), "given up");
        assert!(snapshots.claim(Frame(6)).is_none(), "would leave a gap");
        assert!(snapshots.get(Frame(5)).is_none() && snapshots.get(Frame(u32::MAX)).is_none());
        assert_eq!(held(&snapshots), [(2, 2), (3, 3), (4, 4)]);
    }

    #[test]
    fn rewind_drops_later_snapshots() {
        let mut snapshots = Snapshots::new(4, || 0);
        (0..6).for_each(|frame| save(&mut snapshots, frame, frame));
        snapshots.truncate_after(Frame(3));
        assert_eq!(held(&snapshots), [(2, 2), (3, 3)]);
        (4..7).for_each(|frame| save(&mut snapshots, frame, 10 * frame));
        assert_eq!(held(&snapshots), [(3, 3), (4, 40), (5, 50), (6, 60)]);
        snapshots.truncate_after(Frame(7));
        save(&mut snapshots, 7, 70);
        assert_eq!(held(&snapshots), [(4, 40), (5, 50), (6, 60), (7, 70)]);
        snapshots.truncate_after(Frame(1));
        assert!(held(&snapshots).is_empty(), "too far back");
        save(&mut snapshots, 1, 9);
        assert_eq!(held(&snapshots), [(1, 9)]);
        snapshots.restart(Frame(0));
        save(&mut snapshots, 0, 9);
        assert_eq!(held(&snapshots), [(0, 9)]);
    }

    #[test]
    fn released_snapshot_is_handed_out_and_reads_as_absent() {
        let mut snapshots = Snapshots::new(3, || 0);
        for frame in 0..4 {
            save(&mut snapshots, frame, frame * 10);
        }
        assert_eq!(snapshots.release(Frame(2)), Some(&mut 20));
        assert_eq!(snapshots.release(Frame(2)), None);
        assert_eq!(held(&snapshots), [(1, 10), (3, 30)]);
        for frame in 4..6 {
            save(&mut snapshots, frame, frame * 10);
        }
        assert_eq!(held(&snapshots), [(3, 30), (4, 40), (5, 50)], "its slot is used again");
    }
}
