//! The devices of one player: keys, and a gamepad beside them.

use rebout::Buttons;

use crate::keys::Bindings;
use crate::pad_keys::PadBindings;
use crate::view::InputState;

/// What a player plays on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Devices {
    pub keys: Bindings,
    pub pad: PadBindings,
}

impl Devices {
    /// The buttons that are held, and those of a tap between two frames.
    pub fn buttons(&self, input: &InputState) -> Buttons {
        let keys = self.keys.buttons(&input.held) | self.keys.buttons(&input.presses);
        let pads = input.pads.iter().map(|pad| self.pad.buttons(pad.buttons()));
        pads.fold(keys, |all, pad| all | pad)
    }
}
