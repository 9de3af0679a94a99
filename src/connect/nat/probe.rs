//! A question to a STUN server: the address under which it sees this machine, and how far away it is.

use crate::canonical;
use crate::protocol::time::{Span, Time};
use crate::wire::stun::{self, Id, REQUEST_LEN};
use std::net::SocketAddr;

/// How often it is asked, and after how long the first time, which doubles.
const ASKS: u32 = 5;
const REPEAT: Span = Span::from_millis(150);

/// A question that waits for its answer.
#[derive(Debug)]
pub(super) struct Probe {
    server: SocketAddr,
    id: Id,
    asked: u32,
    asked_at: Time,
    due: Option<Time>,
}

/// The answer of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) addr: SocketAddr,
    pub(super) round_trip: Span,
}

impl Probe {
    /// A request with a random identifier: only a machine that sees it can answer it.
    pub(super) fn new(now: Time, server: SocketAddr, id: Id) -> Self {
        Self { server, id, asked: 0, asked_at: now, due: Some(now) }
    }

    pub(super) fn server(&self) -> SocketAddr {
        self.server
    }

    pub(super) fn deadline(&self) -> Option<Time> {
        self.due
    }

    /// The request, if it is due.
    pub(super) fn poll_transmit(&mut self, now: Time) -> Option<[u8; REQUEST_LEN]> {
        self.due.filter(|due| *due <= now)?;
        self.asked += 1;
        self.asked_at = now;
        self.due = (self.asked < ASKS).then(|| now + REPEAT * (1 << (self.asked - 1)));
        Some(stun::request(&self.id))
    }

    /// Takes a datagram of the server; `None` if it is not the answer.
    pub(super) fn handle(&mut self, now: Time, datagram: &[u8]) -> Option<Seen> {
        let addr = stun::mapped(datagram, &self.id).filter(|_| self.asked > 0)?;
        self.due = None;
        Some(Seen { addr: canonical(addr), round_trip: now.since(self.asked_at) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: Id = [7; 12];

    fn answer_to(from: &str) -> Vec<u8> {
        let mut buf = [0; stun::MAX_ANSWER];
        let len = stun::answer(&stun::request(&ID), from.parse().unwrap(), &mut buf).unwrap();
        buf[..len].to_vec()
    }

    fn answer() -> Vec<u8> {
        answer_to("192.0.2.1:32853")
    }

    fn asked() -> Probe {
        let mut probe = Probe::new(Time::ZERO, "198.51.100.1:3478".parse().unwrap(), ID);
        assert_eq!(probe.poll_transmit(Time::ZERO).unwrap()[8..20], ID);
        probe
    }

    #[test]
    fn answer_ends_the_question() {
        let later = Span::from_millis(30);
        let seen = Seen { addr: "192.0.2.1:32853".parse().unwrap(), round_trip: later };
        let mut probe = asked();
        assert_eq!(probe.handle(Time::ZERO + later, &answer()), Some(seen));
        assert_eq!(probe.deadline(), None);
    }

    #[test]
    fn server_is_asked_at_doubling_intervals() {
        let mut probe = Probe::new(Time::ZERO, "198.51.100.1:3478".parse().unwrap(), ID);
        assert_eq!(probe.handle(Time::ZERO, &answer()), None, "nothing was asked yet");
        let is_asked = |ms: &u64| probe.poll_transmit(Time::ZERO + Span::from_millis(*ms)).is_some();
        assert_eq!((0..60_000).filter(is_asked).collect::<Vec<_>>(), [0, 150, 450, 1_050, 2_250]);
        assert_eq!(probe.deadline(), None);
    }

    #[test]
    fn round_trip_is_that_of_the_last_request() {
        let (mut probe, ms) = (asked(), |ms| Time::ZERO + Span::from_millis(ms));
        assert!(probe.poll_transmit(ms(150)).is_some());
        assert_eq!(probe.handle(ms(170), &answer()).map(|seen| seen.round_trip), Some(Span::from_millis(20)));
    }

    #[test]
    fn mapped_ipv4_address_is_seen_as_ipv4() {
        let seen = asked().handle(Time::ZERO, &answer_to("[::ffff:192.0.2.1]:7")).map(|seen| seen.addr);
        assert_eq!(seen, Some("192.0.2.1:7".parse().unwrap()));
    }
}
