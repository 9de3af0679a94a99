//! The distance from the newest sequence number within which a packet is taken.

use crate::protocol::time::Span;

/// How far ahead of the newest and behind it a number may be, in packets. It is most of what tells a packet of the other side
/// from a blind guess.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AcceptRange {
    ahead: u64,
    /// Added for each second of silence: whoever was cut off for five seconds has sent hundreds of packets.
    a_second: u64,
    behind: u64,
}

impl AcceptRange {
    pub(crate) const fn new(ahead: u64, a_second: u64, behind: u64) -> Self {
        Self { ahead, a_second, behind }
    }

    /// The same with another distance ahead.
    pub(crate) const fn with_ahead(self, ahead: u64) -> Self {
        Self { ahead, ..self }
    }

    /// Whether a number `away` from the newest is taken after this long without a new one.
    pub(crate) fn allows(&self, away: i16, silent: Span) -> bool {
        let ahead = self.ahead + silent.nanos().saturating_mul(self.a_second) / 1_000_000_000;
        u64::from(away.unsigned_abs()) <= if away > 0 { ahead } else { self.behind }
    }
}
