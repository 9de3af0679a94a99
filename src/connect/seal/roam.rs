//! A peer with more than one address: copies go to each, until it is certain which one to use.
//!
//! A newer packet from another address may come from a peer whose router has given it a new port, or from an attacker who
//! forwards its packets. Both addresses are challenged; the new one is adopted only when the old one stops answering. An
//! attacker who forwards cannot silence the old address, and does not redirect the traffic.
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

    /// Notes a decrypted packet of `len` bytes from `from`. A newer one from an unknown address becomes a candidate; if it is
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
mod tests;
