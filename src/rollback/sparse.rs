//! The snapshots of some of the last frames, each tagged with its frame.

use crate::Frame;
use core::num::NonZero;

/// The most bases that are needed at a time: the one before the first uncertain frame, up to two after it that become
/// certain with their frames, and one that a rollback makes.
const MAX_BASES: u32 = 4;

/// Holds snapshots of few frames, from which the others are stepped again.
///
/// A *base* is a snapshot that the engine restores. A *checkpoint* is one that the caller takes away once its frame is
/// settled; it is therefore never counted as a base.
#[derive(Clone, Debug)]
pub(super) struct SparseSnapshots<S> {
    slots: Box<[(Option<Frame>, S)]>,
    /// One in this many frames is a checkpoint, if any is.
    cadence: Option<NonZero<u32>>,
    /// An uncertain frame becomes a base when the newest base is a window older, or when it soon will be: a rollback goes back
    /// at most a window beyond the oldest uncertain frame.
    window: u32,
    /// The frame after the last barrier, which is a base in any case: from it the frames before the next barrier are shown.
    after_barrier: Option<Frame>,
}

impl<S> SparseSnapshots<S> {
    pub(super) fn new(window: u32, cadence: u32, mut make: impl FnMut() -> S) -> Self {
        let cadence = NonZero::new(cadence);
        let checkpoints = cadence.map_or(0, |cadence| (window + 1) / cadence + 1);
        let slots = MAX_BASES.min(window + 1) + checkpoints;
        Self { slots: (0..slots).map(|_| (None, make())).collect(), cadence, window, after_barrier: None }
    }

    pub(super) fn clear(&mut self) {
        self.drop_all();
        self.after_barrier = None;
    }

    /// Drops every frame.
    pub(super) fn drop_all(&mut self) {
        self.slots.iter_mut().for_each(|(held, _)| *held = None);
    }

    fn is_checkpoint(&self, frame: Frame) -> bool {
        self.cadence.is_some_and(|cadence| frame.0 % cadence == 0)
    }

    /// The newest base up to and with `frame`.
    fn base(&self, frame: Frame) -> Option<Frame> {
        let held = self.slots.iter().filter_map(|(held, _)| *held);
        held.filter(|at| *at <= frame && !self.is_checkpoint(*at)).max()
    }

    /// Whether the state of `frame`, which is about to be stepped, has to be saved. `uncertain` is the first frame with a
    /// missing input.
    pub(super) fn wants(&self, frame: Frame, uncertain: Frame, resimulating: bool) -> bool {
        if self.is_checkpoint(frame) {
            return true;
        }
        // A frame that is stepped on confirmed inputs is never restored.
        let Some(base) = self.base(frame) else {
            return frame >= uncertain || self.after_barrier == Some(frame);
        };
        // A checkpoint cannot be the base, and the frame after it would be late.
        let due = if self.is_checkpoint(frame.next()) { frame.next() } else { frame };
        frame >= uncertain && (due.since(base) >= self.window || resimulating && base < uncertain)
    }

    /// The slot for the snapshot of `frame`, with its old contents, to be overwritten. `settled` is the first frame that
    /// is not settled: the caller has seen the checkpoints before it.
    pub(super) fn claim(&mut self, frame: Frame, settled: Frame) -> Option<&mut S> {
        let base = self.base(settled);
        let is_free = |held: Option<Frame>| {
            held.is_none_or(|at| if self.is_checkpoint(at) { at < settled } else { Some(at) < base })
        };
        let again = self.slots.iter().position(|(held, _)| *held == Some(frame));
        // The first free slot, so that the others stay out of the cache.
        let index = again.or_else(|| self.slots.iter().position(|(held, _)| is_free(*held)))?;
        let (held, snapshot) = self.slots.get_mut(index)?;
        *held = Some(frame);
        Some(snapshot)
    }

    pub(super) fn get(&self, frame: Frame) -> Option<&S> {
        self.slots.iter().find(|(held, _)| *held == Some(frame)).map(|(_, snapshot)| snapshot)
    }

    /// The newest snapshot up to and with `frame`.
    pub(super) fn nearest(&self, frame: Frame) -> Option<(Frame, &S)> {
        let held = self.slots.iter().filter_map(|(held, snapshot)| Some(((*held)?, snapshot)));
        held.filter(|(at, _)| *at <= frame).max_by_key(|(at, _)| *at)
    }

    /// Releases the slot of a frame, whose contents the caller may swap. The frame reads as absent from now on.
    pub(super) fn release(&mut self, frame: Frame) -> Option<&mut S> {
        let (held, snapshot) = self.slots.iter_mut().find(|(held, _)| *held == Some(frame))?;
        *held = None;
        Some(snapshot)
    }

    /// Drops every base up to and with `frame`. Checkpoints stay for the caller.
    pub(super) fn forget_bases_up_to(&mut self, frame: Frame) {
        self.after_barrier = Some(frame.next());
        let cadence = self.cadence;
        for (held, _) in &mut self.slots {
            *held = held.filter(|at| *at > frame || cadence.is_some_and(|cadence| at.0 % cadence == 0));
        }
    }

