//! A host's question for its own room. The answer shows, without a signature, that the server has lost the room, or that it sees
//! the host at another address than before.

use super::exchange::{Exchange, HeldCookie};
use crate::connect::seal::Random;
use crate::protocol::time::{Span, Time};
use std::net::SocketAddr;

/// The room is asked for this long after the last answer. A joiner waits 5 s before its player is told that the host is silent, and
/// a server checks one refresh of a room in 2 s besides its limits.
const EVERY: Span = Span::from_secs(3);

/// The question for the room of a host, between two registrations.
#[derive(Debug, Default)]
pub(super) struct Watch {
    /// The address and the ticket that were granted last. Nothing is asked without them.
    granted: Option<(SocketAddr, u64)>,
    ask_at: Time,
    ask: Option<Exchange>,
    cookie: HeldCookie,
}

impl Watch {
    /// The room was granted: it is asked for from now on.
    pub(super) fn begin(&mut self, now: Time, addr: SocketAddr, ticket: u64) {
        *self = Self { granted: Some((addr, ticket)), ask_at: now + EVERY, ask: None, cookie: self.cookie };
    }

    /// The room is asked for now.
    pub(super) fn hurry(&mut self) {
        self.ask_at = Time::ZERO;
    }

    /// The room is registered again, which answers every question.
    pub(super) fn end(&mut self) {
        (self.granted, self.ask) = (None, None);
    }

    /// The nonce and the cookie of the question, if it is to be sent now.
    pub(super) fn take_due(&mut self, now: Time, random: &mut Random) -> Option<(u64, u64)> {
        self.granted?;
        if self.ask.is_none() && self.ask_at <= now {
            self.ask = Some(Exchange::new(random.next_u64()));
        }
        let ask = self.ask.as_mut()?;
        ask.is_due(now).then(|| (ask.nonce(), self.cookie.get(now)))
    }

    /// Whether this is the nonce of the question.
    pub(super) fn asks(&self, nonce: u64) -> bool {
        self.ask.is_some_and(|ask| ask.nonce() == nonce)
    }

    /// The server wants a cookie. `false` if it sees the host at another address than it has granted.
    pub(super) fn take_cookie(&mut self, now: Time, observed: SocketAddr, cookie: u64) -> bool {
        self.cookie = HeldCookie::new(now, cookie);
        if let Some(ask) = &mut self.ask {
            ask.wants_cookie(now, now);
        }
        self.granted.is_some_and(|(addr, _)| addr == observed)
    }

    /// The server has answered. `false` if the room is not the one that it has granted.
    pub(super) fn take_grant(&mut self, now: Time, observed: SocketAddr, ticket: u64) -> bool {
        (self.ask, self.ask_at) = (None, now + EVERY);
        self.granted == Some((observed, ticket))
    }

    pub(super) fn deadline(&self) -> Time {
        let next = self.ask.as_ref().map_or(self.ask_at, Exchange::send_at);
        self.granted.map_or(Time::NEVER, |_| next)
    }
}
