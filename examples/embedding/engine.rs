//! The same match in the loop of an engine, which turns when the screen does.

use crate::online::Stage;
use crate::volley::Volley;
use rebout::{Finish, Now, Online};
use std::io;

/// One turn of an engine that owns the loop. Never blocks. Returns how the match ended, once it has.
pub(crate) fn turn(
    online: &mut Online<Volley>,
    game: &mut Option<Volley>,
    stage: &mut impl Stage,
) -> io::Result<Option<Finish>> {
    loop {
        match online.poll()? {
            Now::Begin { seed, .. } => online.start(game.insert(Volley::new(seed))),
            Now::Frame => {
                let (Some(game), Some(seat)) = (&mut *game, online.local()) else { continue };
                online.advance(game, stage.buttons(game, seat));
                online.cues().iter().for_each(|event| stage.cue(event)); // after every `advance`
            }
            Now::Event(_) | Now::Notice(_) => {}
            Now::Finished(finish) => return Ok(Some(finish)),
            _ => break, // `Now::Idle`: nothing to do before the next turn
        }
    }
    if let (Some(game), Some((previous, phase))) = (&*game, online.previous()) {
        stage.draw(&between(previous, game, phase), phase);
    }
    Ok(None)
}

/// A picture between two frames, for a display that is faster than the match. Only drawing may use floats.
fn between(previous: &Volley, game: &Volley, phase: f32) -> Volley {
    let mut drawn = *game;
    let way = |from: i32, to: i32| from + ((to - from) as f32 * phase) as i32;
    (drawn.ball.x, drawn.ball.y) = (way(previous.ball.x, game.ball.x), way(previous.ball.y, game.ball.y));
    drawn
}
