//! Probes under way: a value that only this side knows and the time at which it was sent. The answer repeats the value,
//! and the time in between is a round trip.

use crate::protocol::time::Time;

/// The newest `N` probes that have not been answered. An older one is forgotten.
#[derive(Clone, Debug)]
pub(crate) struct Probes<T, const N: usize> {
    sent: [Option<(T, Time)>; N],
    count: usize,
}

impl<T: Copy + PartialEq, const N: usize> Probes<T, N> {
    pub(crate) fn new() -> Self {
        Self { sent: [None; N], count: 0 }
    }

    /// Notes that a probe with this value goes out now.
    pub(crate) fn sent(&mut self, now: Time, value: T) {
        self.sent[self.count % N] = Some((value, now));
        self.count = self.count.wrapping_add(1);
    }

    /// When the probe with this value was sent; each is answered once.
    pub(crate) fn answered(&mut self, value: T) -> Option<Time> {
        let probe = self.sent.iter_mut().find(|probe| probe.is_some_and(|(sent, _)| sent == value))?;
        probe.take().map(|(_, at)| at)
    }

    /// How many probes have gone out.
    pub(crate) fn count(&self) -> usize {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::time::Span;

    #[test]
    fn probe_is_answered_once_and_forgotten_when_old() {
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        let mut probes = Probes::<u64, 4>::new();
        (0..5).for_each(|value| probes.sent(at(value), value));
        assert_eq!((probes.answered(0), probes.answered(9)), (None, None), "forgotten, never sent");
        assert_eq!((probes.answered(1), probes.answered(1)), (Some(at(1)), None), "a copy");
        assert_eq!((probes.answered(4), probes.count()), (Some(at(4)), 5));
    }
}
