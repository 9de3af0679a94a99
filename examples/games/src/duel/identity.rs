//! The numbers by which two machines, and a replay, know the duel.

use std::sync::OnceLock;

use rebout::checksum;

use super::bot::{Bot, Level};
use super::script::Fight;

/// "duel" in letters.
pub const GAME_ID: u64 = 0x6475_656C;

/// A number that is the same only where the rules are: what becomes of a fight of two bots under them. Nobody can forget
/// to count it up.
pub fn content_hash(frames: Option<u32>) -> u64 {
    u64::from(rules_hash()) << 32 | u64::from(frames.unwrap_or(0))
}

/// The part of the content hash that the rules decide, and no limit of a trial.
pub fn rules_hash() -> u32 {
    static FIGHT: OnceLock<u32> = OnceLock::new();
    *FIGHT.get_or_init(fight)
}

/// The checksum after a fight of two bots, one with each fighter. Easy ones: they use every move, and think the least.
fn fight() -> u32 {
    let mut fight = Fight::of(1, [1, 2].map(|seed| Bot::new(seed, Level::Easy)));
    for _ in 0..1_200 {
        fight.step();
    }
    checksum(&fight.duel)
}
