//! The host's side of a rendezvous: it keeps its room open, and answers the guests that are brought there.

use super::answers::Answers;
use super::claims::Claims;
use super::credentials::Credentials;
use super::event::RendezvousEvent;
use super::exchange::Exchange;
use super::identity::Identity;
use super::signed::{Challenge, SignedLog};
use super::standing::Standing;
use super::watch::Watch;
use crate::connect::seal::{Random, Randomness, SealError};
use crate::protocol::canonical;
use crate::protocol::time::{Span, Time};
use crate::wire::rendezvous::{
    Answer, Ask, Cookie, Deliver, Denial, Grant, Outcome, Packet, Room, decode, encode, is_carried,
};
use core::time::Duration;
use std::net::SocketAddr;

/// A registration is refreshed after this long. A server forgets it after 60 s.
const REFRESH_AFTER: Span = Span::from_secs(15);
/// A refused registration is tried again after this long at the earliest, and after three times as long at the latest: hosts
/// that were refused together do not come back together.
const RETRY_AFTER: Span = Span::from_millis(2_500);

/// The host's side of a rendezvous: a state machine without a socket or a clock.
///
/// It sends nothing before it has a [ticket](Self::set_ticket). An open room is registered every 15 s, and asked for every 3 s:
/// a server that has lost it, or sees this host at another address, is told at once.
#[derive(Debug)]
pub struct Registration {
    identity: Identity,
    random: Random,
    ticket: Ticket,
    exchange: Option<Exchange>,
    refresh_at: Time,
    watch: Watch,
    claims: Claims,
    signed: SignedLog,
    standing: Standing,
    answers: Answers,
    /// The address that the first COOKIE of the exchange has named.
    seen: Option<SocketAddr>,
}

/// The ticket that joiners get.
#[derive(Debug, Default)]
struct Ticket {
    number: Option<u64>,
    /// Whether it was set since the last registration.
    is_renewed: bool,
}

impl Registration {
    /// A host with a room at `server`. The room is a function of `secret` and the server's address: a host that keeps the
    /// secret finds its room again.
    ///
    /// # Errors
    /// If there are no random bytes.
    pub fn new(server: SocketAddr, secret: &[u8; 32], randomness: Randomness) -> Result<Self, SealError> {
        Self::of(Identity::new(secret, canonical(server)), randomness)
    }

    /// A host with a room at the server with this name and port. The room is a function of `secret` and the name: it stays when the
    /// server moves to another address.
    ///
    /// # Errors
    /// If there are no random bytes.
    pub fn named(
        server: SocketAddr,
        name: (&str, u16),
        secret: &[u8; 32],
        randomness: Randomness,
    ) -> Result<Self, SealError> {
        Self::of(Identity::named(secret, canonical(server), name), randomness)
    }

    fn of(identity: Option<Identity>, randomness: Randomness) -> Result<Self, SealError> {
        Ok(Self {
            identity: identity.ok_or(SealError::NoRandomness)?,
            random: randomness.generator(b"registration").ok_or(SealError::NoRandomness)?,
            ticket: Ticket::default(),
            exchange: None,
            refresh_at: Time::ZERO,
            watch: Watch::default(),
            claims: Claims::default(),
            signed: SignedLog::default(),
            standing: Standing::new(),
            answers: Answers::default(),
            seen: None,
        })
    }

    // Commands.

    /// Sets the ticket that joiners get from the next registration on. The owner should renew it whenever
    /// [`wants_ticket`](Self::wants_ticket) says so; otherwise the old one is registered again.
    pub fn set_ticket(&mut self, ticket: u64) {
        self.ticket = Ticket { number: Some(ticket), is_renewed: true };
    }

    /// Registers again at once, for example because the network has changed.
    pub fn refresh(&mut self) {
        self.exchange = None;
        self.refresh_at = Time::ZERO;
    }

    /// Asks for the room at once, to learn whether the server sees this host at another address: it then registers again.
    pub fn locate(&mut self) {
        self.watch.hurry();
    }

    /// The address that the first COOKIE of this registration has named, once, until the registration is granted. Anybody on the way
    /// can forge it: it is worth a candidate and no more.
    pub fn take_seen(&mut self) -> Option<SocketAddr> {
        self.seen.take()
    }

    /// Answers a guest. `false` if the guest is not known any more, or if this is neither a RESP nor a SIGNAL.
    pub fn answer(&mut self, guest: u64, signal: &[u8]) -> bool {
        is_carried(crate::wire::seal::RESP, signal) && self.answers.set(guest, signal)
    }

