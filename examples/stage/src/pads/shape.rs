//! From what a device tells to the buttons that are down: dead zones and directions, without a device.

use super::{PadButton, PadButtons};

/// An axis of a gamepad.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PadAxis {
    /// -1 is left.
    StickX,
    /// -1 is up.
    StickY,
    /// The d-pad of a pad that tells it as an axis; -1 is left.
    HatX,
    /// -1 is up.
    HatY,
    /// From -1, let go, to 1.
    TriggerLeft,
    TriggerRight,
}

/// Something that a device has told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PadEvent {
    Button { button: PadButton, down: bool },
    Axis { axis: PadAxis, value: f32 },
}

/// A stick counts as a direction from here on. At full tilt this gives all eight directions the same room: the sine of
/// 22.5 degrees.
const STICK_DOWN: f32 = 0.38;
/// And until here, so that a stick that trembles at the edge gives one press.
const STICK_UP: f32 = 0.28;
const TRIGGER_DOWN: f32 = -0.4;
const TRIGGER_UP: f32 = -0.6;

/// The buttons of one pad. D-pad and stick give the same directions, and either may hold one.
#[derive(Clone, Copy, Debug, Default)]
pub struct PadShape {
    plain: PadButtons,
    stick: PadButtons,
    hat: PadButtons,
    triggers: PadButtons,
}

impl PadShape {
    /// Takes in an event; answers the buttons that it has pressed.
    pub fn apply(&mut self, event: PadEvent) -> PadButtons {
        let before = self.held();
        match event {
            PadEvent::Button { button, down } => self.plain.set(button, down),
            PadEvent::Axis { axis, value } => self.tilt(axis, value),
        }
        self.held().iter().filter(|button| !before.holds(*button)).collect()
    }

    /// The buttons that are down. Opposite directions hold each other up.
    pub fn held(&self) -> PadButtons {
        let mut held = self.plain | self.stick | self.hat | self.triggers;
        for (one, other) in [(PadButton::Left, PadButton::Right), (PadButton::Up, PadButton::Down)] {
            if held.holds(one) && held.holds(other) {
                held.set(one, false);
                held.set(other, false);
            }
        }
        held
    }

    fn tilt(&mut self, axis: PadAxis, value: f32) {
        use PadButton::{Down, L2, Left, R2, Right, Up};
        // A broken driver may tell anything; a value that is no number is a stick at rest.
        let value = if value.is_finite() { value } else { 0.0 };
        let pull = |set: &mut PadButtons, button: PadButton, value: f32, down: f32, up: f32| {
            let limit = if set.holds(button) { up } else { down };
            set.set(button, value > limit);
        };
        let (set, low, high) = match axis {
            PadAxis::StickX => (&mut self.stick, Left, Right),
            PadAxis::StickY => (&mut self.stick, Up, Down),
            PadAxis::HatX => (&mut self.hat, Left, Right),
            PadAxis::HatY => (&mut self.hat, Up, Down),
            PadAxis::TriggerLeft => return pull(&mut self.triggers, L2, value, TRIGGER_DOWN, TRIGGER_UP),
            PadAxis::TriggerRight => return pull(&mut self.triggers, R2, value, TRIGGER_DOWN, TRIGGER_UP),
        };
        pull(set, low, -value, STICK_DOWN, STICK_UP);
        pull(set, high, value, STICK_DOWN, STICK_UP);
    }
}
