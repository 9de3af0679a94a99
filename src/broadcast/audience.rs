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
    swept_at: Time,
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
            swept_at: Time::ZERO,
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
        if now < self.swept_at + SWEEP_AFTER && self.swept_at != Time::ZERO {
            return;
        }
        self.swept_at = now;
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
