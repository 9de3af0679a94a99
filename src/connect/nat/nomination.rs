//! The path that the checks have nominated, as the seal was told of it.

use super::paths::Path;
use crate::protocol::time::{Span, Time};
use std::net::SocketAddr;

/// The seal has this long to take a nominated path.
const SETTLES: Span = Span::from_millis(500);
/// The answer to a check shows for this long that a path works: the seal leaves one that is silent for longer.
const FRESH: Span = Span::from_millis(250);
/// Our own addresses are looked up again after this long while nothing comes.
const DOUBTED: Span = Span::from_secs(2);

/// The nominated path.
#[derive(Debug, Default)]
pub(super) struct Nomination {
    /// The path, with its round trip.
    path: Option<(Path, Span)>,
    /// The address under which the seal was told of it, and when.
    told: Option<(SocketAddr, Time)>,
    /// When our own addresses were last doubted.
    doubted_at: Option<Time>,
}

impl Nomination {
    pub(super) fn path(&self) -> Option<Path> {
        self.path.map(|(path, _)| path)
    }

    pub(super) fn round_trip(&self) -> Option<Span> {
        self.path.map(|(_, round_trip)| round_trip)
    }

    /// The next path is news to the seal, even if it is the same one.
    pub(super) fn clear(&mut self) {
        self.path = None;
    }

    /// The checks have nominated a path, which last answered one at `answered_at`. `true` if the seal is to be told: of another path
    /// than before, or of one that it has left, or had no room for, while it was proven to work again.
    pub(super) fn set(
        &mut self,
        now: Time,
        chosen: (Path, Span),
        answered_at: Time,
        in_use: Option<SocketAddr>,
    ) -> bool {
        let is_same = self.path() == Some(chosen.0);
        self.path = Some(chosen);
        let is_proven = |(addr, at): (SocketAddr, Time)| {
            Some(addr) != in_use && answered_at > at + SETTLES && now < answered_at + FRESH
        };
        !is_same || self.told.is_some_and(is_proven)
    }

    /// The seal was told of the path under this address.
    pub(super) fn told(&mut self, now: Time, addr: SocketAddr) {
        self.told = Some((addr, now));
    }

    /// Whether our own addresses are to be looked up: because nothing is opened any more, or because the seal has left the path
    /// that was nominated. Not at once again.
    pub(super) fn doubts(&mut self, now: Time, silent: bool, in_use: SocketAddr) -> bool {
        let left = self.told.is_some_and(|(addr, at)| addr != in_use && now >= at + SETTLES);
        let rested = self.doubted_at.is_none_or(|at| now >= at + if silent { DOUBTED } else { DOUBTED * 5 });
        match (silent || left, rested) {
            (false, _) => self.doubted_at = None,
            (true, true) => self.doubted_at = Some(now),
            (true, false) => {}
        }
        (silent || left) && rested
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn addr(last: u8) -> SocketAddr {
        ([192, 0, 2, last], 7).into()
    }

    fn path(last: u8) -> (Path, Span) {
        (Path { relayed: false, remote: addr(last) }, Span::from_millis(20))
    }

    #[test]
    fn path_that_the_seal_left_is_nominated_again() {
        let mut nomination = Nomination::default();
        assert!(nomination.set(at(0), path(1), at(0), None));
        assert!(!nomination.set(at(9_000), path(1), at(9_000), None), "the seal had no room for it");
        nomination.told(at(10), addr(1));
        assert!(!nomination.set(at(510), path(1), at(510), Some(addr(2))), "the seal has time to take it");
        assert!(!nomination.set(at(511), path(1), at(511), Some(addr(1))), "it is in use");
        assert!(!nomination.set(at(761), path(1), at(511), Some(addr(2))), "the seal may have left it since");
        assert!(nomination.set(at(511), path(1), at(511), Some(addr(2))));
        assert!(nomination.set(at(511), path(3), at(511), Some(addr(1))), "another path");
        nomination.clear();
        assert!(nomination.set(at(511), path(3), at(511), Some(addr(3))), "a new search");
    }

    #[test]
    fn own_addresses_are_doubted_anew_in_each_silence() {
        let mut nomination = Nomination::default();
        let mut doubts = |ms, silent| nomination.doubts(at(ms), silent, addr(2));
        assert!(doubts(0, true) && !doubts(1_999, true) && doubts(2_000, true));
        assert!(!doubts(2_100, false));
        assert!(doubts(2_200, true), "another silence");
        // A path that the seal has left is no silence, and is doubted less often.
        let mut nomination = Nomination::default();
        nomination.told(at(0), addr(1));
        let doubted: Vec<u64> = (0..12_000).filter(|ms| nomination.doubts(at(*ms), false, addr(2))).collect();
        assert_eq!(doubted, [500, 10_500]);
    }
}
