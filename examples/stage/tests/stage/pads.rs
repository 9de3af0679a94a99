//! Gamepads: the codes of the system, dead zones, directions, and plugs that are pulled.

use stage::InputState;
use stage::Key;
use stage::pads::{Codes, MAX_PADS, PadAxis, PadButton, PadButtons, PadEvent, PadShape, PadState, Pads};

const KEY: u16 = 1;
const ABSOLUTE: u16 = 3;

fn set(buttons: &[PadButton]) -> PadButtons {
    buttons.iter().copied().collect()
}

fn stick(axis: PadAxis, value: f32) -> PadEvent {
    PadEvent::Axis { axis, value }
}

#[test]
fn stick_gives_eight_directions_the_same_room() {
    let mut counts = [0; 9];
    for degrees in 0..360_u16 {
        let (sine, cosine) = f32::from(degrees).to_radians().sin_cos();
        let mut shape = PadShape::default();
        shape.apply(stick(PadAxis::StickX, cosine));
        shape.apply(stick(PadAxis::StickY, sine));
        let held = shape.held();
        let axis = |low, high| usize::from(held.holds(high)) + 1 - usize::from(held.holds(low));
        counts[3 * axis(PadButton::Up, PadButton::Down) + axis(PadButton::Left, PadButton::Right)] += 1;
    }
    assert_eq!(counts[4], 0, "full tilt is never at rest");
    let around = counts.iter().enumerate().filter(|(at, _)| *at != 4);
    assert!(around.clone().all(|(_, count)| (43..=47).contains(count)), "{counts:?}");
}

#[test]
fn stick_trembling_at_the_edge_gives_one_press() {
    let mut shape = PadShape::default();
    let tilts = [0.1, 0.36, 0.40, 0.36, 0.40, 0.33, 0.39, 0.30, 0.20, 0.37];
    let presses: Vec<PadButtons> = tilts
        .iter()
        .map(|tilt| shape.apply(stick(PadAxis::StickX, *tilt)))
        .filter(|press| !press.is_empty())
        .collect();
    assert_eq!(presses, [set(&[PadButton::Right])]);
    assert!(shape.held().is_empty());
    // A driver may tell nonsense.
    shape.apply(stick(PadAxis::StickX, f32::NAN));
    shape.apply(stick(PadAxis::StickY, f32::INFINITY));
    assert!(shape.held().is_empty());
}

#[test]
fn hat_stick_and_buttons_combine_and_opposites_are_neutral() {
    let mut shape = PadShape::default();
    shape.apply(stick(PadAxis::HatX, -1.0));
    shape.apply(stick(PadAxis::StickX, -0.9));
    shape.apply(stick(PadAxis::HatX, 0.0));
    assert_eq!(shape.held(), set(&[PadButton::Left]), "the stick still holds it");
    shape.apply(PadEvent::Button { button: PadButton::Right, down: true });
    assert!(shape.held().is_empty());
    shape.apply(stick(PadAxis::StickX, 0.0));
    assert_eq!(shape.held(), set(&[PadButton::Right]));
    // A trigger counts from its first third on.
    for (pull, down) in [(-1.0, false), (-0.5, false), (-0.3, true), (-0.5, true), (-0.7, false)] {
        shape.apply(stick(PadAxis::TriggerRight, pull));
        assert_eq!(shape.held().holds(PadButton::R2), down, "{pull}");
    }
}

