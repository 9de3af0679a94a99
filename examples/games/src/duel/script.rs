//! Matches of two bots, for tests, tools and benches.

use rebout::{Buttons, Cues, Game, Inputs, Player};

use super::Duel;
use super::bot::{Bot, Level};

/// Two bots at one duel, frame by frame.
pub struct Fight {
    pub duel: Duel,
    bots: [Bot; 2],
    cues: Cues,
}

impl Fight {
    pub fn new(seed: u32, level: Level) -> Self {
        Self::of(seed, [1, 2].map(|salt| Bot::new(seed ^ salt, level)))
    }

    pub(super) fn of(seed: u32, bots: [Bot; 2]) -> Self {
        Self { duel: Duel::new(seed), bots, cues: Cues::new() }
    }

    /// Steps a frame, and returns its inputs.
    pub fn step(&mut self) -> Inputs {
        let buttons: [Buttons; 2] =
            Player::BOTH.map(|player| self.bots[player.index()].buttons(&self.duel, player));
        let inputs = Inputs::from(buttons);
        self.cues.clear();
        self.duel.step(inputs, &mut self.cues);
        inputs
    }
}

/// The inputs of a match of two bots.
pub fn fight(seed: u32, level: Level, frames: u32) -> Vec<Inputs> {
    let mut fight = Fight::new(seed, level);
    (0..frames).map(|_| fight.step()).collect()
}
