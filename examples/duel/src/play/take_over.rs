//! A recorded match, continued by hand from the frame that was shown.

use std::time::{Duration, Instant};

use rebout::replay::{Playback, TakeOver};
use rebout::{Advanced, Config, ConfigError, Player};

use super::show::{Show, leaves};
use super::{FRAME, FrameClock};
use crate::devices::Devices;
use crate::picture::Tone;
use games::duel::Duel;
use games::duel::bot::{Bot, Level};
use games::duel::identity::GAME_ID;
use stage::Key;

/// Plays on at `seat`, until the match is over or the player goes back to the replay; `true` if the window was closed.
///
/// # Errors
/// If the recorded frame rate makes no match.
pub(super) fn take_over(
    show: &mut Show<'_>,
    playback: Playback<Duel>,
    seat: Player,
    devices: &Devices,
) -> Result<bool, ConfigError> {
    let mut config = Config::new(GAME_ID);
    config.game.frame_rate = playback.recording().header().frame_rate.unwrap_or_default();
    let names = crate::viewer::names(playback.recording());
    let other = &names[seat.other().index()];
    let start = Instant::now();
    let mut live = playback.take_over(Duration::ZERO, &config)?;
    let mut opponent = Opponent { bot: Bot::new(live.start().0 | 1, Level::Normal), is_bot: false };
    show.replay_view(None);
    show.panel(None);
    let text = format!("you play on against {other} as recorded; b: a bot instead, esc: back to the replay");
    show.say(text, Tone::Calm);
    let mut clock = FrameClock::start();
    while !live.ended() {
        let input = show.take_input();
        if leaves(&input) {
            return Ok(input.closed);
        }
        if input.presses.contains(&Key::Char('b')) {
            opponent.is_bot = !opponent.is_bot;
            let text = if opponent.is_bot { "against a bot" } else { "against the recording" };
            show.say(text, Tone::Calm);
        }
        let own = devices.buttons(&input);
        if opponent.step(&mut live, start.elapsed(), seat, own) == Advanced::Stepped {
            show.frame(live.game(), live.cues());
        } else {
            show.refresh();
        }
        clock.wait(FRAME);
    }
    Ok(false)
}

/// The other player: as recorded, or a bot, which also plays on where the recording ends.
struct Opponent {
    bot: Bot,
    is_bot: bool,
}

impl Opponent {
    fn step(
        &mut self,
        live: &mut TakeOver<Duel>,
        now: Duration,
        seat: Player,
        own: rebout::Buttons,
    ) -> Advanced {
        live.advance(now, |duel, recorded| {
            // The bot watches all the time, because it acts on what it saw some frames ago.
            let bot = self.bot.buttons(duel, seat.other());
            let mut inputs = recorded.filter(|_| !self.is_bot).unwrap_or_else(|| [bot; 2].into());
            inputs[seat] = own.into();
            inputs
        })
    }
}
