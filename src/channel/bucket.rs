//! A limit on a rate, token by token.

use crate::protocol::time::{Span, Time};

const SECOND: Span = Span::from_secs(1);

/// A token bucket. Tokens come one by one, so that there is no moment at which all are used up for the rest of a second.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bucket {
    /// The time between two tokens.
    interval: Span,
    /// The time in which a full bucket fills.
    depth: Span,
    /// When the bucket is full again.
    full_at: Time,
}

impl Bucket {
    /// A full bucket that fills in `depth`, with a token every `interval`.
    pub(crate) fn new(interval: Span, depth: Span) -> Self {
        Self { interval, depth, full_at: Time::ZERO }
    }

    /// A full bucket with `max` tokens a second, a quarter of them at once.
    pub(crate) fn per_second(max: u32) -> Self {
        let interval = SECOND / max.max(1);
        Self::new(interval, if max == 0 { Span::ZERO } else { interval.max(SECOND / 4) })
    }

    /// Takes a token. `false` if there is none.
    pub(crate) fn take(&mut self, now: Time) -> bool {
        self.take_many(now, 1)
    }

    /// Takes this many tokens. `false`, and none is taken, if there are not as many.
    pub(crate) fn take_many(&mut self, now: Time, tokens: u32) -> bool {
        let full_at = self.full_at.max(now) + self.interval * tokens;
        let is_left = full_at.since(now) <= self.depth;
        if is_left {
            self.full_at = full_at;
        }
        is_left
    }

    /// When there are this many tokens, of which a full bucket has as many.
    #[cfg(feature = "seal")]
    pub(crate) fn has_at(&self, tokens: u32) -> Time {
        let spent = self.full_at + self.interval * tokens;
        Time::ZERO + spent.since(Time::ZERO + self.depth)
    }

    /// When the bucket is full again.
    #[cfg(feature = "nat")]
    pub(crate) fn full_at(&self) -> Time {
        self.full_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
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
