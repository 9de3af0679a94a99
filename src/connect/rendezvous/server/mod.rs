//! The server of a rendezvous: rooms for hosts, guests that wait for an answer, TURN credentials.
//!
//! | file | has |
//! |---|---|
//! | `rooms.rs`, `tenancy.rs` | the rooms, bounded; the addresses of one: its holder and a rival |
//! | `guests.rs`, `queue.rs` | guests that wait for an answer; sources that wait for a place |
//! | `quota.rs` | limits on the rate of requests |
//! | `grants.rs` | tickets and TURN credentials |
//! | `config.rs`, `stats.rs` | the owner's choices; counters and refusals |

mod config;
mod grants;
mod guests;
mod queue;
mod quota;
mod rooms;
mod stats;
mod tenancy;

pub use config::{RendezvousConfig, TurnService};
pub use stats::{RendezvousStats, RoomRefusal};

use super::credentials::Minter;
use super::identity::{is_signed, room_of};
use crate::channel::cookie::Cookies;
use crate::channel::keyed_hash::Key;
use crate::channel::source::Source;
use crate::connect::seal::Randomness;
use crate::protocol::time::Time;
use crate::protocol::trace;
use crate::protocol::{Protocol, canonical};
use crate::wire::rendezvous::{
    Answer, Ask, Cookie, DecodeError, Deliver, Denial, Grant, MAX_LEN, Outcome, Packet, Post, Register,
    Reply, Room, decode, encode, request_nonce,
};
use crate::wire::stun;
use core::fmt;
use core::time::Duration;
use grants::Grants;
use guests::{Admission, Guests};
use quota::Limits;
use rooms::Rooms;
use std::collections::VecDeque;
use std::net::SocketAddr;
use tenancy::{Claim, Claimed, Tenancy};

/// The most datagrams that wait to be sent: two for each that a driver receives before it sends.
const MAX_OUT: usize = 512;
/// The most meetings that wait for the owner.
const MAX_MEETINGS: usize = 256;

/// A host and a guest that the server has brought together, for a server whose owner has asked to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meeting {
    /// When the host answered.
    pub at: Duration,
    /// The host's address.
    pub host: SocketAddr,
    /// The guest's address.
    pub guest: SocketAddr,
}

/// A rendezvous server: a [`Protocol`] without a socket or a clock.
///
/// It keeps the address of each host for 60 s after its last registration and that of each guest for 12 s, and nothing
/// else of anybody. It never sends more bytes than it got, and to an address that has not echoed a cookie only answers
/// that are shorter than their request.
pub struct RendezvousServer {
    cookies: Cookies,
    grants: Grants,
    rooms: Rooms,
    guests: Guests,
    limits: Limits,
    out: VecDeque<Outgoing>,
    /// The meetings that wait for the owner, if it has asked to be told.
    meetings: Option<VecDeque<Meeting>>,
    stats: RendezvousStats,
}

/// Without anybody's address.
impl fmt::Debug for RendezvousServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RendezvousServer")
            .field("rooms", &self.rooms.len())
            .field("guests", &self.guests.len())
            .field("stats", &self.stats)
            .finish_non_exhaustive()
    }
}

struct Outgoing {
    to: SocketAddr,
    len: usize,
    bytes: [u8; MAX_LEN],
}

impl RendezvousServer {
    /// A server without rooms. `None` if there are no random bytes.
    #[must_use]
    pub fn new(config: RendezvousConfig, randomness: Randomness) -> Option<Self> {
        let key = |name: &[u8]| -> Option<Key> {
            let mut random = randomness.generator(name)?;
            Some((random.next_u64(), random.next_u64()))
        };
        Some(Self {
            cookies: Cookies::with_key(key(b"rendezvous cookies")?),
            rooms: Rooms::new(config.max_rooms, config.max_rooms_per_source),
            guests: Guests::new(key(b"rendezvous guests")?, config.max_guests),
            limits: Limits::new(&config, key)?,
            out: VecDeque::new(),
            meetings: config.reports_meetings.then(VecDeque::new),
            grants: Grants::new(config, key(b"rendezvous grants")?),
            stats: RendezvousStats::default(),
        })
    }

    /// The next meeting, in order. None are kept unless the config asks for it.
    pub fn poll_meeting(&mut self) -> Option<Meeting> {
        self.meetings.as_mut()?.pop_front()
    }

    /// The number of open rooms.
    #[must_use]
    pub fn rooms(&self) -> usize {
        self.rooms.len()
    }

