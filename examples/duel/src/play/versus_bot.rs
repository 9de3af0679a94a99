//! A match against the bot, which plays as a machine of its own behind a bad link.

use rebout::Player;

use super::link::LinkSetting;
use super::meet::Role;
use super::online::{allow_long_pauses, online};
use super::opponent::Opponent;
use super::seat::Seat;
use super::{Ending, Failure};
use crate::view::Screen;
use games::duel::bot::{Bot, Level};

/// How a match against the bot is played.
pub struct BotMatch {
    pub seat: Seat,
    pub seed: u32,
    pub level: Level,
    pub link: LinkSetting,
    /// The bot's name.
    pub name: &'static str,
    /// In this frame the state on the bot's machine is changed.
    pub desync_at: Option<u32>,
}

/// Plays until the match is over or the player leaves.
///
/// # Errors
/// If there was no match, in words for the player.
pub fn against_bot(screen: &Screen, game: BotMatch) -> Result<Ending, Failure> {
    let mut theirs = game.seat.preferences.clone();
    game.name.clone_into(&mut theirs.name);
    theirs.seed = Some(game.seed);
    theirs.rules.desync_at = game.desync_at;
    let mut config = theirs.config();
    allow_long_pauses(&mut config);
    let bot = Bot::new(game.seed ^ 0xB07, game.level);
    let opponent = Opponent::start(config, Player::Two, bot, theirs.rules, game.link, false, None)?;
    let opened = (opponent.join(false)?, Role::Bot { seed: game.seed });
    let ending = online(screen, game.seat, opened, Some(opponent.link()));
    // Its report of the match repeats ours, and is dropped.
    let _ = opponent.finish(true);
    ending
}
