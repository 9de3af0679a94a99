//! One frame of a match: step, compare what has become certain, and end.

use super::Session;
use super::advice;
use super::clock_check::ClockMistake;
use super::ending::LastState;
use super::event::{Event, Reason};
use super::frame_clock::RateChange;
use super::lateness::{Late, Lateness};
use super::liveness::Claim;
use crate::channel::silence::SilenceChange;
use crate::protocol::time::Time;
use crate::rollback::Advance;
use crate::session::desync::{Found, Stop, Worked};
use crate::wire::message::{Leaving, LeavingWhy, Ordered};
use crate::{Fields, Frame, Game, Input, StateError, checksum, protocol::trace};
use core::time::Duration;

/// The outcome of [`Session::advance`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advanced {
    /// It stepped a frame.
    Stepped,
    /// The frame waits for the other side. Presses are kept. A rollback may have corrected the game's state before that, so draw
    /// it here too.
    Stalled,
    /// The match is paused.
    Paused,
    /// No frame is due yet.
    NotDue,
    /// The match is over.
    Ended,
}

impl<S: Fields> Session<S> {
    /// Plays a frame if one is due: rolls back mispredicted frames, steps, and queues packets.
    ///
    /// `input` is the local player's input now: [`Buttons`](crate::Buttons), or an [`Input`] with axes or pads.
    #[inline]
    pub fn advance<G: Game<Snapshot = S>>(
        &mut self,
        now: Duration,
        game: &mut G,
        input: impl Into<Input>,
    ) -> Advanced {
        // Time passes: silence, interruption, a farewell.
        let now = Time::from(now);
        self.liveness.pass(now);
        self.look_after(now);
        if !self.pace.is_due(now) && self.ending.is_playing() {
            self.simulation.forget_last();
            return Advanced::NotDue;
        }
        if let Some(mistake) = self.clock_check.frame(now) {
            self.tell_clock_mistake(mistake);
        }

        // A desync is looked into, also when nothing is stepped any more.
        if self.watch.is_active() && !self.ending.is_over() {
            self.traffic.stir();
            self.examine(now, game);
        }
        if !self.ending.is_playing() {
            return self.idle(now);
        }

        // The frame itself, unless the match is paused before it.
        let (stepped_frame, input) = (self.simulation.current(), input.into());
        let held = if self.pause.holds(stepped_frame) { self.hold(now, game, input) } else { None };
        let advanced = match held {
            Some(Advanced::Ended) => return Advanced::Ended,
            Some(held) => held,
            None => match self.simulation.advance(now, game, input, self.pace.delay_frames()) {
                Advance::Stepped => {
                    self.stepped(now, stepped_frame);
                    Advanced::Stepped
                }
                Advance::Stalled => {
                    self.pace.stalled(now);
                    self.stream.ask_for_frame();
                    if self.delay.is_due(self.simulation.frame_counts().1) {
                        self.look_at_delay();
                    }
                    Advanced::Stalled
                }
                Advance::Ended => Advanced::Ended,
                Advance::Failed => return self.engine_failed(),
            },
        };

        // The frames that have become certain.
        self.settle(now);

        // The end of the match: here, at the peer, or of the numbers.
        self.ending.settled(self.simulation.settled());
        let followed = self.ending.their_frame().is_some_and(|end| self.follow(end, game));
        if let Some(end) = self.simulation.ended() {
            self.begin_to_end(now, end, followed);
            return Advanced::Ended;
        }
        advanced
    }

    /// Steps the game [`look_ahead_frames`](crate::RollbackConfig::look_ahead_frames) beyond the match on the inputs that are known or
    /// predicted, hands it to `draw`, and puts it back. Without a look-ahead, and after the end, `draw` gets the game as it is.
    ///
    /// Call it once after each [`advance`](Self::advance) that stepped or stalled, in place of drawing the game. The match does not
    /// change: it sends the same packets and tells the same cues, and those of the frames ahead are not told. The last step
    /// is [shown](crate::Cues::is_shown), and the newest frame of the match is not. `draw` must not change the game's state.
    pub fn look_ahead<G: Game<Snapshot = S>>(&mut self, game: &mut G, draw: impl FnOnce(&mut G)) {
        if !self.ending.is_playing() {
            return draw(game);
        }
        self.simulation.rollback().look_ahead(game, draw);
        self.engine_failed();
    }

