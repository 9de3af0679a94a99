//! The buttons of a gamepad and their names.

use core::fmt;
use core::str::FromStr;

use crate::{Key, quoted};

/// A button of a gamepad, named by its place: letters and signs differ from maker to maker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum PadButton {
    /// Left on the d-pad or on the left stick.
    Left,
    Right,
    Up,
    Down,
    /// The lowest of the four: A, or the cross.
    South,
    /// B, or the circle.
    East,
    /// X, or the square.
    West,
    /// Y, or the triangle.
    North,
    L1,
    R1,
    L2,
    R2,
    Select,
    Start,
    Guide,
    /// The left stick, pressed.
    L3,
    R3,
}

impl PadButton {
    pub const ALL: [Self; 17] = [
        Self::Left,
        Self::Right,
        Self::Up,
        Self::Down,
        Self::South,
        Self::East,
        Self::West,
        Self::North,
        Self::L1,
        Self::R1,
        Self::L2,
        Self::R2,
        Self::Select,
        Self::Start,
        Self::Guide,
        Self::L3,
        Self::R3,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::Right => "right",
            Self::Up => "up",
            Self::Down => "down",
            Self::South => "south",
            Self::East => "east",
            Self::West => "west",
            Self::North => "north",
            Self::L1 => "l1",
            Self::R1 => "r1",
            Self::L2 => "l2",
            Self::R2 => "r2",
            Self::Select => "select",
            Self::Start => "start",
            Self::Guide => "guide",
            Self::L3 => "l3",
            Self::R3 => "r3",
        }
    }

    /// The key that does the same in a menu.
    pub const fn menu_key(self) -> Option<Key> {
        Some(match self {
            Self::Left => Key::Left,
            Self::Right => Key::Right,
            Self::Up => Key::Up,
            Self::Down => Key::Down,
            Self::South | Self::Start => Key::Enter,
            Self::East | Self::Select => Key::Escape,
            _ => return None,
        })
    }

    const fn bit(self) -> u32 {
        1 << self as u32
    }
}

impl fmt::Display for PadButton {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that no button of a gamepad has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownPadButton(pub String);

impl fmt::Display for UnknownPadButton {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no button of a gamepad is called {}: use one of", quoted(&self.0))?;
        for (at, button) in PadButton::ALL.iter().enumerate() {
            write!(f, "{} {button}", if at == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

impl std::error::Error for UnknownPadButton {}

impl FromStr for PadButton {
    type Err = UnknownPadButton;

    fn from_str(name: &str) -> Result<Self, UnknownPadButton> {
        let small = name.trim().to_lowercase();
        let found = Self::ALL.into_iter().find(|button| button.name() == small);
        found.ok_or_else(|| UnknownPadButton(name.trim().to_owned()))
    }
}

/// A set of buttons.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PadButtons(u32);

impl PadButtons {
    pub const fn holds(self, button: PadButton) -> bool {
        self.0 & button.bit() != 0
    }

    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn set(&mut self, button: PadButton, down: bool) {
        if down {
            self.0 |= button.bit();
        } else {
            self.0 &= !button.bit();
        }
    }

    pub fn iter(self) -> impl Iterator<Item = PadButton> {
        PadButton::ALL.into_iter().filter(move |button| self.holds(*button))
    }
}

impl FromIterator<PadButton> for PadButtons {
    fn from_iter<I: IntoIterator<Item = PadButton>>(buttons: I) -> Self {
        buttons.into_iter().fold(Self::default(), |mut set, button| {
            set.set(button, true);
            set
        })
    }
}

impl core::ops::BitOr for PadButtons {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}
