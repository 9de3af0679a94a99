//! The archive: the states and inputs of the certain past, kept for an autopsy.

use super::kept::Kept;
use crate::game::fields::size_bytes;
use crate::rollback::ring::FrameRing;
use crate::{Fields, Frame, Inputs};
use core::mem;
use core::num::NonZero;

/// The most frames of confirmed inputs that are kept: those from the oldest state with a checksum on.
const MAX_INPUTS: u32 = 1_024;

/// The fewest states with a checksum that are kept.
const MIN_CHECKPOINTS: u32 = 4;

/// How many frames back states with a checksum are kept, as long as they fit into [`MAX_COVERED_BYTES`]. A difference
/// is noticed a round trip after its frame, and an autopsy needs the last state that matched, a cadence before it.
const COVERED_FRAMES: u32 = 48;
const MAX_COVERED_BYTES: usize = 16 * 1024 * 1024;

/// How many frames back every state is kept, if all of them fit into [`MAX_EVERY_BYTES`]. Then the first frame that
/// differs is known exactly, even if it cannot be reproduced.
const EVERY_FRAMES: u32 = 128;
const MAX_EVERY_BYTES: usize = 256 * 1024;

/// The states of every frame are dropped when they have grown to more than this.
const MAX_GROWN_BYTES: usize = 4 * MAX_EVERY_BYTES;

/// Snapshots of settled frames, taken from the engine by swapping, so that nothing is copied.
#[derive(Clone, Debug)]
pub(crate) struct Archive<S> {
    cadence: NonZero<u32>,
    inputs: FrameRing<Inputs>,
    /// The states of frames with a checksum.
    checkpoints: Kept<S>,
    /// The states of the frames in between, if states are small.
    between: Option<FrameRing<S>>,
    /// The last frame that is taken in. Later ones would overwrite what an autopsy needs.
    frozen_after: Option<Frame>,
}

impl<S: Fields> Archive<S> {
    /// `saves_every` is whether the engine has the state of every frame to give.
    pub(crate) fn new(cadence: u16, saves_every: bool, mut snapshot: impl FnMut() -> S) -> Self {
        let cadence = NonZero::new(u32::from(cadence)).unwrap_or(NonZero::<u32>::MIN);
        let bytes = size_bytes(&snapshot());
        let small = saves_every && bytes.saturating_mul(EVERY_FRAMES as usize) <= MAX_EVERY_BYTES;
        let affordable = u32::try_from(MAX_COVERED_BYTES / bytes.max(1)).unwrap_or(u32::MAX);
        let covering =
            if small { EVERY_FRAMES.div_ceil(cadence.get()) } else { COVERED_FRAMES / cadence + 2 };
        let checkpoints = covering.min(affordable).max(MIN_CHECKPOINTS);
        Self {
            cadence,
            inputs: FrameRing::new(
                (checkpoints + 1).saturating_mul(cadence.get()).clamp(EVERY_FRAMES, MAX_INPUTS),
                Inputs::default,
            ),
            checkpoints: Kept::new(checkpoints, &mut snapshot),
            between: (small && cadence.get() > 1).then(|| FrameRing::new(EVERY_FRAMES, &mut snapshot)),
            frozen_after: None,
        }
    }

    /// The same with the inputs of this many frames.
    pub(crate) fn with_inputs(self, frames: u32) -> Self {
        Self { inputs: FrameRing::new(frames, Inputs::default), ..self }
    }

    /// Drops all states.
    pub(crate) fn forget_states(&mut self) {
        self.checkpoints.clear();
        if let Some(between) = &mut self.between {
            between.clear();
        }
    }

    /// Whether the archive was frozen before this frame and takes in nothing of it.
    #[inline]
    pub(crate) fn is_closed_to(&self, frame: Frame) -> bool {
        self.frozen_after.is_some_and(|last| frame > last)
    }

    /// Whether frames of this number have a checksum.
    #[inline]
    fn is_checkpoint(&self, frame: Frame) -> bool {
        frame.0 % self.cadence == 0
    }

    /// Whether there is a place for the state of this frame.
    #[inline]
    pub(crate) fn wants(&self, frame: Frame) -> bool {
        self.between.is_some() || self.is_checkpoint(frame)
    }

    /// Takes in the confirmed inputs of a settled frame.
    #[inline]
    pub(crate) fn settled(&mut self, frame: Frame, inputs: Inputs) {
        self.inputs.insert(frame, inputs);
    }

    /// Takes in the state of a settled frame and leaves in `snapshot` one that is no longer needed.
    #[inline]
    pub(crate) fn swap(&mut self, frame: Frame, snapshot: &mut S) {
        let slot = if self.is_checkpoint(frame) {
            // A state that began small may have grown.
            if self.between.is_some() && size_bytes(snapshot) * EVERY_FRAMES as usize > MAX_GROWN_BYTES {
                self.between = None;
            }
            self.checkpoints.claim(frame)
        } else {
            self.between.as_mut().and_then(|between| between.claim(frame))
        };
        if let Some(slot) = slot {
            mem::swap(slot, snapshot);
        }
    }

