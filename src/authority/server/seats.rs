//! All seats of a server, found by address, and the queue of those that have something to send.

use super::LeftWhy;
use super::access::Newcomer;
use super::entities::Entities;
use super::event::NoSeat;
use super::log::Log;
use super::ready::Ready;
use super::seat::{Seat, Written};
use crate::Frame;
use crate::authority::Sight;
use crate::authority::config::ServerConfig;
use crate::authority::dialect::{NumberedInput, ServerEnd, Wire};
use crate::channel::cookie::address_bytes;
use crate::channel::keyed_hash::{Key, keyed_hash};
use crate::channel::refusal::Refusal;
use crate::channel::source::Source;
use crate::protocol::time::{Span, Time};
use crate::protocol::trace;
use std::net::SocketAddr;

/// An address as two numbers, which compare in a few instructions: its IP address, and its scope and port.
type AddressKey = (u128, u64);

#[inline]
fn key(addr: SocketAddr) -> AddressKey {
    let (ip, scope) = match addr {
        SocketAddr::V4(addr) => (addr.ip().to_ipv6_mapped(), 0),
        SocketAddr::V6(addr) => (*addr.ip(), addr.scope_id()),
    };
    (ip.to_bits(), u64::from(scope) << 16 | u64::from(addr.port()))
}

/// The seats. All memory is taken at the start.
#[derive(Debug)]
pub(super) struct Seats<W: Wire> {
    seats: Vec<Seat<W>>,
    /// The seats that are not empty, in the order of their addresses.
    by_addr: Vec<(AddressKey, u8)>,
    ready: Ready,
    max_per_source: usize,
    /// Spreads the ids that addresses are offered, so that two who join at once seldom get the same offer.
    spread: Key,
    /// The number of seats whose DISCONNECTs are still being sent.
    leaving: usize,
    /// The inputs of the packet that is taken in.
    inputs: Vec<NumberedInput>,
}

impl<W: Wire> Seats<W> {
    pub(super) fn new(config: &ServerConfig, spread: Key) -> Self {
        let count = usize::from(config.max_clients);
        Self {
            seats: (0..count).map(|_| Seat::empty(config)).collect(),
            by_addr: Vec::with_capacity(count),
            ready: Ready::new(count),
            max_per_source: usize::from(config.max_clients_per_source),
            spread,
            leaving: 0,
            inputs: Vec::with_capacity(256),
        }
    }

    /// The clients that play.
    pub(super) fn playing(&self) -> impl Iterator<Item = &Seat<W>> {
        self.seats.iter().filter(|seat| seat.is_playing())
    }

    pub(super) fn playing_mut(&mut self) -> impl Iterator<Item = &mut Seat<W>> {
        self.seats.iter_mut().filter(|seat| seat.is_playing())
    }

    pub(super) fn of_addr(&self, addr: SocketAddr) -> Option<usize> {
        let at = self.by_addr.binary_search_by_key(&key(addr), |(key, _)| *key).ok()?;
        Some(usize::from(self.by_addr[at].1))
    }

    pub(super) fn first_playing(&self) -> Option<usize> {
        self.seats.iter().position(Seat::is_playing)
    }

    pub(super) fn of_id(&self, id: u8) -> Option<usize> {
        self.seats.iter().position(|seat| seat.is_playing() && seat.id() == id)
    }

    /// The id that a client at `addr` would get now. It stays the same until somebody takes it, so nothing has to be kept
    /// between the offer and the proof. The guests of an encrypted connection are not counted by source: their addresses are
    /// made up.
    pub(super) fn offer(
        &self,
        addr: SocketAddr,
        is_vouched: bool,
        entities: &Entities,
    ) -> Result<u8, NoSeat> {
        if self.by_addr.len() == self.seats.len() {
            return Err(NoSeat::Full);
        }
        if !is_vouched && self.has_many_of_source(addr) {
            return Err(NoSeat::SourceLimit);
        }
        entities.free_for_player(keyed_hash(self.spread, &address_bytes(addr))).ok_or(NoSeat::NoId)
    }

    fn has_many_of_source(&self, addr: SocketAddr) -> bool {
        let source = Source::customer(addr);
        let seated = self.seats.iter().filter(|seat| !seat.is_empty());
        seated.filter(|seat| Source::customer(seat.addr()) == source).count() >= self.max_per_source
    }

