//! The evidence of an autopsy: the frames that it is about, their checksums on each machine, and the differing fields.

use super::report::FieldDifference;
use crate::{Frame, OwnedLeaf};
use std::collections::BTreeMap;

/// The most frames that are resimulated and compared, whatever the peer claims.
pub(crate) const MAX_FRAMES: u32 = 600;

/// The START of one machine: a frame that differs, and the last frame before it that matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Claim {
    frame: Frame,
    last_match: Option<Frame>,
}

impl Claim {
    /// A match that is not before `frame` counts as none, on both machines alike.
    pub(crate) fn new(frame: Frame, last_match: Option<Frame>) -> Self {
        Self { frame, last_match: last_match.filter(|matched| *matched < frame) }
    }

    pub(crate) fn frame(self) -> Frame {
        self.frame
    }

    pub(crate) fn last_match(self) -> Option<Frame> {
        self.last_match
    }

    /// Whether the states were the same in the other claim's frame or after it: the other claim is false then, or about a
    /// difference that had passed.
    pub(crate) fn refutes(self, other: Self) -> bool {
        self.last_match.is_some_and(|matched| other.frame <= matched)
    }
}

/// The frames that an autopsy compares: those after `base`, up to and with `target`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scope {
    /// The last frame on which both machines agreed.
    pub(crate) base: Option<Frame>,
    /// A frame on which both agreed as only one of them knows, because the other one's checksum was lost on its way.
    pub(crate) lone_match: Option<Frame>,
    /// The first frame that is known to differ.
    pub(crate) target: Frame,
}

impl Scope {
    /// The frames on which both claims agree, so that both machines compare the same ones.
    pub(crate) fn of_both(one: Claim, other: Claim) -> Self {
        let target = one.frame.min(other.frame);
        let common = one.last_match.zip(other.last_match).map(|(a, b)| a.min(b));
        let lone = one.last_match.xor(other.last_match);
        let [base, lone_match] = [common, lone].map(|matched| matched.filter(|frame| *frame < target));
        Self { base, lone_match, target }
    }

    /// The frames of a claim that the other machine has not answered.
    pub(crate) fn of_one(claim: Claim) -> Self {
        Self { base: claim.last_match, lone_match: None, target: claim.frame }
    }

    /// The first frame that is compared. Only the newest are compared if there are more than [`MAX_FRAMES`].
    pub(crate) fn first(self) -> Frame {
        self.after_base().max(Frame(self.target.0.saturating_sub(MAX_FRAMES)))
    }

    /// The frames that are compared.
    pub(crate) fn frames(self) -> impl Iterator<Item = Frame> {
        self.first().until(self.target.next())
    }

    fn after_base(self) -> Frame {
        self.base.map_or(Frame::ZERO, Frame::next)
    }
}

/// Checksums of consecutive frames.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trace {
    pub(crate) first: Frame,
    pub(crate) values: Vec<u32>,
    /// Whether the last value is here. The peer's arrive in several messages.
    pub(crate) complete: bool,
}

impl Trace {
    pub(crate) fn at(&self, frame: Frame) -> Option<u32> {
        self.values.get(frame.0.checked_sub(self.first.0)? as usize).copied()
    }

    /// The newest frame before the first difference, and before the target, in which both traces agree.
    pub(crate) fn newest_agreement(&self, other: &Self, scope: Scope) -> Option<Frame> {
        let mut agreed = None;
        for frame in scope.first().until(scope.target) {
            match (self.at(frame), other.at(frame)) {
                (Some(a), Some(b)) if a != b => break,
                (Some(_), Some(_)) => agreed = Some(frame),
                _ => {}
            }
        }
        agreed
    }

    /// The first frame that both traces have and in which they differ, and whether that is exact: whether the frame
    /// before it is known to be the same.
    pub(crate) fn first_difference(&self, other: &Self, scope: Scope) -> Option<(Frame, bool)> {
        let mut before_known = scope.first() == scope.after_base();
        for frame in scope.frames() {
            match (self.at(frame), other.at(frame)) {
                (Some(a), Some(b)) if a != b => return Some((frame, before_known)),
                (Some(_), Some(_)) => before_known = true,
                _ => before_known = false,
            }
        }
        None
    }
}

/// The checksums that one machine has of the frames in question.
#[derive(Clone, Debug, Default)]
pub(crate) struct Traces {
    /// Of the states that were played.
    pub(crate) recorded: Trace,
    /// Of the states that stepping the same inputs again gives.
    pub(crate) resimulated: Trace,
}

impl Traces {
    pub(crate) fn are_complete(&self) -> bool {
        self.recorded.complete && self.resimulated.complete
    }

