//! The bot as a machine of its own: it knows of the match what its datagrams have told it.

use std::time::Duration;

use duel::machine::Machine;
use duel::rules::{Preferences, Rules};
use games::duel::bot::{Bot, Level};
use rebout::net::Memory;
use rebout::{Config, ConnectError, ConnectOptions, Connection, Now, Online, Options, Player};

use crate::wire::{Clock, Wire};

/// The name of the bot.
pub const NAME: &str = "Bot";
/// A player who pauses a match against the bot may come back after lunch.
const PATIENCE: Duration = Duration::from_secs(24 * 60 * 60);
/// Frames that the bot catches up with in one turn.
const MAX_FRAMES: u32 = 120;

/// The bot's machine.
pub struct BotMachine {
    machine: Machine<Wire>,
    bot: Bot,
}

/// A match against the bot: the player's connection, its config, and the bot at the other end.
///
/// # Errors
/// If the config is not valid.
pub fn against_bot(
    preferences: &Preferences,
    (seed, level): (u32, Level),
    clock: Clock,
) -> Result<(Online<games::duel::Duel, Wire>, BotMachine), ConnectError> {
    let [here, there] = Memory::pair(clock);
    let address = here.local_addr();
    let options = ConnectOptions::new().bare();
    // The player hosts, and is on the left.
    let ours = Preferences { seed: Some(seed), ..preferences.clone() };
    let host = Connection::host_on(&options, Wire::Memory(here), &[address])?;
    let online = Online::on(Options::with_config(config(&ours, seed)), host)?;
    let theirs = Preferences { name: NAME.to_owned(), ..preferences.clone() };
    let joiner = Connection::join_on(&options, Wire::Memory(there), &[], &address.to_string())?;
    let bot = Online::on(Options::with_config(config(&theirs, seed.rotate_left(16))), joiner)?;
    let machine = Machine::of(bot, Rules::default());
    Ok((online, BotMachine { machine, bot: Bot::new(seed ^ 0xB07, level) }))
}

fn config(preferences: &Preferences, entropy: u32) -> Config {
    let mut config = preferences.config();
    (config.timeouts.no_progress_after, config.timeouts.too_slow_after) = (PATIENCE, PATIENCE);
    config.lobby.entropy = Some(entropy.into());
    config
}

impl BotMachine {
    /// Plays the frames that are due, unless the match rests.
    pub fn turn(&mut self, rests: bool) {
        for _ in 0..MAX_FRAMES {
            match self.machine.online.poll() {
                Ok(Now::Begin { seed, .. }) => self.machine.begin(seed),
                Ok(Now::Frame) if !rests => {
                    let seat = self.machine.online.local().unwrap_or(Player::One);
                    let buttons = self.bot.buttons(&self.machine.duel, seat);
                    self.machine.advance(buttons);
                }
                Ok(Now::Event(_) | Now::Notice(_)) => {}
                _ => return,
            }
        }
    }
}
