//! The settings that a player keeps from one day to the next.

mod file;
mod store;

pub use file::SettingsError;
pub use store::{Store, config_folder};

use games::duel::bot::Level;
use stage::sound::Levels;

use crate::devices::Devices;
use crate::keys::Bindings;
use crate::pad_keys::PadBindings;
use crate::play::LinkSetting;
use crate::training::Drill;

/// The keys of a player who is alone, and of the two at one keyboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keyset {
    Alone,
    Left,
    Right,
}

impl Keyset {
    pub const ALL: [Self; 3] = [Self::Alone, Self::Left, Self::Right];
}

/// The quality of the link to the bot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BotLink {
    Perfect,
    Good,
    Usual,
    Bad,
}

impl BotLink {
    pub const ALL: [(Self, &'static str); 4] =
        [(Self::Perfect, "perfect"), (Self::Good, "good"), (Self::Usual, "usual"), (Self::Bad, "bad")];

    /// The link in numbers.
    pub fn setting(self) -> LinkSetting {
        let (round_trip_millis, loss_percent, jitter_millis) = match self {
            Self::Perfect => (0, 0.0, 0),
            Self::Good => (40, 1.0, 0),
            Self::Usual => (80, 3.0, 0),
            Self::Bad => (160, 10.0, 20),
        };
        LinkSetting::new(round_trip_millis, loss_percent, jitter_millis)
            .expect("the losses above are between 0 and 100 percent")
    }
}

/// The levels of the bot with their names.
pub const LEVELS: [(Level, &str); 3] =
    [(Level::Easy, "easy"), (Level::Normal, "normal"), (Level::Hard, "hard")];

/// The window that is used where none is wanted.
pub const WINDOW_FRAMES: u8 = 8;

/// The UDP port of a host who wants no other.
pub const PORT: u16 = 7000;

/// Everything that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The player's name; empty if they gave none.
    pub name: String,
    /// By [`Keyset`].
    pub keys: [Bindings; 3],
    /// The outfit of each fighter, an index into [`OUTFITS`](crate::art::figure::OUTFITS).
    pub outfits: [usize; 2],
    /// `None`: what the measured link suggests.
    pub delay_frames: Option<u8>,
    pub window_frames: u8,
    pub port: u16,
    /// Where a host meets its guests; empty for nowhere.
    pub rendezvous: String,
    pub level: Level,
    pub link: BotLink,
    pub drill: Drill,
    /// The gamepads of the two players.
    pub pads: [PadBindings; 2],
    pub levels: Levels,
    /// The player was told what a terminal without key releases means.
    pub told_releases: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            name: String::new(),
            keys: [Bindings::ALONE, Bindings::LEFT_HALF, Bindings::RIGHT_HALF],
            outfits: [0, 1],
            delay_frames: None,
            window_frames: WINDOW_FRAMES,
            port: PORT,
            rendezvous: String::new(),
            level: Level::Normal,
            link: BotLink::Usual,
            drill: Drill::default(),
            pads: [PadBindings::USUAL, PadBindings::USUAL],
            levels: Levels::default(),
            told_releases: false,
        }
    }
}

impl Settings {
    pub fn keys(&self, keyset: Keyset) -> &Bindings {
        &self.keys[keyset as usize]
    }

    /// The keys of a keyset, and the gamepad of its player.
    pub fn devices(&self, keyset: Keyset) -> Devices {
        let pad = self.pads[usize::from(keyset == Keyset::Right)].clone();
        Devices { keys: self.keys(keyset).clone(), pad }
    }

    /// The usual keys of a keyset.
    pub fn usual_keys(keyset: Keyset) -> Bindings {
        [Bindings::ALONE, Bindings::LEFT_HALF, Bindings::RIGHT_HALF][keyset as usize].clone()
    }
}
