//! Desync detection: checksums of certain states, and the autopsy that two machines make when they differ.
//!
//! | file | |
//! |---|---|
//! | `mod` | [`Watch`]: the part of a session that compares, keeps and examines |
//! | `watch/checksums`, `watch/sliced` | the checksums of both machines; those of large states, taken over several frames |
//! | `watch/archive`, `watch/kept` | the states and inputs of the certain past |
//! | `dispute` | which differences were told, whose claims were void, when the match stops |
//! | `mending`, `worked` | a live state that went wrong is replaced by stepping again; the outcome of a frame's work |
//! | `autopsy/examiner`, `autopsy/exchange` | the course of an autopsy and its stages, and its messages |
//! | `autopsy/past`, `autopsy/recorder`, `autopsy/resimulate`, `autopsy/examined_state`, `autopsy/phases` | the certain past read, hashed, stepped again and compared field by field and phase by phase |
//! | `autopsy/budget` | the work of an autopsy in one `advance` |
//! | `autopsy/peer_claims`, `autopsy/evidence`, `autopsy/findings`, `autopsy/judgement`, `autopsy/report` | the peer's notes, both sides' evidence, the conclusion and its report |

mod autopsy;
mod dispute;
mod mending;
mod watch;
mod worked;

pub use autopsy::{Autopsy, AutopsyVerdict, FieldDifference, PhaseDifference};
pub(crate) use autopsy::{by_path, differing_fields};
pub(crate) use dispute::Stop;
pub(crate) use watch::{CheckedChecksum, Comparison};
pub(crate) use worked::Worked;

use crate::channel::refusal::Refusal;
use crate::protocol::time::{Span, Time};
use crate::rollback::Rollback;
use crate::wire::autopsy::{self as notes, Note};
use crate::{Desync, Fields, Frame, Game, OnDesync, Player, StateError};
use autopsy::{Budget, Conclusion, Examiner, Past};
use dispute::{Dispute, Step};
use mending::{KEPT_INPUTS, Mended, Mending};
use watch::{Archive, Checksums, Progress, Sliced};

/// Watches over one match: compares the checksums of both machines, keeps the certain past, and conducts the autopsy.
#[derive(Clone, Debug)]
pub(crate) struct Watch<S> {
    on_desync: OnDesync,
    checksums: Checksums,
    /// The checksum of the next frame that has one, if its state is large and hashed in part.
    sliced: Option<Sliced>,
    archive: Archive<S>,
    examiner: Examiner<S>,
    /// The differences that were told. States that differ go on to differ, and that is no news.
    dispute: Dispute,
    mending: Mending<S>,
}

/// The outcome of a comparison, or of an autopsy, that the session acts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// Two checksums differ.
    Desync(Desync),
    /// The match ends.
    Stop(Stop),
}

impl<S: Fields> Watch<S> {
    pub(crate) fn new(
        local: Player,
        cadence_frames: u16,
        on_desync: OnDesync,
        saves_every: bool,
        snapshot: impl FnMut() -> S,
    ) -> Self {
        let archive = Archive::new(cadence_frames, saves_every, snapshot);
        let mends = on_desync == OnDesync::Mend;
        Self {
            on_desync,
            checksums: Checksums::new(cadence_frames),
            sliced: None,
            archive: if mends { archive.with_inputs(KEPT_INPUTS) } else { archive },
            examiner: Examiner::new(local),
            dispute: Dispute::new(),
            mending: Mending::new(),
        }
    }

    /// Hashes the states that have become certain, compares the checksums that are complete, and takes the settled frames
    /// out of the engine. A desync is found once a match, or again after one that was void. An autopsy has begun then, unless
    /// the match is to go on without one.
    #[inline]
    pub(crate) fn settle(&mut self, now: Time, rollback: &mut Rollback<S>) -> Option<Found> {
        while self.checksums.next() <= rollback.settled()
            && let Some(checksum) = self.hash(rollback)
        {
            self.checksums.record(checksum);
        }
        // Nearly every frame has nothing to compare.
        let found = if self.checksums.has_waiting() { self.compare(now) } else { None };
        let settled = rollback.newly_settled();
        for frame in settled.start.until(settled.end) {
            self.take(frame, rollback);
        }
        found
    }

