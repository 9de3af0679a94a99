//! The stages of an autopsy: what each of them waits for, and what follows it.

use super::Examiner;
use super::stage::{Case, Level, Looking, Stage, Turn};
use crate::game::fields::leaves::{Detail, MAX_PARTS, Part, Sums, levels_for};
use crate::protocol::time::Time;
use crate::session::desync::autopsy::budget::Budget;
use crate::session::desync::autopsy::evidence::{Claim, Scope, Traces};
use crate::session::desync::autopsy::examined_state::{Chosen, ExaminedState};
use crate::session::desync::autopsy::findings::Findings;
use crate::session::desync::autopsy::past::Past;
use crate::session::desync::autopsy::phases;
use crate::session::desync::autopsy::recorder::Recorder;
use crate::session::desync::autopsy::resimulate::{Resimulation, Retrace};
use crate::{Fields, Game, StateError};

impl<S: Fields> Examiner<S> {
    pub(super) fn open(&mut self, since: Time, ours: Claim, past: Past<'_, S>) -> Turn<S> {
        if let Some(theirs) = self.answer_to(ours) {
            let scope = Scope::of_both(ours, theirs);
            if past.reaches(scope.target) {
                return Turn::Next(Self::record(since, ours, scope));
            }
        }
        Turn::Wait(Stage::Opening { since, ours })
    }

    /// Begins to take the checksums of the frames in question.
    pub(super) fn record(since: Time, claim: Claim, scope: Scope) -> Stage<S> {
        Stage::Recording(Case { since, claim, scope, ours: Traces::default() }, Recorder::new(scope))
    }

    /// Sends the checksums, and goes on to those of a resimulation if there is a base.
    pub(super) fn recorded<G: Game<Snapshot = S>>(
        &mut self,
        mut case: Case,
        mut recorder: Recorder,
        game: &mut G,
        past: Past<'_, S>,
        budget: &mut Budget,
    ) -> Result<Turn<S>, StateError> {
        let Some(recorded) = recorder.go_on(past, budget) else {
            return Ok(Turn::Wait(Stage::Recording(case, recorder)));
        };
        self.exchange.trace(false, &recorded);
        case.ours.recorded = recorded;
        let has_base = case.scope.base.is_some();
        Ok(Turn::Next(if has_base { self.trace_again(case, game, past)? } else { Stage::Basing(case) }))
    }

    /// Takes as the base the newest frame that both machines recorded alike, or else the match that only one of them
    /// knows of. Both have the same traces and claims, so they take the same frame.
    pub(super) fn base<G: Game<Snapshot = S>>(
        &mut self,
        mut case: Case,
        game: &mut G,
        past: Past<'_, S>,
    ) -> Result<Turn<S>, StateError> {
        let theirs = &self.theirs.traces().recorded;
        if !theirs.complete {
            return Ok(Turn::Wait(Stage::Basing(case)));
        }
        let agreed = case.ours.recorded.newest_agreement(theirs, case.scope);
        case.scope.base = agreed.or(case.scope.lone_match);
        Ok(Turn::Next(self.trace_again(case, game, past)?))
    }

    /// Begins to take the checksums of a resimulation.
    pub(super) fn trace_again<G: Game<Snapshot = S>>(
        &mut self,
        mut case: Case,
        game: &mut G,
        past: Past<'_, S>,
    ) -> Result<Stage<S>, StateError> {
        Ok(match Retrace::new(game, past, case.scope, case.claim.last_match(), &mut case.ours)? {
            Some(retrace) => Stage::Retracing(case, Box::new(retrace)),
            None => self.traced(case, None),
        })
    }

    pub(super) fn retrace<G: Game<Snapshot = S>>(
        &mut self,
        mut case: Case,
        mut retrace: Box<Retrace<S>>,
        game: &mut G,
        past: Past<'_, S>,
        budget: &mut Budget,
    ) -> Result<Turn<S>, StateError> {
        if !retrace.go_on(game, past, case.scope, &mut case.ours, budget)? {
            return Ok(Turn::Wait(Stage::Retracing(case, retrace)));
        }
        Ok(Turn::Next(self.traced(case, Some(Box::new(retrace.into_resimulation())))))
    }

    /// Sends the checksums of the resimulation.
    pub(super) fn traced(&mut self, mut case: Case, resimulation: Option<Box<Resimulation<S>>>) -> Stage<S> {
        case.ours.resimulated.complete = true;
        self.exchange.trace(true, &case.ours.resimulated);
        Stage::Tracing(case, resimulation)
    }

    pub(super) fn choose(&mut self, case: Case, resimulation: Option<Box<Resimulation<S>>>) -> Turn<S> {
        let theirs = self.theirs.traces();
        if !theirs.are_complete() {
            return Turn::Wait(Stage::Tracing(case, resimulation));
        }
        let chosen = Chosen::of(case.scope, &case.ours, theirs);
        Turn::Next(Stage::Reaching(case, chosen, resimulation))
    }

