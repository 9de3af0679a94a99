//! What each machine has to tell in an autopsy: checksums of what it lived and of what came out again, tables, leaves.

use super::leaves::{BUCKETS, OwnedLeaf, Part};
use super::report::FieldDifference;
use crate::Frame;
use rustc_hash::FxHashMap;

/// The most frames that are stepped again, and looked at at all: whatever the other side claims, the work is bounded.
pub(crate) const MOST_FRAMES: u32 = 600;

/// The frames that an autopsy is about: those after `base` up to and with `target`, the newest ones if they are many.
pub(crate) fn first_of(base: Option<Frame>, target: Frame) -> Frame {
    base.map_or(Frame::ZERO, Frame::next).max(Frame(target.0.saturating_sub(MOST_FRAMES)))
}

/// Checksums of consecutive frames.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trace {
    pub(crate) first: Frame,
    pub(crate) values: Vec<u32>,
    pub(crate) complete: bool,
}

impl Trace {
    pub(crate) fn at(&self, frame: Frame) -> Option<u32> {
        self.values.get(frame.0.checked_sub(self.first.0)? as usize).copied()
    }

    /// The first frame, of those that both know, in which they differ; and whether the one before is known to be
    /// the same, which is so for the frame after `base`.
    pub(crate) fn first_difference(
        &self,
        other: &Self,
        base: Option<Frame>,
        target: Frame,
    ) -> Option<(Frame, bool)> {
        let from = first_of(base, target);
        let mut before_known = from == base.map_or(Frame::ZERO, Frame::next);
        for frame in from.until(target.next()) {
            match (self.at(frame), other.at(frame)) {
                (Some(a), Some(b)) if a != b => return Some((frame, before_known)),
                (Some(_), Some(_)) => before_known = true,
                _ => before_known = false,
            }
        }
        None
    }
}

/// What one machine has told, or has to tell.
#[derive(Clone, Debug, Default)]
pub(crate) struct Side {
    /// The frame that differs, and the last that matched before it.
    pub(crate) start: Option<(Frame, Option<Frame>)>,
    /// As it was lived, and as it came out again.
    pub(crate) lived: Trace,
    pub(crate) again: Trace,
    pub(crate) subject: Option<(Frame, u32)>,
    pub(crate) tables: Vec<(Part, Box<[u32; BUCKETS]>)>,
    pub(crate) leaves: Vec<OwnedLeaf>,
    pub(crate) leaves_complete: bool,
}

impl Side {
    /// Whether what this machine lived is not what came out again.
    pub(crate) fn is_at_fault(&self, base: Option<Frame>, target: Frame) -> bool {
        self.lived.first_difference(&self.again, base, target).is_some()
    }
}

/// By path, in the order of player one's state; what only player two has comes last.
///
/// Unless both told `all`, a field that one side did not tell of is not taken for one that it does not have.
pub(crate) fn differing_fields([one, two]: &[Vec<OwnedLeaf>; 2], all: bool) -> Vec<FieldDifference> {
    let index = |leaves: &[OwnedLeaf]| -> FxHashMap<String, usize> {
        leaves.iter().enumerate().map(|(at, leaf)| (leaf.path.clone(), at)).collect()
    };
    let (in_one, in_two) = (index(one), index(two));
    let mut fields = Vec::new();
    for leaf in one {
        let other = in_two.get(&leaf.path).map(|at| &two[*at]);
        if other.map_or(all, |other| other.words != leaf.words) {
            let (path, one) = (leaf.path.clone(), Some(leaf.shown.clone()));
            fields.push(FieldDifference { path, one, two: other.map(|other| other.shown.clone()) });
        }
    }
    for leaf in two.iter().filter(|leaf| all && !in_one.contains_key(&leaf.path)) {
        let (path, two) = (leaf.path.clone(), Some(leaf.shown.clone()));
        fields.push(FieldDifference { path, one: None, two });
    }
    fields
}
