//! The keys and the gamepad of a player, and the command that they make.

use rebout::authority::Command;
use stage::pads::PadButton;
use stage::{InputState, Key, Role};

const LEFT: [Key; 2] = [Key::Char('a'), Key::Left];
const RIGHT: [Key; 2] = [Key::Char('d'), Key::Right];
const UP: [Key; 2] = [Key::Char('w'), Key::Up];
const DOWN: [Key; 2] = [Key::Char('s'), Key::Down];
const SHOOT: [Key; 2] = [Key::Char(' '), Key::Char('j')];
const PAD_SHOOT: [PadButton; 4] = [PadButton::South, PadButton::West, PadButton::R1, PadButton::R2];

/// The keys in words.
pub const LINES: [(&str, &str); 6] = [
    ("fly", "w a s d, the arrows or a gamepad"),
    ("shoot", "space or j; f keeps the gun firing"),
    ("r", "raw: where the last update has everything"),
    ("n", "figures of the connection"),
    ("m", "mute"),
    ("esc or q", "menu: volume, pause, leave"),
];

/// The command of the keys and pad buttons that are held; `fires` shoots without one.
pub fn command(input: &InputState, fires: bool) -> Command {
    let key = |keys: [Key; 2]| keys.iter().any(|key| input.held.contains(key));
    let pad = |button: PadButton| input.pads.iter().any(|pad| pad.held.holds(button));
    let any = |(keys, button)| key(keys) || pad(button);
    let axis = |low, high| f32::from(i8::from(any(high)) - i8::from(any(low)));
    let across = axis((LEFT, PadButton::Left), (RIGHT, PadButton::Right));
    let along = axis((UP, PadButton::Up), (DOWN, PadButton::Down));
    let shoots = fires || key(SHOOT) || PAD_SHOOT.into_iter().any(pad);
    Command::new(across, along, u8::from(shoots))
}

/// The role of a key while it is held, for a terminal that does not tell releases.
pub fn role_of(key: Key) -> Role {
    for (keys, opposite) in [(LEFT, RIGHT), (RIGHT, LEFT), (UP, DOWN), (DOWN, UP)] {
        if let Some(at) = keys.iter().position(|known| *known == key) {
            return Role::Direction(opposite[at]);
        }
    }
    // A gun is held like a direction; nothing is its opposite.
    if SHOOT.contains(&key) { Role::Direction(Key::Backspace) } else { Role::Tap }
}
