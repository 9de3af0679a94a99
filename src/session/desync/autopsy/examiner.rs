//! The course of an autopsy on one machine, stage by stage.

use super::evidence::{Claim, Scope, Traces};
use super::examined_state::{Chosen, ExaminedState};
use super::exchange::Exchange;
use super::findings::Findings;
use super::judgement::Judgement;
use super::leaves::{self, MAX_PARTS, OwnedLeaf, Part, Sums, levels_for};
use super::past::Past;
use super::peer_claims::PeerClaims;
use super::report::Autopsy;
use super::resimulate::{self, Budget, Resimulation, Retrace};
use super::stage::{Case, Level, Stage, Turn};
use crate::protocol::time::{Span, Time};
use crate::session::desync::watch::Comparison;
use crate::wire::autopsy::{self, Note};
use crate::{Fields, Frame, Game, Player, StateError};
use core::mem;

/// How long the peer has to tell everything. After that the report is made of what is known.
const PATIENCE: Span = Span::from_secs(10);

/// How long a START of the peer waits for a difference of our own: mostly the checksum that shows it is on its way.
const ANSWERED_AFTER: Span = Span::from_millis(250);

/// The most STARTs of the peer that are answered although nothing differs here. Each costs a resimulation.
const MAX_ANSWERS: u8 = 4;

/// Conducts the autopsies of a match, one at a time: about a difference that this machine found, or in answer to the peer's
/// START.
#[derive(Clone, Debug)]
pub(crate) struct Examiner<S> {
    local: Player,
    exchange: Exchange,
    theirs: PeerClaims,
    stage: Stage<S>,
    /// The comparison that failed here. Without one nothing is reported: the peer's word alone tells and ends nothing.
    seen: Option<Comparison>,
    /// Whether a difference of our own may still begin an autopsy.
    is_done: bool,
    /// How many STARTs of the peer were answered.
    answers: u8,
}

/// The end of an autopsy about a difference of our own.
#[derive(Clone, Debug)]
pub(crate) struct Conclusion {
    pub(crate) autopsy: Autopsy,
    pub(crate) judgement: Judgement,
}

impl<S: Fields> Examiner<S> {
    pub(crate) fn new(local: Player) -> Self {
        Self {
            local,
            exchange: Exchange::default(),
            theirs: PeerClaims::default(),
            stage: Stage::Idle,
            seen: None,
            is_done: false,
            answers: 0,
        }
    }

    /// Whether there is work to do.
    #[inline]
    pub(crate) fn is_active(&self) -> bool {
        !matches!(self.stage, Stage::Idle)
    }

    /// Whether a difference of our own is being looked into.
    pub(crate) fn is_examining(&self) -> bool {
        self.is_active() && self.seen.is_some()
    }

    /// A comparison of our own has failed. Only the first difference counts, unless the examiner is [reopened](Self::reopen).
    ///
    /// This is the only way to a report: the peer's word alone makes none, because it may be a lie or forged.
    pub(crate) fn begin(&mut self, now: Time, seen: Comparison, last_match: Option<Frame>) {
        if self.is_done {
            return;
        }
        self.seen = Some(seen);
        self.is_done = true;
        let ours = Claim::new(seen.frame, last_match);
        if !self.theirs.has_traces() {
            self.open_with(now, ours);
        } else if self.theirs.claim().is_some_and(|theirs| ours.refutes(theirs)) {
            // The answer that is under way is about something else. Any other becomes our own autopsy.
            self.theirs = PeerClaims::default();
            self.open_with(now, ours);
        }
    }

    /// Lets the next difference of our own begin an autopsy.
    pub(crate) fn reopen(&mut self) {
        self.is_done = false;
    }

    fn open_with(&mut self, now: Time, ours: Claim) {
        self.exchange.listen_anew();
        self.exchange.start(ours);
        self.stage = Stage::Opening { since: now, ours };
    }

