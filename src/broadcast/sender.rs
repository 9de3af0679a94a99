//! The bytes of a growing log on their way to one spectator, in pieces that are acknowledged.

use crate::channel::congestion::Congestion;
use crate::protocol::time::{Span, Time};
use crate::wire::broadcast::{Ack, PIECE_LEN};
use core::ops::Range;
use std::collections::VecDeque;

/// Sends a log until all of it is acknowledged, a lost piece first.
#[derive(Debug)]
pub(super) struct Sender {
    /// Every byte before this one is acknowledged.
    acknowledged: u32,
    /// The pieces from there on that were sent.
    sent: VecDeque<Piece>,
    /// Every byte before this one was sent.
    next: u32,
    /// When the acknowledged piece that was sent last was sent.
    newest: Time,
    /// When bytes were last acknowledged, or had all been.
    progressed_at: Time,
    congestion: Congestion,
}

#[derive(Clone, Copy, Debug)]
struct Piece {
    start: u32,
    end: u32,
    at: Time,
    is_repeated: bool,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    UnderWay,
    Lost,
    Arrived,
}

impl Sender {
    /// A spectator that has every byte before `from`, and is a round trip of `trip` away.
    pub(super) fn new(now: Time, from: u32, trip: Span) -> Self {
        Self {
            acknowledged: from,
            sent: VecDeque::new(),
            next: from,
            newest: Time::ZERO,
            progressed_at: now,
            congestion: Congestion::new(now, trip),
        }
    }

    /// Takes in an acknowledgement. `false` if it names bytes that were never sent.
    pub(super) fn acknowledge(&mut self, now: Time, ack: &Ack<'_>) -> bool {
        let end = ack.ranges().last().map_or(ack.next, |range| range.end);
        if end > self.next {
            return false;
        }
        let mut arrived = 0;
        for piece in &mut self.sent {
            let is_here = piece.end <= ack.next
                || ack.ranges().any(|range| range.start <= piece.start && piece.end <= range.end);
            if piece.state == State::Arrived || !is_here {
                continue;
            }
            piece.state = State::Arrived;
            arrived += 1;
            let trip = now.since(piece.at);
            if !piece.is_repeated {
                self.congestion.measured(trip);
            }
            if !piece.is_repeated || self.congestion.is_plausible(trip) {
                self.newest = self.newest.max(piece.at);
            }
        }
        while let Some(piece) = self.sent.front().filter(|piece| piece.state == State::Arrived) {
            self.acknowledged = piece.end;
            self.sent.pop_front();
        }
        if arrived > 0 {
            self.progressed_at = now;
            self.congestion.arrived(now, arrived);
            // A piece is lost if one that was sent clearly later has arrived.
            let (reordering, newest) = (self.congestion.reordering(), self.newest);
            self.lose(|piece| piece.at + reordering < newest);
        }
        true
    }

    /// The bytes to send now of a log of `len` bytes.
    pub(super) fn poll(&mut self, now: Time, len: u32) -> Option<Range<u32>> {
        if self.is_done(len) {
            self.progressed_at = now;
            return None;
        }
        self.expire(now);
        if self.congestion.free_at() > now {
            return None;
        }
        let Some(index) = self.candidate(len) else {
            if self.under_way() < self.congestion.window() {
                self.congestion.idle();
            }
            return None;
        };
        let piece = match self.sent.get_mut(index) {
            Some(piece) => {
                (piece.at, piece.is_repeated, piece.state) = (now, true, State::UnderWay);
                *piece
            }
            None => {
                let (start, end) = (self.next, len.min(self.next + PIECE_LEN as u32));
                let piece = Piece { start, end, at: now, is_repeated: false, state: State::UnderWay };
                self.sent.push_back(piece);
                self.next = end;
                piece
            }
        };
        self.congestion.sent(now);
        Some(piece.start..piece.end)
    }

    /// When a piece is due, or an acknowledgement is overdue.
    pub(super) fn poll_timeout(&self, len: u32) -> Time {
        if self.is_done(len) {
            return Time::NEVER;
        }
        if self.candidate(len).is_some() {
            return self.congestion.free_at();
        }
        let under_way = self.sent.iter().filter(|piece| piece.state == State::UnderWay);
        under_way.map(|piece| piece.at).min().map_or(Time::NEVER, |oldest| oldest + self.congestion.timeout())
    }

    /// Whether every byte of a log of this length is acknowledged.
    pub(super) fn is_done(&self, len: u32) -> bool {
        self.acknowledged >= len
    }

    /// Whether bytes are under way, and none was acknowledged for this long.
    pub(super) fn has_stalled(&self, now: Time, after: Span) -> bool {
        now.since(self.progressed_at) > after
    }

    fn under_way(&self) -> u32 {
        self.sent.iter().filter(|piece| piece.state == State::UnderWay).count() as u32
    }

    /// The piece to send next, if another one may be under way; the number of pieces for new bytes.
    fn candidate(&self, len: u32) -> Option<usize> {
        if self.under_way() >= self.congestion.window() {
            return None;
        }
        let lost = self.sent.iter().position(|piece| piece.state == State::Lost);
        lost.or_else(|| (self.next < len && self.sent.len() < MAX_PIECES).then_some(self.sent.len()))
    }

    /// Takes every piece under way for lost if the acknowledgement of one is overdue.
    fn expire(&mut self, now: Time) {
        let timeout = self.congestion.timeout();
        let is_overdue = |piece: &Piece| piece.state == State::UnderWay && now.since(piece.at) >= timeout;
        if self.sent.iter().any(is_overdue) {
            self.lose(|_| true);
            self.congestion.timed_out();
        }
    }

    fn lose(&mut self, is_lost: impl Fn(&Piece) -> bool) {
        let lost = self.sent.iter_mut().filter(|piece| piece.state == State::UnderWay && is_lost(piece));
        lost.for_each(|piece| piece.state = State::Lost);
    }
}

/// The most pieces from the first that is missing to the last that was sent: memory of a spectator that acknowledges nothing.
const MAX_PIECES: usize = 256;
