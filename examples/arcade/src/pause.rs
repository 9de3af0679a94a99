//! The menu of a running game: volumes, keys, and the question before it is left.

use stage::menu::{Act, Item, Menu, MenuEvent, Note, Value};
use stage::sound::{Levels, MAX_PERCENT};

use crate::keys::LINES;

/// Whom a menu concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Company {
    /// A game of one's own: it rests while the menu is open.
    Alone,
    /// Others play on, and the game ends for them if it is left by the one who started its server.
    Host,
    /// Others play on.
    Guest,
}

/// Something that the game is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PauseRequest {
    Resume,
    Levels(Levels),
    Leave,
}

/// The menu of a running game.
#[derive(Clone, Debug)]
pub struct Pause {
    menu: Menu,
    levels: Levels,
}

const RESUME: usize = 0;
const MUSIC: usize = 1;
const EFFECTS: usize = 2;
const MUTE: usize = 3;

impl Pause {
    pub fn new(levels: Levels, company: Company) -> Self {
        let slider =
            |percent: u8| Value::Slider { at: percent.into(), max: MAX_PERCENT.into(), step: 5, unit: " %" };
        let (title, leave) = match company {
            Company::Alone => ("Pause", "ends the game"),
            Company::Host => ("The game goes on", "ends the game for everybody: this is your server"),
            Company::Guest => ("The game goes on", "the others play on"),
        };
        let items = vec![
            Item::pick("Resume").with_hint("Esc does the same"),
            Item::new("Music", slider(levels.music_percent)),
            Item::new("Effects", slider(levels.effects_percent)),
            Item::new("Mute", Value::switch(levels.muted)).with_hint("m does the same in the game"),
            Item::pick("Leave").with_hint(leave),
        ];
        let notes = LINES.iter().map(|(what, keys)| Note::calm(format!("{what}: {keys}"))).collect();
        let menu =
            Menu::new(title, items).with_notes(notes).with_footer("arrows choose and change, enter picks");
        Self { menu, levels }
    }

    pub fn menu(&self) -> &Menu {
        &self.menu
    }

    /// Acts on one act of the player.
    pub fn act(&mut self, act: &Act) -> Option<PauseRequest> {
        let value = |menu: &Menu, at: usize| menu.items[at].value.number();
        Some(match self.menu.act(act)? {
            MenuEvent::Back | MenuEvent::Picked(RESUME) => PauseRequest::Resume,
            MenuEvent::Changed(_) | MenuEvent::Picked(MUSIC | EFFECTS | MUTE) => {
                self.levels.music_percent = value(&self.menu, MUSIC) as u8;
                self.levels.effects_percent = value(&self.menu, EFFECTS) as u8;
                self.levels.muted = value(&self.menu, MUTE) == 1;
                PauseRequest::Levels(self.levels)
            }
            MenuEvent::Picked(_) => PauseRequest::Leave,
        })
    }
}
