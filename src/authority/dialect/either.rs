//! The dialect that a config has chosen: each enum passes every call on to the one that it holds.

use super::{
    Answer, Challenges, Delivered, FromClient, FromServer, HandshakeResponder, Lost, NumberedInput, Parts,
    SpeaksToClient, SpeaksToServer, Verdict, game, rtype,
};
use crate::authority::config::{ClientConfig, Wire};
use crate::authority::record::{Record, Shown, Terms};
use crate::channel::keyed_hash::Key;
use crate::channel::refusal::Refusal;
use crate::protocol::time::Time;
use std::net::SocketAddr;

/// Calls a method of whichever dialect it is.
macro_rules! on {
    ($this:expr, $link:ident => $call:expr) => {
        match $this {
            Self::Game($link) => $call,
            Self::Rtype($link) => $call,
        }
    };
}

/// The responder of a server: judges datagrams of strangers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Responder {
    Game(game::responder::Responder),
    Rtype(rtype::responder::Responder),
}

impl Responder {
    pub(crate) fn new(wire: Wire, key: Key, seed: u32) -> Self {
        match wire {
            Wire::Game => Self::Game(game::responder::Responder::with_key(key)),
            Wire::Rtype => Self::Rtype(rtype::responder::Responder::new(key, seed)),
        }
    }
}

impl HandshakeResponder for Responder {
    fn judge(
        &self,
        now: Time,
        from: SocketAddr,
        datagram: &[u8],
        offer: Option<u8>,
    ) -> Result<Verdict, Refusal> {
        on!(self, responder => responder.judge(now, from, datagram, offer))
    }

    fn challenge(&self, datagram: &[u8], number: u16) -> Result<Answer, Refusal> {
        on!(self, responder => responder.challenge(datagram, number))
    }
}

/// A server's end of one connection.
#[derive(Clone, Debug)]
// A seat's memory is taken once, and a server has seats of one kind.
#[allow(clippy::large_enum_variant)]
pub(crate) enum ServerLink {
    Game(game::server_link::ServerLink),
    Rtype(rtype::server_link::ServerLink),
}

impl ServerLink {
    /// A connection that nobody has begun, at a server whose world began with `seed`.
    pub(crate) fn idle(wire: Wire, seed: u32) -> Self {
        match wire {
            Wire::Game => Self::Game(game::server_link::ServerLink::idle()),
            Wire::Rtype => Self::Rtype(rtype::server_link::ServerLink::idle(seed)),
        }
    }

    /// Prepares a broadcast, from which each connection chooses.
    pub(crate) fn prepare_broadcast(wire: Wire, frame: u64, shown: &[Shown], parts: &mut Parts) {
        match wire {
            Wire::Game => game::server_link::ServerLink::prepare_broadcast(frame, shown, parts),
            Wire::Rtype => rtype::server_link::ServerLink::prepare_broadcast(shown, parts),
        }
    }
}

impl SpeaksToClient for ServerLink {
    fn begin(&mut self, now: Time, id: u8, challenges: &Challenges) {
        on!(self, link => link.begin(now, id, challenges));
    }

    #[inline]
    fn receive(
        &mut self,
        now: Time,
        datagram: &[u8],
        inputs: &mut Vec<NumberedInput>,
    ) -> Result<FromClient, Refusal> {
        on!(self, link => link.receive(now, datagram, inputs))
    }

    #[inline]
    fn lost(&self, now: Time) -> Option<Lost> {
        on!(self, link => link.lost(now))
    }

    #[inline]
    fn queue_terms(&mut self, now: Time, terms: &Terms, frame: u64) {
        on!(self, link => link.queue_terms(now, terms, frame));
    }

    #[inline]
    fn queue_records<'a>(
        &mut self,
        now: Time,
        records: impl Iterator<Item = (u64, &'a Record)>,
    ) -> Option<u64> {
        on!(self, link => link.queue_records(now, records))
    }

    #[inline]
    fn mark_all(&mut self, mark: u64) {
        on!(self, link => link.mark_all(mark));
    }

    #[inline]
    fn acknowledged_mark(&self) -> Option<u64> {
        on!(self, link => link.acknowledged_mark())
    }

