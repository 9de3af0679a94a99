//! All seats of a server, found by address, and the queue of those that have something to send.

use super::entities::Entities;
use super::seat::Seat;
use crate::authority::config::ServerConfig;
use crate::authority::dialect::{Challenges, SpeaksToClient};
use crate::channel::keyed_hash::{Key, keyed_hash};
use crate::channel::source::Source;
use crate::protocol::time::{Span, Time};
use std::collections::VecDeque;
use std::net::SocketAddr;

/// The seats. All memory is taken at the start.
#[derive(Debug)]
pub(super) struct Seats {
    seats: Vec<Seat>,
    /// The seats that are not empty, by address, in order.
    by_addr: Vec<(SocketAddr, u8)>,
    /// Seats that have something to send, each at most once.
    ready: VecDeque<u8>,
    max_per_source: usize,
    /// Spreads the ids that addresses are offered, so that two who join at once seldom get the same offer.
    spread: Key,
    /// The number of seats whose DISCONNECTs are still being sent.
    leaving: usize,
}

impl Seats {
    pub(super) fn new(config: &ServerConfig, spread: Key) -> Self {
        let count = usize::from(config.max_clients);
        let frame_span = Span::from_secs(1) / u32::from(config.frame_rate);
        Self {
            seats: (0..count).map(|_| Seat::empty(config, frame_span)).collect(),
            by_addr: Vec::with_capacity(count),
            ready: VecDeque::with_capacity(count),
            max_per_source: usize::from(config.max_clients_per_source),
            spread,
            leaving: 0,
        }
    }

    pub(super) fn all(&self) -> &[Seat] {
        &self.seats
    }

    pub(super) fn all_mut(&mut self) -> &mut [Seat] {
        &mut self.seats
    }

    pub(super) fn of_addr(&self, addr: SocketAddr) -> Option<usize> {
        let at = self.by_addr.binary_search_by_key(&addr, |(addr, _)| *addr).ok()?;
        Some(usize::from(self.by_addr[at].1))
    }

    pub(super) fn of_id(&self, id: u8) -> Option<usize> {
        self.seats.iter().position(|seat| seat.is_playing() && seat.id == id)
    }

    /// The id that a client at `addr` would get now; `None` if there is no seat or no id, or if its source has as many seats
    /// as one may have. It stays the same until somebody takes it, so nothing has to be kept between the offer and the
    /// proof. The guests of an encrypted connection are not counted by source: their addresses are made up.
    pub(super) fn offer(&self, addr: SocketAddr, is_vouched: bool, entities: &Entities) -> Option<u8> {
        if self.by_addr.len() == self.seats.len() || !is_vouched && self.has_many_of_source(addr) {
            return None;
        }
        let ip = match addr {
            SocketAddr::V4(v4) => v4.ip().to_ipv6_mapped(),
            SocketAddr::V6(v6) => *v6.ip(),
        };
        let mut bytes = [0; 18];
        bytes[..16].copy_from_slice(&ip.octets());
        bytes[16..].copy_from_slice(&addr.port().to_be_bytes());
        entities.free_for_player(keyed_hash(self.spread, &bytes))
    }

    fn has_many_of_source(&self, addr: SocketAddr) -> bool {
        let source = Source::customer(addr);
        let of_source = self.by_addr.iter().filter(|(known, _)| Source::customer(*known) == source).count();
        of_source >= self.max_per_source
    }

    /// An empty seat for an address that has shown by these challenges that it receives; its link begins after them.
    pub(super) fn seat(
        &mut self,
        now: Time,
        addr: SocketAddr,
        id: u8,
        challenges: &Challenges,
        told: u64,
    ) -> Option<usize> {
        let at = self.seats.iter().position(Seat::is_empty)?;
        let seat = &mut self.seats[at];
        seat.link.begin(now, id, challenges);
        seat.take(now, addr, id, told);
        let place = self.by_addr.partition_point(|(known, _)| *known < addr);
        self.by_addr.insert(place, (addr, at as u8));
        Some(at)
    }

    /// Notes that a seat was emptied, or is about to be: its address is a stranger's again once it is empty. Until then
    /// its goodbyes are due.
    pub(super) fn freed(&mut self, at: usize) {
        if self.seats[at].is_empty() {
            self.by_addr.retain(|(_, seat)| usize::from(*seat) != at);
        }
        self.leaving = self.seats.iter().filter(|seat| seat.farewell_due() != Time::NEVER).count();
    }

    pub(super) fn make_ready(&mut self, at: usize) {
        if !core::mem::replace(&mut self.seats[at].ready, true) {
            self.ready.push_back(at as u8);
        }
    }

    /// The seat that is next to send.
    pub(super) fn next_ready(&self) -> Option<usize> {
        self.ready.front().map(|at| usize::from(*at))
    }

