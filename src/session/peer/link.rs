//! The control channel to one remote machine: sequence numbers, acks, reliable messages, RTT, keep-alive.

use super::farewell::{Farewell, FarewellPart};
use super::owed::Owed;
use super::resync::Resync;
use crate::channel::entropy::Entropy;
use crate::channel::refusal::Refusal;
use crate::channel::reliable::{Arrival, QueueFull, Reliable};
use crate::channel::rtt::RoundTrip;
use crate::channel::sequence::{HeaderError, Received, Sequences};
use crate::protocol::time::{Span, Time};
use crate::wire::control::{ControlHeader, ControlPacket, ControlPayload};
use crate::wire::message;
use crate::wire::message::{Leaving, Message, Ordered};
use core::num::NonZeroU8;
use std::net::SocketAddr;

/// The longest pause between two packets: it keeps the peer from hearing silence, and NAT mappings open.
const KEEP_ALIVE: Span = Span::from_millis(200);

/// With more unacknowledged numbers than this the peer does not seem to hear us, and the send rate drops. Otherwise a
/// blackout full of retransmissions would move our sequence numbers out of the peer's reach.
const CROWDED: u32 = 32;
const WHEN_CROWDED: Span = Span::from_millis(500);

/// A message that has waited longer than this for its ack brings pings back on a link that input packets measure.
const MESSAGE_WAITS: Span = Span::from_secs(1);

/// The GAME packets to and from one remote machine.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    addr: SocketAddr,
    /// Whether every packet of the peer is authenticated by the protocol around this one.
    is_sealed: bool,
    sequences: Sequences,
    entropy: Entropy,
    reliable: Reliable,
    owed: Owed,
    rtt: RoundTrip,
    /// Input packets measure the RTT, and pings are rare.
    is_measured: bool,
    last_sent: Time,
    last_stamped: Time,
    farewell: Option<Farewell>,
    resync: Resync,
}

impl Link {
    pub(crate) fn new(now: Time, addr: SocketAddr, frame_length: Span, entropy: &mut Entropy) -> Self {
        let mut entropy = Entropy::new(entropy.next_u64());
        Self {
            addr,
            is_sealed: false,
            sequences: Sequences::new(entropy.next_u64() as u16),
            entropy,
            reliable: Reliable::new(),
            owed: Owed::new(frame_length),
            rtt: RoundTrip::new(now),
            is_measured: false,
            last_sent: now,
            last_stamped: now,
            farewell: None,
            resync: Resync::default(),
        }
    }

    /// The peer's address.
    #[inline]
    pub(crate) fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Whether this is the peer's address.
    #[inline]
    pub(crate) fn is_peer(&self, addr: &SocketAddr) -> bool {
        self.addr == *addr
    }

    /// Notes that every packet of the peer is authenticated.
    pub(crate) fn sealed(&mut self) {
        self.is_sealed = true;
    }

    /// Whether every packet of the peer is authenticated.
    pub(crate) fn is_sealed(&self) -> bool {
        self.is_sealed
    }

    /// Checks whether sequence and ack of a packet can be the peer's; changes nothing.
    pub(crate) fn check(&self, header: ControlHeader) -> Result<(), Refusal> {
        self.sequences.check(header).map_err(refusal)
    }

    /// The match is agreed on: ordered messages are numbered by its token, and later acks continue that of `confirmed`.
    pub(crate) fn begin(&mut self, token: u64, is_host: bool, confirmed: Option<ControlHeader>) {
        self.sequences.settle(confirmed.map(|header| header.ack));
        self.resync.begin(token);
        let (hosts, joiners) = (token as u16, (token >> 16) as u16);
        let (ours, theirs) = if is_host { (hosts, joiners) } else { (joiners, hosts) };
        self.reliable.begin(ours, theirs);
    }

    /// Notes that input packets measure the RTT from now on.
    pub(crate) fn measured_by_inputs(&mut self) {
        self.is_measured = true;
    }

    /// A random number for another generator.
    pub(crate) fn draw_seed(&mut self) -> u64 {
        self.entropy.next_u64()
    }

    /// Notes that a packet from the peer's address was refused for its numbers.
    pub(crate) fn refused_numbers(&mut self) {
        self.resync.refused();
    }

    /// Takes in a RESYNC, whose token proves it: the numbers begin again at those of its packet.
    pub(crate) fn resynced(
        &mut self,
        now: Time,
        header: ControlHeader,
        resync: message::Resync,
    ) -> Result<(), Refusal> {
        let message::Resync { token, expected, asks } = resync;
        self.resync.received(token, asks)?;
        self.sequences.begin_at(header.sequence);
        self.sequences.acknowledged_for_certain(header);
        self.reliable.resume_at(now, expected);
        Ok(())
    }

    /// When a RESYNC is due.
    #[inline]
    fn resync_at(&self) -> Option<Time> {
        self.resync.due(self.reliable.missing_since())
    }

