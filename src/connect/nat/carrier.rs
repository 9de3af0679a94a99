//! The way of signals through the rendezvous, for a peer to which no path works.

use crate::protocol::time::{Span, Time};

/// A rendezvous takes answers to a guest for this long.
const GUEST_FOR: Span = Span::from_secs(12);
/// A rendezvous takes one new signal of a source in a second.
const POST_AFTER: Span = Span::from_secs(1);
/// A peer without a path is searched for again after this long, and then as often: a rendezvous takes three signals of a source in 12 s.
pub(super) const SEEK_AFTER: Span = Span::from_secs(4);

/// How the signals of one search travel through the rendezvous.
#[derive(Debug, Default)]
pub(super) struct Carrier {
    /// The number under which a host answers its guest, and when it came.
    guest: Option<(u64, Time)>,
    /// When a guest that has its RESP last signalled through the rendezvous.
    sought_at: Option<Time>,
    /// The newest signal that a joiner has posted, and when.
    posted: Option<((u8, u8), Time)>,
    /// When the peer is sought next; `None` while there is no reason to.
    seek_at: Option<Time>,
    /// Whether a joiner begins a new search when it knows where it is seen.
    is_seeking: bool,
}

impl Carrier {
    /// A guest has posted a signal.
    pub(super) fn set_guest(&mut self, now: Time, number: u64) {
        self.guest = Some((number, now));
    }

    /// A guest that has its RESP has posted a signal: it has no path that works.
    pub(super) fn set_sought(&mut self, now: Time, number: u64) {
        self.set_guest(now, number);
        self.sought_at = Some(now);
    }

    /// Whether the guest has posted such a signal lately.
    pub(super) fn is_sought(&self, now: Time) -> bool {
        self.sought_at.is_some_and(|at| now < at + GUEST_FOR)
    }

    /// The number under which a host answers its guest, while the rendezvous knows it.
    pub(super) fn guest(&self, now: Time) -> Option<u64> {
        self.guest.filter(|(_, at)| now < *at + GUEST_FOR).map(|(number, _)| number)
    }

    /// Whether a joiner is to post its signal of this search and revision, which it then is taken to have. One that has not arrived is
    /// posted once; it is repeated until there is a path, so that the host's newest signal comes back.
    pub(super) fn posts(&mut self, now: Time, revision: (u8, u8)) -> bool {
        let posts = self.posted.is_none_or(|(posted, at)| posted != revision && now >= at + POST_AFTER);
        if posts {
            self.posted = Some((revision, now));
        }
        posts
    }

    /// Whether the peer is to be sought now, at first at `first_at`.
    pub(super) fn seeks(&mut self, now: Time, first_at: Time) -> bool {
        let seek_at = self.seek_at.get_or_insert(first_at);
        let seeks = now >= *seek_at;
        if seeks {
            (*seek_at, self.is_seeking) = (now + SEEK_AFTER, true);
        }
        seeks
    }

    /// This machine knows where it is seen now. `true` if it is seeking: once.
    pub(super) fn located(&mut self) -> bool {
        core::mem::take(&mut self.is_seeking)
    }

    /// There is a path. `true` if a joiner has posted: nothing more is to be said to the rendezvous.
    pub(super) fn rest(&mut self) -> bool {
        (self.seek_at, self.is_seeking) = (None, false);
        self.posted.take().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn signal_is_posted_once_and_new_ones_a_second_apart() {
        let mut carrier = Carrier::default();
        assert!(carrier.posts(at(999), (0, 2)) && !carrier.posts(at(5_000), (0, 2)));
        assert!(!carrier.posts(at(1_998), (0, 3)) && carrier.posts(at(1_999), (1, 1)));
        assert!(carrier.rest() && !carrier.rest());
        assert!(carrier.posts(at(2_000), (1, 1)));
    }

    #[test]
    fn peer_is_sought_every_four_seconds_while_it_is_lost() {
        let mut carrier = Carrier::default();
        let sought = |carrier: &mut Carrier, times: core::ops::Range<u64>| -> Vec<u64> {
            times.step_by(50).filter(|ms| carrier.seeks(at(*ms), at(1_000))).collect()
        };
        assert_eq!(sought(&mut carrier, 0..9_500), [1_000, 5_000, 9_000]);
        assert!(carrier.located() && !carrier.located(), "one search for each time");
        carrier.rest();
        assert_eq!(sought(&mut carrier, 9_500..10_000), [9_500]);
        carrier.rest();
        assert!(!carrier.located());
    }

    #[test]
    fn guest_is_answered_while_the_rendezvous_knows_it() {
        let mut carrier = Carrier::default();
        assert_eq!(carrier.guest(at(0)), None);
        carrier.set_guest(at(0), 7);
        assert!(!carrier.is_sought(at(1_000)), "the handshake is no such signal");
        carrier.set_sought(at(1_000), 8);
        let known = |ms| (carrier.guest(at(ms)), carrier.is_sought(at(ms)));
        assert_eq!([known(12_999), known(13_000)], [(Some(8), true), (None, false)]);
    }
}