    /// The checksum of the next frame that has one, unless its state is not there yet or so large that it is hashed over
    /// several frames.
    #[inline(never)]
    fn hash(&mut self, rollback: &Rollback<S>) -> Option<u32> {
        if self.sliced.is_none() {
            // The state of the current frame is saved when that is stepped.
            let state = rollback.snapshot(self.checksums.next())?;
            if let Some(checksum) = Sliced::at_once(state) {
                return Some(checksum);
            }
        }
        self.hash_slice(rollback)
    }

    /// Hashes a slice of a large state, or all that is left if the next one is due.
    // Cold, because small states never come here, and would pay for it in registers.
    #[cold]
    fn hash_slice(&mut self, rollback: &Rollback<S>) -> Option<u32> {
        let (frame, cadence_frames) = (self.checksums.next(), self.checksums.cadence_frames());
        let sliced = self.sliced.take();
        // The engine soon overwrites its snapshot of a settled frame; the archive has taken it over by then.
        let Some(state) = self.archive.state(frame).or_else(|| rollback.snapshot(frame)) else {
            // Only a closed archive takes over nothing, and then a desync was told.
            self.checksums.leave_out();
            return None;
        };
        let sliced = sliced.unwrap_or_else(|| Sliced::new(state, cadence_frames));
        // After a stall several frames settle at once.
        if frame.plus(cadence_frames) <= rollback.settled() {
            return Some(sliced.finish(state));
        }
        match sliced.go_on(state) {
            Progress::Done(checksum) => Some(checksum),
            Progress::UnderWay(sliced) => {
                self.sliced = Some(sliced);
                None
            }
        }
    }

    #[inline(never)]
    fn compare(&mut self, now: Time) -> Option<Found> {
        // Which checksums are void is known once both machines are mended.
        if self.mending.is_active() {
            return None;
        }
        let mut found = None;
        while let Some(comparison) = self.checksums.compare() {
            match self.dispute.compared(comparison.matches()) {
                None => {}
                Some(Step::End(stop)) => found = Some(Found::Stop(stop)),
                Some(Step::Tell) => {
                    let last_match = self.checksums.newest_match();
                    let Comparison { frame, ours, theirs } = comparison;
                    found = Some(Found::Desync(Desync { frame, ours, theirs, last_match }));
                    self.begin(now, comparison);
                }
            }
        }
        found
    }

    /// Takes one settled frame into the archive. Mostly one frame settles at a time, so that a loop which prepares for
    /// several would cost more than the call.
    #[inline(never)]
    fn take(&mut self, frame: Frame, rollback: &mut Rollback<S>) {
        if self.archive.is_closed_to(frame) {
            // Only states would overwrite those that the autopsy needs.
            if self.on_desync == OnDesync::Mend {
                self.archive.settled(frame, rollback.just_settled(frame));
            }
            return;
        }
        self.archive.settled(frame, rollback.just_settled(frame));
        if self.archive.wants(frame)
            && let Some(snapshot) = rollback.release_snapshot(frame)
        {
            self.archive.swap(frame, snapshot);
        }
    }

    /// Goes on at `frame` with a machine that was started again: an autopsy with the one before ends.
    pub(crate) fn resume_at(&mut self, frame: Frame, saves_every: bool) {
        self.checksums.resume_at(frame, saves_every);
        self.sliced = None;
        self.archive.thaw();
        self.examiner = Examiner::new(self.examiner.local());
        self.mending = Mending::new();
        self.dispute.settle();
    }

    /// The two machines end with different states of the same last frame.
    pub(crate) fn verdicts_differ(&mut self, now: Time, verdicts: Comparison) {
        self.begin(now, verdicts);
    }

    fn begin(&mut self, now: Time, comparison: Comparison) {
        if self.on_desync != OnDesync::GoOn {
            self.examiner.begin(now, comparison, self.checksums.newest_match());
        }
    }

