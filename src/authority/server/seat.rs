//! One client at a server: its address, its connection, its inputs, and its outgoing datagrams.

use super::LeftWhy;
use super::access::Newcomer;
use super::inputs::{InputQueue, InputStats};
use super::log::Log;
use crate::Frame;
use crate::authority::dialect::{Dialect, FromClient, NumberedInput, Rest, ServerEnd, Wire};
use crate::authority::{Command, Record, ServerConfig, Sight, Terms};
use crate::channel::refusal::Refusal;
use crate::protocol::time::{Span, Time};
use std::net::SocketAddr;

const FAREWELL_EVERY: Span = Span::from_millis(100);

/// A DISCONNECT of a client is believed after this long without a new input: it is empty, so anybody could have written it.
const BELIEVED_AFTER: Span = Span::from_millis(500);

/// More records than one message holds.
const RECORDS_A_MESSAGE: usize = 256;

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

/// Datagrams that wait to be sent, beside those of the link.
#[derive(Clone, Copy, Debug, Default)]
struct Outgoing {
    accept_again: bool,
    pong: Option<u64>,
    broadcast: Rest,
}

/// When a client was heard of, in time spent listening; and when it said that it leaves, until an input says otherwise.
#[derive(Clone, Copy, Debug)]
struct Presence {
    heard_at: Time,
    said_leave: Option<Time>,
}

/// A datagram of a seat.
#[derive(Clone, Copy, Debug)]
pub(super) struct Written {
    pub(super) len: usize,
    pub(super) is_snapshot: bool,
}

/// A broadcast as the wire prepares it.
type Prepared<W> = <<W as Dialect>::ServerLink as ServerEnd>::Prepared;

/// A seat. Its memory stays when a client goes.
#[derive(Debug)]
pub(super) struct Seat<W: Wire> {
    phase: Phase,
    addr: SocketAddr,
    id: u8,
    link: W::ServerLink,
    inputs: W::Inputs,
    presence: Presence,
    /// The mark of the last record that is queued for this client.
    told: u64,
    outgoing: Outgoing,
}

impl<W: Wire> Seat<W> {
    pub(super) fn empty(config: &ServerConfig) -> Self {
        Self {
            phase: Phase::Empty,
            addr: SocketAddr::from(([0, 0, 0, 0], 0)),
            id: 0,
            link: W::ServerLink::idle(config.seed),
            inputs: W::Inputs::empty(Span::from_secs(1) / u32::from(config.frame_rate)),
            presence: Presence { heard_at: Time::ZERO, said_leave: None },
            told: 0,
            outgoing: Outgoing::default(),
        }
    }

    /// Seats a client that has shown by its challenges that it receives; its link begins after them. `listened` is the time
    /// spent listening, and `told` the newest mark of the log.
    pub(super) fn take(&mut self, (now, listened): (Time, Time), newcomer: &Newcomer, told: u64) {
        let Newcomer { addr, id, challenges } = *newcomer;
        self.link.begin(now, id, &challenges);
        self.inputs.clear();
        (self.phase, self.addr, self.id, self.told) = (Phase::Playing, addr, id, told);
        self.presence = Presence { heard_at: listened, said_leave: None };
        self.outgoing = Outgoing::default();
    }

    /// Tells a newcomer the terms, and everything that is there. `records` lists it again in each call.
    pub(super) fn greet<I: Iterator<Item = Record>>(
        &mut self,
        now: Time,
        terms: &Terms,
        frame: Frame,
        records: impl Fn() -> I,
    ) {
        self.link.queue_terms(now, terms, frame);
        let mut written = 0;
        loop {
            // The world is listed again for each message; a newcomer costs once what a frame never does.
            let mut buffer = [Record::Bye { kicked: false }; RECORDS_A_MESSAGE];
            let mut count = 0;
            for (slot, record) in buffer.iter_mut().zip(records().skip(written)) {
                *slot = record;
                count += 1;
            }
            match self.link.queue_records(now, (1_u64..).zip(&buffer[..count])) {
                Some(last) => written += last as usize,
                None => break,
            }
        }
        self.link.mark_all(self.told);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.phase == Phase::Empty
    }

    pub(super) fn is_playing(&self) -> bool {
        self.phase == Phase::Playing
    }

    pub(super) fn addr(&self) -> SocketAddr {
        self.addr
    }

    pub(super) fn id(&self) -> u8 {
        self.id
    }

    pub(super) fn input_stats(&self) -> InputStats {
        self.inputs.stats()
    }

    /// The command of the client in this frame.
    pub(super) fn take_command(&mut self, frame: Frame, hold_frames: u16) -> Command {
        self.inputs.take(frame, hold_frames)
    }

    /// Why the client is to be removed, if it is.
    pub(super) fn lost(&self, now: Time, listened: Time, timeout: Span) -> Option<LeftWhy> {
        let Presence { heard_at, said_leave } = self.presence;
        if !self.is_playing() {
            None
        } else if said_leave.is_some_and(|at| now.since(at) >= BELIEVED_AFTER) {
            Some(LeftWhy::Left)
        } else {
            let silent = (listened.since(heard_at) > timeout).then_some(LeftWhy::Silent);
            self.link.lost(now).or(silent)
        }
    }

