//! A peer that moves: two addresses at once, until it is certain which one is its own.
//!
//! A newer packet from another address may come from a peer whose router has given it a new port, or from somebody who
//! forwards its packets. Both addresses are challenged; the new one is taken only when the old one answers no more. Somebody
//! who forwards cannot silence the old address, and pulls nothing away.

use crate::time::{Span, Time};
use std::net::SocketAddr;

/// How often both addresses are challenged.
const CHALLENGE_AFTER: Span = Span::from_millis(100);
/// The old address is given up when it has answered no challenge for this long and a round trip.
const SILENT: Span = Span::from_millis(300);
/// A candidate makes room for another one after this long without a newer packet from it.
const MAKES_ROOM: Span = Span::from_millis(300);
/// The address of before, or a candidate that came to nothing, is dropped after this long without a newer packet from it.
const KEPT: Span = Span::from_secs(5);
/// A new address gets at most this many times the bytes that came from it.
const AMPLIFICATION: u64 = 3;
/// The challenges of an address that may still be answered.
const CHALLENGES: usize = 32;

/// One of the two addresses.
#[derive(Clone, Copy, Debug)]
struct Path {
    addr: SocketAddr,
    /// The values of the newest challenges sent to it, and when.
    challenges: [Option<(u64, Time)>; CHALLENGES],
    sent: usize,
    /// When the newest challenge that was answered had been sent.
    answered: Option<Time>,
    /// Bytes that came from it, and that were sent to it.
    bytes_in: u64,
    bytes_out: u64,
    /// When a newer packet came from it.
    newest_at: Time,
}

impl Path {
    fn new(now: Time, addr: SocketAddr) -> Self {
        Self {
            addr,
            challenges: [None; CHALLENGES],
            sent: 0,
            answered: None,
            bytes_in: 0,
            bytes_out: 0,
            newest_at: now,
        }
    }

    fn challenged(&mut self, now: Time, value: u64) {
        self.challenges[self.sent % CHALLENGES] = Some((value, now));
        self.sent = self.sent.wrapping_add(1);
    }

    /// Whether `value` answers a challenge to this address.
    fn proven_by(&mut self, value: u64) -> bool {
        let answered = self.challenges.iter().flatten().find(|(challenge, _)| *challenge == value);
        let Some((_, sent_at)) = answered else { return false };
        self.answered = Some(self.answered.map_or(*sent_at, |before| before.max(*sent_at)));
        true
    }
}

/// Two addresses of one peer.
#[derive(Debug)]
pub(super) struct Roam {
    /// The address in use, and the candidate.
    paths: [Path; 2],
    since: Time,
    challenge_at: Time,
}

/// The addresses of a peer after an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Both are in use.
    Undecided,
    /// The candidate has become the address in use, and the one before it the candidate.
    Moved(SocketAddr),
    /// Only the address in use is left.
    Settled,
}

impl Roam {
    /// A newer packet came from `candidate`, while `real` is the address in use.
    pub(super) fn new(now: Time, real: SocketAddr, candidate: SocketAddr) -> Self {
        Self { paths: [Path::new(now, real), Path::new(now, candidate)], since: now, challenge_at: now }
    }

    /// Notes an opened packet of `len` bytes from `from`. A newer one from a third address takes the place of a candidate
    /// that has nothing newer to say.
    pub(super) fn heard(&mut self, now: Time, from: SocketAddr, len: usize, newest: bool) {
        match self.paths.iter().position(|path| path.addr == from) {
            Some(at) => {
                let path = &mut self.paths[at];
                path.bytes_in += len as u64;
                if newest {
                    path.newest_at = now;
                }
            }
            None if newest && now.since(self.paths[1].newest_at) >= MAKES_ROOM => {
                *self = Self::new(now, self.paths[0].addr, from);
                self.paths[1].bytes_in = len as u64;
            }
            None => {}
        }
    }

    /// The candidate, if `len` more bytes may go there.
    pub(super) fn also_to(&mut self, len: usize) -> Option<SocketAddr> {
        let path = &mut self.paths[1];
        let proven = path.answered.is_some();
        let sum = path.bytes_out + len as u64;
        if !proven && sum > path.bytes_in * AMPLIFICATION {
            return None;
        }
        path.bytes_out = sum;
        Some(path.addr)
    }

    /// Whether challenges are due at `now`. They are noted as sent.
    pub(super) fn challenge(
        &mut self,
        now: Time,
        len: usize,
        mut value: impl FnMut() -> u64,
    ) -> [Option<(SocketAddr, u64)>; 2] {
        if now < self.challenge_at {
            return [None; 2];
        }
        self.challenge_at = now + CHALLENGE_AFTER;
        let candidate = self.also_to(len);
        [Some(self.paths[0].addr), candidate].map(|to| {
            let value = value();
            let path = self.paths.iter_mut().find(|path| Some(path.addr) == to)?;
            path.challenged(now, value);
            Some((path.addr, value))
        })
    }

    pub(super) fn challenge_at(&self) -> Time {
        self.challenge_at
    }

    /// Takes the answer to a challenge. It proves the address that the challenge was sent to, wherever the answer is from.
    pub(super) fn proof(&mut self, value: u64) -> bool {
        self.paths.iter_mut().any(|path| path.proven_by(value))
    }

