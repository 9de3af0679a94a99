//! A peer with more than one address: copies go to each, until it is certain which one to use.
//!
//! A newer packet from another address may come from a peer whose router has given it a new port, or from somebody who
//! forwards its packets. Both addresses are challenged; the new one is taken only when the old one answers no more. Somebody
//! who forwards cannot silence the old address, and pulls nothing away.
//!
//! A path that was checked before, by credentials that travelled sealed, may become a candidate without a packet from it:
//! because nothing is opened any more, or because it is better than the one in use.

use crate::channel::probes::Probes;
use crate::protocol::time::{Span, Time};
use std::net::SocketAddr;

/// How often all addresses are challenged.
const CHALLENGE_AFTER: Span = Span::from_millis(100);
/// The old address is given up when it has answered no challenge for this long and a round trip.
const SILENT: Span = Span::from_millis(300);
/// A candidate makes room for another one after this long without a newer packet from it.
const MAKES_ROOM: Span = Span::from_millis(300);
/// The address of before, or a candidate that came to nothing, is dropped after this long without a newer packet from it.
const KEPT: Span = Span::from_secs(5);
/// Checked paths are dropped when the address in use has answered for this long. Newer packets from them do not count: two
/// peers that challenge each other there would keep them for ever.
const KEPT_BESIDE: Span = Span::from_millis(500);
/// A new address gets at most this many times the bytes that came from it.
const AMPLIFICATION: u64 = 3;
/// A checked path that has answered no challenge gets at most this many bytes, or [`AMPLIFICATION`] times the bytes that came from
/// it if those are more. Its connectivity check was answered, but the peer may not be there any more. This is about two seconds of
/// a match.
const CHECKED_BYTES: u64 = 8 * 1024;
/// Such a path is still challenged this often: it may come back late in an outage, and nothing else would find it again.
const CHALLENGE_AGAIN: Span = Span::from_secs(1);
/// The challenges of an address that may still be answered.
const CHALLENGES: usize = 32;
/// Candidates at a time: one that is not proven, and paths that were checked.
pub(super) const MAX_CANDIDATES: usize = 4;

/// The trust in an address before it has answered a challenge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Standing {
    /// Nothing: it gets no more than a few times the bytes that came from it.
    Unproven,
    /// It has answered a connectivity check: it gets copies for a while.
    Checked,
    /// It was checked and is better than the one in use, which it replaces when it answers.
    Preferred,
}

/// One of the addresses.
#[derive(Debug)]
struct Path {
    addr: SocketAddr,
    standing: Standing,
    /// The newest challenges sent to it.
    challenges: Probes<u64, CHALLENGES>,
    challenged_at: Time,
    /// When the newest challenge that was answered had been sent.
    answered: Option<Time>,
    /// Bytes that came from it, and that were sent to it.
    bytes_in: u64,
    bytes_out: u64,
    /// When a newer packet came from it.
    newest_at: Time,
}

impl Path {
    fn new(now: Time, addr: SocketAddr, standing: Standing) -> Self {
        Self {
            addr,
            standing,
            challenges: Probes::new(),
            challenged_at: now,
            answered: None,
            bytes_in: 0,
            bytes_out: 0,
            newest_at: now,
        }
    }

    /// Whether `value` answers a challenge to this address.
    fn proven_by(&mut self, value: u64) -> bool {
        let sent_at = self.challenges.answered(value);
        self.answered = self.answered.max(sent_at);
        sent_at.is_some()
    }

    /// Whether a challenge of `len` bytes goes there at `now`.
    fn is_challenged(&mut self, now: Time, len: usize) -> bool {
        let again = self.standing != Standing::Unproven && now >= self.challenged_at + CHALLENGE_AGAIN;
        self.takes(len) || again
    }

    /// Whether `len` more bytes may go there. They are counted.
    fn takes(&mut self, len: usize) -> bool {
        let sum = self.bytes_out + len as u64;
        let named = if self.standing == Standing::Unproven { 0 } else { CHECKED_BYTES };
        let takes = self.answered.is_some() || sum <= named.max(self.bytes_in * AMPLIFICATION);
        if takes {
            self.bytes_out = sum;
        }
        takes
    }
}

