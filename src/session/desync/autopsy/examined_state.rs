//! The state whose fields an autopsy compares.

use super::evidence::{Scope, Traces};
use super::findings::Findings;
use super::past::Past;
use super::resimulate::{Resimulation, step_marked};
use crate::game::fields::leaves::{Look, first_leaves};
use crate::game::marks::{Mark, Marks, leaves_of};
use crate::{Fields, Frame, Game, OwnedLeaf, StateError};

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

    /// The frame before it.
    pub(crate) fn before(self) -> Frame {
        Frame(self.frame.0.saturating_sub(1))
    }

    /// Whether the phases of the step into it are compared: both machines step from the same state then.
    pub(crate) fn has_phases(self) -> bool {
        self.exact && self.frame > Frame::ZERO
    }
}

/// The state of the first frame that differs, and the phases of the step into it.
#[derive(Clone, Debug)]
pub(crate) struct ExaminedState<S> {
    chosen: Chosen,
    /// How many leaves the state has.
    count: u32,
    /// The state as resimulated; `None` if it is the one that was played, which is read where it is kept. The game's own
    /// `restore`, which may be at fault, has no part in it then.
    resimulated: Option<Box<Reached<S>>>,
    /// The marks of the step into the state, and the end of the step; empty if the step could not be made again.
    marks: Vec<Mark>,
    /// Our leaves of the state, once they are told.
    leaves: Vec<OwnedLeaf>,
    /// The mark whose value is compared after the state, and our leaves of it.
    mark: Option<usize>,
    mark_leaves: Vec<OwnedLeaf>,
}

/// A resimulated state, and the resimulation that has come to the frame before it.
#[derive(Clone, Debug)]
struct Reached<S> {
    before: Resimulation<S>,
    state: S,
}

impl<S: Fields> ExaminedState<S> {
    /// Makes the step into the chosen state again. `resimulation` has come to the frame before it, if the state is a
    /// resimulated one. `None` if a state that was played is not kept.
    pub(crate) fn new<G: Game<Snapshot = S>>(
        chosen: Chosen,
        resimulation: Option<Box<Resimulation<S>>>,
        game: &mut G,
        past: Past<'_, S>,
    ) -> Result<Option<Self>, StateError> {
        let unstepped = |count| Self {
            chosen,
            count,
            resimulated: None,
            marks: Vec::new(),
            leaves: Vec::new(),
            mark: None,
            mark_leaves: Vec::new(),
        };
        if chosen.recorded {
            let Some(state) = past.state(chosen.frame) else { return Ok(None) };
            let mut examined = unstepped(leaves_of(state));
            if chosen.has_phases()
                && let Some((state, marks)) = examined.step(game, past, Marks::default())?
            {
                examined.marks = with_end(marks, &state);
            }
            return Ok(Some(examined));
        }
        let Some(before) = resimulation else { return Ok(None) };
        let Some(inputs) = before.inputs() else { return Ok(None) };
        let (state, marks) = step_marked(game, before.state(), inputs, Marks::default())?;
        let (count, marks) = (leaves_of(&state), with_end(marks, &state));
        Ok(Some(Self {
            resimulated: Some(Box::new(Reached { before: *before, state })),
            marks,
            ..unstepped(count)
        }))
    }

    /// Makes the step into the state again; `None` if the state before it is not kept.
    fn step<G: Game<Snapshot = S>>(
        &self,
        game: &mut G,
        past: Past<'_, S>,
        marks: Marks,
    ) -> Result<Option<(S, Marks)>, StateError> {
        let before = match &self.resimulated {
            Some(reached) => Some(reached.before.state()).zip(reached.before.inputs()),
            None => past.state(self.chosen.before()).zip(past.inputs(self.chosen.before())),
        };
        before.map(|(state, inputs)| step_marked(game, state, inputs, marks)).transpose()
    }

    pub(crate) fn frame(&self) -> Frame {
        self.chosen.frame
    }

    /// How many leaves the state has.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    pub(crate) fn marks(&self) -> &[Mark] {
        &self.marks
    }

    /// Goes on to the value of a mark.
    pub(crate) fn look_into(&mut self, mark: usize) {
        self.mark = Some(mark);
    }

    /// Whether the value of a mark is compared, and not the state.
    pub(crate) fn is_at_mark(&self) -> bool {
        self.mark.is_some()
    }

    /// Goes on with a look at the value that is compared, at so many of its leaves; `None` if it is not kept. The value of a
    /// mark costs a step.
    pub(crate) fn look<G: Game<Snapshot = S>>(
        &self,
        game: &mut G,
        past: Past<'_, S>,
        mut look: Look,
        leaves: usize,
    ) -> Result<Option<Look>, StateError> {
        let Some(mark) = self.mark else {
            return Ok(self.state(past).map(|state| {
                look.go_on(state, leaves);
                look
            }));
        };
        let stepped = self.step(game, past, Marks::looking_at(mark, look, leaves))?;
        Ok(stepped.and_then(|(_, marks)| marks.into_look()))
    }

    /// Keeps our leaves of the value that is compared.
    pub(crate) fn keep(&mut self, leaves: Vec<OwnedLeaf>) {
        *if self.is_at_mark() { &mut self.mark_leaves } else { &mut self.leaves } = leaves;
    }

    fn state<'a>(&'a self, past: Past<'a, S>) -> Option<&'a S> {
        match &self.resimulated {
            Some(reached) => Some(&reached.state),
            None => past.state(self.chosen.frame),
        }
    }

    /// Puts everything that is known into the findings. Leaves that are not told yet are taken here.
    pub(crate) fn conclude(self, past: Past<'_, S>, findings: &mut Findings) {
        let untold = || self.state(past).map_or_else(Vec::new, first_leaves);
        findings.leaves = if self.leaves.is_empty() { untold() } else { self.leaves };
        findings.examined = Some((self.chosen.frame, self.chosen.exact));
        (findings.marks, findings.phase_leaves) = (self.marks, self.mark_leaves);
    }
}

/// The marks of a step and its end: the whole state.
fn with_end<S: Fields>(mut marks: Marks, state: &S) -> Vec<Mark> {
    let mut marks = marks.take_list();
    marks.push(Mark::new("", state));
    marks
}
