//! Resimulation: stepping the confirmed inputs again from a kept state, to compare with what was played.

use super::budget::Budget;
use super::evidence::{Scope, Trace, Traces};
use super::past::Past;
use crate::game::marks::Marks;
use crate::game::saved;
use crate::{Cues, Fields, Frame, Game, Inputs, StateError, checksum};

/// A resimulation that makes some steps in each `advance`. In between, the game is as it was.
#[derive(Clone, Debug)]
pub(crate) struct Resimulation<S> {
    /// The frame that it starts from, and its state. A copy, because the archive may drop its own.
    base: Frame,
    first: S,
    /// The frame that it has come to, and its state; after the base.
    frame: Frame,
    state: S,
    /// The inputs from the base on.
    inputs: Vec<Inputs>,
    /// The state of the game while the autopsy steps it.
    own: S,
}

impl<S: Fields> Resimulation<S> {
    /// A resimulation from state `base` up to state `target` at most, if everything for it is kept.
    ///
    /// # Errors
    /// If the game could not save or restore a state. It may then be in any.
    pub(crate) fn new<G: Game<Snapshot = S>>(
        game: &mut G,
        past: Past<'_, S>,
        base: Frame,
        target: Frame,
    ) -> Result<Option<Self>, StateError> {
        let Some((from, inputs)) = past.state(base).zip(past.inputs_between(base, target)) else {
            return Ok(None);
        };
        let own = saved(game)?;
        game.restore(from)?;
        let (first, state) = (saved(game)?, game.snapshot());
        game.restore(&own)?;
        Ok(Some(Self { base, first, frame: base, state, inputs, own }))
    }

    /// The state that it has come to.
    pub(crate) fn state(&self) -> &S {
        if self.frame == self.base { &self.first } else { &self.state }
    }

    /// The inputs of the frame that it has come to.
    pub(crate) fn inputs(&self) -> Option<Inputs> {
        self.inputs.get(self.frame.since(self.base) as usize).copied()
    }

    /// Begins again at the base.
    pub(crate) fn rewind(&mut self) {
        self.frame = self.base;
    }

    /// Steps towards state `target` with cues off, as far as the budget goes, and shows every state to `look`. Whether it
    /// is there.
    pub(crate) fn go_on<G: Game<Snapshot = S>>(
        &mut self,
        game: &mut G,
        target: Frame,
        budget: &mut Budget,
        mut look: impl FnMut(&S),
    ) -> Result<bool, StateError> {
        if self.frame >= target || !budget.take() {
            return Ok(self.frame >= target);
        }
        game.save(&mut self.own)?;
        game.restore(self.state())?;
        let mut cues = Cues::unseen();
        while let Some(inputs) = self.inputs() {
            cues.clear();
            game.step(inputs, &mut cues);
            game.save(&mut self.state)?;
            look(&self.state);
            self.frame = self.frame.next();
            if self.frame >= target || !budget.take() {
                break;
            }
        }
        game.restore(&self.own)?;
        Ok(self.frame >= target)
    }

    /// The checksum of the state that one step leads to from a kept state. Begins again at the base.
    fn step_alone<G: Game<Snapshot = S>>(
        &mut self,
        game: &mut G,
        from: &S,
        inputs: Inputs,
    ) -> Result<u32, StateError> {
        self.rewind();
        game.save(&mut self.own)?;
        game.restore(from)?;
        game.step(inputs, &mut Cues::unseen());
        game.save(&mut self.state)?;
        game.restore(&self.own)?;
        Ok(checksum(&self.state))
    }
}

/// Makes one step from a state with the game's phases marked. Returns the state that it leads to, and the marks. The game is
/// left as it was.
pub(crate) fn step_marked<G: Game>(
    game: &mut G,
    from: &G::Snapshot,
    inputs: Inputs,
    marks: Marks,
) -> Result<(G::Snapshot, Marks), StateError> {
    let own = saved(game)?;
    game.restore(from)?;
    let mut cues = Cues::marking(marks);
    game.step(inputs, &mut cues);
    let state = saved(game)?;
    game.restore(&own)?;
    Ok((state, cues.into_marks()))
}

/// Takes the checksums of the states that come out of a resimulation from the base.
#[derive(Clone, Debug)]
pub(crate) struct Retrace<S> {
    resimulation: Resimulation<S>,
    /// The next frame that is stepped on its own, once the resimulation is done.
    alone: Option<Frame>,
}

impl<S: Fields> Retrace<S> {
    /// Begins at the base; `None` if there is none. A base that is not kept here is replaced by our own last match, so that a
    /// peer that claims an old one does not keep us from resimulating.
    pub(crate) fn new<G: Game<Snapshot = S>>(
        game: &mut G,
        past: Past<'_, S>,
        scope: Scope,
        last_match: Option<Frame>,
        traces: &mut Traces,
    ) -> Result<Option<Self>, StateError> {
        traces.resimulated = Trace { first: scope.first(), ..Trace::default() };
        let own = last_match.filter(|matched| scope.base.is_some() && *matched < scope.target);
        let Some(kept) = [scope.base, own].into_iter().flatten().find(|base| past.state(*base).is_some())
        else {
            return Ok(None);
        };
        let Some(resimulation) = Resimulation::new(game, past, kept, scope.target)? else { return Ok(None) };
        traces.resimulated.first = kept.next();
        Ok(Some(Self { resimulation, alone: None }))
    }