    /// Lets a frame pass in which nothing is stepped any more: the verdict may take a few.
    fn idle(&mut self, now: Time) -> Advanced {
        self.simulation.forget_last();
        if self.pace.is_due(now) {
            self.pace.stalled(now);
        }
        if self.ending.is_over() {
            self.simulation.close_cues();
        }
        Advanced::Ended
    }

    #[inline]
    fn stepped(&mut self, now: Time, frame: Frame) {
        let known = self.simulation.known();
        if self.stream.ask_for_frame() {
            self.pace.sample_gap(frame, known);
        }
        self.pace.stepped(now, frame, known, self.link.rtt());
        if let Some(change) = self.pace.rate_change() {
            self.events.tell(match change {
                RateChange::PeerSlow { rate_permille } => Event::PeerSlow { rate_permille },
                RateChange::PeerRecovered => Event::PeerRecovered,
            });
        }
        if Lateness::is_due(frame.0) {
            self.look_at_age();
            self.look_at_slack();
            self.look_at_costs();
            self.look_at_delay();
        }
        if self.pace.untold_delay().is_some() {
            self.tell_delay(now);
        }
    }

    /// Looks at the age of the peer's inputs.
    #[cold]
    fn look_at_age(&mut self) {
        let late = self.pace.look(self.link.rtt());
        self.link.look_closely(self.pace.is_suspicious());
        match late {
            None => {}
            Some(Late::HeldBack { excess }) => {
                self.events.tell(Event::InputsLate { excess: excess.into() });
            }
            Some(Late::TooOld) => {
                self.say_farewell(LeavingWhy::Left);
                self.disconnect(Reason::InputsHeldBack);
            }
        }
    }

    /// Looks at what is left of the peer's window: with little of it, second copies are sent at less loss.
    #[cold]
    fn look_at_slack(&mut self) {
        if let Some(slack) = self.pace.peer_slack(self.agreed.peer_window_frames) {
            self.stream.set_slack(slack);
        }
    }

    /// Tells the game that it reads two clocks.
    #[cold]
    pub(super) fn tell_clock_mistake(&mut self, ClockMistake { offset, is_ahead }: ClockMistake) {
        self.events.tell(Event::ClockMistake { offset: offset.into(), is_ahead });
    }

    /// Looks at what rollbacks take on this machine.
    #[cold]
    fn look_at_costs(&mut self) {
        let Some((takes, window_frames)) = self.simulation.slow_rollback(self.frame_length.into()) else {
            return;
        };
        let loss = self.stream.loss_in().map_or(0.0, f64::from);
        let delay_frames = advice::for_link(self.one_way_frames(), loss, window_frames).delay_frames;
        self.events.tell(Event::SlowRollback { takes, window_frames, delay_frames });
    }

    /// The time of one way in frames, of the 95th percentile of the RTT.
    fn one_way_frames(&self) -> f64 {
        let rtt = self.link.rtt().percentile_95().unwrap_or_default();
        Duration::from(rtt).div_duration_f64(self.frame_length.into()) / 2.0
    }

    /// Looks at the frames that have stalled, and adapts the input delay to the link.
    #[cold]
    fn look_at_delay(&mut self) {
        let stalled_frames = self.simulation.frame_counts().1;
        let window_frames = self.simulation.engine().window() as u8;
        let mut delay = self.delay;
        let needed = || advice::needed_delay(self.one_way_frames(), window_frames);
        let changed = delay.look(stalled_frames, self.agreed.peer_delay_frames, needed);
        self.delay = delay;
        if let Some(delay_frames) = changed {
            self.pace.set_delay(delay_frames);
            self.events.tell(Event::DelayChanged { delay_frames });
        }
    }

    /// Whether a stalled frame could be stepped by now.
    #[inline]
    pub(super) fn can_go_on(&self) -> bool {
        self.simulation.can_go_on() && self.ending.is_playing()
    }

    /// Lets the settled frames leave the engine, and tells of a desync.
    #[inline]
    fn settle(&mut self, now: Time) {
        if let Some(found) = self.watch.settle(now, self.simulation.rollback()) {
            self.found(now, found);
        }
    }

