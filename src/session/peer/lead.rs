//! The frame lead: how far this machine runs ahead of the peer, measured on input packets alone.

/// One frame, in the unit of gaps and leads: 1/65,536 of a frame.
pub(crate) const ONE_FRAME: i32 = 1 << 16;

/// A new sample moves an average by an eighth of the difference, as a shift: quick enough to follow a drifting clock, slow
/// enough to see through a frame of jitter. A shift rounds down, by less than a thousandth of a frame.
const WEIGHT_SHIFT: u32 = 3;

/// The greatest gap of the peer that is taken.
const MAX_GAP: i32 = 0x1000;

/// The frame lead: half the difference of two gaps. A side's gap is how many frames it has stepped beyond the newest
/// input of the other that it has.
///
/// Each gap is sampled where it is complete: ours when a frame is stepped, the peer's from its packets. If ours were
/// sampled when a packet arrives, just after the newest input has come, both sides would find their own gap too small,
/// believe that they trail, and run too fast. Both gaps are sampled in the same frames, those whose packet goes out.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FrameLead {
    mine: Average,
    theirs: Average,
}

impl FrameLead {
    /// Samples our own gap: a frame was stepped `gap` frames after the newest input of the peer.
    ///
    /// Not to be called for stalled frames, nor before the first input. The engine keeps it within the window.
    #[inline]
    pub(crate) fn stepped(&mut self, gap: i32) {
        self.mine.sample(gap);
    }

    /// Samples the peer's gap, from a packet with a new frame: its newest input, less its input delay, less its ack.
    #[inline]
    pub(crate) fn heard(&mut self, gap: i32) {
        // Far beyond what a peer can be ahead: only against an overflow.
        self.theirs.sample(gap.clamp(-MAX_GAP, MAX_GAP));
    }

    /// Our own gap in 1/65,536 of a frame, which no claim of the peer has a part in.
    pub(crate) fn own_gap(&self) -> Option<i32> {
        self.mine.value
    }

    /// The peer's gap in 1/65,536 of a frame, which rests on the delay that it claims.
    pub(crate) fn peer_gap(&self) -> Option<i32> {
        self.theirs.value
    }

    /// How many frames the peer has gone ahead while this machine did not run: its gap is `gap` now, and less than usual, or less
    /// than it is to become if this machine is behind. One more than that shows, because the samples of frames that are made up
    /// for lower the average.
    pub(crate) fn behind(&self, gap: i32) -> u32 {
        let (Some(mine), Some(lead)) = (self.mine.value, self.lead()) else { return 0 };
        let missed = i64::from(mine) - i64::from(lead.min(0)) - (i64::from(gap) << 16);
        if missed > 0 { 1 + ((missed + 0xFFFF) >> 16) as u32 } else { 0 }
    }

    /// The lead in 1/65,536 of a frame. Positive: this machine is ahead. `None` until both gaps have been seen.
    ///
    /// On paths of unequal length zero means equal gaps: both players predict as much.
    #[inline]
    pub(crate) fn lead(&self) -> Option<i32> {
        let (mine, theirs) = (self.mine.value?, self.theirs.value?);
        Some((mine - theirs) >> 1)
    }
}

/// An exponential average in 1/65,536 of a frame: in whole frames it would stick short of its goal.
#[derive(Clone, Copy, Debug, Default)]
struct Average {
    value: Option<i32>,
}

impl Average {
    #[inline]
    fn sample(&mut self, frames: i32) {
        let sample = frames << 16;
        match &mut self.value {
            None => self.value = Some(sample),
            Some(value) => *value += (sample - *value) >> WEIGHT_SHIFT,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lead_needs_both_gaps() {
        let mut lead = FrameLead::default();
        assert_eq!(lead.lead(), None);
        lead.stepped(6);
        assert_eq!(lead.lead(), None);
        lead.heard(4);
        assert_eq!(lead.lead(), Some(ONE_FRAME));
    }

    #[test]
    fn equal_gaps_come_to_nothing_and_not_merely_near_it() {
        let mut lead = FrameLead::default();
        lead.stepped(9);
        for _ in 0..200 {
            lead.stepped(5);
            lead.heard(5);
        }
        assert!(lead.lead().unwrap().abs() < ONE_FRAME / 1_000);
    }

    #[test]
    fn machine_that_did_not_run_is_behind_by_its_smaller_gap() {
        let mut lead = FrameLead::default();
        assert_eq!(lead.behind(-8), 0, "nothing is measured yet");
        lead.heard(4);
        (0..40).for_each(|_| lead.stepped(4));
        let behind = |lead: &FrameLead| [5, 4, 3, 0, -3].map(|gap| lead.behind(gap));
        assert_eq!(behind(&lead), [0, 0, 2, 5, 8]);
        (0..80).for_each(|_| lead.heard(8));
        assert_eq!(behind(&lead), [2, 3, 4, 7, 10], "two frames behind already");
        (0..80).for_each(|_| lead.heard(0));
        assert_eq!(behind(&lead), [0, 0, 2, 5, 8], "ahead");
    }

    #[test]
    fn samples_from_a_liar_do_not_overflow() {
        let mut lead = FrameLead::default();
        for gap in [i32::MAX, i32::MIN, i32::MAX] {
            lead.heard(gap);
            lead.stepped(22);
        }
        assert!(lead.lead().unwrap().abs() < 0x2000 * ONE_FRAME);
        let mut far = FrameLead::default();
        far.stepped(0);
        far.heard(1 << 20);
        assert_eq!(far.lead(), Some(-0x800 * ONE_FRAME), "at most 4,096 frames count");
    }
}
