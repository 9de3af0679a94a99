//! The rooms of a server: bounded, each forgotten 60 s after its last registration.

use super::stats::RoomRefusal;
use crate::peer::source::Source;
use crate::time::{Span, Time};
use crate::wire::rendezvous::Room;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

/// A room is forgotten this long after its last registration.
pub(super) const LIFETIME: Span = Span::from_secs(60);

/// The registration of a host.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) addr: SocketAddr,
    /// The nonce of its newest REGISTER.
    pub(super) nonce: u64,
    pub(super) ticket: u64,
    /// When the cookie of that REGISTER was issued. A recorded REGISTER never takes the place of a newer one.
    pub(super) issued: Time,
    until: Time,
}

/// The rooms by name, and in the order in which they are forgotten.
#[derive(Debug)]
pub(super) struct Rooms {
    entries: BTreeMap<Room, Entry>,
    by_end: BTreeSet<(Time, Room)>,
    per_source: BTreeMap<Source, usize>,
    max: usize,
    max_per_source: usize,
}

impl Rooms {
    pub(super) fn new(max: usize, max_per_source: usize) -> Self {
        let (entries, by_end, per_source) = Default::default();
        Self { entries, by_end, per_source, max, max_per_source }
    }

    /// Opens a room, or keeps it open. Returns whether it is new.
    pub(super) fn register(
        &mut self,
        now: Time,
        room: Room,
        addr: SocketAddr,
        (nonce, ticket, issued): (u64, u64, Time),
    ) -> Result<bool, RoomRefusal> {
        self.forget(now);
        let old = self.entries.get(&room).copied();
        if old.is_some_and(|old| issued < old.issued) {
            return Err(RoomRefusal::Stale);
        }
        let source = Source::of(addr);
        let moves = old.is_none_or(|old| Source::of(old.addr) != source);
        let of_source = self.per_source.get(&source).copied().unwrap_or(0);
        if old.is_none() && self.entries.len() >= self.max || moves && of_source >= self.max_per_source {
            return Err(RoomRefusal::Full);
        }
        if let Some(old) = old {
            self.remove(room, &old);
        }
        let until = now + LIFETIME;
        self.entries.insert(room, Entry { addr, nonce, ticket, issued, until });
        self.by_end.insert((until, room));
        *self.per_source.entry(source).or_default() += 1;
        Ok(old.is_none())
    }

    pub(super) fn get(&self, now: Time, room: &Room) -> Option<&Entry> {
        self.entries.get(room).filter(|entry| now < entry.until)
    }

    /// Forgets the rooms whose time is over.
    pub(super) fn forget(&mut self, now: Time) {
        while let Some(&(until, room)) = self.by_end.first()
            && until <= now
        {
            match self.entries.get(&room).copied() {
                Some(old) => self.remove(room, &old),
                None => drop(self.by_end.pop_first()),
            }
        }
    }

    fn remove(&mut self, room: Room, old: &Entry) {
        self.entries.remove(&room);
        self.by_end.remove(&(old.until, room));
        let source = Source::of(old.addr);
        if let Some(count) = self.per_source.get_mut(&source) {
            *count -= 1;
            if *count == 0 {
                self.per_source.remove(&source);
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// When the next room is forgotten.
    pub(super) fn next_end(&self) -> Option<Time> {
        self.by_end.first().map(|(until, _)| *until)
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

    #[test]
    fn a_room_lives_for_a_minute_and_leaves_nothing_behind() {
        let mut rooms = Rooms::new(9, 9);
        assert_eq!(rooms.register(at(0), [1; 16], addr(1), (1, 2, at(0))), Ok(true));
        assert_eq!(rooms.register(at(30), [1; 16], addr(2), (3, 4, at(30))), Ok(false));
        assert_eq!(rooms.get(at(89), &[1; 16]).map(|entry| (entry.addr, entry.ticket)), Some((addr(2), 4)));
        assert!(rooms.get(at(90), &[1; 16]).is_none() && rooms.get(at(89), &[2; 16]).is_none());
        rooms.forget(at(90));
        assert!(rooms.entries.is_empty() && rooms.by_end.is_empty() && rooms.per_source.is_empty());
    }

    #[test]
    fn an_older_cookie_does_not_move_a_room_back() {
        let mut rooms = Rooms::new(9, 9);
        rooms.register(at(10), [1; 16], addr(1), (1, 2, at(9))).unwrap();
        rooms.register(at(11), [1; 16], addr(2), (3, 4, at(10))).unwrap();
        let again = rooms.register(at(12), [1; 16], addr(1), (1, 2, at(9)));
        assert_eq!(again, Err(RoomRefusal::Stale));
        assert_eq!(rooms.get(at(12), &[1; 16]).unwrap().addr, addr(2));
    }

    #[test]
    fn rooms_are_bounded_in_all_and_for_each_source() {
        let mut rooms = Rooms::new(3, 2);
        let mut open = |now, room, from| rooms.register(at(now), [room; 16], addr(from), (1, 2, at(now)));
        assert_eq!([open(0, 1, 1), open(0, 2, 1)], [Ok(true), Ok(true)]);
        assert_eq!(open(1, 3, 1), Err(RoomRefusal::Full), "of this source");
        assert_eq!(open(1, 3, 2), Ok(true));
        assert_eq!(open(2, 4, 3), Err(RoomRefusal::Full), "in all");
        assert_eq!([open(3, 1, 1), open(3, 3, 2)], [Ok(false), Ok(false)], "those that are open stay open");
        assert_eq!(open(3, 3, 1), Err(RoomRefusal::Full), "moving does not get around it");
        assert_eq!(open(60, 4, 3), Ok(true), "one was forgotten");
    }
}
