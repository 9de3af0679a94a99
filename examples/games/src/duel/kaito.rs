//! Kaito: quick on his feet, with a fireball for those who stay away and a rising strike for those who jump.

use super::Fx;
use super::character::Build;
use super::moves::{Level, Move, MoveData, OnHit, reach};

pub(super) const BUILD: Build = Build {
    name: "Kaito",
    walk_forward: Fx::lit("3"),
    walk_back: Fx::lit("2.4"),
    jump_speed: Fx::lit("9.5"),
    jump_drift: Fx::lit("3.3"),
    half_width: 15,
    stand_height: 96,
    crouch_height: 64,
    safe_frames: 7,
};

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

pub(super) const fn data(attack: Move) -> &'static MoveData {
    match attack {
        Move::StandLight => &STAND_LIGHT,
        Move::StandHeavy => &STAND_HEAVY,
        Move::CrouchLight => &CROUCH_LIGHT,
        Move::CrouchHeavy => &CROUCH_HEAVY,
        Move::AirLight => &AIR_LIGHT,
        Move::AirHeavy => &AIR_HEAVY,
        Move::Fireball | Move::Charge => &FIREBALL,
        Move::Rising | Move::Heel => &RISING,
        Move::Throw => &THROW,
    }
}
