//! The queue of confirmed inputs of one player.

use crate::{Frame, Input};
use core::fmt;

/// The number of frames whose input is kept: more than the window, the delay and a whole packet together.
pub(super) const KEPT_FRAMES: u32 = 128;

/// The confirmed inputs of one player, from frame 0 on and without a gap. Predictions are never stored here.
///
/// The slots need no tags: without a gap, the newest frame tells which frame each slot holds.
#[derive(Clone, Debug)]
pub(super) struct InputQueue {
    inputs: [Input; KEPT_FRAMES as usize],
    /// The buttons of the same inputs as they are on the wire. Each is stored twice, a ring's length apart, so that every
    /// run lies in one piece and is compared and sent as a whole.
    buttons: [[u8; 2]; 2 * KEPT_FRAMES as usize],
    /// Every frame before this one is confirmed.
    next: Frame,
    last: Input,
}

#[inline]
const fn slot(frame: Frame) -> usize {
    (frame.0 % KEPT_FRAMES) as usize
}

/// Whether two runs of one length are the same. From 8 to 16 inputs, as most packets have, are two pieces of eight that may
/// overlap, which takes fewer instructions than a call to compare any number.
#[inline]
fn are_same(one: &[[u8; 2]], two: &[[u8; 2]]) -> bool {
    const PIECE: usize = 8;
    if let (Some(first), Some(last)) = (one.first_chunk::<PIECE>(), one.last_chunk::<PIECE>())
        && one.len() <= 2 * PIECE
    {
        two.first_chunk() == Some(first) && two.last_chunk() == Some(last)
    } else {
        one == two
    }
}

impl InputQueue {
    pub(super) fn new() -> Self {
        Self {
            inputs: [Input::NEUTRAL; KEPT_FRAMES as usize],
            buttons: [[0; 2]; 2 * KEPT_FRAMES as usize],
            next: Frame::ZERO,
            last: Input::NEUTRAL,
        }
    }

    pub(super) fn clear(&mut self) {
        (self.next, self.last) = (Frame::ZERO, Input::NEUTRAL);
    }

    /// Restarts at `frame`, without inputs before it.
    pub(super) fn begin_at(&mut self, frame: Frame) {
        (self.next, self.last) = (frame, Input::NEUTRAL);
    }

    /// The first frame whose input is not known.
    #[inline]
    pub(super) fn next(&self) -> Frame {
        self.next
    }

    /// The newest confirmed input; neutral before the first.
    #[inline]
    pub(super) fn last(&self) -> Input {
        self.last
    }

    /// The last four confirmed inputs, the newest first; neutral before the first.
    pub(super) fn recent_four(&self) -> [Input; 4] {
        [1, 2, 3, 4].map(|back| match self.next.checked_sub(back) {
            Some(frame) => self.inputs[slot(frame)],
            None => Input::NEUTRAL,
        })
    }

    #[inline]
    pub(super) fn get(&self, frame: Frame) -> Option<Input> {
        let kept = frame < self.next && self.next.0 - frame.0 <= KEPT_FRAMES;
        if kept { Some(self.inputs[slot(frame)]) } else { None }
    }

    /// The inputs of the frames from `start` up to, but not including, `end`, all of which must be kept.
    #[inline]
    pub(super) fn run(&self, start: Frame, end: Frame) -> impl ExactSizeIterator<Item = Input> {
        start.until(end).map(|frame| self.inputs[slot(frame)])
    }

    /// The buttons of the frames from `start` up to, but not including, `end`, as they are on the wire. Empty for more than
    /// are kept.
    #[inline]
    pub(super) fn run_of_buttons(&self, start: Frame, end: Frame) -> &[[u8; 2]] {
        let at = slot(start);
        self.buttons.get(at..at + end.since(start) as usize).unwrap_or_default()
    }

    /// The same as [`conflict`](Self::conflict) for inputs of buttons only, as they are on the wire.
    #[inline]
    pub(super) fn conflict_of_buttons(
        &self,
        start: Frame,
        inputs: &[[u8; 2]],
    ) -> Option<(Frame, Input, Input)> {
        let count = (self.next.since(start) as usize).min(inputs.len());
        let at = slot(start);
        // Nearly always all of them are kept and the same.
        match self.buttons.get(at..at + count) {
            Some(kept) if are_same(kept, &inputs[..count]) => None,
            _ => self.conflict(start, inputs.iter().map(|bytes| Input::from_wire(bytes))),
        }
    }

    /// The first conflict between `inputs`, which begin at frame `start`, and the confirmed inputs: its frame, the
    /// confirmed input, the conflicting one. Frames that are not confirmed or no longer kept are skipped.
    pub(super) fn conflict(
        &self,
        start: Frame,
        inputs: impl Iterator<Item = Input>,
    ) -> Option<(Frame, Input, Input)> {
        let kept = Frame(self.next.0.saturating_sub(KEPT_FRAMES)).max(start);
        let inputs = inputs.skip(kept.since(start) as usize);
        let pairs = kept.until(self.next).zip(inputs);
        pairs.map(|(frame, got)| (frame, self.recent(frame), got)).find(|(_, have, got)| have != got)
    }

