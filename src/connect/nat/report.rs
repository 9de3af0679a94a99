//! The progress of a traversal, as it is told to a player.

use super::NatTraversal;
use super::candidate::Kind;
use super::progress::{NoWay, Progress, detour};
use super::search::Search;
use crate::connect::seal::Seal;
use core::time::Duration;
use std::net::SocketAddr;

/// Without a path for this long after both signals, there is none; and no signal for so long after ours is none at all.
const GIVE_UP: Duration = Duration::from_secs(7);
/// Nothing was opened for this long: it is said that the relay is lost, if it is.
const LOST_AFTER: Duration = Duration::from_secs(2);

/// The path to one peer that the seal uses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathTo {
    /// The address at its other end.
    pub(crate) addr: SocketAddr,
    pub(crate) is_relayed: bool,
    /// The most that the way through a relay can be longer.
    pub(crate) detour: Option<Duration>,
}

impl NatTraversal {
    /// The path to the peer that the seal shows as `shown`.
    pub(crate) fn path_to(&self, seal: &Seal, shown: SocketAddr) -> Option<PathTo> {
        let path = seal.outer_addr(shown).and_then(|addr| self.paths.path(addr))?;
        let search = self.searches.iter().rfind(|search| search.shown == shown);
        let is_relayed = path.relayed || search.is_some_and(|search| search.is_relayed(path));
        let detour = search.filter(|_| is_relayed).and_then(|search| self.detour(search));
        Some(PathTo { addr: path.remote, is_relayed, detour })
    }

    fn detour(&self, search: &Search) -> Option<Duration> {
        let whole = search.offered.map(|(_, round_trip)| round_trip);
        whole.zip(self.relay.round_trip).and_then(|(whole, leg)| detour(whole, leg))
    }

    pub(super) fn set_progress(&mut self, now: Duration, seal: &Seal) {
        let connected = self.searches.iter().rfind(|search| search.connected);
        let begun = || self.searches.iter().rfind(|search| search.checks.has_begun());
        // If there were answers, none could be opened.
        let unanswered = self.waiting.posted_at.is_some_and(|at| now >= at + GIVE_UP);
        let silent = self.waiting.silent.or(unanswered.then_some(NoWay::HostSilent));
        self.progress = match (connected.or_else(begun), silent) {
            (Some(search), _) => self.found(now, seal, search),
            (None, Some(why)) => Progress::NoWay { why },
            (None, None) if !self.waiting.met || self.signalling.is_manual() => {
                self.signalling.first_progress()
            }
            (None, None) if self.waiting.gathering.is_some() || !self.waiting.guests.is_empty() => {
                Progress::Gathering
            }
            (None, None) if self.signalling.is_host() => Progress::Waiting,
            (None, None) => Progress::Offering,
        };
    }

    /// How far the search for a peer is.
    fn found(&self, now: Duration, seal: &Seal, search: &Search) -> Progress {
        let path = seal.outer_addr(search.shown).and_then(|addr| self.paths.path(addr));
        let theirs = search.checks.remote();
        let relay = !search.no_relay
            && (self.relay.relayed().is_some() || theirs.iter().any(|one| one.kind == Kind::Relayed));
        match path {
            Some(path) if search.is_relayed(path) => {
                let silent = seal.silent_for(now, search.shown).unwrap_or_default();
                if self.relay.is_lost() && silent >= LOST_AFTER {
                    return Progress::NoWay { why: NoWay::RelayLost };
                }
                Progress::ThroughRelay { longer: self.detour(search) }
            }
            Some(_) => Progress::Direct,
            None if self.manual.waits() => Progress::Manual,
            None if now >= search.since + GIVE_UP => Progress::NoWay { why: NoWay::NoPath { relay } },
            None => Progress::Trying { addresses: theirs.len(), relay },
        }
    }
}
