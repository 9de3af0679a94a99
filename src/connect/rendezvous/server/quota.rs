//! Limits on the rate of requests: of each source, and of all together.

use crate::channel::keyed_hash::{Key, keyed_hash};
use crate::channel::source::Source;
use crate::protocol::time::{Span, Time};

/// Sources that fall on one place share its quota. A stranger who does not know the key cannot choose the place.
const PLACES: usize = 4_096;

const SECOND: Span = Span::from_secs(1);

/// A quota of requests for each source and second, counted in a table of fixed size.
#[derive(Debug)]
pub(super) struct Quota {
    key: Key,
    second: u64,
    used: Vec<u16>,
    max: u16,
}

impl Quota {
    pub(super) fn new(key: Key, max: u16) -> Self {
        Self { key, second: 0, used: vec![0; PLACES], max }
    }

    /// Takes one request of a source. `false` if it has had all of this second.
    pub(super) fn take(&mut self, now: Time, source: Source) -> bool {
        let second = now.since(Time::ZERO).nanos() / SECOND.nanos();
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
        *used += u16::from(is_left);
        is_left
    }
}

/// A token bucket. Tokens come one by one, so that there is no moment at which all are used up for the rest of a second.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bucket {
    /// The time between two tokens.
    interval: Span,
    /// The time in which a full bucket fills.
    depth: Span,
    /// When the bucket is full again.
    full_at: Time,
}

impl Bucket {
    /// A full bucket that fills in `depth`, with a token every `interval`.
    pub(super) fn new(interval: Span, depth: Span) -> Self {
        Self { interval, depth, full_at: Time::ZERO }
    }

    /// A full bucket with `max` tokens a second, a quarter of them at once.
    pub(super) fn per_second(max: u32) -> Self {
        let interval = SECOND / max.max(1);
        Self::new(interval, if max == 0 { Span::ZERO } else { interval.max(SECOND / 4) })
    }

    /// Takes a token. `false` if there is none.
    pub(super) fn take(&mut self, now: Time) -> bool {
        let full_at = self.full_at.max(now) + self.interval;
        let is_left = full_at.since(now) <= self.depth;
        if is_left {
            self.full_at = full_at;
        }
        is_left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn source(at: u8) -> Source {
        Source::machine(([192, 0, 2, at], 7_000).into())
    }

    #[test]
    fn a_source_has_its_quota_in_each_second() {
        let mut quota = Quota::new((1, 2), 3);
        let taken = |quota: &mut Quota, ms, from| (0..5).filter(|_| quota.take(at(ms), from)).count();
        assert_eq!(taken(&mut quota, 100, source(1)), 3);
        assert_eq!(taken(&mut quota, 900, source(1)), 0);
        assert_eq!(taken(&mut quota, 900, source(2)), 3);
        assert_eq!(taken(&mut quota, 1_000, source(1)), 3);
    }

    #[test]
    fn bucket_fills_token_by_token() {
        let mut bucket = Bucket::per_second(20);
        let taken = |bucket: &mut Bucket, ms| (0..99).filter(|_| bucket.take(at(ms))).count();
        assert_eq!([taken(&mut bucket, 5_000), taken(&mut bucket, 5_049)], [5, 0], "a quarter of a second");
        assert_eq!(
            [taken(&mut bucket, 5_050), taken(&mut bucket, 5_160), taken(&mut bucket, 9_000)],
            [1, 2, 5]
        );
        let in_a_second: usize = (0..100).map(|step| taken(&mut bucket, 20_000 + step * 10)).sum();
        assert!((20..=25).contains(&in_a_second), "{in_a_second}");
        assert_eq!(taken(&mut Bucket::per_second(2), 5_000), 1, "at least one at once");
        assert_eq!(taken(&mut Bucket::per_second(0), 5_000), 0);
    }
}
