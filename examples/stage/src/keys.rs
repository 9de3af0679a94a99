//! Keys and their names.

use core::fmt;
use core::str::FromStr;

use crate::quoted;

/// A key that both a window and a terminal can tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A character: a lowercase character, a digit or a sign.
    Char(char),
    Left,
    Right,
    Up,
    Down,
    Enter,
    Escape,
    Tab,
    Backspace,
    Delete,
    Home,
    End,
    F(u8),
}

const NAMED: [(&str, Key); 13] = [
    ("left", Key::Left),
    ("right", Key::Right),
    ("up", Key::Up),
    ("down", Key::Down),
    ("enter", Key::Enter),
    ("esc", Key::Escape),
    ("tab", Key::Tab),
    ("backspace", Key::Backspace),
    ("delete", Key::Delete),
    ("home", Key::Home),
    ("end", Key::End),
    ("space", Key::Char(' ')),
    ("comma", Key::Char(',')),
];

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((name, _)) = NAMED.iter().find(|(_, key)| key == self) {
            return f.write_str(name);
        }
        match self {
            Self::Char(character) => write!(f, "{character}"),
            Self::F(number) => write!(f, "F{number}"),
            other => write!(f, "{other:?}"),
        }
    }
}

/// A name that no key has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownKey(pub String);

impl fmt::Display for UnknownKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = quoted(&self.0);
        write!(
            f,
            "no key is called {name}: use a single character, or one of left, right, up, down, enter, tab, \
             backspace, delete, home, end, space, comma"
        )
    }
}

impl std::error::Error for UnknownKey {}

impl FromStr for Key {
    type Err = UnknownKey;

    fn from_str(name: &str) -> Result<Self, UnknownKey> {
        let small = name.trim().to_lowercase();
        if let Some((_, key)) = NAMED.iter().find(|(known, _)| *known == small) {
            return Ok(*key);
        }
        let mut characters = small.chars();
        match (characters.next(), characters.next()) {
            (Some(character), None) if character.is_ascii_graphic() || character.is_alphanumeric() => {
                Ok(Self::Char(character))
            }
            _ => Err(UnknownKey(name.trim().to_owned())),
        }
    }
}