    /// Makes the step into the chosen state again, and tells of both.
    pub(super) fn reach<G: Game<Snapshot = S>>(
        &mut self,
        case: Case,
        chosen: Chosen,
        mut resimulation: Option<Box<Resimulation<S>>>,
        game: &mut G,
        past: Past<'_, S>,
        budget: &mut Budget,
    ) -> Result<Turn<S>, StateError> {
        if let Some(resimulation) = resimulation.as_mut().filter(|_| !chosen.is_recorded()) {
            resimulation.go_on(game, chosen.before(), budget, |_| {})?;
        }
        if !budget.take() {
            return Ok(Turn::Wait(Stage::Reaching(case, chosen, resimulation)));
        }
        let Some(examined) = ExaminedState::new(chosen, resimulation, game, past)? else {
            return Ok(Turn::Conclude(Stage::Reaching(case, chosen, None)));
        };
        self.exchange.state(chosen.frame(), examined.count());
        if chosen.has_phases() {
            self.exchange.phases(examined.marks());
        }
        Ok(Turn::Next(Stage::Choosing(case, examined)))
    }

    /// Begins to compare the states, if the peer has chosen the same frame.
    pub(super) fn agree(&mut self, case: Case, examined: ExaminedState<S>) -> Turn<S> {
        match self.theirs.examined() {
            None => Turn::Wait(Stage::Choosing(case, examined)),
            Some((frame, _)) if frame != examined.frame() => Turn::Conclude(Stage::Choosing(case, examined)),
            Some((_, count)) => {
                let levels = levels_for(examined.count().max(count));
                Turn::Next(Stage::Looking(case, examined, Looking::at(&[Part::ALL], levels)))
            }
        }
    }

    /// Looks at some parts of the value that is compared, and sends their tables, or after the last level their leaves.
    pub(super) fn look<G: Game<Snapshot = S>>(
        &mut self,
        case: Case,
        mut examined: ExaminedState<S>,
        Looking { levels, mut look }: Looking,
        game: &mut G,
        past: Past<'_, S>,
        budget: &mut Budget,
    ) -> Result<Turn<S>, StateError> {
        while !look.is_whole() {
            let Some(leaves) = budget.leaves() else {
                return Ok(Turn::Wait(Stage::Looking(case, examined, Looking { levels, look })));
            };
            let Some(further) = examined.look(game, past, look, leaves)? else {
                return Ok(Turn::Conclude(Stage::Choosing(case, examined)));
            };
            look = further;
        }
        let parts = look.parts().to_vec();
        Ok(Turn::Next(match look.into_detail() {
            Detail::Tables(tables) => {
                let ours: Vec<(Part, Sums)> = parts.into_iter().zip(tables).collect();
                ours.iter().for_each(|(part, sums)| self.exchange.table(*part, sums));
                Stage::Narrowing(case, examined, Level { levels, ours })
            }
            Detail::Leaves(leaves) => {
                self.exchange.leaves(&leaves);
                examined.keep(leaves);
                Stage::Telling(case, examined)
            }
        }))
    }

    /// Goes on to the buckets that differ, once the peer's tables of this level are here.
    pub(super) fn narrow(&mut self, case: Case, examined: ExaminedState<S>, level: Level) -> Turn<S> {
        let mut differing = Vec::new();
        for (part, ours) in &level.ours {
            let Some(theirs) = self.theirs.table(examined.is_at_mark(), *part) else {
                return Turn::Wait(Stage::Narrowing(case, examined, level));
            };
            let buckets = ours.iter().zip(theirs).enumerate().filter(|(_, (a, b))| a != b);
            differing.extend(buckets.map(|(index, _)| part.bucket(index)));
        }
        differing.truncate(MAX_PARTS);
        Turn::Next(Stage::Looking(case, examined, Looking::at(&differing, level.levels)))
    }

    /// Goes on to the first marked value that differs, and then to the report, once the peer's leaves are here.
    pub(super) fn finish(
        &mut self,
        case: Case,
        mut examined: ExaminedState<S>,
        past: Past<'_, S>,
    ) -> Turn<S> {
        if !self.theirs.are_leaves_complete(examined.is_at_mark()) {
            return Turn::Wait(Stage::Telling(case, examined));
        }
        // A peer that compares phases has told of them before its leaves.
        let theirs = self.theirs.marks().unwrap_or_default();
        if !examined.is_at_mark()
            && let Some((mark, count)) = phases::comparable(examined.marks(), theirs)
        {
            examined.look_into(mark);
            let looking = Looking::at(&[Part::ALL], levels_for(count));
            return Turn::Next(Stage::Looking(case, examined, looking));
        }
        let mut findings = Findings { complete: true, ..Findings::new(case.claim, case.scope, case.ours) };
        examined.conclude(past, &mut findings);
        Turn::Done(findings)
    }
}
