//! The ledger of cues: which were started, and which of them still hold after a resimulation.

use super::{SLOTS, slot};
use crate::{Cue, CueChange, CueEvent, CueId, Cues, Frame};

/// The cues of one frame from when it was last stepped.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    started: [(Cue, CueId); Cues::MAX],
    left_out: u32,
}

/// Tracks every cue from its start to its cancel or confirm, across resimulations.
#[derive(Clone, Debug)]
pub(super) struct CueLedger {
    /// One for each frame that is not settled, at its number modulo their count, a power of two.
    entries: Box<[Entry]>,
    /// The number of cues in the entry of each frame; 0 for every frame that is settled or not stepped yet.
    lens: [u8; SLOTS],
    /// Cues that a resimulated step of this `advance` no longer requested.
    gone: Vec<(Frame, Cue, CueId)>,
    /// Cues that a step of this `advance` requested for the first time. Matched with `gone` at its end.
    fresh: Vec<(Frame, Cue)>,
    /// Whether `gone` or `fresh` has anything. In nearly every frame this is all that is checked.
    differs: bool,
    events: Vec<CueEvent>,
    next_id: u32,
    /// A cue that is gone in one frame and fresh in another at most this many frames away has only moved.
    moves_within: u32,
    left_out: u64,
}

impl CueLedger {
    /// A ledger for resimulations of at most `window` frames.
    pub(super) fn new(window: u32, moves_within: u32) -> Self {
        // One `advance` can step a whole window of frames again, and one new. All memory is allocated here.
        let max_changes = (window as usize + 1) * Cues::MAX;
        Self {
            entries: vec![Entry::default(); (2 * window as usize + 2).next_power_of_two().min(SLOTS)].into(),
            lens: [0; SLOTS],
            gone: Vec::with_capacity(max_changes),
            fresh: Vec::with_capacity(max_changes),
            differs: false,
            events: Vec::with_capacity(4 * max_changes),
            next_id: 0,
            moves_within,
            left_out: 0,
        }
    }

    pub(super) fn clear(&mut self) {
        self.lens = [0; SLOTS];
        self.gone.clear();
        self.fresh.clear();
        self.events.clear();
        (self.next_id, self.left_out, self.differs) = (0, 0, false);
    }

    /// The events since [`begin`](Self::begin): cancels, starts, confirms.
    pub(super) fn events(&self) -> &[CueEvent] {
        &self.events
    }

    /// How many cues settled frames had to leave out.
    pub(super) fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Clears the events, for the next `advance`.
    #[inline]
    pub(super) fn begin(&mut self) {
        self.events.clear();
    }

    /// Records the cues that the step of `frame` requested, the first time or in a resimulation.
    #[inline]
    pub(super) fn stepped(&mut self, frame: Frame, cues: &Cues) {
        // Most frames have no cues, neither before nor now.
        if self.lens[slot(frame)] != 0 || !cues.as_slice().is_empty() {
            self.compare(frame, cues);
        }
    }

    /// Compares the cues of `frame` with those of its last step: equal ones keep their id, the others go to `fresh`
    /// and `gone`.
    fn compare(&mut self, frame: Frame, cues: &Cues) {
        let at = self.at(frame);
        let entry = &mut self.entries[at];
        let len = &mut self.lens[slot(frame)];
        let before = entry.started;
        let before = &before[..usize::from(*len)];
        *len = 0;
        entry.left_out = cues.left_out();
        for cue in cues.as_slice() {
            match before.iter().find(|(known, _)| known == cue) {
                Some(same) => {
                    entry.started[usize::from(*len)] = *same;
                    *len += 1;
                }
                None => self.fresh.push((frame, *cue)),
            }
        }
        for (cue, id) in before {
            if !cues.as_slice().contains(cue) {
                self.gone.push((frame, *cue, *id));
            }
        }
        self.differs |= !self.gone.is_empty() || !self.fresh.is_empty();
    }

    /// Emits the cancels and starts of this `advance`, whose current frame is `now`.
    #[inline]
    pub(super) fn reconcile(&mut self, now: Frame) {
        if self.differs {
            self.tell(now);
        }
    }