/// The addresses of one peer.
#[derive(Debug)]
pub(super) struct Roam {
    /// The address in use, and the candidates.
    paths: Vec<Path>,
    since: Time,
    challenge_at: Time,
}

/// The addresses of a peer after an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// All are in use.
    Undecided,
    /// A candidate has become the address in use, and the one before it a candidate.
    Moved(SocketAddr),
    /// Only the address in use is left.
    Settled,
}

impl Roam {
    /// The address in use, and a candidate.
    pub(super) fn new(now: Time, outer_addr: SocketAddr, candidate: SocketAddr, standing: Standing) -> Self {
        let mut paths = Vec::with_capacity(1 + MAX_CANDIDATES);
        paths.extend([Path::new(now, outer_addr, Standing::Unproven), Path::new(now, candidate, standing)]);
        Self { paths, since: now, challenge_at: now }
    }

    /// Adds a path that was checked, or says that it is still wanted. A better one is noted as that, and finds room in the place of
    /// the last one that is not.
    pub(super) fn add(&mut self, now: Time, addr: SocketAddr, standing: Standing) {
        let known = self.paths.iter().any(|path| path.addr == addr);
        if standing == Standing::Preferred && !known && self.paths.len() > MAX_CANDIDATES {
            let last = self.paths.iter().skip(1).rposition(|path| path.standing != Standing::Preferred);
            last.map(|at| self.paths.remove(at + 1));
        }
        if let Some(path) = self.paths.iter_mut().find(|path| path.addr == addr) {
            path.newest_at = now;
            path.standing = path.standing.max(standing);
        } else if self.paths.len() <= MAX_CANDIDATES {
            self.paths.push(Path::new(now, addr, standing));
            self.challenge_at = now;
        }
    }

    /// Notes an opened packet of `len` bytes from `from`. A newer one from an unknown address becomes a candidate; if it is
    /// not checked, in the place of another one that has nothing newer to say.
    pub(super) fn heard(
        &mut self,
        now: Time,
        (from, standing): (SocketAddr, Standing),
        len: usize,
        newest: bool,
    ) {
        if let Some(path) = self.paths.iter_mut().find(|path| path.addr == from) {
            path.bytes_in += len as u64;
            if newest {
                path.newest_at = now;
            }
            return;
        }
        let unproven = |path: &Path| path.standing == Standing::Unproven;
        let old = self.paths.iter().skip(1).position(unproven).map(|at| at + 1);
        if !newest || old.is_some_and(|at| now.since(self.paths[at].newest_at) < MAKES_ROOM) {
            return;
        }
        if let Some(at) = old {
            self.paths.remove(at);
        } else if self.paths.len() > MAX_CANDIDATES {
            return;
        }
        self.paths.push(Path { bytes_in: len as u64, ..Path::new(now, from, standing) });
        // The address in use gets a new chance to answer beside it.
        self.paths[0] = Path::new(now, self.paths[0].addr, self.paths[0].standing);
        (self.since, self.challenge_at) = (now, now);
    }

    /// Calls `send` with each candidate that may get `len` more bytes.
    pub(super) fn also_to(&mut self, len: usize, mut send: impl FnMut(SocketAddr)) {
        for path in &mut self.paths[1..] {
            if path.takes(len) {
                send(path.addr);
            }
        }
    }