    /// The seat that was next has nothing more to send.
    pub(super) fn sent_all(&mut self) {
        if let Some(at) = self.ready.pop_front() {
            self.seats[usize::from(at)].ready = false;
        }
    }

    /// The mark up to which everybody has heard everything; `None` if nobody is here.
    pub(super) fn heard_by_all(&self) -> Option<u64> {
        self.seats.iter().filter(|seat| seat.is_playing()).map(Seat::heard_mark).min()
    }

    /// When the next goodbye is due.
    pub(super) fn farewell_due(&self) -> Time {
        if self.leaving == 0 {
            return Time::NEVER;
        }
        self.seats.iter().map(Seat::farewell_due).min().unwrap_or(Time::NEVER)
    }

    /// Lets everybody send whose goodbye is due.
    pub(super) fn ready_farewells(&mut self, now: Time) {
        for at in 0..self.seats.len() {
            if self.seats[at].farewell_due() <= now {
                self.make_ready(at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn addr(port: u16) -> SocketAddr {
        SocketAddr::from(([192, 0, 2, 1], port))
    }

    fn seats(max_clients: u8, max_per_source: u8) -> Seats {
        let mut config = ServerConfig::new(1);
        (config.max_clients, config.max_clients_per_source) = (max_clients, max_per_source);
        Seats::new(&config, (1, 2))
    }

    fn seat(seats: &mut Seats, port: u16, id: u8) -> usize {
        seats.seat(Time::ZERO, addr(port), id, &Challenges::after(0), 0).expect("a seat")
    }

    #[test]
    fn ports_of_one_address_are_offered_different_ids() {
        let (seats, entities) = (seats(8, 8), Entities::new());
        let ids: BTreeSet<_> = (0..20).map(|port| seats.offer(addr(port), false, &entities)).collect();
        assert!(ids.len() > 15 && !ids.contains(&None), "{ids:?}");
    }

    #[test]
    fn source_gets_its_share_and_a_vouched_guest_every_seat() {
        let (mut seats, entities) = (seats(3, 2), Entities::new());
        for (taken, offered) in [(0, [true, true]), (1, [true, true]), (2, [false, true])] {
            let offers =
                [false, true].map(|is_vouched| seats.offer(addr(9), is_vouched, &entities).is_some());
            assert_eq!(offers, offered, "{taken} taken");
            seat(&mut seats, 10 - taken, taken as u8 + 1);
        }
        assert_eq!(seats.offer(addr(9), true, &entities), None, "no seat is left");
        assert_eq!([8, 9, 10, 11].map(|port| seats.of_addr(addr(port)).is_some()), [true, true, true, false]);
        // An IPv6 source is a /48.
        let (mut seats, v6) = (self::seats(3, 1), |network: u16| {
            SocketAddr::from(([0x2001, 0xDB8, 1, network, 0, 0, 0, 1], 7))
        });
        seats.seat(Time::ZERO, v6(5), 1, &Challenges::after(0), 0).expect("a seat");
        assert_eq!(seats.offer(v6(6), false, &entities), None);
        assert!(seats.offer(addr(9), false, &entities).is_some());
    }

    #[test]
    fn seat_waits_to_send_once_and_again_after_it_has_sent() {
        let mut seats = seats(2, 2);
        for _ in 0..2 {
            [1, 0, 1, 0].into_iter().for_each(|at| seats.make_ready(at));
            let ready = [(); 3].map(|()| {
                let at = seats.next_ready();
                seats.sent_all();
                at
            });
            assert_eq!(ready, [Some(1), Some(0), None]);
        }
    }

    #[test]
    fn seat_that_is_left_holds_nobody_up() {
        let mut seats = seats(2, 2);
        let (one, two) = (seat(&mut seats, 1, 1), seat(&mut seats, 2, 2));
        (seats.seats[one].told, seats.seats[two].told) = (5, 9);
        assert_eq!((seats.heard_by_all(), seats.farewell_due()), (Some(5), Time::NEVER));
        seats.seats[one].begin_leaving(Time::ZERO);
        seats.freed(one);
        assert_eq!((seats.heard_by_all(), seats.farewell_due()), (Some(9), Time::ZERO));
        assert_eq!((seats.of_id(1), seats.of_id(2)), (None, Some(two)));
        assert_eq!(seats.of_addr(addr(1)), Some(one), "until it is empty");
        [one, two].into_iter().for_each(|at| {
            seats.seats[at].clear();
            seats.freed(at);
        });
        assert_eq!((seats.heard_by_all(), seats.farewell_due()), (None, Time::NEVER));
        assert_eq!(seats.of_addr(addr(1)), None);
    }
}
