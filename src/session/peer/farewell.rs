//! The farewell: said four times within 400 ms, because nothing acknowledges it.

use crate::protocol::time::{Span, Time};
use crate::wire::message::Leaving;

/// When a farewell is said, counted from the first time: a gap in the link of a few hundred milliseconds must not swallow
/// all of it.
const SAID_AFTER: [Span; 4] =
    [Span::ZERO, Span::from_millis(50), Span::from_millis(150), Span::from_millis(400)];

/// One packet of a farewell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FarewellPart {
    /// After which frame, and why.
    Leaving(Leaving),
    /// The same for a peer that knows no LEAVING.
    Disconnect,
}

/// A farewell that is being said.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Farewell {
    leaving: Leaving,
    since: Option<Time>,
    /// Packets sent, two each time.
    sent: usize,
}

impl Farewell {
    pub(crate) fn new(leaving: Leaving) -> Self {
        Self { leaving, since: None, sent: 0 }
    }

    /// When the next packet is due; `None` when all has been said.
    #[inline]
    pub(crate) fn due(&self) -> Option<Time> {
        let after = *SAID_AFTER.get(self.sent / 2)?;
        Some(self.since.map_or(Time::ZERO, |since| since + after))
    }

    /// The packet that is due at `now`.
    pub(crate) fn say(&mut self, now: Time) -> Option<FarewellPart> {
        if self.due()? > now {
            return None;
        }
        self.since.get_or_insert(now);
        self.sent += 1;
        Some(if self.sent % 2 == 1 { FarewellPart::Leaving(self.leaving) } else { FarewellPart::Disconnect })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::WireFrame;
    use crate::wire::message::LeavingWhy;

    #[test]
    fn farewell_is_said_four_times_within_400_ms() {
        let leaving = Leaving { token: 7, end: WireFrame(9), why: LeavingWhy::Left };
        let mut farewell = Farewell::new(leaving);
        assert_eq!(farewell.due(), Some(Time::ZERO), "at once");
        let mut said = Vec::new();
        for ms in 1_000..3_000 {
            while let Some(part) = farewell.say(Time::ZERO + Span::from_millis(ms)) {
                said.push((ms, part == FarewellPart::Disconnect));
            }
        }
        let times = [1_000, 1_050, 1_150, 1_400];
        assert_eq!(said, times.iter().flat_map(|ms| [(*ms, false), (*ms, true)]).collect::<Vec<_>>());
        assert_eq!(farewell.due(), None);
    }
}