    /// Checks only that a packet acknowledges something we sent. Nothing more can be asked while the peer's sequence
    /// numbers are not known.
    pub(crate) fn check_ack(&self, header: ControlHeader) -> Result<(), Refusal> {
        self.sequences.check_ack(header).map_err(refusal)
    }

    /// Takes in sequence and acks of a packet that passed its checks.
    pub(crate) fn heard(&mut self, header: ControlHeader) -> Received {
        // A HELLO is believed for its cookie, and may acknowledge nothing.
        if self.sequences.check_ack(header).is_ok() {
            self.sequences.acknowledged(header);
            self.reliable.acknowledged(header);
        }
        self.resync.heard();
        self.sequences.received(header.sequence)
    }

    /// Takes in sequence and acks of a packet that is proven to be the peer's, and forgets earlier sequence numbers.
    pub(crate) fn heard_for_certain(&mut self, header: ControlHeader) {
        self.sequences.begin_at(header.sequence);
        self.heard(header);
    }

    /// Takes in sequence and acks of a packet that is proven to be the peer's, but may be late. Earlier sequence numbers
    /// are forgotten only if this one is out of their reach: forged packets have then moved them.
    pub(crate) fn heard_even_if_far(&mut self, header: ControlHeader) {
        if self.sequences.reaches(header.sequence) {
            self.heard(header);
        } else {
            self.heard_for_certain(header);
        }
    }

    /// Whether this many packets are unacknowledged that hardly anything should follow.
    pub(crate) fn is_crowded(&self) -> bool {
        self.sequences.unacknowledged() > CROWDED
    }

    /// Takes in a ping, to be answered by a pong.
    pub(crate) fn pinged(&mut self, now: Time, value: u64) {
        self.owed.pinged(now, value);
    }

    /// Whether a ping waits to be answered.
    pub(crate) fn owes_pong(&self) -> bool {
        self.owed.owes_pong()
    }

    /// Takes in a pong: an RTT sample. `false` if it answers no ping of ours.
    pub(crate) fn ponged(&mut self, now: Time, value: u64) -> bool {
        self.rtt.ponged(now, value)
    }

    /// Takes in an RTT sample of an input packet.
    pub(crate) fn measured(&mut self, sample: Span) {
        self.rtt.sample(sample);
    }

    /// Pings quickly, to measure the RTT before a match.
    pub(crate) fn ping_quickly(&mut self) {
        self.rtt.ping_quickly();
    }

    /// Makes pings frequent, or rare again.
    pub(crate) fn look_closely(&mut self, is_close: bool) {
        self.rtt.look_closely(is_close);
    }

    /// The measurements of the RTT.
    #[inline]
    pub(crate) fn rtt(&self) -> &RoundTrip {
        &self.rtt
    }

    /// Queues a CONNECT_ACK that tells the peer its seat.
    pub(crate) fn owe_connect_ack(&mut self, seat: NonZeroU8) {
        self.owed.asked_for_seat(seat);
    }

    /// Queues an ordered message.
    pub(crate) fn send(&mut self, now: Time, message: Ordered<'_>) -> Result<(), QueueFull> {
        self.reliable.send(now, message)
    }

    /// Whether the peer has every message that was queued.
    pub(crate) fn has_delivered_all(&self) -> bool {
        self.reliable.all_acknowledged()
    }

    /// Whether the session may queue a message of its own.
    pub(crate) fn has_room_for_session(&self) -> bool {
        self.reliable.has_room_for_session()
    }

    /// The next message of the peer that is in order.
    pub(crate) fn deliver(&mut self, now: Time) -> Option<&[u8]> {
        self.reliable.deliver(now)
    }

    /// Whether an ordered message is here, or was delivered.
    pub(crate) fn has_message(&self, number: u16) -> bool {
        self.reliable.look_at(number) == Arrival::Known
    }

    /// Takes in an ordered message and schedules its ack within a frame. A refused one must not be acknowledged.
    pub(crate) fn message(&mut self, now: Time, number: u16, payload: &[u8]) -> Result<Arrival, Refusal> {
        let arrival = self.reliable.look_at(number);
        match arrival {
            Arrival::Beyond => {
                // No honest peer is there, unless the numbers have come apart.
                self.resync.refused();
                return Err(Refusal::NoRoom);
            }
            Arrival::New => self.reliable.keep(now, number, payload),
            Arrival::Known => {}
        }
        self.owed.message(now);
        Ok(arrival)
    }

    /// Queues the packets that say that this machine leaves.
    pub(crate) fn say_farewell(&mut self, leaving: Leaving) {
        self.farewell.get_or_insert(Farewell::new(leaving));
    }

    /// Notes that an input packet went out, which serves as a keep-alive too.
    #[inline]
    pub(crate) fn sent_input(&mut self, now: Time) {
        self.last_sent = now;
    }

    /// When something last went out to the peer.
    pub(crate) fn last_sent(&self) -> Time {
        self.last_sent
    }