    /// The input of a frame that is confirmed and not settled; such a frame is always kept.
    #[inline]
    pub(super) fn recent(&self, frame: Frame) -> Input {
        self.inputs[slot(frame)]
    }

    /// Appends the input of the next frame.
    #[inline]
    pub(super) fn push(&mut self, input: Input) {
        let at = slot(self.next);
        self.inputs[at] = input;
        let bytes = input.buttons().0.to_le_bytes();
        self.buttons[at] = bytes;
        self.buttons[at + KEPT_FRAMES as usize] = bytes;
        self.next = self.next.next();
        self.last = input;
    }

    /// Checks an input that is not for the next frame: `Ok` if it repeats a known one, else why it is refused.
    #[cold]
    pub(super) fn compare(&self, frame: Frame, input: Input, settled: Frame) -> Result<(), InputError> {
        if frame.since(settled) >= KEPT_FRAMES {
            return Err(InputError::too_far_ahead(frame, settled));
        }
        if frame > self.next {
            return Err(InputError::Gap { frame, expected: self.next });
        }
        match self.get(frame) {
            Some(have) if have != input => Err(InputError::Conflict { frame, have, got: input }),
            // The same input again, or one too old to be kept: a redundant copy from a packet.
            _ => Ok(()),
        }
    }
}

/// Why an input was refused. A refused input changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InputError {
    /// Inputs of earlier frames are missing.
    Gap {
        /// The frame of the refused input.
        frame: Frame,
        /// The frame whose input has to come next.
        expected: Frame,
    },
    /// A different input is confirmed for this frame already.
    Conflict {
        /// The frame of the refused input.
        frame: Frame,
        /// The confirmed input.
        have: Input,
        /// The refused input.
        got: Input,
    },
    /// The frame is further ahead of the simulation than inputs are kept for.
    TooFarAhead {
        /// The frame of the refused input.
        frame: Frame,
        /// The newest frame that would have been accepted.
        limit: Frame,
    },
}

impl InputError {
    #[cold]
    pub(super) fn too_far_ahead(frame: Frame, settled: Frame) -> Self {
        Self::TooFarAhead { frame, limit: Frame(settled.0.saturating_add(KEPT_FRAMES) - 1) }
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gap { frame, expected } => {
                write!(f, "input of frame {frame} came before that of frame {expected}")
            }
            Self::Conflict { frame, have, got } => {
                write!(f, "input {got} for frame {frame} conflicts with the confirmed {have}")
            }
            Self::TooFarAhead { frame, limit } => {
                write!(f, "input of frame {frame} is too far ahead: at most frame {limit} is taken")
            }
        }
    }
}

impl core::error::Error for InputError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_any_length_differ_by_any_input() {
        for len in 0..40 {
            let run: Vec<[u8; 2]> = (0..len).map(|at| [at, 7]).collect();
            assert!(are_same(&run, &run.clone()), "{len} inputs");
            for at in 0..run.len() {
                let mut other = run.clone();
                other[at][at % 2] ^= 0x80;
                assert!(!are_same(&run, &other), "input {at} of {len}");
            }
        }
    }

    #[test]
    fn input_that_is_not_next_is_refused_with_its_reason() {
        let mut queue = InputQueue::new();
        (0..3).for_each(|_| queue.push(Input::NEUTRAL));
        let compare = |frame| queue.compare(Frame(frame), Input::NEUTRAL.with_axis(0, 1), Frame(2));
        let limit = Frame(KEPT_FRAMES + 1);
        let far = Frame(KEPT_FRAMES + 2);
        assert_eq!(compare(far.0), Err(InputError::TooFarAhead { frame: far, limit }));
        assert_eq!(compare(limit.0), Err(InputError::Gap { frame: limit, expected: Frame(3) }));
        assert!(matches!(compare(1), Err(InputError::Conflict { frame: Frame(1), .. })));
        assert_eq!(queue.compare(Frame(1), Input::NEUTRAL, Frame(2)), Ok(()));
    }

    #[test]
    fn inputs_that_are_not_kept_conflict_with_nothing() {
        let mut queue = InputQueue::new();
        let input = |frame: u32| Input::NEUTRAL.with_axis(0, frame as i8);
        (0..200).for_each(|frame| queue.push(input(frame)));
        assert_eq!(queue.conflict(Frame(0), (0..210).map(input)), None);
        let other = (0..200).map(|frame| input(frame + u32::from(frame == 150)));
        assert_eq!(queue.conflict(Frame(0), other), Some((Frame(150), input(150), input(151))));
    }
}