    /// An empty seat for a newcomer.
    pub(super) fn seat(&mut self, now: (Time, Time), newcomer: &Newcomer, told: u64) -> Option<&mut Seat<W>> {
        let (at, addr) = (self.seats.iter().position(Seat::is_empty)?, newcomer.addr);
        let place = self.by_addr.partition_point(|(known, _)| *known < key(addr));
        self.by_addr.insert(place, (key(addr), at as u8));
        self.ready.push(at);
        self.seats[at].take(now, newcomer, told);
        trace::seat_given(addr, newcomer.id);
        Some(&mut self.seats[at])
    }

    /// Takes in a datagram of a seat, after which frame `frame` was stepped last.
    pub(super) fn hear(
        &mut self,
        now: (Time, Time),
        at: usize,
        frame: Frame,
        datagram: &[u8],
    ) -> Result<(), Refusal> {
        let seat = &mut self.seats[at];
        let heard = seat.receive(now, frame, datagram, &mut self.inputs);
        if heard == Ok(true) || seat.has_urgent(now.0) {
            self.ready.push(at);
        }
        if self.seats[at].is_empty() {
            self.freed(at);
        }
        heard.map(|_| ())
    }

    /// The first seat from `from` on whose client is to be removed, and why.
    pub(super) fn next_lost(
        &self,
        from: usize,
        now: (Time, Time),
        timeout: Span,
    ) -> Option<(usize, LeftWhy)> {
        (from..self.seats.len()).find_map(|at| Some((at, self.seats[at].lost(now.0, now.1, timeout)?)))
    }

    /// Removes the client of a seat and returns its id; its address is a stranger's again once it was told.
    pub(super) fn remove(&mut self, now: Time, at: usize, why: LeftWhy) -> u8 {
        let seat = &mut self.seats[at];
        seat.leave(now, why);
        let id = seat.id();
        trace::seat_lost(seat.addr(), id, &why);
        self.freed(at);
        id
    }

    /// Notes that a seat was emptied, or is about to be.
    fn freed(&mut self, at: usize) {
        if self.seats[at].is_empty() {
            self.by_addr.retain(|(_, seat)| usize::from(*seat) != at);
        } else {
            self.ready.push(at);
        }
        self.leaving = self.seats.iter().filter(|seat| seat.farewell_due() != Time::NEVER).count();
    }

    /// Packs new records of the log into each client's messages, from seat `from` on, up to a client that is too far behind.
    pub(super) fn read_log(&mut self, from: usize, now: Time, log: &Log) -> Option<usize> {
        (from..self.seats.len()).find(|at| {
            let seat = &mut self.seats[*at];
            if !seat.is_playing() {
                return false;
            }
            let keeps_up = seat.read_log(now, log);
            if keeps_up && seat.has_due(now) {
                self.ready.push(*at);
            }
            !keeps_up
        })
    }

    /// Has everybody send a broadcast, of at most `budget` entities where they travel one by one. `sight` says how well a
    /// player sees an entity.
    pub(super) fn begin_broadcast(
        &mut self,
        prepared: &mut <W::ServerLink as ServerEnd>::Prepared,
        budget: usize,
        sight: impl Fn(u8, u8) -> Sight,
    ) {
        for (at, seat) in self.seats.iter_mut().enumerate().filter(|(_, seat)| seat.is_playing()) {
            seat.begin_broadcast(prepared, budget, &sight);
            self.ready.push(at);
        }
    }

    /// Writes the next datagram of a seat that is ready.
    pub(super) fn write(
        &mut self,
        now: Time,
        prepared: &<W::ServerLink as ServerEnd>::Prepared,
        buf: &mut [u8],
    ) -> Option<(SocketAddr, Written)> {
        if self.farewell_due() <= now {
            (0..self.seats.len())
                .filter(|at| self.seats[*at].farewell_due() <= now)
                .for_each(|at| self.ready.push(at));
        }
        while let Some(at) = self.ready.front() {
            let seat = &mut self.seats[at];
            let addr = seat.addr();
            if let Some(written) = seat.write(now, prepared, buf) {
                if seat.is_empty() {
                    self.freed(at);
                }
                return Some((addr, written));
            }
            self.ready.pop();
        }
        None
    }

    /// The mark up to which everybody has heard everything; `None` if nobody is here.
    pub(super) fn heard_by_all(&self) -> Option<u64> {
        self.playing().map(Seat::heard_mark).min()
    }

