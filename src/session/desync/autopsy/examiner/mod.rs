//! The course of an autopsy on one machine, stage by stage.

mod stage;
mod turns;

use super::budget::Budget;
use super::evidence::{Claim, Scope, Traces};
use super::exchange::Exchange;
use super::findings::Findings;
use super::judgement::Judgement;
use super::past::Past;
use super::peer_claims::PeerClaims;
use super::report::Autopsy;
use crate::game::fields::leaves::first_leaves;
use crate::protocol::time::{Span, Time};
use crate::session::desync::watch::Comparison;
use crate::wire::autopsy::{self, Note};
use crate::{Fields, Frame, Game, Player, StateError};
use core::mem;
use stage::{Case, Stage, Turn};

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
    /// When it last worked.
    worked_at: Time,
    /// The last frame that matched here, if an answer to the peer has shown that our own states are wrong.
    answered: Option<Frame>,
}

/// The end of an autopsy about a difference of our own.
#[derive(Clone, Debug)]
pub(crate) struct Conclusion {
    pub(crate) autopsy: Autopsy,
    pub(crate) judgement: Judgement,
    /// The last frame that matched here, if the resimulations of both machines agree.
    pub(crate) mendable: Option<Frame>,
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
            worked_at: Time::ZERO,
            answered: None,
        }
    }

    /// The seat of the player at this machine.
    pub(crate) fn local(&self) -> Player {
        self.local
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

    /// Tells the peer that our states after `frame` are right.
    pub(crate) fn say_mended(&mut self, frame: Frame) {
        self.exchange.mended(frame);
    }

    /// The last frame that matched here, if the answer that was just given to the peer has shown that our own states are wrong,
    /// and that the resimulations of both machines agree.
    pub(crate) fn take_answered(&mut self) -> Option<Frame> {
        self.answered.take()
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
        budget: &mut Budget,
    ) -> Result<Option<Conclusion>, StateError> {
        // After the last state of a match the comparison of verdicts follows.
        if let Stage::Asked { since } = self.stage
            && let Some(theirs) = self.theirs.claim()
            && now.since(since) >= ANSWERED_AFTER
            && !past.has_ended()
        {
            self.open_with(now, Claim::new(theirs.frame(), last_match));
        }
        // The peer has as much time after our own work as without it.
        let passed = now.since(mem::replace(&mut self.worked_at, now));
        if self.stage.is_own_work() {
            self.stage.postpone(passed);
        }
        loop {
            // The peer is out of time. Our own work is evidence too, and is finished.
            let is_late = self.stage.since().is_some_and(|since| now.since(since) >= PATIENCE);
            if is_late && !self.stage.is_own_work() {
                match self.stage {
                    Stage::Opening { since, ours } => {
                        self.stage = Self::record(since, ours, self.scope(ours));
                        continue;
                    }
                    _ => return Ok(self.conclude(past)),
                }
            }
            let turn = match mem::replace(&mut self.stage, Stage::Idle) {
                Stage::Opening { since, ours } => self.open(since, ours, past),
                Stage::Recording(case, recorder) => self.recorded(case, recorder, game, past, budget)?,
                Stage::Basing(case) => self.base(case, game, past)?,
                Stage::Retracing(case, retrace) => self.retrace(case, retrace, game, past, budget)?,
                Stage::Tracing(case, resimulation) => self.choose(case, resimulation),
                Stage::Reaching(case, chosen, resimulation) => {
                    self.reach(case, chosen, resimulation, game, past, budget)?
                }
                Stage::Choosing(case, examined) => self.agree(case, examined),
                Stage::Looking(case, examined, looking) => {
                    self.look(case, examined, looking, game, past, budget)?
                }
                Stage::Narrowing(case, examined, level) => self.narrow(case, examined, level),
                Stage::Telling(case, examined) => self.finish(case, examined, past),
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

    /// The report of what is known by now; `None` if no difference of our own is being looked into.
    ///
    /// Our own state is told in any case if it is kept, because half of the evidence is better than none.
    pub(crate) fn conclude(&mut self, past: Past<'_, S>) -> Option<Conclusion> {
        let (Case { claim, scope, ours, .. }, examined) = match mem::replace(&mut self.stage, Stage::Idle) {
            Stage::Idle | Stage::Asked { .. } => return None,
            Stage::Opening { since, ours } => {
                (Case { since, claim: ours, scope: self.scope(ours), ours: Traces::default() }, None)
            }
            Stage::Recording(case, _)
            | Stage::Basing(case)
            | Stage::Retracing(case, _)
            | Stage::Tracing(case, _)
            | Stage::Reaching(case, ..) => (case, None),
            Stage::Choosing(case, examined)
            | Stage::Looking(case, examined, ..)
            | Stage::Narrowing(case, examined, _)
            | Stage::Telling(case, examined) => (case, Some(examined)),
        };
        let mut findings = Findings::new(claim, scope, ours);
        match examined {
            Some(examined) => examined.conclude(past, &mut findings),
            None => {
                let state = past.state(scope.target);
                findings.leaves = state.map_or_else(Vec::new, first_leaves);
            }
        }
        self.report(findings, past)
    }

    /// Closes the autopsy, with a report if it was about a difference of our own. The peer's claims are not needed any
    /// more.
    fn report(&mut self, findings: Findings, past: Past<'_, S>) -> Option<Conclusion> {
        self.stage = Stage::Idle;
        let theirs = mem::take(&mut self.theirs);
        let mendable = findings.mendable(theirs.traces());
        let Some(seen) = self.seen.take() else {
            self.answered = mendable.filter(|_| findings.ours.is_at_fault(findings.scope));
            return None;
        };
        let judgement = findings.judge(seen, &theirs);
        Some(Conclusion {
            autopsy: findings.report(self.local, judgement, theirs, past),
            judgement,
            mendable,
        })
    }
}
