//! The judgement of an autopsy: whether a claimed checksum is void, and whose.

use super::evidence::{Scope, Traces};
use crate::session::desync::watch::Comparison;

/// The sides whose checksum neither machine's resimulation gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Void {
    pub(crate) ours: bool,
    pub(crate) theirs: bool,
}

/// The conclusion from the traces of both machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Judgement {
    /// The states differ, and nothing shows that a checksum was false.
    Differ,
    /// Both resimulations give the same states. A checksum that is not theirs is void.
    Void(Void),
    /// The peer did not send its traces.
    Withheld,
}

impl Judgement {
    /// Judges the comparison `seen`, which failed here, by the traces of both machines. `refuted`: later checksums than the
    /// frame in the peer's START have matched.
    ///
    /// Our own side is judged by our own traces alone, so that no note of the peer can blame us.
    pub(crate) fn of(scope: Scope, seen: Comparison, refuted: bool, ours: &Traces, theirs: &Traces) -> Self {
        let at_fault = Void { ours: ours.is_at_fault(scope), theirs: theirs.is_at_fault(scope) };
        if !theirs.are_complete() {
            // A machine that does not reproduce its own states needs no answer to know that.
            return if at_fault.ours { Self::Differ } else { Self::Withheld };
        }
        if ours.resimulated.first_difference(&theirs.resimulated, scope).is_some() {
            return Self::Differ;
        }
        let target = scope.target;
        let is_seen = seen.frame == target;
        let resimulated = theirs.resimulated.at(target).and(ours.resimulated.at(target));
        let recorded = ours.recorded.at(target).zip(theirs.recorded.at(target));
        // The peer's START named an earlier frame in which nothing differs.
        let false_start = !is_seen && (refuted || recorded.is_some_and(|(ours, theirs)| ours == theirs));
        let void = match resimulated {
            Some(value) => Void {
                ours: at_fault.ours || is_seen && seen.ours != value,
                theirs: at_fault.theirs || is_seen && seen.theirs != value,
            },
            // Without two resimulations a claim is void only if the peer's own notes contradict it.
            None if at_fault.ours || at_fault.theirs => return Self::Differ,
            None => Void {
                ours: false,
                theirs: is_seen && recorded.is_some_and(|(_, recorded)| recorded == seen.ours),
            },
        };
        match void {
            Void { ours: false, theirs: false } if false_start => Self::Void(Void { theirs: true, ..void }),
            Void { ours: false, theirs: false } => Self::Differ,
            _ => Self::Void(void),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::evidence::{Claim, Trace};
    use super::*;
    use crate::Frame;

    const TARGET: Frame = Frame(60);
    const SEEN: Comparison = Comparison { frame: TARGET, ours: 1_060, theirs: 7 };

    fn scope() -> Scope {
        Scope::of_one(Claim::new(TARGET, Some(Frame(30))))
    }

    /// The checksums of frames 31 to 60: 1,000 more than the frame, but for the last.
    fn trace(last: u32) -> Trace {
        let mut values: Vec<u32> = (1_031..=1_060).collect();
        *values.last_mut().expect("thirty") = last;
        Trace { first: Frame(31), values, complete: true }
    }

    fn traces(recorded: u32, resimulated: u32) -> Traces {
        Traces { recorded: trace(recorded), resimulated: trace(resimulated) }
    }

    fn clean() -> Traces {
        traces(1_060, 1_060)
    }

    fn none() -> Trace {
        Trace { complete: true, ..Trace::default() }
    }

    fn void(ours: bool, theirs: bool) -> Judgement {
        Judgement::Void(Void { ours, theirs })
    }

    #[test]
    fn claim_that_neither_resimulation_gives_is_void() {
        let judged = |theirs: &Traces| Judgement::of(scope(), SEEN, false, &clean(), theirs);
        assert_eq!(judged(&clean()), void(false, true), "its own notes contradict it");
        assert_eq!(judged(&traces(7, 1_060)), void(false, true), "its notes stand by it");
        assert_eq!(judged(&traces(7, 7)), Judgement::Differ, "the step differs");
        assert_eq!(judged(&traces(7, 8)), Judgement::Differ);
    }

    #[test]
    fn fault_of_our_own_is_never_blamed_on_the_peer() {
        let seen = Comparison { frame: TARGET, ours: 7, theirs: 1_060 };
        let ours = traces(7, 1_060);
        assert_eq!(Judgement::of(scope(), seen, false, &ours, &clean()), void(true, false));
        let unfinished = Traces::default();
        assert_eq!(Judgement::of(scope(), seen, false, &ours, &unfinished), Judgement::Differ);
        assert_eq!(Judgement::of(scope(), seen, false, &clean(), &unfinished), Judgement::Withheld);
        let both = Comparison { frame: TARGET, ours: 7, theirs: 8 };
        assert_eq!(Judgement::of(scope(), both, false, &ours, &traces(8, 1_060)), void(true, true));
    }

    #[test]
    fn without_resimulations_only_its_own_notes_make_a_claim_void() {
        let recorded = |last| Traces { recorded: trace(last), resimulated: none() };
        let judged = |theirs: &Traces| Judgement::of(scope(), SEEN, false, &clean(), theirs);
        assert_eq!(judged(&recorded(1_060)), void(false, true));
        assert_eq!(judged(&recorded(7)), Judgement::Differ);
        assert_eq!(judged(&Traces { recorded: none(), resimulated: none() }), Judgement::Differ);
        let ours_at_fault = Judgement::of(scope(), SEEN, false, &traces(7, 1_060), &recorded(1_060));
        assert_eq!(ours_at_fault, Judgement::Differ);
    }

    #[test]
    fn start_about_an_earlier_frame_needs_a_difference_in_it() {
        let seen = Comparison { frame: Frame(90), ..SEEN };
        let judged = |refuted, theirs: &Traces| Judgement::of(scope(), seen, refuted, &clean(), theirs);
        assert_eq!(judged(false, &clean()), void(false, true));
        assert_eq!(judged(false, &traces(7, 1_060)), void(false, true));
        let ours_at_fault = Judgement::of(scope(), seen, false, &traces(7, 1_060), &clean());
        assert_eq!(ours_at_fault, void(true, false));
        let nothing = Traces { recorded: none(), resimulated: none() };
        assert_eq!((judged(true, &nothing), judged(false, &nothing)), (void(false, true), Judgement::Differ));
    }
}
