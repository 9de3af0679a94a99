//! The match loop: sixty times a second, hands to buttons, buttons to the engine, the state to the screen.

mod attract;
mod local;
mod show;
mod tape;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use rebout::{Buttons, Player};

pub use local::{Seats, local};
pub use tape::{checksums, load, replay};

use crate::bot::Bot;
use crate::keys::Bindings;
use crate::sim::Duel;
use crate::sim::buttons::START;
use crate::view::Hands;

/// Who sits at a seat.
#[derive(Clone, Debug)]
pub enum Hand {
    /// Someone at this keyboard.
    Keys(Bindings),
    Bot(Box<Bot>),
}

impl Hand {
    fn buttons(&mut self, duel: &Duel, player: Player, hands: &Hands) -> Buttons {
        match self {
            Self::Keys(bindings) => {
                let mut buttons = bindings.buttons(&hands.held);
                // A tap between two frames counts too.
                buttons |= bindings.buttons(&hands.presses);
                buttons
            }
            Self::Bot(bot) => bot.buttons(duel, player),
        }
    }
}

/// How a match is played.
#[derive(Clone, Debug)]
pub struct Options {
    pub seed: u32,
    pub names: [String; 2],
    /// Where the match is recorded, if it is.
    pub record: Option<PathBuf>,
    /// Whether to begin without a key being pressed.
    pub at_once: bool,
    /// The net graph is open from the beginning.
    pub net: bool,
    /// Ends the match after so many frames.
    pub frames: Option<u32>,
    /// Tells at the end how evenly the view drew.
    pub timings: bool,
}

/// How a match ended, to be printed once the screen is gone.
#[derive(Clone, Debug)]
pub struct Ending {
    pub lines: Vec<String>,
}

/// Sixty frames a second, from frame to frame and not from now, so that a late one is not made later.
struct Beat {
    due: Instant,
}

const FRAME: Duration = Duration::from_nanos(16_666_667);

impl Beat {
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
fn wants_to_start(hands: &Hands, seats: &[Hand]) -> bool {
    hands.presses.iter().any(|key| matches!(key, crate::keys::Key::Enter | crate::keys::Key::Char(' ')))
        || seats.iter().any(|seat| match seat {
            Hand::Keys(bindings) => bindings.buttons(&hands.presses).holds(START),
            Hand::Bot(_) => false,
        })
}
