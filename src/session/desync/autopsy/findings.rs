//! The findings of an autopsy, and the report that is made of them.

use super::evidence::{Claim, Scope, Traces, differing_fields};
use super::judgement::{Judgement, Void};
use super::leaves::OwnedLeaf;
use super::past::Past;
use super::peer_claims::PeerClaims;
use super::report::{Autopsy, AutopsyVerdict};
use crate::game::fields::not_compared;
use crate::session::desync::watch::Comparison;
use crate::{Fields, Frame, Player};

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
    /// Whether the peer has told everything.
    pub(crate) complete: bool,
}

impl Findings {
    /// Judges the comparison that failed here.
    pub(crate) fn judge(&self, seen: Comparison, theirs: &PeerClaims) -> Judgement {
        let refuted = theirs.claim().is_some_and(|theirs| self.claim.refutes(theirs));
        Judgement::of(self.scope, seen, refuted, &self.ours, theirs.traces())
    }

    /// Puts our findings and the peer's claims together.
    pub(crate) fn report<S: Fields>(
        self,
        local: Player,
        judgement: Judgement,
        theirs: PeerClaims,
        past: Past<'_, S>,
    ) -> Autopsy {
        let Self { scope, ours, examined, leaves, complete, .. } = self;
        let (first_divergence, exact) = examined.unwrap_or((scope.target, false));
        let (their_traces, their_leaves) = theirs.into_notes();
        let mut states = [leaves, their_leaves];
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
            fields,
            not_compared: past.state(first_divergence).map(not_compared).unwrap_or_default(),
            states,
            inputs,
            complete,
        }
    }
}