    /// Takes in a message of the peer; `false` if it is refused. `settled` is the newest certain frame here.
    ///
    /// A START that comes before a difference is known here is kept, and answered after a while if none is found. Nothing
    /// else is kept: an honest peer goes on only after our own START. The newest START counts, with the notes after it, so
    /// that a forged one does not keep the peer's own out.
    pub(crate) fn receive(&mut self, now: Time, settled: Frame, payload: &[u8]) -> bool {
        let note = match self.stage {
            Stage::Idle | Stage::Asked { .. } => autopsy::decode(payload),
            _ => self.exchange.hear(payload),
        };
        match (note, &self.stage) {
            (None, _) => false,
            // The peer differs only about a checksum that we have sent.
            (Some(Note::Start { frame, .. }), _) if frame > settled => false,
            (Some(Note::Start { .. }), Stage::Idle) if self.answers >= MAX_ANSWERS => false,
            (
                Some(Note::Start { frame, last_match }),
                Stage::Idle | Stage::Asked { .. } | Stage::Opening { .. },
            ) => {
                self.theirs = PeerClaims::new(Claim::new(frame, last_match));
                if matches!(self.stage, Stage::Idle) {
                    self.answers += 1;
                    self.stage = Stage::Asked { since: now };
                }
                true
            }
            (Some(_), Stage::Idle | Stage::Asked { .. }) => false,
            (Some(note), _) => self.theirs.take(note),
        }
    }

    /// The next message to send.
    pub(crate) fn next_message(&mut self) -> Option<Vec<u8>> {
        self.exchange.next_message()
    }

    #[inline]
    pub(crate) fn has_messages(&self) -> bool {
        self.exchange.has_messages()
    }

    /// The last frame whose state and inputs are needed, once one is known to differ here. An answer makes do with what is
    /// kept anyway: the peer's word alone must not stop the archive.
    pub(crate) fn target(&self) -> Option<Frame> {
        self.seen?;
        match self.stage {
            Stage::Opening { ours, .. } => Some(self.scope(ours).target),
            _ => self.stage.target(),
        }
    }

    /// The frames to compare, as far as the claims of both are known.
    fn scope(&self, ours: Claim) -> Scope {
        self.answer_to(ours).map_or(Scope::of_one(ours), |theirs| Scope::of_both(ours, theirs))
    }

    /// The START of the peer that belongs to ours. One that our own comparisons have refuted since it came may be forged,
    /// so it counts only once the peer goes on with it.
    fn answer_to(&self, ours: Claim) -> Option<Claim> {
        let is_traced = self.theirs.traces().recorded.complete;
        self.theirs.claim().filter(|theirs| is_traced || !ours.refutes(*theirs))
    }

    /// Goes as far as possible with what is known and a few steps, and returns the report when it is made. The game is left
    /// as it was.
    ///
    /// # Errors
    /// If the game could not save or restore a state. There is no report then.
    pub(crate) fn work<G: Game<Snapshot = S>>(
        &mut self,
        now: Time,
        game: &mut G,
        past: Past<'_, S>,
        last_match: Option<Frame>,
    ) -> Result<Option<Conclusion>, StateError> {
        // After the last state of a match the comparison of verdicts follows.
        if let Stage::Asked { since } = self.stage
            && let Some(theirs) = self.theirs.claim()
            && now.since(since) >= ANSWERED_AFTER
            && !past.has_ended()
        {
            self.open_with(now, Claim::new(theirs.frame(), last_match));
        }
        let mut budget = Budget::of_one_advance();
        loop {
            // The peer is out of time. Our own work is evidence too, and is finished.
            let is_late = self.stage.since().is_some_and(|since| now.since(since) >= PATIENCE);
            if is_late && !self.stage.is_own_work() {
                match self.stage {
                    Stage::Opening { since, ours } => {
                        self.stage = self.trace(since, ours, self.scope(ours), game, past)?;
                        continue;
                    }
                    _ => return Ok(self.conclude(past)),
                }
            }
            let turn = match mem::replace(&mut self.stage, Stage::Idle) {
                Stage::Opening { since, ours } => self.open(since, ours, game, past)?,
                Stage::Basing(case) => self.base(case, game, past)?,
                Stage::Retracing(case, retrace) => self.retrace(case, retrace, game, past, &mut budget)?,
                Stage::Tracing(case, resimulation) => self.choose(case, resimulation, past),
                Stage::Reaching(case, chosen, resimulation) => {
                    self.reach(case, chosen, resimulation, game, &mut budget)?
                }
                Stage::Choosing(case, examined) => self.agree(case, examined, past),
                Stage::Narrowing(case, examined, level) => self.narrow(case, examined, level, past),
                Stage::Telling(case, examined, leaves) => self.finish(case, examined, leaves),
                outside @ (Stage::Idle | Stage::Asked { .. }) => Turn::Wait(outside),
            };
            match turn {
                Turn::Next(stage) => self.stage = stage,
                Turn::Wait(stage) => {
                    self.stage = stage;
                    return Ok(None);
                }
                Turn::Conclude(stage) => {
                    self.stage = stage;
                    return Ok(self.conclude(past));
                }
                Turn::Done(findings) => return Ok(self.report(findings, past)),
            }
        }
    }

