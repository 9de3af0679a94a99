//! Gamepad bindings: the pad buttons of a player's buttons.

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
}