    /// Decides, at `now`, with the round trip of the connection.
    pub(super) fn decide(&mut self, now: Time, round_trip: Span) -> Outcome {
        let [old, new] = &self.paths;
        // The newest challenge that the old one answered; before the first one it may still answer.
        let heard = old.answered.unwrap_or(self.since);
        let silent = now.since(heard) >= SILENT + round_trip + CHALLENGE_AFTER;
        // An answer from before the old one's last proves nothing about who is there now.
        if silent && new.answered.is_some_and(|answered| answered > heard) {
            self.paths.swap(0, 1);
            self.since = now;
            self.paths[1].newest_at = now;
            return Outcome::Moved(self.paths[0].addr);
        }
        if now.since(new.newest_at) >= KEPT { Outcome::Settled } else { Outcome::Undecided }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Span = Span::from_millis(80);
    const LEN: usize = 32;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn addr(port: u16) -> SocketAddr {
        ([192, 0, 2, 7], port).into()
    }

    /// Runs 60 packets a second from `from`, with answers of those addresses that `answers` names, until it is decided.
    fn run(roam: &mut Roam, time: core::ops::Range<u64>, from: u16, answers: &[u16]) -> Vec<(u64, Outcome)> {
        let mut decided = Vec::new();
        let mut due: Vec<(u64, u64)> = Vec::new();
        for ms in time {
            if ms % 17 == 0 {
                roam.heard(at(ms), addr(from), 47, true);
            }
            let mut next = ms * 2;
            for (to, value) in roam
                .challenge(at(ms), LEN, || {
                    next += 1;
                    next
                })
                .into_iter()
                .flatten()
            {
                if answers.contains(&to.port()) {
                    due.push((ms + 80, value));
                }
            }
            for (_, value) in due.extract_if(.., |(when, _)| *when <= ms) {
                roam.proof(value);
            }
            let outcome = roam.decide(at(ms), RTT);
            if outcome != Outcome::Undecided {
                decided.push((ms, outcome));
                break;
            }
        }
        decided
    }

    #[test]
    fn a_new_port_is_taken_when_the_old_one_answers_no_more() {
        let mut roam = Roam::new(at(0), addr(1), addr(2));
        let decided = run(&mut roam, 0..3_000, 2, &[2]);
        assert!(matches!(decided[..], [(380..=600, Outcome::Moved(to))] if to == addr(2)), "{decided:?}");
        assert_eq!(
            run(&mut roam, 600..9_000, 2, &[2])[0].1,
            Outcome::Settled,
            "the old one is kept for a while"
        );
    }

    #[test]
    fn somebody_who_forwards_and_answers_pulls_nothing_away() {
        let mut roam = Roam::new(at(0), addr(1), addr(2));
        assert_eq!(run(&mut roam, 0..60_000, 2, &[1, 2]), []);
        assert_eq!(run(&mut roam, 60_000..70_000, 1, &[1])[0].1, Outcome::Settled);
    }

    #[test]
    fn somebody_who_answers_sooner_than_the_old_address_pulls_nothing_away() {
        let mut roam = Roam::new(at(0), addr(1), addr(2));
        let mut value = 0;
        for ms in (0..10_000).step_by(100) {
            roam.heard(at(ms), addr(2), 47, true);
            let sent = roam.challenge(at(ms), LEN, || {
                value += 1;
                value
            });
            assert!(roam.proof(sent[1].unwrap().1));
            assert_eq!(roam.decide(at(ms + 5), RTT), Outcome::Undecided, "{ms}");
            assert!(roam.proof(sent[0].unwrap().1));
        }
    }

    #[test]
    fn an_answer_from_before_both_fell_silent_proves_nothing() {
        let mut roam = Roam::new(at(0), addr(1), addr(2));
        assert_eq!(run(&mut roam, 0..1_000, 2, &[1, 2]), []);
        assert_eq!(run(&mut roam, 1_000..5_000, 2, &[]), []);
    }

    #[test]
    fn an_address_that_is_not_proven_is_never_taken() {
        let mut roam = Roam::new(at(0), addr(1), addr(2));
        assert_eq!(run(&mut roam, 0..10_000, 2, &[]), []);
        assert!(!roam.proof(12_345));
    }

    #[test]
    fn a_new_address_gets_three_times_what_came_from_it() {
        let mut roam = Roam::new(at(0), addr(1), addr(2));
        roam.heard(at(0), addr(2), 100, true);
        assert_eq!(roam.also_to(300), Some(addr(2)));
        assert_eq!(roam.also_to(1), None);
        roam.heard(at(0), addr(2), 50, false);
        assert_eq!((roam.also_to(151), roam.also_to(150)), (None, Some(addr(2))));
        roam.paths[1].challenged(at(0), 7);
        assert!(roam.proof(7));
        assert_eq!(roam.also_to(1_000), Some(addr(2)), "once it is proven, as much as there is");
    }

    #[test]
    fn one_candidate_at_a_time_that_makes_room_when_it_has_nothing_newer() {
        let mut roam = Roam::new(at(0), addr(1), addr(2));
        roam.heard(at(299), addr(3), 50, true);
        assert_eq!(roam.paths[1].addr, addr(2));
        roam.heard(at(300), addr(3), 50, false);
        assert_eq!(roam.paths[1].addr, addr(2), "an old packet proves nothing");
        roam.heard(at(300), addr(3), 50, true);
        assert_eq!((roam.paths[1].addr, roam.paths[1].bytes_in), (addr(3), 50));
        roam.heard(at(590), addr(3), 50, true);
        roam.heard(at(700), addr(4), 50, true);
        assert_eq!(roam.paths[1].addr, addr(3));
    }
}
