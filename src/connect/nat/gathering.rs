//! Peers that wait for our signal, until our candidates are gathered.

use super::signal::Signal;
use crate::protocol::time::{Span, Time};
use std::net::SocketAddr;

/// The relay has this long to make an allocation, before a signal leaves without it.
const GATHER: Span = Span::from_millis(1_200);

/// A guest whose INIT was opened, and who waits for our signal.
#[derive(Debug)]
struct Waiting {
    guest: Guest,
    since: Time,
}

/// A guest of a host.
#[derive(Debug)]
pub(super) struct Guest {
    /// Its number at the rendezvous.
    pub(super) number: u64,
    pub(super) inner: SocketAddr,
    pub(super) signal: Signal,
}

/// Everybody who waits.
#[derive(Debug, Default)]
pub(super) struct Gathering {
    /// Since when a joiner with a ticket waits to send its own signal.
    joiner_since: Option<Time>,
    guests: Vec<Waiting>,
}

impl Gathering {
    /// A joiner has a ticket.
    pub(super) fn add_joiner(&mut self, now: Time) {
        self.joiner_since.get_or_insert(now);
    }

    pub(super) fn add_guest(&mut self, now: Time, guest: Guest) {
        self.guests.push(Waiting { guest, since: now });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.joiner_since.is_none() && self.guests.is_empty()
    }

    /// The inner addresses of the guests that wait.
    pub(super) fn guests(&self) -> impl ExactSizeIterator<Item = SocketAddr> {
        self.guests.iter().map(|waiting| waiting.guest.inner)
    }

    /// Whether a joiner's signal is to be sent: all candidates are there, unless the relay `is_asked`, or have taken too long.
    pub(super) fn take_joiner(&mut self, now: Time, is_asked: bool) -> bool {
        self.joiner_since.take_if(|since| !is_asked || now >= *since + GATHER).is_some()
    }

    /// The guests whose answers are to be sent.
    pub(super) fn take_guests(&mut self, now: Time, is_asked: bool) -> Vec<Guest> {
        let is_ready = |waiting: &mut Waiting| !is_asked || now >= waiting.since + GATHER;
        self.guests.extract_if(.., is_ready).map(|waiting| waiting.guest).collect()
    }

    pub(super) fn deadline(&self) -> Time {
        let since = self.joiner_since.into_iter().chain(self.guests.iter().map(|waiting| waiting.since));
        since.min().map_or(Time::NEVER, |since| since + GATHER)
    }
}

#[cfg(test)]
mod tests {
    use super::super::signal::Credentials;
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn guest(number: u64) -> Guest {
        let credentials = Credentials::draw(&[0; 32]);
        let signal = Signal {
            no_relay: false,
            wants_answer: false,
            generation: 0,
            revision: 1,
            heard: 0,
            credentials,
            candidates: Vec::new(),
            fingerprint: None,
        };
        Guest { number, inner: ([192, 0, 2, 1], 7).into(), signal }
    }

    #[test]
    fn signal_waits_for_the_relay_but_not_for_ever() {
        let mut gathering = Gathering::default();
        assert_eq!(gathering.deadline(), Time::NEVER);
        gathering.add_guest(at(100), guest(1));
        gathering.add_guest(at(500), guest(2));
        assert_eq!((gathering.deadline(), gathering.guests().len()), (at(1_300), 2));
        assert!(gathering.take_guests(at(1_299), true).is_empty());
        assert_eq!(gathering.take_guests(at(1_300), true)[0].number, 1);
        assert_eq!(gathering.take_guests(at(1_300), false)[0].number, 2, "the relay has answered");
        gathering.add_joiner(at(100));
        gathering.add_joiner(at(900));
        assert!(!gathering.take_joiner(at(1_299), true) && !gathering.is_empty());
        assert!(gathering.take_joiner(at(1_300), true) && gathering.is_empty());
        assert!(!gathering.take_joiner(at(9_000), true), "once");
    }
}
