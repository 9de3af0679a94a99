//! The joiner's side of a rendezvous: it asks for the ticket of a room, and posts signals to its host.

use super::credentials::Credentials;
use super::event::RendezvousEvent;
use super::exchange::{Exchange, HeldCookie};
use crate::connect::seal::{Random, Randomness, SealError};
use crate::protocol::canonical;
use crate::protocol::time::{Span, Time};
use crate::wire::rendezvous::{self, Ask, Outcome, Packet, Reply, Room, decode, encode, is_carried};
use core::time::Duration;
use std::collections::VecDeque;
use std::net::SocketAddr;

/// The most events that wait for the owner.
const MAX_EVENTS: usize = 16;
/// A host that answers nothing for this long is called silent: its answers may be lost as well as the posts.
const HOST_SILENT_AFTER: Span = Span::from_secs(9);

/// The joiner's side of a rendezvous: a state machine without a socket or a clock. It asks for the room at once.
#[derive(Debug)]
pub struct JoinRequest {
    server: SocketAddr,
    room: Room,
    random: Random,
    cookie: HeldCookie,
    ask: Option<Exchange>,
    posting: Option<Posting>,
    events: VecDeque<RendezvousEvent>,
    is_silent: bool,
}

/// An INIT or a SIGNAL that is posted until its answer was opened.
#[derive(Debug)]
struct Posting {
    exchange: Exchange,
    signal: Vec<u8>,
    posted_at: Option<Time>,
    /// The answer that was told last.
    told: Vec<u8>,
    is_host_silent: bool,
    /// Whether it is not repeated any more. The host may still have more to say.
    is_settled: bool,
}

impl JoinRequest {
    /// A joiner that asks for `room` at `server`.
    ///
    /// # Errors
    /// If there are no random bytes.
    pub fn new(server: SocketAddr, room: Room, randomness: Randomness) -> Result<Self, SealError> {
        let mut random = randomness.generator(b"join request").ok_or(SealError::NoRandomness)?;
        let ask = Some(Exchange::new(random.next_u64()));
        Ok(Self {
            server: canonical(server),
            room,
            random,
            cookie: HeldCookie::default(),
            ask,
            posting: None,
            events: VecDeque::new(),
            is_silent: false,
        })
    }

    // Commands.

    /// Asks again, for a new ticket and new credentials.
    pub fn renew_credentials(&mut self) {
        if self.ask.is_none() {
            self.ask = Some(Exchange::new(self.random.next_u64()));
        }
    }

    /// Sends what waits for an answer again at once: the server sees another address of this machine from now on.
    pub(crate) fn begin_anew(&mut self) {
        self.cookie = HeldCookie::default();
        let posting = self.posting.as_mut().map(|posting| &mut posting.exchange);
        for exchange in self.ask.iter_mut().chain(posting) {
            exchange.begin_anew();
        }
    }

    /// Posts an INIT or a SIGNAL, in place of one that was posted before, until [`settle`](Self::settle) is called. `false` if this
    /// is neither.
    pub fn post(&mut self, signal: &[u8]) -> bool {
        let is_carried = is_carried(crate::wire::seal::INIT, signal);
        if is_carried {
            self.posting = Some(Posting {
                exchange: Exchange::of_signal(self.random.next_u64()),
                signal: signal.to_vec(),
                posted_at: None,
                told: Vec::new(),
                is_host_silent: false,
                is_settled: false,
            });
        }
        is_carried
    }

    /// Stops posting: the answer was opened, or is no longer needed. Further answers to the same post are told.
    pub fn settle(&mut self) {
        if let Some(posting) = &mut self.posting {
            posting.is_settled = true;
        }
    }

