//! Keys: their names, and which of them are whose buttons.

use core::fmt;
use core::str::FromStr;

use rebout::Buttons;

use crate::keyboard::Role;
use crate::sim::buttons::{DOWN, HEAVY, LEFT, LIGHT, RIGHT, SPECIAL, START, THROW, UP};

/// A key that both a window and a terminal can tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A letter (small), a digit or a sign.
    Char(char),
    Left,
    Right,
    Up,
    Down,
    Enter,
    Escape,
    Tab,
    Backspace,
    F(u8),
}

const NAMED: [(&str, Key); 10] = [
    ("left", Key::Left),
    ("right", Key::Right),
    ("up", Key::Up),
    ("down", Key::Down),
    ("enter", Key::Enter),
    ("esc", Key::Escape),
    ("tab", Key::Tab),
    ("backspace", Key::Backspace),
    ("space", Key::Char(' ')),
    ("comma", Key::Char(',')),
];

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((name, _)) = NAMED.iter().find(|(_, key)| key == self) {
            return f.write_str(name);
        }
        match self {
            Self::Char(letter) => write!(f, "{letter}"),
            Self::F(number) => write!(f, "f{number}"),
            other => write!(f, "{other:?}"),
        }
    }
}

/// What is wrong with a list of keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeysError {
    Unknown(String),
    Count(usize),
    Twice(Key),
    Reserved(Key),
}

impl fmt::Display for KeysError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(name) => write!(
                f,
                "no key is called '{name}': use a single character, or one of left, right, up, down, enter, tab, \
                 backspace, space, comma"
            ),
            Self::Count(count) => write!(
                f,
                "{count} keys given, but a player has nine: left, right, up, down, light, heavy, special, throw, start"
            ),
            Self::Twice(key) => write!(f, "'{key}' is given twice"),
            Self::Reserved(key) => write!(f, "'{key}' belongs to the game itself and cannot be bound"),
        }
    }
}

impl std::error::Error for KeysError {}

impl FromStr for Key {
    type Err = KeysError;

    fn from_str(name: &str) -> Result<Self, KeysError> {
        let small = name.trim().to_lowercase();
        if let Some((_, key)) = NAMED.iter().find(|(known, _)| *known == small) {
            return Ok(*key);
        }
        let mut letters = small.chars();
        match (letters.next(), letters.next()) {
            (Some(letter), None) if letter.is_ascii_graphic() => Ok(Self::Char(letter)),
            _ => Err(KeysError::Unknown(name.trim().to_owned())),
        }
    }
}

/// The nine buttons in the order of `--keys1`.
const ORDER: [Buttons; 9] = [LEFT, RIGHT, UP, DOWN, LIGHT, HEAVY, SPECIAL, THROW, START];

/// Which key is which button, for one player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bindings([Key; 9]);

impl Bindings {
    /// For the only player at this keyboard: one hand moves, the other strikes.
    pub const ALONE: Self = Self([
        Key::Char('a'),
        Key::Char('d'),
        Key::Char('w'),
        Key::Char('s'),
        Key::Char('j'),
        Key::Char('k'),
        Key::Char('l'),
        Key::Char('i'),
        Key::Enter,
    ]);

    /// For two at one keyboard, the one on the left.
    pub const LEFT_HALF: Self = Self([
        Key::Char('a'),
        Key::Char('d'),
        Key::Char('w'),
        Key::Char('s'),
        Key::Char('f'),
        Key::Char('g'),
        Key::Char('h'),
        Key::Char('t'),
        Key::Char('r'),
    ]);

    /// For two at one keyboard, the one on the right.
    pub const RIGHT_HALF: Self = Self([
        Key::Left,
        Key::Right,
        Key::Up,
        Key::Down,
        Key::Char('u'),
        Key::Char('i'),
        Key::Char('o'),
        Key::Char('p'),
        Key::Enter,
    ]);

    pub fn buttons(&self, held: &[Key]) -> Buttons {
        let mut buttons = Buttons::NONE;
        for (key, button) in self.0.iter().zip(ORDER) {
            if held.contains(key) {
                buttons |= button;
            }
        }
        buttons
    }

    fn role(&self, key: Key) -> Option<Role> {
        let [left, right, up, down, ..] = self.0;
        [
            (left, Role::Direction(right)),
            (right, Role::Direction(left)),
            (up, Role::Jump),
            (down, Role::Direction(up)),
        ]
        .into_iter()
        .find_map(|(bound, role)| (bound == key).then_some(role))
    }

    pub fn shares_a_key_with(&self, other: &Self) -> Option<Key> {
        self.0.iter().find(|key| other.0.contains(key)).copied()
    }

    /// The keys in words, for the first screen.
    pub fn lines(&self) -> [String; 2] {
        let [left, right, up, down, light, heavy, special, throw, start] = &self.0;
        [
            format!("{left} {right} walk  {up} jump  {down} crouch"),
            format!("{light} light  {heavy} heavy  {special} special  {throw} throw  {start} start"),
        ]
    }
}

/// What `key` does while it is held.
pub fn role_of(bindings: &[Bindings], key: Key) -> Role {
    bindings.iter().find_map(|bindings| bindings.role(key)).unwrap_or(Role::Tap)
}

impl FromStr for Bindings {
    type Err = KeysError;

    fn from_str(list: &str) -> Result<Self, KeysError> {
        let keys = list.split(',').map(Key::from_str).collect::<Result<Vec<_>, _>>()?;
        for (index, key) in keys.iter().enumerate() {
            if keys[..index].contains(key) {
                return Err(KeysError::Twice(*key));
            }
            if matches!(key, Key::Escape | Key::F(_)) {
                return Err(KeysError::Reserved(*key));
            }
        }
        let count = keys.len();
        Ok(Self(keys.try_into().map_err(|_| KeysError::Count(count))?))
    }
}
