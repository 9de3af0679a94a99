//! Evidence of congestion: the RTT is well above the smallest one that was measured on this link.

use crate::protocol::time::Span;

/// The growth of the RTT above the smallest one at which a queue on the way is assumed, and below which it has drained.
const ON_ABOVE: Span = Span::from_millis(200);
const OFF_BELOW: Span = Span::from_millis(100);

/// The smallest RTT is that of the last one to two of so many measurements, one a second: a longer path is not taken for
/// congestion for more than a minute.
const REMEMBERED: u32 = 30;

/// Decides whether only every second packet is sent. A long RTT alone is no congestion.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Congestion {
    is_on: bool,
    measured: u32,
    /// The smallest RTT of the measurements so far, and that of the `REMEMBERED` ones before them.
    smallest: Option<Span>,
    smallest_before: Option<Span>,
}

impl Congestion {
    pub(super) fn is_on(&self) -> bool {
        self.is_on
    }

    /// Takes in the smoothed RTT, once a second.
    pub(super) fn measured(&mut self, rtt: Span) {
        if self.measured == REMEMBERED {
            (self.smallest_before, self.smallest, self.measured) = (self.smallest, None, 0);
        }
        self.measured += 1;
        let smallest = self.smallest.map_or(rtt, |smallest| smallest.min(rtt));
        self.smallest = Some(smallest);
        let queued = rtt - self.smallest_before.map_or(smallest, |before| before.min(smallest));
        self.is_on = queued > if self.is_on { OFF_BELOW } else { ON_ABOVE };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Span {
        Span::from_millis(ms)
    }

    #[test]
    fn long_round_trip_alone_is_no_congestion() {
        let mut congestion = Congestion::default();
        for _ in 0..100 {
            congestion.measured(ms(900));
            assert!(!congestion.is_on());
        }
    }

    #[test]
    fn queue_is_congestion_until_it_has_drained() {
        let mut congestion = Congestion::default();
        for (rtt, is_on) in
            [(80, false), (280, false), (281, true), (900, true), (181, true), (180, false), (280, false)]
        {
            congestion.measured(ms(rtt));
            assert_eq!(congestion.is_on(), is_on, "{rtt} ms");
        }
    }

    #[test]
    fn longer_path_counts_as_congestion_for_a_minute_at_most() {
        let mut congestion = Congestion::default();
        (0..10).for_each(|_| congestion.measured(ms(80)));
        let on = (0..200).filter(|_| {
            congestion.measured(ms(400));
            congestion.is_on()
        });
        assert_eq!(on.count(), 50, "until no measurement of the shorter path is remembered");
    }
}