    /// The checksum that the next input packet carries, with its frame. The inputs of the packet end before `inputs_end`.
    #[inline]
    pub(crate) fn carry(&mut self, inputs_end: Frame) -> Option<(Frame, u32)> {
        self.checksums.carry(inputs_end)
    }

    /// The peer has acked all our inputs before `inputs_end`.
    #[inline]
    pub(crate) fn acknowledged(&mut self, inputs_end: Frame) {
        self.checksums.acknowledged(inputs_end);
    }

    /// Checks a checksum from an input packet that acks our inputs before `acked`. Changes nothing, so that the packet
    /// can still be refused as a whole; [`heard`](Self::heard) applies what this returns.
    ///
    /// # Errors
    /// A frame that has no checksum, or that the peer cannot have settled.
    #[inline]
    pub(crate) fn check(&self, frame: Frame, value: u32, acked: Frame) -> Result<CheckedChecksum, Refusal> {
        self.checksums.check(frame, value, acked).ok_or(Refusal::ImplausibleChecksum)
    }

    /// Takes in a checksum of the peer. [`settle`](Self::settle) compares it once our own is certain.
    #[inline]
    pub(crate) fn heard(&mut self, checksum: CheckedChecksum) {
        self.checksums.heard(checksum);
    }

    /// Takes in the payload of an AUTOPSY message. `settled` is the newest certain frame.
    ///
    /// # Errors
    /// A payload that is malformed or not bounded, or any at all if this machine does not make autopsies: then it does
    /// not help the peer to make one either.
    pub(crate) fn receive(&mut self, now: Time, settled: Frame, payload: &[u8]) -> Result<(), Refusal> {
        if self.on_desync == OnDesync::GoOn {
            Err(Refusal::OutOfPlace)
        } else if self.on_desync == OnDesync::Mend && payload.first() == Some(&notes::MENDED) {
            match notes::decode(payload) {
                Some(Note::Mended { frame }) if self.mending.heard(frame, settled) => Ok(()),
                _ => Err(Refusal::MalformedMessage),
            }
        } else if self.examiner.receive(now, settled, payload) {
            Ok(())
        } else {
            Err(Refusal::MalformedMessage)
        }
    }

    /// Goes on with the autopsy and with mending, for a part of a frame's time. The game is left as it was, unless a mended
    /// state has taken the place of the live one.
    ///
    /// # Errors
    /// If the game could not save or restore a state.
    pub(crate) fn work<G: Game<Snapshot = S>>(
        &mut self,
        now: Time,
        frame_length: Span,
        game: &mut G,
        rollback: &mut Rollback<S>,
    ) -> Result<Worked, StateError> {
        let mut budget = Budget::of_one_advance(rollback.stopwatch(), frame_length);
        let mut worked = Worked::default();
        if self.examiner.is_active() {
            (worked.autopsy, worked.stop) = self.examine(now, game, rollback, &mut budget)?;
        }
        if self.mending.is_active() && worked.stop.is_none() {
            self.mend(now, game, rollback, &mut budget, &mut worked)?;
        }
        Ok(worked)
    }

    /// Goes on with the autopsy, and returns its report when it is done, and why the match ends then, if it is to.
    fn examine<G: Game<Snapshot = S>>(
        &mut self,
        now: Time,
        game: &mut G,
        rollback: &Rollback<S>,
        budget: &mut Budget,
    ) -> Result<(Option<Autopsy>, Option<Stop>), StateError> {
        // Later frames than the autopsy needs would overwrite those that it needs.
        if let Some(frame) = self.examiner.target() {
            self.archive.freeze_after(frame);
        }
        let (past, last_match) = (Past::new(&self.archive, rollback), self.checksums.newest_match());
        let conclusion = self.examiner.work(now, game, past, last_match, budget)?;
        let Some(Conclusion { autopsy, judgement, mendable }) = conclusion else {
            if let Some(from) = self.examiner.take_answered() {
                self.begin_to_mend(from, game, rollback)?;
            }
            return Ok((None, None));
        };
        // The states of matches in the meantime were not kept.
        self.archive.thaw();
        self.checksums.forget_match();
        let begins = match mendable.filter(|_| self.dispute.mends(judgement)) {
            Some(from) => self.begin_to_mend(from, game, rollback)?,
            None => false,
        };
        let stop = match self.on_desync {
            OnDesync::Mend if begins => None,
            OnDesync::Stop | OnDesync::Mend => self.dispute.judged(judgement),
            OnDesync::GoOn | OnDesync::Report => return Ok((Some(autopsy), None)),
        };
        // The autopsy about the last states of a match is the last one.
        if rollback.ended().is_none() {
            self.examiner.reopen();
        }
        Ok((Some(autopsy), stop))
    }