    /// The number of guests that wait for an answer.
    #[must_use]
    pub fn guests(&self) -> usize {
        self.guests.len()
    }

    /// The counters so far.
    #[must_use]
    pub fn stats(&self) -> &RendezvousStats {
        &self.stats
    }

    // Internal.

    fn handle(&mut self, now: Time, from: SocketAddr, datagram: &[u8]) -> Result<(), RoomRefusal> {
        if datagram.first() == Some(&stun::FIRST) {
            return self.binding(now, from, datagram);
        }
        let packet = decode(datagram).map_err(|error| match error {
            DecodeError::Version => RoomRefusal::Version,
            _ => RoomRefusal::Malformed,
        });
        match packet {
            Ok(Packet::Register(register)) => self.register(now, from, &register),
            Ok(Packet::Ask(ask)) => self.ask(now, from, &ask),
            Ok(Packet::Post(post)) => self.post(now, from, &post),
            Ok(Packet::Answer(answer)) => self.answer(now, from, &answer),
            Ok(_) => Err(RoomRefusal::Unexpected),
            Err(refusal) => match request_nonce(datagram).filter(|_| refusal == RoomRefusal::Version) {
                Some(nonce) => self.deny(from, nonce, Denial::Version, refusal),
                None => Err(refusal),
            },
        }
    }

    /// Answers a STUN request with the sender's mapped address, as any STUN server does.
    fn binding(&mut self, now: Time, from: SocketAddr, request: &[u8]) -> Result<(), RoomRefusal> {
        let mut answer = [0; stun::MAX_ANSWER];
        let len = stun::answer(request, from, &mut answer).ok_or(RoomRefusal::Malformed)?;
        if !self.limits.may_bind(now, Source::machine(from)) {
            return Err(RoomRefusal::Busy);
        }
        self.stats.bindings += 1;
        let mut bytes = [0; MAX_LEN];
        bytes[..len].copy_from_slice(&answer[..len]);
        self.push(Outgoing { to: from, len, bytes })
    }

    fn register(&mut self, now: Time, from: SocketAddr, register: &Register) -> Result<(), RoomRefusal> {
        let Register { nonce, cookie, key, ticket, .. } = *register;
        let Some(issued) = self.cookies.issued(now, from, 0, cookie) else {
            return self.cookie(now, from, nonce);
        };
        let room = room_of(&key);
        if !self.rooms.may_check(now, &room, from) && !self.limits.may_register(now, Source::machine(from)) {
            return self.deny(from, nonce, Denial::Busy, RoomRefusal::Busy);
        }
        self.stats.signatures += 1;
        if !is_signed(register, from) {
            return self.deny(from, nonce, Denial::Signature, RoomRefusal::Signature);
        }
        match self.rooms.register(now, room, Claim { addr: from, nonce, ticket, issued }) {
            Ok(Claimed::Opened) => self.stats.rooms_opened += 1,
            Ok(Claimed::Kept | Claimed::Moved) => self.stats.refreshes += 1,
            Ok(Claimed::Held(challenge)) => {
                let held = self.deny(from, nonce, Denial::Held, RoomRefusal::Held);
                if let (Err(RoomRefusal::Held), Some((holder, nonce))) = (held, challenge) {
                    self.cookie(now, holder, nonce)?;
                }
                return held;
            }
            Err(RoomRefusal::Full) => return self.deny(from, nonce, Denial::Full, RoomRefusal::Full),
            Err(refusal) => return Err(refusal),
        }
        self.grant(now, from, nonce, ticket)
    }

    /// Answers alike whether the room exists or not, with the same credentials.
    fn ask(&mut self, now: Time, from: SocketAddr, ask: &Ask) -> Result<(), RoomRefusal> {
        if self.cookies.age(now, from, 0, ask.cookie).is_none() {
            return self.cookie(now, from, ask.nonce);
        }
        self.stats.asks += 1;
        let ticket = self.rooms.get(now, &ask.room).map(Tenancy::ticket);
        let made_up = self.grants.ticket(now, &ask.room);
        self.grant(now, from, ask.nonce, ticket.unwrap_or(made_up))?;
        if ticket.is_none() { Err(RoomRefusal::NoRoom) } else { Ok(()) }
    }

