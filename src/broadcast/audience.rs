//! The spectators of a broadcast, and who is sent away.

use super::guest::Guest;
use crate::channel::bucket::Bucket;
use crate::protocol::time::{Span, Time};
use crate::wire::broadcast::Bye;
use std::collections::VecDeque;
use std::net::SocketAddr;

/// Refusals that wait to be sent; more are left out.
const MAX_BYES: usize = 16;
/// Refusals in a second.
const BYES_PER_SECOND: u32 = 40;
/// Spectators are looked at this often.
const SWEEP_AFTER: Span = Span::from_millis(200);

#[derive(Debug)]
pub(super) struct Audience {
    guests: Vec<Guest>,
    max: usize,
    /// The guest that is served next.
    turn: usize,
    byes: VecDeque<(SocketAddr, Bye)>,
    bye_rate: Bucket,
    sweep_at: Time,
    joined: u64,
    evicted: u64,
}

impl Audience {
    pub(super) fn new(max: usize) -> Self {
        Self {
            guests: Vec::with_capacity(max),
            max,
            turn: 0,
            byes: VecDeque::with_capacity(MAX_BYES),
            bye_rate: Bucket::per_second(BYES_PER_SECOND),
            sweep_at: Time::ZERO,
            joined: 0,
            evicted: 0,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.guests.is_empty() && self.byes.is_empty()
    }

    pub(super) fn len(&self) -> u16 {
        self.guests.len() as u16
    }

    /// Spectators that were let in, and that were evicted.
    pub(super) fn counts(&self) -> (u64, u64) {
        (self.joined, self.evicted)
    }

    pub(super) fn guest(&mut self, addr: SocketAddr) -> Option<&mut Guest> {
        self.guests.iter_mut().find(|guest| guest.addr() == addr)
    }

    pub(super) fn guests(&self) -> &[Guest] {
        &self.guests
    }

    /// Lets a spectator in, or tells it that there is no room.
    pub(super) fn admit(&mut self, now: Time, addr: SocketAddr) -> Option<&mut Guest> {
        if self.guests.len() >= self.max {
            self.refuse(now, addr, Bye::Full);
            return None;
        }
        self.joined += 1;
        self.guests.push(Guest::new(now, addr));
        self.guests.last_mut()
    }

    /// Tells somebody who is no spectator why.
    pub(super) fn refuse(&mut self, now: Time, addr: SocketAddr, why: Bye) {
        let is_told = self.byes.iter().any(|(told, _)| *told == addr);
        if !is_told && self.byes.len() < MAX_BYES && self.bye_rate.take(now) {
            self.byes.push_back((addr, why));
        }
    }

    /// Removes a spectator that has left.
    pub(super) fn remove(&mut self, addr: SocketAddr) {
        self.guests.retain(|guest| guest.addr() != addr);
    }

    /// Sends a spectator away.
    pub(super) fn evict(&mut self, now: Time, addr: SocketAddr, why: Bye) {
        self.remove(addr);
        self.evicted += 1;
        self.refuse(now, addr, why);
    }

    /// Sends everybody away, as the broadcast is over.
    pub(super) fn close(&mut self, why: Bye) {
        self.byes.clear();
        self.byes.extend(self.guests.drain(..).map(|guest| (guest.addr(), why)));
        self.max = 0;
    }

    /// Sends away those who are silent, receive nothing or break rules.
    pub(super) fn sweep(&mut self, now: Time) {
        if now < self.sweep_at {
            return;
        }
        self.sweep_at = now + SWEEP_AFTER;
        while let Some((addr, why)) =
            self.guests.iter().find_map(|guest| Some((guest.addr(), guest.fault(now)?)))
        {
            self.evict(now, addr, why);
        }
    }

    pub(super) fn next_bye(&mut self) -> Option<(SocketAddr, Bye)> {
        self.byes.pop_front()
    }

    pub(super) fn has_byes(&self) -> bool {
        !self.byes.is_empty()
    }

    /// Asks the spectators one after the other, from the one whose turn it is; the turn passes on when one has something to do.
    pub(super) fn next<T>(&mut self, mut ask: impl FnMut(&mut Guest) -> Option<T>) -> Option<T> {
        let count = self.guests.len();
        for step in 0..count {
            let index = (self.turn + step) % count;
            if let Some(found) = ask(&mut self.guests[index]) {
                self.turn = (index + 1) % count;
                return Some(found);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn addr(port: u16) -> SocketAddr {
        ([192, 0, 2, 7], port).into()
    }

    fn byes(audience: &mut Audience) -> Vec<(u16, Bye)> {
        core::iter::from_fn(|| audience.next_bye().map(|(to, why)| (to.port(), why))).collect()
    }

    #[test]
    fn spectator_beyond_the_limit_is_refused_and_not_counted() {
        let mut audience = Audience::new(2);
        assert!(audience.is_empty());
        assert!(audience.admit(at(0), addr(1)).is_some() && audience.admit(at(0), addr(2)).is_some());
        assert!(audience.admit(at(0), addr(3)).is_none());
        assert_eq!((audience.len(), audience.counts()), (2, (2, 0)));
        assert_eq!(byes(&mut audience), [(3, Bye::Full)]);
        audience.remove(addr(1));
        assert!(audience.admit(at(0), addr(3)).is_some());
        assert_eq!((audience.len(), audience.counts()), (2, (3, 0)));
    }

    #[test]
    fn refusals_are_few_and_told_once_each() {
        let mut audience = Audience::new(0);
        (0..2).for_each(|_| audience.refuse(at(0), addr(1), Bye::Full));
        assert_eq!(byes(&mut audience), [(1, Bye::Full)]);
        (1..100).for_each(|port| audience.refuse(at(1_000), addr(port), Bye::Full));
        assert_eq!(audience.byes.len(), 10, "a quarter of a second's");
        (100..200).for_each(|port| audience.refuse(at(2_000), addr(port), Bye::Full));
        assert_eq!(audience.byes.len(), 16, "as many as wait at once");
        assert!(audience.has_byes() && !audience.is_empty());
    }

    #[test]
    fn evicted_spectator_is_counted_and_told() {
        let mut audience = Audience::new(8);
        (1..=2).for_each(|port| assert!(audience.admit(at(0), addr(port)).is_some()));
        audience.evict(at(0), addr(1), Bye::Misbehaved);
        assert_eq!((audience.len(), audience.counts()), (1, (2, 1)));
        assert_eq!(byes(&mut audience), [(1, Bye::Misbehaved)]);
    }

    #[test]
    fn silent_spectators_are_swept_five_times_a_second() {
        let mut audience = Audience::new(8);
        (1..=2).for_each(|port| assert!(audience.admit(at(u64::from(port)), addr(port)).is_some()));
        audience.sweep(at(10_002));
        assert_eq!(byes(&mut audience), [(1, Bye::Silent)]);
        audience.sweep(at(10_201));
        assert_eq!(audience.len(), 1);
        audience.sweep(at(10_202));
        assert_eq!((audience.len(), audience.counts()), (0, (2, 2)));
    }

    #[test]
    fn sweep_at_time_zero_is_followed_by_one_after_200_ms() {
        let mut audience = Audience::new(8);
        assert!(audience.admit(at(0), addr(1)).is_some());
        audience.sweep(at(0));
        (0..=200).for_each(|_| audience.guest(addr(1)).unwrap().strike());
        for ms in [0, 1, 199] {
            audience.sweep(at(ms));
        }
        assert_eq!(audience.len(), 1);
        audience.sweep(at(200));
        assert_eq!((audience.len(), byes(&mut audience)), (0, vec![(1, Bye::Misbehaved)]));
    }

    #[test]
    fn spectators_are_served_in_turn() {
        let mut audience = Audience::new(8);
        (1..=3).for_each(|port| assert!(audience.admit(at(0), addr(port)).is_some()));
        let mut served = |wants: &[u16]| {
            audience.next(|guest| Some(guest.addr().port()).filter(|port| wants.contains(port)))
        };
        let all = [1, 2, 3];
        assert_eq!([served(&all), served(&all), served(&all), served(&all)], [1, 2, 3, 1].map(Some));
        assert_eq!([served(&[1]), served(&all), served(&[])], [Some(1), Some(2), None]);
        assert_eq!(served(&all), Some(3), "nobody's turn is lost");
    }

    #[test]
    fn closed_audience_is_told_in_the_place_of_other_refusals() {
        let mut audience = Audience::new(2);
        for port in 1..=3 {
            let _ = audience.admit(at(0), addr(port));
        }
        audience.close(Bye::Closed);
        assert_eq!(byes(&mut audience), [(1, Bye::Closed), (2, Bye::Closed)]);
        assert!(audience.is_empty() && audience.admit(at(0), addr(1)).is_none());
    }
}
