//! The buttons of a gamepad in the duel.

use duel::pad_keys::PadBindings;
use games::duel::buttons::{DOWN, HEAVY, LEFT, LIGHT, RIGHT, SPECIAL, START, THROW, UP};
use rebout::Buttons;
use stage::pads::{PadAxis, PadButton, PadEvent, Pads};

#[test]
fn pad_has_a_button_of_its_own_for_each_of_the_nine() {
    let nine = [LEFT, RIGHT, UP, DOWN, LIGHT, HEAVY, SPECIAL, THROW, START];
    let given = PadBindings::USUAL.0.map(|button| PadBindings::USUAL.buttons([button].into_iter().collect()));
    assert_eq!(given, nine);
    let others = [PadButton::L1, PadButton::R2, PadButton::Select, PadButton::Guide];
    assert_eq!(PadBindings::USUAL.buttons(others.into_iter().collect()), Buttons::NONE);
}

#[test]
fn stick_to_the_lower_left_with_a_tapped_button_is_a_low_blow() {
    let pads = Pads::in_memory();
    let slot = pads.plug_in("Fight stick").expect("there is room");
    pads.apply(slot, PadEvent::Axis { axis: PadAxis::StickX, value: -0.7 });
    pads.apply(slot, PadEvent::Axis { axis: PadAxis::StickY, value: 0.7 });
    for down in [true, false] {
        pads.apply(slot, PadEvent::Button { button: PadButton::North, down });
    }
    let pressed = |pads: &Pads| PadBindings::USUAL.buttons(pads.take_states()[0].buttons());
    assert_eq!(pressed(&pads), LEFT | DOWN | HEAVY, "a tap between two frames counts");
    assert_eq!(pressed(&pads), LEFT | DOWN);
}
