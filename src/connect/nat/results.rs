//! The results of connectivity checks: what was sent on each path, what was answered, and what the peer has chosen.

use super::paths::Path;
use crate::protocol::time::{Span, Time};
use crate::wire::stun::id_of;
use std::collections::VecDeque;
use std::net::SocketAddr;

/// The most checks on a path that has never answered.
pub(super) const MAX_UNANSWERED: u8 = 6;
/// On a path on which checks of the peer come, from an address that it has named, this many times as many.
pub(super) const MAX_ROUNDS: u8 = 8;
/// The most paths that a peer's checks may add to those of its candidates: a recorded check can be sent from anywhere.
pub(super) const MAX_DISCOVERED: usize = 8;
/// Checks that may still be answered.
const MAX_SENT: usize = 64;

/// The results of the checks on one path.
#[derive(Clone, Copy, Debug)]
struct Checked {
    path: Path,
    /// Whether a check of the peer came on it before any of ours was sent there.
    discovered: bool,
    /// The checks that were sent on it, which are bounded until one is answered, and those of the peer that came on it.
    sent: u8,
    came: u8,
    /// The newest check that was answered: when that was, and its round trip.
    answered: Option<(Time, Span)>,
    /// The place in the order in which the peer, which controls, has chosen paths.
    chosen: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Sent {
    id: [u8; 12],
    path: Path,
    at: Time,
}

/// The results of one search.
#[derive(Debug, Default)]
pub(super) struct Results {
    paths: Vec<Checked>,
    sent: VecDeque<Sent>,
    /// How many paths the peer has chosen so far.
    choices: u32,
    /// Whether a check of the peer has ever come.
    heard: bool,
}

impl Results {
    /// Forgets all paths. Checks that were sent may still be answered.
    pub(super) fn clear(&mut self) {
        self.paths.clear();
    }

    /// Notes a check of the peer, whose address it has `named` or not. `false` if it may not add one more path: its source may
    /// be a replay.
    pub(super) fn note_request(&mut self, path: Path, named: bool) -> bool {
        self.heard = true;
        let discovered = self.paths.iter().filter(|checked| checked.discovered).count();
        let is_known = self.paths.iter().any(|checked| checked.path == path);
        if !is_known && !named && discovered >= MAX_DISCOVERED {
            return false;
        }
        let checked = self.entry(path, !named);
        checked.came = checked.came.saturating_add(u8::from(named));
        true
    }

    /// The peer, which controls, has chosen a path. Its first choice of each path counts.
    pub(super) fn note_choice(&mut self, path: Path) {
        let next = self.choices + 1;
        let entry = self.paths.iter_mut().find(|checked| checked.path == path);
        if let Some(checked) = entry.filter(|checked| checked.chosen.is_none()) {
            checked.chosen = Some(next);
            self.choices = next;
        }
    }

    /// Notes a check of ours. `false` if the path has had as many as it gets without an answer.
    pub(super) fn note_check(&mut self, now: Time, path: Path, message: &[u8]) -> bool {
        let checked = self.entry(path, false);
        // A peer that checks us from an address that it has named receives there, and its answers may be lost.
        let max = MAX_UNANSWERED * (1 + checked.came.min(MAX_ROUNDS - 1));
        if checked.sent >= max && checked.answered.is_none() {
            return false;
        }
        checked.sent = checked.sent.saturating_add(1);
        let Some(id) = id_of(message) else { return false };
        if self.sent.len() == MAX_SENT {
            self.sent.pop_front();
        }
        self.sent.push_back(Sent { id, path, at: now });
        true
    }

    /// Notes an answer to a check of ours. It counts on the path of that check alone.
    pub(super) fn note_answer(&mut self, now: Time, path: Path, message: &[u8]) -> bool {
        let Some(id) = id_of(message) else { return false };
        let Some(at) = self.sent.iter().position(|sent| sent.id == id && sent.path == path) else {
            return false;
        };
        let Some(sent) = self.sent.remove(at) else { return false };
        if let Some(checked) = self.paths.iter_mut().find(|checked| checked.path == path) {
            checked.answered = Some((now, now.since(sent.at)));
        }
        true
    }

    fn entry(&mut self, path: Path, discovered: bool) -> &mut Checked {
        let known = self.paths.iter().position(|checked| checked.path == path);
        let at = known.unwrap_or_else(|| {
            self.paths.push(Checked { path, discovered, sent: 0, came: 0, answered: None, chosen: None });
            self.paths.len() - 1
        });
        &mut self.paths[at]
    }

