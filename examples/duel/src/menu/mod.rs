//! The game around the match: pages of menus as a state machine. Nothing here knows a screen, a key or a socket.
//!
//! [`App::act`] takes what the player does to the page that is open, and answers with a [`Request`] for the program: a
//! match, a replay, or the end. What came of it goes back in with [`App::came_back`].

mod guests;
mod keys_page;
mod pages;
mod request;

use std::path::PathBuf;

pub use guests::Guests;
use keys_page::Bound;
use stage::Key;
use stage::menu::{Act, Menu, MenuEvent, Note};
use stage::pads::PadButton;
use stage::sound::Levels;

use crate::opponents::Opponent;
pub use crate::prompts::{FOOTER, PICK_FOOTER};
use crate::replay_list::Entry;
use crate::settings::{BotLink, LEVELS, Settings};
use crate::training::{Drill, FIGHTERS, Guard, Stance, Throws, WakeUp};
use pages::{Line, build};
pub(crate) use pages::{TRAINING_KEYS, drill_values};
pub use request::{Report, Request};

/// A page of the menus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page {
    Title,
    Versus,
    Local,
    Host,
    Join,
    Training,
    Replays,
    /// One recorded match.
    Replay,
    Help,
    Settings,
    Keys,
    Sound,
    Colours,
    Link,
    /// How a match went, and what may follow.
    Result,
}

/// A value that an item of a page changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Setting {
    Level,
    BotLink,
    Guests,
    Port,
    Host,
    /// The fighter of a seat in the training.
    Fighter(usize),
    Stance,
    Guard,
    Throws,
    WakeUp,
    Boxes,
    Frames,
    Inputs,
    Name,
    Keyset,
    Effects,
    Music,
    Mute,
    Outfit(usize),
    Delay,
    Window,
    Rendezvous,
    ReplayName,
}

/// The meaning of an item of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Choice {
    Go(Page),
    Do(Request),
    /// Joins what was typed.
    Join,
    Turn(Setting),
    /// Opens the page of the recorded match of this number.
    Replay(usize),
    /// Asks before a recorded match is deleted.
    AskToDelete,
    /// Asks for a key for this button.
    Bind(usize),
    UsualKeys,
    Back,
    /// The title, from wherever.
    Home,
}

#[derive(Clone, Debug)]
struct Open {
    page: Page,
    menu: Menu,
    choices: Vec<Choice>,
}

/// The menus, with the page that is open and those it was reached by.
#[derive(Clone, Debug)]
pub struct App {
    pub settings: Settings,
    open: Vec<Open>,
    replays: Vec<Entry>,
    /// The recorded match whose page is open, its name as typed, and whether it is about to be deleted.
    replay: Option<(Entry, String, bool)>,
    /// The opponents of earlier matches.
    opponents: Vec<Opponent>,
    /// The file of a match that was not played to its end.
    unfinished: Option<PathBuf>,
    /// The host to join, as typed.
    host: String,
    pub guests: Guests,
    /// Whose keys or gamepad the page of the keys shows.
    player: Bound,
    /// The button that waits for its key.
    binding: Option<usize>,
    report: Report,
    /// The device of the sound, or why there is none.
    device: String,
    /// Something to tell on the page that is open.
    warning: Option<String>,
    is_changed: bool,
}

impl App {
    /// The menus with `first` open and nothing behind it.
    pub fn new(settings: Settings, first: Page) -> Self {
        let mut app = Self {
            settings,
            open: Vec::new(),
            replays: Vec::new(),
            replay: None,
            opponents: Vec::new(),
            unfinished: None,
            host: String::new(),
            guests: Guests::default(),
            player: Bound::ALL[0],
            binding: None,
            report: Report::default(),
            device: String::new(),
            warning: None,
            is_changed: false,
        };
        app.go(first);
        app
    }

    pub fn page(&self) -> Page {
        self.open.last().map_or(Page::Title, |open| open.page)
    }

    /// The menu of the page that is open.
    pub fn menu(&self) -> Option<&Menu> {
        self.open.last().map(|open| &open.menu)
    }

    /// Tells the player something on the page that is open.
    pub fn warn(&mut self, text: impl Into<String>) {
        self.warning = Some(text.into());
        self.rebuild();
    }

    /// Tells the player once what a terminal without key releases means, and what helps.
    pub fn tell_of_releases(&mut self) {
        if !std::mem::replace(&mut self.settings.told_releases, true) {
            self.is_changed = true;
            self.warn(
                "This terminal does not report released keys: a tap moves you for up to half a second. A window, \
                 a gamepad, or a terminal with the kitty keyboard protocol helps.",
            );
        }
    }

    /// The device of the sound in words, or why there is none.
    pub fn set_device(&mut self, device: String) {
        if self.device != device {
            self.device = device;
            self.rebuild();
        }
    }

