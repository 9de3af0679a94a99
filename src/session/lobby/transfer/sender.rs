//! The host's side of a transfer.

use super::{Progress, parts, range};
use crate::channel::congestion::Congestion;
use crate::channel::refusal::Refusal;
use crate::protocol::time::{Span, Time};
use crate::session::first_state::FirstState;
use crate::wire::message::{FirstStateAck, FirstStatePart, REACH};
use core::time::Duration;
use std::collections::VecDeque;

/// The joiner acknowledges or asks at least every 200 ms. After a longer silence the line was dead in between.
const DEAD_AFTER: Span = Span::from_millis(500);

/// Sends a first state in parts until all of them are acknowledged. Nothing goes out before the joiner has asked.
#[derive(Clone, Debug)]
pub(crate) struct Sender {
    state: FirstState,
    token: u64,
    /// Every part before this one is acknowledged.
    first: u16,
    /// The parts from `first` on that were sent.
    sent: VecDeque<Sent>,
    /// The bytes that are acknowledged.
    arrived: u32,
    /// When the acknowledged part that was sent last was sent.
    newest: Time,
    /// When the joiner last acknowledged another part, or asked; `None` before it asked.
    progressed_at: Option<Time>,
    heard_at: Time,
    congestion: Congestion,
}

#[derive(Clone, Copy, Debug)]
struct Sent {
    at: Time,
    is_repeated: bool,
    part: Part,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    UnderWay,
    Lost,
    Arrived,
}

impl Sender {
    pub(crate) fn new(state: FirstState, token: u64) -> Self {
        Self {
            state,
            token,
            first: 0,
            sent: VecDeque::new(),
            arrived: 0,
            newest: Time::ZERO,
            progressed_at: None,
            heard_at: Time::ZERO,
            congestion: Congestion::new(Time::ZERO, Span::ZERO),
        }
    }

    fn len(&self) -> u32 {
        self.state.len() as u32
    }

    fn next(&self) -> u16 {
        self.first + self.sent.len() as u16
    }

    /// How much the joiner has.
    pub(crate) fn progress(&self) -> Progress {
        let since = self.progressed_at.map(Duration::from);
        Progress { bytes: self.arrived, of: self.len(), since }
    }

    /// Whether the joiner has asked for the first state, and no part of it was acknowledged for this long.
    pub(crate) fn has_stalled(&self, now: Time, after: Span) -> bool {
        self.progressed_at.is_some_and(|at| now.since(at) > after)
    }

    /// Takes in an acknowledgement. The first one asks for the first state. `trip` is the round trip as it is known then.
    pub(crate) fn acknowledged(&mut self, now: Time, ack: &FirstStateAck, trip: Span) -> Result<(), Refusal> {
        if ack.token != self.token {
            return Err(Refusal::WrongToken);
        }
        let all = parts(self.len());
        let is_whole = ack.missing == all && self.next() == all;
        if ack.end() > u32::from(all) || (ack.is_damaged && !is_whole) {
            return Err(Refusal::FirstState);
        }
        if self.progressed_at.is_none() {
            (self.progressed_at, self.congestion) = (Some(now), Congestion::new(now, trip));
            self.heard_at = now;
        }
        let was_dead = now.since(core::mem::replace(&mut self.heard_at, now)) >= DEAD_AFTER;
        // A part that was not sent yet may be acknowledged: it was forged to the joiner, and the hash will differ.
        let (len, mut arrived) = (self.len(), 0);
        for (number, sent) in (self.first..).zip(&mut self.sent) {
            if sent.part == Part::Arrived || !ack.has(number) {
                continue;
            }
            sent.part = Part::Arrived;
            arrived += 1;
            self.arrived += range(number, len).len() as u32;
            let trip = now.since(sent.at);
            // An acknowledgement that was lost in a dead time tells nothing about the way.
            if !sent.is_repeated && !was_dead {
                self.congestion.measured(trip);
            }
            if !sent.is_repeated || self.congestion.is_plausible(trip) {
                self.newest = self.newest.max(sent.at);
            }
        }
        if arrived == 0 {
            return Ok(());
        }
        while self.sent.front().is_some_and(|sent| sent.part == Part::Arrived) {
            self.sent.pop_front();
            self.first += 1;
        }
        self.progressed_at = Some(now);
        self.congestion.arrived(now, arrived);
        // A part is lost if one that was sent clearly later has arrived.
        let reordering = self.congestion.reordering();
        let newest = self.newest;
        self.lose(|sent| sent.at + reordering < newest);
        Ok(())
    }

    /// The next part that is due.
    pub(crate) fn poll(&mut self, now: Time) -> Option<FirstStatePart<'_>> {
        self.progressed_at?;
        self.expire(now);
        if self.congestion.free_at() > now {
            return None;
        }
        let Some(number) = self.candidate() else {
            if self.under_way() < self.congestion.window() {
                self.congestion.idle();
            }
            return None;
        };
        let offset = usize::from(number - self.first);
        let sent = Sent { at: now, is_repeated: offset < self.sent.len(), part: Part::UnderWay };
        match self.sent.get_mut(offset) {
            Some(slot) => *slot = sent,
            None => self.sent.push_back(sent),
        }
        self.congestion.sent(now);
        let bytes = &self.state[range(number, self.len())];
        Some(FirstStatePart { token: self.token, number, bytes })
    }

    /// When a part is due, or an acknowledgement is overdue.
    pub(crate) fn poll_timeout(&self) -> Time {
        if self.progressed_at.is_none() {
            return Time::NEVER;
        }
        if self.candidate().is_some() {
            return self.congestion.free_at();
        }
        let under_way = self.sent.iter().filter(|sent| sent.part == Part::UnderWay).map(|sent| sent.at);
        under_way.min().map_or(Time::NEVER, |oldest| oldest + self.congestion.timeout())
    }

    fn under_way(&self) -> u32 {
        self.sent.iter().filter(|sent| sent.part == Part::UnderWay).count() as u32
    }

    /// The part to send next, if another one may be under way: a lost one first.
    fn candidate(&self) -> Option<u16> {
        if self.under_way() >= self.congestion.window() {
            return None;
        }
        let lost = self.sent.iter().position(|sent| sent.part == Part::Lost);
        if let Some(offset) = lost {
            return Some(self.first + offset as u16);
        }
        let next = self.next();
        // The joiner names no part further from the first missing one.
        (next < parts(self.len()) && next - self.first <= REACH).then_some(next)
    }

    /// Takes every part under way for lost if the acknowledgement of one is overdue: a later one that had arrived would have shown
    /// that the line is alive.
    fn expire(&mut self, now: Time) {
        let timeout = self.congestion.timeout();
        let is_overdue = |sent: &Sent| sent.part == Part::UnderWay && now.since(sent.at) >= timeout;
        if self.sent.iter().any(is_overdue) {
            self.lose(|_| true);
            self.congestion.timed_out();
        }
    }

    /// Takes parts under way for lost.
    fn lose(&mut self, is_lost: impl Fn(&Sent) -> bool) {
        let lost = self.sent.iter_mut().filter(|sent| sent.part == Part::UnderWay && is_lost(sent));
        lost.for_each(|sent| sent.part = Part::Lost);
    }
}
