//! The control channel to one remote machine: numbers, reliable messages, round trip, keeping alive.

use super::entropy::Entropy;
use super::refusal::Refusal;
use super::reliable::{Arrival, Reliable};
use super::rtt::RoundTrip;
use super::sequence::{HeaderError, Received, Sequences};
use crate::wire::control::{self, Header, Payload};
use core::num::NonZeroU8;
use core::time::Duration;
use std::net::SocketAddr;

/// Something goes out at least this often.
const KEEP_ALIVE: Duration = Duration::from_millis(200);

/// With more packets than this under way the peer does not seem to hear us, and they become seldom. Otherwise a
/// blackout in which many messages are sent again and again would take the numbers out of the peer's reach for good.
const CROWDED: u32 = 128;
const WHEN_CROWDED: Duration = Duration::from_millis(500);

/// One remote machine, as far as GAME packets go.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub(crate) addr: SocketAddr,
    pub(crate) reliable: Reliable,
    pub(crate) rtt: RoundTrip,
    sequences: Sequences,
    entropy: Entropy,
    frame: Duration,
    /// A ping to be answered.
    pong: Option<u64>,
    /// A CONNECT_REQ to be answered, with this seat.
    connect_ack: Option<NonZeroU8>,
    /// A message has to be acknowledged by then.
    ack_due: Option<Duration>,
    last_sent: Duration,
    last_stamped: Duration,
    /// How many DISCONNECTs are still to be sent.
    farewells: u8,
}

/// A DISCONNECT is not acknowledged, so it is said more than once.
const FAREWELLS: u8 = 3;

impl Link {
    pub(crate) fn new(now: Duration, addr: SocketAddr, frame: Duration, entropy: &mut Entropy) -> Self {
        let mut entropy = Entropy::new(entropy.next_u64());
        Self {
            addr,
            reliable: Reliable::new(),
            rtt: RoundTrip::new(now),
            sequences: Sequences::new(entropy.next_u64() as u16),
            entropy,
            frame,
            pong: None,
            connect_ack: None,
            ack_due: None,
            last_sent: now,
            last_stamped: now,
            farewells: 0,
        }
    }

    /// Whether the numbers of a packet can be the peer's. Changes nothing.
    pub(crate) fn check(&self, header: Header) -> Result<(), Refusal> {
        self.sequences.check(header).map_err(refusal)
    }

    /// Whether a packet acknowledges something we sent: all that can be asked while the peer's numbers are not known.
    pub(crate) fn check_ack(&self, header: Header) -> Result<(), Refusal> {
        self.sequences.check_ack(header).map_err(refusal)
    }

    /// Takes in the numbers of a packet that is believed.
    pub(crate) fn heard(&mut self, header: Header) -> Received {
        // A HELLO is believed for its cookie, and may acknowledge nothing.
        if self.sequences.check_ack(header).is_ok() {
            self.sequences.acknowledged(header.ack);
            self.reliable.acknowledged(header);
        }
        self.sequences.received(header.sequence)
    }

    /// Takes in the numbers of a packet that is certainly the peer's, whatever numbers came before.
    pub(crate) fn heard_for_certain(&mut self, header: Header) {
        self.sequences.begin_at(header.sequence);
        self.heard(header);
    }

    /// Whether so much is under way without an acknowledgement that hardly anything should follow.
    pub(crate) fn is_crowded(&self) -> bool {
        self.sequences.unacknowledged() > CROWDED
    }

    /// The peer wants to know its round trip. A newer ping takes the place of one that waits.
    pub(crate) fn pinged(&mut self, value: u64) {
        self.pong = Some(value);
    }

    /// Whether a ping waits to be answered.
    pub(crate) fn owes_pong(&self) -> bool {
        self.pong.is_some()
    }

    /// The peer wants to be told that it is connected, and where it sits.
    pub(crate) fn owe_connect_ack(&mut self, seat: NonZeroU8) {
        self.connect_ack = Some(seat);
    }

    /// Takes in an ordered message, which is acknowledged within a frame. `Err`: it must not be.
    pub(crate) fn message(&mut self, now: Duration, number: u16, payload: &[u8]) -> Result<Arrival, Refusal> {
        let arrival = self.reliable.look_at(number);
        match arrival {
            Arrival::Beyond => return Err(Refusal::NoRoom),
            Arrival::New => self.reliable.keep(number, payload),
            Arrival::Known => {}
        }
        self.ack_due = Some(self.ack_due.unwrap_or(now + self.frame));
        Ok(arrival)
    }

    /// Says that this machine is leaving.
    pub(crate) fn say_farewell(&mut self) {
        self.farewells = FAREWELLS;
    }

    /// Notes that something else went out to the peer, so that it need not be kept alive.
    #[inline]
    pub(crate) fn sent_input(&mut self, now: Duration) {
        self.last_sent = now;
    }

    /// When something last went out to the peer.
    pub(crate) fn last_sent(&self) -> Duration {
        self.last_sent
    }

    /// Writes a packet of this connection.
    pub(crate) fn write(&mut self, now: Duration, payload: &Payload<'_>, buf: &mut [u8]) -> Option<usize> {
        let header = self.stamp(now);
        control::encode(&header, payload, buf).ok()
    }

    /// The numbers for the next packet; any packet acknowledges.
    pub(crate) fn stamp(&mut self, now: Duration) -> Header {
        self.ack_due = None;
        (self.last_sent, self.last_stamped) = (now, now);
        self.sequences.next()
    }

    /// Writes what is due: farewell, pong, message, ping, acknowledgement.
    #[inline]
    pub(crate) fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<usize> {
        if self.poll_timeout() > now {
            return None;
        }
        self.transmit(now, buf)
    }

    fn transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<usize> {
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
    pub(crate) fn poll_timeout(&self) -> Duration {
        if self.farewells > 0 {
            return Duration::ZERO;
        }
        let due = self.wanted_at();
        if self.is_crowded() { due.max(self.last_stamped + WHEN_CROWDED) } else { due }
    }

    #[inline]
    fn wanted_at(&self) -> Duration {
        if self.pong.is_some() || self.connect_ack.is_some() {
            return Duration::ZERO;
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
