//! The guests of a server that wait for the answer of a host: bounded, each forgotten after 12 s.

use crate::peer::cookie::subject;
use crate::peer::keyed_hash::{Key, keyed_hash};
use crate::peer::source::Source;
use crate::time::{Span, Time};
use crate::wire::rendezvous::Room;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

/// A guest waits for this long.
const LIFETIME: Span = Span::from_secs(12);
const SECOND: Span = Span::from_secs(1);
/// A host gets the same INIT again after this long at the earliest.
const REPEAT_AFTER: Span = Span::from_millis(100);
/// New guests of a room in any second: as many as its seal answers.
const MAX_NEW_PER_ROOM: usize = 4;
/// New guests of one source in a room in any second.
const MAX_NEW_PER_SOURCE: usize = 1;
/// Guests of a room. The oldest makes room, after four seconds at the earliest.
const MAX_PER_ROOM: usize = 16;
/// The most answers that a guest gets.
const MAX_ANSWERS: u8 = 8;

/// A joiner that has posted an INIT.
#[derive(Clone, Copy, Debug)]
pub(super) struct Guest {
    pub(super) room: Room,
    pub(super) addr: SocketAddr,
    /// The nonce of its POST.
    pub(super) nonce: u64,
    since: Time,
    repeat_at: Time,
    answers: u8,
}

/// The fate of an INIT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Admission {
    /// It is handed to the host, under this number.
    Deliver(u64),
    /// The host got it just now.
    Repeated,
    /// The room has too many guests.
    Crowded,
}

/// The guests by number, by room, and in the order in which they came.
#[derive(Debug)]
pub(super) struct Guests {
    key: Key,
    entries: BTreeMap<u64, Guest>,
    by_room: BTreeSet<(Room, u64)>,
    by_age: BTreeSet<(Time, u64)>,
    max: usize,
}

impl Guests {
    pub(super) fn new(key: Key, max: usize) -> Self {
        let (entries, by_room, by_age) = Default::default();
        Self { key, entries, by_room, by_age, max }
    }

    /// Takes in an INIT for a room. The same POST again is the same guest; another INIT is another one, whatever its nonce, so that
    /// nobody brings a host more of them than new guests.
    pub(super) fn admit(
        &mut self,
        now: Time,
        room: Room,
        (addr, nonce): (SocketAddr, u64),
        init: &[u8],
    ) -> Admission {
        self.forget(now);
        let number = self.number(&room, addr, nonce, init);
        if let Some(guest) = self.entries.get_mut(&number) {
            if now < guest.repeat_at {
                return Admission::Repeated;
            }
            guest.repeat_at = now + REPEAT_AFTER;
            return Admission::Deliver(number);
        }
        if !self.has_place(now, room, Source::of(addr)) {
            return Admission::Crowded;
        }
        let repeat_at = now + REPEAT_AFTER;
        self.entries.insert(number, Guest { room, addr, nonce, since: now, repeat_at, answers: 0 });
        self.by_room.insert((room, number));
        self.by_age.insert((now, number));
        Admission::Deliver(number)
    }

