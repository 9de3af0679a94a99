//! The loop of `docs/EMBEDDING.md` for one machine.

use crate::online::Stage;
use crate::own_loop::{Played, config};
use crate::volley::Volley;
use rebout::replay::Recorder;
use rebout::{Offline, Player};
use std::error::Error;
use std::time::Duration;

/// Plays a match at one machine: two players at its keys, or one and a bot. `wait` sleeps until a time on the clock that it
/// returns.
pub(crate) fn play_offline(
    seed: u32,
    stage: &mut impl Stage,
    mut wait: impl FnMut(Duration) -> Duration,
) -> Result<Played, Box<dyn Error>> {
    let (mut game, mut recorder) = (Volley::new(seed), Recorder::new(seed));
    let mut play = Offline::new(wait(Duration::ZERO), &config("nobody"), &game)?;
    while !play.ended() {
        let now = wait(play.next_frame_at());
        let buttons = Player::BOTH.map(|player| stage.buttons(&game, player)); // keys, or a bot's
        play.advance(now, &mut game, buttons);
        play.cues().iter().for_each(|event| stage.cue(event));
        for (frame, inputs) in play.confirmed() {
            recorder.record(frame, inputs)?;
        }
        play.look_ahead(&mut game, |game| stage.draw(game, 1.0)); // in place of drawing the game itself
    }
    Ok(Played { verdict: None, game, replay: recorder.finish() })
}
