//! A checksum that is taken over several frames, because the state is large.

use crate::game::fields::{hash_slice, size_bytes};
use crate::game::hash::SimHash;
use crate::{Fields, checksum};

/// A state of this size or less is hashed in one frame, and at least this much of a larger one.
const MAX_AT_ONCE_BYTES: usize = 16 * 1024;

/// The most frames over which a state is hashed.
const MAX_FRAMES: u32 = 8;

/// A checksum under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sliced {
    hash: SimHash,
    /// The position up to which the state is hashed.
    done: usize,
    /// The share of a frame.
    share: usize,
}

/// How far a checksum has come.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Progress {
    Done(u32),
    UnderWay(Sliced),
}

impl Sliced {
    /// The checksum of a state that is small enough to be hashed in one frame.
    ///
    /// The size of a state of fixed shape is a constant to the compiler.
    #[inline]
    pub(crate) fn at_once<S: Fields>(state: &S) -> Option<u32> {
        if size_bytes(state) <= MAX_AT_ONCE_BYTES { Some(checksum(state)) } else { None }
    }

    /// The checksum of a large state, of which nothing is hashed yet, and after which the next is due in
    /// `cadence_frames`.
    pub(crate) fn new<S: Fields>(state: &S, cadence_frames: u32) -> Self {
        // A slice in every frame up to the next checksum, at most.
        let frames = MAX_FRAMES.min(cadence_frames).max(1) as usize;
        let share = size_bytes(state).div_ceil(frames).max(MAX_AT_ONCE_BYTES);
        Self { hash: SimHash::new(), done: 0, share }
    }

    /// Hashes the next slice.
    pub(crate) fn go_on<S: Fields>(self, state: &S) -> Progress {
        let next = hash_slice(state, self.hash, self.done, self.done.saturating_add(self.share));
        if next.end >= next.total {
            Progress::Done(next.hash.finish())
        } else {
            Progress::UnderWay(Self { hash: next.hash, done: next.end, ..self })
        }
    }

    /// Hashes all that is left.
    pub(crate) fn finish<S: Fields>(self, state: &S) -> u32 {
        hash_slice(state, self.hash, self.done, usize::MAX).hash.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The checksum of a state and the number of frames that it takes.
    fn hashed(state: &Vec<u64>, cadence_frames: u32) -> (u32, u32) {
        if let Some(value) = Sliced::at_once(state) {
            return (value, 1);
        }
        let (mut sliced, mut frames) = (Sliced::new(state, cadence_frames), 1);
        loop {
            match sliced.go_on(state) {
                Progress::Done(value) => return (value, frames),
                Progress::UnderWay(next) => sliced = next,
            }
            frames += 1;
        }
    }

    #[test]
    fn sliced_checksum_is_that_of_the_whole_and_ends_in_time() {
        for words in [0, 1, 2_047, 2_048, 2_600, 8_192, 16_384, 16_385, 100_001] {
            let state: Vec<u64> = (0..words).map(|word| word * 0x9E37_79B9).collect();
            for cadence_frames in [1, 2, 3, 7, 8, 30, 600] {
                let (value, frames) = hashed(&state, cadence_frames);
                assert_eq!(value, checksum(&state), "{words} words, cadence {cadence_frames}");
                assert!(frames <= cadence_frames.min(8), "{frames} frames for {words} words");
                let expected_at_once = words <= 2_048 || cadence_frames == 1;
                assert_eq!(frames == 1, expected_at_once, "{words} words, cadence {cadence_frames}");
            }
        }
    }

    #[test]
    fn checksum_under_way_can_be_finished_at_any_time() {
        let state: Vec<u64> = (0..50_000).collect();
        let mut sliced = Sliced::new(&state, 30);
        let mut finished = 1;
        while let Progress::UnderWay(next) = sliced.go_on(&state) {
            assert_eq!(next.finish(&state), checksum(&state));
            sliced = next;
            finished += 1;
        }
        assert_eq!(finished, 8);
    }
}
