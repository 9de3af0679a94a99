//! The frame lead: how far this machine runs ahead of the other, measured on the input packets alone.

use crate::math::Fx;

/// A new sample moves an average by this part: quick enough to follow a drifting clock, slow enough to see through
/// a frame of jitter.
const WEIGHT: i32 = 8;

/// Half the difference of two gaps: what each side has stepped beyond what it has of the other.
///
/// Each side's gap is averaged apart. Compared at the arrival of packets instead, both sides would believe that they
/// trail, and the match would run too fast with every other figure looking right.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FrameLead {
    mine: Average,
    theirs: Average,
}

impl FrameLead {
    /// This side steps a frame `gap` frames after the newest input that it has of the other.
    ///
    /// Not to be called for stalled frames, nor before the first input.
    #[inline]
    pub(crate) fn stepped(&mut self, gap: i32) {
        self.mine.sample(gap);
    }

    /// A packet with a new frame says the same of the other side: its newest input, less its input delay, less what
    /// it acknowledges.
    #[inline]
    pub(crate) fn heard(&mut self, gap: i32) {
        self.theirs.sample(gap);
    }

    /// Positive: this machine is ahead. `None` until both gaps have been seen.
    ///
    /// On paths of unequal length zero means equal gaps: both players predict as much.
    #[inline]
    pub(crate) fn frames(&self) -> Option<Fx> {
        let (mine, theirs) = (self.mine.value?, self.theirs.value?);
        Some(Fx::from_bits((mine - theirs) / 2))
    }
}

/// Sixteen fractional bits: in whole frames an average would stick short of its goal.
#[derive(Clone, Copy, Debug, Default)]
struct Average {
    value: Option<i32>,
}

impl Average {
    #[inline]
    fn sample(&mut self, frames: i32) {
        let sample = frames.clamp(-0x1000, 0x1000) << 16;
        self.value = Some(match self.value {
            None => sample,
            Some(value) => value + (sample - value) / WEIGHT,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lead_needs_both_gaps() {
        let mut lead = FrameLead::default();
        assert_eq!(lead.frames(), None);
        lead.stepped(6);
        assert_eq!(lead.frames(), None);
        lead.heard(4);
        assert_eq!(lead.frames(), Some(Fx::ONE));
    }

    #[test]
    fn equal_gaps_come_to_nothing_and_not_merely_near_it() {
        let mut lead = FrameLead::default();
        lead.stepped(9);
        for _ in 0..200 {
            lead.stepped(5);
            lead.heard(5);
        }
        assert!(lead.frames().unwrap().abs() < Fx::lit("0.001"));
    }

    #[test]
    fn samples_from_a_liar_do_not_overflow() {
        let mut lead = FrameLead::default();
        for gap in [i32::MAX, i32::MIN, i32::MAX] {
            lead.heard(gap);
            lead.stepped(-gap.max(-i32::MAX));
        }
        assert!(lead.frames().unwrap().abs() < 0x2000);
    }
}
