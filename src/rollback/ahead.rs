//! Look-ahead: frames that are stepped on predictions only to be drawn, and then undone.

use super::{Rollback, slot};
use crate::{Frame, Game, Inputs, Player, StateError};

/// The state from which the last look-ahead was made. It stays until the next one, which may show a frame from it.
#[derive(Clone, Debug)]
pub(super) struct Ahead<S> {
    state: S,
    /// Its frame, and how many rollbacks there were before it; `None` before the first look-ahead.
    from: Option<(Frame, u64)>,
}

impl<S> Ahead<S> {
    pub(super) fn new(state: S) -> Self {
        Self { state, from: None }
    }
}

impl<S> Rollback<S> {
    /// Steps the game [`look_ahead`](super::EngineConfig::look_ahead) frames beyond the current one on the inputs that are known
    /// or predicted, passes it to `draw`, and restores it. The match does not change, and no cue is reported.
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
        here: &mut Ahead<S>,
        draw: impl FnOnce(&mut G),
    ) -> Result<(), StateError> {
        let is_shown = game.barrier() && self.show_from(game, here)?;
        game.save(&mut here.state)?;
        here.from = Some((self.current, self.stats.rollbacks));
        if !is_shown {
            let frames = self.config.look_ahead;
            let stepped = self.step_ahead(game, frames);
            if stepped == 0 {
                self.show_again(game)?;
            } else if stepped < frames {
                // The last step before a barrier is known only now, and has to be shown.
                game.restore(&here.state)?;
                self.step_ahead(game, stepped);
            }
        }
        draw(game);
        game.restore(&here.state)
    }

    /// Makes the last step once more, to show the barrier that it led to, if the last look-ahead was made from the state before
    /// it. A sparse policy may have kept no other.
    #[cold]
    fn show_from<G: Game<Snapshot = S>>(
        &mut self,
        game: &mut G,
        before: &Ahead<S>,
    ) -> Result<bool, StateError> {
        let Some(last) = self.current.checked_sub(1) else { return Ok(false) };
        let is_before = before.from == Some((last, self.stats.rollbacks)) && last >= self.barriers.passed();
        if is_before {
            game.restore(&before.state)?;
            self.scratch.begin(true);
            game.step(self.stepped[slot(last)].inputs, &mut self.scratch);
        }
        Ok(is_before)
    }

    /// Forgets the state of the last look-ahead, which is of another match.
    pub(super) fn forget_ahead(&mut self) {
        if let Some(ahead) = &mut self.ahead {
            ahead.from = None;
        }
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
