//! The game of most matches here: the playground with an end, and a way to cheat. One type, because each type builds a
//! session, a network and an oracle of its own.

use games::playground::Playground;
use rebout::{Cues, Game, Inputs, fields};

/// Neither the end nor the cheat is part of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Round {
    pub(crate) play: Playground,
    pub(crate) ends_at: u32,
    pub(crate) cheats_at: u32,
}
fields!(Round { play, ends_at: _, cheats_at: _ });

impl Game for Round {
    fn step(&mut self, inputs: Inputs, cues: &mut Cues) {
        self.play.step(inputs, cues);
        if self.play.frame == self.cheats_at {
            self.play.fighters[0].hp += 1_000;
        }
    }

    fn finished(&self) -> bool {
        self.play.frame >= self.ends_at
    }
}

/// A round that is over in the frame `ends_at`.
pub(crate) fn round(seed: u32, ends_at: u32) -> Round {
    Round { play: Playground::new(seed).expect("a seed"), ends_at, cheats_at: u32::MAX }
}