    /// The challenges that are due at `now`. They are noted as sent.
    pub(super) fn challenge(
        &mut self,
        now: Time,
        len: usize,
        mut value: impl FnMut() -> u64,
    ) -> [Option<(SocketAddr, u64)>; 1 + MAX_CANDIDATES] {
        let mut challenges = [None; 1 + MAX_CANDIDATES];
        if now < self.challenge_at {
            return challenges;
        }
        self.challenge_at = now + CHALLENGE_AFTER;
        for (at, path) in self.paths.iter_mut().enumerate() {
            if at == 0 || path.is_challenged(now, len) {
                let value = value();
                path.challenges.sent(now, value);
                path.challenged_at = now;
                challenges[at] = Some((path.addr, value));
            }
        }
        challenges
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
        let old = &self.paths[0];
        // The newest challenge that the old one answered; before the first one it may still answer.
        let heard = old.answered.unwrap_or(self.since);
        let silent = now.since(heard) >= SILENT + round_trip + CHALLENGE_AFTER;
        let replaces = |path: &Path| {
            // An answer from before the old one's last proves nothing about who is there now.
            let survives = silent && path.answered.is_some_and(|answered| answered > heard);
            survives || path.standing == Standing::Preferred && path.answered.is_some()
        };
        let candidates = self.paths.iter().enumerate().skip(1);
        let best = candidates.filter(|(_, path)| replaces(path)).max_by_key(|(at, path)| {
            (path.standing == Standing::Preferred, path.answered, core::cmp::Reverse(*at))
        });
        if let Some((at, _)) = best {
            self.paths.swap(0, at);
            (self.since, self.paths[at].newest_at) = (now, now);
            if self.paths[0].standing == Standing::Preferred {
                // The one before it was good, and is not needed for long.
                (self.paths[0].standing, self.paths[at].standing) = (Standing::Checked, Standing::Checked);
            }
            return Outcome::Moved(self.paths[0].addr);
        }
        let answers = old.answered.is_some_and(|answered| answered > self.since);
        let needless = answers && !silent && now.since(self.since) >= KEPT_BESIDE;
        let mut in_use = true;
        self.paths.retain(|path| {
            let drop = needless && path.standing == Standing::Checked || now.since(path.newest_at) >= KEPT;
            core::mem::take(&mut in_use) || !drop
        });
        if self.paths.len() == 1 { Outcome::Settled } else { Outcome::Undecided }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Span = Span::from_millis(80);
    const LEN: usize = 32;
    const UNPROVEN: Standing = Standing::Unproven;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn addr(port: u16) -> SocketAddr {
        ([192, 0, 2, 7], port).into()
    }

    fn also_to(roam: &mut Roam, len: usize) -> Vec<u16> {
        let mut sent = Vec::new();
        roam.also_to(len, |to| sent.push(to.port()));
        sent
    }

    /// Runs 60 packets a second from `from`, with answers of those addresses that `answers` names, until it is decided.
    fn run(roam: &mut Roam, time: core::ops::Range<u64>, from: u16, answers: &[u16]) -> Vec<(u64, Outcome)> {
        let mut decided = Vec::new();
        let mut due: Vec<(u64, u64)> = Vec::new();
        for ms in time {
            if ms % 17 == 0 {
                roam.heard(at(ms), (addr(from), UNPROVEN), 47, true);
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
        let mut roam = Roam::new(at(0), addr(1), addr(2), UNPROVEN);
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
        let mut roam = Roam::new(at(0), addr(1), addr(2), UNPROVEN);
        assert_eq!(run(&mut roam, 0..60_000, 2, &[1, 2]), []);
        assert_eq!(run(&mut roam, 60_000..70_000, 1, &[1])[0].1, Outcome::Settled);
    }

    #[test]
    fn forwarder_that_answers_sooner_takes_no_path() {
        let mut roam = Roam::new(at(0), addr(1), addr(2), UNPROVEN);
        let mut value = 0;
        for ms in (0..10_000).step_by(100) {
            roam.heard(at(ms), (addr(2), UNPROVEN), 47, true);
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
        let mut roam = Roam::new(at(0), addr(1), addr(2), UNPROVEN);
        assert_eq!(run(&mut roam, 0..1_000, 2, &[1, 2]), []);
        assert_eq!(run(&mut roam, 1_000..5_000, 2, &[]), []);
    }

    #[test]
    fn an_address_that_is_not_proven_is_never_taken() {
        let mut roam = Roam::new(at(0), addr(1), addr(2), UNPROVEN);
        assert_eq!(run(&mut roam, 0..10_000, 2, &[]), []);
        assert!(!roam.proof(12_345));
    }

    #[test]
    fn a_new_address_gets_three_times_what_came_from_it() {
        let mut roam = Roam::new(at(0), addr(1), addr(2), UNPROVEN);
        roam.heard(at(0), (addr(2), UNPROVEN), 100, true);
        assert_eq!(also_to(&mut roam, 300), [2]);
        assert!(also_to(&mut roam, 1).is_empty());
        roam.heard(at(0), (addr(2), UNPROVEN), 50, false);
        assert!(also_to(&mut roam, 151).is_empty());
        assert_eq!(also_to(&mut roam, 150), [2]);
        roam.paths[1].challenges.sent(at(0), 7);
        assert!(roam.proof(7));
        assert_eq!(also_to(&mut roam, 1_000), [2], "once it is proven, as much as there is");
    }

    #[test]
    fn one_candidate_at_a_time_until_it_has_nothing_newer() {
        let mut roam = Roam::new(at(0), addr(1), addr(2), UNPROVEN);
        roam.heard(at(299), (addr(3), UNPROVEN), 50, true);
        assert_eq!(roam.paths[1].addr, addr(2));
        roam.heard(at(300), (addr(3), UNPROVEN), 50, false);
        assert_eq!(roam.paths[1].addr, addr(2), "an old packet proves nothing");
        roam.heard(at(300), (addr(3), UNPROVEN), 50, true);
        assert_eq!((roam.paths[1].addr, roam.paths[1].bytes_in), (addr(3), 50));
        roam.heard(at(590), (addr(3), UNPROVEN), 50, true);
        roam.heard(at(700), (addr(4), UNPROVEN), 50, true);
        assert_eq!(roam.paths[1].addr, addr(3));
    }

    #[test]
    fn better_path_takes_over_once_it_answers() {
        let mut roam = Roam::new(at(0), addr(1), addr(2), Standing::Preferred);
        assert_eq!(also_to(&mut roam, 1_000), [2], "it was checked");
        assert_eq!(run(&mut roam, 0..1_000, 1, &[1]), [], "it does not answer");
        let decided = run(&mut roam, 1_000..2_000, 1, &[1, 2]);
        assert!(matches!(decided[..], [(1_080..=1_200, Outcome::Moved(to))] if to == addr(2)), "{decided:?}");
        let decided = run(&mut roam, 1_200..9_000, 2, &[1, 2]);
        assert!(matches!(decided[..], [(1_580..=1_900, Outcome::Settled)]), "{decided:?}");
    }

    #[test]
    fn a_better_path_that_never_answers_is_dropped() {
        let mut roam = Roam::new(at(0), addr(1), addr(2), Standing::Preferred);
        let decided = run(&mut roam, 0..9_000, 1, &[1]);
        assert!(matches!(decided[..], [(5_000..=5_020, Outcome::Settled)]), "{decided:?}");
    }

    #[test]
    fn of_several_checked_paths_the_first_that_answers_is_taken() {
        for answers in [2_u16, 3, 4] {
            let mut roam = Roam::new(at(0), addr(1), addr(2), Standing::Checked);
            roam.add(at(0), addr(3), Standing::Checked);
            roam.add(at(0), addr(4), Standing::Checked);
            assert_eq!(also_to(&mut roam, 1_000), [2, 3, 4]);
            let decided = run(&mut roam, 0..3_000, answers, &[answers]);
            assert!(
                matches!(decided[..], [(380..=600, Outcome::Moved(to))] if to == addr(answers)),
                "{decided:?}"
            );
        }
    }

    #[test]
    fn checked_paths_go_soon_when_the_one_in_use_answers_again() {
        let mut roam = Roam::new(at(0), addr(1), addr(2), Standing::Checked);
        roam.add(at(0), addr(3), Standing::Checked);
        let decided = run(&mut roam, 100..3_000, 1, &[1]);
        assert!(matches!(decided[..], [(500..=620, Outcome::Settled)]), "{decided:?}");
    }

    #[test]
    fn no_more_paths_than_there_is_room_for() {
        let mut roam = Roam::new(at(0), addr(1), addr(2), UNPROVEN);
        (3..30).for_each(|port| roam.add(at(0), addr(port), Standing::Checked));
        roam.heard(at(400), (addr(40), UNPROVEN), 50, true);
        assert_eq!(
            also_to(&mut roam, 10),
            [3, 4, 5, 40],
            "a newer packet takes the place of the unproven one"
        );
        assert_eq!(roam.challenge(at(400), LEN, || 1).into_iter().flatten().count(), 1 + MAX_CANDIDATES);
    }

    #[test]
    fn a_better_path_finds_room_among_many_candidates() {
        let mut roam = Roam::new(at(0), addr(1), addr(2), Standing::Unproven);
        (3..=5).for_each(|port| roam.add(at(0), addr(port), Standing::Checked));
        let ports = |roam: &Roam| roam.paths.iter().map(|path| path.addr.port()).collect::<Vec<_>>();
        roam.add(at(0), addr(7), Standing::Checked);
        assert_eq!(ports(&roam), [1, 2, 3, 4, 5], "another fallback does not");
        roam.add(at(0), addr(6), Standing::Preferred);
        assert_eq!(ports(&roam), [1, 2, 3, 4, 6]);
    }

    #[test]
    fn a_named_path_that_never_answers_gets_two_seconds_of_a_match() {
        let mut roam = Roam::new(at(0), addr(1), addr(2), Standing::Checked);
        let sent: usize = (0..1_000).map(|_| also_to(&mut roam, 64).len() * 64).sum();
        assert_eq!(sent as u64, CHECKED_BYTES);
        roam.paths[1].challenges.sent(at(0), 7);
        assert!(roam.proof(7));
        assert_eq!(also_to(&mut roam, 64), [2]);
    }

    #[test]
    fn checked_path_that_comes_back_late_is_found() {
        let mut roam = Roam::new(at(0), addr(1), addr(2), Standing::Checked);
        let mut challenges = 0;
        for ms in 0..25_000 {
            also_to(&mut roam, 64);
            roam.add(at(ms), addr(2), Standing::Checked);
            let sent = roam.challenge(at(ms), LEN, || ms);
            challenges += usize::from(ms >= 5_000 && sent[1].is_some());
            assert_eq!(roam.decide(at(ms), RTT), Outcome::Undecided);
        }
        assert_eq!(challenges, 20, "one a second");
        let decided = run(&mut roam, 25_000..27_000, 2, &[2]);
        assert!(matches!(decided[..], [(_, Outcome::Moved(to))] if to == addr(2)), "{decided:?}");
    }

    /// The old address answers after a round trip of half a second, and somebody who forwards at once.
    #[test]
    fn a_long_round_trip_is_no_silence() {
        let (mut roam, trip) = (Roam::new(at(0), addr(1), addr(2), UNPROVEN), Span::from_millis(500));
        for ms in (0..5_000).step_by(100) {
            roam.heard(at(ms), (addr(2), UNPROVEN), 47, true);
            roam.paths[1].answered = Some(at(ms));
            roam.paths[0].answered = ms.checked_sub(500).map(at);
            assert_eq!(roam.decide(at(ms + 99), trip), Outcome::Undecided, "{ms}");
        }
        let mut roam = Roam::new(at(0), addr(1), addr(2), Standing::Checked);
        assert_eq!(roam.decide(at(800), trip), Outcome::Undecided, "a checked path stays until it answers");
    }

    #[test]
    fn the_old_address_gets_a_new_chance_beside_each_candidate() {
        let mut roam = Roam::new(at(0), addr(1), addr(2), UNPROVEN);
        roam.challenge(at(0), LEN, || 1);
        roam.heard(at(1_900), (addr(2), UNPROVEN), 47, false);
        assert!(roam.proof(1) && roam.decide(at(300), RTT) == Outcome::Undecided);
        roam.challenge(at(1_990), LEN, || 2);
        roam.heard(at(2_000), (addr(3), UNPROVEN), 47, true);
        let mut value = 2;
        let sent = roam.challenge(at(2_000), LEN, || {
            value += 1;
            value
        });
        assert!(roam.proof(sent[1].unwrap().1));
        assert_eq!((roam.decide(at(2_005), RTT), roam.paths[1].addr), (Outcome::Undecided, addr(3)));
    }
}
