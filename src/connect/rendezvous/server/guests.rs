//! The guests of a server that wait for the answer of a host: bounded, each forgotten after 12 s.

use super::queue::Queues;
use crate::channel::cookie::subject;
use crate::channel::keyed_hash::{Key, keyed_hash};
use crate::channel::source::Source;
use crate::protocol::time::{Span, Time};
use crate::wire::rendezvous::Room;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

/// A guest waits for this long.
const LIFETIME: Span = Span::from_secs(12);
const SECOND: Span = Span::from_secs(1);
/// A host gets the same signal again after this long at the earliest.
const REPEAT_AFTER: Span = Span::from_millis(100);
/// New guests of a room in any three seconds. Its seal keeps 16 handshakes open, for 12 s each: more would reach the host
/// and be refused there.
const MAX_NEW_PER_ROOM: usize = 4;
const NEW: Span = Span::from_secs(3);
/// New guests of one source in a room in any second.
const MAX_NEW_PER_SOURCE: usize = 1;
/// Guests of one source in a room. A joiner without an answer posts a new INIT every four seconds.
const MAX_PER_SOURCE: usize = 3;
/// Guests of one larger network in a room.
const MAX_PER_NETWORK: usize = 12;
/// The most answers that a guest gets.
const MAX_ANSWERS: u8 = 32;

/// A joiner that has posted a signal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Guest {
    pub(super) room: Room,
    pub(super) addr: SocketAddr,
    /// The nonce of its POST.
    pub(super) nonce: u64,
    since: Time,
    repeat_at: Time,
    repeats: u32,
    answers: u8,
}

/// The fate of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Admission {
    /// It is handed to the host, under this number, after this many times before.
    Deliver { number: u64, repeats: u32 },
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
    queues: Queues,
    max: usize,
}

impl Guests {
    pub(super) fn new(key: Key, max: usize) -> Self {
        let (entries, by_room, by_age) = Default::default();
        Self { key, entries, by_room, by_age, queues: Queues::new(max), max }
    }

    /// Takes in a signal for a room. The same POST again is the same guest; another signal is another one even with the same nonce, so that
    /// a host gets no more signals than new guests.
    pub(super) fn admit(
        &mut self,
        now: Time,
        room: Room,
        (addr, nonce): (SocketAddr, u64),
        signal: &[u8],
    ) -> Admission {
        self.forget(now);
        let number = self.number(&room, addr, nonce, signal);
        if let Some(guest) = self.entries.get_mut(&number) {
            if now < guest.repeat_at {
                return Admission::Repeated;
            }
            guest.repeat_at = now + REPEAT_AFTER;
            guest.repeats += 1;
            return Admission::Deliver { number, repeats: guest.repeats };
        }
        if !self.has_place(now, room, Source::machine(addr)) {
            return Admission::Crowded;
        }
        let repeat_at = now + REPEAT_AFTER;
        let guest = Guest { room, addr, nonce, since: now, repeat_at, repeats: 0, answers: 0 };
        self.entries.insert(number, guest);
        self.by_room.insert((room, number));
        self.by_age.insert((now, number));
        Admission::Deliver { number, repeats: 0 }
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
        self.queues.forget(now);
        while let Some(&(since, number)) = self.by_age.first()
            && now.since(since) >= LIFETIME
        {
            self.remove(number);
        }
    }

    /// When the next guest is forgotten.
    pub(super) fn next_end(&self) -> Option<Time> {
        let guest = self.by_age.first().map(|(since, _)| *since + LIFETIME);
        guest.into_iter().chain(self.queues.next_end()).min()
    }

