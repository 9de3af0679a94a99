//! The menu of a match.

use stage::InputState;
use stage::menu::{Item, Menu, MenuEvent, drive};

/// The player's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    GoOn,
    /// Pause, or end the pause.
    Pause,
    Leave,
}

/// The menu, while it is open.
#[derive(Debug, Default)]
pub(super) struct Prompt(Option<Menu>);

impl Prompt {
    pub(super) fn open(&mut self, is_paused: bool) {
        let pause = if is_paused { "End the pause" } else { "Pause" };
        let items = ["Go on", pause, "Leave the match"].map(Item::pick).into();
        self.0 = Some(Menu::new("Cabinet", items).with_footer("enter picks, esc goes on"));
    }

    pub(super) fn is_open(&self) -> bool {
        self.0.is_some()
    }

    pub(super) fn menu(&self) -> Option<Menu> {
        self.0.clone()
    }

    /// Acts on the input; an answer closes the menu.
    pub(super) fn answer(&mut self, input: &InputState) -> Option<Answer> {
        let menu = self.0.as_mut()?;
        let answer = match drive(input, menu, |menu| Some(menu), Menu::act)? {
            MenuEvent::Picked(0) | MenuEvent::Back => Answer::GoOn,
            MenuEvent::Picked(1) => Answer::Pause,
            MenuEvent::Picked(_) => Answer::Leave,
            MenuEvent::Changed(_) => return None,
        };
        self.0 = None;
        Some(answer)
    }
}
