//! The search for paths to one peer: its letters, its checks, and the offers to the seal.

use super::candidate::{Candidate, Kind};
use super::checks::{Bases, Checks};
use super::letter::{Credentials, Letter};
use super::origin::Origin;
use super::paths::Path;
use crate::seal::MAX_FALLBACKS;
use core::time::Duration;
use std::net::SocketAddr;

/// A letter is sent again after this long, which doubles, while the peer's is missing.
const REPEAT: Duration = Duration::from_millis(150);
/// A letter of ours is sent so often at most.
const MAX_REPEATS: u32 = 6;
/// A peer's new search is taken up at most this often.
const RESTART_AFTER: Duration = Duration::from_millis(500);

/// In a new search, addresses that the peer has not named are taken after this long.
const NAMED_FIRST: Duration = Duration::from_millis(500);

/// The seal has this long to take an offered path.
const SETTLES: Duration = Duration::from_millis(500);
/// A check that was answered proves a path for this long. A path that works answers one every 5 s.
const PROVEN: Duration = Duration::from_secs(15);
/// Our own addresses are looked up again after this long while nothing comes.
const DOUBTED: Duration = Duration::from_secs(2);

/// Own facts for a search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Own<'a> {
    pub(super) credentials: Credentials,
    pub(super) tie_breaker: u64,
    pub(super) bases: Bases,
    pub(super) candidates: &'a [Candidate],
    pub(super) no_relay: bool,
}

/// The search for paths to one peer, from its first letter on.
#[derive(Debug)]
pub(super) struct Search {
    pub(super) shown: SocketAddr,
    controlling: bool,
    origin: Origin,
    generation: u8,
    pub(super) checks: Checks,
    /// Our letter of this generation, and the candidates in it.
    text: Vec<u8>,
    pub(super) candidates: Vec<Candidate>,
    /// When our letter is to be sent again, and how often it was.
    repeat_at: Option<Duration>,
    repeats: u32,
    /// When the peer's letter was last taken up, or answered.
    heard_at: Duration,
    pub(super) since: Duration,
    /// Whether the peer wants no path through a relay.
    pub(super) no_relay: bool,
    /// The path that the seal was last told of, with its round trip.
    pub(super) offered: Option<(Path, Duration)>,
    /// Whether the seal has ever had a path.
    pub(super) connected: bool,
    /// The peer's address on its relay, of this search or the last one.
    their_relay: Option<SocketAddr>,
    /// The address of the offered path, and when it was offered.
    pub(super) offered_as: Option<(SocketAddr, Duration)>,
    /// The paths to try when nothing comes, and when a check on each was last answered, in this search or the last one.
    fallbacks: [Option<(Path, Duration)>; MAX_FALLBACKS],
    /// When our own addresses were last doubted.
    doubted_at: Option<Duration>,
}

impl Search {
    pub(super) fn new(
        now: Duration,
        origin: Origin,
        shown: SocketAddr,
        controlling: bool,
        own: &Own<'_>,
    ) -> Self {
        let mut search = Self {
            shown,
            controlling,
            origin,
            generation: 0,
            checks: Checks::new(origin, &own.credentials, own.tie_breaker, controlling, own.bases),
            text: Vec::new(),
            candidates: Vec::new(),
            repeat_at: None,
            repeats: 0,
            heard_at: now,
            since: now,
            no_relay: false,
            offered: None,
            connected: false,
            their_relay: None,
            offered_as: None,
            fallbacks: [None; MAX_FALLBACKS],
            doubted_at: None,
        };
        search.write(own);
        search
    }

    /// Our letter of this generation.
    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    fn write(&mut self, own: &Own<'_>) {
        let (no_relay, generation, credentials) = (own.no_relay, self.generation, own.credentials);
        self.candidates = own.candidates.to_vec();
        let candidates = self.candidates.clone();
        self.text = Letter { no_relay, generation, credentials, candidates }.encode();
    }

    fn renew(&mut self, now: Duration, generation: u8, own: &Own<'_>) {
        self.generation = generation;
        self.checks =
            Checks::new(self.origin, &own.credentials, own.tie_breaker, self.controlling, own.bases);
        self.write(own);
        (self.repeat_at, self.repeats) = (Some(now), 0);
        self.offered = None;
    }

    /// Begins a new search, with a letter to the peer.
    pub(super) fn restart(&mut self, now: Duration, own: &Own<'_>) {
        self.renew(now, self.generation.wrapping_add(1), own);
    }

    /// Takes the peer's letter with the handshake.
    pub(super) fn begin(&mut self, letter: &Letter, theirs: &[Candidate]) {
        self.no_relay = letter.no_relay;
        let relayed = theirs.iter().find(|one| one.kind == Kind::Relayed).map(|one| one.addr);
        self.their_relay = relayed.or(self.their_relay);
        self.checks.begin(&letter.credentials, theirs);
    }

    /// Checks the peer's addresses anew, with the same letters.
    pub(super) fn again(&mut self, now: Duration, credentials: &Credentials, theirs: &[Candidate]) {
        self.checks.again();
        self.checks.begin(credentials, theirs);
        self.since = now;
    }

    /// Whether a letter of the peer begins a newer search than ours. One that comes too soon is left for its repetition.
    pub(super) fn is_newer(&self, now: Duration, letter: &Letter) -> bool {
        let ahead = letter.generation.wrapping_sub(self.generation);
        (1..128).contains(&ahead) && now.saturating_sub(self.heard_at) >= RESTART_AFTER
    }