    /// Answers alike whether the room exists or not, and whether the signal is handed on or not.
    fn post(&mut self, now: Time, from: SocketAddr, post: &Post<'_>) -> Result<(), RoomRefusal> {
        if self.cookies.age(now, from, 0, post.cookie).is_none() {
            return self.cookie(now, from, post.nonce);
        }
        if !self.limits.may_post(now, Source::machine(from)) {
            return Err(RoomRefusal::Busy);
        }
        self.send(from, &Packet::Reply(Reply { nonce: post.nonce, outcome: Outcome::Posted }))?;
        let room = self.rooms.get(now, &post.room).ok_or(RoomRefusal::NoRoom)?;
        match self.guests.admit(now, post.room, (from, post.nonce), post.signal) {
            Admission::Deliver { number, repeats } => {
                let (host, nonce) = room.recipient(now, repeats);
                self.rooms.set_used(&post.room);
                self.stats.delivered += 1;
                self.send(host, &Packet::Deliver(Deliver { nonce, guest: number, signal: post.signal }))
            }
            Admission::Repeated => Ok(()),
            Admission::Crowded => Err(RoomRefusal::Crowded),
        }
    }

    fn answer(&mut self, now: Time, from: SocketAddr, answer: &Answer<'_>) -> Result<(), RoomRefusal> {
        let rooms = &self.rooms;
        let is_host = |room: &Room| rooms.get(now, room).is_some_and(|open| open.may_answer(now, from));
        let guest = self.guests.answer(now, answer.guest, is_host).ok_or(RoomRefusal::NoGuest)?;
        self.stats.answered += 1;
        if let Some(meetings) = self.meetings.as_mut().filter(|meetings| meetings.len() < MAX_MEETINGS) {
            meetings.push_back(Meeting { at: now.into(), host: from, guest: guest.addr });
        }
        let outcome = Outcome::Answered(answer.signal);
        self.send(guest.addr, &Packet::Reply(Reply { nonce: guest.nonce, outcome }))
    }

    fn cookie(&mut self, now: Time, from: SocketAddr, nonce: u64) -> Result<(), RoomRefusal> {
        self.stats.cookies += 1;
        let cookie = self.cookies.issue(now, from, 0);
        self.send(from, &Packet::Cookie(Cookie { nonce, cookie, observed: from }))
    }

    /// Tells a sender of a refusal, and refuses.
    fn deny(
        &mut self,
        to: SocketAddr,
        nonce: u64,
        denial: Denial,
        refusal: RoomRefusal,
    ) -> Result<(), RoomRefusal> {
        self.send(to, &Packet::Reply(Reply { nonce, outcome: Outcome::Refused(denial) }))?;
        Err(refusal)
    }

    fn grant(&mut self, now: Time, to: SocketAddr, nonce: u64, ticket: u64) -> Result<(), RoomRefusal> {
        self.stats.grants += 1;
        let turn = self.grants.turn(now, Source::machine(to));
        self.send(to, &Packet::Grant(Grant { nonce, observed: to, ticket, turn }))
    }

    fn send(&mut self, to: SocketAddr, packet: &Packet<'_>) -> Result<(), RoomRefusal> {
        let mut bytes = [0; MAX_LEN];
        let len = encode(packet, &mut bytes).ok_or(RoomRefusal::Overflow)?;
        self.push(Outgoing { to, len, bytes })
    }

    fn push(&mut self, outgoing: Outgoing) -> Result<(), RoomRefusal> {
        if self.out.len() >= MAX_OUT {
            return Err(RoomRefusal::Overflow);
        }
        self.out.push_back(outgoing);
        Ok(())
    }
}

impl Protocol for RendezvousServer {
    fn handle_datagram(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        self.stats.bytes_received += datagram.len() as u64;
        if let Err(refusal) = self.handle(Time::from(now), canonical(from), datagram) {
            self.stats.refuse(refusal);
            trace::refused(from, &refusal, &"rendezvous");
        }
    }

    fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        let now = Time::from(now);
        self.rooms.forget(now);
        self.guests.forget(now);
        let next = self.out.pop_front()?;
        buf.get_mut(..next.len)?.copy_from_slice(&next.bytes[..next.len]);
        self.stats.bytes_sent += next.len as u64;
        Some((next.to, next.len))
    }

    /// When the next room or guest is forgotten: addresses are not kept for longer than promised.
    fn poll_timeout(&self) -> Option<Duration> {
        if !self.out.is_empty() {
            return Some(Duration::ZERO);
        }
        let ends = self.rooms.next_end().into_iter().chain(self.guests.next_end());
        ends.min().and_then(Time::deadline)
    }
}
