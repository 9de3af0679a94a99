//! Pauses of a session: the calls of the game, the frames that are held, and the packets that agree on both.

use super::Session;
use super::event::{Event, Reason};
use super::pause_agreement::{Held, LAST_FRAME, Paused};
use super::play::Advanced;
use crate::channel::refusal::Refusal;
use crate::protocol::time::{Span, Time};
use crate::wire::message::{self, Message, Ordered, PauseStep, Resume};
use crate::{Fields, Frame, Game, Input};
use core::time::Duration;

/// How often a paused machine sends its last inputs once the peer has them: in place of a HEARTBEAT, because they measure the
/// link and carry acks.
const SENT_EVERY: Span = Span::from_millis(150);

impl<S: Fields> Session<S> {
    /// Asks to pause the match. Both machines stop at one frame a moment later: [`Event::Paused`] says so on both.
    ///
    /// `false` if that cannot be asked for now: a pause is under way or has just ended, this player had all of its
    /// [`Config::pauses`](crate::Config::pauses), or the match is over. [`Event::PauseRefused`] follows if the other machine
    /// does not agree.
    pub fn pause(&mut self, now: Duration) -> bool {
        let is_possible =
            self.ending.is_playing() && !self.liveness.farewell_heard() && self.link.has_room_for_session();
        let rtt = self.link.rtt().smoothed().unwrap_or_default() + self.link.rtt().jitter() * 2;
        let (current, known) = (self.simulation.current(), self.simulation.known());
        let asked = if is_possible { self.pause.ask(current, known, rtt, self.frame_length) } else { None };
        asked.is_some_and(|frame| self.say_pause(now.into(), PauseStep::Asks, frame))
    }

    /// Ends the pause after a [countdown](crate::Timeouts::countdown), which both machines show: [`Event::Resuming`].
    ///
    /// `false` if the match is not paused, if the countdown runs already, or if the other player paused and its
    /// [time](Paused::limit_at) is not over.
    pub fn resume(&mut self, now: Duration) -> bool {
        let Some(at) = self.pause.resume(now.into()) else { return false };
        self.traffic.stir();
        self.events.tell(Event::Resuming { at: at.into() });
        true
    }

    /// The pause that the match is in.
    #[must_use]
    pub fn paused(&self) -> Option<Paused> {
        self.pause.shown()
    }

    /// Holds the current frame: mends and settles all frames before it. `None` if the pause is over, and the frame is to be
    /// stepped. Presses are kept while the pause is not agreed on, because the match may go on at once.
    #[cold]
    pub(super) fn hold<G: Game<Snapshot = S>>(
        &mut self,
        now: Time,
        game: &mut G,
        input: Input,
    ) -> Option<Advanced> {
        if self.simulation.current() >= LAST_FRAME {
            self.disconnect(Reason::FrameLimit);
            return Some(Advanced::Ended);
        }
        let held = self.pause.held(now, self.simulation.known());
        match held {
            Held::GoesOn => {
                self.pace.go_on(now);
                self.events.tell(Event::PauseEnded);
                return None;
            }
            Held::Paused { by, begins } => {
                if begins {
                    self.events.tell(Event::Paused { by });
                }
                self.liveness.excuse();
            }
            Held::Unanswered => self.simulation.keep(now, input),
        }
        self.simulation.mend(game);
        if self.simulation.engine().failure().is_some() {
            return Some(self.engine_failed());
        }
        self.pace.stalled(now);
        if let Some(at) = self.pause.resumes_at() {
            self.pace.hurry(at);
        }
        let is_quiet = self.stream.has_acked(self.simulation.own_end())
            && self.simulation.settled() == self.simulation.current();
        if !is_quiet || now.since(self.link.last_sent()) >= SENT_EVERY {
            self.stream.ask();
        }
        Some(if held == Held::Unanswered { Advanced::Stalled } else { Advanced::Paused })
    }

    /// Whether a PAUSE can be the peer's. One that asks waits until there is room for the answer.
    pub(super) fn check_pause(&self, pause: message::Pause) -> Result<Frame, Refusal> {
        let frame = self.stream.numbering().frame(pause.frame).ok_or(Refusal::BeforeMatch)?;
        if !self.pause.is_plausible(pause.step, frame, self.simulation.current()) {
            return Err(Refusal::OutOfPlace);
        }
        if pause.step == PauseStep::Asks && !self.link.has_room_for_session() {
            return Err(Refusal::NoRoom);
        }
        Ok(frame)
    }

    /// Acts on a PAUSE. It may have waited for earlier messages since it was checked.
    pub(super) fn heard_pause(&mut self, now: Time, pause: message::Pause) {
        let Ok(frame) = self.check_pause(pause) else { return };
        let theirs = Span::from_secs(u64::from(pause.limit_secs));
        match pause.step {
            PauseStep::Asks => {
                if let Some(answer) = self.pause.asked(frame, self.simulation.current(), theirs) {
                    self.say_pause(now, answer.step, answer.frame);
                }
            }
            PauseStep::Agrees => self.pause.agreed(frame, theirs),
            PauseStep::Refuses => {
                if self.pause.refused() {
                    self.events.tell(Event::PauseRefused);
                }
            }
        }
    }

    fn say_pause(&mut self, now: Time, step: PauseStep, frame: Frame) -> bool {
        self.traffic.stir();
        let frame = self.stream.numbering().wire(frame);
        let pause = message::Pause { step, frame, limit_secs: self.pause.limit_secs() };
        self.link.send(now, Ordered::Pause(pause)).is_ok()
    }

    /// Acts on a RESUME, which its token proves.
    pub(super) fn heard_resume(&mut self, now: Time, resume: Resume) -> Result<(), Refusal> {
        if resume.token != self.agreed.token {
            return Err(Refusal::WrongToken);
        }
        let frame = self.stream.numbering().frame(resume.frame).ok_or(Refusal::BeforeMatch)?;
        let on_its_way = self.link.rtt().smoothed().unwrap_or_default() / 2;
        let left = Span::from_millis(u64::from(resume.left_millis)) - on_its_way;
        if let Some(at) = self.pause.resumed(now, frame, left).map_err(|()| Refusal::OutOfPlace)? {
            self.events.tell(Event::Resuming { at: at.into() });
        }
        self.liveness.heard();
        Ok(())
    }

    /// When a RESUME is due.
    pub(super) fn resume_due(&self) -> Option<Time> {
        self.pause.resume_due(self.simulation.known()).filter(|_| self.ending.is_playing())
    }

    /// Writes the RESUME that is due.
    pub(super) fn write_resume(&mut self, now: Time, buf: &mut [u8]) -> Option<usize> {
        let (frame, left) = self.pause.say_resume(now);
        let left_millis = (left.nanos() / 1_000_000) as u16;
        let frame = self.stream.numbering().wire(frame);
        let resume = Resume { token: self.agreed.token, frame, left_millis };
        self.link.write_message(now, &Message::Resume(resume), buf)
    }
}