    /// Takes up the peer's newer search.
    pub(super) fn follow(&mut self, now: Duration, letter: &Letter, theirs: &[Candidate], own: &Own<'_>) {
        self.renew(now, letter.generation, own);
        self.heard_at = now;
        self.begin(letter, theirs);
    }

    /// Takes a letter of the search that is on. `false` if it is of another one.
    pub(super) fn answer(&mut self, now: Duration, letter: &Letter, theirs: &[Candidate]) -> bool {
        if letter.generation != self.generation {
            return false;
        }
        if !self.checks.has_begun() {
            self.begin(letter, theirs);
            self.repeat_at = None;
        } else if self.repeat_at.is_none() && now.saturating_sub(self.heard_at) >= REPEAT {
            // Ours was lost.
            self.heard_at = now;
            self.repeat_at = Some(now);
        }
        true
    }

    /// Whether our letter is to be sent now. The next time is noted.
    pub(super) fn letter_due(&mut self, now: Duration) -> bool {
        if self.repeat_at.is_none_or(|at| at > now) {
            return false;
        }
        self.repeats += 1;
        let again = !self.checks.has_begun() && self.repeats < MAX_REPEATS;
        self.repeat_at = again.then(|| now + REPEAT * (1 << (self.repeats - 1)));
        true
    }

    pub(super) fn deadline(&self) -> Option<Duration> {
        [self.checks.deadline(), self.repeat_at].into_iter().flatten().min()
    }

    /// The path to offer to the seal, if it is another than before.
    ///
    /// An address that the peer has not named may be that of a symmetric NAT, or of somebody who forwards checks: it is
    /// taken where there is nothing better than a relay, and in a new search after the named ones had their time.
    pub(super) fn offer(&mut self, now: Duration, in_use: Option<SocketAddr>) -> Option<(Path, Duration)> {
        let chosen = self.checks.chosen()?;
        if !self.checks.is_named(chosen.0) {
            let direct = self.offered.is_some_and(|(path, _)| !self.is_relayed(path));
            if direct || self.generation > 0 && now < self.since + NAMED_FIRST {
                return None;
            }
        }
        if self.offered.is_some_and(|(path, _)| path == chosen.0) {
            self.offered = Some(chosen);
            // The seal may have left it, or had no room for it, while it was proven to work again.
            let (addr, at) = self.offered_as?;
            let proven = self.checks.answered_at(chosen.0).is_some_and(|answered| answered > at + SETTLES);
            return (Some(addr) != in_use && proven).then_some(chosen);
        }
        self.offered = Some(chosen);
        Some(chosen)
    }

    /// Looks which paths are to be tried when nothing comes: to the peer's relay, and through ours to its relay and to where it
    /// was seen. Each must have answered a check, because the peer may have named somebody else. `true` if they have changed.
    pub(super) fn find_fallbacks(&mut self, now: Duration, direct: bool, relayed: bool) -> bool {
        // A new search keeps those of the last one until the peer has named its addresses.
        if !self.checks.has_begun() {
            return false;
        }
        let of = |kind| self.checks.remote().iter().find(move |one| one.kind == kind).map(|one| one.addr);
        let (theirs, seen) = (of(Kind::Relayed), of(Kind::Reflexive).or(of(Kind::Host)));
        let to = |relayed| move |remote| Path { relayed, remote };
        let (outside, through) = (direct && !self.no_relay, relayed && !self.no_relay);
        let wanted = [
            theirs.filter(|_| outside).map(to(false)),
            theirs.filter(|_| through).map(to(true)),
            seen.filter(|_| through).map(to(true)),
        ];
        let before = self.fallbacks;
        let proven_at = |path| {
            let last = before.iter().flatten().find(|(one, _)| *one == path).map(|(_, at)| *at);
            self.checks.answered_at(path).max(last).filter(|at| now < *at + PROVEN)
        };
        self.fallbacks = wanted.map(|path| path.and_then(|path| Some((path, proven_at(path)?))));
        let path = |one: &Option<(Path, Duration)>| one.map(|(path, _)| path);
        !self.fallbacks.iter().map(path).eq(before.iter().map(path))
    }

    pub(super) fn fallbacks(&self) -> impl Iterator<Item = Path> + '_ {
        self.fallbacks.iter().flatten().map(|(path, _)| *path)
    }

    /// Whether our own addresses are to be looked up: because nothing is opened any more, or because the seal has left the path
    /// that was offered. Not at once again.
    pub(super) fn doubts(&mut self, now: Duration, silent: bool, in_use: Option<SocketAddr>) -> bool {
        let left = self.offered_as.is_some_and(|(addr, at)| Some(addr) != in_use && now >= at + SETTLES);
        let rested = self.doubted_at.is_none_or(|at| now >= at + if silent { DOUBTED } else { DOUBTED * 5 });
        let doubts = (silent || left) && rested;
        match (silent || left, doubts) {
            (false, _) => self.doubted_at = None,
            (true, true) => self.doubted_at = Some(now),
            (true, false) => {}
        }
        doubts
    }

    /// Whether a path goes through a relay, ours or the peer's.
    pub(super) fn is_relayed(&self, path: Path) -> bool {
        path.relayed || self.their_relay == Some(path.remote)
    }
}
