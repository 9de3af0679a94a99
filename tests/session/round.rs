//! The game of the matches here: the playground with an end, a way to cheat and cues in every frame. One type, because each
//! type builds a session, a network and an oracle of its own, which takes seconds.

use games::playground::Playground;
use rebout::lab::{Play, every_fourth};
use rebout::{Cue, Cues, Game, Inputs, Player, fields};

/// The rules are no part of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Round {
    pub(crate) play: Playground,
    pub(crate) ends_at: u32,
    pub(crate) cheats_at: u32,
    /// Whether every frame asks for a cue, which depends on what the second player does.
    pub(crate) chimes: bool,
}
fields!(Round { play, ends_at: _, cheats_at: _, chimes: _ });

impl Game for Round {
    fn step(&mut self, inputs: Inputs, cues: &mut Cues) {
        self.play.step(inputs, cues);
        if self.play.frame == self.cheats_at {
            self.play.fighters[0].hp += 1_000;
        }
        if self.chimes {
            cues.emit(Cue(u32::from(inputs[Player::Two].buttons().0)));
        }
    }

    fn finished(&self) -> bool {
        self.play.frame >= self.ends_at
    }
}

/// A round without an end, with buttons that change every fourth frame.
pub(crate) const ENDLESS: Play<Round> = Play { build: |seed| round(seed, u32::MAX), script: every_fourth };

/// A round that is over in the frame `ends_at`.
pub(crate) fn round(seed: u32, ends_at: u32) -> Round {
    Round { play: Playground::new(seed).expect("a seed"), ends_at, cheats_at: u32::MAX, chimes: false }
}