    #[cold]
    fn found(&mut self, now: Time, found: Found) {
        match found {
            Found::Desync(desync) => {
                trace::desync(desync.frame, desync.ours, desync.theirs);
                self.events.tell(Event::Desync(desync));
                self.traffic.stir();
            }
            Found::Stop(stop) => self.parting.stop(now, stop, self.simulation.own_end()),
        }
    }

    fn reason_of(&self, stop: Stop) -> Reason {
        match stop {
            Stop::Desync => Reason::Desync,
            Stop::OursVoid => Reason::VoidChecksums { of: self.local() },
            Stop::TheirsVoid => Reason::VoidChecksums { of: self.local().other() },
            Stop::Withheld => Reason::NotesWithheld,
        }
    }

    /// Goes on with the autopsy and with mending, and tells the game when one is done.
    fn examine<G: Game<Snapshot = S>>(&mut self, now: Time, game: &mut G) {
        let worked = self.watch.work(now, self.frame_length, game, self.simulation.rollback());
        let Worked { autopsy, mended, stop } = match worked {
            Ok(worked) => worked,
            Err(error) => return self.state_failed(error),
        };
        if let Some((from, to)) = mended {
            self.events.tell(Event::Mended { from, to });
            if let Some(end) = self.simulation.ended() {
                self.begin_to_end(now, end, false);
            }
        }
        let is_done = autopsy.is_some();
        if let Some(autopsy) = autopsy {
            self.events.tell(Event::Autopsy(Box::new(autopsy)));
        }
        if !self.ending.is_playing() {
            if is_done {
                self.compare_verdicts(now);
            }
        } else if let Some(stop) = stop {
            self.parting.stop(now, stop, self.simulation.own_end());
        }
    }

    /// Ends the match where the peer's has ended, although the game is not finished there: otherwise this side would
    /// wait for inputs that never come. Only when new frames have stopped arriving: until then the verdict may be forged.
    /// Not if the peer has sent LEAVING: leaving forfeits the match, even after a VERDICT.
    fn follow<G: Game<Snapshot = S>>(&mut self, end: Frame, game: &mut G) -> bool {
        let follows = self.simulation.ended().is_none()
            && !self.liveness.farewell_heard()
            && self.liveness.believes(Claim::Verdict)
            && self.simulation.end_at(end, game, self.watch.nearest(end));
        if !follows {
            self.engine_failed();
        }
        follows
    }

    /// Ends the match if the game could not save or restore a state in the engine.
    #[cold]
    pub(super) fn engine_failed(&mut self) -> Advanced {
        if let Some(error) = self.simulation.engine().failure() {
            self.state_failed(error.clone());
        }
        Advanced::Ended
    }

    /// Ends the match because the game could not save or restore a state. The peer is told that, without the game's words.
    pub(super) fn state_failed(&mut self, error: StateError) {
        self.events.tell(Event::StateFailed(error));
        self.say_farewell(LeavingWhy::StateFailed);
        self.disconnect(Reason::StateFailedHere);
    }

    /// Our last state is certain: tells the peer, and compares if the peer has told.
    fn begin_to_end(&mut self, now: Time, end: Frame, followed: bool) {
        let Some(snapshot) = self.snapshot(end) else { return };
        let checksum = checksum(snapshot);
        self.traffic.stir();
        self.stream.ask();
        let finished = !followed;
        self.ending.ours(LastState { frame: end, checksum, finished });
        let frame = self.stream.numbering().wire(end);
        if self.link.send(now, Ordered::Verdict { frame, checksum, finished }).is_err() {
            self.disconnect(Reason::ProtocolViolation);
            return;
        }
        self.compare_verdicts(now);
    }

    /// Ends the match once both verdicts are here, and a difference has been looked into.
    pub(super) fn compare_verdicts(&mut self, now: Time) {
        let Some(verdict) = self.ending.outcome() else { return };
        if let Some(verdicts) = self.ending.disputed() {
            self.watch.verdicts_differ(now, verdicts);
        }
        if !self.watch.is_examining() {
            trace::over(self.link.addr(), &verdict);
            self.events.tell(Event::Ended(verdict));
            self.ending.close();
        }
    }

