//! The paths that get copies when nothing comes, each proven by an answered check.

use super::paths::Path;
use crate::connect::seal::MAX_FALLBACKS;
use crate::protocol::time::{Span, Time};

/// A check that was answered proves a path for this long, and while nothing comes on any path: a check is not answered in an outage
/// either. A path that works answers one every 5 s.
pub(super) const PROVEN: Span = Span::from_secs(15);

/// The fallbacks of one search, and when a check on each was last answered, in this search or the last one.
#[derive(Debug, Default)]
pub(super) struct Fallbacks([Option<(Path, Time)>; MAX_FALLBACKS]);

impl Fallbacks {
    /// Keeps those of the `wanted` paths that are proven. `is_silent`: nothing comes. `true` if they have changed.
    pub(super) fn set(
        &mut self,
        now: Time,
        is_silent: bool,
        wanted: [Option<Path>; MAX_FALLBACKS],
        answered_at: impl Fn(Path) -> Option<Time>,
    ) -> bool {
        let before = self.0;
        let proven_at = |path| {
            let last = before.iter().flatten().find(|(one, _)| *one == path).map(|(_, at)| *at);
            answered_at(path).max(last).filter(|at| now < *at + PROVEN || is_silent && last.is_some())
        };
        self.0 = wanted.map(|path| path.and_then(|path| Some((path, proven_at(path)?))));
        let path = |one: &Option<(Path, Time)>| one.map(|(path, _)| path);
        !self.0.iter().map(path).eq(before.iter().map(path))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Path> + '_ {
        self.0.iter().flatten().map(|(path, _)| *path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(last: u8) -> Path {
        Path { relayed: true, remote: ([192, 0, 2, last], 7).into() }
    }

    #[test]
    fn fallback_keeps_its_proof_for_a_while() {
        let (mut fallbacks, wanted) = (Fallbacks::default(), [None, Some(path(1)), Some(path(2))]);
        let answered = |one| (one == path(2)).then_some(Time::ZERO);
        assert!(fallbacks.set(Time::ZERO, false, wanted, answered));
        assert_eq!(fallbacks.iter().collect::<Vec<_>>(), [path(2)]);
        let nothing = |_| None;
        assert!(!fallbacks.set(Time::ZERO + (PROVEN - Span::from_millis(1)), false, wanted, nothing));
        assert!(!fallbacks.set(Time::ZERO + PROVEN * 2, true, wanted, nothing), "in an outage it is kept");
        assert!(fallbacks.set(Time::ZERO + PROVEN, false, wanted, nothing), "the proof is too old");
        assert!(!fallbacks.set(Time::ZERO + PROVEN, true, wanted, answered), "an outage proves nothing");
        assert!(fallbacks.set(Time::ZERO, false, wanted, answered));
        assert!(fallbacks.set(Time::ZERO, false, [None; 3], answered), "nothing is wanted");
        assert_eq!(fallbacks.iter().count(), 0);
    }
}
