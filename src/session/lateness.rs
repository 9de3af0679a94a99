//! The age of the peer's inputs: how late they come, and whether the way explains it.

use crate::protocol::time::Span;
use crate::session::peer::arrivals::Arrivals;
use crate::session::peer::lead::{FrameLead, ONE_FRAME};
use core::time::Duration;

/// Inputs that come later than the way explains by this much, two frames, are late. Both sides share a delay of one side's inputs,
/// because pacing makes the gaps equal: these are about 70 ms.
const LATE: i32 = 2 * ONE_FRAME;

/// Frames that arrive slower than agreed by this part come from a slow machine.
const SLOW_PART: u32 = 32;

/// Late inputs are told of after this many looks in a row.
const SUSTAINED_LOOKS: u8 = 5;

/// How many frames there are from one look to the next.
const LOOK_FRAMES: u32 = 32;

/// A look that the session acts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Late {
    /// Inputs have come later than the way explains for some seconds.
    HeldBack { excess: Span },
    /// Inputs have been older than the game allows for some seconds.
    TooOld,
}

/// The measurements of one look.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look<'a> {
    pub(super) lead: &'a FrameLead,
    pub(super) arrivals: &'a Arrivals,
    /// The RTT of PING and PONG alone. A peer that holds its input packets back makes their own RTT longer.
    pub(super) rtt: Option<Span>,
    /// The input delay of this machine, which lets the peer be ahead by half of it. The peer's own is only its word, and
    /// makes its inputs come earlier.
    pub(super) delay_frames: u32,
}

/// Watches the age of the peer's inputs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lateness {
    frame_length: Span,
    max_age: Option<Span>,
    /// Looks in a row that found late inputs, and inputs that are too old.
    late_looks: u8,
    old_looks: u8,
    is_told: bool,
}

impl Lateness {
    pub(super) fn new(frame_length: Span, max_age: Option<Span>) -> Self {
        Self { frame_length, max_age, late_looks: 0, old_looks: 0, is_told: false }
    }

    /// Whether it is time to look, after this frame.
    #[inline]
    pub(super) fn is_due(frame: u32) -> bool {
        frame.is_multiple_of(LOOK_FRAMES)
    }

    /// How long after this machine has stepped a frame the peer's input for it comes, on average.
    pub(super) fn age(&self, lead: &FrameLead) -> Span {
        self.span(lead.own_gap().unwrap_or_default())
    }

    /// By how much that is more than the way explains: half an RTT, less half of our delay, and a frame of waiting
    /// for the next step. `None` before all is measured, and while the frames of a slow machine come late.
    pub(super) fn excess(&self, look: Look<'_>) -> Option<Span> {
        Some(self.span(self.parts_in_excess(look)?))
    }

    /// The excess in 1/65,536 of a frame.
    fn parts_in_excess(&self, Look { lead, arrivals, rtt, delay_frames }: Look<'_>) -> Option<i32> {
        let (gap, rtt, length) = (lead.own_gap()?, rtt?, arrivals.frame_length()?);
        if length > self.frame_length + self.frame_length / SLOW_PART {
            return None;
        }
        let way = (u128::from(rtt.nanos()) << 15) / u128::from(self.frame_length.nanos().max(1));
        let way = way.min(1 << 28) as i32 - delay_frames as i32 * (ONE_FRAME / 2);
        Some(gap - way - ONE_FRAME)
    }

    /// The time of so many 1/65,536 of a frame.
    fn span(&self, parts: i32) -> Span {
        let parts = u128::from(parts.max(0).unsigned_abs());
        let nanos = (u128::from(self.frame_length.nanos()) * parts) >> 16;
        Duration::from_nanos(nanos as u64).into()
    }

    /// Looks at the measurements. The RTT is measured more closely while inputs are late.
    pub(super) fn look(&mut self, look: Look<'_>) -> Option<Late> {
        let excess = self.parts_in_excess(look).filter(|excess| *excess > LATE);
        self.late_looks = excess.map_or(0, |_| self.late_looks.saturating_add(1));
        let is_old = self.max_age.is_some_and(|max| self.age(look.lead) > max);
        self.old_looks = if is_old { self.old_looks.saturating_add(1) } else { 0 };
        if self.old_looks >= SUSTAINED_LOOKS {
            return Some(Late::TooOld);
        }
        match excess {
            None => self.is_told = false,
            Some(excess) if self.late_looks >= SUSTAINED_LOOKS && !self.is_told => {
                self.is_told = true;
                return Some(Late::HeldBack { excess: self.span(excess) });
            }
            Some(_) => {}
        }
        None
    }

