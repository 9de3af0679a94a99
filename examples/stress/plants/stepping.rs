//! Mistakes in the step itself: on each machine it is a function of the state and the inputs, but not the same one.

use super::{Arena, Mistake};
use games::playground::ATTACK;
use rebout::{Inputs, Player};
use std::collections::HashMap;

/// The standard hash map has a key of its own in every process, and its order with it.
pub(super) struct IterationOrder {
    sparks: HashMap<u32, u32>,
}

impl IterationOrder {
    pub(super) fn new() -> Self {
        Self { sparks: (0..8).map(|spark| (spark, spark * 3 + 1)).collect() }
    }
}

impl Mistake for IterationOrder {
    fn step(&mut self, arena: &mut Arena, _: Inputs, _: Option<Player>) {
        if arena.attacks() > 0 {
            for spark in self.sparks.values() {
                arena.sparks = arena.sparks.wrapping_mul(31).wrapping_add(*spark);
            }
        }
    }
}

/// Player two's machine has an instruction that multiplies and adds with one rounding, and its compiler uses it.
pub(super) struct FloatRounding;

impl Mistake for FloatRounding {
    fn step(&mut self, arena: &mut Arena, inputs: Inputs, seat: Option<Player>) {
        let heat = f32::from_bits(arena.heat);
        let added = 0.1 + f32::from(inputs[Player::One].buttons().0) * 0.01;
        let heat = if seat == Some(Player::Two) { heat.mul_add(0.93, added) } else { heat * 0.93 + added };
        arena.heat = heat.to_bits();
    }
}

/// "Me first": who comes first gets the point when both strike at once.
pub(super) struct UpdateOrder;

impl Mistake for UpdateOrder {
    fn step(&mut self, arena: &mut Arena, inputs: Inputs, seat: Option<Player>) {
        let local = seat.unwrap_or(Player::One);
        let first = [local, local.other()].into_iter().find(|player| inputs[*player].holds(ATTACK));
        if let Some(first) = first {
            arena.score[first.index()] += 1;
        }
    }
}

/// The cooldown of an attack was changed, and player two has not updated.
pub(super) struct OtherBuild;

impl Mistake for OtherBuild {
    fn step(&mut self, arena: &mut Arena, _: Inputs, seat: Option<Player>) {
        for fighter in &mut arena.fight.fighters {
            if fighter.cooldown == 30 && seat == Some(Player::Two) {
                fighter.cooldown = 29;
            }
        }
    }
}
