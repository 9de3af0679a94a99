//! The input delay of this machine during a match: raised while a longer link makes the match stall, and lowered again.

/// The number of frames that must have waited since the last look. Fewer are a lost packet or a busy moment.
const STALLED: u64 = 3;

/// After this many frames that have waited there is a look at once. A match that stalls in every second frame is looked at twice
/// a second.
const MANY_STALLED: u64 = 16;

/// The looks without a stalled frame after which the delay is lowered: about 20 s at 60 frames a second. Each further step
/// takes about 5 s.
const CALM_LOOKS: u8 = 38;
const STEP_LOOKS: u8 = 9;

/// Adapts a measured input delay to a link that changes. It looks only now and then and moves by one frame, because players
/// feel every change.
#[derive(Clone, Copy, Debug)]
pub(super) struct DelayControl {
    delay_frames: u8,
    /// The delay that was agreed on, and the greatest one.
    agreed: u8,
    max: u8,
    stalled_before: u64,
    calm_looks: u8,
}

impl DelayControl {
    /// Control of a delay that was agreed on. It is never changed if `max` is not greater.
    pub(super) fn new(agreed: u8, max: u8) -> Self {
        Self { delay_frames: agreed, agreed, max, stalled_before: 0, calm_looks: 0 }
    }

    /// The player has chosen a delay, which stays.
    pub(super) fn choose(&mut self, delay_frames: u8) {
        *self = Self::new(delay_frames, delay_frames);
    }

    /// Whether this many frames have waited by now that there is a look at once.
    pub(super) fn is_due(&self, stalled_frames: u64) -> bool {
        stalled_frames - self.stalled_before >= MANY_STALLED
    }

    /// Looks at the frames that have waited in the match so far, and returns the new delay if it changes. `peers` is the delay
    /// that the peer has announced, and `needed` the one with which the window is enough for the RTT now.
    ///
    /// It is raised only as far as it is needed: stalled frames alone may be due to a slow machine or an outage, where a
    /// longer delay does not help. A peer that has raised its delay is followed, so that both players have the same delay.
    pub(super) fn look(&mut self, stalled_frames: u64, peers: u8, needed: impl FnOnce() -> u8) -> Option<u8> {
        let stalled = stalled_frames - self.stalled_before;
        self.stalled_before = stalled_frames;
        self.calm_looks = if stalled == 0 { self.calm_looks.saturating_add(1) } else { 0 };
        let is_needed = stalled >= STALLED || peers > self.delay_frames.saturating_add(1);
        if is_needed && self.delay_frames < self.max {
            if needed() > self.delay_frames {
                self.delay_frames += 1;
                self.calm_looks = 0;
                return Some(self.delay_frames);
            }
        } else if self.calm_looks >= CALM_LOOKS
            && self.delay_frames > self.agreed
            && needed() < self.delay_frames
        {
            self.delay_frames -= 1;
            self.calm_looks = CALM_LOOKS - STEP_LOOKS;
            return Some(self.delay_frames);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: [u8; 0] = [];

    /// Looks `count` times, with `stalled` more frames each time; the changes.
    fn looks(control: &mut DelayControl, count: u32, stalled: u64, needed: u8, peers: u8) -> Vec<u8> {
        let look = |_| control.look(control.stalled_before + stalled, peers, || needed);
        (0..count).filter_map(look).collect()
    }

    #[test]
    fn stalls_raise_the_delay_to_the_needed_one() {
        let mut control = DelayControl::new(1, 9);
        assert_eq!(looks(&mut control, 9, 2, 6, 1), NONE, "a lost packet");
        assert_eq!(looks(&mut control, 9, 60, 1, 1), NONE, "a slow machine: no more is needed");
        assert_eq!(looks(&mut control, 9, 3, 4, 1), [2, 3, 4], "one frame at each look");
        assert_eq!(looks(&mut control, 20, 3, 24, 4), [5, 6, 7, 8, 9], "and no more than the game allows");
    }

    #[test]
    fn calm_link_gets_the_agreed_delay_back() {
        let mut control = DelayControl::new(1, 9);
        looks(&mut control, 3, 9, 9, 1);
        assert_eq!(looks(&mut control, 37, 0, 0, 1), NONE);
        assert_eq!(looks(&mut control, 1, 0, 0, 1), [3], "after 38 calm looks");
        assert_eq!(looks(&mut control, 8, 0, 0, 1), NONE);
        assert_eq!(looks(&mut control, 1, 0, 0, 1), [2], "after nine more");
        assert_eq!(looks(&mut control, 200, 0, 0, 1), [1], "never below the agreed one");
    }

    #[test]
    fn long_link_without_stalls_keeps_the_raised_delay() {
        let mut control = DelayControl::new(0, 8);
        looks(&mut control, 5, 9, 5, 0);
        assert_eq!(looks(&mut control, 500, 0, 5, 5), NONE);
        assert_eq!(looks(&mut control, 30, 0, 4, 5), [4], "calm for long already");
        looks(&mut control, 1, 1, 0, 5);
        assert_eq!(looks(&mut control, 37, 0, 0, 5), NONE, "a stalled frame restarts the calm time");
    }

    #[test]
    fn peer_is_followed_as_far_as_our_own_link_needs() {
        let mut control = DelayControl::new(0, 8);
        assert_eq!(looks(&mut control, 9, 0, 9, 1), NONE, "within a frame");
        assert_eq!(looks(&mut control, 9, 0, 9, 4), [1, 2, 3]);
        assert_eq!(looks(&mut control, 9, 0, 3, 24), NONE, "its claim alone raises nothing");
    }

    #[test]
    fn many_stalled_frames_are_looked_at_at_once() {
        let mut control = DelayControl::new(0, 8);
        assert!(!control.is_due(15) && control.is_due(16));
        assert_eq!(control.look(16, 0, || 9), Some(1));
        assert!(!control.is_due(31) && control.is_due(32));
    }

    #[test]
    fn chosen_delay_is_never_changed() {
        let mut control = DelayControl::new(2, 8);
        control.choose(4);
        assert_eq!(looks(&mut control, 200, 30, 24, 24), NONE);
        assert_eq!(looks(&mut control, 200, 0, 0, 0), NONE);
    }
}
