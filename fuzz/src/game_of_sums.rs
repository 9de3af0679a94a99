//! The game that is played in the targets with a match: every input changes every later state.

use rebout::lab::{Play, every_fourth};
use rebout::{Cues, Game, Inputs, MAX_AXES, Player, fields};

/// The rules are no part of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sums {
    sums: [u32; 2],
    pub(crate) frame: u32,
    /// The frame that ends the match.
    pub(crate) last: u32,
    /// The frame in which this machine alone changes its state.
    cheats_at: u32,
}
fields!(Sums { sums, frame, last: _, cheats_at: _ });

impl Sums {
    pub(crate) const fn until(last: u32, seed: u32) -> Self {
        Self { sums: [seed; 2], frame: 0, last, cheats_at: u32::MAX }
    }

    pub(crate) fn cheating(seed: u32, seat: Option<Player>) -> Self {
        let cheats_at = if seat == Some(Player::Two) { 20 } else { u32::MAX };
        Self { cheats_at, ..Self::until(u32::MAX, seed) }
    }

    /// Matches of so many frames.
    pub(crate) const fn play<const LAST: u32>() -> Play<Self> {
        Play { build: |seed| Self::until(LAST, seed), script: every_fourth }
    }
}

impl Game for Sums {
    fn step(&mut self, inputs: Inputs, _: &mut Cues) {
        self.frame += 1;
        for player in Player::BOTH {
            let (sum, input) = (&mut self.sums[player.index()], inputs[player]);
            let axes = (0..MAX_AXES.into()).fold(0, |sum, axis| sum * 5 + i32::from(input.axis(axis)));
            *sum = sum.wrapping_mul(31).wrapping_add(u32::from(input.buttons().0)) ^ axes.cast_unsigned();
        }
        self.sums[0] ^= u32::from(self.frame == self.cheats_at);
    }

    fn finished(&self) -> bool {
        self.frame >= self.last
    }
}
