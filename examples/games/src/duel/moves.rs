//! The moves, and what a line of a move table says. Each fighter has a table of its own.

use rebout::fields;

use super::Fx;

/// The attacks of a fighter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    StandLight,
    StandHeavy,
    CrouchLight,
    CrouchHeavy,
    AirLight,
    AirHeavy,
    Fireball,
    Rising,
    Throw,
    /// Rai's special: a low run with the shoulder ahead.
    Charge,
    /// Rai's special with a crouch: a hop, and the heel from above.
    Heel,
}
fields!(
    enum Move {
        StandLight,
        StandHeavy,
        CrouchLight,
        CrouchHeavy,
        AirLight,
        AirHeavy,
        Fireball,
        Rising,
        Throw,
        Charge,
        Heel,
    }
);

/// How an attack must be blocked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Standing only: a blow from above.
    High,
    /// Standing or crouching.
    Mid,
    /// Crouching only.
    Low,
}

/// The effect of a clean hit on a fighter on the ground.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnHit {
    Stagger,
    /// Off the feet, low and short.
    Sweep,
    /// Off the feet, high.
    Launch,
}

/// A box in front of a fighter, in whole units: `near` and `far` ahead of the centre, `low` and `high` above the feet.
#[derive(Clone, Copy, Debug)]
pub struct Reach {
    pub near: i16,
    pub far: i16,
    pub low: i16,
    pub high: i16,
}

/// One line of the table. Frames count at 60 a second; speeds are units a frame.
///
/// Against a fighter hit by the first active frame, the attacker is free `hit_stun - active - recovery` frames
/// earlier (if positive) or later.
#[derive(Clone, Copy, Debug)]
pub struct MoveData {
    /// Frames before the first active one.
    pub startup: u16,
    pub active: u16,
    pub recovery: u16,
    pub damage: i16,
    /// Damage through a block. Chip damage never decides a round.
    pub chip: i16,
    pub hit_stun: u8,
    pub block_stun: u8,
    pub hitstop: u8,
    pub push_hit: Fx,
    pub push_block: Fx,
    /// How fast the fighter steps forward during the start-up.
    pub lunge: Fx,
    pub level: Level,
    pub on_hit: OnHit,
    /// Whether a blow that touched may be cut short by a special.
    pub cancels: bool,
    pub reach: Reach,
}

impl MoveData {
    pub const fn total(&self) -> u16 {
        self.startup + self.active + self.recovery
    }

    pub const fn is_active(&self, since: u16) -> bool {
        since >= self.startup && since < self.startup + self.active
    }
}

pub(super) const fn reach(near: i16, far: i16, low: i16, high: i16) -> Reach {
    Reach { near, far, low, high }
}

impl Move {
    pub const fn is_light(self) -> bool {
        matches!(self, Self::StandLight | Self::CrouchLight | Self::AirLight)
    }
}