    fn tell(&mut self, now: Frame) {
        self.differs = false;
        let mut fresh = core::mem::take(&mut self.fresh);
        fresh.retain(|&(frame, cue)| !self.moved(frame, cue));
        for (frame, cue, id) in self.gone.drain(..) {
            self.events.push(CueEvent { id, cue, frame, change: CueChange::Cancel });
        }
        for (frame, cue) in fresh.drain(..) {
            let id = CueId(self.next_id);
            self.next_id = self.next_id.wrapping_add(1);
            self.enter(frame, cue, id);
            let late_by = now.since(frame);
            self.events.push(CueEvent { id, cue, frame, change: CueChange::Start { late_by } });
        }
        self.fresh = fresh;
    }

    /// Whether a fresh cue is one that is gone from a nearby frame. It then keeps its id, without an event.
    fn moved(&mut self, frame: Frame, cue: Cue) -> bool {
        let near = |(was, gone, _): &(Frame, Cue, CueId)| {
            *gone == cue && was.0.abs_diff(frame.0) <= self.moves_within
        };
        let nearest = (0..self.gone.len())
            .filter(|at| near(&self.gone[*at]))
            .min_by_key(|at| self.gone[*at].0.0.abs_diff(frame.0));
        match nearest {
            Some(at) => {
                let (_, _, id) = self.gone.remove(at);
                self.enter(frame, cue, id);
                true
            }
            None => false,
        }
    }

    /// The place of a frame's entry.
    fn at(&self, frame: Frame) -> usize {
        frame.0 as usize & (self.entries.len() - 1)
    }

    fn enter(&mut self, frame: Frame, cue: Cue, id: CueId) {
        let at = self.at(frame);
        let len = &mut self.lens[slot(frame)];
        self.entries[at].started[usize::from(*len)] = (cue, id);
        *len += 1;
    }

    /// Confirms the cues of `frame`, which has settled and will not be stepped again.
    #[inline]
    pub(super) fn settled(&mut self, frame: Frame) {
        if self.lens[slot(frame)] != 0 {
            self.left_out += u64::from(self.entries[self.at(frame)].left_out);
            self.release(frame, CueChange::Confirm);
        }
    }

    /// Withdraws the cues of the frames from `start` up to, but not including, `current`, which are undone and will be stepped
    /// again. They are cancelled at the end of this `advance`, unless they have only moved.
    pub(super) fn withdraw(&mut self, start: Frame, current: Frame) {
        for frame in start.until(current) {
            let len = core::mem::take(&mut self.lens[slot(frame)]);
            for &(cue, id) in &self.entries[self.at(frame)].started[..usize::from(len)] {
                self.gone.push((frame, cue, id));
            }
        }
        self.differs |= !self.gone.is_empty();
    }

    /// Cancels the cues of the frames from `end` up to, but not including, `current`, which never settle.
    pub(super) fn cancel_from(&mut self, end: Frame, current: Frame) {
        for frame in end.until(current) {
            self.release(frame, CueChange::Cancel);
        }
    }

    /// Emits `change` for every cue of a frame, and frees its entry.
    fn release(&mut self, frame: Frame, change: CueChange) {
        let len = core::mem::take(&mut self.lens[slot(frame)]);
        for &(cue, id) in &self.entries[self.at(frame)].started[..usize::from(len)] {
            self.events.push(CueEvent { id, cue, frame, change });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BELL: Cue = Cue(7);

    fn step(ledger: &mut CueLedger, frame: u32, rings: bool) {
        let mut cues = Cues::new();
        if rings {
            cues.emit(BELL);
        }
        ledger.stepped(Frame(frame), &cues);
    }

    #[test]
    fn moved_cue_is_the_one_of_the_nearest_frame() {
        let mut ledger = CueLedger::new(8, 3);
        for frame in 0..8 {
            step(&mut ledger, frame, matches!(frame, 1 | 5));
            ledger.reconcile(Frame(frame));
        }
        let started: Vec<CueId> = ledger.events().iter().map(|event| event.id).collect();
        ledger.begin();
        for frame in 0..8 {
            step(&mut ledger, frame, frame == 4);
        }
        ledger.reconcile(Frame(8));
        let left: Vec<_> = ledger.events().iter().map(|event| (event.id, event.change)).collect();
        assert_eq!(left, [(started[0], CueChange::Cancel)], "the bell of frame 5 rings in frame 4");
        ledger.begin();
        ledger.settled(Frame(4));
        assert_eq!((ledger.events().len(), ledger.events()[0].id), (1, started[1]));
    }
}
