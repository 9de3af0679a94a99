//! The state whose fields an autopsy compares.

use super::evidence::{Scope, Traces};
use super::leaves;
use super::past::Past;
use super::resimulate::resimulate;
use crate::{Fields, Frame, Game};

/// The state of the first frame that differs.
#[derive(Clone, Debug)]
pub(crate) struct ExaminedState<S> {
    frame: Frame,
    /// Whether the frame before it is known to be the same.
    exact: bool,
    /// How many leaves the state has.
    leaves: u32,
    /// The state as resimulated; `None` if it is the one that was played, which is read where it is kept. The game's own
    /// `restore`, which may be at fault, has no part in it then.
    resimulated: Option<Box<S>>,
}

impl<S: Fields> ExaminedState<S> {
    /// Chooses the state from the traces of both machines; `None` if it is not kept.
    ///
    /// Both machines have the same traces, so they choose the same frame.
    pub(crate) fn choose<G: Game<Snapshot = S>>(
        scope: Scope,
        ours: &Traces,
        theirs: &Traces,
        game: &mut G,
        past: Past<'_, S>,
    ) -> Option<Self> {
        let recorded = ours.recorded.first_difference(&theirs.recorded, scope);
        // States that a machine does not reproduce come out differently each time: only those it played count.
        let reproducible = !ours.is_at_fault(scope) && !theirs.is_at_fault(scope);
        let resimulated = ours.resimulated.first_difference(&theirs.resimulated, scope);
        let resimulated = resimulated.filter(|_| reproducible || recorded.is_none());
        let (frame, exact, from_recorded) = match (recorded, resimulated) {
            (Some((frame, true)), _) => (frame, true, true),
            (_, Some((frame, exact))) => (frame, exact, false),
            (Some((frame, false)), None) => (frame, false, true),
            (None, None) => (scope.target, false, true),
        };
        if from_recorded {
            let leaves = leaves::count(past.state(frame)?);
            return Some(Self { frame, exact, leaves, resimulated: None });
        }
        let base = scope.base?;
        let inputs = past.inputs_between(base, frame)?;
        let state = resimulate(game, past.state(base)?, &inputs, |_| {});
        Some(Self { frame, exact, leaves: leaves::count(&state), resimulated: Some(Box::new(state)) })
    }

    pub(crate) fn frame(&self) -> Frame {
        self.frame
    }

    /// Whether the frame before it is known to be the same.
    pub(crate) fn is_exact(&self) -> bool {
        self.exact
    }

    /// How many leaves the state has.
    pub(crate) fn leaves(&self) -> u32 {
        self.leaves
    }

    /// The state itself, if it is kept.
    pub(crate) fn state<'a>(&'a self, past: Past<'a, S>) -> Option<&'a S> {
        match &self.resimulated {
            Some(state) => Some(state),
            None => past.state(self.frame),
        }
    }
}
