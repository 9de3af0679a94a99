//! The rooms of a server: bounded, each forgotten 60 s after its last registration.

use super::stats::RoomRefusal;
use super::tenancy::{Claim, Claimed, Tenancy};
use crate::channel::bucket::Bucket;
use crate::channel::source::Source;
use crate::protocol::time::{Span, Time};
use crate::protocol::trace;
use crate::wire::rendezvous::Room;
use core::fmt;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

/// A room is forgotten this long after its last registration.
pub(super) const LIFETIME: Span = Span::from_secs(60);
/// A larger network has this many times as many rooms as one source.
const SOURCES_PER_NETWORK: usize = 8;
/// The signatures of an open room that are checked outside of the limits for all: one in 2 s, and three at once.
const CHECK_EVERY: Span = Span::from_secs(2);
const CHECKS: Span = Span::from_secs(6);

/// A room in a log: the first bytes of its name, which tell rooms apart but do not suffice to ask for one.
struct Label<'a>(&'a Room);

impl fmt::Display for Label<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0[..4].iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// An open room.
#[derive(Clone, Debug)]
struct Entry {
    tenancy: Tenancy,
    until: Time,
    opened: Time,
    /// Whether a guest was brought to this room.
    is_used: bool,
    checks: Bucket,
}

impl Entry {
    fn source(&self) -> Source {
        Source::machine(self.tenancy.addr())
    }
}

/// The rooms by name, and in the order in which they are forgotten.
#[derive(Debug)]
pub(super) struct Rooms {
    entries: BTreeMap<Room, Entry>,
    by_end: BTreeSet<(Time, Room)>,
    per_source: BTreeMap<Source, usize>,
    per_network: BTreeMap<Source, usize>,
    max: usize,
    max_per_source: usize,
}

impl Rooms {
    pub(super) fn new(max: usize, max_per_source: usize) -> Self {
        let (entries, by_end, per_source, per_network) = Default::default();
        Self { entries, by_end, per_source, per_network, max, max_per_source }
    }

    /// Whether the signature of a registration may be checked outside of the limits for all: the room is open at this
    /// address, and few were checked lately.
    pub(super) fn may_check(&mut self, now: Time, room: &Room, addr: SocketAddr) -> bool {
        let entry =
            self.entries.get_mut(room).filter(|entry| now < entry.until && entry.tenancy.addr() == addr);
        entry.is_some_and(|entry| entry.checks.take(now))
    }

    /// Opens a room, keeps it open, or moves it.
    pub(super) fn register(&mut self, now: Time, room: Room, claim: Claim) -> Result<Claimed, RoomRefusal> {
        self.forget(now);
        let Some(mut entry) = self.entries.get(&room).cloned() else {
            self.admit(claim.addr)?;
            if self.entries.len() >= self.max && !self.make_room(Source::machine(claim.addr).network()) {
                return Err(RoomRefusal::Full);
            }
            let (tenancy, until) = (Tenancy::new(claim), now + LIFETIME);
            let checks = Bucket::new(CHECK_EVERY, CHECKS);
            self.insert(room, Entry { tenancy, until, opened: now, is_used: false, checks });
            trace::room(&Label(&room), "opened");
            return Ok(Claimed::Opened);
        };
        let claimed = entry.tenancy.claim(now, claim)?;
        match claimed {
            Claimed::Held(_) => {
                self.entries.insert(room, entry);
                return Ok(claimed);
            }
            Claimed::Moved => {
                if Source::machine(claim.addr) != self.entries[&room].source() {
                    self.admit(claim.addr)?;
                }
                trace::room(&Label(&room), "taken over by another address");
            }
            Claimed::Opened | Claimed::Kept => {}
        }
        self.remove(room);
        entry.until = now + LIFETIME;
        self.insert(room, entry);
        Ok(claimed)
    }

    pub(super) fn get(&self, now: Time, room: &Room) -> Option<&Tenancy> {
        self.entries.get(room).filter(|entry| now < entry.until).map(|entry| &entry.tenancy)
    }

    /// A guest was brought to a room.
    pub(super) fn set_used(&mut self, room: &Room) {
        trace::room(&Label(room), "guest brought");
        if let Some(entry) = self.entries.get_mut(room) {
            entry.is_used = true;
        }
    }

