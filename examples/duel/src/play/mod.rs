//! The match loop: sixty times a second, input to buttons, buttons to the engine, the state to the screen.

mod attract;
mod background;
mod bots;
mod by_hand;
pub mod fight_log;
mod flow;
mod invite_shown;
mod link;
mod local;
mod machine;
mod meet;
mod online;
mod opening;
mod opponent;
mod replay_view;
mod seat;
mod show;
mod take_over;
mod training;
mod versus_bot;
mod watch_view;

use std::io::Write;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rebout::{Buttons, Player, shown};

pub use crate::rules::{Preferences, Rules};
pub use bots::bots;
pub use by_hand::Pasting;
pub use flow::{MAX_LISTED, Run, flow};
pub use link::{LinkSetting, MAX_MILLIS, link_keys};
pub use local::{Options, local};
pub use machine::unfinished;
pub use meet::Role;
pub use online::online;
pub use opening::{Admits, HostEndpoint, Opened, join, rendezvous};
pub use replay_view::{checksums, replay};
pub use seat::{Seat, rejoin};
pub use versus_bot::{BotMatch, against_bot};
pub use watch_view::{Seats, is_to_watch, watch};

pub use crate::words::{self, NAME_CHARACTERS};
pub use crate::{exit, rules};

use crate::devices::Devices;
use crate::prompts;
use crate::view::InputState;
use games::duel::Duel;
use games::duel::bot::Bot;
use stage::menu::Note;

/// Where the buttons of a seat come from.
#[derive(Clone, Debug)]
pub enum InputSource {
    /// Someone at this keyboard, or with a gamepad.
    Keys(Devices),
    Bot(Box<Bot>),
}

impl InputSource {
    /// Whether `key` is one of the player's buttons.
    fn uses(&self, key: stage::Key) -> bool {
        match self {
            Self::Keys(devices) => devices.keys.buttons(&[key]) != Buttons::NONE,
            Self::Bot(_) => false,
        }
    }

    fn buttons(&mut self, duel: &Duel, player: Player, input: &InputState) -> Buttons {
        match self {
            Self::Keys(devices) => devices.buttons(input),
            Self::Bot(bot) => bot.buttons(duel, player),
        }
    }
}

/// How a match ended, to be printed once the screen is gone.
#[derive(Clone, Debug)]
pub struct Ending {
    pub lines: Vec<String>,
    /// The fight in words for the page of the result; the lines are shown where there are none.
    pub page: Vec<Note>,
    pub code: u8,
    /// The player at this machine left, or declined the rematch.
    pub is_own_choice: bool,
}

impl Ending {
    pub fn of<const N: usize>(lines: [String; N]) -> Self {
        Self { lines: lines.into(), page: Vec::new(), code: exit::PLAYED, is_own_choice: false }
    }
}

/// Why there was no match, in words for the player.
#[derive(Clone, Debug)]
pub struct Failure {
    pub text: String,
    pub code: u8,
}

impl Failure {
    // Made for `map_err`, which hands errors over by value.
    #[allow(clippy::needless_pass_by_value)]
    pub fn of(error: impl ToString) -> Self {
        Self { text: error.to_string(), code: exit::FAILED }
    }

    /// A failure of the arguments.
    pub fn unusable(text: String) -> Self {
        Self { text, code: exit::UNUSABLE }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::of(format!("the network is broken: {error}"))
    }
}

/// Prints at once, and bears that nobody listens any more. A line stays a line, whatever is in it: the name of a file
/// that came from somebody else, too.
pub fn print_line(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{}", shown(text)).and_then(|()| out.flush());
}

/// The same, for what is wrong.
pub fn print_error(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "duel: {}", shown(text));
}

/// Sixty frames a second, from frame to frame and not from now, so that a late one is not made later.
struct FrameClock {
    due: Instant,
}

const FRAME: Duration = Duration::from_nanos(16_666_667);

impl FrameClock {
    fn start() -> Self {
        Self { due: Instant::now() }
    }

    fn wait(&mut self, frame: Duration) {
        self.due += frame;
        let now = Instant::now();
        match self.due.checked_duration_since(now) {
            Some(rest) => std::thread::sleep(rest),
            // Too late by more than a frame: nothing is made up.
            None if now - self.due > frame => self.due = now,
            None => {}
        }
    }
}

/// Whether someone at the keyboard asks to go on.
fn wants_to_start(input: &InputState) -> bool {
    input.menu_presses().any(|key| matches!(key, stage::Key::Enter | stage::Key::Char(' ')))
}

/// A seed for a match of which nobody wants another.
pub fn seed_of_now() -> u32 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (now.subsec_nanos() ^ now.as_secs() as u32).max(1)
}
