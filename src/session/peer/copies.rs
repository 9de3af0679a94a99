//! Second copies of input packets: on while this many packets are lost that the peer would stall, off when the copies themselves fill
//! the link.

use crate::protocol::time::{Span, Time};
use crate::protocol::trace;
use crate::session::peer::lead::ONE_FRAME;

/// Loss at which the second copy is switched on, and below which it is switched off, in thousandths.
#[derive(Clone, Copy, Debug)]
struct Limits {
    on_at: u32,
    off_below: u32,
}

/// A peer whose window has less than this left stalls after two lost packets in a row: one frame in 100,000 at the loss that
/// switches copies on. With more slack it takes three, and few losses do no harm.
const TIGHT_BELOW: i32 = 3 * ONE_FRAME / 2;
const TIGHT: Limits = Limits { on_at: 5, off_below: 4 };
const WIDE: Limits = Limits { on_at: 50, off_below: 20 };

const OFF_AFTER: Span = Span::from_secs(10);

/// Growth of the RTT since the copy was switched on at which the copy is taken for the cause of congestion.
const BLAMED_AT_FRAMES: u32 = 2;
/// The first block after congestion. Each later one is twice as long as the one before, up to this many doublings.
const FIRST_BLOCK: Span = Span::from_secs(60);
const MAX_DOUBLINGS: u32 = 4;

/// Decides whether each packet is sent twice.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Copies {
    is_on: bool,
    calm_since: Option<Time>,
    rtt_at_switch: Span,
    blocked_until: Time,
    blocks: u32,
}

impl Copies {
    #[inline]
    pub(super) fn is_on(&self) -> bool {
        self.is_on
    }

    /// Takes in the smoothed loss, in thousandths, on a link with this RTT, while the peer's window has `slack` left, in 1/65,536
    /// of a frame.
    pub(super) fn lost(&mut self, now: Time, loss: u32, rtt: Span, slack: i32) {
        let limits = if slack < TIGHT_BELOW { TIGHT } else { WIDE };
        if !self.is_on {
            if loss >= limits.on_at && now >= self.blocked_until {
                (self.is_on, self.calm_since, self.rtt_at_switch) = (true, None, rtt);
                trace::copies(true, loss);
            }
        } else if loss >= limits.off_below {
            self.calm_since = None;
        } else {
            let since = *self.calm_since.get_or_insert(now);
            self.is_on = now.since(since) < OFF_AFTER;
            if !self.is_on {
                trace::copies(false, loss);
            }
        }
    }

    /// Takes in the smoothed RTT, on which copies that fill the link show.
    #[inline]
    pub(super) fn measured(&mut self, now: Time, rtt: Span, frame_length: Span) {
        if self.is_on && rtt > self.rtt_at_switch + frame_length * BLAMED_AT_FRAMES {
            trace::congested(rtt.nanos() / 1_000);
            self.blame(now);
        }
    }

    /// Switches the copies off for a while: they fill the link, or do not arrive.
    pub(super) fn blame(&mut self, now: Time) {
        self.is_on = false;
        self.blocked_until = now + FIRST_BLOCK * (1 << self.blocks);
        self.blocks = (self.blocks + 1).min(MAX_DOUBLINGS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Span = Span::from_micros(16_667);
    const MANY: u32 = 200;

    fn at(seconds: u32) -> Time {
        Time::ZERO + Span::from_secs(1) * seconds
    }

    #[test]
    fn relapse_restarts_the_calm_time() {
        let mut copies = Copies::default();
        for (second, loss, is_on) in
            [(0, MANY, true), (1, 0, true), (10, 0, true), (10, 20, true), (11, 19, true), (20, 0, true)]
        {
            copies.lost(at(second), loss, FRAME, i32::MAX);
            assert_eq!(copies.is_on(), is_on, "second {second}");
        }
        copies.lost(at(21), 0, FRAME, i32::MAX);
        assert!(!copies.is_on(), "calm for ten seconds");
    }

    #[test]
    fn little_slack_lowers_the_limits_of_loss() {
        for (slack, on_at, off_below) in
            [(-ONE_FRAME, 5, 4), (TIGHT_BELOW - 1, 5, 4), (TIGHT_BELOW, 50, 20), (i32::MAX, 50, 20)]
        {
            let mut copies = Copies::default();
            copies.lost(at(0), on_at - 1, FRAME, slack);
            assert!(!copies.is_on(), "{slack}");
            copies.lost(at(0), on_at, FRAME, slack);
            assert!(copies.is_on(), "{slack}");
            (1..60).for_each(|second| copies.lost(at(second), off_below, FRAME, slack));
            assert!(copies.is_on(), "{slack}");
            (60..71).for_each(|second| copies.lost(at(second), off_below - 1, FRAME, slack));
            assert!(!copies.is_on(), "{slack}");
        }
    }

    #[test]
    fn block_is_never_longer_than_sixteen_minutes() {
        let mut copies = Copies::default();
        let mut now = at(0);
        for minutes in [1, 2, 4, 8, 16, 16, 16] {
            copies.lost(now, MANY, FRAME, i32::MAX);
            copies.measured(now, FRAME * 3, FRAME);
            assert!(copies.is_on(), "two frames more are no congestion");
            copies.measured(now, FRAME * 4, FRAME);
            assert!(!copies.is_on());
            let block = Span::from_secs(60) * minutes;
            copies.lost(now + (block - Span::from_secs(1)), MANY, FRAME, 0);
            assert!(!copies.is_on(), "blocked for {minutes} minutes");
            now = now + block;
        }
    }
}
