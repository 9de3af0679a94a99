//! Requests of one source in a second, counted in a table of fixed size.

use crate::peer::keyed_hash::{Key, keyed_hash};
use crate::peer::source::Source;
use crate::time::{Span, Time};

/// Sources that fall on one place share its quota. A stranger who does not know the key cannot choose the place.
const PLACES: usize = 4_096;

/// A quota of requests for each source and second.
#[derive(Debug)]
pub(super) struct Quota {
    key: Key,
    second: u64,
    used: Vec<u8>,
    max: u8,
}

impl Quota {
    pub(super) fn new(key: Key, max: u8) -> Self {
        Self { key, second: 0, used: vec![0; PLACES], max }
    }

    /// Takes one request of a source. `false` if it has had all of this second.
    pub(super) fn take(&mut self, now: Time, source: Source) -> bool {
        let second = second(now);
        if self.second != second {
            self.second = second;
            self.used.fill(0);
        }
        let bytes = match source {
            Source::V4([a, b, c, d]) => [a, b, c, d, 0, 0, 0, 0],
            Source::V6(prefix) => prefix,
        };
        let used = &mut self.used[keyed_hash(self.key, &bytes) as usize % PLACES];
        let is_left = *used < self.max;
        *used += u8::from(is_left);
        is_left
    }
}

/// A quota of requests a second for all sources together.
#[derive(Debug, Default)]
pub(super) struct Total {
    second: u64,
    used: u32,
}

impl Total {
    /// Takes one of `max` a second. `false` if all are used.
    pub(super) fn take(&mut self, now: Time, max: u32) -> bool {
        let second = second(now);
        if self.second != second {
            *self = Self { second, used: 0 };
        }
        let is_left = self.used < max;
        self.used += u32::from(is_left);
        is_left
    }
}

fn second(now: Time) -> u64 {
    now.since(Time::ZERO).nanos() / Span::from_secs(1).nanos()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(at: u8) -> Source {
        Source::of(([192, 0, 2, at], 7_000).into())
    }

    #[test]
    fn a_source_has_its_quota_in_each_second() {
        let mut quota = Quota::new((1, 2), 3);
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        let taken = |quota: &mut Quota, ms, from| (0..5).filter(|_| quota.take(at(ms), from)).count();
        assert_eq!(taken(&mut quota, 100, source(1)), 3);
        assert_eq!(taken(&mut quota, 900, source(1)), 0);
        assert_eq!(taken(&mut quota, 900, source(2)), 3);
        assert_eq!(taken(&mut quota, 1_000, source(1)), 3);
    }

    #[test]
    fn the_total_begins_anew_in_each_second() {
        let mut total = Total::default();
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        let taken = |total: &mut Total, ms| (0..9).filter(|_| total.take(at(ms), 4)).count();
        assert_eq!([taken(&mut total, 5_000), taken(&mut total, 5_999), taken(&mut total, 6_000)], [4, 0, 4]);
    }
}
