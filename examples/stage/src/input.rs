//! The input of a frame: keys, characters, the mouse and gamepads.

use crate::pads::{PadButton, PadState};
use crate::{Key, Stroke, Touch};

/// The keys and the gamepads of the players since the last frame.
#[derive(Clone, Debug, Default)]
pub struct InputState {
    pub held: Vec<Key>,
    pub presses: Vec<Key>,
    /// Everything that was typed, in order and with repeats.
    pub strokes: Vec<Stroke>,
    pub touches: Vec<Touch>,
    /// Every gamepad that is plugged in, by its place.
    pub pads: Vec<PadState>,
    /// The picture could not be seen: its terminal is too small, or was the shell's for a while.
    pub unseen: bool,
    /// The window was closed, Ctrl-C was pressed, or the program was asked to end.
    pub closed: bool,
}

impl InputState {
    /// The presses of keys, and those of gamepads as the keys that do the same in a menu.
    pub fn menu_presses(&self) -> impl Iterator<Item = Key> {
        let pads = self.pads.iter().flat_map(|pad| &pad.presses);
        self.presses.iter().copied().chain(pads.filter_map(|button| button.menu_key()))
    }

    /// The same with the gamepads of one seat alone, where several play at one machine: the first pad is that of the first
    /// seat, and so on in turn.
    #[must_use]
    pub fn of_seat(&self, seat: usize, seats: usize) -> Self {
        let mut own = self.clone();
        own.pads.retain(|pad| pad.slot % seats.max(1) == seat);
        own
    }

    /// Whether a button was pressed on any gamepad.
    pub fn pad_pressed(&self, button: PadButton) -> bool {
        self.pads.iter().any(|pad| pad.presses.contains(&button))
    }
}
