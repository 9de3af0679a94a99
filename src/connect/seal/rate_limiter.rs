//! How many handshakes a host works off, in all and of one source, and the sources that wait in turn.

use super::limits::Limits;
use crate::channel::source::Source;
use crate::protocol::time::{Span, Time};
use crate::wire::seal::INIT_LEN;
use std::collections::VecDeque;
use std::net::SocketAddr;

const SECOND: Span = Span::from_secs(1);
/// A source is remembered for this long, so that others come before it.
const REMEMBERED: Span = Span::from_secs(4);

/// An INIT that waits for its turn, with its mac and cookie checked.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) from: SocketAddr,
    /// The round trip that its cookie has measured.
    pub(super) round_trip: Span,
    len: usize,
    bytes: [u8; INIT_LEN],
}

impl Waiting {
    pub(super) fn new(from: SocketAddr, round_trip: Span, datagram: &[u8]) -> Option<Self> {
        let mut bytes = [0; INIT_LEN];
        bytes.get_mut(..datagram.len())?.copy_from_slice(datagram);
        Some(Self { from, round_trip, len: datagram.len(), bytes })
    }

    pub(super) fn datagram(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// The limits, and the INITs that wait.
#[derive(Debug)]
pub(super) struct RateLimiter {
    /// The handshakes of the last four seconds, the oldest first.
    passed: VecDeque<(Time, Source)>,
    /// The INITs that wait, a few of each source.
    waiting: VecDeque<Waiting>,
    limits: Limits,
}

impl RateLimiter {
    pub(super) fn new() -> Self {
        let limits = Limits::default();
        Self { passed: VecDeque::with_capacity(limits.handshakes() * 4), waiting: VecDeque::new(), limits }
    }

    /// Sets the limits by the number of guests that are expected.
    pub(super) fn expect(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Queues an INIT behind those of other sources; it replaces an earlier one of the same address, or of the same source if
    /// too many of that one wait. `false` if there is no room.
    pub(super) fn queue(&mut self, init: Waiting) -> bool {
        let source = Source::machine(init.from);
        let is_same = |waiting: &Waiting| Source::machine(waiting.from) == source;
        let of_source = self.waiting.iter().filter(|waiting| is_same(waiting)).count();
        let is_full = of_source >= self.limits.waiting_of_source();
        let again = self.waiting.iter().position(|waiting| waiting.from == init.from);
        let oldest = || self.waiting.iter().position(is_same).filter(|_| is_full);
        match again.or_else(oldest) {
            Some(at) => self.waiting[at] = init,
            None if self.waiting.len() < self.limits.waiting() => self.waiting.push_back(init),
            None => return false,
        }
        true
    }

    /// The next INIT to work off at `now`: of the source whose last one is longest ago.
    pub(super) fn next(&mut self, now: Time) -> Option<Waiting> {
        while self.passed.front().is_some_and(|(at, _)| now.since(*at) >= REMEMBERED) {
            self.passed.pop_front();
        }
        let recent = self.passed.iter().rev().take_while(|(at, _)| now.since(*at) < SECOND);
        if recent.clone().count() >= self.limits.handshakes() {
            return None;
        }
        let of = |waiting: &Waiting| {
            let source = Source::machine(waiting.from);
            let of_source = recent.clone().filter(|(_, passed)| *passed == source).count();
            let free = of_source < self.limits.handshakes_of_source();
            let last = self.passed.iter().rposition(|(_, passed)| *passed == source);
            free.then_some(last)
        };
        let waiting = self.waiting.iter().enumerate();
        let (at, _) =
            waiting.filter_map(|(at, waiting)| Some((at, of(waiting)?))).min_by_key(|(_, last)| *last)?;
        let init = self.waiting.remove(at)?;
        self.passed.push_back((now, Source::machine(init.from)));
        Some(init)
    }

    /// When [`next`](Self::next), which has none at `now`, may have one.
    pub(super) fn due(&self, now: Time) -> Time {
        match self.passed.iter().find(|(at, _)| now.since(*at) < SECOND) {
            _ if self.waiting.is_empty() => Time::NEVER,
            Some((at, _)) => *at + SECOND,
            None => Time::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::PeerRole;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn init(source: u8, port: u16) -> Waiting {
        Waiting::new(([10, 0, 0, source], port).into(), Span::ZERO, &[source; 200]).unwrap()
    }

    #[test]
    fn sixteen_a_second_and_two_of_one_source() {
        let mut rate_limiter = RateLimiter::new();
        let mut passed = 0;
        for ms in 0..1_000 {
            rate_limiter.queue(init(1, ms as u16));
            passed += usize::from(rate_limiter.next(at(ms)).is_some());
        }
        assert_eq!(passed, 2, "one source");
        let mut passed = Vec::new();
        for ms in 1_000..4_000 {
            for source in 0..30 {
                rate_limiter.queue(init(source, 1));
            }
            passed.extend(std::iter::from_fn(|| rate_limiter.next(at(ms))).map(|init| (ms, init.from)));
        }
        for (place, (ms, _)) in passed.iter().enumerate() {
            assert!(passed.get(place + 16).is_none_or(|(later, _)| later - ms >= 1_000));
        }
        assert_eq!(passed.len(), 48, "as much as is allowed");
    }

    #[test]
    fn sources_take_turns() {
        let mut rate_limiter = RateLimiter::new();
        let (mut last, mut first) = ([0; 17], None);
        for ms in 0..10_000 {
            // The last source begins when all others have waited for a while.
            for source in 0..if ms < 1_500 { 16 } else { 17 } {
                rate_limiter.queue(init(source, 1));
            }
            while let Some(init) = rate_limiter.next(at(ms)) {
                let source = usize::from(init.datagram()[0]);
                assert!(ms - last[source] <= 2_000, "{source} waited from {} to {ms}", last[source]);
                last[source] = ms;
                if source == 16 {
                    first.get_or_insert(ms);
                }
            }
        }
        assert!(last.iter().all(|ms| *ms >= 8_000), "{last:?}");
        assert_eq!(first, Some(2_000), "a new one is before all others");
    }

    #[test]
    fn queued_inits_are_bounded_and_newest_per_source() {
        let mut rate_limiter = RateLimiter::new();
        assert_eq!(rate_limiter.due(at(0)), Time::NEVER);
        for source in 0..32 {
            assert!(rate_limiter.queue(init(source, 1)));
        }
        assert!(!rate_limiter.queue(init(40, 1)) && rate_limiter.queue(init(3, 9)));
        assert_eq!(rate_limiter.due(at(5)), Time::ZERO);
        let served: Vec<_> =
            std::iter::from_fn(|| rate_limiter.next(at(5))).map(|init| init.from.port()).collect();
        assert_eq!((served.len(), served[3]), (16, 9));
        assert_eq!(rate_limiter.due(at(6)), at(1_005));
    }

    /// 255 guests behind one router, each with a port of its own: all are through within ten seconds, and one of another source
    /// does not wait for them.
    #[test]
    fn many_guests_of_one_source_pass_in_time() {
        let mut rate_limiter =
            RateLimiter { limits: Limits::of(PeerRole::Player, 255), ..RateLimiter::new() };
        let (mut left, mut other, mut passed) = ((1..=255).collect::<Vec<u16>>(), None, Vec::new());
        for ms in 0..10_000 {
            if ms == 1_500 {
                assert!(rate_limiter.queue(init(2, 1)));
            }
            // Each says its INIT again every 200 ms.
            left.iter().filter(|port| u64::from(**port) % 200 == ms % 200).for_each(|port| {
                rate_limiter.queue(init(1, *port));
            });
            while let Some(init) = rate_limiter.next(at(ms)) {
                passed.push(ms);
                left.retain(|port| init.datagram()[0] != 1 || *port != init.from.port());
                if init.datagram()[0] == 2 {
                    other = Some(ms);
                }
            }
        }
        assert_eq!((left.len(), other), (0, Some(1_500)));
        let most = passed.windows(35).all(|some| some[34] - some[0] >= 1_000);
        assert!(most, "33 of the router in a second, and the other one");
    }

    #[test]
    fn network_of_ipv6_is_one_source() {
        let source = |addr: &str| Source::machine(addr.parse().unwrap());
        assert_eq!(source("[2001:db8::1]:5"), source("[2001:db8::ffff:1]:6"));
        assert_ne!(source("[2001:db8::1]:5"), source("[2001:db8:0:1::1]:5"));
        assert_ne!(source("10.0.0.1:5"), source("10.0.0.2:5"));
    }
}
