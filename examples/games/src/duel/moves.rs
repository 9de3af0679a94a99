//! The move table: every attack's frames, reach and effect in one place.

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

const fn reach(near: i16, far: i16, low: i16, high: i16) -> Reach {
    Reach { near, far, low, high }
}

const STAND_LIGHT: MoveData = MoveData {
    startup: 4,
    active: 3,
    recovery: 7,
    damage: 45,
    chip: 0,
    hit_stun: 15,
    block_stun: 12,
    hitstop: 7,
    push_hit: Fx::lit("3.2"),
    push_block: Fx::lit("3.4"),
    lunge: Fx::lit("0.8"),
    level: Level::Mid,
    on_hit: OnHit::Stagger,
    cancels: true,
    reach: reach(8, 54, 62, 82),
};

const STAND_HEAVY: MoveData = MoveData {
    startup: 8,
    active: 4,
    recovery: 15,
    damage: 95,
    chip: 0,
    hit_stun: 22,
    block_stun: 16,
    hitstop: 11,
    push_hit: Fx::lit("4.4"),
    push_block: Fx::lit("4.6"),
    lunge: Fx::lit("1.5"),
    reach: reach(8, 66, 56, 92),
    ..STAND_LIGHT
};

const CROUCH_LIGHT: MoveData = MoveData {
    recovery: 8,
    damage: 38,
    hit_stun: 15,
    block_stun: 11,
    lunge: Fx::ZERO,
    level: Level::Low,
    reach: reach(8, 52, 4, 26),
    ..STAND_LIGHT
};

const CROUCH_HEAVY: MoveData = MoveData {
    startup: 7,
    active: 4,
    recovery: 20,
    damage: 85,
    hit_stun: 0,
    block_stun: 15,
    hitstop: 10,
    push_hit: Fx::lit("2.2"),
    lunge: Fx::lit("0.9"),
    level: Level::Low,
    on_hit: OnHit::Sweep,
    cancels: false,
    reach: reach(8, 68, 0, 20),
    ..STAND_HEAVY
};

const AIR_LIGHT: MoveData = MoveData {
    startup: 4,
    active: 12,
    recovery: 40,
    damage: 50,
    hit_stun: 17,
    block_stun: 13,
    lunge: Fx::ZERO,
    level: Level::High,
    cancels: false,
    reach: reach(-6, 38, 8, 42),
    ..STAND_LIGHT
};

const AIR_HEAVY: MoveData = MoveData {
    startup: 7,
    active: 7,
    recovery: 40,
    damage: 90,
    hit_stun: 22,
    block_stun: 16,
    lunge: Fx::ZERO,
    level: Level::High,
    cancels: false,
    reach: reach(0, 54, 2, 44),
    ..STAND_HEAVY
};

/// The frames are the thrower's; damage, stun and push are the fireball's.
const FIREBALL: MoveData = MoveData {
    startup: 13,
    active: 0,
    recovery: 27,
    damage: 70,
    chip: 8,
    hit_stun: 21,
    block_stun: 16,
    hitstop: 8,
    push_hit: Fx::lit("4"),
    push_block: Fx::lit("3.6"),
    lunge: Fx::ZERO,
    cancels: false,
    reach: reach(0, 0, 0, 0),
    ..STAND_HEAVY
};

const RISING: MoveData = MoveData {
    startup: 3,
    active: 13,
    recovery: 60,
    damage: 120,
    chip: 10,
    hit_stun: 0,
    block_stun: 14,
    hitstop: 12,
    push_hit: Fx::lit("2.4"),
    push_block: Fx::lit("4"),
    lunge: Fx::lit("2"),
    on_hit: OnHit::Launch,
    cancels: false,
    reach: reach(-2, 36, 34, 100),
    ..STAND_HEAVY
};

/// `reach.far` is the distance between the centres up to which the grab takes hold.
const THROW: MoveData = MoveData {
    startup: 4,
    active: 2,
    recovery: 22,
    damage: 125,
    hit_stun: 0,
    block_stun: 0,
    lunge: Fx::lit("0.8"),
    on_hit: OnHit::Launch,
    cancels: false,
    reach: reach(0, 46, 0, 0),
    ..STAND_HEAVY
};

impl Move {
    pub const fn data(self) -> &'static MoveData {
        match self {
            Self::StandLight => &STAND_LIGHT,
            Self::StandHeavy => &STAND_HEAVY,
            Self::CrouchLight => &CROUCH_LIGHT,
            Self::CrouchHeavy => &CROUCH_HEAVY,
            Self::AirLight => &AIR_LIGHT,
            Self::AirHeavy => &AIR_HEAVY,
            Self::Fireball => &FIREBALL,
            Self::Rising => &RISING,
            Self::Throw => &THROW,
        }
    }

    pub const fn is_light(self) -> bool {
        matches!(self, Self::StandLight | Self::CrouchLight | Self::AirLight)
    }
}
