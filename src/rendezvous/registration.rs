//! The host's side of a rendezvous: it keeps its room open, and answers the guests that are brought there.

use super::credentials::Credentials;
use super::exchange::{Exchange, HeldCookie};
use super::identity::Identity;
use crate::peer::entropy::Entropy;
use crate::protocol::canonical;
use crate::seal::{Randomness, SealError};
use crate::time::{Span, Time};
use crate::wire::rendezvous::{
    Answer, Deliver, Denial, LETTER_LEN, Outcome, Packet, Register, Room, SIGNATURE_LEN, decode, encode,
};
use core::time::Duration;
use std::collections::VecDeque;
use std::net::SocketAddr;

/// A registration is refreshed after this long. A server forgets it after 60 s.
const REFRESH_AFTER: Span = Span::from_secs(15);
/// A refused registration is tried again after this long.
const RETRY_AFTER: Span = Span::from_secs(5);
/// The most guests whose RESP is kept, to be sent again if it was lost.
const MAX_GUESTS: usize = 16;
/// The most events that wait for the owner.
const MAX_EVENTS: usize = 32;

/// News for a host from its rendezvous.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HostEvent {
    /// The room is open, or was kept open: told with every refresh.
    Registered {
        /// The address that the server sees: the server-reflexive address of this socket.
        observed: SocketAddr,
        /// The right to use a TURN server, if the rendezvous has one.
        credentials: Option<Credentials>,
    },
    /// A guest has posted an INIT. Answer it by [`Registration::answer`].
    Delivered {
        /// The guest's number.
        guest: u64,
        /// The INIT.
        init: Vec<u8>,
    },
    /// The server refuses the room. It is asked again every few seconds.
    Refused(Denial),
    /// The server has answered nothing for five seconds. It is asked on.
    ServerSilent,
}

/// The host's side of a rendezvous: a state machine without a socket or a clock.
///
/// It sends nothing before it has a [ticket](Self::set_ticket).
#[derive(Debug)]
pub struct Registration {
    server: SocketAddr,
    identity: Identity,
    entropy: Entropy,
    ticket: Option<u64>,
    /// Whether the ticket was set since the last registration.
    is_renewed: bool,
    cookie: HeldCookie,
    exchange: Option<Exchange>,
    refresh_at: Time,
    /// The nonces of the newest two registrations that were granted. A DELIVER has one of them, or that of the exchange.
    granted: [Option<u64>; 2],
    /// The newest is last.
    guests: VecDeque<Guest>,
    events: VecDeque<HostEvent>,
    is_silent: bool,
}

#[derive(Debug)]
struct Guest {
    number: u64,
    resp: Vec<u8>,
    is_due: bool,
}

impl Registration {
    /// A host with a room at `server`. The room is a function of `secret` and the server's address: a host that keeps the
    /// secret finds its room again.
    ///
    /// # Errors
    /// If there are no random bytes.
    pub fn new(server: SocketAddr, secret: &[u8; 32], randomness: Randomness) -> Result<Self, SealError> {
        let server = canonical(server);
        let seed = randomness.bytes(b"registration").ok_or(SealError::NoRandomness)?;
        let identity = Identity::new(secret, server).ok_or(SealError::NoRandomness)?;
        Ok(Self {
            server,
            identity,
            entropy: Entropy::new(u64::from_be_bytes(seed.first_chunk().copied().unwrap_or_default())),
            ticket: None,
            is_renewed: false,
            cookie: HeldCookie::default(),
            exchange: None,
            refresh_at: Time::ZERO,
            granted: [None; 2],
            guests: VecDeque::new(),
            events: VecDeque::new(),
            is_silent: false,
        })
    }

    // Commands.

    /// Sets the ticket that joiners get from the next registration on. The owner should renew it whenever
    /// [`wants_ticket`](Self::wants_ticket) says so; otherwise the old one is registered again.
    pub fn set_ticket(&mut self, ticket: u64) {
        self.ticket = Some(ticket);
        self.is_renewed = true;
    }

    /// Registers again at once, for example because the network has changed.
    pub fn refresh(&mut self) {
        self.exchange = None;
        self.refresh_at = Time::ZERO;
    }

    /// Answers a guest. `false` if the guest is not known any more, or if this is no RESP.
    pub fn answer(&mut self, guest: u64, resp: &[u8]) -> bool {
        let is_resp = LETTER_LEN.contains(&resp.len()) && resp[0] == crate::wire::seal::RESP;
        let known = self.guests.iter_mut().find(|known| known.number == guest);
        let Some(known) = known.filter(|_| is_resp) else { return false };
        known.resp = resp.to_vec();
        known.is_due = true;
        true
    }