    /// Acts on what time alone brings: interruption, loss, a farewell that is believed by now.
    #[inline]
    pub(super) fn look_after(&mut self, now: Time) {
        if self.ending.is_over() {
            return;
        }
        if let Some(change) = self.liveness.change() {
            self.silence_changed(now, change);
        }
        if self.liveness.farewell_heard() || self.parting.is_pending() {
            self.part(now);
        }
    }

    #[cold]
    fn silence_changed(&mut self, now: Time, change: SilenceChange) {
        match change {
            SilenceChange::Interrupted { disconnect_at } => {
                trace::silence(self.link.addr(), "interrupted");
                self.events.tell(Event::Interrupted { disconnect_at: disconnect_at.into() });
            }
            SilenceChange::Resumed => {
                trace::silence(self.link.addr(), "resumed");
                self.pace.go_on(now);
                self.stream.restart_counts();
                self.events.tell(Event::Resumed);
            }
            SilenceChange::Lost => self.give_up(now, Reason::TimedOut),
            SilenceChange::NoProgress => self.give_up(now, Reason::NoProgress),
            SilenceChange::TooSlow => self.give_up(now, Reason::TooSlow),
        }
    }

    /// Ends the match if the peer's farewell is believed, or if it is to stop here and the peer has our notes.
    #[cold]
    fn part(&mut self, now: Time) {
        let rtt = self.link.rtt().smoothed().unwrap_or_default();
        let (known, ending) = (self.simulation.known(), self.ending.is_ending());
        let parted = self.liveness.parted(now, known, rtt, ending);
        let has_notes = |inputs_end| {
            parted.is_some()
                || !self.watch.has_messages()
                    && self.link.has_delivered_all()
                    && self.stream.has_acked(inputs_end)
        };
        if self.parting.is_pending() {
            if let Some(stop) = self.parting.due(now, has_notes) {
                self.say_farewell(LeavingWhy::Desync);
                self.disconnect(self.reason_of(stop));
            }
        } else if let Some(reason) = parted {
            // A peer that stops at a desync leaves when its notes are here, and our autopsy ends without it.
            if !(self.liveness.stops_at_desync() && self.watch.is_examining()) {
                self.disconnect(self.reason_to_part(now, reason));
            }
        }
    }

    /// The reason to tell when the peer leaves for `reason`, or is given up for it.
    fn reason_to_part(&self, now: Time, reason: Reason) -> Reason {
        let reason = if self.liveness.stops_at_desync() { Reason::Desync } else { reason };
        if let Some(stop) = self.parting.reason().or_else(|| self.watch.voided()) {
            return self.reason_of(stop);
        }
        match reason {
            // Otherwise a player who leaves could claim a desync and avoid the forfeit.
            Reason::Desync if !self.watch.is_disputed() => Reason::Left,
            Reason::GaveUp | Reason::NoProgress | Reason::TooSlow if self.clock_check.is_wrong(now) => {
                Reason::ClockMistake
            }
            reason => reason,
        }
    }

    /// Tells the peer after which frame this side leaves, and why.
    pub(super) fn say_farewell(&mut self, why: LeavingWhy) {
        let end = self.stream.numbering().wire(self.simulation.own_end());
        self.link.say_farewell(Leaving { token: self.agreed.token, end, why });
    }

    /// Ends the match here and tells the peer, which may still hear us: where only one direction is cut, it would wait
    /// on.
    fn give_up(&mut self, now: Time, reason: Reason) {
        self.say_farewell(LeavingWhy::GaveUp);
        self.disconnect(self.reason_to_part(now, reason));
    }

    /// Ends the match without the peer's verdict.
    pub(super) fn disconnect(&mut self, reason: Reason) {
        if self.ending.is_over() {
            return;
        }
        self.traffic.stir();
        if let Some(autopsy) = self.watch.conclude(self.simulation.rollback()) {
            self.events.tell(Event::Autopsy(Box::new(autopsy)));
        }
        trace::over(self.link.addr(), &reason);
        let verdict = self.ending.verdict();
        self.events.tell(verdict.map_or(Event::Disconnected { reason }, Event::Ended));
        self.ending.close();
    }
}