    /// Whether a check was sent or came on a path.
    pub(super) fn knows(&self, path: Path) -> bool {
        self.paths.iter().any(|checked| checked.path == path)
    }

    /// Whether a check of the peer has ever come.
    pub(super) fn heard(&self) -> bool {
        self.heard
    }

    /// Whether a check of ours was answered on any path.
    pub(super) fn is_answered(&self) -> bool {
        self.paths.iter().any(|checked| checked.answered.is_some())
    }

    /// When a check on a path was last answered, and its round trip.
    pub(super) fn answered(&self, path: Path) -> Option<(Time, Span)> {
        self.paths.iter().find(|checked| checked.path == path)?.answered
    }

    /// The peer's newest choice on which a check of ours was answered.
    pub(super) fn newest_choice(&self) -> Option<Path> {
        let works =
            self.paths.iter().filter(|checked| checked.answered.is_some() && checked.chosen.is_some());
        works.max_by_key(|checked| checked.chosen).map(|checked| checked.path)
    }

    /// The other ends of the paths through our relay on which a check was answered.
    pub(super) fn relayed(&self) -> impl Iterator<Item = SocketAddr> + '_ {
        let working = self.paths.iter().filter(|checked| checked.answered.is_some());
        working.filter(|checked| checked.path.relayed).map(|checked| checked.path.remote)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(last: u8) -> Path {
        Path { relayed: false, remote: ([192, 0, 2, last], 7).into() }
    }

    fn message(n: u8) -> Vec<u8> {
        [[0, 1, 0, 0, 0, 0, 0, 0], [n; 8], [n; 8]].concat()
    }

    fn answer(results: &mut Results, path: Path) {
        assert!(results.note_check(Time::ZERO, path, &message(200)));
        assert!(results.note_answer(Time::ZERO, path, &message(200)));
    }

    #[test]
    fn replayed_nomination_does_not_move_the_controlled_side() {
        let mut results = Results::default();
        for path in [path(1), path(2)] {
            assert!(results.note_request(path, true));
            results.note_choice(path);
            answer(&mut results, path);
        }
        assert_eq!(results.newest_choice(), Some(path(2)));
        results.note_choice(path(1));
        assert_eq!(results.newest_choice(), Some(path(2)));
        results.note_choice(path(3));
        assert_eq!(results.newest_choice(), Some(path(2)), "no check came on it");
    }

    #[test]
    fn path_that_the_peer_checks_gets_eight_times_as_many_checks() {
        let sent = |came: usize, named: bool| {
            let mut results = Results::default();
            (0..came).for_each(|_| assert!(results.note_request(path(1), named)));
            (0..100).filter(|_| results.note_check(Time::ZERO, path(1), &message(1))).count()
        };
        assert_eq!([sent(0, true), sent(1, true), sent(3, true), sent(50, true)], [6, 12, 24, 48]);
        assert_eq!(sent(50, false), 6, "a recorded check may come from anywhere");
        let mut results = Results::default();
        let sent = |results: &mut Results| {
            (0..100).filter(|_| results.note_check(Time::ZERO, path(1), &message(1))).count()
        };
        assert_eq!(sent(&mut results), 6);
        assert!(results.note_request(path(1), true));
        assert_eq!(sent(&mut results), 6, "those that were held back do not count");
    }

    #[test]
    fn newest_checks_are_those_that_may_be_answered() {
        let (mut results, path) = (Results::default(), path(1));
        answer(&mut results, path);
        (0..=MAX_SENT as u8).for_each(|n| assert!(results.note_check(Time::ZERO, path, &message(n))));
        assert!(results.note_answer(Time::ZERO, path, &message(MAX_SENT as u8)));
        assert!(results.note_answer(Time::ZERO, path, &message(1)));
        assert!(!results.note_answer(Time::ZERO, path, &message(0)), "the oldest has made room");
    }

    #[test]
    fn round_trip_is_that_of_the_newest_answer() {
        let (mut results, path) = (Results::default(), path(1));
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        for (sent, answered) in [(0, 30), (100, 110)] {
            assert!(results.note_check(at(sent), path, &message(1)));
            assert!(results.note_answer(at(answered), path, &message(1)));
        }
        assert_eq!(results.answered(path), Some((at(110), Span::from_millis(10))));
    }
}
