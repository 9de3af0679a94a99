//! Paths of a connection that somebody else has checked: which one to use, and which to try when nothing comes.

use super::Seal;
use super::association::{Association, NO_PATH};
use super::roam::{Roam, Standing};
use crate::protocol::time::{Span, Time};
use core::time::Duration;
use std::net::SocketAddr;

/// Nothing was opened for so long that other paths are tried.
const SILENT: Span = Span::from_millis(300);
/// A connection on which packets are rare is silent after so many times their interval.
const SILENT_INTERVALS: u32 = 4;
/// The interval of packets before any was measured.
const FIRST_INTERVAL: Span = Span::from_secs(1);
/// The most paths that are tried when nothing comes.
pub const MAX_FALLBACKS: usize = 3;

/// The checked paths of a connection.
#[derive(Debug)]
pub(super) struct Paths {
    /// Those that get copies when nothing is opened any more.
    pub(super) fallbacks: Vec<SocketAddr>,
    /// One that is better than the path in use.
    preferred: Option<SocketAddr>,
    /// Whether the first path was found since the inner protocol was told.
    pub(super) found: bool,
    /// The mean interval between opened packets.
    interval: Span,
}

impl Default for Paths {
    fn default() -> Self {
        let fallbacks = Vec::with_capacity(MAX_FALLBACKS);
        Self { fallbacks, preferred: None, found: false, interval: FIRST_INTERVAL }
    }
}

impl Association {
    pub(super) fn has_path(&self) -> bool {
        self.outer_addr != NO_PATH
    }

    /// Notes the time of an opened packet.
    #[inline]
    pub(super) fn opened(&mut self, now: Time) {
        self.paths.interval = self.paths.interval.averaged(now.since(self.opened_at), 8);
        self.opened_at = now;
    }

    /// When nothing was opened for longer than the interval of packets explains.
    fn silent_at(&self) -> Time {
        self.opened_at + SILENT.max(self.paths.interval * SILENT_INTERVALS)
    }

    /// Tries a better path, and the fallbacks if nothing was opened for too long. Returns when to look again.
    pub(super) fn try_paths(&mut self, now: Time) -> Time {
        if let Some(better) = self.paths.preferred.take() {
            self.try_path(now, better, Standing::Preferred);
        }
        if self.paths.fallbacks.is_empty() {
            return Time::NEVER;
        }
        let silent_at = self.silent_at();
        if now < silent_at {
            return silent_at;
        }
        for at in 0..self.paths.fallbacks.len() {
            self.try_path(now, self.paths.fallbacks[at], Standing::Checked);
        }
        now + SILENT
    }

    fn try_path(&mut self, now: Time, addr: SocketAddr, standing: Standing) {
        match &mut self.roam {
            _ if addr == self.outer_addr => {}
            Some(roam) => roam.add(now, addr, standing),
            None => self.roam = Some(Box::new(Roam::new(now, self.outer_addr, addr, standing))),
        }
    }
}

impl Seal {
    /// A path to the peer at `inner_addr` was checked, by credentials of its signal, and is the best one now.
    ///
    /// The first one is used at once: the opening message of a joiner by signalling goes out on it. A later one takes over when it has answered a
    /// challenge, and until then it gets copies.
    pub fn offer_path(
        &mut self,
        now: Duration,
        inner_addr: SocketAddr,
        path: SocketAddr,
        round_trip: Duration,
    ) {
        let at = self.associations.towards(inner_addr);
        let Some(association) = at.and_then(|at| self.associations.get_mut(at)) else { return };
        if !association.has_path() || !association.confirmed {
            association.outer_addr = path;
            association.round_trip = round_trip.into();
            association.opened_at = now.into();
            association.paths.found = true;
        } else if association.outer_addr != path {
            association.paths.preferred = Some(path);
        }
        self.stir();
    }

    /// The checked paths to the peer at `inner_addr`, at most [`MAX_FALLBACKS`], that get copies after 300 ms without an opened
    /// packet. The seal decides by the packets that it opens which of them it takes.
    pub fn set_fallbacks(&mut self, inner_addr: SocketAddr, paths: &[SocketAddr]) {
        let at = self.associations.towards(inner_addr);
        if let Some(association) = at.and_then(|at| self.associations.get_mut(at)) {
            association.paths.fallbacks.clear();
            association.paths.fallbacks.extend(paths.iter().take(MAX_FALLBACKS));
            self.stir();
        }
    }

    /// Whether nothing was opened from the peer at `inner_addr` for so long that its fallbacks get copies.
    #[must_use]
    pub fn is_silent(&self, now: Duration, inner_addr: SocketAddr) -> bool {
        self.newest(inner_addr).is_some_and(|association| Time::from(now) >= association.silent_at())
    }

    /// Whether a connection uses this path, or has it as a fallback.
    #[must_use]
    pub fn is_path(&self, addr: SocketAddr) -> bool {
        self.associations.iter().any(|one| one.outer_addr == addr || one.paths.fallbacks.contains(&addr))
    }

    /// How long nothing was opened from the peer at `inner_addr`.
    #[must_use]
    pub fn silent_for(&self, now: Duration, inner_addr: SocketAddr) -> Option<Duration> {
        self.newest(inner_addr).map(|association| Time::from(now).since(association.opened_at).into())
    }
}