    /// Puts the next checksums into the traces; whether they are complete.
    pub(crate) fn go_on<G: Game<Snapshot = S>>(
        &mut self,
        game: &mut G,
        past: Past<'_, S>,
        scope: Scope,
        traces: &mut Traces,
        budget: &mut Budget,
    ) -> Result<bool, StateError> {
        if self.alone.is_none() {
            let values = &mut traces.resimulated.values;
            if !self.resimulation.go_on(game, scope.target, budget, |state| values.push(checksum(state)))? {
                return Ok(false);
            }
            if traces.is_at_fault(scope) {
                return Ok(true);
            }
        }
        self.step_one_by_one(game, past, scope, traces, budget)
    }

    /// Steps each kept frame on its own, from its own state, and puts the first checksum that differs into the trace.
    ///
    /// A resimulation in one go can give what was played by chance: if a rollback began exactly at the last match, or if a
    /// cache is filled again there.
    fn step_one_by_one<G: Game<Snapshot = S>>(
        &mut self,
        game: &mut G,
        past: Past<'_, S>,
        scope: Scope,
        traces: &mut Traces,
        budget: &mut Budget,
    ) -> Result<bool, StateError> {
        let Traces { recorded, resimulated } = traces;
        let next = self.alone.unwrap_or_else(|| recorded.first.max(scope.base.unwrap_or_default()));
        for frame in next.until(scope.target) {
            let (Some(state), Some(inputs)) = (past.state(frame), past.inputs(frame)) else {
                return Ok(true);
            };
            if !budget.take() {
                self.alone = Some(frame);
                return Ok(false);
            }
            let value = self.resimulation.step_alone(game, state, inputs)?;
            let index = frame.next().since(resimulated.first) as usize;
            if recorded.at(frame.next()) != Some(value)
                && let Some(known) = resimulated.values.get_mut(index)
            {
                *known = value;
                return Ok(true);
            }
        }
        Ok(true)
    }

    /// The resimulation, at its base.
    pub(crate) fn into_resimulation(mut self) -> Resimulation<S> {
        self.resimulation.rewind();
        self.resimulation
    }
}

#[cfg(test)]
mod tests {
    use super::super::evidence::Claim;
    use super::super::recorder::Recorder;
    use super::*;
    use crate::protocol::time::Span;
    use crate::rollback::{EngineConfig, Rollback};
    use crate::session::desync::watch::Archive;
    use crate::{Save, StateError};

    /// A game with a cache outside its snapshot: the third step after a restore comes out differently.
    #[derive(Default)]
    struct Cached {
        state: u32,
        steps: u32,
    }

    impl Save for Cached {
        type Snapshot = u32;
        fn snapshot(&self) -> u32 {
            self.state
        }
        fn save(&self, slot: &mut u32) -> Result<(), StateError> {
            *slot = self.state;
            Ok(())
        }
        fn restore(&mut self, snapshot: &u32) -> Result<(), StateError> {
            (self.state, self.steps) = (*snapshot, 0);
            Ok(())
        }
    }

    impl Game for Cached {
        fn step(&mut self, _: Inputs, _: &mut Cues) {
            self.steps += 1;
            self.state = self.state * 2 + u32::from(self.steps == 3);
        }
    }

    /// A rollback to the base has played the same frames in one go, and no more than the autopsy steps in one `advance`.
    #[test]
    fn steps_one_by_one_find_a_cache_outside_the_snapshot() {
        let mut game = Cached { state: 1, steps: 0 };
        let engine = Rollback::new(EngineConfig::default(), &game);
        let mut archive = Archive::new(30, true, || 0);
        for frame in (0..=3).map(Frame) {
            archive.settled(frame, Inputs::default());
            archive.swap(frame, &mut game.snapshot());
            game.step(Inputs::default(), &mut Cues::new());
        }
        let (past, scope) =
            (Past::new(&archive, &engine), Scope::of_one(Claim::new(Frame(3), Some(Frame(0)))));
        let budget = || Budget::of_one_advance(None, Span::ZERO);
        let recorded = Recorder::new(scope).go_on(past, &mut budget()).expect("four small states");
        let mut traces = Traces { recorded, ..Traces::default() };
        let mut retrace =
            Retrace::new(&mut game, past, scope, None, &mut traces).unwrap().expect("all is kept");
        while !retrace.go_on(&mut game, past, scope, &mut traces, &mut budget()).unwrap() {}
        let found = traces.recorded.first_difference(&traces.resimulated, scope);
        assert_eq!(found, Some((Frame(3), true)));
        assert_eq!(traces.resimulated.values.len(), 3);
    }
}
