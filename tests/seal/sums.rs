//! A game of two sums, the least that tells every input from another.

use rebout::{Cues, Game, Inputs, Player, fields};

#[derive(Clone, Copy)]
pub(crate) struct Sums {
    pub(crate) sums: [u32; 2],
}
fields!(Sums { sums });

impl Game for Sums {
    fn step(&mut self, inputs: Inputs, _: &mut Cues) {
        for player in Player::BOTH {
            let sum = &mut self.sums[player.index()];
            *sum = sum.wrapping_mul(31).wrapping_add(u32::from(inputs[player].buttons().0));
        }
    }
}