    #[inline]
    fn has_due(&self, now: Time) -> bool {
        on!(self, link => link.has_due(now))
    }

    #[inline]
    fn write_due(&mut self, now: Time, buf: &mut [u8]) -> Option<usize> {
        on!(self, link => link.write_due(now, buf))
    }

    #[inline]
    fn write_accepted(&mut self, now: Time, id: u8, buf: &mut [u8]) -> Option<usize> {
        on!(self, link => link.write_accepted(now, id, buf))
    }

    #[inline]
    fn write_pong(&mut self, now: Time, value: u64, buf: &mut [u8]) -> Option<usize> {
        on!(self, link => link.write_pong(now, value, buf))
    }

    #[inline]
    fn write_leaves(&mut self, now: Time, buf: &mut [u8]) -> Option<usize> {
        on!(self, link => link.write_leaves(now, buf))
    }

    #[inline]
    fn begin_farewell(&mut self, now: Time) {
        on!(self, link => link.begin_farewell(now));
    }

    #[inline]
    fn is_farewell_heard(&self) -> bool {
        on!(self, link => link.is_farewell_heard())
    }

    #[inline]
    fn plan_broadcast(&mut self, parts: &Parts, budget: usize) -> usize {
        on!(self, link => link.plan_broadcast(parts, budget))
    }

    #[inline]
    fn write_broadcast(
        &mut self,
        now: Time,
        parts: &Parts,
        at: usize,
        applied: u32,
        buf: &mut [u8],
    ) -> Option<usize> {
        on!(self, link => link.write_broadcast(now, parts, at, applied, buf))
    }
}

/// A client's end of its connection.
#[derive(Clone, Debug)]
// A client has one.
#[allow(clippy::large_enum_variant)]
pub(crate) enum ClientLink {
    Game(game::client_link::ClientLink),
    Rtype(rtype::client_link::ClientLink),
}

impl ClientLink {
    /// A connection that begins with packet `first`.
    pub(crate) fn new(config: &ClientConfig, first: u16) -> Self {
        match config.wire {
            Wire::Game => Self::Game(game::client_link::ClientLink::new(Time::ZERO, first)),
            Wire::Rtype => Self::Rtype(rtype::client_link::ClientLink::new(first, config.name)),
        }
    }
}

impl SpeaksToServer for ClientLink {
    fn receive(&mut self, now: Time, datagram: &[u8], shown: &mut Vec<Shown>) -> Result<FromServer, Refusal> {
        on!(self, link => link.receive(now, datagram, shown))
    }

    fn deliver(&mut self, near: u64, take: impl FnMut(Delivered)) {
        on!(self, link => link.deliver(near, take));
    }

    fn queue_numbered(&mut self, now: Time, first: u32) {
        on!(self, link => link.queue_numbered(now, first));
    }

    fn next_due(&self) -> Time {
        on!(self, link => link.next_due())
    }

    fn recent_loss_run(&self) -> u32 {
        on!(self, link => link.recent_loss_run())
    }

    fn ends_farewell(&self, datagram: &[u8]) -> bool {
        on!(self, link => link.ends_farewell(datagram))
    }

    fn write_due(&mut self, now: Time, buf: &mut [u8]) -> Option<usize> {
        on!(self, link => link.write_due(now, buf))
    }

    fn write_join(&mut self, now: Time, buf: &mut [u8]) -> Option<usize> {
        on!(self, link => link.write_join(now, buf))
    }

    fn write_inputs(&mut self, now: Time, inputs: &[NumberedInput], buf: &mut [u8]) -> Option<usize> {
        on!(self, link => link.write_inputs(now, inputs, buf))
    }

    fn write_ping(&mut self, now: Time, value: u64, buf: &mut [u8]) -> Option<usize> {
        on!(self, link => link.write_ping(now, value, buf))
    }

    fn write_alive(&mut self, now: Time, buf: &mut [u8]) -> Option<usize> {
        on!(self, link => link.write_alive(now, buf))
    }

    fn write_leaves(&mut self, now: Time, buf: &mut [u8]) -> Option<usize> {
        on!(self, link => link.write_leaves(now, buf))
    }
}
