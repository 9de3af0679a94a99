//! The title: play alone or with bots, join a server, quit. A menu of the stage, without a screen.

use stage::menu::{Act, Field, Item, Menu, MenuEvent, Note, Value};

use crate::cli::Format;
use crate::keys::LINES;
use crate::play::Target;

/// Bots that may play along.
const MAX_BOTS: usize = 3;
/// The longest invite, and some more.
const SERVER_CHARACTERS: usize = 600;

/// Something that the program is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Starts a server with so many bots, and plays on it.
    Play {
        bots: u8,
        wire: Format,
    },
    Join(Target),
    Quit,
}

/// The title with what was chosen on it.
#[derive(Clone, Debug)]
pub struct Title {
    menu: Menu,
    is_bare: bool,
}

const PLAY: usize = 0;
const BOTS: usize = 1;
const WIRE: usize = 2;
const SERVER: usize = 3;
const JOIN: usize = 4;

impl Title {
    /// With `is_bare` servers are named by their address instead of their invite. `wire` is that of a server of one's own.
    pub fn new(bots: u8, is_bare: bool, wire: Format) -> Self {
        let counts: Vec<String> = (0..=MAX_BOTS).map(|count| count.to_string()).collect();
        let bots = Value::Choice { options: counts, at: usize::from(bots).min(MAX_BOTS) };
        let server = Value::Text(Field::new("", SERVER_CHARACTERS).without_spaces());
        let items = vec![
            Item::pick("Play").with_hint("a server of your own, which others can join"),
            Item::new("Bots", bots).with_hint("bots that play along with you"),
            Item::new("Wire", Value::choice(&["R-Type", "GAME"], usize::from(wire == Format::Game)))
                .with_hint("the format of your own server; who joins finds it out"),
            Item::new("Server", server).with_hint(if is_bare {
                "the address of another's server"
            } else {
                "paste the invite of another's server"
            }),
            Item::pick("Join"),
            Item::pick("Quit"),
        ];
        let menu = Menu::new("Arcade", items).with_footer("arrows choose and change, enter picks");
        let mut title = Self { menu, is_bare };
        title.tell(None);
        title
    }

    pub fn menu(&self) -> &Menu {
        &self.menu
    }

    /// Says how the last game ended, above the keys.
    pub fn tell(&mut self, end: Option<String>) {
        let keys = LINES.iter().take(2).map(|(what, keys)| Note::calm(format!("{what}: {keys}")));
        self.menu.notes = end.map(Note::warning).into_iter().chain(keys).collect();
    }

    /// Acts on one act of the player.
    pub fn act(&mut self, act: &Act) -> Option<Request> {
        match self.menu.act(act)? {
            MenuEvent::Back => self.menu.choose(self.menu.items.len() - 1),
            MenuEvent::Changed(_) => self.tell(None),
            MenuEvent::Picked(PLAY) => {
                let number = |at: usize| self.menu.items[at].value.number();
                let wire = if number(WIRE) == 1 { Format::Game } else { Format::Rtype };
                return Some(Request::Play { bots: number(BOTS) as u8, wire });
            }
            MenuEvent::Picked(SERVER | JOIN) => {
                match Target::read(self.menu.items[SERVER].value.text(), self.is_bare) {
                    Ok(target) => return Some(Request::Join(target)),
                    Err(text) => self.tell(Some(text)),
                }
            }
            MenuEvent::Picked(_) => return Some(Request::Quit),
        }
        None
    }
}
