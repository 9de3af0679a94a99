//! The checksums of the states that were played, taken over several frames: they may be many and large.

use super::budget::Budget;
use super::evidence::{Scope, Trace};
use super::past::Past;
use crate::game::fields::hash_slice;
use crate::{Fields, Frame, SimHash};

/// Takes the checksums of the states that were played, from the target back as far as every frame is kept.
///
/// The newest comes first, because an archive that is not frozen drops the oldest ones meanwhile.
#[derive(Clone, Debug)]
pub(crate) struct Recorder {
    scope: Scope,
    /// Newest first.
    values: Vec<u32>,
    /// The checksum under way, and the position up to which its state is hashed.
    hash: SimHash,
    done: usize,
}

impl Recorder {
    pub(crate) fn new(scope: Scope) -> Self {
        Self { scope, values: Vec::new(), hash: SimHash::new(), done: 0 }
    }

    /// The frame whose state is hashed next.
    fn next(&self) -> Option<Frame> {
        let next = self.scope.target.checked_sub(self.values.len() as u32)?;
        (next >= self.scope.first()).then_some(next)
    }

    /// Goes on as far as the budget allows. The trace, once it is complete.
    pub(crate) fn go_on<S: Fields>(&mut self, past: Past<'_, S>, budget: &mut Budget) -> Option<Trace> {
        loop {
            let mut bytes = budget.bytes()?;
            while bytes > 0 {
                let Some(state) = self.next().and_then(|frame| past.state(frame)) else {
                    return Some(self.trace());
                };
                let hashed = hash_slice(state, self.hash, self.done, self.done.saturating_add(bytes));
                bytes = bytes.saturating_sub(hashed.end - self.done);
                (self.hash, self.done) = (hashed.hash, hashed.end);
                if hashed.end >= hashed.total {
                    self.values.push(self.hash.finish());
                    (self.hash, self.done) = (SimHash::new(), 0);
                }
            }
        }
    }

    fn trace(&mut self) -> Trace {
        let mut values = core::mem::take(&mut self.values);
        values.reverse();
        Trace { first: Frame(self.scope.target.next().0 - values.len() as u32), values, complete: true }
    }
}

#[cfg(test)]
mod tests {
    use super::super::budget::BYTES_A_STEP;
    use super::super::evidence::Claim;
    use super::*;
    use crate::protocol::time::Span;
    use crate::rollback::{EngineConfig, Rollback};
    use crate::session::desync::watch::Archive;
    use crate::{Cues, Game, Inputs, Save, StateError, checksum};

    struct Memory(Vec<u64>);

    impl Save for Memory {
        type Snapshot = Vec<u64>;
        fn snapshot(&self) -> Vec<u64> {
            self.0.clone()
        }
        fn save(&self, slot: &mut Vec<u64>) -> Result<(), StateError> {
            slot.clone_from(&self.0);
            Ok(())
        }
        fn restore(&mut self, snapshot: &Vec<u64>) -> Result<(), StateError> {
            self.0.clone_from(snapshot);
            Ok(())
        }
    }

    impl Game for Memory {
        fn step(&mut self, _: Inputs, _: &mut Cues) {}
    }

    /// The state of frame f, of this many bytes.
    fn state(frame: u32, bytes: usize) -> Vec<u64> {
        (0..bytes as u64 / 8).map(|at| at ^ u64::from(frame) << 32).collect()
    }

    /// An archive of checksums in every frame, with the states of frames before `end`.
    fn archive(bytes: usize, end: u32) -> Archive<Vec<u64>> {
        let mut archive = Archive::new(1, true, || state(0, bytes));
        (0..end).for_each(|frame| archive.swap(Frame(frame), &mut state(frame, bytes)));
        archive
    }

    fn hashed_bytes(recorder: &Recorder, bytes: usize) -> usize {
        recorder.values.len() * bytes + recorder.done
    }

    #[test]
    fn no_advance_hashes_more_than_three_shares() {
        let scope = Scope::of_one(Claim::new(Frame(60), Some(Frame(20))));
        for (bytes, advances) in [(64, 1), (300_000, 16), (2 << 20, 22)] {
            let archive = archive(bytes, 61);
            let engine = Rollback::new(EngineConfig::default(), &Memory(state(0, bytes)));
            let past = Past::new(&archive, &engine);
            let (mut recorder, mut taken) = (Recorder::new(scope), 0);
            let trace = loop {
                let before = hashed_bytes(&recorder, bytes);
                let trace = recorder.go_on(past, &mut Budget::of_one_advance(None, Span::ZERO));
                taken += 1;
                if let Some(trace) = trace {
                    break trace;
                }
                let hashed = hashed_bytes(&recorder, bytes) - before;
                assert!(hashed <= 3 * (BYTES_A_STEP + 4_096), "{hashed} of {bytes} bytes in one advance");
            };
            let kept = (0..=60).filter(|frame| *frame > 20 && past.state(Frame(*frame)).is_some());
            let expected: Vec<u32> = kept.map(|frame| checksum(&state(frame, bytes))).collect();
            assert_eq!((trace.first, &trace.values), (Frame(61 - expected.len() as u32), &expected));
            assert_eq!(taken, advances, "{bytes} bytes, {} states", expected.len());
        }
    }

    #[test]
    fn states_that_are_dropped_meanwhile_end_the_trace() {
        const BYTES: usize = 600_000;
        let scope = Scope::of_one(Claim::new(Frame(60), Some(Frame(20))));
        let engine = Rollback::new(EngineConfig::default(), &Memory(state(0, BYTES)));
        let mut archive = archive(BYTES, 61);
        let mut recorder = Recorder::new(scope);
        let budget = || Budget::of_one_advance(None, Span::ZERO);
        assert!(recorder.go_on(Past::new(&archive, &engine), &mut budget()).is_none());
        (61..85).for_each(|frame| archive.swap(Frame(frame), &mut state(frame, BYTES)));
        let trace = loop {
            if let Some(trace) = recorder.go_on(Past::new(&archive, &engine), &mut budget()) {
                break trace;
            }
        };
        assert!(trace.first > Frame(50) && trace.complete, "{:?}", trace.first);
        let expected = trace.first.until(Frame(61)).map(|frame| checksum(&state(frame.0, BYTES)));
        assert!(trace.values.iter().copied().eq(expected));
    }
}
