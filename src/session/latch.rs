//! The input latch: button presses that came during a stall, for the next frame that takes an input.

use crate::Input;
use crate::protocol::time::{Span, Time};

/// A press is kept for this long: an older one, of a long stall, is no longer meant.
const KEPT_FOR: Span = Span::from_millis(100);

/// How many presses can be kept apart: one for each frame of that time, at up to 120 frames a second.
const SLOTS: usize = 12;

/// Keeps presses for the next frame that takes an input.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Latch {
    /// The buttons of every pad whose presses are kept.
    mask: Input,
    pressed: [(Time, Input); SLOTS],
    /// How many presses are kept, also those that have been overwritten.
    kept: usize,
    held: Input,
    /// The presses of the last [`take`](Self::take) that can be kept: new then, or kept until then.
    fresh: Input,
}

impl Latch {
    pub(super) fn new(mask: Input) -> Self {
        Self { mask, ..Self::default() }
    }

    /// Keeps the new presses in `input`: no frame takes an input now.
    pub(super) fn keep(&mut self, now: Time, input: Input) {
        let pressed = self.pressed_in(input);
        self.put(now, pressed);
    }

    /// Keeps the presses of the last [`take`](Self::take) again: its frame had an input already.
    pub(super) fn give_back(&mut self, now: Time) {
        self.put(now, self.fresh);
    }

    /// The buttons that were not held before and are kept.
    #[inline]
    fn pressed_in(&mut self, input: Input) -> Input {
        let before = core::mem::replace(&mut self.held, input);
        input.masked(!before.bits() & self.mask.bits())
    }

    fn put(&mut self, now: Time, pressed: Input) {
        if pressed != Input::NEUTRAL {
            self.pressed[self.kept % SLOTS] = (now, pressed);
            self.kept += 1;
        }
    }

    /// The input for a frame: `input` as it is now, and the presses that were kept.
    #[inline]
    pub(super) fn take(&mut self, now: Time, input: Input) -> Input {
        self.fresh = self.pressed_in(input);
        if self.kept == 0 {
            return input;
        }
        let mut taken = input;
        for (at, pressed) in &mut self.pressed {
            if now.since(*at) <= KEPT_FOR {
                taken = taken.or(*pressed);
                self.fresh = self.fresh.or(*pressed);
            }
            *pressed = Input::NEUTRAL;
        }
        self.kept = 0;
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Buttons;

    const FIRE: Input = Input::new(Buttons(8));
    const LEFT: Input = Input::new(Buttons(1));
    const NONE: Input = Input::NEUTRAL;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn tap_during_a_stall_is_kept_once() {
        let mut latch = Latch::new(FIRE);
        latch.keep(ms(0), FIRE);
        latch.keep(ms(16), NONE);
        assert_eq!(latch.take(ms(32), NONE), FIRE);
        assert_eq!(latch.take(ms(48), NONE), NONE);
    }

    #[test]
    fn press_that_no_frame_could_take_is_given_to_the_next() {
        let mut latch = Latch::new(FIRE);
        assert_eq!(latch.take(ms(0), FIRE), FIRE);
        latch.give_back(ms(0));
        assert_eq!(latch.take(ms(16), NONE), FIRE, "tapped for one frame only");
        latch.give_back(ms(16));
        assert_eq!(latch.take(ms(32), NONE), FIRE, "and given back again");
        latch.take(ms(48), FIRE);
        latch.take(ms(64), FIRE);
        latch.give_back(ms(64));
        assert_eq!(latch.take(ms(80), NONE), NONE, "held for long: let go is let go");
    }

    #[test]
    fn directions_are_as_they_are_now() {
        let mut latch = Latch::new(FIRE);
        let right = Input::new(Buttons(2));
        latch.keep(ms(0), LEFT.or(FIRE));
        assert_eq!(latch.take(ms(16), right), right.or(FIRE));
    }

    #[test]
    fn taps_on_every_pad_are_kept_and_axes_are_not() {
        let fire = Buttons(8);
        let mut latch = Latch::new(Input::on_pads(fire, 4));
        for pad in 0..4 {
            latch.keep(ms(pad as u64), NONE.with_pad(pad, fire | Buttons(1)));
            latch.keep(ms(pad as u64), NONE);
        }
        assert_eq!(latch.take(ms(16), NONE), Input::on_pads(fire, 4), "without the direction");
        assert_eq!(latch.take(ms(32), NONE.with_pad(2, fire)), NONE.with_pad(2, fire));
        latch.give_back(ms(32));
        assert_eq!(latch.take(ms(48), NONE), NONE.with_pad(2, fire), "pressed in a frame that had an input");
        let mut one_pad = Latch::new(Input::on_pads(Buttons(u16::MAX), 1));
        one_pad.keep(ms(0), FIRE.with_axis(0, 127));
        one_pad.keep(ms(1), NONE);
        assert_eq!(one_pad.take(ms(16), NONE.with_axis(1, -5)), FIRE.with_axis(1, -5));
    }

    #[test]
    fn old_presses_are_discarded() {
        let mut latch = Latch::new(FIRE);
        latch.keep(ms(0), FIRE);
        latch.keep(ms(16), NONE);
        assert_eq!(latch.take(ms(150), NONE), NONE);
    }

    #[test]
    fn button_held_since_before_the_stall_is_not_pressed_anew() {
        let mut latch = Latch::new(FIRE);
        assert_eq!(latch.take(ms(0), FIRE), FIRE);
        latch.keep(ms(16), FIRE);
        assert_eq!(latch.take(ms(32), NONE), NONE, "let go during the stall");
    }

    #[test]
    fn newest_presses_are_kept_when_there_are_many() {
        let mut latch = Latch::new(Input::new(Buttons(u16::MAX)));
        for press in 0..30_u16 {
            latch.keep(ms(u64::from(press)), Input::new(Buttons(1 << (press % 16))));
            latch.keep(ms(u64::from(press)), NONE);
        }
        let taken = latch.take(ms(40), NONE);
        assert_eq!(taken.bits().count_ones(), 12);
    }

    #[test]
    fn as_many_presses_as_there_is_room_for_are_all_kept() {
        let mut latch = Latch::new(Input::new(Buttons(u16::MAX)));
        for press in 0..SLOTS {
            latch.keep(ms(press as u64), Input::new(Buttons(1 << press)));
            latch.keep(ms(press as u64), NONE);
        }
        assert_eq!(latch.take(ms(40), NONE), Input::new(Buttons((1 << SLOTS) - 1)));
        assert_eq!(latch.take(ms(56), NONE), NONE);
    }

    #[test]
    fn press_is_kept_for_exactly_100_ms() {
        for (later, kept) in [(100, FIRE), (101, NONE)] {
            let mut latch = Latch::new(FIRE);
            latch.keep(ms(7), FIRE);
            assert_eq!(latch.take(ms(7 + later), NONE), kept, "{later} ms");
        }
    }
}
