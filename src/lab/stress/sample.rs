//! Samples of every frame of one match, for the plots.

use crate::{Advanced, Stats};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

/// One due frame of one machine.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Moment {
    /// The time since the machine's first frame.
    pub at: Duration,
    /// How far this frame went back; 0 if not at all.
    pub depth: u32,
    /// Whether the frame had to wait.
    pub stalled: bool,
    /// The frame lead; positive is ahead.
    pub lead: f32,
}

/// A match as one machine saw it.
#[derive(Clone, Debug, Default)]
pub struct Sample(pub Vec<Moment>);

pub(super) type Shared = Rc<RefCell<Sample>>;

pub(super) fn shared() -> Shared {
    Rc::default()
}

pub(super) fn taken(shared: Shared) -> Sample {
    Rc::try_unwrap(shared).map_or_else(|shared| shared.borrow().clone(), RefCell::into_inner)
}

/// Follows a machine.
pub(super) struct Sampler {
    into: Shared,
    first: Option<Duration>,
    resimulated: u64,
}

impl Sampler {
    pub(super) fn new(into: Shared) -> Self {
        Self { into, first: None, resimulated: 0 }
    }

    pub(super) fn look(&mut self, now: Duration, advanced: Advanced, stats: &Stats) {
        let first = *self.first.get_or_insert(now);
        if matches!(advanced, Advanced::NotDue | Advanced::Ended) {
            return;
        }
        // A program that was killed and came back counts from 0.
        let depth = stats.rollback.resimulated_frames.saturating_sub(self.resimulated);
        self.resimulated = stats.rollback.resimulated_frames;
        let moment = Moment {
            at: now.saturating_sub(first),
            // There is one rollback a frame at most, so what was resimulated is its depth.
            depth: depth as u32,
            stalled: advanced == Advanced::Stalled,
            lead: stats.frame_lead,
        };
        self.into.borrow_mut().0.push(moment);
    }
}
