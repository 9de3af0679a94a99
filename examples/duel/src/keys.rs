//! Key bindings: the keys of each player's buttons.

use core::fmt;
use core::str::FromStr;

use games::duel::buttons::{DOWN, HEAVY, LEFT, LIGHT, RIGHT, SPECIAL, START, THROW, UP};
use rebout::Buttons;
use stage::{Key, Role, UnknownKey};

/// The error of a list of keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeysError {
    Unknown(UnknownKey),
    Count(usize),
    Twice(Key),
    Reserved(Key),
}

impl fmt::Display for KeysError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(unknown) => write!(f, "{unknown}"),
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

impl From<UnknownKey> for KeysError {
    fn from(unknown: UnknownKey) -> Self {
        Self::Unknown(unknown)
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

    /// The names of the nine buttons, in the order of `--keys1`.
    pub const NAMES: [&str; 9] =
        ["left", "right", "jump", "crouch", "light", "heavy", "special", "throw", "start"];

    /// The keys in the order of the names.
    pub fn keys(&self) -> &[Key; 9] {
        &self.0
    }

    /// Binds a key to the button of this index. A key that another button has is swapped with the old one.
    ///
    /// # Errors
    /// A key that belongs to the game itself.
    pub fn bind(&mut self, index: usize, key: Key) -> Result<(), KeysError> {
        if is_reserved(key) {
            return Err(KeysError::Reserved(key));
        }
        let old = self.0[index];
        if let Some(other) = self.0.iter_mut().find(|bound| **bound == key) {
            *other = old;
        }
        self.0[index] = key;
        Ok(())
    }

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
            format!("{left} and {right} walk, {up} jump, {down} crouch"),
            format!("{light} light, {heavy} heavy, {special} special, {throw} throw, {start} start"),
        ]
    }
}

/// The role of `key` while it is held.
pub fn role_of(bindings: &[Bindings], key: Key) -> Role {
    bindings.iter().find_map(|bindings| bindings.role(key)).unwrap_or(Role::Tap)
}

/// Whether the game itself needs the key.
fn is_reserved(key: Key) -> bool {
    matches!(key, Key::Escape | Key::F(_) | Key::Char('m'))
}

/// As `--keys1` reads it.
impl fmt::Display for Bindings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&names.join(","))
    }
}

impl FromStr for Bindings {
    type Err = KeysError;

    fn from_str(list: &str) -> Result<Self, KeysError> {
        let keys = list.split(',').map(Key::from_str).collect::<Result<Vec<_>, _>>()?;
        for (index, key) in keys.iter().enumerate() {
            if keys[..index].contains(key) {
                return Err(KeysError::Twice(*key));
            }
            if is_reserved(*key) {
                return Err(KeysError::Reserved(*key));
            }
        }
        let count = keys.len();
        Ok(Self(keys.try_into().map_err(|_| KeysError::Count(count))?))
    }
}