    fn open<G: Game<Snapshot = S>>(
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
    fn trace<G: Game<Snapshot = S>>(
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
    fn base<G: Game<Snapshot = S>>(
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
    fn trace_again<G: Game<Snapshot = S>>(
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

    fn retrace<G: Game<Snapshot = S>>(
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
    fn traced(&mut self, mut case: Case, resimulation: Option<Box<Resimulation<S>>>) -> Stage<S> {
        case.ours.resimulated.complete = true;
        self.exchange.trace(true, &case.ours.resimulated);
        Stage::Tracing(case, resimulation)
    }

    fn choose(
        &mut self,
        case: Case,
        resimulation: Option<Box<Resimulation<S>>>,
        past: Past<'_, S>,
    ) -> Turn<S> {
        let theirs = self.theirs.traces();
        if !theirs.are_complete() {
            return Turn::Wait(Stage::Tracing(case, resimulation));
        }
        let chosen = Chosen::of(case.scope, &case.ours, theirs);
        if chosen.is_recorded() {
            return match ExaminedState::recorded(chosen, past) {
                Some(examined) => Turn::Next(self.chosen(case, examined)),
                None => Turn::Conclude(Stage::Tracing(case, resimulation)),
            };
        }
        match resimulation {
            Some(resimulation) => Turn::Next(Stage::Reaching(case, chosen, resimulation)),
            None => Turn::Conclude(Stage::Tracing(case, None)),
        }
    }

    fn reach<G: Game<Snapshot = S>>(
        &mut self,
        case: Case,
        chosen: Chosen,
        mut resimulation: Box<Resimulation<S>>,
        game: &mut G,
        budget: &mut Budget,
    ) -> Result<Turn<S>, StateError> {
        if !resimulation.go_on(game, chosen.frame(), budget, |_| {})? {
            return Ok(Turn::Wait(Stage::Reaching(case, chosen, resimulation)));
        }
        Ok(Turn::Next(self.chosen(case, ExaminedState::resimulated(chosen, resimulation))))
    }

    /// Tells which state is compared.
    fn chosen(&mut self, case: Case, examined: ExaminedState<S>) -> Stage<S> {
        self.exchange.state(examined.frame(), examined.leaves());
        Stage::Choosing(case, examined)
    }

    /// Begins to compare the states, if the peer has chosen the same frame.
    fn agree(&mut self, case: Case, examined: ExaminedState<S>, past: Past<'_, S>) -> Turn<S> {
        match self.theirs.examined() {
            None => Turn::Wait(Stage::Choosing(case, examined)),
            Some((frame, _)) if frame != examined.frame() => Turn::Conclude(Stage::Choosing(case, examined)),
            Some((_, leaves)) => {
                let levels = levels_for(examined.leaves().max(leaves));
                self.show(case, examined, levels, &[Part::ALL], past)
            }
        }
    }

    /// Sends the tables of some parts of the state, or after the last level their leaves.
    fn show(
        &mut self,
        case: Case,
        examined: ExaminedState<S>,
        levels: u8,
        parts: &[Part],
        past: Past<'_, S>,
    ) -> Turn<S> {
        let Some(state) = examined.state(past) else {
            return Turn::Conclude(Stage::Choosing(case, examined));
        };
        if parts.first().is_some_and(|part| part.levels < levels) {
            let ours: Vec<(Part, Sums)> = parts.iter().copied().zip(leaves::tables(state, parts)).collect();
            ours.iter().for_each(|(part, sums)| self.exchange.table(*part, sums));
            return Turn::Next(Stage::Narrowing(case, examined, Level { levels, ours }));
        }
        // Without a part there is no leaf to tell: nothing differs after all, or the difference hides in a sum.
        let leaves = leaves::gather(state, parts);
        self.exchange.leaves(&leaves);
        Turn::Next(Stage::Telling(case, examined, leaves))
    }

    /// Goes on to the buckets that differ, once the peer's tables of this level are here.
    fn narrow(&mut self, case: Case, examined: ExaminedState<S>, level: Level, past: Past<'_, S>) -> Turn<S> {
        let mut differing = Vec::new();
        for (part, ours) in &level.ours {
            let Some(theirs) = self.theirs.table(*part) else {
                return Turn::Wait(Stage::Narrowing(case, examined, level));
            };
            let buckets = ours.iter().zip(theirs).enumerate().filter(|(_, (a, b))| a != b);
            differing.extend(buckets.map(|(index, _)| part.bucket(index)));
        }
        differing.truncate(MAX_PARTS);
        self.show(case, examined, level.levels, &differing, past)
    }

    fn finish(&mut self, case: Case, examined: ExaminedState<S>, leaves: Vec<OwnedLeaf>) -> Turn<S> {
        if !self.theirs.are_leaves_complete() {
            return Turn::Wait(Stage::Telling(case, examined, leaves));
        }
        let examined = Some((examined.frame(), examined.is_exact()));
        let Case { claim, scope, ours, .. } = case;
        Turn::Done(Findings { claim, scope, ours, examined, leaves, complete: true })
    }

    /// The report of what is known by now; `None` if no difference of our own is being looked into.
    ///
    /// Our own state is told in any case if it is kept, because half of the evidence is better than none.
    pub(crate) fn conclude(&mut self, past: Past<'_, S>) -> Option<Conclusion> {
        let (case, examined, mut leaves) = match mem::replace(&mut self.stage, Stage::Idle) {
            Stage::Idle | Stage::Asked { .. } => return None,
            Stage::Opening { since, ours } => {
                let scope = self.scope(ours);
                (Case { since, claim: ours, scope, ours: Traces::default() }, None, Vec::new())
            }
            Stage::Basing(case)
            | Stage::Retracing(case, _)
            | Stage::Tracing(case, _)
            | Stage::Reaching(case, ..) => (case, None, Vec::new()),
            Stage::Choosing(case, examined) | Stage::Narrowing(case, examined, _) => {
                (case, Some(examined), Vec::new())
            }
            Stage::Telling(case, examined, leaves) => (case, Some(examined), leaves),
        };
        if leaves.is_empty() {
            let state = match &examined {
                Some(examined) => examined.state(past),
                None => past.state(case.scope.target),
            };
            leaves = state.map_or_else(Vec::new, |state| leaves::gather(state, &[Part::ALL]));
        }
        let examined = examined.map(|examined| (examined.frame(), examined.is_exact()));
        let Case { claim, scope, ours, .. } = case;
        let findings = Findings { claim, scope, ours, examined, leaves, complete: false };
        self.report(findings, past)
    }

    /// Closes the autopsy, with a report if it was about a difference of our own. The peer's claims are not needed any
    /// more.
    fn report(&mut self, findings: Findings, past: Past<'_, S>) -> Option<Conclusion> {
        self.stage = Stage::Idle;
        let theirs = mem::take(&mut self.theirs);
        let seen = self.seen.take()?;
        let judgement = findings.judge(seen, &theirs);
        Some(Conclusion { autopsy: findings.report(self.local, judgement, theirs, past), judgement })
    }
}