    /// The recorded matches, newest first.
    pub fn set_replays(&mut self, replays: Vec<Entry>) {
        self.replays = replays;
        self.rebuild();
    }

    /// The opponents of earlier matches, the last one first.
    pub fn set_opponents(&mut self, opponents: Vec<Opponent>) {
        self.opponents = opponents;
        self.rebuild();
    }

    /// A match that was not played to its end, if there is one: the title offers to go back.
    pub fn set_unfinished(&mut self, file: Option<PathBuf>) {
        if self.unfinished != file {
            self.unfinished = file;
            self.rebuild();
        }
    }

    /// The training as the player left it.
    pub fn set_drill(&mut self, drill: Drill) {
        self.is_changed |= self.settings.drill != drill;
        self.settings.drill = drill;
        self.rebuild();
    }

    /// The volumes as the player left them in a match.
    pub fn set_levels(&mut self, levels: Levels) {
        self.is_changed |= self.settings.levels != levels;
        self.settings.levels = levels;
        self.rebuild();
    }

    /// Whether the settings have been changed since this was last asked.
    pub fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.is_changed)
    }

    /// Closes the page of a recorded match that has another name or is gone.
    pub fn leave_replay(&mut self) {
        self.replay = None;
        self.open.retain(|open| open.page != Page::Replay);
        self.rebuild();
    }

    /// Shows how a request went. Without a report the page stays that it was done from.
    pub fn came_back(&mut self, report: Option<Report>) {
        self.warning = None;
        if let Some(report) = report {
            self.report = report;
            self.open.retain(|open| open.page != Page::Result);
            self.go(Page::Result);
        }
        self.rebuild();
    }

    /// Acts on one act of the player.
    pub fn act(&mut self, act: &Act) -> Option<Request> {
        if self.binding.is_some() {
            // Keys go to `bind`; only giving up is an act.
            if *act == Act::Back {
                self.binding = None;
                self.rebuild();
            }
            return None;
        }
        // A text that is pasted belongs to the field of the page, wherever the player is on it.
        if matches!(act, Act::Paste(_)) && self.page() == Page::Join {
            self.open.last_mut()?.menu.choose(0);
        }
        let told = self.open.last_mut()?.menu.act(act)?;
        let choice = |app: &Self, index: usize| app.open.last()?.choices.get(index).cloned();
        match told {
            MenuEvent::Back => self.back(),
            MenuEvent::Changed(index) => {
                if let Some(Choice::Turn(setting)) = choice(self, index) {
                    self.turn(setting, index);
                }
                None
            }
            MenuEvent::Picked(index) => self.pick(choice(self, index)?),
        }
    }

    fn pick(&mut self, choice: Choice) -> Option<Request> {
        self.warning = None;
        match choice {
            Choice::Go(page) => self.go(page),
            Choice::Do(request) => return Some(request),
            Choice::Join | Choice::Turn(Setting::Host) => return self.join(),
            Choice::Turn(Setting::ReplayName) => {
                return self
                    .replay
                    .as_ref()
                    .map(|(entry, name, _)| Request::NameReplay(entry.path.clone(), name.clone()));
            }
            Choice::Turn(_) => {}
            Choice::Replay(number) => {
                let entry = self.replays.get(number)?.clone();
                let name = entry.name.clone().unwrap_or_default();
                self.replay = Some((entry, name, false));
                self.go(Page::Replay);
            }
            Choice::AskToDelete => {
                if let Some((_, _, deletes)) = &mut self.replay {
                    *deletes = true;
                }
            }
            Choice::Bind(button) => self.binding = Some(button),
            Choice::UsualKeys => {
                keys_page::reset(self);
                self.is_changed = true;
            }
            Choice::Back => return self.back(),
            Choice::Home => {
                self.open.clear();
                self.go(Page::Title);
            }
        }
        self.rebuild();
        None
    }

    fn join(&mut self) -> Option<Request> {
        if self.host.is_empty() {
            self.warn("Type or paste the invite of the host first.");
            return None;
        }
        Some(Request::Join(self.host.clone()))
    }

    fn go(&mut self, page: Page) {
        self.warning = None;
        self.open.push(Open { page, menu: Menu::default(), choices: Vec::new() });
        self.rebuild();
    }

    fn back(&mut self) -> Option<Request> {
        self.warning = None;
        // Esc on the title goes to "Quit" and no further: nobody leaves by one key too many.
        if self.page() == Page::Title {
            let last = self.open.last_mut()?;
            let quit = last.choices.iter().position(|choice| *choice == Choice::Do(Request::Quit))?;
            last.menu.choose(quit);
            return None;
        }
        self.open.pop();
        if self.open.is_empty() {
            self.go(Page::Title);
        }
        self.rebuild();
        None
    }

    /// Builds the open page anew: values and words may have changed, the chosen item stays.
    fn rebuild(&mut self) {
        let Some(page) = self.open.last().map(|open| open.page) else { return };
        let (mut menu, lines) = build(self, page);
        if let Some(warning) = &self.warning {
            menu.notes.insert(0, Note::warning(warning.clone()));
        }
        let open = self.open.last_mut().expect("a page is open");
        let chosen = open.menu.chosen();
        open.choices = lines.iter().map(|line: &Line| line.0.clone()).collect();
        menu.items = lines.into_iter().map(|line| line.1).collect();
        menu.choose(chosen);
        open.menu = menu;
    }

    /// Takes over the value of a changed item.
    fn turn(&mut self, setting: Setting, index: usize) {
        let Some(value) = self.menu().and_then(|menu| menu.items.get(index)).map(|item| item.value.clone())
        else {
            return;
        };
        let number = value.number();
        let settings = &mut self.settings;
        self.warning = None;
        match setting {
            Setting::Level => settings.level = LEVELS[number].0,
            Setting::BotLink => settings.link = BotLink::ALL[number].0,
            Setting::Guests => {
                self.guests = pages::GUESTS[number].0;
                return self.rebuild();
            }
            Setting::Host => {
                value.text().clone_into(&mut self.host);
                return self.rebuild_but(index, value);
            }
            Setting::ReplayName => {
                if let Some((_, name, _)) = &mut self.replay {
                    value.text().clone_into(name);
                }
                return self.rebuild_but(index, value);
            }
            Setting::Keyset => {
                self.player = Bound::ALL[number];
                return self.rebuild();
            }
            Setting::Port => match value.text().parse() {
                Ok(port) => settings.port = port,
                Err(_) => {
                    self.warning =
                        Some("A port is a number from 0 to 65535; 0 lets the system choose.".to_owned());
                    return self.rebuild_but(index, value);
                }
            },
            Setting::Name => match crate::cli::name(value.text()) {
                Ok(name) => settings.name = name,
                Err(_) if value.text().is_empty() => settings.name.clear(),
                Err(error) => {
                    self.warning = Some(error);
                    return self.rebuild_but(index, value);
                }
            },
            Setting::Rendezvous => {
                if let Err(error) = settings.set_rendezvous(value.text()) {
                    self.warning = Some(format!("{error}."));
                    return self.rebuild_but(index, value);
                }
            }
            Setting::Fighter(seat) => settings.drill.fighters[seat] = FIGHTERS[number].0,
            Setting::Stance => settings.drill.stance = Stance::ALL[number].0,
            Setting::Guard => settings.drill.guard = Guard::ALL[number].0,
            Setting::Throws => settings.drill.throws = Throws::ALL[number].0,
            Setting::WakeUp => settings.drill.wake_up = WakeUp::ALL[number].0,
            Setting::Boxes => settings.drill.boxes = number == 1,
            Setting::Frames => settings.drill.frames = number == 1,
            Setting::Inputs => settings.drill.inputs = number == 1,
            Setting::Effects => settings.levels.effects_percent = number as u8,
            Setting::Music => settings.levels.music_percent = number as u8,
            Setting::Mute => settings.levels.muted = number == 1,
            Setting::Outfit(seat) => settings.outfits[seat] = number,
            Setting::Delay => settings.delay_frames = number.checked_sub(1).map(|frames| frames as u8),
            Setting::Window => settings.window_frames = number as u8,
        }
        self.is_changed = true;
        if matches!(setting, Setting::Name | Setting::Port | Setting::Rendezvous) {
            // The cursor stays, and a space at the end of a name, where the next word follows.
            return self.rebuild_but(index, value);
        }
        self.rebuild();
    }

    /// Builds the page anew, with an item as the player has it.
    fn rebuild_but(&mut self, index: usize, value: stage::menu::Value) {
        self.rebuild();
        if let Some(item) = self.open.last_mut().and_then(|open| open.menu.items.get_mut(index)) {
            item.value = value;
        }
    }

    /// Whether the next key is bound to a button instead of acting on the menu.
    pub fn is_binding(&self) -> bool {
        self.binding.is_some()
    }

    /// Binds a key to the button that waits for one.
    pub fn bind(&mut self, key: Key) {
        let is_for_keys = matches!(self.player, Bound::Keys(_));
        // A key that is pressed for a gamepad changes nothing.
        let Some(button) = self.binding.take_if(|_| is_for_keys || key == Key::Escape) else { return };
        if key != Key::Escape {
            keys_page::bind(self, button, key);
        }
        self.rebuild();
    }

    /// Binds a button of a gamepad to the button that waits for one.
    pub fn bind_pad(&mut self, pressed: PadButton) {
        let is_for_pads = matches!(self.player, Bound::Pad(_));
        let Some(button) = self.binding.take_if(|_| is_for_pads) else { return };
        keys_page::bind_pad(self, button, pressed);
        self.rebuild();
    }
}
