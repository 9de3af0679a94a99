//! The ledger of cues: what was started, and what of it is still true after a resimulation.

use super::{SLOTS, slot};
use crate::{Cue, CueChange, CueEvent, CueId, Cues, Frame};

/// What the cues of one frame were when it was last stepped.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    started: [(Cue, CueId); Cues::MAX],
    left_out: u32,
}

/// Follows every cue from its start to its end, across resimulations.
#[derive(Clone, Debug)]
pub(super) struct CueLedger {
    entries: Box<[Entry; SLOTS]>,
    /// How many cues the entry of each frame has; 0 for every frame that is settled or yet to be stepped.
    lens: [u8; SLOTS],
    /// What this `advance` no longer found, and what it found anew; matched when it ends.
    gone: Vec<(Frame, Cue, CueId)>,
    fresh: Vec<(Frame, Cue)>,
    /// Whether there is anything in those two: one look in nearly every frame.
    differs: bool,
    events: Vec<CueEvent>,
    next_id: u32,
    /// A cue that is gone and is new this near to where it was, has only moved.
    moves_within: u32,
    left_out: u64,
}

impl CueLedger {
    /// A ledger for resimulations of at most `window` frames.
    pub(super) fn new(window: u32, moves_within: u32) -> Self {
        // The frames that one `advance` can touch: a whole window again, and one new. It takes memory once, here.
        let max_changes = (window as usize + 1) * Cues::MAX;
        Self {
            entries: Box::new([Entry::default(); SLOTS]),
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

    /// What happened since [`begin`](Self::begin): cancels, starts, confirms.
    pub(super) fn events(&self) -> &[CueEvent] {
        &self.events
    }

    /// How many cues confirmed frames had to leave out.
    pub(super) fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Begins the account of one `advance`.
    #[inline]
    pub(super) fn begin(&mut self) {
        self.events.clear();
    }

    /// Takes in what the step of `frame` asked for, the first time or again.
    #[inline]
    pub(super) fn stepped(&mut self, frame: Frame, cues: &Cues) {
        // What nearly every frame is: nothing then, nothing now.
        if self.lens[slot(frame)] != 0 || !cues.as_slice().is_empty() {
            self.compare(frame, cues);
        }
    }

    fn compare(&mut self, frame: Frame, cues: &Cues) {
        let entry = &mut self.entries[slot(frame)];
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

    /// Settles what is gone and what is new, at the time of frame `now`.
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

    /// Whether a new cue is one that is gone nearby; then it keeps its id, and nothing is said.
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

    fn enter(&mut self, frame: Frame, cue: Cue, id: CueId) {
        let len = &mut self.lens[slot(frame)];
        self.entries[slot(frame)].started[usize::from(*len)] = (cue, id);
        *len += 1;
    }

    /// The step of `frame` will not be run again: its cues are certain.
    #[inline]
    pub(super) fn settled(&mut self, frame: Frame) {
        if self.lens[slot(frame)] != 0 {
            self.left_out += u64::from(self.entries[slot(frame)].left_out);
            self.release(frame, CueChange::Confirm);
        }
    }

    /// The frames from `end` up to `current` will never have been: their cues are taken back.
    pub(super) fn cancel_from(&mut self, end: Frame, current: Frame) {
        for frame in end.until(current) {
            self.release(frame, CueChange::Cancel);
        }
    }

    /// Says how the cues of a frame ended, and gives its entry back.
    fn release(&mut self, frame: Frame, change: CueChange) {
        let len = core::mem::take(&mut self.lens[slot(frame)]);
        for &(cue, id) in &self.entries[slot(frame)].started[..usize::from(len)] {
            self.events.push(CueEvent { id, cue, frame, change });
        }
    }
}
