//! What a session sends: the inputs of every frame, and whatever else is due.

use super::duel::{REPORT_EVERY, Session, Stage};
use crate::Fields;
use crate::wire::message::{Message, Ordered};
use crate::wire::{self, rbn1};
use core::time::Duration;
use std::net::SocketAddr;

impl<S: Fields> Session<S> {
    /// Writes the unacknowledged run of inputs, or at least the newest input.
    #[inline]
    fn write_inputs(&mut self, now: Duration, buf: &mut [u8]) -> Option<usize> {
        let first = self.agreed.first_frame;
        let end = self.rollback.next_input(self.local);
        let newest = end.checked_sub(1)?;
        let start = self.outbox.acked.min(newest);
        let known = self.rollback.next_input(self.local.other());
        let header = rbn1::Header {
            start_frame: first.wrapping_add(start.0),
            ack_frame: first.wrapping_add(known.0).wrapping_sub(1),
            checksum: self
                .checksums
                .carry(end)
                .map(|(frame, value)| rbn1::Checksum { frame: first.wrapping_add(frame.0), value }),
        };
        let inputs = self.rollback.inputs(self.local, start, end);
        let len = rbn1::encode(&header, inputs, buf).ok()?;
        let copy_at = self.copies.on().then(|| now + self.frame / 2);
        self.outbox.sent(&buf[..len], end, copy_at);
        self.copies.sent(now, newest);
        self.link.sent_input(now);
        Some(len)
    }

    /// While the match ends nobody calls `advance`, but the inputs that lead there still have to arrive.
    pub(super) fn resend_at(&self) -> Option<Duration> {
        let unfinished = matches!(self.stage, Stage::Ending { .. } | Stage::Over)
            && self.rollback.ended().is_some()
            && self.outbox.acked < self.rollback.next_input(self.local)
            && self.peer_verdict.is_none();
        unfinished.then(|| self.link.last_sent() + self.frame)
    }

    /// A match that is over keeps nobody alive: it only finishes what it has begun to say.
    fn is_silent(&self) -> bool {
        self.stage == Stage::Over && !self.link.has_unfinished()
    }

    fn write_due(&mut self, now: Duration, buf: &mut [u8]) -> Option<usize> {
        if self.outbox.due {
            self.outbox.due = false;
            if let Some(len) = self.write_inputs(now, buf) {
                return Some(len);
            }
        }
        if let Some(len) = self.outbox.take_copy(now, buf) {
            self.link.sent_input(now);
            self.copies.sent_copy();
            return Some(len);
        }
        if self.resend_at().is_some_and(|at| at <= now) {
            return self.write_inputs(now, buf);
        }
        if self.next_report <= now && self.stage == Stage::Playing {
            self.next_report = now + REPORT_EVERY;
            if !self.link.is_crowded()
                && let Some(newest) = self.rollback.next_input(self.local.other()).checked_sub(1)
            {
                let report = Message::Report {
                    sent: self.outbox.packets,
                    received: self.inputs_in,
                    newest_frame: self.agreed.first_frame.wrapping_add(newest.0),
                };
                let header = self.link.stamp(now);
                return wire::encode_message(&header, &report, buf).ok();
            }
        }
        if self.examiner.has_messages() {
            self.pump_autopsy(now);
        }
        if self.is_silent() {
            return None;
        }
        self.link.poll_transmit(now, buf)
    }

    fn pump_autopsy(&mut self, now: Duration) {
        while self.link.reliable.has_room_for_session()
            && let Some(message) = self.examiner.next_message()
        {
            // There is room, and every message of an autopsy fits.
            let _ = self.link.reliable.send(now, Ordered::Autopsy(&message));
        }
    }

    /// What nearly every packet is: inputs are due, and nothing else. Apart, so that the common question of whether
    /// there is anything at all stays short.
    #[inline(never)]
    pub(super) fn transmit_inputs(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        self.outbox.due = false;
        let len = self.write_inputs(now, buf)?;
        // Whatever else is due later is so later still, now that something went out; only a copy may come sooner.
        if let Some(at) = self.outbox.copy_at() {
            self.idle_until = self.idle_until.min(at);
        }
        Some(self.count_out(self.link.addr, len))
    }

    #[inline]
    fn count_out(&mut self, to: SocketAddr, len: usize) -> (SocketAddr, usize) {
        self.stats.packets_out += 1;
        self.stats.bytes_out += len as u64;
        (to, len)
    }

    #[inline(never)]
    pub(super) fn transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        let (to, len) = match self.desk.poll_transmit(buf) {
            Some(answer) => answer,
            None => {
                let len = self.write_due(now, buf);
                // Nearly always nothing follows, and the next call need not look for it.
                self.idle_until = self.next_due().unwrap_or(Duration::MAX);
                (self.link.addr, len?)
            }
        };
        Some(self.count_out(to, len))
    }

    /// When something is due to be sent.
    pub(super) fn next_due(&self) -> Option<Duration> {
        let autopsy = self.examiner.has_messages() && self.link.reliable.has_room_for_session();
        if self.outbox.due || self.desk.has_answers() || autopsy {
            return Some(Duration::ZERO);
        }
        let mut due = if self.is_silent() { Duration::MAX } else { self.link.poll_timeout() };
        for other in [self.outbox.copy_at(), self.resend_at()].into_iter().flatten() {
            due = due.min(other);
        }
        if self.stage == Stage::Playing {
            due = due.min(self.next_report);
        }
        (due != Duration::MAX).then_some(due)
    }
}