    /// Drops every frame after `frame`.
    pub(super) fn truncate_after(&mut self, frame: Frame) {
        for (held, _) in &mut self.slots {
            *held = held.filter(|at| *at <= frame);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(snapshots: &SparseSnapshots<u32>) -> Vec<u32> {
        let mut held: Vec<u32> =
            snapshots.slots.iter().filter_map(|(held, _)| Some(held.as_ref()?.0)).collect();
        held.sort_unstable();
        held
    }

    /// Steps frames on predictions, all of which turn out right `lag` frames later.
    fn step(snapshots: &mut SparseSnapshots<u32>, frames: core::ops::Range<u32>, lag: u32) -> Vec<u32> {
        let mut saved = Vec::new();
        for now in frames {
            let uncertain = Frame((now + 1).saturating_sub(lag));
            if snapshots.wants(Frame(now), uncertain, false) {
                let settled = Frame(now.saturating_sub(lag));
                *snapshots.claim(Frame(now), settled).expect("a free slot") = now;
                saved.push(now);
            }
        }
        saved
    }

    #[test]
    fn one_frame_in_a_window_is_saved_while_predictions_are_right() {
        let mut snapshots = SparseSnapshots::new(8, 0, || 0);
        assert_eq!(step(&mut snapshots, 0..30, 8), [0, 8, 16, 24]);
        assert_eq!(
            held(&snapshots),
            [16, 24],
            "a base before the first uncertain frame, 22, and one after it"
        );
        assert_eq!(snapshots.nearest(Frame(23)), Some((Frame(16), &16)));
    }

    #[test]
    fn checkpoint_is_saved_besides_and_brings_a_base_forward() {
        let mut snapshots = SparseSnapshots::new(8, 10, || 0);
        assert_eq!(step(&mut snapshots, 0..32, 4), [0, 1, 9, 10, 17, 20, 25, 30]);
        assert_eq!(snapshots.release(Frame(30)), Some(&mut 30));
        assert!(snapshots.get(Frame(30)).is_none() && snapshots.release(Frame(30)).is_none());
        assert_eq!(snapshots.nearest(Frame(30)), Some((Frame(25), &25)), "the caller may take a checkpoint");
    }

    #[test]
    fn frames_on_confirmed_inputs_are_not_saved() {
        let mut snapshots = SparseSnapshots::new(8, 0, || 0);
        assert!(step(&mut snapshots, 0..100, 0).is_empty());
        assert_eq!(step(&mut snapshots, 100..103, 1), [100], "the first that is uncertain");
        let mut lockstep = SparseSnapshots::new(0, 30, || 0);
        assert_eq!(step(&mut lockstep, 0..100, 0), [0, 30, 60, 90]);
    }

    #[test]
    fn rollback_moves_the_base_to_the_first_uncertain_frame() {
        let mut snapshots = SparseSnapshots::new(8, 0, || 0);
        step(&mut snapshots, 0..10, 8);
        snapshots.truncate_after(Frame(5));
        assert_eq!(held(&snapshots), [0], "the snapshot of frame 8 was mispredicted");
        let wanted = |frame| snapshots.wants(Frame(frame), Frame(8), true);
        assert_eq!([6, 7, 8, 9].map(wanted), [false, false, true, true]);
        *snapshots.claim(Frame(8), Frame(2)).unwrap() = 8;
        assert!(!snapshots.wants(Frame(9), Frame(8), true), "one is enough");
    }

    /// Plays with every frame confirmed as late as the window allows, and with a rollback to the oldest uncertain frame every
    /// `every` frames. Checkpoints are taken away once they are settled. Answers the most frames that a rollback would step.
    fn deepest(window: u32, cadence: u32, every: u32) -> u32 {
        let mut snapshots = SparseSnapshots::new(window, cadence, || 0);
        let mut deepest = 0;
        let save = |snapshots: &mut SparseSnapshots<u32>, frame, uncertain, resimulating| {
            if snapshots.wants(frame, uncertain, resimulating) {
                *snapshots.claim(frame, uncertain).expect("a free slot") = frame.0;
            }
        };
        for now in (0..300).map(Frame) {
            let uncertain = Frame((now.0 + 1).saturating_sub(window));
            for frame in (0..uncertain.0).map(Frame) {
                if snapshots.is_checkpoint(frame) {
                    snapshots.release(frame);
                }
            }
            save(&mut snapshots, now, uncertain, false);
            let (from, _) = snapshots.nearest(uncertain).expect("a base");
            deepest = deepest.max(now.next().since(from));
            if every > 0 && now.0.is_multiple_of(every) {
                snapshots.truncate_after(uncertain);
                uncertain.until(now.next()).for_each(|frame| save(&mut snapshots, frame, uncertain, true));
            }
        }
        deepest
    }

    /// A checkpoint is taken away once it is settled, and the frame after it would be a window and one frame late.
    #[test]
    fn base_due_at_a_checkpoint_is_taken_a_frame_earlier() {
        let mut snapshots = SparseSnapshots::new(4, 10, || 0);
        snapshots.claim(Frame(6), Frame(6)).expect("a free slot");
        let wanted = [7, 8, 9].map(|frame| snapshots.wants(Frame(frame), Frame(6), false));
        assert_eq!(wanted, [false, false, true]);
    }

    #[test]
    fn rollback_steps_at_most_twice_the_window() {
        for window in 1..=22 {
            for cadence in [0, 1, 2, 3, 5, 8, 9, 10, 16, 30] {
                for every in [0, 1, 3, 7, 20] {
                    let deepest = deepest(window, cadence, every);
                    assert!(
                        deepest <= 2 * window,
                        "window {window}, cadence {cadence}, every {every}: {deepest}"
                    );
                }
            }
        }
    }
}