    /// Begins to say goodbye, unless the client said it; the seat is empty once that was said.
    pub(super) fn leave(&mut self, now: Time, why: LeftWhy) {
        if why == LeftWhy::Left {
            self.phase = Phase::Empty;
            return;
        }
        if why != LeftWhy::Silent {
            let kicked = why != LeftWhy::Shutdown;
            self.link.queue_records(now, [(u64::MAX, &Record::Bye { kicked })].into_iter());
        }
        self.link.begin_farewell(now);
        self.phase = Phase::Leaving { left: W::FAREWELLS, due: now };
        self.outgoing.broadcast = Rest::default();
    }

    /// When the next goodbye is due.
    pub(super) fn farewell_due(&self) -> Time {
        match self.phase {
            Phase::Leaving { due, .. } => due,
            _ => Time::NEVER,
        }
    }

    pub(super) fn has_due(&self, now: Time) -> bool {
        self.link.has_due(now)
    }

    pub(super) fn has_urgent(&self, now: Time) -> bool {
        self.link.has_urgent(now)
    }

    /// Takes in a datagram, before which frame `frame` was stepped; its inputs go through `inputs`. Returns whether there is
    /// something to send.
    pub(super) fn receive(
        &mut self,
        times: (Time, Time),
        frame: Frame,
        datagram: &[u8],
        inputs: &mut Vec<NumberedInput>,
    ) -> Result<bool, Refusal> {
        let packet = self.link.receive(times.0, datagram, inputs)?;
        Ok(self.hear(times, frame, packet, inputs))
    }

    fn hear(
        &mut self,
        (now, listened): (Time, Time),
        frame: Frame,
        packet: FromClient,
        inputs: &[NumberedInput],
    ) -> bool {
        if !self.is_playing() {
            if self.link.is_farewell_heard() {
                self.phase = Phase::Empty;
            }
            return false;
        }
        self.presence.heard_at = listened;
        match packet {
            FromClient::Inputs => {
                self.presence.said_leave = None;
                self.inputs.hear(now, frame, inputs);
            }
            FromClient::Ping(value) => self.outgoing.pong = Some(value),
            FromClient::Numbered { first } => self.inputs.number_by_frames(first),
            FromClient::JoinAgain { tells_restart } => {
                let has_played = self.input_stats() != InputStats::default();
                // Where nothing tells whether a client is the one that was seated, one that has restarted is accepted
                // once the seat is free.
                self.outgoing.accept_again = tells_restart || !has_played;
                // One who has played and asks again has restarted, unless an input says otherwise.
                if has_played {
                    self.presence.said_leave = self.presence.said_leave.or(Some(now));
                }
            }
            FromClient::Leaves => self.presence.said_leave = self.presence.said_leave.or(Some(now)),
            FromClient::Passed { number } => self.inputs.pass(number),
            FromClient::Alive => {}
        }
        matches!(packet, FromClient::Ping(_) | FromClient::JoinAgain { .. })
    }

    /// Has the next broadcast to send.
    pub(super) fn begin_broadcast(
        &mut self,
        prepared: &mut Prepared<W>,
        budget: usize,
        sight: impl Fn(u8, u8) -> Sight,
    ) {
        let id = self.id;
        let count = self.link.plan_broadcast(prepared, budget, |entity| sight(id, entity)) as u16;
        self.outgoing.broadcast = Rest { at: 0, count, applied: self.inputs.applied() };
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
    pub(super) fn write(&mut self, now: Time, prepared: &Prepared<W>, buf: &mut [u8]) -> Option<Written> {
        let len = self.write_message(now, buf);
        if len.is_some() || !self.is_playing() {
            return len.map(|len| Written { len, is_snapshot: false });
        }
        let rest = self.outgoing.broadcast;
        if rest.at == rest.count {
            return None;
        }
        self.outgoing.broadcast.at += 1;
        let len = self.link.write_broadcast(now, prepared, rest, buf)?;
        Some(Written { len, is_snapshot: true })
    }

    fn write_message(&mut self, now: Time, buf: &mut [u8]) -> Option<usize> {
        if core::mem::take(&mut self.outgoing.accept_again) {
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
        let value = self.outgoing.pong.take()?;
        self.link.write_pong(now, value, buf)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authority::dialect::Challenges;
    use crate::authority::dialect::game::GameWire;

    #[test]
    fn seat_taken_again_has_nothing_left_to_send() {
        let mut seat = Seat::<GameWire>::empty(&ServerConfig::new(1));
        let [one, two] = [1, 2].map(|n| SocketAddr::from(([192, 0, 2, n], 7)));
        let (now, challenges) = ((Time::ZERO, Time::ZERO), Challenges::after(5));
        seat.take(now, &Newcomer { addr: one, id: 1, challenges }, 0);
        seat.hear(now, Frame(0), FromClient::JoinAgain { tells_restart: true }, &[]);
        seat.hear(now, Frame(0), FromClient::Ping(7), &[]);
        let mut prepared = <GameWire as Dialect>::ServerLink::nothing_prepared(60);
        seat.begin_broadcast(&mut prepared, 1, |_, _| Sight::Near);
        seat.leave(Time::ZERO, LeftWhy::Left);
        let later = Time::ZERO + Span::from_secs(60);
        seat.take((later, later), &Newcomer { addr: two, id: 2, challenges }, 9);
        assert_eq!((seat.presence.heard_at, seat.told, seat.id, seat.addr), (later, 9, 2, two));
        assert!(seat.write(Time::ZERO, &prepared, &mut [0; 64]).is_none());
    }
}
