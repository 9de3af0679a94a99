//! The last inputs of a player: what was held, and for how many frames.

use std::collections::VecDeque;

use rebout::Buttons;

use games::duel::buttons::{DOWN, HEAVY, LEFT, LIGHT, RIGHT, SPECIAL, THROW, UP};

/// Inputs that are shown.
const SHOWN_INPUTS: usize = 12;
/// Longer than this is only "long".
const MAX_FRAMES: u16 = 999;

/// Buttons that were held together, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    pub buttons: Buttons,
    pub frames: u16,
}

impl Held {
    /// Left, right, up or down, as steps to the right and upward.
    pub fn direction(&self) -> (i8, i8) {
        let axis = |more: Buttons, less: Buttons| {
            i8::from(self.buttons.holds(more)) - i8::from(self.buttons.holds(less))
        };
        (axis(RIGHT, LEFT), axis(UP, DOWN))
    }

    /// The blows by their letters.
    pub fn blows(&self) -> String {
        let characters = [(LIGHT, 'L'), (HEAVY, 'H'), (SPECIAL, 'S'), (THROW, 'T')];
        characters
            .into_iter()
            .filter(|(button, _)| self.buttons.holds(*button))
            .map(|(_, character)| character)
            .collect()
    }
}

/// The last inputs, the newest first.
#[derive(Clone, Debug, Default)]
pub struct Inputs(VecDeque<Held>);

impl Inputs {
    /// Takes in one frame.
    pub fn push(&mut self, buttons: Buttons) {
        let shown = buttons & (LEFT | RIGHT | UP | DOWN | LIGHT | HEAVY | SPECIAL | THROW);
        match self.0.front_mut() {
            Some(held) if held.buttons == shown => held.frames = (held.frames + 1).min(MAX_FRAMES),
            _ => self.0.push_front(Held { buttons: shown, frames: 1 }),
        }
        self.0.truncate(SHOWN_INPUTS);
    }

    pub fn iter(&self) -> impl Iterator<Item = &Held> {
        self.0.iter()
    }
}