    /// The state of a frame, if it is kept.
    pub(crate) fn state(&self, frame: Frame) -> Option<&S> {
        let between = || self.between.as_ref()?.get(frame);
        self.checkpoints.get(frame).or_else(between)
    }

    /// The newest kept state up to and with `frame`.
    pub(crate) fn nearest(&self, frame: Frame) -> Option<(Frame, &S)> {
        let exact = self.state(frame).map(|state| (frame, state));
        exact.or_else(|| self.checkpoints.nearest(frame))
    }

    /// The confirmed inputs of a frame, if they are kept.
    pub(crate) fn inputs(&self, frame: Frame) -> Option<Inputs> {
        self.inputs.get(frame).copied()
    }

    /// Closes the archive to the frames after `frame`, so that what is here stays.
    pub(crate) fn freeze_after(&mut self, frame: Frame) {
        self.frozen_after = Some(frame);
    }

    /// Opens the archive again.
    pub(crate) fn thaw(&mut self) {
        self.frozen_after = None;
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
            if archive.is_closed_to(frame) {
                continue;
            }
            archive.settled(frame, Inputs::default());
            if archive.wants(frame) {
                archive.swap(frame, &mut vec![frame.0; words]);
            }
        }
    }

    #[test]
    fn recent_states_are_kept_at_every_checksum_interval() {
        for cadence in [1, 2, 7, 30, 200] {
            let mut archive = Archive::new(cadence, true, || vec![0; 24]);
            fill(&mut archive, 0..1_000, 24);
            let kept = kept(&archive, 1_000);
            assert!((873..1_000).all(|frame| kept.contains(&frame)), "cadence {cadence}: {kept:?}");
            assert!(archive.state(Frame(900)).is_some_and(|state| state[0] == 900));
        }
    }

    #[test]
    fn nearest_state_is_that_of_the_frame_where_it_is_kept() {
        let nearest = |words, frame| {
            let mut archive = Archive::new(30, true, || vec![0; words]);
            fill(&mut archive, 0..100, words);
            archive.nearest(Frame(frame)).map(|(at, state)| (at.0, state[0]))
        };
        assert_eq!(nearest(24, 75), Some((75, 75)), "every state is kept");
        assert_eq!(nearest(3_000, 75), Some((60, 60)), "checkpoints alone");
        assert_eq!(nearest(3_000, 60), Some((60, 60)));
    }

    #[test]
    fn checkpoints_cover_a_long_round_trip_and_the_match_before_it() {
        let mut archive = Archive::new(10, true, || vec![0; 3_000]);
        fill(&mut archive, 0..500, 3_000);
        let newest: Vec<u32> = (440..500).step_by(10).collect();
        assert!(kept(&archive, 500).ends_with(&newest), "{:?}", kept(&archive, 500));
    }

    #[test]
    fn checkpoints_take_16_mib_at_most() {
        const WORDS: usize = 256 * 1024;
        let mut archive = Archive::new(1, false, || vec![0; WORDS]);
        fill(&mut archive, 0..40, WORDS);
        assert_eq!(kept(&archive, 40), (24..40).collect::<Vec<u32>>());
    }

    #[test]
    fn of_a_state_that_has_grown_only_the_checkpoints_are_kept() {
        let mut archive = Archive::new(30, true, || vec![0; 24]);
        fill(&mut archive, 0..300, 24);
        fill(&mut archive, 300..600, 50_000);
        assert!(
            kept(&archive, 600).iter().all(|frame| frame.is_multiple_of(30)),
            "{:?}",
            kept(&archive, 600)
        );
        assert!(archive.state(Frame(570)).is_some());
        let oldest = kept(&archive, 600)[0];
        assert!((oldest..600).all(|frame| archive.inputs(Frame(frame)).is_some()), "from {oldest} on");
    }

    #[test]
    fn frozen_states_are_kept() {
        let mut archive = Archive::new(30, true, || vec![0; 24]);
        fill(&mut archive, 0..100, 24);
        archive.freeze_after(Frame(99));
        assert!(!archive.is_closed_to(Frame(99)) && archive.is_closed_to(Frame(100)));
        fill(&mut archive, 100..5_000, 24);
        assert!(archive.state(Frame(60)).is_some() && archive.state(Frame(75)).is_some());
        assert_eq!((archive.inputs(Frame(0)), archive.inputs(Frame(101))), (Some(Inputs::default()), None));
    }

    /// The cadence is fixed today; states are found by their frame anyway, and not by their place in a series.
    #[test]
    fn changed_cadence_never_returns_the_state_of_another_frame() {
        for (before, after) in [(30, 20), (30, 7), (7, 30), (1, 30), (30, 1)] {
            let mut archive = Archive::new(before, true, || vec![0; 24]);
            fill(&mut archive, 0..200, 24);
            archive.cadence = NonZero::new(after).unwrap();
            for until in [200, 211, 260, 400] {
                fill(&mut archive, 200..until, 24);
                for frame in 0..until {
                    let kept = archive.state(Frame(frame)).map(|state| state[0]);
                    assert!(
                        kept.is_none_or(|kept| kept == frame),
                        "{before} to {after}: {frame} gave {kept:?}"
                    );
                }
                assert!(!self::kept(&archive, until).is_empty());
            }
        }
    }
}
