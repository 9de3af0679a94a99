//! The seam between the roles and the wire.
//!
//! A server and a client are generic over a [`Wire`]. Each wire brings its own ends of a connection, its own queue of
//! inputs and its own view of the world, so that no step of a role asks which wire it is.
//!
//! | file | |
//! |---|---|
//! | `mod.rs` | the traits of a wire, and the packets in terms of the roles |
//! | `game/` | GAME: snapshots with their frame, numbered inputs, messages |
//! | `rtype/` | R-Type: one entity a packet, by the time of arrival |
//! | `proof.rs`, `challenges.rs` | the proof of an address, and the packets that confirm it |
//! | `accept_range.rs` | how far a sequence number may be from the newest |

mod accept_range;
mod challenges;
pub(crate) mod game;
mod proof;
pub(crate) mod rtype;

pub(crate) use accept_range::AcceptRange;
pub(crate) use challenges::Challenges;
pub(crate) use game::Stamp;
pub(crate) use proof::Stranger;

use super::client::View;
use super::server::{InputQueue, LeftWhy};
use super::{ClientConfig, Command, Course, Record, Shown, Sight, Terms};
use crate::channel::entropy::Entropy;
use crate::channel::refusal::Refusal;
use crate::protocol::time::{Span, Time};
use crate::{Frame, MAX_DATAGRAM};
use core::fmt::Debug;

/// The format of the datagrams between a server and its clients: [`GameWire`](super::GameWire) or
/// [`RtypeWire`](super::RtypeWire). Both sides have to use the same one.
#[allow(private_bounds)]
pub trait Wire: Dialect {}

/// The parts and the constants of a wire.
pub(crate) trait Dialect: HandshakeResponder + Debug + 'static {
    type ServerLink: ServerEnd;
    type Inputs: InputQueue;
    type ClientLink: ClientEnd;
    type View: View<Stamp = <Self::ClientLink as ClientEnd>::Stamp>;

    /// Whether messages of the game's own are carried.
    const HAS_MESSAGES: bool;

    /// How often a side says that a connection ends, unless the other acknowledges it.
    const FAREWELLS: u8;

    /// The time between two requests for a seat.
    const JOIN_EVERY: Span;

    /// Requests without an answer are given up after this long, or when the client's config says so.
    const ANSWER_WITHIN: Option<Span>;
}

/// The longest answer to a stranger.
pub(crate) const MAX_ANSWER: usize = 32;

/// A datagram for a stranger.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer {
    pub(crate) len: usize,
    pub(crate) bytes: [u8; MAX_ANSWER],
}

impl Answer {
    /// The datagram that `encode` writes.
    fn written<E>(encode: impl FnOnce(&mut [u8]) -> Result<usize, E>) -> Result<Self, Refusal> {
        let mut bytes = [0; MAX_ANSWER];
        let len = encode(&mut bytes).map_err(|_| Refusal::NoRoom)?;
        Ok(Self { len, bytes })
    }
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

/// Judges datagrams from addresses without a seat.
pub(crate) trait HandshakeResponder {
    fn judge(stranger: &Stranger, datagram: &[u8]) -> Result<Verdict, Refusal>;

    /// A packet of this number that a client acknowledges, in answer to `datagram` and no longer than it.
    fn challenge(datagram: &[u8], number: u16) -> Result<Answer, Refusal>;
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
    /// The client asks to join again: it has not heard that it is in, or has restarted. `tells_restart` says whether
    /// the packets of the wire tell the two apart.
    JoinAgain { tells_restart: bool },
    /// The client leaves.
    Leaves,
    /// A packet without an input, where inputs are numbered by the packets that carry them.
    Passed { number: u32 },
    /// Nothing but that it is there.
    Alive,
}

/// An input as it came: its number and the command.
pub(crate) type NumberedInput = (u32, Command);

/// A server's end of one connection.
pub(crate) trait ServerEnd: Debug {
    /// A broadcast from which each connection chooses. The same memory serves every one.
    type Prepared: Debug;

    /// A connection that nobody has begun, at a server whose world began with `seed`.
    fn idle(seed: u32) -> Self;

    /// The memory of the broadcasts of a server with this many frames a second.
    fn nothing_prepared(frame_rate: u16) -> Self::Prepared;

    /// Prepares a broadcast. `shots` are the positions of the projectiles.
    fn prepare_broadcast(
        frame: Frame,
        entities: &[Shown],
        shots: impl Iterator<Item = (u8, (f32, f32))>,
        prepared: &mut Self::Prepared,
    );

    /// The course of a projectile in flight as a newcomer is told it in `frame`.
    fn course_for_newcomer(course: Course, _frame: Frame, _frame_rate: u16) -> Course {
        course
    }

