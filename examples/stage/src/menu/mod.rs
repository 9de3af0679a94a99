//! Menus: lists of items to pick, choices, sliders and text fields, apart from any device and any drawing.
//!
//! [`drive`] turns input into acts, [`Menu::act`] acts on them, and [`paint`] and [`write`] draw the result
//! on a canvas of any size. A game gives the words and decides what follows.

mod acts;
mod field;
mod item;
mod layout;
mod paint;

pub use acts::{Act, drive};
pub use field::{Edit, Field, FieldView};
pub use item::{Item, Value};
pub use layout::{Grid, Layout, Line};
pub use paint::{Theme, paint, paint_shapes, write};

/// A line of words above the items, and whether it is a warning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Note {
    pub text: String,
    pub is_warning: bool,
}

impl Note {
    pub fn calm(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_warning: false }
    }

    pub fn warning(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_warning: true }
    }
}

/// The result of an act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MenuEvent {
    /// The item of this index was picked.
    Picked(usize),
    /// The value of this item was changed.
    Changed(usize),
    /// The player wants to go back.
    Back,
}

/// A menu: a title, lines of words, items of which one is chosen, and a line about the keys.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Menu {
    pub title: String,
    pub notes: Vec<Note>,
    pub items: Vec<Item>,
    pub footer: String,
    /// The picture behind the menu is what it is about: the menu lies at the upper edge, and dims nothing.
    pub has_view: bool,
    chosen: usize,
}

impl Menu {
    pub fn new(title: impl Into<String>, items: Vec<Item>) -> Self {
        let mut menu = Self { title: title.into(), items, ..Self::default() };
        menu.choose(0);
        menu
    }

    #[must_use]
    pub fn with_notes(self, notes: Vec<Note>) -> Self {
        Self { notes, ..self }
    }

    #[must_use]
    pub fn with_footer(self, footer: impl Into<String>) -> Self {
        Self { footer: footer.into(), ..self }
    }

    /// Leaves the picture behind the menu in view.
    #[must_use]
    pub fn with_view(self) -> Self {
        Self { has_view: true, ..self }
    }

    /// The index of the chosen item.
    pub fn chosen(&self) -> usize {
        self.chosen
    }

    /// Chooses the item of this index, or the next one that can be chosen.
    pub fn choose(&mut self, index: usize) {
        let first = index.min(self.items.len().saturating_sub(1));
        let after = (first..self.items.len()).chain((0..first).rev());
        self.chosen = after.into_iter().find(|index| self.items[*index].is_open()).unwrap_or(first);
    }

    /// The item that is chosen; `None` if there is none at all.
    pub fn item(&self) -> Option<&Item> {
        self.items.get(self.chosen)
    }

    /// Whether characters are typed into the chosen item.
    pub fn takes_text(&self) -> bool {
        self.item().is_some_and(|item| matches!(item.value, Value::Text(_)))
    }

    /// Acts on one act of the player.
    pub fn act(&mut self, act: &Act) -> Option<MenuEvent> {
        match act {
            Act::Up => self.step(false),
            Act::Down => self.step(true),
            Act::Back => return Some(MenuEvent::Back),
            Act::Point { item } if self.is_open(*item) => self.chosen = *item,
            Act::Click { item, share } if self.is_open(*item) => {
                self.chosen = *item;
                return self.click(*share);
            }
            Act::Point { .. } | Act::Click { .. } => {}
            Act::Confirm => {
                let index = self.chosen;
                let item = self.items.get_mut(index).filter(|item| item.is_open())?;
                let is_choice = matches!(item.value, Value::Choice { .. });
                item.value.cycle();
                return Some(if is_choice { MenuEvent::Changed(index) } else { MenuEvent::Picked(index) });
            }
            Act::Left | Act::Right | Act::Type(_) | Act::Paste(_) | Act::Edit(_) => {
                let index = self.chosen;
                let item = self.items.get_mut(index).filter(|item| item.is_open())?;
                return item.value.act(act).then_some(MenuEvent::Changed(index));
            }
        }
        None
    }

    fn is_open(&self, index: usize) -> bool {
        self.items.get(index).is_some_and(Item::is_open)
    }

    /// To the next item that can be chosen, and from the last to the first.
    fn step(&mut self, down: bool) {
        let count = self.items.len();
        for steps in 1..=count {
            let index = if down { self.chosen + steps } else { self.chosen + count - steps } % count;
            if self.items[index].is_open() {
                self.chosen = index;
                return;
            }
        }
    }

    /// A click goes to the next choice, sets a slider, and picks anything else but a text field.
    fn click(&mut self, share: f32) -> Option<MenuEvent> {
        let index = self.chosen;
        let item = &mut self.items[index];
        match &mut item.value {
            Value::Choice { .. } => {
                item.value.cycle();
                Some(MenuEvent::Changed(index))
            }
            Value::Slider { .. } => item.value.slide_to(share).then_some(MenuEvent::Changed(index)),
            Value::Text(_) => None,
            Value::Pick | Value::Shown(_) => Some(MenuEvent::Picked(index)),
        }
    }
}
