//! Playing: at this machine, online, watching others, and recorded matches.

mod local;
mod online;
mod prompts;
mod record;
mod show;
mod terms;
mod watch;

pub use local::local;
pub use online::{Role, online};
pub use show::Screen;
pub use terms::Terms;
pub use watch::{replay, watch};

use rebout::{Input, Player};
use stage::InputState;

use crate::keys::input_of;
use crate::pads::Bot;

/// Who presses the buttons at this machine.
#[derive(Clone, Debug)]
pub enum Hands {
    /// A player, at so many pads.
    Players {
        pads: u8,
    },
    Bot(Bot),
}

impl Hands {
    fn input(&self, state: &InputState, player: Player, frame: u32) -> Input {
        match self {
            Self::Players { pads } => input_of(state, *pads),
            Self::Bot(bot) => bot.at(player, frame),
        }
    }
}

/// The end of a match: lines to be printed, and the code of the program.
#[derive(Clone, Debug, Default)]
pub struct Ending {
    pub lines: Vec<String>,
    pub code: u8,
}
