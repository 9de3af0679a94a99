//! The input of a gamepad, as `docs/EMBEDDING.md` reads it.

use rebout::{Buttons, Input};

/// A gamepad as libraries report it: the sticks from -32,768 to 32,767, the trigger from 0 to 255.
pub(crate) struct Pad {
    pub(crate) buttons: Buttons,
    pub(crate) left: (i16, i16),
    pub(crate) trigger: u8,
}

/// The input of a game with `config.game.axes = 3`: a stick in eight steps each way, and a trigger.
pub(crate) fn read(pad: &Pad) -> Input {
    let [x, y] = Input::stick(pad.left.0, pad.left.1, 8);
    let pull = (pad.trigger >> 5) as i8 * 16; // a trigger trembles too
    Input::from(pad.buttons).with_axis(0, x).with_axis(1, y).with_axis(2, pull)
}

/// The input of a game with `config.game.pads = 2`.
pub(crate) fn read_two(pads: [&Pad; 2]) -> Input {
    Input::from(pads[0].buttons).with_pad(1, pads[1].buttons)
}
