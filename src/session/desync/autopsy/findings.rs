//! The findings of an autopsy, and the report that is made of them.

use super::evidence::{Claim, Scope, Traces, differing_fields};
use super::judgement::{Judgement, Void};
use super::past::Past;
use super::peer_claims::{PeerClaims, PeerNotes};
use super::phases;
use super::report::{Autopsy, AutopsyVerdict};
use crate::game::fields::not_compared;
use crate::game::marks::Mark;
use crate::session::desync::watch::Comparison;
use crate::{Fields, Frame, OwnedLeaf, Player};

/// Everything that this machine has found out.
pub(crate) struct Findings {
    /// Our START.
    pub(crate) claim: Claim,
    pub(crate) scope: Scope,
    pub(crate) ours: Traces,
    /// The frame of the state that was taken apart, and whether it is exactly the first that differs.
    pub(crate) examined: Option<(Frame, bool)>,
    /// Our leaves of that state.
    pub(crate) leaves: Vec<OwnedLeaf>,
    /// The marks of our own step into that state, and our leaves of the first marked value that differs.
    pub(crate) marks: Vec<Mark>,
    pub(crate) phase_leaves: Vec<OwnedLeaf>,
    /// Whether the peer has told everything.
    pub(crate) complete: bool,
}

impl Findings {
    /// The findings before a state was taken apart.
    pub(crate) fn new(claim: Claim, scope: Scope, ours: Traces) -> Self {
        Self {
            claim,
            scope,
            ours,
            examined: None,
            leaves: Vec::new(),
            marks: Vec::new(),
            phase_leaves: Vec::new(),
            complete: false,
        }
    }

    /// Judges the comparison that failed here.
    pub(crate) fn judge(&self, seen: Comparison, theirs: &PeerClaims) -> Judgement {
        let refuted = theirs.claim().is_some_and(|theirs| self.claim.refutes(theirs));
        Judgement::of(self.scope, seen, refuted, &self.ours, theirs.traces())
    }

    /// The last frame that matched here, if both machines have stepped again into the frame in question and came to the same states.
    pub(crate) fn mendable(&self, theirs: &Traces) -> Option<Frame> {
        let (ours, theirs, target) = (&self.ours.resimulated, &theirs.resimulated, self.scope.target);
        let agree = ours.at(target).and(theirs.at(target)).is_some()
            && theirs.complete
            && ours.first_difference(theirs, self.scope).is_none();
        self.claim.last_match().filter(|_| agree)
    }