#[test]
fn codes_of_the_system_are_read_by_place() {
    let mut codes = Codes::of("Sony Interactive Entertainment DualSense");
    codes.set_range(0, 0, 255);
    codes.set_range(0x11, -1, 1);
    let button = |button, down| Some(PadEvent::Button { button, down });
    assert_eq!(codes.read(KEY, 0x133, 1), button(PadButton::North, true));
    assert_eq!(codes.read(KEY, 0x134, 0), button(PadButton::West, false));
    assert_eq!(codes.read(KEY, 0x133, 2), None, "a repeat is no press");
    assert_eq!(codes.read(KEY, 0x1e, 1), None, "a key of a keyboard");
    assert_eq!(codes.read(ABSOLUTE, 0, 0), Some(stick(PadAxis::StickX, -1.0)));
    assert_eq!(codes.read(ABSOLUTE, 0x11, 1), Some(stick(PadAxis::HatY, 1.0)));
    assert_eq!(codes.read(ABSOLUTE, 1, 9), None, "an axis without a range");
    assert_eq!(codes.read(4, 4, 589_825), None);
    let mut broken = Codes::of("");
    broken.set_range(0, i32::MIN, i32::MAX);
    broken.set_range(1, 5, 5);
    assert_eq!(broken.read(ABSOLUTE, 0, i32::MAX), Some(stick(PadAxis::StickX, 1.0)));
    assert_eq!(broken.read(ABSOLUTE, 1, i32::MIN), Some(stick(PadAxis::StickY, -1.0)));
    // The driver of Xbox pads names its buttons by their letters.
    let xbox = Codes::of("Microsoft X-Box 360 pad");
    assert_eq!(xbox.read(KEY, 0x133, 1), button(PadButton::West, true));
    assert_eq!(xbox.read(KEY, 0x134, 1), button(PadButton::North, true));
    // An old joystick numbers them.
    assert_eq!(Codes::of("Logitech Attack 3").read(KEY, 0x120, 1), button(PadButton::South, true));
}

#[test]
fn unplugged_pad_releases_buttons_and_keeps_its_slot() {
    let pads = Pads::in_memory();
    assert_eq!((pads.plug_in("one\u{1b}[2J"), pads.plug_in("two")), (Some(0), Some(1)));
    assert_eq!(pads.names(), [(0, "one[2J".to_owned()), (1, "two".to_owned())]);
    let press = |slot| pads.apply(slot, PadEvent::Button { button: PadButton::Start, down: true });
    press(0);
    press(1);
    pads.unplug(0);
    press(0);
    let states = pads.take_states();
    assert_eq!(states.len(), 1);
    assert_eq!((states[0].slot, states[0].presses.as_slice()), (1, [PadButton::Start].as_slice()));
    assert!(pads.take_states()[0].presses.is_empty(), "a press is told once");
    assert!(pads.take_states()[0].held.holds(PadButton::Start));
    assert_eq!(pads.plug_in("three"), Some(0));
    assert!(pads.take_states()[0].held.is_empty(), "a new pad holds nothing");
    let more = (0..2 * MAX_PADS).filter(|_| pads.plug_in("more").is_some()).count();
    assert_eq!(more, MAX_PADS - 2);
    pads.unplug(usize::MAX);
    assert_eq!(pads.trouble(), None);
}

#[test]
fn presses_that_nobody_asks_for_do_not_pile_up() {
    let pads = Pads::in_memory();
    let slot = pads.plug_in("hammer").expect("there is room");
    for _ in 0..1_000 {
        for down in [true, false] {
            pads.apply(slot, PadEvent::Button { button: PadButton::West, down });
        }
    }
    let states = pads.take_states();
    assert_eq!(states[0].presses.len(), 64);
    assert!(
        states[0].held.is_empty() && states[0].buttons().holds(PadButton::West),
        "a tap between two frames counts"
    );
}

#[test]
fn menus_read_pads_as_keys_and_seats_share_them_out() {
    let pad =
        |slot, presses: &[PadButton]| PadState { slot, presses: presses.to_vec(), ..PadState::default() };
    let input = InputState {
        presses: vec![Key::Tab],
        pads: vec![pad(0, &[PadButton::Down, PadButton::South]), pad(1, &[PadButton::East, PadButton::L2])],
        ..InputState::default()
    };
    let keys: Vec<Key> = input.menu_presses().collect();
    assert_eq!(keys, [Key::Tab, Key::Down, Key::Enter, Key::Escape]);
    let second = input.of_seat(1, 2);
    assert!(second.pads.iter().all(|pad| pad.slot == 1) && second.presses == [Key::Tab]);
    assert!(input.pad_pressed(PadButton::L2) && !input.pad_pressed(PadButton::R2));
}

#[test]
fn names_of_buttons_can_be_read_back() {
    for button in PadButton::ALL {
        assert_eq!(button.to_string().to_uppercase().parse(), Ok(button));
    }
    let error = "turbo".parse::<PadButton>().expect_err("no such button").to_string();
    assert!(error.contains("'turbo'") && error.contains(" r3"), "{error}");
}
