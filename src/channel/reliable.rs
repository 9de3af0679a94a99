//! Reliable messages: retransmitted until acknowledged, delivered once and in order.

use super::sequence::Sequences;
use crate::protocol::time::{Span, Time};
use crate::wire::control::ControlHeader;
use crate::wire::message::{MAX_LEN, Message, Ordered};

/// How many messages may be under way, and how many can wait for one that is missing.
pub(crate) const IN_FLIGHT: u16 = 16;

/// How many of our messages are kept, acknowledged or not. An ack may have been forged, and the peer asks for its message
/// again; until then it takes none that is `IN_FLIGHT` beyond it, so that we cannot send more than these.
const KEPT: u16 = 2 * IN_FLIGHT;

/// How many of those may be the game's own: the rest is kept for what the match cannot do without.
const IN_FLIGHT_FOR_GAME: u16 = 12;

/// The shortest retransmission timeout.
const RESEND_AFTER: Span = Span::from_millis(100);

/// After this many sends the timeout doubles with each, up to 8 times its length: a peer that receives everything
/// and acknowledges nothing is not sent the same at full rate for ever.
const PATIENT_SENDS: usize = 16;
const MAX_DOUBLINGS: usize = 3;

/// A match that is over gives up on a message after this many sends, which take about seven seconds: the peer is gone.
const MAX_SENDS_OVER: usize = 24;

/// How many of the packets that carried a message are remembered: an ack of any of them acknowledges the message.
const REMEMBERED: usize = 4;

/// The bytes that each message has room for from the start: more than any but an autopsy and the game's own. A longer message takes
/// memory the first time, which its place keeps.
const SHORT: usize = 32;

/// Both directions of the ordered messages of one connection.
#[derive(Clone, Debug)]
pub(crate) struct Reliable {
    outgoing: Vec<Outgoing>,
    /// Every message before this one has been acknowledged.
    first: u16,
    next: u16,
    /// How many messages before `next` are kept.
    kept: u16,
    incoming: Vec<Incoming>,
    /// The message to be delivered next.
    expected: u16,
    /// Since when a later message waits for the expected one.
    missing_since: Option<Time>,
}

#[derive(Clone, Debug)]
struct Outgoing {
    bytes: Vec<u8>,
    sent_as: [Option<u16>; REMEMBERED],
    sends: usize,
    due: Time,
    queued_at: Time,
    acknowledged: bool,
}

#[derive(Clone, Debug)]
struct Incoming {
    bytes: Vec<u8>,
    here: bool,
}

/// Too many messages are in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueueFull;

/// How an incoming message number relates to those that were delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    New,
    Known,
    /// Further ahead than an honest peer can be; it must not be acknowledged.
    Beyond,
}

impl Reliable {
    pub(crate) fn new() -> Self {
        let outgoing = Outgoing {
            bytes: Vec::new(),
            sent_as: [None; REMEMBERED],
            sends: 0,
            due: Time::ZERO,
            queued_at: Time::ZERO,
            acknowledged: true,
        };
        let mut this = Self {
            outgoing: vec![outgoing; usize::from(KEPT)],
            first: 0,
            next: 0,
            kept: 0,
            incoming: vec![Incoming { bytes: Vec::new(), here: false }; usize::from(IN_FLIGHT)],
            expected: 0,
            missing_since: None,
        };
        // A clone of a vector keeps no spare room.
        this.reserve(SHORT);
        this
    }

    fn reserve(&mut self, len: usize) {
        self.outgoing.iter_mut().for_each(|slot| slot.bytes.reserve_exact(len));
        self.incoming.iter_mut().for_each(|slot| slot.bytes.reserve_exact(len));
    }

    /// Begins both directions at these numbers. They come from the token, so that a stranger has to guess them.
    pub(crate) fn begin(&mut self, outgoing: u16, incoming: u16) {
        (self.first, self.next, self.expected) = (outgoing, outgoing, incoming);
    }

    /// The number of the message to be delivered next.
    pub(crate) fn expected(&self) -> u16 {
        self.expected
    }

