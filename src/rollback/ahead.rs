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
        self.step_ahead(game, self.config.look_ahead);
        draw(game);
        game.restore(here)
    }

    /// Steps the game `frames` frames beyond the current one.
    fn step_ahead<G: Game<Snapshot = S>>(&mut self, game: &mut G, frames: u32) {
        for ahead in 0..frames {
            let frame = self.current.plus(ahead);
            let inputs = Inputs(Player::BOTH.map(|player| self.gather(player, frame)));
            self.scratch.begin(ahead + 1 == frames);
            game.step(inputs, &mut self.scratch);
        }
    }
}
