//! Two players at this machine.

use std::path::Path;
use std::time::{Duration, Instant};

use rebout::{Advanced, Input, Offline, Player};
use stage::{InputState, Key};

use super::prompts::{Answer, Prompt};
use super::record::LocalRecord;
use super::show::{Screen, Show};
use super::{Ending, Hands, Terms};
use crate::keys::input_of;
use crate::machine::Machine;

/// A wait while the match is paused.
const PAUSED: Duration = Duration::from_millis(16);

/// Plays until the player leaves, or a number of frames is reached.
///
/// # Errors
/// A config that is not valid.
pub fn local(
    screen: &Screen,
    mut machine: Machine,
    terms: &Terms,
    hands: &Hands,
    record_to: Option<&Path>,
) -> Result<Ending, String> {
    let mut record = record_to.map(|folder| LocalRecord::begin(folder, terms, &mut machine)).transpose()?;
    let start = Instant::now();
    let mut offline =
        Offline::new(start.elapsed(), &terms.config, &machine).map_err(|error| error.to_string())?;
    let (mut show, mut prompt) = (Show::new(screen, &machine, false), Prompt::default());
    show.tell(&format!("{}: esc opens the menu", terms.identity.title()));
    while !offline.ended() {
        let now = start.elapsed();
        let wait = offline.next_frame_at().saturating_sub(now).min(PAUSED);
        if !wait.is_zero() {
            std::thread::sleep(wait);
        }
        if !offline.is_paused() && !offline.frame_due(start.elapsed()) {
            continue;
        }
        let input = show.take_input();
        let answer = prompt.answer(&input);
        if input.closed || answer == Some(Answer::Leave) {
            break;
        }
        if answer.is_some() {
            offline.resume(start.elapsed());
        } else if !prompt.is_open() && input.presses.contains(&Key::Escape) {
            prompt.open(true);
            offline.pause();
            show.rest();
        }
        show.menu(prompt.menu());
        let inputs = inputs(hands, &input, machine.frame());
        let advanced = offline.advance(start.elapsed(), &mut machine, inputs);
        if let Some(trouble) = record.as_mut().and_then(|record| record.note(&offline, &machine)) {
            show.tell(&trouble);
            record = None;
        }
        match advanced {
            Advanced::Stepped => offline.look_ahead(&mut machine, |machine| show.frame(machine)),
            _ => show.refresh(),
        }
        show.tell_wishes(&machine);
    }
    let mut lines = vec![format!("{} frames", machine.frame())];
    lines.extend(offline.failure().map(ToString::to_string));
    lines.extend(show.heard());
    lines.extend(record.map(|record| record.end(offline.ended())));
    Ok(Ending { lines, code: u8::from(offline.failure().is_some()) })
}

/// The inputs of both players: one keyboard and all gamepads in turn, or a bot.
fn inputs(hands: &Hands, state: &InputState, frame: u32) -> [Input; 2] {
    match hands {
        Hands::Bot(bot) => Player::BOTH.map(|player| bot.at(player, frame)),
        Hands::Players { pads } => {
            let all = input_of(state, 2 * pads);
            // The second seat at this machine is the other player.
            [0, 1].map(|player| {
                (0..usize::from(*pads))
                    .fold(Input::NEUTRAL, |input, pad| input.with_pad(pad, all.pad(2 * pad + player)))
            })
        }
    }
}
