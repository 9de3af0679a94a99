//! The measurement of the link before a match, and the input delay that both sides' measurements suggest.

use super::joining::RETRANSMIT_AFTER;
use crate::channel::rtt::{QUICK_SAMPLES, RoundTrip};
use crate::protocol::time::{Span, Time};
use crate::session::advice::{ASSUMED_LOSS, DelayAdvice, advise_delay};
use crate::session::config::Config;

/// The number of round trips that are enough after [`LONG_ENOUGH`], on a link that loses many packets.
const FEW_SAMPLES: u32 = 3;
const LONG_ENOUGH: Span = Span::from_secs(1);
/// The longest measurement, even without a round trip.
const MAX_WAIT: Span = Span::from_secs(2);

/// The unit of an RTT in a HELLO or OFFER.
const UNIT: Span = Span::from_micros(100);

/// The joiner raises its delay by at most this many frames to have the host's: that one is a claim.
const MAX_RAISE: u8 = 2;

/// Decides how long a side measures before it takes a delay.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Measuring {
    since: Option<Time>,
}

impl Measuring {
    /// Notes that the peer answers pings from now on.
    pub(super) fn begin(&mut self, now: Time) {
        self.since.get_or_insert(now);
    }

    pub(super) fn has_begun(&self) -> bool {
        self.since.is_some()
    }

    /// When enough is measured, as far as is known by now.
    pub(super) fn done_at(&self, rtt: &RoundTrip) -> Time {
        match (self.since, rtt.count()) {
            (None, _) => Time::NEVER,
            (Some(since), 0..FEW_SAMPLES) => since + MAX_WAIT,
            (Some(since), FEW_SAMPLES..QUICK_SAMPLES) => since + LONG_ENOUGH,
            (Some(since), _) => since,
        }
    }
}

/// The RTT to take a delay for: the shorter one of both sides' measurements. A late answer makes a round trip look longer and
/// nothing makes it look shorter; and a peer that lies cannot make our delay longer. Where every ping was lost, it is that
/// of the handshake, as far as no retransmission can be a part of it.
pub(super) fn agreed_trip(rtt: &RoundTrip, theirs: Option<Span>, of_handshake: Option<Span>) -> Span {
    let measured = rtt.percentile_75().into_iter().chain(theirs).min();
    measured.or(of_handshake.map(|trip| trip.min(RETRANSMIT_AFTER))).unwrap_or_default()
}

/// The delay to suggest for an RTT.
pub(super) fn advice(rtt: Span, config: &Config) -> DelayAdvice {
    advise_delay(rtt.into(), ASSUMED_LOSS, config.rollback.window_frames, config.game.frame_rate)
}

/// The suggested delay, as far as it is valid together with the window.
pub(super) fn suggested_delay(rtt: Span, config: &Config) -> u8 {
    advice(rtt, config).delay_frames.min(config.max_delay_frames())
}

/// The joiner's delay beside the host's measured one: the same, if it is longer by a few frames at most.
pub(super) fn beside(own: u8, hosts: u8) -> u8 {
    hosts.clamp(own, own.saturating_add(MAX_RAISE))
}

/// An RTT as a HELLO or an OFFER has it: 0 is none.
pub(super) fn to_wire(rtt: Option<Span>) -> u16 {
    rtt.map_or(0, |rtt| u16::try_from(rtt.nanos() / UNIT.nanos()).unwrap_or(u16::MAX).max(1))
}

/// The RTT in a HELLO or an OFFER.
pub(super) fn from_wire(units: u16) -> Option<Span> {
    (units > 0).then(|| UNIT * u32::from(units))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn ms(ms: u64) -> Span {
        Span::from_millis(ms)
    }

    fn measured(trips: &[u64]) -> RoundTrip {
        let mut rtt = RoundTrip::new(at(0));
        trips.iter().for_each(|trip| rtt.sample(ms(*trip)));
        rtt
    }

    #[test]
    fn measuring_takes_longer_where_answers_are_lost() {
        let mut measuring = Measuring::default();
        assert_eq!(measuring.done_at(&measured(&[40; 8])), Time::NEVER, "nobody answers yet");
        measuring.begin(at(100));
        measuring.begin(at(300));
        for (samples, done_at) in [(0, 2_100), (2, 2_100), (3, 1_100), (7, 1_100), (8, 100)] {
            assert_eq!(measuring.done_at(&measured(&vec![40; samples])), at(done_at), "{samples} samples");
        }
    }

    #[test]
    fn peer_that_lies_does_not_lengthen_the_delay() {
        let config = Config::new(1);
        let delay = |own: &[u64], theirs: Option<u64>| {
            suggested_delay(agreed_trip(&measured(own), theirs.map(ms), None), &config)
        };
        assert_eq!((delay(&[120], None), delay(&[40], None)), (2, 0));
        assert_eq!(delay(&[120], Some(6_000)), 2, "a longer round trip is not believed");
        assert_eq!(delay(&[120], Some(40)), 0, "a shorter one is");
        assert_eq!(delay(&[], Some(120)), 2, "nothing was measured here");
    }

    #[test]
    fn handshake_counts_only_where_nothing_is_measured() {
        let trip = |own: &[u64], of_handshake| agreed_trip(&measured(own), None, Some(ms(of_handshake)));
        assert_eq!((trip(&[40], 240), trip(&[], 80)), (ms(40), ms(80)));
        assert_eq!(trip(&[], 640), ms(200), "the rest may be retransmissions");
    }

    #[test]
    fn joiner_takes_the_delay_of_the_host_within_a_bound() {
        for (own, hosts, delay) in [(0, 0, 0), (0, 1, 1), (0, 2, 2), (0, 3, 2), (0, 24, 2), (3, 0, 3)] {
            assert_eq!(beside(own, hosts), delay, "{own} beside {hosts}");
        }
    }

    #[test]
    fn round_trips_on_the_wire_are_in_tenths_of_a_millisecond() {
        assert_eq!((to_wire(None), from_wire(0)), (0, None));
        assert_eq!((to_wire(Some(ms(40))), from_wire(400)), (400, Some(ms(40))));
        assert_eq!(to_wire(Some(Span::from_micros(99))), 1, "measured, and not none");
        assert_eq!(to_wire(Some(ms(7_000))), u16::MAX);
    }
}