    /// Handles a datagram, which counts only if it comes from the server.
    pub fn handle_datagram(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        let now = Time::from(now);
        if canonical(from) != self.server {
            return;
        }
        match decode(datagram) {
            Ok(Packet::Cookie(cookie)) => {
                let asked = self.exchange.as_mut().filter(|exchange| exchange.nonce() == cookie.nonce);
                if let Some(exchange) = asked {
                    exchange.wants_cookie(now);
                    self.cookie = HeldCookie::new(now, cookie.cookie);
                }
            }
            Ok(Packet::Grant(grant)) if self.ends_exchange(grant.nonce) => {
                self.is_silent = false;
                self.is_renewed = false;
                self.granted = [Some(grant.nonce), self.granted[0]];
                self.refresh_at = now + REFRESH_AFTER;
                let credentials = grant.turn.as_ref().map(Credentials::of);
                self.tell(HostEvent::Registered { observed: grant.observed, credentials });
            }
            Ok(Packet::Deliver(deliver)) => self.delivered(&deliver),
            Ok(Packet::Reply(reply)) => {
                if let Outcome::Refused(denial) = reply.outcome
                    && self.ends_exchange(reply.nonce)
                {
                    self.is_silent = false;
                    self.refresh_at = now + RETRY_AFTER;
                    self.tell(HostEvent::Refused(denial));
                }
            }
            _ => {}
        }
    }

    /// Writes the next datagram to send into `buf`, and returns its destination and its length.
    pub fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        let now = Time::from(now);
        if let Some(guest) = self.guests.iter_mut().find(|guest| guest.is_due) {
            guest.is_due = false;
            let packet = Packet::Answer(Answer { guest: guest.number, resp: &guest.resp });
            return Some((self.server, encode(&packet, buf)?));
        }
        let ticket = self.ticket?;
        if self.exchange.is_none() && self.refresh_at <= now {
            self.exchange = Some(Exchange::new(self.entropy.next_u64()));
        }
        let exchange = self.exchange.as_mut()?;
        if exchange.is_silent(now) && !self.is_silent {
            self.is_silent = true;
            self.events.push_back(HostEvent::ServerSilent);
        }
        if !exchange.is_due(now) {
            return None;
        }
        let (nonce, cookie) = (exchange.nonce(), self.cookie.get(now));
        // Without a cookie there is nothing to sign yet.
        let signature = if cookie == 0 { [0; SIGNATURE_LEN] } else { self.identity.sign(cookie, ticket) };
        let packet =
            Packet::Register(Register { nonce, cookie, key: self.identity.key(), ticket, signature });
        Some((self.server, encode(&packet, buf)?))
    }

    /// The next event, in order.
    pub fn poll_event(&mut self) -> Option<HostEvent> {
        self.events.pop_front()
    }

    // Getters.

    /// When to call [`poll_transmit`](Self::poll_transmit) again if no datagram arrives before.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Duration> {
        if self.guests.iter().any(|guest| guest.is_due) {
            return Some(Duration::ZERO);
        }
        self.ticket?;
        self.exchange.as_ref().map_or(self.refresh_at, Exchange::send_at).deadline()
    }

    /// Whether a registration is due that should bring a new ticket.
    #[must_use]
    pub fn wants_ticket(&self, now: Duration) -> bool {
        self.exchange.is_none() && !self.is_renewed && self.refresh_at <= Time::from(now)
    }

    /// The server.
    #[must_use]
    pub fn server(&self) -> SocketAddr {
        self.server
    }

    /// The room at this server, for the invite.
    #[must_use]
    pub fn room(&self) -> Room {
        self.identity.room()
    }

    // Internal.

    fn ends_exchange(&mut self, nonce: u64) -> bool {
        self.exchange.take_if(|exchange| exchange.nonce() == nonce).is_some()
    }

    /// Tells of a guest once. A DELIVER that comes again means that the RESP was lost, if there was one.
    fn delivered(&mut self, deliver: &Deliver<'_>) {
        let asked = self.exchange.as_ref().map(Exchange::nonce);
        if !self.granted.into_iter().chain([asked]).any(|nonce| nonce == Some(deliver.nonce)) {
            return;
        }
        if let Some(known) = self.guests.iter_mut().find(|guest| guest.number == deliver.guest) {
            known.is_due = !known.resp.is_empty();
        } else if self.events.len() < MAX_EVENTS {
            if self.guests.len() == MAX_GUESTS {
                self.guests.pop_front();
            }
            self.guests.push_back(Guest { number: deliver.guest, resp: Vec::new(), is_due: false });
            self.tell(HostEvent::Delivered { guest: deliver.guest, init: deliver.init.to_vec() });
        }
    }

    fn tell(&mut self, event: HostEvent) {
        if self.events.len() < MAX_EVENTS {
            self.events.push_back(event);
        }
    }
}
