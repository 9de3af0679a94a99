//! A bound on the checks to one machine that does not answer, over all searches.

use core::time::Duration;
use std::net::IpAddr;

/// The most checks to one IP address that has not answered, in any minute: three searches with two of its ports.
const MAX_CHECKS: u32 = 72;
const MINUTE: Duration = Duration::from_secs(60);
/// Machines that are counted. If there are more, the one that was counted first is forgotten: whoever names many machines must not
/// keep others from being checked.
const MAX_MACHINES: usize = 64;

/// The checks of the last minute, by machine.
#[derive(Debug, Default)]
pub(super) struct Budget(Vec<Spent>);

#[derive(Debug)]
struct Spent {
    ip: IpAddr,
    since: Duration,
    checks: u32,
}

impl Budget {
    /// Whether one more check may go to a machine. It is counted.
    pub(super) fn allows(&mut self, now: Duration, ip: IpAddr) -> bool {
        self.0.retain(|spent| now < spent.since + MINUTE);
        let at = match self.0.iter().position(|spent| spent.ip == ip) {
            Some(at) => at,
            None => {
                if self.0.len() == MAX_MACHINES {
                    self.0.remove(0);
                }
                self.0.push(Spent { ip, since: now, checks: 0 });
                self.0.len() - 1
            }
        };
        let spent = &mut self.0[at];
        spent.checks += 1;
        spent.checks <= MAX_CHECKS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_that_does_not_answer_gets_few_checks_a_minute_and_the_memory_is_bounded() {
        let (mut budget, ip) = (Budget::default(), |n: u8| IpAddr::from([192, 0, 2, n]));
        let sent = |budget: &mut Budget, ms: u64, n: u8| budget.allows(Duration::from_millis(ms), ip(n));
        assert_eq!((0..500).filter(|ms| sent(&mut budget, *ms, 1)).count(), MAX_CHECKS as usize);
        assert!(sent(&mut budget, 500, 2), "another machine has its own");
        assert!(!sent(&mut budget, 59_999, 1));
        assert!(sent(&mut budget, 60_000, 1), "a minute is over");
        assert!((3..200).all(|n| sent(&mut budget, 60_001, n)), "many machines keep nobody out");
        assert_eq!(budget.0.len(), MAX_MACHINES);
    }
}
