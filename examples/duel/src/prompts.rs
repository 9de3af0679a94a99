//! The prompts in a match: pause, leaving, and a rematch. Each is a menu over the stage.

use stage::InputState;
use stage::menu::{Item, Menu, MenuEvent, Note, drive};
use stage::sound::Sound;

use games::duel::Character;

use crate::pause_pages::{LABELS, PausePage};

/// The keys of a menu in which nothing can be changed.
pub const PICK_FOOTER: &str = "arrows choose, enter picks, esc goes back";
/// The keys of every other menu.
pub const FOOTER: &str = "arrows choose and change, enter picks, esc goes back";

/// A question that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// The match rests, and the player decides how long.
    Pause,
    /// The match rests, and the other player decides how long.
    Wait,
    /// The match goes on while the player decides.
    Leave,
    Rematch,
}

/// The player's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    GoOn,
    Rematch,
    Leave,
}

/// The prompt that is open, if there is one.
#[derive(Clone, Debug, Default)]
pub struct Prompts {
    open: Option<(Question, Menu)>,
    /// A page over the question.
    page: Option<PausePage>,
}

impl Prompts {
    pub fn ask(&mut self, question: Question) {
        let (title, labels, note) = match question {
            Question::Pause => ("Paused", ["Go on", "Leave the match"], ""),
            Question::Wait => ("Paused", ["Wait", "Leave the match"], ""),
            Question::Leave => {
                ("Leave the match?", ["Stay", "Leave"], "The match goes on. Whoever leaves forfeits it.")
            }
            Question::Rematch => ("Rematch?", ["Rematch", "Leave"], ""),
        };
        let notes = if note.is_empty() { Vec::new() } else { vec![Note::calm(note)] };
        let mut items: Vec<Item> = labels.map(Item::pick).into();
        if matches!(question, Question::Pause | Question::Wait) {
            items.splice(1..1, LABELS.map(Item::pick));
        }
        let menu = Menu::new(title, items).with_notes(notes).with_footer(PICK_FOOTER);
        (self.open, self.page) = (Some((question, menu)), None);
    }

    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    pub fn is(&self, question: Question) -> bool {
        self.open.as_ref().is_some_and(|(open, _)| *open == question)
    }

    pub fn close(&mut self) {
        (self.open, self.page) = (None, None);
    }

    /// Replaces the text above the question.
    pub fn set_text(&mut self, title: &str, note: &str) {
        if let Some((_, menu)) = &mut self.open {
            title.clone_into(&mut menu.title);
            menu.notes = vec![Note::calm(note)];
        }
    }

    pub fn menu(&self) -> Option<Menu> {
        let page = self.page.as_ref().map(PausePage::menu);
        page.or(self.open.as_ref().map(|(_, menu)| menu)).cloned()
    }

    /// Acts on the input; an answer closes the question. The volumes of a pause are those of `sound`, and its moves those of
    /// `character`.
    pub fn answer(&mut self, input: &InputState, sound: &Sound, character: Character) -> Option<Answer> {
        let (question, menu) = self.open.as_mut()?;
        if let Some(page) = &mut self.page {
            if page.act(input, sound) {
                self.page = None;
            }
            return None;
        }
        let told = drive(input, menu, |menu| Some(menu), Menu::act)?;
        if let MenuEvent::Picked(item) = told {
            self.page = PausePage::of(&menu.items[item].label, sound, character);
            if self.page.is_some() {
                return None;
            }
        }
        let answer = match (told, *question) {
            (MenuEvent::Picked(0), Question::Rematch) => Answer::Rematch,
            (MenuEvent::Picked(0), _) => Answer::GoOn,
            (MenuEvent::Back, Question::Pause | Question::Wait | Question::Leave) => Answer::GoOn,
            (MenuEvent::Picked(_), _) | (MenuEvent::Back, Question::Rematch) => Answer::Leave,
            (MenuEvent::Changed(_), _) => return None,
        };
        self.close();
        Some(answer)
    }
}