    /// Forgets the rooms whose time is over.
    pub(super) fn forget(&mut self, now: Time) {
        while let Some(&(until, room)) = self.by_end.first()
            && until <= now
        {
            trace::room(&Label(&room), "expired");
            self.remove(room);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// When the next room is forgotten.
    pub(super) fn next_end(&self) -> Option<Time> {
        self.by_end.first().map(|(until, _)| *until)
    }

    /// Whether the source and the network of an address may have one more room.
    fn admit(&self, addr: SocketAddr) -> Result<(), RoomRefusal> {
        let source = Source::machine(addr);
        let of_source = self.per_source.get(&source).copied().unwrap_or(0);
        let of_network = self.per_network.get(&source.network()).copied().unwrap_or(0);
        let max_per_network = self.max_per_source.saturating_mul(SOURCES_PER_NETWORK);
        let is_full = of_source >= self.max_per_source || of_network >= max_per_network;
        if is_full { Err(RoomRefusal::Full) } else { Ok(()) }
    }

    /// Closes a room of the network with the most rooms, if `network` has at least two fewer: networks that compete for all
    /// rooms get equal shares. It is a room of the source with the most rooms there, unused if there is one, and the newest.
    fn make_room(&mut self, network: Source) -> bool {
        let own = self.per_network.get(&network).copied().unwrap_or(0);
        let most = self.per_network.iter().max_by_key(|(_, count)| **count);
        let Some((crowded, _)) = most.filter(|(_, count)| **count > own + 1) else { return false };
        let rooms = self.entries.iter().filter(|(_, entry)| entry.source().network() == *crowded);
        let order = |entry: &Entry| (self.per_source.get(&entry.source()), !entry.is_used, entry.opened);
        let closed = rooms.max_by_key(|(_, entry)| order(entry)).map(|(room, _)| *room);
        let closed = closed.inspect(|room| trace::room(&Label(room), "closed for another network"));
        closed.map(|room| self.remove(room)).is_some()
    }

    fn insert(&mut self, room: Room, entry: Entry) {
        let source = entry.source();
        self.by_end.insert((entry.until, room));
        *self.per_source.entry(source).or_default() += 1;
        *self.per_network.entry(source.network()).or_default() += 1;
        self.entries.insert(room, entry);
    }

    fn remove(&mut self, room: Room) {
        let Some(entry) = self.entries.remove(&room) else { return };
        self.by_end.remove(&(entry.until, room));
        let source = entry.source();
        for (counts, source) in [(&mut self.per_source, source), (&mut self.per_network, source.network())] {
            if let Some(count) = counts.get_mut(&source) {
                *count -= 1;
                if *count == 0 {
                    counts.remove(&source);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: u64) -> Time {
        Time::ZERO + Span::from_secs(secs)
    }

    fn addr(source: u8) -> SocketAddr {
        ([192, 0, 2, source], 7_000).into()
    }

    /// An address in a network of its own.
    fn apart(network: u8) -> SocketAddr {
        ([10, network, 0, 1], 7_000).into()
    }

    fn open(rooms: &mut Rooms, secs: u64, room: u8, addr: SocketAddr) -> Result<Claimed, RoomRefusal> {
        rooms.register(at(secs), [room; 16], Claim { addr, nonce: 1, ticket: 2, issued: at(secs) })
    }

    const OPENED: Result<Claimed, RoomRefusal> = Ok(Claimed::Opened);
    const REFRESHED: Result<Claimed, RoomRefusal> = Ok(Claimed::Kept);

    #[test]
    fn room_lives_for_a_minute_and_leaves_nothing_behind() {
        let mut rooms = Rooms::new(9, 9);
        assert_eq!(open(&mut rooms, 0, 1, addr(1)), OPENED);
        assert_eq!(open(&mut rooms, 30, 1, addr(1)), REFRESHED);
        assert_eq!(rooms.get(at(89), &[1; 16]).map(Tenancy::addr), Some(addr(1)));
        assert!(rooms.get(at(90), &[1; 16]).is_none() && rooms.get(at(89), &[2; 16]).is_none());
        assert_eq!(rooms.next_end(), Some(at(90)));
        rooms.forget(at(90));
        assert!(rooms.entries.is_empty() && rooms.by_end.is_empty());
        assert!(rooms.per_source.is_empty() && rooms.per_network.is_empty());
    }

    #[test]
    fn rooms_are_bounded_in_all_and_for_each_source() {
        let mut rooms = Rooms::new(3, 2);
        assert_eq!([open(&mut rooms, 0, 1, addr(1)), open(&mut rooms, 0, 2, addr(1))], [OPENED, OPENED]);
        assert_eq!(open(&mut rooms, 1, 3, addr(1)), Err(RoomRefusal::Full), "of this source");
        assert_eq!(open(&mut rooms, 1, 3, addr(2)), OPENED);
        assert_eq!(open(&mut rooms, 2, 4, addr(3)), Err(RoomRefusal::Full), "in all");
        let refreshes = [open(&mut rooms, 3, 1, addr(1)), open(&mut rooms, 3, 3, addr(2))];
        assert_eq!(refreshes, [REFRESHED, REFRESHED], "those that are open stay open");
        assert_eq!(open(&mut rooms, 60, 4, addr(3)), OPENED, "one was forgotten");
    }

    #[test]
    fn moving_does_not_get_around_the_limit_of_a_source() {
        let mut rooms = Rooms::new(9, 2);
        for room in 1..=2 {
            open(&mut rooms, 0, room, addr(1)).unwrap();
        }
        open(&mut rooms, 0, 3, addr(2)).unwrap();
        let moved: Vec<_> = (1..8).map(|secs| open(&mut rooms, secs, 3, addr(1))).collect();
        assert!(moved.contains(&Err(RoomRefusal::Full)) && !moved.contains(&Ok(Claimed::Moved)), "{moved:?}");
        assert_eq!(rooms.get(at(8), &[3; 16]).map(Tenancy::addr), Some(addr(2)));
    }

    #[test]
    fn move_of_a_room_moves_its_count() {
        let mut rooms = Rooms::new(9, 1);
        open(&mut rooms, 0, 1, addr(1)).unwrap();
        for secs in 1..5 {
            open(&mut rooms, secs, 1, addr(2)).unwrap();
        }
        assert_eq!(rooms.get(at(5), &[1; 16]).map(Tenancy::addr), Some(addr(2)));
        assert_eq!(open(&mut rooms, 5, 2, addr(1)), OPENED);
        assert_eq!(open(&mut rooms, 5, 3, addr(2)), Err(RoomRefusal::Full));
    }

    #[test]
    fn room_moves_to_another_port_of_a_full_source() {
        let mut rooms = Rooms::new(9, 1);
        open(&mut rooms, 0, 1, addr(1)).unwrap();
        let port = SocketAddr::new(addr(1).ip(), 7_001);
        let moved: Vec<_> = (1..5).map(|secs| open(&mut rooms, secs, 1, port)).collect();
        assert_eq!(moved.last(), Some(&Ok(Claimed::Moved)));
        assert_eq!(rooms.get(at(5), &[1; 16]).map(Tenancy::addr), Some(port));
    }

    #[test]
    fn full_server_closes_a_room_of_the_largest_network() {
        let mut rooms = Rooms::new(6, 9);
        open(&mut rooms, 0, 1, apart(1)).unwrap();
        for room in 2..=6 {
            // Room 3 is the oldest of its source, so that the newest unused one is not the last by name.
            let secs = if room == 3 { 1 } else { u64::from(room) };
            open(&mut rooms, secs, room, addr(room / 5)).unwrap();
        }
        // The source of rooms 2 to 4 has the most, and a guest came to the newest of them.
        rooms.set_used(&[4; 16]);
        assert_eq!(open(&mut rooms, 9, 4, addr(0)), REFRESHED, "which does not change that");
        assert_eq!(open(&mut rooms, 10, 7, apart(2)), OPENED);
        assert!(rooms.get(at(10), &[2; 16]).is_none(), "the newest unused one");
        assert_eq!(open(&mut rooms, 10, 8, apart(1)), OPENED, "a network with two fewer");
        assert_eq!(open(&mut rooms, 10, 9, apart(1)), Err(RoomRefusal::Full));
        let left: Vec<u8> = rooms.entries.keys().map(|room| room[0]).collect();
        assert_eq!((left.len(), rooms.len()), (6, 6));
        assert!([1, 7, 8].iter().all(|room| left.contains(room)), "{left:?}");
    }

    #[test]
    fn full_server_gives_a_room_to_a_network_with_two_fewer() {
        let mut rooms = Rooms::new(4, 9);
        for room in 1..=4 {
            open(&mut rooms, 0, room, apart(u8::from(room == 4))).unwrap();
        }
        assert_eq!(open(&mut rooms, 1, 5, apart(1)), OPENED, "1 of 4");
        assert_eq!(open(&mut rooms, 1, 6, apart(1)), Err(RoomRefusal::Full), "2 of 4");
    }

    #[test]
    fn open_room_has_few_signatures_outside_of_the_limits() {
        let mut rooms = Rooms::new(9, 9);
        assert!(!rooms.may_check(at(0), &[1; 16], addr(1)), "no such room");
        open(&mut rooms, 0, 1, addr(1)).unwrap();
        assert!(!rooms.may_check(at(0), &[1; 16], addr(2)), "another address");
        let mut checked = |secs| (0..9).filter(|_| rooms.may_check(at(secs), &[1; 16], addr(1))).count();
        assert_eq!([checked(1), checked(2), checked(3), checked(30)], [3, 0, 1, 3]);
        assert_eq!(checked(59), 3);
        assert_eq!(open(&mut rooms, 59, 1, addr(1)), REFRESHED);
        assert!(!rooms.may_check(at(59), &[1; 16], addr(1)), "a refresh brings no new checks");
        assert!(!rooms.may_check(at(119), &[1; 16], addr(1)), "forgotten");
    }
}
