//! What is kept of the certain past, for the case that the two machines turn out to disagree about it.

use crate::fields::collect_words;
use crate::{Fields, Frame, FrameRing, Inputs};
use core::mem;

/// How many frames of confirmed inputs are kept: several checksums and a long round trip.
const INPUTS: u32 = 1_024;

/// How many states with a checksum are kept, at the least.
const CHECKPOINTS: u32 = 4;

/// A difference is noticed a round trip after its frame, and then the last match is a cadence before it: so many
/// frames are covered even if checksums are taken often, as long as that takes no more than so many bytes.
const COVERED: u32 = 48;
const COVERED_BYTES: usize = 16 * 1024 * 1024;

/// Every single state of so many frames is kept if that takes no more than so many bytes: then the first frame that
/// differs is known exactly, even if it cannot be reproduced.
const FRAMES: u32 = 128;
const FRAMES_BYTES: usize = 256 * 1024;

/// With more than that they are let go again.
const GROWN_BYTES: usize = 4 * FRAMES_BYTES;

/// Settled snapshots, taken from the engine's ring by swapping: nothing is copied, whatever a snapshot is made of.
#[derive(Clone, Debug)]
pub(crate) struct Archive<S> {
    cadence: u32,
    inputs: FrameRing<Inputs>,
    /// By frame / cadence.
    checkpoints: FrameRing<S>,
    frames: Option<FrameRing<S>>,
    /// For measuring a state.
    words: Vec<u32>,
    /// From here on nothing is taken in any more, so that what is needed is not overwritten.
    frozen_after: Option<Frame>,
}

impl<S: Fields> Archive<S> {
    pub(crate) fn new(cadence: u16, mut snapshot: impl FnMut() -> S) -> Self {
        let cadence = u32::from(cadence).max(1);
        let mut words = Vec::new();
        collect_words(&snapshot(), &mut words);
        let bytes = words.len() * 4;
        let small = bytes.saturating_mul(FRAMES as usize) <= FRAMES_BYTES;
        let affordable = u32::try_from(COVERED_BYTES / bytes.max(1)).unwrap_or(u32::MAX);
        let covering = if small { FRAMES.div_ceil(cadence) } else { COVERED / cadence + 2 };
        let checkpoints = covering.min(affordable).max(CHECKPOINTS);
        Self {
            cadence,
            inputs: FrameRing::new(INPUTS, Inputs::default),
            checkpoints: FrameRing::new(checkpoints, &mut snapshot),
            frames: (small && cadence > 1).then(|| FrameRing::new(FRAMES, &mut snapshot)),
            words,
            frozen_after: None,
        }
    }

    /// Whether there is a place for the state of this frame.
    #[inline]
    pub(crate) fn wants(&self, frame: Frame) -> bool {
        (self.frames.is_some() || frame.0.is_multiple_of(self.cadence))
            && self.frozen_after.is_none_or(|last| frame <= last)
    }

    /// Takes in the inputs of a frame that is certain.
    #[inline]
    pub(crate) fn settled(&mut self, frame: Frame, inputs: Inputs) {
        if self.frozen_after.is_none_or(|last| frame <= last) {
            self.inputs.insert(frame, inputs);
        }
    }

    /// Takes in the state of a frame that will not be restored any more, by swapping it with one that is forgotten.
    #[inline]
    pub(crate) fn swap(&mut self, frame: Frame, snapshot: &mut S) {
        let slot = if frame.0.is_multiple_of(self.cadence) {
            if self.frames.is_some() {
                // A state that began small may have grown.
                collect_words(snapshot, &mut self.words);
                if self.words.len() * 4 * FRAMES as usize > GROWN_BYTES {
                    self.frames = None;
                }
            }
            self.checkpoints.claim(Frame(frame.0 / self.cadence))
        } else {
            self.frames.as_mut().and_then(|frames| frames.claim(frame))
        };
        if let Some(slot) = slot {
            mem::swap(slot, snapshot);
        }
    }

    /// The state of a frame, if it is kept.
    #[inline]
    pub(crate) fn state(&self, frame: Frame) -> Option<&S> {
        if frame.0.is_multiple_of(self.cadence) {
            self.checkpoints.get(Frame(frame.0 / self.cadence))
        } else {
            self.frames.as_ref()?.get(frame)
        }
    }

    /// The confirmed inputs of a frame, if they are kept.
    pub(crate) fn inputs(&self, frame: Frame) -> Option<Inputs> {
        self.inputs.get(frame).copied()
    }

    /// Keeps what is here, and takes in nothing after `frame`.
    pub(crate) fn freeze_after(&mut self, frame: Frame) {
        self.frozen_after = Some(frame);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(archive: &Archive<Vec<u32>>, until: u32) -> Vec<u32> {
        (0..until).filter(|frame| archive.state(Frame(*frame)).is_some()).collect()
    }

    fn fill(archive: &mut Archive<Vec<u32>>, frames: core::ops::Range<u32>, words: usize) {
        for frame in frames.map(Frame) {
            archive.settled(frame, Inputs::default());
            if archive.wants(frame) {
                archive.swap(frame, &mut vec![frame.0; words]);
            }
        }
    }

    #[test]
    fn every_state_of_the_last_frames_is_kept_however_often_checksums_are_taken() {
        for cadence in [1, 2, 7, 30, 200] {
            let mut archive = Archive::new(cadence, || vec![0; 24]);
            fill(&mut archive, 0..1_000, 24);
            let kept = kept(&archive, 1_000);
            assert!((873..1_000).all(|frame| kept.contains(&frame)), "cadence {cadence}: {kept:?}");
            assert!(archive.state(Frame(900)).is_some_and(|state| state[0] == 900));
        }
    }

    #[test]
    fn of_a_state_that_has_grown_only_the_checkpoints_are_kept() {
        let mut archive = Archive::new(30, || vec![0; 24]);
        fill(&mut archive, 0..300, 24);
        fill(&mut archive, 300..600, 50_000);
        assert!(
            kept(&archive, 600).iter().all(|frame| frame.is_multiple_of(30)),
            "{:?}",
            kept(&archive, 600)
        );
        assert!(archive.state(Frame(570)).is_some());
        assert_eq!(archive.inputs(Frame(1)), Some(Inputs::default()));
    }

    #[test]
    fn what_is_frozen_stays() {
        let mut archive = Archive::new(30, || vec![0; 24]);
        fill(&mut archive, 0..100, 24);
        archive.freeze_after(Frame(90));
        fill(&mut archive, 100..5_000, 24);
        assert!(archive.state(Frame(60)).is_some() && archive.state(Frame(75)).is_some());
        assert_eq!((archive.inputs(Frame(0)), archive.inputs(Frame(101))), (Some(Inputs::default()), None));
    }
}
