//! One client at a server: its address, its connection, its inputs, and its outgoing datagrams.

use super::input_buffer::InputBuffer;
use super::log::Log;
use crate::authority::config::{ServerConfig, Wire};
use crate::authority::dialect::{Parts, ServerLink, SpeaksToClient};
use crate::authority::world::Command;
use crate::protocol::time::{Span, Time};
use std::net::SocketAddr;

/// A DISCONNECT is sent this many times, because nothing acknowledges it.
const FAREWELLS: u8 = 3;
/// A PLAYER_LEFT is sent once and five times more, unless its ACK comes.
const FAREWELLS_RTYPE: u8 = 6;
const FAREWELL_EVERY: Span = Span::from_millis(100);

/// A DISCONNECT of a client is believed after this long without a new input: it is empty, so anybody could have written it.
const BELIEVED_AFTER: Span = Span::from_millis(500);

/// The life of a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Nobody is here.
    Empty,
    Playing,
    /// Removed from the world, and told so.
    Leaving {
        left: u8,
        due: Time,
    },
}

/// The rest of a broadcast.
#[derive(Clone, Copy, Debug)]
struct Broadcast {
    /// The datagram that is sent next, and how many there are.
    at: usize,
    count: usize,
    /// The input that was applied for it.
    applied: u32,
}

/// A seat. Its memory stays when a client goes.
#[derive(Clone, Debug)]
pub(super) struct Seat {
    wire: Wire,
    phase: Phase,
    pub(super) addr: SocketAddr,
    pub(super) id: u8,
    pub(super) link: ServerLink,
    pub(super) inputs: InputBuffer,
    pub(super) command: Command,
    pub(super) heard_at: Time,
    /// When the client has said that it leaves, until an input says otherwise.
    pub(super) said_leave: Option<Time>,
    /// The mark of the last record that is queued for this client.
    pub(super) told: u64,
    /// Whether this seat waits in the queue of those that have something to send.
    pub(super) ready: bool,
    pub(super) accept_again: bool,
    pub(super) pong: Option<u64>,
    broadcast: Option<Broadcast>,
}

impl Seat {
    pub(super) fn empty(config: &ServerConfig, frame_span: Span) -> Self {
        Self {
            wire: config.wire,
            phase: Phase::Empty,
            addr: SocketAddr::from(([0, 0, 0, 0], 0)),
            id: 0,
            link: ServerLink::idle(config.wire, config.seed),
            inputs: match config.wire {
                Wire::Game => InputBuffer::new(),
                Wire::Rtype => InputBuffer::by_packets(frame_span),
            },
            command: Command::NEUTRAL,
            heard_at: Time::ZERO,
            said_leave: None,
            told: 0,
            ready: false,
            accept_again: false,
            pong: None,
            broadcast: None,
        }
    }

    /// Seats a client, whose link has been begun.
    pub(super) fn take(&mut self, now: Time, addr: SocketAddr, id: u8, told: u64) {
        (self.phase, self.addr, self.id, self.told) = (Phase::Playing, addr, id, told);
        (self.heard_at, self.said_leave, self.command) = (now, None, Command::NEUTRAL);
        (self.accept_again, self.pong, self.broadcast) = (false, None, None);
        self.inputs.begin_anew();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.phase == Phase::Empty
    }

    pub(super) fn is_playing(&self) -> bool {
        self.phase == Phase::Playing
    }

    /// Begins to say goodbye; the seat is empty once that was said.
    pub(super) fn begin_leaving(&mut self, now: Time) {
        let left = match self.wire {
            Wire::Game => FAREWELLS,
            Wire::Rtype => FAREWELLS_RTYPE,
        };
        self.link.begin_farewell(now);
        self.phase = Phase::Leaving { left, due: now };
        self.broadcast = None;
    }

    pub(super) fn clear(&mut self) {
        self.phase = Phase::Empty;
    }

    /// When the next goodbye is due.
    pub(super) fn farewell_due(&self) -> Time {
        match self.phase {
            Phase::Leaving { due, .. } => due,
            _ => Time::NEVER,
        }
    }

    /// Whether the client has left: it said so, and nothing since says otherwise.
    pub(super) fn has_left(&self, now: Time) -> bool {
        self.said_leave.is_some_and(|at| now.since(at) >= BELIEVED_AFTER)
    }

    pub(super) fn has_due(&self, now: Time) -> bool {
        self.link.has_due(now)
    }

    /// Has the next broadcast to send.
    pub(super) fn begin_broadcast(&mut self, parts: &Parts, budget: usize) {
        let count = self.link.plan_broadcast(parts, budget);
        self.broadcast = Some(Broadcast { at: 0, count, applied: self.inputs.applied() });
    }

    /// The part of the broadcast that is sent next, by which a snapshot is told from other datagrams.
    pub(super) fn broadcast_at(&self) -> Option<usize> {
        self.broadcast.map(|broadcast| broadcast.at)
    }

    /// The mark up to which this client has heard everything.
    pub(super) fn heard_mark(&self) -> u64 {
        self.link.acknowledged_mark().unwrap_or(self.told)
    }

    /// Queues the new records of the log for this client. `false` if the client is too far behind.
    pub(super) fn read_log(&mut self, now: Time, log: &Log) -> bool {
        while self.told < log.newest() {
            let Some(records) = log.after(self.told, self.id) else { return false };
            let mut records = records.peekable();
            if records.peek().is_none() {
                self.told = log.newest();
                return true;
            }
            match self.link.queue_records(now, records) {
                Some(mark) => self.told = mark,
                None => return true,
            }
        }
        true
    }

    /// Writes the next datagram. Reliable messages go before the snapshot of the same frame.
    pub(super) fn write(&mut self, now: Time, parts: &Parts, buf: &mut [u8]) -> Option<usize> {
        if core::mem::take(&mut self.accept_again) {
            return self.link.write_accepted(now, self.id, buf);
        }
        if let Some(len) = self.link.write_due(now, buf) {
            return Some(len);
        }
        if let Phase::Leaving { left, due } = &mut self.phase {
            if *due > now {
                return None;
            }
            (*left, *due) = (*left - 1, now + FAREWELL_EVERY);
            if *left == 0 {
                self.phase = Phase::Empty;
            }
            return self.link.write_leaves(now, buf);
        }
        if let Some(value) = self.pong.take() {
            return self.link.write_pong(now, value, buf);
        }
        let Broadcast { at, count, applied } = self.broadcast.take().filter(|rest| rest.at < rest.count)?;
        let len = self.link.write_broadcast(now, parts, at, applied, buf)?;
        if at + 1 < count {
            self.broadcast = Some(Broadcast { at: at + 1, count, applied });
        }
        Some(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seat_taken_again_has_nothing_left_to_send() {
        let config = ServerConfig::new(1);
        let mut seat = Seat::empty(&config, Span::from_millis(16));
        let [one, two] = [1, 2].map(|n| SocketAddr::from(([192, 0, 2, n], 7)));
        seat.take(Time::ZERO, one, 1, 0);
        (seat.accept_again, seat.pong) = (true, Some(7));
        seat.begin_broadcast(&Parts::new(), 1);
        seat.clear();
        let later = Time::ZERO + Span::from_secs(60);
        seat.take(later, two, 2, 9);
        assert_eq!((seat.heard_at, seat.told, seat.id, seat.addr), (later, 9, 2, two));
        assert_eq!((seat.accept_again, seat.pong, seat.broadcast_at()), (false, None, None));
    }
}
