//! How a match ends: by its last state, by silence, by a farewell.

use super::config::OnDesync;
use super::duel::{Session, Stage};
use super::event::{Event, Reason, Verdict};
use crate::peer::silence::SilenceChange;
use crate::wire::message::Ordered;
use crate::{Fields, Frame, checksum};
use core::time::Duration;

/// A DISCONNECT is empty and can be forged: it is believed after this long without a new frame, or two round trips.
pub(super) const FAREWELL_BELIEVED_AFTER: Duration = Duration::from_millis(500);

impl<S: Fields> Session<S> {
    /// Our last state is certain: the other side is told, until it has acknowledged.
    pub(super) fn begin_to_end(&mut self, now: Duration, end: Frame) {
        let Some(snapshot) = self.snapshot(end) else { return };
        let checksum = checksum(snapshot);
        self.stage = Stage::Ending { frame: end, checksum };
        self.stir();
        self.outbox.due = true;
        // A side that is not finished there does not agree, even if it has the same state: frame 0 says so.
        let same = self.peer_verdict.is_some_and(|(_, theirs)| theirs == checksum);
        let told = if self.followed && same { Frame::ZERO } else { end };
        let frame = self.agreed.first_frame.wrapping_add(told.0);
        if self.link.reliable.send(now, Ordered::Verdict { frame, checksum }).is_err() {
            self.disconnect(Reason::ProtocolViolation);
            return;
        }
        self.compare_verdicts(now);
    }

    /// Ends the match once both verdicts are here, and it is known what to make of a difference.
    pub(super) fn compare_verdicts(&mut self, now: Duration) {
        let (Stage::Ending { frame, checksum }, Some((their_frame, theirs))) =
            (self.stage, self.peer_verdict)
        else {
            return;
        };
        let verdict = self.verdict();
        if theirs != checksum
            && their_frame == self.agreed.first_frame.wrapping_add(frame.0)
            && self.on_desync != OnDesync::GoOn
        {
            self.examiner.begin(now, frame, self.checksums.newest_match(), &mut self.archive);
        }
        if let Some(verdict) = verdict
            && !self.examiner.is_active()
        {
            self.tell(Event::Ended(verdict));
            self.stage = Stage::Over;
        }
    }

    /// What is to be said of the last state, once it is certain here.
    fn verdict(&self) -> Option<Verdict> {
        let Stage::Ending { frame, checksum } = self.stage else { return None };
        Some(match self.peer_verdict {
            None => Verdict::Unconfirmed { frame, checksum },
            Some((at, theirs))
                if at == self.agreed.first_frame.wrapping_add(frame.0)
                    && theirs == checksum
                    && !self.followed =>
            {
                Verdict::Agreed { frame, checksum }
            }
            Some((_, theirs)) => Verdict::Differs { frame, ours: checksum, theirs },
        })
    }

    /// What time alone brings: interruption, loss, a farewell that is believed by now.
    #[inline]
    pub(super) fn look_after(&mut self) {
        if self.stage == Stage::Over {
            return;
        }
        if let Some(change) = self.silence.change() {
            match change {
                SilenceChange::Interrupted { disconnect_at } => {
                    self.tell(Event::Interrupted { disconnect_at });
                }
                SilenceChange::Resumed => self.tell(Event::Resumed),
                SilenceChange::Lost => self.give_up(Reason::TimedOut),
                SilenceChange::NoProgress => self.give_up(Reason::NoProgress),
            }
        }
        if self.farewell_heard {
            let rtt = self.link.rtt.smoothed().unwrap_or_default();
            let ending = matches!(self.stage, Stage::Ending { .. });
            if ending || self.silence.stuck() >= FAREWELL_BELIEVED_AFTER.max(rtt * 2) {
                self.disconnect(Reason::Left);
            }
        }
    }

    /// The match is over here, and the other side may still hear it: where only one way is cut, it would wait on.
    fn give_up(&mut self, reason: Reason) {
        self.link.say_farewell();
        self.disconnect(reason);
    }

    /// The match is over without the other side's verdict.
    pub(super) fn disconnect(&mut self, reason: Reason) {
        if self.stage == Stage::Over {
            return;
        }
        self.stir();
        if self.examiner.is_active() {
            let autopsy = self.examiner.conclude(&self.archive);
            self.tell(Event::Autopsy(Box::new(autopsy)));
        }
        let event = self.verdict().map_or(Event::Disconnected { reason }, Event::Ended);
        self.tell(event);
        self.stage = Stage::Over;
    }
}
