//! The pages of a pause: the move list and the volumes.

use stage::InputState;
use stage::menu::{Item, Menu, MenuEvent, Note, Value, drive};
use stage::sound::{Levels, MAX_PERCENT, Sound};

use crate::prompts::{FOOTER, PICK_FOOTER};
use crate::training::MoveReport;
use games::duel::Character;
use games::duel::moves::{Level, Move};

/// A page over the menu of a pause.
#[derive(Clone, Debug)]
pub(crate) enum PausePage {
    Moves(Menu),
    Sound(Menu),
}

/// The labels that open the pages.
pub(crate) const LABELS: [&str; 2] = ["Move list", "Sound"];

impl PausePage {
    /// The page of a label, for a player with this fighter.
    pub(crate) fn of(label: &str, sound: &Sound, character: Character) -> Option<Self> {
        match LABELS.iter().position(|known| *known == label)? {
            0 => Some(Self::Moves(move_list(character))),
            _ => Some(Self::Sound(volumes(sound.levels()))),
        }
    }

    pub(crate) fn menu(&self) -> &Menu {
        let (Self::Moves(menu) | Self::Sound(menu)) = self;
        menu
    }

    /// Acts on the input; `true` if the player goes back.
    pub(crate) fn act(&mut self, input: &InputState, sound: &Sound) -> bool {
        let (Self::Moves(menu) | Self::Sound(menu)) = self;
        let told = drive(input, menu, |menu| Some(menu), Menu::act);
        if let (Self::Sound(menu), Some(MenuEvent::Changed(_))) = (&*self, told) {
            sound.set_levels(levels_of(menu));
        }
        matches!(told, Some(MenuEvent::Picked(_) | MenuEvent::Back))
    }
}

const MOVES: [(Move, &str); 6] = [
    (Move::StandLight, "light"),
    (Move::StandHeavy, "heavy"),
    (Move::CrouchLight, "crouch + light"),
    (Move::CrouchHeavy, "crouch + heavy"),
    (Move::AirLight, "jump, light"),
    (Move::AirHeavy, "jump, heavy"),
];

/// Every move of a fighter with its buttons, its start-up, its damage and how it is blocked.
fn move_list(character: Character) -> Menu {
    let specials = [
        (character.special(), "special"),
        (character.low_special(), "crouch + special"),
        (Move::Throw, "throw, close up"),
    ];
    let line = |(attack, buttons): (Move, &str)| {
        let data = character.data(attack);
        let block = match (attack, data.level) {
            (Move::Throw, _) => "not blocked",
            (_, Level::High) => "block standing",
            (_, Level::Mid) => "block either way",
            (_, Level::Low) => "block crouching",
        };
        let name = MoveReport::name_of(attack);
        Note::calm(format!(
            "{name:<13}  {buttons:<16}  start-up {:>2}  damage {:>3}  {block:<16}",
            data.startup, data.damage
        ))
    };
    Menu::new(format!("Moves of {}", character.name()), vec![Item::pick("Back")])
        .with_notes(MOVES.into_iter().chain(specials).map(line).collect())
        .with_footer(PICK_FOOTER)
}

fn volumes(levels: Levels) -> Menu {
    let slider =
        |percent: u8| Value::Slider { at: percent.into(), max: MAX_PERCENT.into(), step: 5, unit: " %" };
    let items = vec![
        Item::new("Effects", slider(levels.effects_percent)),
        Item::new("Music", slider(levels.music_percent)),
        Item::new("Mute", Value::switch(levels.muted)),
        Item::pick("Back"),
    ];
    Menu::new("Sound", items).with_footer(FOOTER)
}

fn levels_of(menu: &Menu) -> Levels {
    let number = |item: usize| menu.items[item].value.number();
    Levels { effects_percent: number(0) as u8, music_percent: number(1) as u8, muted: number(2) == 1 }
}