    /// Handles a datagram, which counts only if it comes from the server.
    pub fn handle_datagram(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        let now = Time::from(now);
        if canonical(from) != self.server {
            return;
        }
        match decode(datagram) {
            Ok(Packet::Cookie(cookie)) => {
                let posting = self.posting.as_mut().map(|posting| &mut posting.exchange);
                let mut asked = self.ask.as_mut().into_iter().chain(posting);
                let asked = asked.find(|exchange| exchange.nonce() == cookie.nonce);
                if let Some(exchange) = asked {
                    exchange.wants_cookie(now, now);
                    self.cookie = HeldCookie::new(now, cookie.cookie);
                }
            }
            Ok(Packet::Grant(grant)) if self.ends_ask(grant.nonce) => {
                self.is_silent = false;
                let credentials = grant.turn.as_ref().map(Credentials::of);
                let (ticket, observed) = (grant.ticket, grant.observed);
                self.tell(RendezvousEvent::Ticket { ticket, observed, credentials });
            }
            Ok(Packet::Reply(reply)) => self.replied(now, &reply),
            _ => {}
        }
    }

    /// Writes the next datagram to send into `buf`, and returns its destination and its length.
    pub fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        let now = Time::from(now);
        self.notice_silence(now);
        let (room, cookie) = (self.room, self.cookie.get(now));
        if let Some(posting) = self.posting.as_mut().filter(|posting| !posting.is_settled)
            && posting.exchange.is_due(now)
        {
            let (nonce, signal) = (posting.exchange.nonce(), &*posting.signal);
            let packet = Packet::Post(rendezvous::Post { nonce, cookie, room, signal });
            return Some((self.server, encode(&packet, buf)?));
        }
        let ask = self.ask.as_mut().filter(|ask| ask.send_at() <= now)?;
        ask.is_due(now);
        let packet = Packet::Ask(Ask { nonce: ask.nonce(), cookie, room });
        Some((self.server, encode(&packet, buf)?))
    }

    /// The next event, in order.
    pub fn poll_event(&mut self) -> Option<RendezvousEvent> {
        self.events.pop_front()
    }

    // Getters.

    /// When to call [`poll_transmit`](Self::poll_transmit) again if no datagram arrives before.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Duration> {
        self.ask.iter().chain(self.posted()).map(Exchange::send_at).min().and_then(Time::deadline)
    }

    /// The server.
    #[must_use]
    pub fn server(&self) -> SocketAddr {
        self.server
    }

    // Internal.

    /// The exchange of a signal that is repeated.
    fn posted(&self) -> Option<&Exchange> {
        self.posting.as_ref().filter(|posting| !posting.is_settled).map(|posting| &posting.exchange)
    }

    fn ends_ask(&mut self, nonce: u64) -> bool {
        self.ask.take_if(|exchange| exchange.nonce() == nonce).is_some()
    }

    fn replied(&mut self, now: Time, reply: &Reply<'_>) {
        if let Outcome::Refused(denial) = reply.outcome {
            let asked = self.ask.as_mut().filter(|ask| ask.nonce() == reply.nonce);
            if asked.map(|ask| ask.heard(now)).is_some() {
                self.tell(RendezvousEvent::Refused(denial));
            }
            return;
        }
        let Some(posting) = self.posting.as_mut() else { return };
        if posting.exchange.nonce() != reply.nonce {
            return;
        }
        posting.exchange.heard(now);
        posting.posted_at.get_or_insert(now);
        self.is_silent = false;
        if let Outcome::Answered(signal) = reply.outcome
            && posting.told != signal
        {
            posting.told = signal.to_vec();
            self.tell(RendezvousEvent::Answered { signal: signal.to_vec() });
        }
    }

    fn notice_silence(&mut self, now: Time) {
        if !self.is_silent && self.ask.iter().chain(self.posted()).any(|exchange| exchange.is_silent(now)) {
            self.is_silent = true;
            self.tell(RendezvousEvent::ServerSilent);
        }
        let Some(posting) = self.posting.as_mut().filter(|posting| !posting.is_settled) else { return };
        let waited = posting.posted_at.map(|posted_at| now.since(posted_at));
        if !posting.is_host_silent
            && posting.told.is_empty()
            && waited.is_some_and(|waited| waited >= HOST_SILENT_AFTER)
        {
            posting.is_host_silent = true;
            self.tell(RendezvousEvent::HostSilent);
        }
    }

    fn tell(&mut self, event: RendezvousEvent) {
        if self.events.len() < MAX_EVENTS {
            self.events.push_back(event);
        }
    }
}