    /// Sends everything from `expected` on again, which the peer says that it misses: acks of it may have been forged.
    ///
    /// Messages before it are sent until they are acknowledged anyway, because this may be forged too.
    pub(crate) fn resume_at(&mut self, now: Time, expected: u16) {
        let back = self.next.wrapping_sub(expected);
        if back > self.kept {
            return;
        }
        if back > self.next.wrapping_sub(self.first) {
            self.first = expected;
        }
        let before = self.next.wrapping_sub(self.first) - back;
        for (at, is_missed) in self.under_way().zip((0..).map(|offset| offset >= before)) {
            let slot = &mut self.outgoing[at];
            slot.acknowledged &= !is_missed;
            // However often it was sent without success: the peer is there.
            (slot.sends, slot.due) = (0, now);
        }
    }

    /// Since when a later message waits for the one expected next.
    pub(crate) fn missing_since(&self) -> Option<Time> {
        self.missing_since
    }

    /// Whether there is room for messages of the session itself, an autopsy or a change of the delay. They take at most
    /// half of the queue, so that the verdict always finds a place.
    pub(crate) fn has_room_for_session(&self) -> bool {
        self.next.wrapping_sub(self.first) < IN_FLIGHT / 2
    }

    /// Queues a message: sent at once, and again until it is acknowledged.
    pub(crate) fn send(&mut self, now: Time, body: Ordered<'_>) -> Result<(), QueueFull> {
        let under_way = self.next.wrapping_sub(self.first);
        let limit = if matches!(body, Ordered::User(_)) { IN_FLIGHT_FOR_GAME } else { IN_FLIGHT };
        if under_way >= limit {
            return Err(QueueFull);
        }
        let mut bytes = [0; MAX_LEN];
        let message = Message::Ordered { number: self.next, body };
        let len = message.encode(&mut bytes).map_err(|_| QueueFull)?;
        let slot = &mut self.outgoing[usize::from(self.next % KEPT)];
        refill(&mut slot.bytes, &bytes[..len]);
        (slot.sent_as, slot.sends, slot.due, slot.queued_at) = ([None; REMEMBERED], 0, now, now);
        slot.acknowledged = false;
        self.next = self.next.wrapping_add(1);
        self.kept = (self.kept + 1).min(KEPT);
        Ok(())
    }

    fn under_way(&self) -> impl Iterator<Item = usize> + use<> {
        let first = self.first;
        (0..self.next.wrapping_sub(first)).map(move |offset| usize::from(first.wrapping_add(offset) % KEPT))
    }

    /// When the next message is due to be sent.
    #[inline]
    pub(crate) fn next_due(&self) -> Option<Time> {
        if self.first == self.next {
            return None;
        }
        self.under_way().filter(|at| !self.outgoing[*at].acknowledged).map(|at| self.outgoing[at].due).min()
    }

    /// The next message that is due, which goes out as packet `sequence`.
    pub(crate) fn transmit(&mut self, now: Time, sequence: u16, rtt: Span) -> Option<&[u8]> {
        let at =
            self.under_way().find(|at| !self.outgoing[*at].acknowledged && self.outgoing[*at].due <= now)?;
        let slot = &mut self.outgoing[at];
        slot.sent_as[slot.sends % REMEMBERED] = Some(sequence);
        slot.sends += 1;
        let slower = slot.sends.saturating_sub(PATIENT_SENDS).min(MAX_DOUBLINGS) as u32;
        slot.due = now + RESEND_AFTER.max(rtt + rtt / 2) * (1 << slower);
        Some(&slot.bytes)
    }

    /// Takes in the acks in the header of a received packet.
    pub(crate) fn acknowledged(&mut self, header: ControlHeader) {
        if self.first == self.next {
            return;
        }
        for at in self.under_way() {
            let slot = &mut self.outgoing[at];
            let sent_as = slot.sent_as.iter().flatten();
            slot.acknowledged |= sent_as.into_iter().any(|sent| Sequences::acknowledges(header, *sent));
        }
        while self.first != self.next && self.outgoing[usize::from(self.first % KEPT)].acknowledged {
            self.first = self.first.wrapping_add(1);
        }
    }

