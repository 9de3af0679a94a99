//! The input latch: button presses that came during a stall, for the next frame that takes an input.

use crate::Buttons;
use crate::protocol::time::{Span, Time};

/// A press is kept for this long: an older one, of a long stall, is no longer meant.
const KEPT_FOR: Span = Span::from_millis(100);

/// How many presses can be kept apart: one for each frame of that time, at up to 120 frames a second.
const SLOTS: usize = 12;

/// Keeps presses for the next frame that takes an input.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Latch {
    /// The buttons whose presses are kept.
    mask: Buttons,
    pressed: [(Time, Buttons); SLOTS],
    next: usize,
    held: Buttons,
    /// The presses of the last [`take`](Self::take): new then, or kept until then.
    fresh: Buttons,
}

impl Latch {
    pub(super) fn new(mask: Buttons) -> Self {
        Self { mask, ..Self::default() }
    }

    /// Keeps the new presses among `buttons`: no frame takes an input now.
    pub(super) fn keep(&mut self, now: Time, buttons: Buttons) {
        let pressed = buttons & !self.held & self.mask;
        self.held = buttons;
        self.put(now, pressed);
    }

    /// Keeps the presses of the last [`take`](Self::take) again: its frame had an input already.
    pub(super) fn give_back(&mut self, now: Time) {
        self.put(now, self.fresh & self.mask);
    }

    fn put(&mut self, now: Time, pressed: Buttons) {
        if pressed != Buttons::NONE {
            self.pressed[self.next] = (now, pressed);
            self.next = (self.next + 1) % SLOTS;
        }
    }

    /// The input for a frame: the buttons held now, and the presses that were kept.
    #[inline]
    pub(super) fn take(&mut self, now: Time, buttons: Buttons) -> Buttons {
        self.fresh = buttons & !self.held;
        self.held = buttons;
        if self.next == 0 && self.pressed[0].1 == Buttons::NONE {
            return buttons;
        }
        let mut taken = buttons;
        for (at, pressed) in &mut self.pressed {
            if now.since(*at) <= KEPT_FOR {
                taken |= *pressed;
                self.fresh |= *pressed;
            }
            *pressed = Buttons::NONE;
        }
        self.next = 0;
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRE: Buttons = Buttons(8);
    const LEFT: Buttons = Buttons(1);

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn a_tap_during_a_stall_is_kept_once() {
        let mut latch = Latch::new(FIRE);
        latch.keep(ms(0), FIRE);
        latch.keep(ms(16), Buttons::NONE);
        assert_eq!(latch.take(ms(32), Buttons::NONE), FIRE);
        assert_eq!(latch.take(ms(48), Buttons::NONE), Buttons::NONE);
    }

    #[test]
    fn a_press_that_no_frame_could_take_is_given_to_the_next() {
        let mut latch = Latch::new(FIRE);
        assert_eq!(latch.take(ms(0), FIRE), FIRE);
        latch.give_back(ms(0));
        assert_eq!(latch.take(ms(16), Buttons::NONE), FIRE, "tapped for one frame only");
        latch.give_back(ms(16));
        assert_eq!(latch.take(ms(32), Buttons::NONE), FIRE, "and given back again");
        latch.take(ms(48), FIRE);
        latch.take(ms(64), FIRE);
        latch.give_back(ms(64));
        assert_eq!(latch.take(ms(80), Buttons::NONE), Buttons::NONE, "held for long: let go is let go");
    }

    #[test]
    fn directions_are_as_they_are_now() {
        let mut latch = Latch::new(FIRE);
        latch.keep(ms(0), LEFT | FIRE);
        assert_eq!(latch.take(ms(16), Buttons(2)), Buttons(2) | FIRE);
    }

    #[test]
    fn what_was_pressed_long_ago_is_no_longer_meant() {
        let mut latch = Latch::new(FIRE);
        latch.keep(ms(0), FIRE);
        latch.keep(ms(16), Buttons::NONE);
        assert_eq!(latch.take(ms(150), Buttons::NONE), Buttons::NONE);
    }

    #[test]
    fn a_button_held_since_before_the_stall_is_not_pressed_anew() {
        let mut latch = Latch::new(FIRE);
        assert_eq!(latch.take(ms(0), FIRE), FIRE);
        latch.keep(ms(16), FIRE);
        assert_eq!(latch.take(ms(32), Buttons::NONE), Buttons::NONE, "let go during the stall");
    }

    #[test]
    fn the_newest_presses_are_kept_when_there_are_many() {
        let mut latch = Latch::new(Buttons(u16::MAX));
        for press in 0..30_u16 {
            latch.keep(ms(u64::from(press)), Buttons(1 << (press % 16)));
            latch.keep(ms(u64::from(press)), Buttons::NONE);
        }
        let taken = latch.take(ms(40), Buttons::NONE);
        assert_eq!(taken.0.count_ones(), 12);
    }

    #[test]
    fn as_many_presses_as_there_is_room_for_are_all_kept() {
        let mut latch = Latch::new(Buttons(u16::MAX));
        for press in 0..SLOTS {
            latch.keep(ms(press as u64), Buttons(1 << press));
            latch.keep(ms(press as u64), Buttons::NONE);
        }
        assert_eq!(latch.take(ms(40), Buttons::NONE), Buttons((1 << SLOTS) - 1));
        assert_eq!(latch.take(ms(56), Buttons::NONE), Buttons::NONE);
    }

    #[test]
    fn a_press_is_kept_for_exactly_100_ms() {
        for (later, kept) in [(100, FIRE), (101, Buttons::NONE)] {
            let mut latch = Latch::new(FIRE);
            latch.keep(ms(7), FIRE);
            assert_eq!(latch.take(ms(7 + later), Buttons::NONE), kept, "{later} ms");
        }
    }
}