    /// Puts our findings and the peer's claims together.
    pub(crate) fn report<S: Fields>(
        self,
        local: Player,
        judgement: Judgement,
        theirs: PeerClaims,
        past: Past<'_, S>,
    ) -> Autopsy {
        let Self { scope, ours, examined, leaves, marks, phase_leaves, complete, .. } = self;
        let (first_divergence, exact) = examined.unwrap_or((scope.target, false));
        let theirs = theirs.into_notes();
        let PeerNotes { traces: their_traces, marks: their_marks, .. } = theirs;
        let phase =
            phases::report(local, [&marks, &their_marks], [phase_leaves, theirs.phase_leaves], complete);
        let mut states = [leaves, theirs.leaves];
        let mut at_fault = match judgement {
            Judgement::Void(Void { ours, theirs }) => [ours, theirs],
            _ => [&ours, &their_traces].map(|traces| traces.is_at_fault(scope)),
        };
        if local == Player::Two {
            states.reverse();
            at_fault.reverse();
        }
        let fields = differing_fields(&states, complete);
        let [one, two] = at_fault;
        let verdict = if scope.base.is_none() && first_divergence == Frame::ZERO && !fields.is_empty() {
            AutopsyVerdict::StartDiffers
        } else if one || two {
            AutopsyVerdict::NotReproducible { one, two }
        } else if ours.resimulated.first_difference(&their_traces.resimulated, scope).is_some() {
            AutopsyVerdict::StepDiffers
        } else {
            AutopsyVerdict::Unknown
        };
        let from = Frame(scope.first().0.saturating_sub(1));
        let inputs =
            from.until(scope.target).filter_map(|frame| Some((frame, past.inputs(frame)?))).collect();
        Autopsy {
            local,
            last_match: scope.base,
            first_divergence,
            exact,
            verdict,
            phase,
            fields,
            not_compared: past.state(first_divergence).map(not_compared).unwrap_or_default(),
            states,
            inputs,
            complete,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::evidence::Trace;
    use super::super::exchange::Exchange;
    use super::*;
    use crate::rollback::{EngineConfig, Rollback};
    use crate::session::desync::watch::Archive;
    use crate::wire::autopsy;
    use crate::{Cues, Game, Inputs};

    #[derive(Clone, Copy)]
    struct Still {
        hp: u32,
    }
    crate::fields!(Still { hp });

    impl Game for Still {
        fn step(&mut self, _: Inputs, _: &mut Cues) {}
    }

    fn leaf(value: u32) -> Vec<OwnedLeaf> {
        vec![OwnedLeaf { path: "hp".to_owned(), words: vec![value], shown: value.to_string() }]
    }

    /// The checksums of frames 0 to 60, with another one of the last frame if they are `off`.
    fn trace(off: bool) -> Trace {
        let mut values = vec![5; 61];
        values[60] += u32::from(off);
        Trace { first: Frame::ZERO, values, complete: true }
    }

    fn traces(recorded: bool, resimulated: bool) -> Traces {
        Traces { recorded: trace(recorded), resimulated: trace(resimulated) }
    }

    /// The report of the machine of `local` about frame `first` after `base`, with leaves of these values.
    fn report(
        local: Player,
        (base, first): (Option<u32>, u32),
        values: [u32; 2],
        [ours, theirs]: [Traces; 2],
    ) -> Autopsy {
        let claim = Claim::new(Frame(60), base.map(Frame));
        let examined = Some((Frame(first), true));
        let scope = Scope::of_one(claim);
        let findings = Findings {
            examined,
            leaves: leaf(values[0]),
            complete: true,
            ..Findings::new(claim, scope, ours)
        };
        let (mut exchange, mut claims) = (Exchange::default(), PeerClaims::new(claim));
        exchange.trace(false, &theirs.recorded);
        exchange.trace(true, &theirs.resimulated);
        exchange.leaves(&leaf(values[1]));
        while let Some(message) = exchange.next_message() {
            assert!(claims.take(autopsy::decode(&message).expect("well formed")));
        }
        let game = Still { hp: 1 };
        let engine = Rollback::new(EngineConfig::default(), &game);
        let archive = Archive::new(30, true, || game);
        findings.report(local, Judgement::Differ, claims, Past::new(&archive, &engine))
    }

    #[test]
    fn start_differs_if_the_first_states_have_different_fields() {
        let verdict = |place, values| {
            report(Player::One, place, values, [traces(false, false), traces(false, false)]).verdict
        };
        assert_eq!(verdict((None, 0), [1, 2]), AutopsyVerdict::StartDiffers);
        assert_eq!(verdict((None, 0), [1, 1]), AutopsyVerdict::Unknown, "no field differs");
        assert_eq!(verdict((None, 5), [1, 2]), AutopsyVerdict::Unknown, "a later frame");
        assert_eq!(verdict((Some(0), 0), [1, 2]), AutopsyVerdict::Unknown, "frame 0 matched");
    }

    #[test]
    fn verdict_names_the_machine_that_does_not_reproduce_its_states() {
        for (local, one) in [(Player::One, true), (Player::Two, false)] {
            let autopsy = report(local, (Some(30), 60), [1, 2], [traces(true, false), traces(false, false)]);
            assert_eq!(autopsy.verdict, AutopsyVerdict::NotReproducible { one, two: !one });
            let seen = autopsy.states.map(|leaves| leaves[0].words[0]);
            assert_eq!(seen, if one { [1, 2] } else { [2, 1] }, "by seat");
        }
        let differs = report(Player::One, (Some(30), 60), [1, 2], [traces(true, true), traces(false, false)]);
        assert_eq!(differs.verdict, AutopsyVerdict::StepDiffers);
    }
}
