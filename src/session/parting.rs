//! The end of a match that stops at a desync: it waits until the peer has the notes that its own report needs.

use crate::Frame;
use crate::protocol::time::{Span, Time};
use crate::session::desync::Stop;

/// How long this machine waits for that. The peer's autopsy is over by then, whatever it has.
const PATIENCE: Span = Span::from_secs(10);

/// A match that is to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pending {
    stop: Stop,
    until: Time,
    /// Input packets carry the checksum that differs: a peer that has acked the inputs before this frame has it.
    inputs_end: Frame,
}

/// Why the match is to stop, and what it waits for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Parting(Option<Pending>);

impl Parting {
    /// The match is to stop. The first reason counts.
    pub(super) fn stop(&mut self, now: Time, stop: Stop, inputs_end: Frame) {
        // Notes are of no use to a peer that sends none.
        let until = if stop == Stop::Withheld { now } else { now + PATIENCE };
        self.0.get_or_insert(Pending { stop, until, inputs_end });
    }

    #[inline]
    pub(super) fn is_pending(&self) -> bool {
        self.0.is_some()
    }

    /// Why the match is to stop.
    pub(super) fn reason(&self) -> Option<Stop> {
        self.0.map(|pending| pending.stop)
    }

    /// Why the match stops now. `has_notes`: the peer has acked all notes, and all our inputs before a frame.
    pub(super) fn due(&self, now: Time, has_notes: impl FnOnce(Frame) -> bool) -> Option<Stop> {
        let pending = self.0.filter(|pending| now >= pending.until || has_notes(pending.inputs_end))?;
        Some(pending.stop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn match_stops_when_the_peer_has_the_notes_or_after_ten_seconds() {
        let mut parting = Parting::default();
        assert_eq!((parting.is_pending(), parting.due(ms(0), |_| true)), (false, None));
        parting.stop(ms(0), Stop::Desync, Frame(9));
        parting.stop(ms(5_000), Stop::OursVoid, Frame(90));
        assert_eq!((parting.is_pending(), parting.reason()), (true, Some(Stop::Desync)));
        assert_eq!(parting.due(ms(9_999), |_| false), None);
        assert_eq!(parting.due(ms(0), |end| end == Frame(9)), Some(Stop::Desync));
        assert_eq!(parting.due(ms(10_000), |_| false), Some(Stop::Desync));
    }

    #[test]
    fn match_does_not_wait_for_a_peer_that_withholds_its_notes() {
        let mut parting = Parting::default();
        parting.stop(ms(100), Stop::Withheld, Frame(9));
        assert_eq!(parting.due(ms(100), |_| false), Some(Stop::Withheld));
    }
}
