//! The kinds of entities and projectiles.

/// A player's ship.
pub const SHIP: u8 = 1;

/// Flies in a row along a wave.
pub const DRONE: u8 = 10;
/// Comes straight and fast.
pub const DART: u8 = 11;
/// Zigzags, in the shape of an arrow.
pub const WEAVER: u8 = 12;
/// Slow, and shoots at the nearest ship.
pub const TURRET: u8 = 13;
/// Waits at the end of a level.
pub const BOSS: u8 = 14;

/// Doubles the shots of whoever takes it.
pub const PICKUP: u8 = 20;

/// The score as a position: x is its upper 16 bits, y the lower.
pub const SCORE: u8 = 40;
/// The level: x is its number, y its [phase](super::Phase).
pub const LEVEL: u8 = 41;
/// The lives of a ship: x is the ship's id, y how many are left.
pub const LIVES: u8 = 42;

/// A player's shot.
pub const BOLT: u8 = 1;
/// An enemy's shot.
pub const PELLET: u8 = 2;

/// The damage of a hit that destroys; any other leaves something alive.
pub const FATAL: u8 = 255;

/// Whether an entity is an enemy.
#[must_use]
pub const fn is_enemy(kind: u8) -> bool {
    matches!(kind, DRONE..=BOSS)
}

/// Whether an entity is a number to be shown and no body.
#[must_use]
pub const fn is_board(kind: u8) -> bool {
    matches!(kind, SCORE..=LIVES)
}

/// How far the parts of an entity reach from its middle, in units.
#[must_use]
pub const fn radius(kind: u8) -> i16 {
    match kind {
        SHIP | PICKUP => 9,
        DRONE | DART => 12,
        WEAVER => 13,
        TURRET => 16,
        BOSS => 44,
        _ => 0,
    }
}
