//! The host's side of a rendezvous: it keeps its room open, and answers the guests that are brought there.

use super::claims::Claims;
use super::credentials::Credentials;
use super::exchange::Exchange;
use super::identity::Identity;
use crate::connect::seal::{Random, Randomness, SealError};
use crate::protocol::canonical;
use crate::protocol::time::{Span, Time};
use crate::wire::rendezvous::{
    Answer, Cookie, Deliver, Denial, Grant, Outcome, Packet, Room, SIGNAL_LEN, decode, encode,
};
use core::time::Duration;
use std::collections::VecDeque;
use std::net::SocketAddr;

/// A registration is refreshed after this long. A server forgets it after 60 s.
const REFRESH_AFTER: Span = Span::from_secs(15);
/// A server forgets a room this long after its last registration.
const ROOM_FOR: Span = Span::from_secs(60);
/// A refused registration is tried again after this long at the earliest, and after three times as long at the latest: hosts
/// that were refused together do not come back together.
const RETRY_AFTER: Span = Span::from_millis(2_500);
/// A signed registration that is not granted for this long is given up for a new one, which may sign for another address.
const GIVE_UP_AFTER: Span = Span::from_secs(8);
/// Challenges are answered this long apart.
const CHALLENGE_AFTER: Span = Span::from_millis(100);
/// The most signed registrations that are remembered, which are those of the last minute.
const MAX_SIGNED: usize = 16;
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
    /// The server refuses the room, told once for each reason until the room is open. It is asked again every few seconds.
    Refused(Denial),
    /// The server has answered nothing for five seconds. It is asked on.
    ServerSilent,
    /// The room has had no grant for 60 s, and the server has forgotten it. Registering goes on.
    Lapsed {
        /// The newest refusal since the last grant, if there was one.
        why: Option<Denial>,
    },
    /// This host is said to be seen at two addresses at once: somebody forges packets of the server, and guests may not
    /// find the room. Told with each registration for which that is so.
    Contested {
        /// The address that was signed.
        signed: SocketAddr,
        /// Another address that was named.
        other: SocketAddr,
    },
}

/// The host's side of a rendezvous: a state machine without a socket or a clock.
///
/// It sends nothing before it has a [ticket](Self::set_ticket).
#[derive(Debug)]
pub struct Registration {
    server: SocketAddr,
    identity: Identity,
    random: Random,
    ticket: Option<u64>,
    /// Whether the ticket was set since the last registration.
    is_renewed: bool,
    exchange: Option<Exchange>,
    refresh_at: Time,
    claims: Claims,
    /// The newest registrations that were signed. The newest is last.
    signed: VecDeque<Signed>,
    challenges: Challenges,
    standing: Standing,
    /// The newest is last.
    guests: VecDeque<Guest>,
    events: VecDeque<HostEvent>,
}

/// A registration that was signed: a server has it, even if its GRANT was lost. A DELIVER has the nonce of one of them.
#[derive(Clone, Copy, Debug)]
struct Signed {
    nonce: u64,
    host: SocketAddr,
    at: Time,
}

/// The server asks whether the address of a registration still receives.
#[derive(Debug, Default)]
struct Challenges {
    /// The nonce of the registration, its address, and the cookie to sign.
    asked: Option<(u64, SocketAddr, u64)>,
    next_at: Time,
}

