//! The codes of Linux for gamepads, and what they mean. Nothing here needs a device.

use super::{PadAxis, PadButton, PadEvent};

/// The types of events that pads tell.
const KEY: u16 = 1;
const ABSOLUTE: u16 = 3;

/// How the codes of one pad are read.
#[derive(Clone, Debug)]
pub struct Codes {
    by_letter: bool,
    ranges: Vec<(u16, i32, i32)>,
}

impl Codes {
    /// For the pad of this name. The driver of Xbox pads tells X and Y by their letters, and the code of the letter X is the
    /// one that others use for the button at the top.
    pub fn of(name: &str) -> Self {
        Self { by_letter: name.contains("X-Box") || name.contains("Xbox"), ranges: Vec::new() }
    }

    /// Sets the lowest and the highest value of an axis.
    pub fn set_range(&mut self, axis: u16, low: i32, high: i32) {
        self.ranges.retain(|(known, ..)| *known != axis);
        self.ranges.push((axis, low, high));
    }

    /// The meaning of an event; `None` if it has none for a game.
    pub fn read(&self, kind: u16, code: u16, value: i32) -> Option<PadEvent> {
        match (kind, value) {
            // 2 is a repeat of the system, which no pad needs.
            (KEY, 0 | 1) => Some(PadEvent::Button { button: self.button_of(code)?, down: value == 1 }),
            (ABSOLUTE, _) => Some(PadEvent::Axis { axis: axis_of(code)?, value: self.share(code, value)? }),
            _ => None,
        }
    }

    /// Where a value lies in its range: -1 for the lowest, 1 for the highest.
    fn share(&self, code: u16, value: i32) -> Option<f32> {
        let (_, low, high) = self.ranges.iter().find(|(known, ..)| *known == code)?;
        let width = (i64::from(*high) - i64::from(*low)).max(1) as f32;
        Some(((i64::from(value) - i64::from(*low)) as f32 / width * 2.0 - 1.0).clamp(-1.0, 1.0))
    }

    fn button_of(&self, code: u16) -> Option<PadButton> {
        Some(match code {
            // A joystick numbers its buttons.
            0x120 | 0x130 => PadButton::South,
            0x121 | 0x131 => PadButton::East,
            0x133 if self.by_letter => PadButton::West,
            0x134 if self.by_letter => PadButton::North,
            0x122 | 0x134 => PadButton::West,
            0x123 | 0x133 => PadButton::North,
            0x124 | 0x136 => PadButton::L1,
            0x125 | 0x137 => PadButton::R1,
            0x126 | 0x138 => PadButton::L2,
            0x127 | 0x139 => PadButton::R2,
            0x128 | 0x13a => PadButton::Select,
            0x129 | 0x13b => PadButton::Start,
            0x13c => PadButton::Guide,
            0x13d => PadButton::L3,
            0x13e => PadButton::R3,
            0x220 => PadButton::Up,
            0x221 => PadButton::Down,
            0x222 => PadButton::Left,
            0x223 => PadButton::Right,
            _ => return None,
        })
    }
}

const fn axis_of(code: u16) -> Option<PadAxis> {
    Some(match code {
        0x00 => PadAxis::StickX,
        0x01 => PadAxis::StickY,
        0x02 => PadAxis::TriggerLeft,
        0x05 => PadAxis::TriggerRight,
        0x10 => PadAxis::HatX,
        0x11 => PadAxis::HatY,
        _ => return None,
    })
}