    /// Whether a new guest may come. Sources that compete for the places of a room get them in turn. If the server is full
    /// its oldest guest makes room.
    fn has_place(&mut self, now: Time, room: Room, source: Source) -> bool {
        let of_room = self.by_room.range((room, 0)..=(room, u64::MAX));
        let guests = of_room.filter_map(|(_, number)| self.entries.get(number));
        let guests: Vec<(Source, Span)> =
            guests.map(|guest| (Source::machine(guest.addr), now.since(guest.since))).collect();
        let count = |which: &dyn Fn(Source, Span) -> bool| {
            guests.iter().filter(|(source, age)| which(*source, *age)).count()
        };
        if count(&|one, age| one == source && age < SECOND) >= MAX_NEW_PER_SOURCE
            || count(&|one, _| one == source) >= MAX_PER_SOURCE
        {
            return false;
        }
        let free = MAX_NEW_PER_ROOM.saturating_sub(count(&|_, age| age < NEW));
        let is_blocked =
            |source: Source| count(&|one, _| one.network() == source.network()) >= MAX_PER_NETWORK;
        if !self.queues.is_turn(now, room, source, free, is_blocked) {
            return false;
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

    /// The number of a guest, which only its host learns.
    fn number(&self, room: &Room, addr: SocketAddr, nonce: u64, signal: &[u8]) -> u64 {
        let subject = subject(addr, nonce);
        let mut bytes = [0; 54];
        bytes[..16].copy_from_slice(room);
        bytes[16..46].copy_from_slice(&subject);
        bytes[46..].copy_from_slice(&keyed_hash(self.key, signal).to_be_bytes());
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
        matches!(admission, Admission::Deliver { .. })
    }

    #[test]
    fn post_that_is_repeated_is_one_guest() {
        let mut guests = Guests::new((1, 2), 9);
        let first = guests.admit(at(0), [1; 16], (addr(1), 7), b"init");
        assert_eq!(guests.admit(at(50), [1; 16], (addr(1), 7), b"init"), Admission::Repeated);
        let Admission::Deliver { number, repeats: 0 } = first else { panic!("{first:?}") };
        for (ms, repeats) in [(100, 1), (200, 2)] {
            let again = guests.admit(at(ms), [1; 16], (addr(1), 7), b"init");
            assert_eq!(again, Admission::Deliver { number, repeats });
            assert_eq!(guests.admit(at(ms + 99), [1; 16], (addr(1), 7), b"init"), Admission::Repeated);
        }
        assert_eq!(guests.len(), 1);
        assert_eq!(
            guests.admit(at(400), [1; 16], (addr(1), 8), b"init"),
            Admission::Crowded,
            "one a source and second"
        );
        assert_eq!(
            guests.admit(at(400), [1; 16], (addr(1), 7), b"other"),
            Admission::Crowded,
            "another INIT"
        );
    }

    /// The address of a machine in a network of its own.
    fn apart(number: u8) -> SocketAddr {
        ([10, number, 0, 1], 7_000).into()
    }

    #[test]
    fn room_gets_four_new_guests_in_three_seconds() {
        let mut guests = Guests::new((1, 2), 1_000);
        let admitted = |guests: &mut Guests, ms| {
            let post = |number| guests.admit(at(ms), [1; 16], (apart(number), ms), b"init");
            (0..50).map(post).filter(|admission| is_in(*admission)).count()
        };
        assert_eq!([admitted(&mut guests, 0), admitted(&mut guests, 2_999)], [4, 0]);
        assert!(is_in(guests.admit(at(2_999), [2; 16], (addr(1), 1), b"init")), "another room");
        let more: Vec<usize> = (1..10).map(|round| admitted(&mut guests, round * 3_000)).collect();
        assert_eq!((more, guests.len()), (vec![4; 9], 16));
    }

    #[test]
    fn source_and_network_have_a_share_of_a_room() {
        let mut guests = Guests::new((1, 2), 1_000);
        let mut admitted = |from: [SocketAddr; 5]| {
            let posts = (0..12_000).step_by(500).flat_map(|ms| from.map(|from| (ms, from)));
            let mut is_in = |(ms, from)| is_in(guests.admit(at(ms), [1; 16], (from, ms), b"init"));
            let admitted: Vec<_> = posts.filter(|post| is_in(*post)).map(|(_, from)| from).collect();
            from.map(|from| admitted.iter().filter(|one| **one == from).count())
        };
        let shares = admitted([addr(1), addr(2), addr(3), addr(4), addr(5)]);
        assert!(shares.iter().all(|share| (1..=3).contains(share)), "{shares:?}");
        assert_eq!(shares.iter().sum::<usize>(), 12, "of one /20");
    }

    /// Eight networks post new INITs all the time. The ninth comes after them.
    #[test]
    fn sources_take_turns() {
        let mut guests = Guests::new((1, 2), 1_000);
        let mut waited = None;
        for step in 0..300_u64 {
            for number in 0..8 {
                guests.admit(at(step * 100), [1; 16], (apart(number), step), b"init");
            }
            if step >= 100 && waited.is_none() {
                let admission = guests.admit(at(step * 100), [1; 16], (apart(9), 0), b"init");
                waited = is_in(admission).then_some((step - 100) * 100);
            }
        }
        assert!(waited.is_some_and(|ms| ms <= 9_000), "{waited:?}");
    }

    #[test]
    fn guests_of_two_rooms_or_addresses_have_two_numbers() {
        let mut guests = Guests::new((1, 2), 9);
        for (room, from) in [(1, 1), (2, 1), (1, 2)] {
            assert!(is_in(guests.admit(at(0), [room; 16], (addr(from), 7), b"init")));
        }
        assert_eq!(guests.len(), 3);
        // The fifth of a room waits in its queue, which is forgotten before the guests are.
        for number in 1..=3 {
            guests.admit(at(0), [1; 16], (apart(number), 7), b"init");
        }
        assert_eq!((guests.len(), guests.next_end()), (5, Some(at(2_500))));
        guests.forget(at(2_500));
        assert_eq!(guests.next_end(), Some(at(12_000)));
    }

    #[test]
    fn oldest_guest_makes_room_and_nothing_is_left_behind() {
        let mut guests = Guests::new((1, 2), 3);
        for room in 0..9 {
            assert!(is_in(guests.admit(at(room), [room as u8; 16], (addr(1), 1), b"init")));
        }
        assert_eq!((guests.len(), guests.by_room.len(), guests.by_age.len()), (3, 3, 3));
        assert!(guests.entries.values().all(|guest| guest.room[0] >= 6), "the newest are left");
        assert_eq!(guests.next_end(), Some(at(12_006)));
        guests.forget(at(12_008));
        assert_eq!((guests.len(), guests.by_room.len(), guests.by_age.len()), (0, 0, 0));
    }

    #[test]
    fn only_its_host_answers_a_guest_and_not_for_ever() {
        let mut guests = Guests::new((1, 2), 9);
        let admission = guests.admit(at(0), [1; 16], (addr(1), 7), b"init");
        let Admission::Deliver { number, .. } = admission else { panic!("{admission:?}") };
        assert!(guests.answer(at(1), number, |room| *room == [2; 16]).is_none());
        assert!(guests.answer(at(1), number ^ 1, |_| true).is_none());
        let answered = (0..50).filter(|_| guests.answer(at(1), number, |room| *room == [1; 16]).is_some());
        assert_eq!(answered.count(), 32);
        let admission = guests.admit(at(2_000), [1; 16], (addr(2), 7), b"init");
        let Admission::Deliver { number, .. } = admission else { panic!("{admission:?}") };
        assert!(guests.answer(at(13_999), number, |_| true).is_some());
        assert!(guests.answer(at(14_000), number, |_| true).is_none(), "forgotten");
    }
}
