//! The match behind a menu or a sheet of words: two bots that demonstrate the game.

use rebout::rollback::{EngineConfig, Rollback};
use rebout::{Game, Player};

use super::show::Show;
use crate::view::Screen;
use games::duel::bot::{Bot, Level};
use games::duel::{Character, Duel};

/// Two bots on the stage, until something better happens there.
pub(super) struct AttractMode<'a> {
    pub show: Show<'a>,
    duel: Duel,
    bots: [Bot; 2],
    engine: Rollback<Duel>,
    seed: u32,
}

impl<'a> AttractMode<'a> {
    pub(super) fn new(screen: &'a Screen, seed: u32, names: [String; 2]) -> Self {
        let duel = Duel::between(seed, Character::ALL);
        let mut show = Show::new(screen, &duel, names, false);
        show.mute_match();
        Self {
            show,
            duel,
            bots: [Bot::new(seed, Level::Normal), Bot::new(seed.wrapping_add(1), Level::Hard)],
            engine: Rollback::new(EngineConfig::default(), &duel),
            seed,
        }
    }

    /// One frame of it.
    pub(super) fn frame(&mut self) {
        for player in Player::BOTH {
            let buttons = self.bots[player.index()].buttons(&self.duel, player);
            self.engine.press(player, 0, buttons);
        }
        self.engine.advance(&mut self.duel);
        self.show.frame(&self.duel, self.engine.cues());
        if self.duel.finished() {
            self.duel = Duel::between(self.seed.wrapping_add(self.duel.age), Character::ALL);
            self.engine.reset();
        }
    }
}
