//! The keys and gamepads of the players as buttons of a libretro pad.

use rebout::{Buttons, Input};
use stage::pads::{PadButton, PadState};
use stage::{InputState, Key};

use crate::pads::bit;

/// The keys of the first player, and those of a second one at the same keyboard.
const KEYS: [[(Key, &str); 12]; 2] = [
    [
        (Key::Up, "up"),
        (Key::Down, "down"),
        (Key::Left, "left"),
        (Key::Right, "right"),
        (Key::Char('z'), "b"),
        (Key::Char('x'), "a"),
        (Key::Char('a'), "y"),
        (Key::Char('s'), "x"),
        (Key::Char('q'), "l"),
        (Key::Char('w'), "r"),
        (Key::Enter, "start"),
        (Key::Backspace, "select"),
    ],
    [
        (Key::Char('i'), "up"),
        (Key::Char('k'), "down"),
        (Key::Char('j'), "left"),
        (Key::Char('l'), "right"),
        (Key::Char('g'), "b"),
        (Key::Char('h'), "a"),
        (Key::Char('t'), "y"),
        (Key::Char('y'), "x"),
        (Key::Char('r'), "l"),
        (Key::Char('u'), "r"),
        (Key::Char('1'), "start"),
        (Key::Char('2'), "select"),
    ],
];

/// The buttons of a gamepad by their places, as libretro names them.
const PLACES: [(PadButton, &str); 16] = [
    (PadButton::Up, "up"),
    (PadButton::Down, "down"),
    (PadButton::Left, "left"),
    (PadButton::Right, "right"),
    (PadButton::South, "b"),
    (PadButton::East, "a"),
    (PadButton::West, "y"),
    (PadButton::North, "x"),
    (PadButton::L1, "l"),
    (PadButton::R1, "r"),
    (PadButton::L2, "l2"),
    (PadButton::R2, "r2"),
    (PadButton::L3, "l3"),
    (PadButton::R3, "r3"),
    (PadButton::Start, "start"),
    (PadButton::Select, "select"),
];

/// The input of the players at this machine, with so many pads: the first gets the first keys and the first gamepad, and so on.
pub fn input_of(state: &InputState, pads: u8) -> Input {
    let held = |seat: usize| {
        let keys = KEYS.get(seat).into_iter().flatten();
        let keys = keys.filter(|(key, _)| state.held.contains(key) || state.presses.contains(key));
        let pads = state.pads.iter().filter(|pad| pad.slot == seat).flat_map(places);
        keys.map(|(_, name)| *name).chain(pads).filter_map(bit).fold(0, |held, bit| held | bit)
    };
    (0..usize::from(pads)).fold(Input::NEUTRAL, |input, seat| input.with_pad(seat, Buttons(held(seat))))
}

fn places(pad: &PadState) -> impl Iterator<Item = &'static str> {
    let held = pad.buttons();
    PLACES.iter().filter(move |(button, _)| held.holds(*button)).map(|(_, name)| *name)
}
