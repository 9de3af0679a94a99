//! The seam between the roles and the wire: everything that a connection can send and receive, without a word of any
//! format.
//!
//! A server and a client know these three traits and nothing of bytes, sequence numbers or acks. [`game`] is the
//! dialect of GAME, [`rtype`] that of R-Type; [`either`] is the one that a config has chosen.

mod challenges;
mod either;
pub(crate) mod game;
mod proof;
pub(crate) mod rtype;

pub(crate) use challenges::Challenges;
pub(crate) use either::{ClientLink, Responder, ServerLink};

use super::record::{Record, Shown, Terms};
use super::world::Command;
use crate::MAX_DATAGRAM;
use crate::channel::refusal::Refusal;
use crate::protocol::time::{Span, Time};
use std::net::SocketAddr;

/// The longest answer to a stranger.
pub(crate) const MAX_ANSWER: usize = 32;

/// A datagram for a stranger.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer {
    pub(crate) len: usize,
    pub(crate) bytes: [u8; MAX_ANSWER],
}

/// The verdict on a datagram of a stranger.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// It asks for a seat, which is offered with one datagram or two, and nothing is kept.
    Offer(Answer, Option<Answer>),
    /// It asks for a seat, and there is none for it.
    Refuse(Answer),
    /// It is a packet of a client that has been answered, or claims so.
    Packet(Heard),
}

/// A packet of a client without a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Heard {
    pub(crate) sequence: u16,
    /// The number that it acknowledges.
    pub(crate) named: Option<u16>,
    /// Whether that number proves that the answer to a request was received.
    pub(crate) proves: bool,
}

/// Judges datagrams from addresses without a seat, and keeps no state about them.
pub(crate) trait HandshakeResponder {
    /// Judges a datagram from `from`, which would get the id `offer` now; `None` if there is none left.
    fn judge(
        &self,
        now: Time,
        from: SocketAddr,
        datagram: &[u8],
        offer: Option<u8>,
    ) -> Result<Verdict, Refusal>;

    /// A packet of this number that a client acknowledges, in answer to `datagram` and no longer than it.
    fn challenge(&self, datagram: &[u8], number: u16) -> Result<Answer, Refusal>;
}

/// A packet of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FromClient {
    /// Inputs, which are in the list that was handed in.
    Inputs,
    /// A request to measure the round trip.
    Ping(u64),
    /// Inputs from this number on are numbered by the frame that they ask for.
    Numbered { first: u32 },
    /// The client asks to join again: it has not heard that it is in.
    JoinAgain,
    /// The client leaves.
    Leaves,
    /// A packet without an input, where inputs are numbered by the packets that carry them.
    Passed { number: u32 },
    /// Nothing but that it is there.
    Alive,
}

/// Why a wire gives up a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lost {
    /// Nothing is acknowledged any more.
    Unanswered,
    /// The other side rejects what it is sent.
    Rejected,
}

/// An input as it came: its number and the command.
pub(crate) type NumberedInput = (u32, Command);

/// A server's end of one connection.
pub(crate) trait SpeaksToClient {
    /// Begins the connection of client `id`, which has received some of these challenges, and forgets the one before.
    fn begin(&mut self, now: Time, id: u8, challenges: &Challenges);

    /// Takes in a datagram; inputs go into `inputs`, whose room is never exceeded.
    fn receive(
        &mut self,
        now: Time,
        datagram: &[u8],
        inputs: &mut Vec<NumberedInput>,
    ) -> Result<FromClient, Refusal>;

    /// Whether the connection is lost by the rules of the wire.
    fn lost(&self, now: Time) -> Option<Lost>;

    /// Queues the terms, the first message of a connection.
    fn queue_terms(&mut self, now: Time, terms: &Terms, frame: u64);

    /// Queues records from the front of `records`, each with a rising mark, as many as fit one message. Returns the mark of
    /// the last one; `None` if none can go out now.
    fn queue_records<'a>(
        &mut self,
        now: Time,
        records: impl Iterator<Item = (u64, &'a Record)>,
    ) -> Option<u64>;

    /// Gives everything that is under way this mark.
    fn mark_all(&mut self, mark: u64);

    /// The mark up to which all records have been acknowledged; `None` if nothing is under way.
    fn acknowledged_mark(&self) -> Option<u64>;

    /// Whether a queued message is due.
    fn has_due(&self, now: Time) -> bool;

    fn write_due(&mut self, now: Time, buf: &mut [u8]) -> Option<usize>;
    fn write_accepted(&mut self, now: Time, id: u8, buf: &mut [u8]) -> Option<usize>;
    fn write_pong(&mut self, now: Time, value: u64, buf: &mut [u8]) -> Option<usize>;
    fn write_leaves(&mut self, now: Time, buf: &mut [u8]) -> Option<usize>;

