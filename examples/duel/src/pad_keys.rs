//! Gamepad bindings: the pad buttons of a player's buttons.

use core::fmt;
use core::str::FromStr;

use games::duel::buttons::{DOWN, HEAVY, LEFT, LIGHT, RIGHT, SPECIAL, START, THROW, UP};
use rebout::Buttons;
use stage::pads::{PadButton, PadButtons};

/// The nine buttons in the order of `--keys1`.
const ORDER: [Buttons; 9] = [LEFT, RIGHT, UP, DOWN, LIGHT, HEAVY, SPECIAL, THROW, START];

/// Which button of a gamepad is which button of the duel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PadBindings(pub [PadButton; 9]);

impl PadBindings {
    /// Blows in the order of strength under the thumb; a throw is where no finger lies by accident.
    pub const USUAL: Self = Self([
        PadButton::Left,
        PadButton::Right,
        PadButton::Up,
        PadButton::Down,
        PadButton::West,
        PadButton::North,
        PadButton::South,
        PadButton::East,
        PadButton::Start,
    ]);

    pub fn buttons(&self, held: PadButtons) -> Buttons {
        let bound = self.0.iter().zip(ORDER);
        bound.filter(|(button, _)| held.holds(**button)).fold(Buttons::NONE, |all, (_, button)| all | button)
    }

    /// Binds a button of the pad to the button of this index. One that another has is swapped with the old one.
    ///
    /// # Errors
    /// The button that pauses.
    pub fn bind(&mut self, index: usize, button: PadButton) -> Result<(), String> {
        if button == PAUSE {
            return Err(reserved());
        }
        let old = self.0[index];
        if let Some(other) = self.0.iter_mut().find(|bound| **bound == button) {
            *other = old;
        }
        self.0[index] = button;
        Ok(())
    }
}

/// The button of a pad that does what Esc does in a match.
pub const PAUSE: PadButton = PadButton::Select;

fn reserved() -> String {
    format!("'{PAUSE}' pauses and cannot be bound")
}

impl fmt::Display for PadBindings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.0.iter().map(|button| button.name()).collect();
        f.write_str(&names.join(","))
    }
}

impl FromStr for PadBindings {
    type Err = String;

    fn from_str(list: &str) -> Result<Self, String> {
        let buttons: Result<Vec<PadButton>, _> = list.split(',').map(str::parse).collect();
        let buttons = buttons.map_err(|error| error.to_string())?;
        for (index, button) in buttons.iter().enumerate() {
            if buttons[..index].contains(button) {
                return Err(format!("'{button}' is given twice"));
            }
            if *button == PAUSE {
                return Err(reserved());
            }
        }
        let count = buttons.len();
        Ok(Self(buttons.try_into().map_err(|_| format!("{count} buttons given, but a player has nine"))?))
    }
}
