//! The prompts in a match: pause, leaving, and a rematch. Each is a menu over the stage.

use stage::InputState;
use stage::menu::{Item, Menu, MenuEvent, Note, drive};

/// The keys of a menu in which nothing can be changed.
pub const PICK_FOOTER: &str = "arrows choose, enter picks, esc goes back";

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
        let menu = Menu::new(title, labels.map(Item::pick).into()).with_notes(notes).with_footer(PICK_FOOTER);
        self.open = Some((question, menu));
    }

    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    pub fn is(&self, question: Question) -> bool {
        self.open.as_ref().is_some_and(|(open, _)| *open == question)
    }

    pub fn close(&mut self) {
        self.open = None;
    }

    /// Replaces the text above the question.
    pub fn set_text(&mut self, title: &str, note: &str) {
        if let Some((_, menu)) = &mut self.open {
            title.clone_into(&mut menu.title);
            menu.notes = vec![Note::calm(note)];
        }
    }

    pub fn menu(&self) -> Option<Menu> {
        self.open.as_ref().map(|(_, menu)| menu.clone())
    }

    /// Acts on the input; an answer closes the question.
    pub fn answer(&mut self, input: &InputState) -> Option<Answer> {
        let (question, menu) = self.open.as_mut()?;
        let told = drive(input, menu, |menu| Some(menu), Menu::act)?;
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