    /// Handles a datagram, which counts only if it comes from the server.
    pub fn handle_datagram(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        let now = Time::from(now);
        if canonical(from) != self.server() {
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
        let (now, server) = (Time::from(now), self.server());
        if let Some((guest, signal)) = self.answers.take_due() {
            return Some((server, encode(&Packet::Answer(Answer { guest, signal: &signal }), buf)?));
        }
        let ticket = self.ticket.number?;
        let (nonce, signed) = if let Some(Challenge { nonce, host, cookie }) = self.signed.take_challenge() {
            (nonce, Some((host, cookie)))
        } else {
            self.notice(now);
            let Some(exchange) = &mut self.exchange else {
                let (nonce, cookie) = self.watch.take_due(now, &mut self.random)?;
                let ask = Ask { nonce, cookie, room: self.room() };
                return Some((server, encode(&Packet::Ask(ask), buf)?));
            };
            if !exchange.is_due(now) {
                return None;
            }
            let (nonce, signed) = (exchange.nonce(), self.claims.choose(now, &mut self.random));
            if let Some((host, _)) = signed {
                self.signed.note(now, nonce, host);
            }
            (nonce, signed)
        };
        let register = self.identity.register(nonce, ticket, signed);
        Some((server, encode(&Packet::Register(register), buf)?))
    }

    /// The next event, in order.
    pub fn poll_event(&mut self) -> Option<RendezvousEvent> {
        self.standing.poll_event()
    }

    // Getters.

    /// When to call [`poll_transmit`](Self::poll_transmit) again if no datagram arrives before.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Duration> {
        if self.answers.is_due() {
            return Some(Duration::ZERO);
        }
        self.ticket.number?;
        if self.signed.is_challenged() {
            return Some(Duration::ZERO);
        }
        let idle_until = self.refresh_at.min(self.watch.deadline());
        let next_at = self.exchange.as_ref().map_or(idle_until, Exchange::send_at);
        next_at.min(self.standing.deadline()).deadline()
    }

    /// Whether a registration is due that should bring a new ticket.
    #[must_use]
    pub fn wants_ticket(&self, now: Duration) -> bool {
        self.exchange.is_none() && !self.ticket.is_renewed && self.refresh_at <= Time::from(now)
    }

    /// The server.
    #[must_use]
    pub fn server(&self) -> SocketAddr {
        self.identity.server()
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
        if self.watch.asks(nonce) {
            if !self.watch.take_cookie(now, observed, cookie) {
                self.refresh();
            }
            return;
        }
        if let Some(exchange) = self.exchange.as_mut().filter(|exchange| exchange.nonce() == nonce) {
            exchange.heard(now);
            if self.claims.is_untouched() {
                self.seen = Some(observed);
            }
            if let Some(at) = self.claims.offer(now, observed, cookie) {
                exchange.wants_cookie(now, at);
            }
            return;
        }
        match self.signed.host(nonce) {
            None => {}
            Some(host) if host != observed => {
                self.claims.contest(observed);
                self.standing.contested(self.claims.contested());
            }
            Some(host) => self.signed.challenged(now, Challenge { nonce, host, cookie }),
        }
    }

    fn granted(&mut self, now: Time, grant: &Grant) {
        if self.watch.asks(grant.nonce) {
            if self.watch.take_grant(now, grant.observed, grant.ticket) {
                let credentials = grant.turn.as_ref().map(Credentials::of);
                self.standing.kept(RendezvousEvent::Registered { observed: grant.observed, credentials });
            } else {
                self.refresh();
            }
            return;
        }
        let is_asked = self.exchange.as_ref().is_some_and(|exchange| exchange.nonce() == grant.nonce);
        if !is_asked || !self.claims.grant(grant.observed) {
            return;
        }
        (self.exchange, self.seen) = (None, None);
        self.watch.begin(now, grant.observed, grant.ticket);
        self.ticket.is_renewed = false;
        let is_contested = self.claims.contested().is_some() && !self.claims.is_settled();
        self.refresh_at = if is_contested { self.retry_at(now) } else { now + REFRESH_AFTER };
        let credentials = grant.turn.as_ref().map(Credentials::of);
        self.standing.granted(now, RendezvousEvent::Registered { observed: grant.observed, credentials });
        self.standing.contested(self.claims.contested());
    }

