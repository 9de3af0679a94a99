//! One item of a menu and its value.

use super::{Act, Field};

/// The value beside the label of an item.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nothing: the item is picked.
    Pick,
    /// Words that are shown; the item is picked.
    Shown(String),
    /// One of several words.
    Choice { options: Vec<String>, at: usize },
    /// A number from 0 to `max`, changed by `step`.
    Slider { at: u16, max: u16, step: u16, unit: &'static str },
    /// Text that is typed or pasted.
    Text(Field),
}

impl Value {
    pub fn choice(options: &[&str], at: usize) -> Self {
        let options: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
        let at = at.min(options.len().saturating_sub(1));
        Self::Choice { options, at }
    }

    /// The choice between no and yes.
    pub fn switch(is_on: bool) -> Self {
        Self::choice(&["off", "on"], usize::from(is_on))
    }

    /// The number of the choice or of the slider; 0 for other items.
    pub fn number(&self) -> usize {
        match self {
            Self::Choice { at, .. } => *at,
            Self::Slider { at, .. } => usize::from(*at),
            _ => 0,
        }
    }

    /// The words that were typed; nothing for other items.
    pub fn text(&self) -> &str {
        if let Self::Text(field) = self { field.text() } else { "" }
    }

    /// Acts on an act that changes a value; `true` if it did.
    pub(super) fn act(&mut self, act: &Act) -> bool {
        match (self, act) {
            (Self::Choice { options, at }, Act::Left | Act::Right) => {
                let next =
                    if *act == Act::Right { (*at + 1).min(options.len() - 1) } else { at.saturating_sub(1) };
                std::mem::replace(at, next) != next
            }
            (Self::Slider { at, max, step, .. }, Act::Left | Act::Right) => {
                let next =
                    if *act == Act::Right { (*at + *step).min(*max) } else { at.saturating_sub(*step) };
                std::mem::replace(at, next) != next
            }
            (Self::Text(field), Act::Type(character)) => field.push(*character),
            (Self::Text(field), Act::Paste(text)) => field.paste(text),
            (Self::Text(field), Act::Edit(edit)) => field.edit(*edit),
            (Self::Text(field), Act::Left | Act::Right) => field.step(*act == Act::Right),
            _ => false,
        }
    }

    /// To the next choice, and from the last to the first.
    pub(super) fn cycle(&mut self) {
        if let Self::Choice { options, at } = self {
            *at = (*at + 1) % options.len().max(1);
        }
    }

    /// Puts a slider where it was clicked: 0 is its left end, 1 its right one.
    pub(super) fn slide_to(&mut self, share: f32) -> bool {
        let Self::Slider { at, max, step, .. } = self else { return false };
        let steps = (share.clamp(0.0, 1.0) * f32::from(*max) / f32::from(*step)).round();
        let next = (steps as u16).saturating_mul(*step).min(*max);
        std::mem::replace(at, next) != next
    }
}

/// One line of a menu that can be chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    pub label: String,
    pub value: Value,
    /// A sentence about it, shown while it is chosen.
    pub hint: String,
    is_open: bool,
}

impl Item {
    pub fn new(label: impl Into<String>, value: Value) -> Self {
        Self { label: label.into(), value, hint: String::new(), is_open: true }
    }

    /// An item that is only picked.
    pub fn pick(label: impl Into<String>) -> Self {
        Self::new(label, Value::Pick)
    }

    #[must_use]
    pub fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: hint.into(), ..self }
    }

    /// The same item, to be chosen only if `is_open`.
    #[must_use]
    pub fn open_if(self, is_open: bool) -> Self {
        Self { is_open, ..self }
    }

    /// Whether it can be chosen.
    pub fn is_open(&self) -> bool {
        self.is_open
    }
}