    /// Begins to step again from the last frame that matched. `false` if that is not possible, or was done before.
    fn begin_to_mend<G: Game<Snapshot = S>>(
        &mut self,
        from: Frame,
        game: &mut G,
        rollback: &Rollback<S>,
    ) -> Result<bool, StateError> {
        let begins = self.on_desync == OnDesync::Mend
            && !self.dispute.is_mended()
            && rollback.ended().is_none()
            && self.mending.begin(from, game, &self.archive, rollback.settled())?;
        if begins {
            self.dispute.mended();
        }
        Ok(begins)
    }

    /// Goes on with mending, and acts on what has come of it.
    fn mend<G: Game<Snapshot = S>>(
        &mut self,
        now: Time,
        game: &mut G,
        rollback: &mut Rollback<S>,
        budget: &mut Budget,
        worked: &mut Worked,
    ) -> Result<(), StateError> {
        let is_examining = self.examiner.is_examining();
        match self.mending.go_on(now, game, &self.archive, rollback, is_examining, budget)? {
            Mended::UnderWay => {}
            Mended::Here { from, to } => {
                worked.mended = Some((from, to));
                self.sliced = None;
                self.archive.forget_states();
                self.checksums.restart_after(to);
                self.examiner.say_mended(to);
            }
            Mended::Answered { to } => {
                self.dispute.mended();
                self.examiner.say_mended(to);
            }
            Mended::Both { void } => self.checksums.ignore_up_to(void),
            Mended::Lost => worked.stop = Some(Stop::Desync),
            Mended::Overdue => worked.stop = Some(Stop::Withheld),
        }
        Ok(())
    }

    /// Ends an autopsy that is under way and returns the report of what is known.
    pub(crate) fn conclude(&mut self, rollback: &Rollback<S>) -> Option<Autopsy> {
        self.examiner.conclude(Past::new(&self.archive, rollback)).map(|conclusion| conclusion.autopsy)
    }

    /// Whether an autopsy needs work: our own, or one that the peer has asked for.
    #[inline]
    pub(crate) fn is_active(&self) -> bool {
        self.examiner.is_active() || self.mending.is_active()
    }

    /// Whether a difference that was found here is being looked into.
    pub(crate) fn is_examining(&self) -> bool {
        self.examiner.is_examining()
    }

    /// The side whose last checksum was void, if the match stops at desyncs and no checksum has matched since.
    pub(crate) fn voided(&self) -> Option<Stop> {
        self.dispute.voided()
    }

    /// Whether checksums differ as far as is known: then a peer that stops at a desync is believed.
    pub(crate) fn is_disputed(&self) -> bool {
        self.dispute.is_open() || self.mending.is_active()
    }

    /// The payload of the next AUTOPSY message to send.
    pub(crate) fn next_message(&mut self) -> Option<Vec<u8>> {
        self.examiner.next_message()
    }

    #[inline]
    pub(crate) fn has_messages(&self) -> bool {
        self.examiner.has_messages()
    }

    /// The state of a settled frame, if it is kept.
    pub(crate) fn state(&self, frame: Frame) -> Option<&S> {
        self.archive.state(frame)
    }

    /// The newest kept state up to and with `frame`.
    pub(crate) fn nearest(&self, frame: Frame) -> Option<(Frame, &S)> {
        self.archive.nearest(frame)
    }

    /// How many checksums were compared.
    pub(crate) fn compared(&self) -> u64 {
        self.checksums.compared()
    }
}

#[cfg(test)]
mod tests;
