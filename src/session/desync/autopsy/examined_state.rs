//! The state whose fields an autopsy compares.

use super::evidence::{Scope, Traces};
use super::leaves;
use super::past::Past;
use super::resimulate::Resimulation;
use crate::{Fields, Frame};

/// The choice of a state from the traces of both machines. Both have the same traces, so they choose the same one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chosen {
    /// The first frame that differs.
    frame: Frame,
    /// Whether the frame before it is known to be the same.
    exact: bool,
    /// Whether it is the state that was played, and not the one that was resimulated.
    recorded: bool,
}

impl Chosen {
    pub(crate) fn of(scope: Scope, ours: &Traces, theirs: &Traces) -> Self {
        let recorded = ours.recorded.first_difference(&theirs.recorded, scope);
        // States that a machine does not reproduce come out differently each time: only those it played count.
        let reproducible = !ours.is_at_fault(scope) && !theirs.is_at_fault(scope);
        let resimulated = ours.resimulated.first_difference(&theirs.resimulated, scope);
        let resimulated = resimulated.filter(|_| reproducible || recorded.is_none());
        let (frame, exact, recorded) = match (recorded, resimulated) {
            (Some((frame, true)), _) => (frame, true, true),
            (_, Some((frame, exact))) => (frame, exact, false),
            (Some((frame, false)), None) => (frame, false, true),
            (None, None) => (scope.target, false, true),
        };
        Self { frame, exact, recorded }
    }

    pub(crate) fn frame(self) -> Frame {
        self.frame
    }

    pub(crate) fn is_recorded(self) -> bool {
        self.recorded
    }
}

/// The state of the first frame that differs.
#[derive(Clone, Debug)]
pub(crate) struct ExaminedState<S> {
    chosen: Chosen,
    /// How many leaves the state has.
    leaves: u32,
    /// The resimulation that has come to the state; `None` if it is the one that was played, which is read where it is kept.
    /// The game's own `restore`, which may be at fault, has no part in it then.
    resimulated: Option<Box<Resimulation<S>>>,
}

impl<S: Fields> ExaminedState<S> {
    /// The state that was played; `None` if it is not kept.
    pub(crate) fn recorded(chosen: Chosen, past: Past<'_, S>) -> Option<Self> {
        let leaves = leaves::count(past.state(chosen.frame)?);
        Some(Self { chosen, leaves, resimulated: None })
    }

    /// The state that a resimulation has come to.
    pub(crate) fn resimulated(chosen: Chosen, resimulation: Box<Resimulation<S>>) -> Self {
        Self { chosen, leaves: leaves::count(resimulation.state()), resimulated: Some(resimulation) }
    }

    pub(crate) fn frame(&self) -> Frame {
        self.chosen.frame
    }

    /// Whether the frame before it is known to be the same.
    pub(crate) fn is_exact(&self) -> bool {
        self.chosen.exact
    }

    /// How many leaves the state has.
    pub(crate) fn leaves(&self) -> u32 {
        self.leaves
    }

    /// The state itself, if it is kept.
    pub(crate) fn state<'a>(&'a self, past: Past<'a, S>) -> Option<&'a S> {
        match &self.resimulated {
            Some(resimulation) => Some(resimulation.state()),
            None => past.state(self.frame()),
        }
    }
}
