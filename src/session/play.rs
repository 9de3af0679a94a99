//! One frame of a match: what is pressed, what is stepped, what has become certain.

use super::config::OnDesync;
use super::duel::{Session, Stage};
use super::ending::FAREWELL_BELIEVED_AFTER;
use super::event::{Desync, Event, Reason};
use crate::{Buttons, Fields, Frame, Game, Player, checksum, rollback};
use core::time::Duration;

/// Frames are numbered with 32 bits on the wire, from the middle of them on in the worst case.
const LAST_FRAME: Frame = Frame(u32::MAX / 2 - 1_000);

/// What [`Session::advance`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advanced {
    /// It stepped a frame.
    Stepped,
    /// The frame waits for the other side. Presses are kept.
    Stalled,
    /// No frame is due yet.
    NotDue,
    /// The match is over.
    Ended,
}

impl<S: Fields> Session<S> {
    /// Plays a frame if one is due: mends what was predicted wrongly, steps, and queues what to send.
    ///
    /// `buttons` is what the local player holds now.
    #[inline]
    pub fn advance<G: Game<Snapshot = S>>(
        &mut self,
        now: Duration,
        game: &mut G,
        buttons: Buttons,
    ) -> Advanced {
        self.silence.pass(now);
        self.look_after();
        self.rollback.forget_last();
        if !self.pacing.is_due(now) && self.stage == Stage::Playing {
            return Advanced::NotDue;
        }
        if self.examiner.is_active() && self.stage != Stage::Over {
            self.stir();
            self.examine(now, game);
        }
        if self.stage != Stage::Playing {
            // Nothing is stepped any more, but the verdict may take a few frames.
            if self.pacing.is_due(now) {
                self.pacing.stalled(now);
            }
            if self.stage == Stage::Over && !core::mem::replace(&mut self.cues_closed, true) {
                self.rollback.cancel_cues();
            }
            return Advanced::Ended;
        }
        let remote = self.local.other();
        if self.rollback.is_waiting_for(remote) && !self.owes_lockstep_input() {
            self.latch.keep(now, buttons);
        } else {
            let taken = self.latch.take(now, buttons);
            if !self.rollback.press(self.local, self.delay_frames, taken) {
                self.latch.give_back(now);
            }
        }
        let stepped_frame = self.rollback.current();
        let advanced = match self.rollback.advance_cleared(game) {
            rollback::Advance::Stepped => {
                self.stepped(now, stepped_frame, remote);
                Advanced::Stepped
            }
            rollback::Advance::Stalled => {
                self.stalled = true;
                self.stats.stalled_frames += 1;
                self.pacing.stalled(now);
                self.outbox.due = true;
                Advanced::Stalled
            }
            rollback::Advance::Ended => Advanced::Ended,
        };
        self.take_checksums(now);
        self.archive_settled();
        if self.peer_verdict.is_some()
            && self.rollback.ended().is_none()
            && self.silence.stuck() >= FAREWELL_BELIEVED_AFTER
        {
            self.follow_to_the_end(game);
        }
        if let Some(end) = self.rollback.ended() {
            self.begin_to_end(now, end);
            return Advanced::Ended;
        }
        if stepped_frame >= LAST_FRAME {
            self.disconnect(Reason::FrameLimit);
        }
        advanced
    }

    /// The other side has come to its end. If this one has the same state behind it and did not end there, it ends there
    /// too, and the verdicts are compared: otherwise it would wait for inputs that never come. Believed, as a farewell
    /// is, only when new frames have stopped coming: while they come, a forged verdict ends nothing.
    fn follow_to_the_end<G: Game<Snapshot = S>>(&mut self, game: &mut G) {
        if let Some((at, _)) = self.peer_verdict {
            let end = Frame(at.wrapping_sub(self.agreed.first_frame));
            self.followed = self.rollback.end_at(end, game, self.archive.state(end));
        }
    }

    /// In lockstep the other side waits for this very input, so that it is given although the frame waits too: once,
    /// when the frame is due for the first time. What is pressed after that is for the next frame.
    fn owes_lockstep_input(&self) -> bool {
        let given = self.rollback.next_input(self.local);
        self.rollback.window() == 0 && given <= self.rollback.current().plus(self.delay_frames)
    }

    #[inline]
    fn stepped(&mut self, now: Duration, frame: Frame, remote: Player) {
        self.stalled = false;
        self.stats.frames += 1;
        let known = self.rollback.next_input(remote);
        if known > Frame::ZERO {
            self.lead.stepped(frame.0.wrapping_sub(known.0).wrapping_add(1).cast_signed());
        }
        self.pacing.stepped(now, self.lead.frames());
        if self.told_delay_frames != self.delay_frames {
            self.tell_delay(now);
        }
        if !self.copies.skips(frame) {
            self.outbox.due = true;
        }
    }

    /// Hashes what has become certain, and compares what can be compared.
    #[inline]
    fn take_checksums(&mut self, now: Duration) {
        while self.checksums.next() <= self.rollback.settled()
            && let Some(snapshot) = self.rollback.snapshot(self.checksums.next())
        {
            self.checksums.record(checksum(snapshot));
        }
        while let Some(comparison) = self.checksums.compare() {
            if !comparison.matches() && !self.desync_told {
                self.desync_told = true;
                let last_match = self.checksums.newest_match();
                let (frame, ours, theirs) = (comparison.frame, comparison.ours, comparison.theirs);
                self.tell(Event::Desync(Desync { frame, ours, theirs, last_match }));
                if self.on_desync != OnDesync::GoOn {
                    self.stir();
                    self.examiner.begin(now, frame, last_match, &mut self.archive);
                }
            }
        }
    }

    /// Lets the frames that are certain leave for the archive.
    #[inline]
    fn archive_settled(&mut self) {
        let settled = self.rollback.newly_settled();
        for frame in settled.start.until(settled.end) {
            if let Some(inputs) = self.rollback.settled_inputs(frame) {
                self.archive.settled(frame, inputs);
            }
            if self.archive.wants(frame)
                && let Some(snapshot) = self.rollback.release_snapshot(frame)
            {
                self.archive.swap(frame, snapshot);
            }
        }
    }

    /// Goes on with the autopsy, and tells the game when it is done.
    fn examine<G: Game<Snapshot = S>>(&mut self, now: Duration, game: &mut G) {
        let settled = self.rollback.settled();
        let last = self.rollback.ended().and_then(|end| Some((end, self.rollback.snapshot(end)?)));
        let Some(autopsy) = self.examiner.work(now, settled, game, &mut self.archive, last) else { return };
        self.tell(Event::Autopsy(Box::new(autopsy)));
        if self.stage != Stage::Playing {
            self.compare_verdicts(now);
        } else if self.on_desync == OnDesync::Stop {
            self.link.say_farewell();
            self.disconnect(Reason::Desync);
        }
    }
}
