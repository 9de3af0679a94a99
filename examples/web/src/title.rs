//! The title: a menu over a match of two bots.

use duel::composer::Composer;
use duel::prompts::PICK_FOOTER;
use games::duel::bot::{Bot, Level};
use games::duel::{Character, Duel};
use rebout::rollback::{EngineConfig, Rollback};
use rebout::{Game, Player};
use stage::InputState;
use stage::menu::{Act, Item, Menu, MenuEvent, Note, Value, drive};
use stage::sound::{Play, Sound, ui};

use crate::report::Report;

/// What the player wants to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    Fight,
    Host,
}

const LEVELS: [(&str, Level); 3] = [("easy", Level::Easy), ("normal", Level::Normal), ("hard", Level::Hard)];

/// The title, and the reports that lie before it.
pub struct Title {
    menu: Menu,
    report: Option<Menu>,
    level: usize,
    pub composer: Composer,
    duel: Duel,
    bots: [Bot; 2],
    engine: Rollback<Duel>,
    seed: u32,
}

impl Title {
    pub fn new(seed: u32, report: Report, (level, net_open): (usize, bool)) -> Self {
        let duel = Duel::between(seed, Character::ALL);
        let mut composer = Composer::new(&duel, ["Kaito".to_owned(), "Rai".to_owned()], net_open);
        composer.be_backdrop();
        let mut title = Self {
            menu: menu(level),
            report: report.into_menu(),
            level,
            composer,
            duel,
            bots: [Bot::new(seed, Level::Normal), Bot::new(seed.wrapping_add(1), Level::Hard)],
            engine: Rollback::new(EngineConfig::default(), &duel),
            seed,
        };
        title.show();
        title
    }

    /// One frame; answers what the player wants.
    pub fn frame(&mut self, input: &InputState, sound: &Sound) -> Option<Request> {
        let before = self.open().chosen();
        let event = drive(input, self, |title| Some(title.open()), Self::act);
        let request = match event {
            Some(_) if self.report.is_some() => {
                self.report = None;
                None
            }
            Some(MenuEvent::Picked(0)) => Some(Request::Fight),
            Some(MenuEvent::Picked(2)) => Some(Request::Host),
            Some(MenuEvent::Changed(1)) => {
                self.level = self.menu.items[1].value.number();
                None
            }
            _ => None,
        };
        if request.is_some() || event.is_some() {
            sound.play(Play::of(ui::CHOOSE));
        } else if self.open().chosen() != before {
            sound.play(Play::of(ui::MOVE));
        }
        self.step();
        self.show();
        request
    }

    /// The chosen strength of the bot.
    pub fn level(&self) -> (usize, Level) {
        (self.level, LEVELS.get(self.level).map_or(Level::Normal, |(_, level)| *level))
    }

    /// The words of the report that is open.
    pub fn words(&self) -> Vec<&str> {
        self.report.iter().flat_map(|menu| menu.notes.iter().map(|note| note.text.as_str())).collect()
    }

    fn open(&self) -> &Menu {
        self.report.as_ref().unwrap_or(&self.menu)
    }

    fn act(&mut self, act: &Act) -> Option<MenuEvent> {
        self.report.as_mut().unwrap_or(&mut self.menu).act(act)
    }

    fn show(&mut self) {
        let menu = self.open().clone();
        self.composer.menu(Some(menu));
    }

    /// One frame of the match behind the menu.
    fn step(&mut self) {
        for player in Player::BOTH {
            let buttons = self.bots[player.index()].buttons(&self.duel, player);
            self.engine.press(player, 0, buttons);
        }
        self.engine.advance(&mut self.duel);
        self.composer.see(&self.duel, self.engine.cues());
        if self.duel.finished() {
            self.duel = Duel::between(self.seed.wrapping_add(self.duel.age), Character::ALL);
            self.engine.reset();
        }
    }
}

fn menu(level: usize) -> Menu {
    let levels = LEVELS.map(|(name, _)| name);
    let items = vec![
        Item::pick("Fight the bot").with_hint("At once, in this page."),
        Item::new("Strength of the bot", Value::choice(&levels, level)),
        Item::pick("Invite a friend").with_hint("Makes a link. Whoever opens it plays against you."),
    ];
    let notes = vec![Note::calm("a d w s move, j k l i strike. Drop a replay file here to watch it.")];
    Menu::new("Rebout", items).with_notes(notes).with_footer(PICK_FOOTER)
}
