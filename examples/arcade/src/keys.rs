//! The keys of a player, and the command that they make.

use rebout::authority::Command;
use stage::{Key, Role};

const LEFT: [Key; 2] = [Key::Char('a'), Key::Left];
const RIGHT: [Key; 2] = [Key::Char('d'), Key::Right];
const UP: [Key; 2] = [Key::Char('w'), Key::Up];
const DOWN: [Key; 2] = [Key::Char('s'), Key::Down];
const SHOOT: [Key; 2] = [Key::Char(' '), Key::Char('j')];

/// The keys in words.
pub const LINES: [(&str, &str); 5] = [
    ("fly", "w a s d or the arrows"),
    ("shoot", "space or j; f keeps the gun firing"),
    ("r", "raw: where the last update has everything"),
    ("n", "figures of the connection"),
    ("q or esc", "leave"),
];

/// The command of the keys that are held; `fires` shoots without one.
pub fn command(held: &[Key], fires: bool) -> Command {
    let any = |keys: [Key; 2]| keys.iter().any(|key| held.contains(key));
    let axis = |low, high| f32::from(i8::from(any(high)) - i8::from(any(low)));
    Command::new(axis(LEFT, RIGHT), axis(UP, DOWN), u8::from(fires || any(SHOOT)))
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