    /// Begins the connection of client `id`, which has received some of these challenges, and forgets the one before.
    fn begin(&mut self, now: Time, id: u8, challenges: &Challenges);

    /// Takes in a datagram; inputs go into `inputs`, whose room is never exceeded.
    fn receive(
        &mut self,
        now: Time,
        datagram: &[u8],
        inputs: &mut Vec<NumberedInput>,
    ) -> Result<FromClient, Refusal>;

    /// Whether the connection is lost by the rules of the wire, beside silence.
    fn lost(&self, _now: Time) -> Option<LeftWhy> {
        None
    }

    /// Queues the terms, the first message of a connection, where the wire has one.
    fn queue_terms(&mut self, _now: Time, _terms: &Terms, _frame: Frame) {}

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

    /// Whether something is due that does not wait for the next frame.
    fn has_urgent(&self, _now: Time) -> bool {
        false
    }

    fn write_due(&mut self, now: Time, buf: &mut [u8]) -> Option<usize>;
    fn write_accepted(&mut self, now: Time, id: u8, buf: &mut [u8]) -> Option<usize>;
    fn write_pong(&mut self, _now: Time, _value: u64, _buf: &mut [u8]) -> Option<usize> {
        None
    }
    fn write_leaves(&mut self, now: Time, buf: &mut [u8]) -> Option<usize>;

    /// The client was removed, and is told so from now on.
    fn begin_farewell(&mut self, _now: Time) {}

    /// Whether the client has acknowledged that it was removed.
    fn is_farewell_heard(&self) -> bool {
        false
    }

    /// Chooses from a prepared broadcast what this client gets, at most `budget` entities where they travel one by one.
    /// `sight` says how well the player sees an entity, where the wire can leave some out. Returns the most datagrams that it
    /// can become.
    fn plan_broadcast(
        &mut self,
        prepared: &mut Self::Prepared,
        budget: usize,
        sight: impl Fn(u8) -> Sight,
    ) -> usize;

    /// Writes the next of the chosen datagrams, with the numbers of this connection; `None` after the last.
    fn write_broadcast(
        &mut self,
        now: Time,
        prepared: &Self::Prepared,
        rest: Rest,
        buf: &mut [u8],
    ) -> Option<usize>;
}

/// The rest of a broadcast to one client. It fits a register, because every datagram of a snapshot is handed one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rest {
    /// The datagram that is sent next, and how many there are.
    pub(crate) at: u16,
    pub(crate) count: u16,
    /// The input of the client that was applied last.
    pub(crate) applied: u32,
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

/// A packet of a server; `S` is the time of entities, as far as the wire carries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FromServer<S> {
    /// The client is in, under this id. `sends_proof` says whether the proof that it heard this goes out by itself.
    Accepted { id: u8, sends_proof: bool },
    /// The server ends the connection, or has no seat.
    Leaves,
    /// Entities, which are in the list that was handed in.
    Entities(S),
    /// A round trip was measured.
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
    Terms(Terms, Frame),
    Record(Record),
}

/// A client's end of its connection.
pub(crate) trait ClientEnd: Debug {
    /// The time of entities, as far as the wire carries it.
    type Stamp;

    /// A connection that has not begun.
    fn new(config: &ClientConfig, entropy: &mut Entropy) -> Self;

    /// Takes in a datagram from the server; entities go into `shown`, whose room is never exceeded.
    fn receive(
        &mut self,
        now: Time,
        datagram: &[u8],
        shown: &mut Vec<Shown>,
    ) -> Result<FromServer<Self::Stamp>, Refusal>;

    /// Delivers the messages that are here, in order and once. They arrive at `frame`, which is theirs if the wire carries none.
    fn deliver(&mut self, frame: Frame, take: impl FnMut(Delivered));

    /// Notes that we have a seat. Returns the terms if the wire has no message for them.
    fn seated(&mut self, now: Time) -> Option<Terms>;

    /// Measures the round trip quickly again, where it is measured all the time: the path may have changed.
    fn measure_again(&mut self, _now: Time) {}

    /// Queues that inputs are numbered by frames from `first` on, where they have numbers.
    fn queue_numbered(&mut self, _now: Time, _first: u32) {}

    /// When the next message is due.
    fn next_due(&self) -> Time;

    /// The longest run of packets that were lost lately, if it is known.
    fn recent_loss_run(&self) -> u32 {
        0
    }

    /// Whether a datagram acknowledges that we leave.
    fn ends_farewell(&self, _datagram: &[u8]) -> bool {
        false
    }

    fn write_due(&mut self, now: Time, buf: &mut [u8]) -> Option<usize>;
    fn write_join(&mut self, now: Time, buf: &mut [u8]) -> Option<usize>;
    fn write_inputs(&mut self, now: Time, inputs: &[NumberedInput], buf: &mut [u8]) -> Option<usize>;
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