    /// The exchange goes on: a watcher can send a refusal before the GRANT comes.
    fn refused(&mut self, now: Time, nonce: u64, denial: Denial) {
        let again_at = if denial == Denial::Held { now } else { self.retry_at(now) };
        let asked = self.exchange.as_mut().filter(|exchange| exchange.nonce() == nonce);
        let Some(exchange) = asked else { return };
        exchange.refused(now, again_at);
        self.standing.refused(denial);
    }

    /// Begins an exchange if one is due, and tells of what did not come.
    fn notice(&mut self, now: Time) {
        self.standing.run(now);
        let is_given_up = |exchange: &mut Exchange| self.signed.is_given_up(now, exchange.nonce());
        if self.exchange.take_if(is_given_up).is_some() {
            self.standing.contested(self.claims.contested());
        }
        if self.exchange.is_none() && self.refresh_at <= now {
            self.watch.end();
            self.claims.begin();
            self.standing.begin();
            self.exchange = Some(Exchange::new(self.random.next_u64()));
        }
        if self.exchange.as_ref().is_some_and(|exchange| exchange.is_silent(now)) {
            self.standing.silent();
        }
    }

    fn retry_at(&mut self, now: Time) -> Time {
        let jitter_millis = self.random.next_u64() % (2 * RETRY_AFTER.nanos() / 1_000_000);
        now + RETRY_AFTER + Span::from_millis(jitter_millis)
    }

    /// Tells of a guest once. A DELIVER that comes again means that the answer was lost, if there was one.
    fn delivered(&mut self, deliver: &Deliver<'_>) {
        let Deliver { nonce, guest, signal } = *deliver;
        if self.signed.host(nonce).is_some()
            && self.answers.is_new(guest)
            && self.standing.delivered(guest, signal)
        {
            self.answers.add(guest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVER: ([u8; 4], u16) = ([192, 0, 2, 1], 9);

    fn host() -> Registration {
        let mut host = Registration::new(SERVER.into(), &[7; 32], Randomness::Seeded(1)).unwrap();
        host.set_ticket(1);
        host
    }

    /// The nonce of the REGISTER that the host sends, if it does.
    fn registers(host: &mut Registration, ms: u64) -> Option<u64> {
        let mut buf = [0; 200];
        let (_, len) = host.poll_transmit(Duration::from_millis(ms), &mut buf)?;
        let Ok(Packet::Register(register)) = decode(&buf[..len]) else { panic!("no REGISTER") };
        Some(register.nonce)
    }

    fn say(host: &mut Registration, packet: &Packet<'_>) {
        let mut buf = [0; 200];
        let len = encode(packet, &mut buf).unwrap();
        host.handle_datagram(Duration::ZERO, SERVER.into(), &buf[..len]);
    }

    fn seen_at(host: &mut Registration, nonce: u64, port: u16) {
        let observed = ([192, 0, 2, 7], port).into();
        say(host, &Packet::Cookie(Cookie { nonce, cookie: 5, observed }));
    }

    #[test]
    fn first_cookie_of_a_registration_names_one_address() {
        let mut host = host();
        let nonce = registers(&mut host, 0).unwrap();
        assert_eq!(host.take_seen(), None);
        [7, 66, 67].into_iter().for_each(|port| seen_at(&mut host, nonce, port));
        assert_eq!((host.take_seen(), host.take_seen()), (Some(([192, 0, 2, 7], 7).into()), None));
        seen_at(&mut host, nonce, 68);
        assert_eq!(host.take_seen(), None, "one in each registration");
    }

    #[test]
    fn located_host_asks_at_once_and_registers_if_it_has_moved() {
        let mut host = host();
        let nonce = registers(&mut host, 0).unwrap();
        host.locate();
        assert_eq!(registers(&mut host, 250), Some(nonce), "it is on");
        seen_at(&mut host, nonce, 7);
        assert_eq!(registers(&mut host, 250), Some(nonce));
        let observed = ([192, 0, 2, 7], 7).into();
        say(&mut host, &Packet::Grant(Grant { nonce, observed, ticket: 1, turn: None }));
        assert_eq!((host.take_seen(), registers(&mut host, 1_000)), (None, None), "the grant has named it");
        host.locate();
        let mut buf = [0; 200];
        let (_, len) = host.poll_transmit(Duration::from_millis(1_000), &mut buf).unwrap();
        let Ok(Packet::Ask(ask)) = decode(&buf[..len]) else { panic!("no ASK") };
        seen_at(&mut host, ask.nonce, 8);
        assert!(registers(&mut host, 1_000).is_some_and(|other| other != nonce));
    }
}
