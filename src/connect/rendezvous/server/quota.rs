//! Limits on the rate of requests: of each source, and of all together.

use super::config::RendezvousConfig;
use crate::channel::bucket::Bucket;
use crate::channel::keyed_hash::{Key, keyed_hash};
use crate::channel::source::Source;
use crate::protocol::time::{Span, Time};
use crate::protocol::trace;

/// Sources that fall on one place share its quota. The place is a keyed hash, so an attacker cannot choose it.
const PLACES: usize = 4_096;

const SECOND: Span = Span::from_secs(1);
/// A larger network has this many times as many registrations a second as one source.
const SOURCES_PER_NETWORK: u16 = 4;

/// A quota of requests for each source and second, counted in a table of fixed size.
#[derive(Debug)]
struct Quota {
    key: Key,
    second: u64,
    used: Vec<u16>,
    max: u16,
}

impl Quota {
    fn new(key: Key, max: u16) -> Self {
        Self { key, second: 0, used: vec![0; PLACES], max }
    }

    /// Takes one request of a source. `false` if it has had all of this second.
    fn take(&mut self, now: Time, source: Source) -> bool {
        let second = now.since(Time::ZERO).nanos() / SECOND.nanos();
        if self.second != second {
            self.second = second;
            self.used.fill(0);
        }
        let used = &mut self.used[keyed_hash(self.key, source.bytes()) as usize % PLACES];
        let is_left = *used < self.max;
        *used += u16::from(is_left);
        is_left
    }
}

/// The limits on the requests of sources, of their networks, and of all together.
#[derive(Debug)]
pub(super) struct Limits {
    registrations: Quota,
    network_registrations: Quota,
    signatures: Bucket,
    posts: Quota,
    bindings: Quota,
}

impl Limits {
    /// The limits of a config. `key` draws the key of a name.
    pub(super) fn new(config: &RendezvousConfig, key: impl Fn(&[u8]) -> Option<Key>) -> Option<Self> {
        let per_source = u16::from(config.max_requests_per_source);
        let per_network = per_source * SOURCES_PER_NETWORK;
        Some(Self {
            registrations: Quota::new(key(b"rendezvous registrations")?, per_source),
            network_registrations: Quota::new(key(b"rendezvous networks")?, per_network),
            signatures: Bucket::per_second(config.max_signatures_per_second),
            posts: Quota::new(key(b"rendezvous posts")?, per_source),
            bindings: Quota::new(key(b"rendezvous bindings")?, per_source),
        })
    }

    /// Whether one more signature of a registration may be checked.
    pub(super) fn may_register(&mut self, now: Time, source: Source) -> bool {
        let may_send =
            self.registrations.take(now, source) && self.network_registrations.take(now, source.network());
        may_send && {
            let may_check = self.signatures.take(now);
            if !may_check {
                trace::exhausted("signature checks", &"all sources");
            }
            may_check
        }
    }

    pub(super) fn may_post(&mut self, now: Time, source: Source) -> bool {
        self.posts.take(now, source)
    }

    /// Whether one more STUN request may be answered. It has a quota of its own: its source has echoed no cookie, and may be
    /// somebody else.
    pub(super) fn may_bind(&mut self, now: Time, source: Source) -> bool {
        self.bindings.take(now, source)
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
    fn source_has_its_quota_in_each_second() {
        let mut quota = Quota::new((1, 2), 3);
        let taken = |quota: &mut Quota, ms, from| (0..5).filter(|_| quota.take(at(ms), from)).count();
        assert_eq!(taken(&mut quota, 100, source(1)), 3);
        assert_eq!(taken(&mut quota, 900, source(1)), 0);
        assert_eq!(taken(&mut quota, 900, source(2)), 3);
        assert_eq!(taken(&mut quota, 1_000, source(1)), 3);
    }
}