    /// Since when the oldest message waits to be acknowledged.
    #[inline]
    pub(crate) fn waiting_since(&self) -> Option<Time> {
        (self.first != self.next).then(|| self.outgoing[usize::from(self.first % KEPT)].queued_at)
    }

    /// Whether every message has been acknowledged.
    pub(crate) fn all_acknowledged(&self) -> bool {
        self.first == self.next
    }

    /// Whether a message is under way that the peer may still take, if the match is over.
    pub(crate) fn may_be_acknowledged(&self) -> bool {
        self.under_way().any(|at| {
            let slot = &self.outgoing[at];
            !slot.acknowledged && slot.sends < MAX_SENDS_OVER
        })
    }

    /// Classifies message `number`; changes nothing.
    pub(crate) fn look_at(&self, number: u16) -> Arrival {
        match number.wrapping_sub(self.expected) {
            0..IN_FLIGHT => {
                if self.incoming[usize::from(number % IN_FLIGHT)].here {
                    Arrival::Known
                } else {
                    Arrival::New
                }
            }
            // Behind, as far as it is kept to be sent again.
            back if back >= KEPT.wrapping_neg() => Arrival::Known,
            _ => Arrival::Beyond,
        }
    }

    /// Keeps a message that is [`New`](Arrival::New) until those before it are here.
    pub(crate) fn keep(&mut self, now: Time, number: u16, payload: &[u8]) {
        if number != self.expected {
            self.missing_since.get_or_insert(now);
        }
        let slot = &mut self.incoming[usize::from(number % IN_FLIGHT)];
        refill(&mut slot.bytes, payload);
        slot.here = true;
    }

    /// The next message in order, if it is here.
    pub(crate) fn deliver(&mut self, now: Time) -> Option<&[u8]> {
        let at = usize::from(self.expected % IN_FLIGHT);
        if !core::mem::take(&mut self.incoming[at].here) {
            return None;
        }
        self.expected = self.expected.wrapping_add(1);
        // One that is still here waits for another one now, unless it is the next.
        let waits = self.missing_since.is_some() && self.incoming.iter().any(|slot| slot.here);
        self.missing_since = waits.then_some(now);
        Some(&self.incoming[at].bytes)
    }
}

/// Replaces the contents, and takes no more memory than they need.
fn refill(bytes: &mut Vec<u8>, contents: &[u8]) {
    bytes.clear();
    bytes.reserve_exact(contents.len());
    bytes.extend_from_slice(contents);
}

/// Only a server and its clients need these.
#[cfg(any(test, feature = "authority"))]
impl Reliable {
    /// With room for messages of any length, because a server sends long ones all the time.
    pub(crate) fn roomy() -> Self {
        let mut this = Self::new();
        this.reserve(MAX_LEN);
        this
    }

    /// Forgets both directions and counts from 0 again, in the same memory.
    pub(crate) fn reset(&mut self) {
        (self.first, self.next, self.kept, self.expected, self.missing_since) = (0, 0, 0, 0, None);
        self.outgoing.iter_mut().for_each(|slot| slot.acknowledged = true);
        self.incoming.iter_mut().for_each(|slot| slot.here = false);
    }

    /// Queues a message of another format than the duel's: `write` gets the number and an empty buffer, in which
    /// [`MAX_LEN`] bytes have room. Returns the number.
    pub(crate) fn send_bytes(
        &mut self,
        now: Time,
        write: impl FnOnce(u16, &mut Vec<u8>),
    ) -> Result<u16, QueueFull> {
        if self.next.wrapping_sub(self.first) >= IN_FLIGHT {
            return Err(QueueFull);
        }
        let number = self.next;
        let slot = &mut self.outgoing[usize::from(number % KEPT)];
        slot.bytes.clear();
        write(number, &mut slot.bytes);
        (slot.sent_as, slot.sends, slot.due, slot.queued_at) = ([None; REMEMBERED], 0, now, now);
        slot.acknowledged = false;
        self.next = number.wrapping_add(1);
        self.kept = (self.kept + 1).min(KEPT);
        Ok(number)
    }

    /// The first message that has not been acknowledged, or the next one if all have been.
    pub(crate) fn first_unacknowledged(&self) -> u16 {
        self.first
    }
}

#[cfg(test)]
mod tests;
