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
        if ack.end() > self.next {
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

    /// Every byte before this one was sent.
    pub(super) fn next(&self) -> u32 {
        self.next
    }

    /// The spectator has every byte before `next` from earlier.
    pub(super) fn skip_to(&mut self, now: Time, next: u32) {
        while let Some(piece) = self.sent.front().filter(|piece| piece.end <= next) {
            self.acknowledged = piece.end;
            self.sent.pop_front();
        }
        if next > self.next {
            (self.acknowledged, self.next) = (next, next);
        }
        self.progressed_at = now;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::broadcast::{ToBroadcast, encode_ack};

    const TRIP: Span = Span::from_millis(100);

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn acknowledge(sender: &mut Sender, ms: u64, next: u32, range: Option<[u32; 2]>) -> bool {
        let range = range.map(|[start, end]| start..end);
        let mut buf = [0; 300];
        let len = encode_ack(1, next, 1, range.as_slice(), &mut buf).unwrap();
        let Ok(ToBroadcast::Ack(ack)) = ToBroadcast::decode(&buf[..len]) else { panic!("no ACK") };
        sender.acknowledge(at(ms), &ack)
    }

    /// The pieces that go out by a time, as the places where they begin.
    fn polled(sender: &mut Sender, ms: u64, len: u32) -> Vec<u32> {
        core::iter::from_fn(|| sender.poll(at(ms), len).map(|piece| piece.start)).collect()
    }

    #[test]
    fn lost_piece_is_sent_before_new_ones() {
        let mut sender = Sender::new(at(0), 0, TRIP);
        assert_eq!(polled(&mut sender, 0, 2_048), [0]);
        assert_eq!(polled(&mut sender, 50, 2_048), [1_024]);
        assert_eq!(polled(&mut sender, 100, 5_000), [2_048, 3_072, 4_096]);
        assert!(acknowledge(&mut sender, 150, 0, Some([1_024, 2_048])));
        assert_eq!(polled(&mut sender, 200, 6_000), [0, 5_000], "sent clearly before one that arrived");
        assert!(acknowledge(&mut sender, 250, 6_000, None));
        assert!(sender.is_done(6_000) && !sender.is_done(6_001));
    }

    #[test]
    fn overtaken_piece_is_no_lost_one() {
        let mut sender = Sender::new(at(0), 0, TRIP);
        assert_eq!(polled(&mut sender, 0, 1_024), [0]);
        assert_eq!(polled(&mut sender, 20, 2_048), [1_024]);
        assert!(acknowledge(&mut sender, 120, 0, Some([1_024, 2_048])));
        assert_eq!(polled(&mut sender, 120, 2_048), [0; 0]);
    }

    #[test]
    fn unacknowledged_piece_is_sent_again_after_two_round_trips() {
        let mut sender = Sender::new(at(0), 0, TRIP);
        assert_eq!(polled(&mut sender, 0, 700), [0]);
        assert_eq!((sender.poll_timeout(700), polled(&mut sender, 199, 700)), (at(200), vec![]));
        assert_eq!(polled(&mut sender, 200, 700), [0]);
        assert_eq!(sender.poll_timeout(700), at(600), "the wait doubles");
        assert!(acknowledge(&mut sender, 610, 700, None));
        assert_eq!(sender.poll_timeout(700), Time::NEVER);
    }

    #[test]
    fn ack_beyond_the_bytes_that_were_sent_is_refused() {
        let mut sender = Sender::new(at(0), 500, TRIP);
        assert_eq!(polled(&mut sender, 0, 1_500), [500]);
        assert!(!acknowledge(&mut sender, 100, 1_501, None));
        assert!(!acknowledge(&mut sender, 100, 500, Some([600, 1_501])));
        assert!(acknowledge(&mut sender, 100, 500, Some([600, 1_500])));
        assert!(!sender.is_done(1_500), "a part of a piece is none");
        assert!(acknowledge(&mut sender, 100, 1_500, None));
        assert!(sender.is_done(1_500));
    }

    #[test]
    fn sender_has_stalled_only_while_bytes_are_missing() {
        let (mut sender, after) = (Sender::new(at(0), 0, TRIP), Span::from_secs(15));
        assert_eq!(polled(&mut sender, 0, 700), [0]);
        assert!(!sender.has_stalled(at(15_000), after) && sender.has_stalled(at(15_001), after));
        assert!(acknowledge(&mut sender, 16_000, 700, None));
        assert!(!sender.has_stalled(at(31_000), after));
        assert_eq!(sender.poll(at(40_000), 700), None, "all is there");
        assert_eq!(polled(&mut sender, 50_000, 800), [700]);
        assert!(!sender.has_stalled(at(55_000), after) && sender.has_stalled(at(55_001), after));
    }

    #[test]
    fn pieces_under_way_are_bounded_by_the_window_and_by_memory() {
        let mut sender = Sender::new(at(0), 0, TRIP);
        let mut count = 0;
        for ms in 0..190 {
            count += polled(&mut sender, ms, u32::MAX).len();
        }
        assert_eq!(count, 32, "the first window");
        // All but the first piece arrive for ever.
        for round in 0..200 {
            let ms = 1_000 + round * 50;
            polled(&mut sender, ms, u32::MAX);
            let end = sender.next;
            assert!(acknowledge(&mut sender, ms + 40, 0, Some([1_024, end])));
        }
        assert_eq!(sender.sent.len(), 256);
    }
}
