//! Look-ahead: frames that are stepped on predictions only to be drawn, and then undone.

use super::Rollback;
use crate::{Game, Inputs, Player, StateError};

impl<S> Rollback<S> {
    /// Steps the game [`look_ahead`](super::EngineConfig::look_ahead) frames beyond the current one on the inputs that are known
    /// or predicted, hands it to `draw`, and puts it back. The match does not change, and no cue is told.
    ///
    /// The last of these steps is [shown](crate::Cues::is_shown). With a look-ahead of 0, and after the end, `draw` gets the game
    /// as it is. If the game cannot save or restore its state, the match is over ([`failure`](Self::failure)).
    pub fn look_ahead<G: Game<Snapshot = S>>(&mut self, game: &mut G, draw: impl FnOnce(&mut G)) {
        if self.over.is_some() {
            return draw(game);
        }
        // Taken out for the call, because the engine steps the game meanwhile.
        let Some(mut here) = self.ahead.take() else { return draw(game) };
        let looked = self.draw_ahead(game, &mut here, draw);
        self.ahead = Some(here);
        if let Err(error) = looked {
            self.fail(error);
        }
    }

    fn draw_ahead<G: Game<Snapshot = S>>(
        &mut self,
        game: &mut G,
        here: &mut S,
        draw: impl FnOnce(&mut G),
    ) -> Result<(), StateError> {
        game.save(here)?;
        let frames = self.config.look_ahead;
        let stepped = self.step_ahead(game, frames);
        if stepped == 0 {
            self.show_again(game)?;
        } else if stepped < frames {
            // The last step before a barrier is known only now, and has to be shown.
            game.restore(here)?;
            self.step_ahead(game, stepped);
        }
        draw(game);
        game.restore(here)
    }

    /// Steps the game up to `frames` frames beyond the current one, but not beyond a barrier; returns how many.
    fn step_ahead<G: Game<Snapshot = S>>(&mut self, game: &mut G, frames: u32) -> u32 {
        for ahead in 0..frames {
            if game.barrier() {
                return ahead;
            }
            let frame = self.current.plus(ahead);
            let inputs = Inputs(Player::BOTH.map(|player| self.gather(player, frame)));
            self.scratch.begin(ahead + 1 == frames);
            game.step(inputs, &mut self.scratch);
        }
        frames
    }
}