    /// The client was removed, and is told so from now on.
    fn begin_farewell(&mut self, now: Time);

    /// Whether the client has acknowledged that it was removed.
    fn is_farewell_heard(&self) -> bool;

    /// Chooses from a prepared broadcast what this client gets, at most `budget` entities where they travel one by one.
    /// Returns the number of datagrams.
    fn plan_broadcast(&mut self, parts: &Parts, budget: usize) -> usize;

    /// Writes one of the chosen datagrams with the numbers of this connection, and the last input applied for this client.
    fn write_broadcast(
        &mut self,
        now: Time,
        parts: &Parts,
        at: usize,
        applied: u32,
        buf: &mut [u8],
    ) -> Option<usize>;
}

/// The prepared datagrams of a broadcast, one after the other. The same memory serves every broadcast.
#[derive(Clone, Debug)]
pub(crate) struct Parts {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Parts {
    pub(crate) fn new() -> Self {
        Self { bytes: Vec::with_capacity(8 * MAX_DATAGRAM), ends: Vec::with_capacity(512) }
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    pub(crate) fn push(&mut self, part: &[u8]) {
        self.bytes.extend_from_slice(part);
        self.ends.push(self.bytes.len());
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn get(&self, at: usize) -> Option<&[u8]> {
        let start = if at == 0 { 0 } else { *self.ends.get(at - 1)? };
        self.bytes.get(start..*self.ends.get(at)?)
    }
}

/// A packet of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FromServer {
    /// The client is in, under this id; a wire without terms tells the seed here.
    Accepted { id: u8, seed: Option<u32> },
    /// The server ends the connection, or has no seat.
    Leaves,
    /// Entities, which are in the list that was handed in; and the number of the last input applied.
    Snapshot { frame: u32, applied: Option<u32> },
    /// Entities without a frame, which are in the list that was handed in.
    Updates,
    /// The answer to a ping.
    Pong(u64),
    /// A round trip that the wire measured by itself.
    RoundTrip(Span),
    /// The server has nothing to show, and is there.
    Quiet,
    /// The server rejects what it is sent, for too long.
    Rejected,
    /// Messages may be ready to be delivered.
    Messages,
    /// Nothing but that it is there.
    Alive,
}

/// A message of the server, as it is delivered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Delivered {
    /// The terms, and the server's frame when they were written.
    Terms(Terms, u32),
    Record(Record),
}

/// A client's end of its connection.
pub(crate) trait SpeaksToServer {
    /// Takes in a datagram from the server; entities go into `shown`, whose room is never exceeded.
    fn receive(&mut self, now: Time, datagram: &[u8], shown: &mut Vec<Shown>) -> Result<FromServer, Refusal>;

    /// Delivers the messages that are here, in order and once. `near` is a frame that the server is near to.
    fn deliver(&mut self, near: u64, take: impl FnMut(Delivered));

    /// Queues that inputs are numbered by frames from `first` on.
    fn queue_numbered(&mut self, now: Time, first: u32);

    /// When the next message is due.
    fn next_due(&self) -> Time;

    /// The longest run of packets that were lost lately.
    fn recent_loss_run(&self) -> u32;

    /// Whether a datagram acknowledges that we leave.
    fn ends_farewell(&self, datagram: &[u8]) -> bool;

    fn write_due(&mut self, now: Time, buf: &mut [u8]) -> Option<usize>;
    fn write_join(&mut self, now: Time, buf: &mut [u8]) -> Option<usize>;
    fn write_inputs(&mut self, now: Time, inputs: &[NumberedInput], buf: &mut [u8]) -> Option<usize>;
    fn write_ping(&mut self, now: Time, value: u64, buf: &mut [u8]) -> Option<usize>;
    fn write_alive(&mut self, now: Time, buf: &mut [u8]) -> Option<usize>;
    fn write_leaves(&mut self, now: Time, buf: &mut [u8]) -> Option<usize>;
}

#[cfg(test)]
mod tests {
    use super::Parts;

    #[test]
    fn parts_are_kept_apart_in_one_memory() {
        let mut parts = Parts::new();
        for _ in 0..2 {
            parts.clear();
            assert_eq!((parts.len(), parts.get(0)), (0, None));
            [&b"one"[..], b"", b"three"].into_iter().for_each(|part| parts.push(part));
            assert_eq!(
                [0, 1, 2, 3].map(|at| parts.get(at)),
                [Some(&b"one"[..]), Some(b""), Some(b"three"), None]
            );
        }
    }
}
