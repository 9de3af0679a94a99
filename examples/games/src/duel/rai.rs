//! Rai: tall and slow, with the longer reach and the harder blows. He has nothing that flies: a charge
//! goes under fireballs, and a heel from above breaks a low guard.

use super::Fx;
use super::character::Build;
use super::moves::{Level, Move, MoveData, OnHit, reach};

pub(super) const BUILD: Build = Build {
    name: "Rai",
    walk_forward: Fx::lit("2.7"),
    walk_back: Fx::lit("2.1"),
    jump_speed: Fx::lit("9.2"),
    jump_drift: Fx::lit("3"),
    half_width: 17,
    stand_height: 104,
    crouch_height: 70,
    safe_frames: 12,
};

const STAND_LIGHT: MoveData = MoveData {
    startup: 5,
    active: 3,
    recovery: 8,
    damage: 76,
    chip: 0,
    hit_stun: 16,
    block_stun: 12,
    hitstop: 8,
    push_hit: Fx::lit("3.2"),
    push_block: Fx::lit("3.6"),
    lunge: Fx::lit("0.6"),
    level: Level::Mid,
    on_hit: OnHit::Stagger,
    cancels: true,
    reach: reach(8, 62, 66, 88),
};

const STAND_HEAVY: MoveData = MoveData {
    startup: 10,
    active: 4,
    recovery: 17,
    damage: 165,
    hit_stun: 24,
    block_stun: 18,
    hitstop: 12,
    push_hit: Fx::lit("4.6"),
    push_block: Fx::lit("5"),
    lunge: Fx::lit("1.4"),
    reach: reach(8, 78, 50, 96),
    ..STAND_LIGHT
};

const CROUCH_LIGHT: MoveData = MoveData {
    recovery: 9,
    damage: 62,
    block_stun: 11,
    lunge: Fx::ZERO,
    level: Level::Low,
    reach: reach(8, 60, 4, 28),
    ..STAND_LIGHT
};

const CROUCH_HEAVY: MoveData = MoveData {
    startup: 9,
    active: 4,
    recovery: 22,
    damage: 145,
    hit_stun: 0,
    block_stun: 16,
    hitstop: 11,
    push_hit: Fx::lit("2.4"),
    lunge: Fx::lit("0.8"),
    level: Level::Low,
    on_hit: OnHit::Sweep,
    cancels: false,
    reach: reach(8, 80, 0, 22),
    ..STAND_HEAVY
};

const AIR_LIGHT: MoveData = MoveData {
    startup: 5,
    active: 12,
    recovery: 40,
    damage: 82,
    hit_stun: 17,
    block_stun: 13,
    lunge: Fx::ZERO,
    level: Level::High,
    cancels: false,
    reach: reach(-6, 44, 8, 46),
    ..STAND_LIGHT
};

const AIR_HEAVY: MoveData = MoveData {
    startup: 8,
    active: 7,
    recovery: 40,
    damage: 153,
    hit_stun: 22,
    block_stun: 16,
    lunge: Fx::ZERO,
    level: Level::High,
    cancels: false,
    reach: reach(0, 62, 0, 46),
    ..STAND_HEAVY
};

/// He runs from the first frame to the last active one.
const CHARGE: MoveData = MoveData {
    startup: 14,
    active: 8,
    recovery: 22,
    damage: 133,
    chip: 8,
    hit_stun: 0,
    block_stun: 17,
    hitstop: 11,
    push_hit: Fx::lit("3"),
    push_block: Fx::lit("4.4"),
    lunge: Fx::lit("4.6"),
    on_hit: OnHit::Sweep,
    cancels: false,
    reach: reach(0, 36, 10, 50),
    ..STAND_HEAVY
};

const HEEL: MoveData = MoveData {
    startup: 17,
    active: 8,
    recovery: 40,
    damage: 148,
    chip: 8,
    hit_stun: 22,
    block_stun: 15,
    hitstop: 12,
    push_hit: Fx::lit("3"),
    push_block: Fx::lit("4.2"),
    lunge: Fx::ZERO,
    level: Level::High,
    cancels: false,
    reach: reach(0, 60, -4, 76),
    ..STAND_HEAVY
};

/// `reach.far` is the distance between the centres up to which the grab takes hold.
const THROW: MoveData = MoveData {
    startup: 5,
    active: 2,
    recovery: 24,
    damage: 214,
    hit_stun: 0,
    block_stun: 0,
    lunge: Fx::lit("0.8"),
    on_hit: OnHit::Launch,
    cancels: false,
    reach: reach(0, 52, 0, 0),
    ..STAND_HEAVY
};

pub(super) const fn data(attack: Move) -> &'static MoveData {
    match attack {
        Move::StandLight => &STAND_LIGHT,
        Move::StandHeavy => &STAND_HEAVY,
        Move::CrouchLight => &CROUCH_LIGHT,
        Move::CrouchHeavy => &CROUCH_HEAVY,
        Move::AirLight => &AIR_LIGHT,
        Move::AirHeavy => &AIR_HEAVY,
        Move::Charge | Move::Fireball => &CHARGE,
        Move::Heel | Move::Rising => &HEEL,
        Move::Throw => &THROW,
    }
}
