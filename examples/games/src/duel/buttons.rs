//! The buttons of the duel, and what a fighter remembers of them.

use rebout::{Buttons, fields};

use super::Facing;

pub const LEFT: Buttons = Buttons(1 << 0);
pub const RIGHT: Buttons = Buttons(1 << 1);
pub const UP: Buttons = Buttons(1 << 2);
pub const DOWN: Buttons = Buttons(1 << 3);
pub const LIGHT: Buttons = Buttons(1 << 4);
pub const HEAVY: Buttons = Buttons(1 << 5);
pub const SPECIAL: Buttons = Buttons(1 << 6);
pub const THROW: Buttons = Buttons(1 << 7);
/// Asks for a rematch.
pub const START: Buttons = Buttons(1 << 8);
/// Declines a rematch.
pub const LEAVE: Buttons = Buttons(1 << 9);

/// How long a press waits for the fighter to be free: long enough that a press during recovery or hitstop is not
/// lost, short enough that nobody is surprised by a blow asked for long ago.
const BUFFER_FRAMES: u8 = 7;

/// The presses that wait, in this order.
const BUFFERED: [Buttons; 4] = [LIGHT, HEAVY, SPECIAL, THROW];

/// The buttons that one player holds, has just pressed, and has pressed lately.
#[derive(Clone, Copy, Debug, Default)]
pub struct Controls {
    pub held: Buttons,
    pub pressed: Buttons,
    pub waiting: [u8; 4],
}
fields!(Controls { held, pressed, waiting });

impl Controls {
    /// Takes in one frame. While the fighter is `frozen` by hitstop, what waits does not grow old.
    pub fn read(&mut self, buttons: Buttons, frozen: bool) {
        let held = without_opposites(buttons);
        self.pressed = held & !self.held;
        self.held = held;
        for (frames, button) in self.waiting.iter_mut().zip(BUFFERED) {
            if self.pressed.holds(button) {
                *frames = BUFFER_FRAMES;
            } else if !frozen {
                *frames = frames.saturating_sub(1);
            }
        }
    }

    pub fn holds(&self, button: Buttons) -> bool {
        self.held.holds(button)
    }

    pub fn pressed(&self, button: Buttons) -> bool {
        self.pressed.holds(button)
    }

    /// Whether a press of `button` waits to be acted on.
    pub fn wants(&self, button: Buttons) -> bool {
        BUFFERED.iter().zip(self.waiting).any(|(of, frames)| *of == button && frames > 0)
    }

    /// Forgets what waits: it has been acted on.
    pub fn spend(&mut self) {
        self.waiting = [0; 4];
    }

    /// -1, 0 or 1: where the stick points, as a direction on the stage.
    pub fn direction(&self) -> i32 {
        i32::from(self.holds(RIGHT)) - i32::from(self.holds(LEFT))
    }

    pub fn holds_toward(&self, facing: Facing) -> bool {
        self.direction() == facing.sign()
    }

    pub fn holds_away(&self, facing: Facing) -> bool {
        self.direction() == -facing.sign()
    }
}

/// Two opposite directions at once are neither: no keyboard trick may block both sides.
fn without_opposites(buttons: Buttons) -> Buttons {
    let mut clean = buttons;
    for pair in [LEFT | RIGHT, UP | DOWN] {
        if buttons.holds(pair) {
            clean = clean & !pair;
        }
    }
    clean
}