    /// When the next goodbye is due.
    pub(super) fn farewell_due(&self) -> Time {
        if self.leaving == 0 {
            return Time::NEVER;
        }
        self.seats.iter().map(Seat::farewell_due).min().unwrap_or(Time::NEVER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authority::GameWire;
    use crate::authority::dialect::Challenges;
    use std::collections::BTreeSet;

    const NOW: (Time, Time) = (Time::ZERO, Time::ZERO);

    fn addr(port: u16) -> SocketAddr {
        SocketAddr::from(([192, 0, 2, 1], port))
    }

    #[test]
    fn other_ip_port_or_scope_is_another_address() {
        let scoped = |scope| std::net::SocketAddrV6::new("fe80::1".parse().unwrap(), 1, 0, scope).into();
        let addrs = [addr(1), addr(2), ([192, 0, 2, 2], 1).into(), scoped(1), scoped(2)];
        assert_eq!(addrs.map(key).into_iter().collect::<BTreeSet<_>>().len(), addrs.len());
    }

    fn seats(max_clients: u8, max_per_source: u8) -> Seats<GameWire> {
        let mut config = ServerConfig::new(1);
        (config.max_clients, config.max_clients_per_source) = (max_clients, max_per_source);
        Seats::new(&config, (1, 2))
    }

    fn seat(seats: &mut Seats<GameWire>, port: u16, id: u8) -> usize {
        let newcomer = Newcomer { addr: addr(port), id, challenges: Challenges::after(0) };
        seats.seat(NOW, &newcomer, id.into()).expect("a seat");
        seats.of_addr(addr(port)).expect("a seat")
    }

    #[test]
    fn ports_of_one_address_are_offered_different_ids() {
        let (seats, entities) = (seats(8, 8), Entities::new());
        let ids: BTreeSet<_> = (0..20).map(|port| seats.offer(addr(port), false, &entities).ok()).collect();
        assert!(ids.len() > 15 && ids.iter().all(Option::is_some), "{ids:?}");
    }

    #[test]
    fn source_gets_its_share_and_a_vouched_guest_every_seat() {
        let (mut seats, entities) = (seats(3, 2), Entities::new());
        for (taken, offered) in [(0, [true, true]), (1, [true, true]), (2, [false, true])] {
            let offers = [false, true].map(|is_vouched| seats.offer(addr(9), is_vouched, &entities).is_ok());
            assert_eq!(offers, offered, "{taken} taken");
            seat(&mut seats, 10 - taken, taken as u8 + 1);
        }
        assert_eq!(seats.offer(addr(9), true, &entities), Err(NoSeat::Full), "no seat is left");
        assert_eq!([8, 9, 10, 11].map(|port| seats.of_addr(addr(port)).is_some()), [true, true, true, false]);
        // An IPv6 source is a /48.
        let (mut seats, v6) = (self::seats(3, 1), |network: u16| {
            SocketAddr::from(([0x2001, 0xDB8, 1, network, 0, 0, 0, 1], 7))
        });
        let newcomer = Newcomer { addr: v6(5), id: 1, challenges: Challenges::after(0) };
        seats.seat(NOW, &newcomer, 0).expect("a seat");
        assert_eq!(seats.offer(v6(6), false, &entities), Err(NoSeat::SourceLimit));
        assert!(seats.offer(addr(9), false, &entities).is_ok());
    }

    #[test]
    fn seat_that_is_left_holds_nobody_up() {
        let mut seats = seats(2, 2);
        let (one, two) = (seat(&mut seats, 1, 5), seat(&mut seats, 2, 9));
        assert_eq!((seats.heard_by_all(), seats.farewell_due()), (Some(5), Time::NEVER));
        assert_eq!(seats.remove(Time::ZERO, one, LeftWhy::Silent), 5);
        assert_eq!((seats.heard_by_all(), seats.farewell_due()), (Some(9), Time::ZERO));
        assert_eq!((seats.of_id(5), seats.of_id(9)), (None, Some(two)));
        assert_eq!(seats.of_addr(addr(1)), Some(one), "until it is empty");
        [one, two].into_iter().for_each(|at| {
            seats.remove(Time::ZERO, at, LeftWhy::Left);
        });
        assert_eq!((seats.heard_by_all(), seats.farewell_due()), (None, Time::NEVER));
        assert_eq!(seats.of_addr(addr(1)), None);
    }
}
