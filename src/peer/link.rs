//! The control channel to one remote machine: sequence numbers, acks, reliable messages, RTT, keep-alive.

use super::entropy::Entropy;
use super::refusal::Refusal;
use super::reliable::{Arrival, Reliable};
use super::rtt::RoundTrip;
use super::sequence::{HeaderError, Received, Sequences};
use crate::time::{Span, Time};
use crate::wire::control::{self, Header, Payload};
use core::num::NonZeroU8;
use std::net::SocketAddr;

/// The longest pause between two packets: it keeps the peer from hearing silence, and NAT mappings open.
const KEEP_ALIVE: Span = Span::from_millis(200);

/// With more unacknowledged packets than this the peer does not seem to hear us, and the send rate drops. Otherwise a
/// blackout full of retransmissions would move our sequence numbers out of the peer's reach for good.
const CROWDED: u32 = 128;
const WHEN_CROWDED: Span = Span::from_millis(500);

/// The GAME packets to and from one remote machine.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub(crate) addr: SocketAddr,
    pub(crate) reliable: Reliable,
    pub(crate) rtt: RoundTrip,
    sequences: Sequences,
    entropy: Entropy,
    frame_length: Span,
    /// A ping to be answered.
    pong: Option<u64>,
    /// A CONNECT_REQ to be answered, with this seat.
    connect_ack: Option<NonZeroU8>,
    /// A message has to be acknowledged by then.
    ack_due: Option<Time>,
    last_sent: Time,
    last_stamped: Time,
    /// How many DISCONNECTs are still to be sent.
    farewells: u8,
}

/// How often a DISCONNECT is sent: it is not acknowledged.
const FAREWELLS: u8 = 3;

impl Link {
    pub(crate) fn new(now: Time, addr: SocketAddr, frame_length: Span, entropy: &mut Entropy) -> Self {
        let mut entropy = Entropy::new(entropy.next_u64());
        Self {
            addr,
            reliable: Reliable::new(),
            rtt: RoundTrip::new(now),
            sequences: Sequences::new(entropy.next_u64() as u16),
            entropy,
            frame_length,
            pong: None,
            connect_ack: None,
            ack_due: None,
            last_sent: now,
            last_stamped: now,
            farewells: 0,
        }
    }

    /// Checks whether sequence and ack of a packet can be the peer's; changes nothing.
    pub(crate) fn check(&self, header: Header) -> Result<(), Refusal> {
        self.sequences.check(header).map_err(refusal)
    }

    /// Checks only that a packet acknowledges something we sent. Nothing more can be asked while the peer's sequence
    /// numbers are not known.
    pub(crate) fn check_ack(&self, header: Header) -> Result<(), Refusal> {
        self.sequences.check_ack(header).map_err(refusal)
    }

    /// Takes in sequence and acks of a packet that passed its checks.
    pub(crate) fn heard(&mut self, header: Header) -> Received {
        // A HELLO is believed for its cookie, and may acknowledge nothing.
        if self.sequences.check_ack(header).is_ok() {
            self.sequences.acknowledged(header.ack);
            self.reliable.acknowledged(header);
        }
        self.sequences.received(header.sequence)
    }

    /// Takes in sequence and acks of a packet that is proven to be the peer's, and forgets earlier sequence numbers.
    pub(crate) fn heard_for_certain(&mut self, header: Header) {
        self.sequences.begin_at(header.sequence);
        self.heard(header);
    }

    /// Whether so many packets are unacknowledged that hardly anything should follow.
    pub(crate) fn is_crowded(&self) -> bool {
        self.sequences.unacknowledged() > CROWDED
    }

    /// Takes in a ping, to be answered by a pong. A newer ping replaces one that waits.
    pub(crate) fn pinged(&mut self, value: u64) {
        self.pong = Some(value);
    }

    /// Whether a ping waits to be answered.
    pub(crate) fn owes_pong(&self) -> bool {
        self.pong.is_some()
    }

    /// Queues a CONNECT_ACK that tells the peer its seat.
    pub(crate) fn owe_connect_ack(&mut self, seat: NonZeroU8) {
        self.connect_ack = Some(seat);
    }

    /// Takes in an ordered message and schedules its ack within a frame. A refused one must not be acknowledged.
    pub(crate) fn message(&mut self, now: Time, number: u16, payload: &[u8]) -> Result<Arrival, Refusal> {
        let arrival = self.reliable.look_at(number);
        match arrival {
            Arrival::Beyond => return Err(Refusal::NoRoom),
            Arrival::New => self.reliable.keep(number, payload),
            Arrival::Known => {}
        }
        self.ack_due = Some(self.ack_due.unwrap_or(now + self.frame_length));
        Ok(arrival)
    }

    /// Queues the DISCONNECTs that say that this machine leaves.
    pub(crate) fn say_farewell(&mut self) {
        self.farewells = FAREWELLS;
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
    pub(crate) fn write(&mut self, now: Time, payload: &Payload<'_>, buf: &mut [u8]) -> Option<usize> {
        let header = self.stamp(now);
        control::encode(&header, payload, buf).ok()
    }

    /// The header for the next packet. Every packet carries the acks that are due.
    pub(crate) fn stamp(&mut self, now: Time) -> Header {
        self.ack_due = None;
        (self.last_sent, self.last_stamped) = (now, now);
        self.sequences.next()
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
        if self.farewells > 0 {
            self.farewells -= 1;
            return self.write(now, &Payload::Disconnect, buf);
        }
        if let Some(client_id) = self.connect_ack.take() {
            return self.write(now, &Payload::ConnectAck { client_id }, buf);
        }
        if let Some(value) = self.pong.take() {
            return self.write(now, &Payload::Pong(value), buf);
        }
        if self.reliable.next_due().is_some_and(|due| due <= now) {
            let header = self.stamp(now);
            let rtt = self.rtt.smoothed().unwrap_or_default();
            let message = self.reliable.transmit(now, header.sequence, rtt)?;
            return control::encode(&header, &Payload::ReliableEvent(message), buf).ok();
        }
        if self.rtt.next_ping() <= now {
            let value = control::ping_value(self.entropy.next_u64());
            self.rtt.pinged(now, value);
            return self.write(now, &Payload::Ping(value), buf);
        }
        self.write(now, &Payload::Heartbeat, buf)
    }

    /// When something is due next.
    #[inline]
    pub(crate) fn poll_timeout(&self) -> Time {
        if self.farewells > 0 {
            return Time::ZERO;
        }
        let due = self.wanted_at();
        if self.is_crowded() { due.max(self.last_stamped + WHEN_CROWDED) } else { due }
    }

    #[inline]
    fn wanted_at(&self) -> Time {
        if self.pong.is_some() || self.connect_ack.is_some() {
            return Time::ZERO;
        }
        let mut due = self.rtt.next_ping().min(self.last_sent + KEEP_ALIVE);
        if let Some(ack) = self.ack_due {
            due = due.min(ack);
        }
        if let Some(resend) = self.reliable.next_due() {
            due = due.min(resend);
        }
        due
    }

    /// Whether farewells or messages still have to go out.
    pub(crate) fn has_unfinished(&self) -> bool {
        self.farewells > 0 || !self.reliable.all_acknowledged() || self.ack_due.is_some()
    }
}

fn refusal(error: HeaderError) -> Refusal {
    match error {
        HeaderError::FarSequence => Refusal::FarSequence,
        HeaderError::AckOfNothingSent => Refusal::AckUnsent,
    }
}
