//! The sending side of a session: the inputs of every frame, and control packets when they are due.

use super::Session;
use super::input_stream::MAX_INPUTS;
use crate::protocol::time::Time;
use crate::wire::message::Ordered;
use crate::{Fields, Frame};
use core::ops::Range;
use std::net::SocketAddr;

impl<S: Fields> Session<S> {
    /// Writes an input packet and nothing else: nearly every packet is one, and nothing else is due before
    /// `idle_until`. A function of its own keeps the common case of `poll_transmit` short.
    #[inline(never)]
    pub(super) fn transmit_inputs(&mut self, now: Time, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        self.stream.take_due();
        let len = self.write_inputs(now, buf)?;
        // Sending moved the keep-alive back, so `idle_until` still holds; only a second copy may be due before it.
        if let Some(at) = self.stream.copy_at() {
            self.traffic.due_at(at);
        }
        self.traffic.sent(len);
        Some((self.link.addr(), len))
    }

    /// Writes the next packet that is due, of any kind.
    ///
    /// Time passes here too: a game that asks for no frames still learns that the peer is gone. Keep-alives lead here five
    /// times a second.
    #[inline(never)]
    pub(super) fn transmit(&mut self, now: Time, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        self.liveness.listen(now);
        self.look_after(now);
        let (to, len) = match self.responder.poll_transmit(buf) {
            Some(answer) => answer,
            None => {
                let len = self.write_due(now, buf);
                // Nearly always nothing follows, and the next call need not look for it.
                self.traffic.idle_until(self.next_due());
                (self.link.addr(), len?)
            }
        };
        self.traffic.sent(len);
        Some((to, len))
    }

    /// When something is due to be sent.
    pub(super) fn next_due(&self) -> Time {
        let autopsy = self.watch.has_messages() && self.link.has_room_for_session();
        if self.stream.is_due() || self.responder.has_answers() || autopsy {
            return Time::ZERO;
        }
        let mut due = if self.is_silent() { Time::NEVER } else { self.link.poll_timeout() };
        let mut sooner = |at: Option<Time>| due = due.min(at.unwrap_or(Time::NEVER));
        sooner(self.stream.copy_at());
        sooner(self.resend_at());
        sooner(self.resume_due());
        if self.ending.is_playing() {
            due = due.min(self.stream.next_report());
        }
        if !self.ending.is_over() {
            due = due.min(self.liveness.next_look());
        }
        due
    }

    /// When the last inputs are sent again. While the match ends the game does not call `advance`, but they have to arrive.
    /// Once it is over, only for a while: the peer may be gone.
    pub(super) fn resend_at(&self) -> Option<Time> {
        let may_resend = self.ending.is_ending() || self.ending.is_over() && !self.stream.has_resent_enough();
        let unfinished = may_resend
            && self.simulation.ended().is_some()
            && !self.stream.has_acked(self.simulation.own_end())
            && self.ending.their_frame().is_none();
        unfinished.then(|| self.link.last_sent() + self.frame_length)
    }

    /// Whether the control channel falls silent: a match that is over sends no keep-alives, and only delivers the
    /// messages that it has begun to send.
    fn is_silent(&self) -> bool {
        self.ending.is_over() && !self.link.has_unfinished()
    }

    fn write_due(&mut self, now: Time, buf: &mut [u8]) -> Option<usize> {
        if self.stream.take_due()
            && let Some(len) = self.write_rare_inputs(now, buf)
        {
            return Some(len);
        }
        if let Some(len) = self.stream.write_copy(now, buf) {
            self.link.sent_input(now);
            return Some(len);
        }
        if self.resume_due().is_some_and(|at| at <= now) {
            return self.write_resume(now, buf);
        }
        if self.resend_at().is_some_and(|at| at <= now) {
            self.stream.count_resend();
            return self.write_rare_inputs(now, buf);
        }
        if self.stream.next_report() <= now
            && self.ending.is_playing()
            && let Some(report) = self.stream.take_report(now, self.simulation.known())
            && !self.link.is_crowded()
        {
            let header = self.link.stamp(now);
            return report.encode_packet(&header, buf).ok();
        }
        if self.watch.has_messages() {
            self.queue_autopsy(now);
        }
        if self.is_silent() {
            return None;
        }
        self.link.poll_transmit(now, buf)
    }

    /// Writes the unacknowledged inputs, or at least the newest one.
    // Always inlined into the writing of every frame's packet, where a call would cost a seventh of its work.
    #[inline(always)]
    fn write_inputs(&mut self, now: Time, buf: &mut [u8]) -> Option<usize> {
        let run = self.stream.unacknowledged(self.simulation.own_end())?;
        if run.end.since(run.start) > MAX_INPUTS {
            return self.write_part(now, run, buf);
        }
        let end = run.end;
        self.write_run(now, run, end, buf)
    }

    /// The same for packets that go out beside others, or after the end.
    #[inline(never)]
    fn write_rare_inputs(&mut self, now: Time, buf: &mut [u8]) -> Option<usize> {
        self.write_inputs(now, buf)
    }

    /// Writes a part of the unacknowledged inputs, which do not fit one packet.
    #[cold]
    #[inline(never)]
    fn write_part(&mut self, now: Time, unacknowledged: Range<Frame>, buf: &mut [u8]) -> Option<usize> {
        let end = unacknowledged.end;
        let run = self.stream.next_part(now, unacknowledged);
        self.write_run(now, run, end, buf)
    }

    /// Writes the inputs of the frames `run`; the local inputs end at `end`.
    #[inline(always)]
    fn write_run(&mut self, now: Time, run: Range<Frame>, end: Frame, buf: &mut [u8]) -> Option<usize> {
        let inputs = self.simulation.own_inputs(run.start, run.end);
        let checksum = self.watch.carry(end);
        let len = self.stream.write(now, &run, inputs, self.simulation.known(), checksum, buf)?;
        self.link.sent_input(now);
        if let Some(mistake) = self.clock_check.send(now) {
            self.tell_clock_mistake(mistake);
        }
        Some(len)
    }

    fn queue_autopsy(&mut self, now: Time) {
        while self.link.has_room_for_session()
            && let Some(message) = self.watch.next_message()
        {
            // There is room, and every message of an autopsy fits.
            let _ = self.link.send(now, Ordered::Autopsy(&message));
        }
    }

    /// Tells the peer of our input delay, if it has changed and a message fits; otherwise after a later frame.
    pub(super) fn tell_delay(&mut self, now: Time) {
        let Some(delay_frames) = self.pace.untold_delay() else { return };
        if !self.link.has_room_for_session() {
            return;
        }
        let from = self.simulation.current().plus(u32::from(delay_frames));
        let from_frame = self.stream.numbering().wire(from);
        if self.link.send(now, Ordered::Delay { from_frame, delay_frames }).is_ok() {
            self.pace.told_delay();
            self.traffic.stir();
        }
    }
}
