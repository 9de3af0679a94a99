//! A rate limit on the checks to one machine that does not answer, over all searches.

use crate::channel::bucket::Bucket;
use crate::protocol::time::{Span, Time};
use std::net::IpAddr;

/// A machine that has not answered gets this many checks at once: two searches with two of its ports, directly and through the relay.
const BURST: u32 = 48;
/// After those it gets one check in this time, which makes 72 in any minute.
const REFILL: Span = Span::from_millis(2_500);
/// Checks from our address on a relay to another address on it never leave the relay, which serves both players: as many at once, and
/// then one in this time.
const RELAY_BURST: u32 = 192;
const RELAY_REFILL: Span = Span::from_millis(500);
/// Machines that are counted. Eight searches at once cannot use up the checks of this many.
const MAX_MACHINES: usize = 256;

/// The checks that each machine has left.
#[derive(Debug)]
pub(super) struct Budget {
    machines: Vec<(IpAddr, Bucket)>,
    relay: Bucket,
}

impl Default for Budget {
    fn default() -> Self {
        Self { machines: Vec::new(), relay: Bucket::new(RELAY_REFILL, RELAY_REFILL * RELAY_BURST) }
    }
}

impl Budget {
    /// Whether one more check may go from our address on a relay to another address on it. It is counted.
    pub(super) fn allows_on_relay(&mut self, now: Time) -> bool {
        self.relay.take(now)
    }

    /// Whether one more check may go to a machine. It is counted.
    ///
    /// In a full table, a new machine replaces the one with the fewest checks and takes over its count: a machine that was
    /// replaced and is named again never has more left than before.
    pub(super) fn allows(&mut self, now: Time, ip: IpAddr) -> bool {
        let known = self.machines.iter().position(|(one, _)| *one == ip);
        let fewest = || self.machines.iter().enumerate().min_by_key(|(_, (_, bucket))| bucket.full_at());
        let at = match known {
            None if self.machines.len() < MAX_MACHINES => {
                self.machines.push((ip, Bucket::new(REFILL, REFILL * BURST)));
                self.machines.len() - 1
            }
            known => known.or_else(|| fewest().map(|(at, _)| at)).unwrap_or_default(),
        };
        let (one, bucket) = &mut self.machines[at];
        *one = ip;
        bucket.take(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(n: u32) -> IpAddr {
        IpAddr::from((10 << 24 | n).to_be_bytes())
    }

    fn sent(budget: &mut Budget, ms: u64, n: u32) -> bool {
        budget.allows(Time::ZERO + Span::from_millis(ms), ip(n))
    }

    #[test]
    fn machine_gets_at_most_72_checks_in_any_minute() {
        let mut budget = Budget::default();
        let times: Vec<u64> = (0..180_000).step_by(10).filter(|ms| sent(&mut budget, *ms, 1)).collect();
        assert_eq!(times.iter().filter(|ms| **ms < 100).count(), 10, "a burst is sent at once");
        let within = |start: u64| times.iter().filter(|ms| (start..start + 60_000).contains(*ms)).count();
        let most = times.iter().map(|start| within(*start)).max().unwrap();
        assert!((70..=72).contains(&most), "{most}");
        assert!(sent(&mut budget, 180_000, 2), "another machine has its own");
    }

    #[test]
    fn naming_other_machines_does_not_reset_the_count() {
        let (mut budget, mut next, mut checks) = (Budget::default(), 1_000, 0);
        for ms in (0..60_000).step_by(100) {
            checks += u32::from(sent(&mut budget, ms, 1));
            for _ in 0..10 {
                next += 1;
                sent(&mut budget, ms, next);
            }
        }
        assert!((BURST..=72).contains(&checks), "{checks}");
        assert_eq!(budget.machines.len(), MAX_MACHINES);
        assert!(sent(&mut budget, 60_000, 2), "another machine is still checked");
    }

    fn burst(budget: &mut Budget, ms: u64, n: u32) -> usize {
        (0..100).filter(|_| sent(budget, ms, n)).count()
    }

    #[test]
    fn checks_on_the_relay_are_counted_apart() {
        let mut budget = Budget::default();
        assert_eq!(burst(&mut budget, 0, 1), BURST as usize);
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        let on_relay = |budget: &mut Budget, ms| (0..999).filter(|_| budget.allows_on_relay(at(ms))).count();
        assert_eq!([0, 499, 1_000].map(|ms| on_relay(&mut budget, ms)), [RELAY_BURST as usize, 0, 2]);
        assert_eq!(burst(&mut budget, 0, 2), BURST as usize);
    }

    #[test]
    fn machine_that_was_not_checked_for_long_saves_up_nothing() {
        let mut budget = Budget::default();
        assert!(sent(&mut budget, 0, 1));
        assert_eq!(burst(&mut budget, 600_000, 1), BURST as usize);
    }

    #[test]
    fn new_machine_in_a_full_table_takes_over_the_fewest_checks() {
        let mut budget = Budget::default();
        for n in 0..MAX_MACHINES as u32 {
            let checks = if n == 100 { 4 } else { 10 };
            assert!((0..checks).all(|_| sent(&mut budget, 0, n)));
        }
        assert_eq!(burst(&mut budget, 0, 1_000), BURST as usize - 4);
        assert_eq!(burst(&mut budget, 0, 1_001), BURST as usize - 10);
    }
}