    /// Whether this machine does not reproduce its own states.
    pub(crate) fn is_at_fault(&self, scope: Scope) -> bool {
        self.recorded.first_difference(&self.resimulated, scope).is_some()
    }
}

/// The fields that differ between the states of player one and two, in the order of player one's state; fields that
/// only player two has come last.
///
/// A field that one side does not have differs only if both told `all` of theirs: otherwise it may not have been told.
pub(crate) fn differing_fields([one, two]: &[Vec<OwnedLeaf>; 2], all: bool) -> Vec<FieldDifference> {
    let (in_one, in_two) = (by_path(one), by_path(two));
    let mut fields = Vec::new();
    for leaf in one {
        let other = in_two.get(leaf.path.as_str()).map(|at| &two[*at]);
        if other.map_or(all, |other| other.words != leaf.words) {
            let (path, one) = (leaf.path.clone(), Some(leaf.shown.clone()));
            fields.push(FieldDifference { path, one, two: other.map(|other| other.shown.clone()) });
        }
    }
    for leaf in two.iter().filter(|leaf| all && !in_one.contains_key(leaf.path.as_str())) {
        let (path, two) = (leaf.path.clone(), Some(leaf.shown.clone()));
        fields.push(FieldDifference { path, one: None, two });
    }
    fields
}

/// The position of each leaf by its path. An ordered map, because paths chosen by a peer could all collide in a hash map.
pub(crate) fn by_path(leaves: &[OwnedLeaf]) -> BTreeMap<&str, usize> {
    leaves.iter().enumerate().map(|(at, leaf)| (leaf.path.as_str(), at)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(frame: u32, last_match: u32) -> Claim {
        Claim::new(Frame(frame), Some(Frame(last_match)))
    }

    #[test]
    fn match_that_is_not_before_the_frame_counts_as_none() {
        assert_eq!(claim(60, 59).last_match(), Some(Frame(59)));
        assert_eq!((claim(60, 60).last_match(), claim(60, 90).last_match()), (None, None));
    }

    #[test]
    fn later_match_refutes_a_claim() {
        assert!(claim(90, 60).refutes(claim(60, 30)) && claim(90, 60).refutes(claim(30, 0)));
        assert!(!claim(90, 59).refutes(claim(60, 30)) && !claim(60, 30).refutes(claim(90, 60)));
    }

    #[test]
    fn scope_is_what_both_claims_agree_on() {
        let scope = |base: Option<u32>, lone_match: Option<u32>, target| {
            let [base, lone_match] = [base, lone_match].map(|frame| frame.map(Frame));
            Scope { base, lone_match, target: Frame(target) }
        };
        let never = Claim::new(Frame(60), None);
        for (one, other, expected) in [
            (claim(60, 30), claim(90, 0), scope(Some(0), None, 60)),
            (claim(60, 30), never, scope(None, Some(30), 60)),
            (claim(90, 60), never, scope(None, None, 60)),
            (never, never, scope(None, None, 60)),
        ] {
            assert_eq!((Scope::of_both(one, other), Scope::of_both(other, one)), (expected, expected));
        }
    }

    #[test]
    fn at_most_600_frames_before_the_target_are_compared() {
        assert_eq!(Scope::of_one(claim(1_000, 500)).frames().count(), 500);
        let far = Scope::of_one(claim(1_000, 100));
        assert_eq!((far.first(), far.frames().count()), (Frame(400), 601));
    }

    #[test]
    fn difference_is_exact_if_the_frame_before_it_is_known() {
        let trace =
            |first, values: &[u32]| Trace { first: Frame(first), values: values.to_vec(), complete: true };
        let found = |scope, one: &Trace, other: &Trace| one.first_difference(other, scope);
        let near = Scope::of_one(claim(60, 30));
        assert_eq!(
            found(near, &trace(31, &[1]), &trace(31, &[2])),
            Some((Frame(31), true)),
            "after the match"
        );
        assert_eq!(found(near, &trace(40, &[1]), &trace(40, &[2])), Some((Frame(40), false)));
        assert_eq!(found(near, &trace(40, &[5, 1]), &trace(40, &[5, 2])), Some((Frame(41), true)));
        let far = Scope::of_one(claim(1_000, 100));
        assert_eq!(
            found(far, &trace(400, &[1]), &trace(400, &[2])),
            Some((Frame(400), false)),
            "of 900 frames"
        );
        assert_eq!(
            found(near, &trace(30, &[1]), &trace(30, &[2])),
            None,
            "before the first frame in question"
        );
    }
}
