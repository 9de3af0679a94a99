//! The end of a match, or why there was none, as a menu over the stage.

use duel::prompts::PICK_FOOTER;
use stage::menu::{Item, Menu, Note};

/// How something ended.
#[derive(Clone, Debug)]
pub struct Report {
    /// `None`: the title follows, because the player wanted to leave.
    menu: Option<Menu>,
}

impl Report {
    /// Nothing to say.
    pub fn title() -> Self {
        Self { menu: None }
    }

    /// Something went wrong: a sentence that says what, and what to do.
    pub fn failure(title: &str, sentence: impl Into<String>) -> Self {
        Self { menu: Some(menu(title, vec![Note::warning(sentence)])) }
    }

    /// The end of a match. The first two lines are a warning if the match went wrong.
    pub fn of_match(lines: Vec<String>, is_bad: bool, is_own_choice: bool) -> Self {
        if is_own_choice {
            return Self::title();
        }
        let note = |(index, line): (usize, String)| {
            if is_bad && index < 2 { Note::warning(line) } else { Note::calm(line) }
        };
        let notes = lines.into_iter().enumerate().map(note).collect();
        Self { menu: Some(menu(if is_bad { "Match ended" } else { "Match over" }, notes)) }
    }

    /// The menu to show, if there is something to say.
    pub fn into_menu(self) -> Option<Menu> {
        self.menu
    }
}

fn menu(title: &str, notes: Vec<Note>) -> Menu {
    Menu::new(title, vec![Item::pick("Title")]).with_notes(notes).with_footer(PICK_FOOTER)
}