    /// Whether the last look found late inputs.
    pub(super) fn is_suspicious(&self) -> bool {
        self.late_looks > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::time::Time;

    const FRAME: Span = Span::from_micros(16_667);

    /// Looks once at inputs that come `gap` frames after their step, on a link of `rtt` frames, from a machine whose frames
    /// have this length.
    fn look(lateness: &mut Lateness, gap: i32, rtt: u32, delay_frames: u32, length: Span) -> Option<Late> {
        let mut lead = FrameLead::default();
        lead.stepped(gap);
        let mut arrivals = Arrivals::new(Time::ZERO);
        arrivals.heard(Time::ZERO + length * 128, 128);
        lateness.look(Look { lead: &lead, arrivals: &arrivals, rtt: Some(FRAME * rtt), delay_frames })
    }

    fn looks(gap: i32, rtt: u32, delays: u32, length: Span) -> Vec<Option<Late>> {
        let mut lateness = Lateness::new(FRAME, None);
        (0..8).map(|_| look(&mut lateness, gap, rtt, delays, length)).collect()
    }

    #[test]
    fn late_inputs_are_told_of_once_after_some_looks() {
        let told = looks(6, 4, 0, FRAME);
        let Some(Late::HeldBack { excess }) = told[4] else { panic!("{told:?}") };
        assert!(excess.abs_diff(FRAME * 3) < Span::from_micros(10), "{excess:?}");
        assert_eq!(told.iter().flatten().count(), 1, "{told:?}");
    }

    #[test]
    fn way_the_delays_and_a_slow_machine_are_no_lateness() {
        let is_told = |gap, rtt, delays, length| looks(gap, rtt, delays, length).iter().any(Option::is_some);
        assert!(!is_told(5, 4, 0, FRAME), "exactly two frames");
        assert!(!is_told(6, 6, 0, FRAME), "a longer way");
        assert!(is_told(4, 4, 4, FRAME), "our delay lets the peer be ahead");
        assert!(!is_told(6, 4, 0, FRAME + FRAME / 16), "a slow machine");
    }

    #[test]
    fn late_inputs_are_told_of_again_only_after_a_good_look() {
        let mut lateness = Lateness::new(FRAME, None);
        let told = |lateness: &mut Lateness, looks| {
            (0..looks).filter_map(|_| look(lateness, 7, 4, 0, FRAME)).count()
        };
        assert_eq!((told(&mut lateness, 4), told(&mut lateness, 1), told(&mut lateness, 9)), (0, 1, 0));
        assert!(lateness.is_suspicious());
        assert_eq!(look(&mut lateness, 3, 4, 0, FRAME), None);
        assert!(!lateness.is_suspicious());
        assert_eq!((told(&mut lateness, 4), told(&mut lateness, 1)), (0, 1));
    }

    #[test]
    fn inputs_older_than_the_limit_are_too_old_on_any_link() {
        for (gap, too_old) in [(6, false), (7, true)] {
            let mut lateness = Lateness::new(FRAME, Some(FRAME * 6));
            let found: Vec<_> = (0..6).map(|_| look(&mut lateness, gap, 40, 0, FRAME)).collect();
            assert_eq!(found.contains(&Some(Late::TooOld)), too_old);
            assert!(found[..4].iter().all(Option::is_none), "{found:?}");
        }
    }

    #[test]
    fn looks_at_old_inputs_count_in_a_row() {
        let mut lateness = Lateness::new(FRAME, Some(FRAME * 6));
        for gap in [7, 7, 7, 7, 3, 7, 7, 7, 7] {
            assert_eq!(look(&mut lateness, gap, 40, 0, FRAME), None);
        }
        assert_eq!(look(&mut lateness, 7, 40, 0, FRAME), Some(Late::TooOld));
    }
}
