//! The stages of an autopsy: what each of them waits for, and what follows it.

use super::Examiner;
use super::stage::{Case, Level, Stage, Turn};
use crate::game::fields::leaves::{Detail, MAX_PARTS, Part, Sums, levels_for};
use crate::protocol::time::Time;
use crate::session::desync::autopsy::evidence::{Claim, Scope, Traces};
use crate::session::desync::autopsy::examined_state::{Chosen, ExaminedState};
use crate::session::desync::autopsy::findings::Findings;
use crate::session::desync::autopsy::past::Past;
use crate::session::desync::autopsy::phases;
use crate::session::desync::autopsy::resimulate::{self, Budget, Resimulation, Retrace};
use crate::{Fields, Game, StateError};

impl<S: Fields> Examiner<S> {
    pub(super) fn open<G: Game<Snapshot = S>>(
        &mut self,
        since: Time,
        ours: Claim,
        game: &mut G,
        past: Past<'_, S>,
    ) -> Result<Turn<S>, StateError> {
        if let Some(theirs) = self.answer_to(ours) {
            let scope = Scope::of_both(ours, theirs);
            if past.reaches(scope.target) {
                return Ok(Turn::Next(self.trace(since, ours, scope, game, past)?));
            }
        }
        Ok(Turn::Wait(Stage::Opening { since, ours }))
    }

    /// Takes the checksums of the frames in question and sends them: of a resimulation only if there is a base.
    pub(super) fn trace<G: Game<Snapshot = S>>(
        &mut self,
        since: Time,
        claim: Claim,
        scope: Scope,
        game: &mut G,
        past: Past<'_, S>,
    ) -> Result<Stage<S>, StateError> {
        let ours = Traces { recorded: resimulate::recorded(past, scope), ..Traces::default() };
        self.exchange.trace(false, &ours.recorded);
        let case = Case { since, claim, scope, ours };
        if scope.base.is_some() { self.trace_again(case, game, past) } else { Ok(Stage::Basing(case)) }
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
    pub(super) fn agree<G: Game<Snapshot = S>>(
        &mut self,
        case: Case,
        examined: ExaminedState<S>,
        game: &mut G,
        past: Past<'_, S>,
    ) -> Result<Turn<S>, StateError> {
        match self.theirs.examined() {
            None => Ok(Turn::Wait(Stage::Choosing(case, examined))),
            Some((frame, _)) if frame != examined.frame() => {
                Ok(Turn::Conclude(Stage::Choosing(case, examined)))
            }
            Some((_, count)) => {
                let levels = levels_for(examined.count().max(count));
                self.show(case, examined, levels, &[Part::ALL], game, past)
            }
        }
    }

    /// Sends the tables of some parts of the value that is compared, or after the last level their leaves.
    pub(super) fn show<G: Game<Snapshot = S>>(
        &mut self,
        case: Case,
        mut examined: ExaminedState<S>,
        levels: u8,
        parts: &[Part],
        game: &mut G,
        past: Past<'_, S>,
    ) -> Result<Turn<S>, StateError> {
        Ok(match examined.detail(game, past, parts, levels)? {
            None => Turn::Conclude(Stage::Choosing(case, examined)),
            Some(Detail::Tables(tables)) => {
                let ours: Vec<(Part, Sums)> = parts.iter().copied().zip(tables).collect();
                ours.iter().for_each(|(part, sums)| self.exchange.table(*part, sums));
                Turn::Next(Stage::Narrowing(case, examined, Level { levels, ours }))
            }
            Some(Detail::Leaves(leaves)) => {
                self.exchange.leaves(&leaves);
                examined.keep(leaves);
                Turn::Next(Stage::Telling(case, examined))
            }
        })
    }

    /// Goes on to the buckets that differ, once the peer's tables of this level are here.
    pub(super) fn narrow<G: Game<Snapshot = S>>(
        &mut self,
        case: Case,
        examined: ExaminedState<S>,
        level: Level,
        game: &mut G,
        past: Past<'_, S>,
        budget: &mut Budget,
    ) -> Result<Turn<S>, StateError> {
        let mut differing = Vec::new();
        for (part, ours) in &level.ours {
            let Some(theirs) = self.theirs.table(examined.is_at_mark(), *part) else {
                return Ok(Turn::Wait(Stage::Narrowing(case, examined, level)));
            };
            let buckets = ours.iter().zip(theirs).enumerate().filter(|(_, (a, b))| a != b);
            differing.extend(buckets.map(|(index, _)| part.bucket(index)));
        }
        if examined.is_at_mark() && !budget.take() {
            return Ok(Turn::Wait(Stage::Narrowing(case, examined, level)));
        }
        differing.truncate(MAX_PARTS);
        self.show(case, examined, level.levels, &differing, game, past)
    }

    /// Goes on to the first marked value that differs, and then to the report, once the peer's leaves are here.
    pub(super) fn finish<G: Game<Snapshot = S>>(
        &mut self,
        case: Case,
        mut examined: ExaminedState<S>,
        game: &mut G,
        past: Past<'_, S>,
        budget: &mut Budget,
    ) -> Result<Turn<S>, StateError> {
        if !self.theirs.are_leaves_complete(examined.is_at_mark()) {
            return Ok(Turn::Wait(Stage::Telling(case, examined)));
        }
        // A peer that compares phases has told of them before its leaves.
        let theirs = self.theirs.marks().unwrap_or_default();
        if !examined.is_at_mark()
            && let Some((mark, count)) = phases::comparable(examined.marks(), theirs)
        {
            if !budget.take() {
                return Ok(Turn::Wait(Stage::Telling(case, examined)));
            }
            examined.look_into(mark);
            return self.show(case, examined, levels_for(count), &[Part::ALL], game, past);
        }
        let mut findings = Findings { complete: true, ..Findings::new(case.claim, case.scope, case.ours) };
        examined.conclude(past, &mut findings);
        Ok(Turn::Done(findings))
    }
}
