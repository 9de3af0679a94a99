//! Mistakes in how a state is saved, restored or begun.

use super::{Arena, Mistake};
use rebout::{Inputs, Player};

/// `restore` was written by hand, and the field is newer than that.
pub(super) struct FieldNotCopied;

impl Mistake for FieldNotCopied {
    fn step(&mut self, arena: &mut Arena, _: Inputs, _: Option<Player>) {
        arena.fight.rng.next_u32();
    }

    fn restore(&mut self, arena: &mut Arena, snapshot: &Arena) {
        let rng = arena.fight.rng;
        *arena = *snapshot;
        arena.fight.rng = rng;
    }
}

/// `copy_from_slice(&history[..last])`, where `last` is the index of the last one. The newest element is in no
/// snapshot; it shows where it has moved on to in the frame after a restore.
pub(super) struct SaveOffByOne;

impl Mistake for SaveOffByOne {
    fn step(&mut self, arena: &mut Arena, inputs: Inputs, _: Option<Player>) {
        arena.history.rotate_left(1);
        let [one, two] = inputs.0.map(|held| u32::from(held.buttons().0));
        arena.history[7] = 1 << 31 | one << 8 | two;
    }

    fn save(&self, arena: &Arena, slot: &mut Arena) {
        let newest = slot.history[7];
        *slot = *arena;
        slot.history[7] = newest;
    }
}

/// Made at the first use and then kept, because it is costly; but it depends on the match.
#[derive(Default)]
pub(super) struct KeptScratch {
    table: Option<u32>,
}

impl Mistake for KeptScratch {
    fn step(&mut self, arena: &mut Arena, _: Inputs, _: Option<Player>) {
        if arena.attacks() > 0 {
            let seed = arena.fight.rng.state();
            arena.spread = arena.spread.wrapping_add(*self.table.get_or_insert(seed | 1));
        }
    }
}

/// The handicap is in each player's own settings, and nobody has compared them.
pub(super) struct UnequalStart;

impl Mistake for UnequalStart {
    fn step(&mut self, _: &mut Arena, _: Inputs, _: Option<Player>) {}

    fn start(&mut self, arena: &mut Arena, seat: Option<Player>) {
        if seat == Some(Player::Two) {
            arena.fight.fighters[1].hp = 90;
        }
    }
}