    /// The guest of this number, if the host of `is_host`'s room may answer it.
    pub(super) fn answer(
        &mut self,
        now: Time,
        number: u64,
        is_host: impl Fn(&Room) -> bool,
    ) -> Option<Guest> {
        self.forget(now);
        let guest = self.entries.get_mut(&number)?;
        if guest.answers >= MAX_ANSWERS || !is_host(&guest.room) {
            return None;
        }
        guest.answers += 1;
        Some(*guest)
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Forgets the guests whose time is over.
    pub(super) fn forget(&mut self, now: Time) {
        while let Some(&(since, number)) = self.by_age.first()
            && now.since(since) >= LIFETIME
        {
            self.remove(number);
        }
    }

    /// When the next guest is forgotten.
    pub(super) fn next_end(&self) -> Option<Time> {
        self.by_age.first().map(|(since, _)| *since + LIFETIME)
    }

    /// Whether a new guest may come. If the room or the server is full the oldest guest makes room.
    fn has_place(&mut self, now: Time, room: Room, source: Source) -> bool {
        let of_room = || self.by_room.range((room, 0)..=(room, u64::MAX)).map(|(_, number)| *number);
        let guests = || of_room().filter_map(|number| self.entries.get(&number));
        let recent = || guests().filter(|guest| now.since(guest.since) < SECOND);
        if recent().count() >= MAX_NEW_PER_ROOM
            || recent().filter(|guest| Source::of(guest.addr) == source).count() >= MAX_NEW_PER_SOURCE
        {
            return false;
        }
        if of_room().count() >= MAX_PER_ROOM {
            let age = |number: &u64| self.entries.get(number).map(|guest| guest.since);
            let oldest = of_room().min_by_key(age);
            oldest.into_iter().for_each(|number| self.remove(number));
        }
        if self.entries.len() >= self.max
            && let Some((_, number)) = self.by_age.first().copied()
        {
            self.remove(number);
        }
        self.entries.len() < self.max
    }

    fn remove(&mut self, number: u64) {
        let Some(guest) = self.entries.remove(&number) else { return };
        self.by_room.remove(&(guest.room, number));
        self.by_age.remove(&(guest.since, number));
    }

    /// The number of a guest, which nobody but its host learns.
    fn number(&self, room: &Room, addr: SocketAddr, nonce: u64, init: &[u8]) -> u64 {
        let subject = subject(addr, nonce);
        let mut bytes = [0; 54];
        bytes[..16].copy_from_slice(room);
        bytes[16..46].copy_from_slice(&subject);
        bytes[46..].copy_from_slice(&keyed_hash(self.key, init).to_be_bytes());
        keyed_hash(self.key, &bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn addr(source: u8) -> SocketAddr {
        ([192, 0, 2, source], 7_000).into()
    }

    fn is_in(admission: Admission) -> bool {
        matches!(admission, Admission::Deliver(_))
    }

    #[test]
    fn a_post_that_is_repeated_is_one_guest() {
        let mut guests = Guests::new((1, 2), 9);
        let first = guests.admit(at(0), [1; 16], (addr(1), 7), b"init");
        assert_eq!(guests.admit(at(50), [1; 16], (addr(1), 7), b"init"), Admission::Repeated);
        assert_eq!(guests.admit(at(200), [1; 16], (addr(1), 7), b"init"), first);
        assert!(is_in(first) && guests.len() == 1);
        assert_eq!(
            guests.admit(at(200), [1; 16], (addr(1), 8), b"init"),
            Admission::Crowded,
            "one a source and second"
        );
        assert_eq!(
            guests.admit(at(400), [1; 16], (addr(1), 7), b"other"),
            Admission::Crowded,
            "another INIT"
        );
    }

    #[test]
    fn a_room_gets_four_new_guests_a_second_and_keeps_sixteen() {
        let mut guests = Guests::new((1, 2), 1_000);
        let admitted = |guests: &mut Guests, ms| {
            (0..50).filter(|from| is_in(guests.admit(at(ms), [1; 16], (addr(*from), ms), b"init"))).count()
        };
        assert_eq!(admitted(&mut guests, 0), 4);
        assert_eq!(admitted(&mut guests, 500), 0);
        for second in 1..10 {
            assert_eq!(admitted(&mut guests, second * 1_000), 4);
        }
        assert_eq!(guests.len(), 16);
        assert!(
            is_in(guests.admit(at(9_500), [2; 16], (addr(1), 1), b"init")),
            "another room is another matter"
        );
    }

    #[test]
    fn the_oldest_guest_makes_room_and_nothing_is_left_behind() {
        let mut guests = Guests::new((1, 2), 3);
        for room in 0..9 {
            assert!(is_in(guests.admit(at(room), [room as u8; 16], (addr(1), 1), b"init")));
        }
        assert_eq!((guests.len(), guests.by_room.len(), guests.by_age.len()), (3, 3, 3));
        guests.forget(at(12_008));
        assert_eq!((guests.len(), guests.by_room.len(), guests.by_age.len()), (0, 0, 0));
    }

    #[test]
    fn only_its_host_answers_a_guest_and_not_for_ever() {
        let mut guests = Guests::new((1, 2), 9);
        let Admission::Deliver(number) = guests.admit(at(0), [1; 16], (addr(1), 7), b"init") else {
            panic!()
        };
        assert!(guests.answer(at(1), number, |room| *room == [2; 16]).is_none());
        assert!(guests.answer(at(1), number ^ 1, |_| true).is_none());
        let answered = (0..20).filter(|_| guests.answer(at(1), number, |room| *room == [1; 16]).is_some());
        assert_eq!(answered.count(), 8);
        assert!(guests.answer(at(12_001), number, |_| true).is_none());
    }
}