/// How the server has treated the room, as the owner was told.
#[derive(Debug)]
struct Standing {
    is_silent: bool,
    /// The newest refusal since the last grant.
    denied: Option<Denial>,
    lapses_at: Time,
    /// Whether the contest of this exchange was told.
    told_contest: bool,
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
        let identity = Identity::new(secret, server).ok_or(SealError::NoRandomness)?;
        Ok(Self {
            server,
            identity,
            random: randomness.generator(b"registration").ok_or(SealError::NoRandomness)?,
            ticket: None,
            is_renewed: false,
            exchange: None,
            refresh_at: Time::ZERO,
            claims: Claims::default(),
            signed: VecDeque::new(),
            challenges: Challenges::default(),
            standing: Standing {
                is_silent: false,
                denied: None,
                lapses_at: Time::NEVER,
                told_contest: false,
            },
            guests: VecDeque::new(),
            events: VecDeque::new(),
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
        let is_resp = SIGNAL_LEN.contains(&resp.len()) && resp[0] == crate::wire::seal::RESP;
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
            Ok(Packet::Cookie(cookie)) => self.cookie(now, &cookie),
            Ok(Packet::Grant(grant)) => self.granted(now, &grant),
            Ok(Packet::Deliver(deliver)) => self.delivered(&deliver),
            Ok(Packet::Reply(reply)) => {
                if let Outcome::Refused(denial) = reply.outcome {
                    self.refused(now, reply.nonce, denial);
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
        if let Some((nonce, host, cookie)) = self.challenges.asked.take() {
            let register = self.identity.register(nonce, ticket, Some((host, cookie)));
            return Some((self.server, encode(&Packet::Register(register), buf)?));
        }
        self.notice(now);
        let exchange = self.exchange.as_mut()?;
        if !exchange.is_due(now) {
            return None;
        }
        let nonce = exchange.nonce();
        let signed = self.claims.choose(now, &mut self.random);
        if let Some((host, _)) = signed
            && self.signed.back().is_none_or(|last| last.nonce != nonce)
        {
            if self.signed.len() == MAX_SIGNED {
                self.signed.pop_front();
            }
            self.signed.push_back(Signed { nonce, host, at: now });
        }
        let register = self.identity.register(nonce, ticket, signed);
        Some((self.server, encode(&Packet::Register(register), buf)?))
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
        if self.challenges.asked.is_some() {
            return Some(Duration::ZERO);
        }
        let next_at = self.exchange.as_ref().map_or(self.refresh_at, Exchange::send_at);
        next_at.min(self.standing.lapses_at).deadline()
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

    /// A COOKIE for the exchange, or a challenge of an address that was signed.
    fn cookie(&mut self, now: Time, cookie: &Cookie) {
        let Cookie { nonce, cookie, observed } = *cookie;
        if let Some(exchange) = self.exchange.as_mut().filter(|exchange| exchange.nonce() == nonce) {
            exchange.heard(now);
            if let Some(at) = self.claims.offer(now, observed, cookie) {
                exchange.wants_cookie(now, at);
            }
            return;
        }
        let Some(signed) = self.signed.iter().find(|signed| signed.nonce == nonce) else { return };
        if signed.host != observed {
            self.claims.contest(observed);
            self.tell_contest();
        } else if self.challenges.next_at <= now {
            self.challenges =
                Challenges { asked: Some((nonce, observed, cookie)), next_at: now + CHALLENGE_AFTER };
        }
    }

    fn granted(&mut self, now: Time, grant: &Grant) {
        let is_asked = self.exchange.as_ref().is_some_and(|exchange| exchange.nonce() == grant.nonce);
        if !is_asked || !self.claims.grant(grant.observed) {
            return;
        }
        self.exchange = None;
        self.is_renewed = false;
        (self.standing.is_silent, self.standing.denied) = (false, None);
        self.standing.lapses_at = now + ROOM_FOR;
        let is_contested = self.claims.contested().is_some() && !self.claims.is_settled();
        self.refresh_at = if is_contested { self.retry_at(now) } else { now + REFRESH_AFTER };
        let credentials = grant.turn.as_ref().map(Credentials::of);
        self.tell(HostEvent::Registered { observed: grant.observed, credentials });
        self.tell_contest();
    }

    /// The exchange goes on: a watcher can send a refusal before the GRANT comes.
    fn refused(&mut self, now: Time, nonce: u64, denial: Denial) {
        let again_at = if denial == Denial::Held { now } else { self.retry_at(now) };
        let asked = self.exchange.as_mut().filter(|exchange| exchange.nonce() == nonce);
        let Some(exchange) = asked else { return };
        exchange.refused(now, again_at);
        self.standing.is_silent = false;
        if self.standing.denied.replace(denial) != Some(denial) {
            self.tell(HostEvent::Refused(denial));
        }
    }

    /// Begins an exchange if one is due, and tells of what did not come.
    fn notice(&mut self, now: Time) {
        if self.standing.lapses_at <= now {
            self.standing.lapses_at = Time::NEVER;
            self.tell(HostEvent::Lapsed { why: self.standing.denied });
        }
        let newest = self.signed.back().copied();
        let is_given_up = |exchange: &mut Exchange| {
            newest.is_some_and(|signed| {
                signed.nonce == exchange.nonce() && now.since(signed.at) >= GIVE_UP_AFTER
            })
        };
        if self.exchange.take_if(is_given_up).is_some() {
            self.tell_contest();
        }
        if self.exchange.is_none() && self.refresh_at <= now {
            self.claims.begin();
            self.standing.told_contest = false;
            self.exchange = Some(Exchange::new(self.random.next_u64()));
        }
        if !self.standing.is_silent && self.exchange.as_ref().is_some_and(|exchange| exchange.is_silent(now))
        {
            self.standing.is_silent = true;
            self.tell(HostEvent::ServerSilent);
        }
    }

    fn retry_at(&mut self, now: Time) -> Time {
        let jitter_millis = self.random.next_u64() % (2 * RETRY_AFTER.nanos() / 1_000_000);
        now + RETRY_AFTER + Span::from_millis(jitter_millis)
    }

    fn tell_contest(&mut self) {
        if let Some((signed, other)) = self.claims.contested()
            && !self.standing.told_contest
        {
            self.standing.told_contest = true;
            self.tell(HostEvent::Contested { signed, other });
        }
    }

    /// Tells of a guest once. A DELIVER that comes again means that the RESP was lost, if there was one.
    fn delivered(&mut self, deliver: &Deliver<'_>) {
        if !self.signed.iter().any(|signed| signed.nonce == deliver.nonce) {
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