    /// Writes a packet of this connection.
    pub(crate) fn write(&mut self, now: Time, payload: &ControlPayload<'_>, buf: &mut [u8]) -> Option<usize> {
        let header = self.stamp(now);
        ControlPacket::encode(&header, payload, buf).ok()
    }

    /// The header for the next packet. Every packet carries the acks that are due.
    pub(crate) fn stamp(&mut self, now: Time) -> ControlHeader {
        self.owed.acknowledged();
        (self.last_sent, self.last_stamped) = (now, now);
        // A stranger who acknowledges all numbers is found out.
        self.sequences.next(self.entropy.one_in_four())
    }

    /// Writes the next packet that is due: DISCONNECT, CONNECT_ACK, PONG, message, PING, or a HEARTBEAT as an ack.
    #[inline]
    pub(crate) fn poll_transmit(&mut self, now: Time, buf: &mut [u8]) -> Option<usize> {
        if self.poll_timeout() > now {
            return None;
        }
        self.transmit(now, buf)
    }

    fn transmit(&mut self, now: Time, buf: &mut [u8]) -> Option<usize> {
        if let Some(part) = self.farewell.as_mut().and_then(|farewell| farewell.say(now)) {
            return match part {
                FarewellPart::Leaving(leaving) => self.write_message(now, &Message::Leaving(leaving), buf),
                FarewellPart::Disconnect => self.write(now, &ControlPayload::Disconnect, buf),
            };
        }
        if self.resync_at().is_some_and(|due| due <= now) {
            return self.write_resync(now, buf);
        }
        if let Some(answer) = self.owed.take(now) {
            return self.write(now, &answer, buf);
        }
        if self.reliable.next_due().is_some_and(|due| due <= now) {
            let header = self.stamp(now);
            let rtt = self.rtt.smoothed().unwrap_or_default();
            let message = self.reliable.transmit(now, header.sequence, rtt)?;
            return ControlPacket::encode(&header, &ControlPayload::ReliableEvent(message), buf).ok();
        }
        if self.ping_at() <= now {
            let value = ControlPacket::ping_value(self.entropy.next_u64());
            self.rtt.pinged(now, value);
            return self.write(now, &ControlPayload::Ping(value), buf);
        }
        self.write(now, &ControlPayload::Heartbeat, buf)
    }

    fn write_resync(&mut self, now: Time, buf: &mut [u8]) -> Option<usize> {
        let (token, asks) = self.resync.said(now)?;
        self.sequences.resyncs_next();
        let expected = self.reliable.expected();
        self.write_message(now, &Message::Resync(message::Resync { token, expected, asks }), buf)
    }

    /// Writes a message outside the order.
    pub(crate) fn write_message(
        &mut self,
        now: Time,
        message: &Message<'_>,
        buf: &mut [u8],
    ) -> Option<usize> {
        let header = self.stamp(now);
        message.encode_packet(&header, buf).ok()
    }

    /// When something is due next.
    #[inline]
    pub(crate) fn poll_timeout(&self) -> Time {
        let due = self.wanted_at();
        let due = if self.is_crowded() { due.max(self.last_stamped + WHEN_CROWDED) } else { due };
        // Neither waits for a peer that acknowledges nothing.
        match (self.farewell.as_ref().and_then(Farewell::due), self.resync_at()) {
            (None, None) => due,
            (farewell, resync) => farewell.into_iter().chain(resync).fold(due, Time::min),
        }
    }

    /// When the next ping is due. Where input packets measure the RTT it is only sent while their age is in doubt, or while a
    /// message has waited for its ack for long: the answer carries acks.
    #[inline]
    fn ping_at(&self) -> Time {
        if !self.is_measured || self.rtt.is_close() {
            return self.rtt.next_ping();
        }
        match self.reliable.waiting_since() {
            Some(since) => self.rtt.next_ping().max(since + MESSAGE_WAITS),
            None => Time::NEVER,
        }
    }

    #[inline]
    fn wanted_at(&self) -> Time {
        let due = self.ping_at().min(self.last_sent + KEEP_ALIVE).min(self.owed.due());
        self.reliable.next_due().map_or(due, |resend| due.min(resend))
    }

    /// Whether the farewell has still to be said, once more at least.
    fn is_saying_farewell(&self) -> bool {
        self.farewell.as_ref().is_some_and(|farewell| farewell.due().is_some())
    }

    /// Whether farewells or messages still have to go out in a match that is over.
    pub(crate) fn has_unfinished(&self) -> bool {
        self.is_saying_farewell() || self.reliable.may_be_acknowledged() || self.owed.owes_ack()
    }
}

fn refusal(error: HeaderError) -> Refusal {
    match error {
        HeaderError::FarSequence => Refusal::FarSequence,
        HeaderError::AckOfNothingSent => Refusal::AckUnsent,
    }
}

#[cfg(test)]
mod tests;
