//! A player's ship: its motion, which clients predict, and its guns and lives, which only the server knows.

use super::{Arcade, BOTTOM, LEFT, RIGHT, TOP, kind, place, put};
use rebout::authority::{Body, Command, Stage};
use rebout::math::{Fx, clamp, mul};

/// The lives of a new ship.
const LIVES: u8 = 3;

/// Units a frame: 165 a second.
const SPEED: Fx = Fx::from_bits(0x0002_C000);

/// How close to the rim a ship may fly.
const RIM: i16 = 14;

/// Frames between two shots, and how many may fly.
const COOLDOWN: u8 = 11;
const MAX_BOLTS: usize = 6;

/// Units a second.
const BOLT_SPEED: f32 = 480.0;

/// Frames in which a ship that was hit cannot be hit again.
const SAFE_FRAMES: u16 = 150;

/// A ship as the server knows it.
#[derive(Clone, Copy, Debug)]
pub struct Ship {
    /// The player's id, which the entity has too.
    pub id: u8,
    pub lives: u8,
    cooldown: u8,
    pub(super) safe_frames: u16,
    pub(super) twin: bool,
    pub(super) board: Option<u8>,
    pub(super) is_gone: bool,
}

impl Ship {
    pub(super) fn new(id: u8) -> Self {
        let (cooldown, safe_frames) = (0, SAFE_FRAMES);
        Self { id, lives: LIVES, cooldown, safe_frames, twin: false, board: None, is_gone: false }
    }

    /// A new game.
    pub(super) fn refill(&mut self) {
        (self.lives, self.safe_frames, self.twin) = (LIVES, SAFE_FRAMES, false);
    }

    /// Whether it can shoot and be hit.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        self.lives > 0
    }

    /// Takes a life. Returns the damage that is told.
    pub(super) fn lose_a_life(&mut self) -> u8 {
        self.lives = self.lives.saturating_sub(1);
        (self.safe_frames, self.twin) = (SAFE_FRAMES, false);
        if self.is_alive() { 1 } else { kind::FATAL }
    }
}

/// The rule of a ship's motion, for the server and for the client whose ship it is. It asks for nothing but the command: a hit
/// takes a life and moves nobody.
pub fn fly(body: &mut Body, command: Command) {
    let (x, y) = place(body);
    let step = |direction: f32| mul(Fx::saturating_from_num(direction), SPEED);
    let within = |value: Fx, low: i16, high: i16| clamp(value, Fx::from_num(low), Fx::from_num(high));
    let x = within(x.saturating_add(step(command.x)), LEFT + RIM, RIGHT - RIM);
    let y = within(y.saturating_add(step(command.y)), TOP + RIM, BOTTOM - RIM);
    put(body, x, y);
}

impl Arcade {
    /// Lets everybody shoot who wants to and can.
    pub(super) fn step_ships(&mut self, stage: &mut Stage<'_>) {
        for at in 0..self.ships.len() {
            let ship = &mut self.ships[at];
            ship.cooldown = ship.cooldown.saturating_sub(1);
            ship.safe_frames = ship.safe_frames.saturating_sub(1);
            let wants = stage.players().any(|(id, command)| id == ship.id && command.holds(1));
            let flying =
                stage.shots().filter(|shot| shot.kind == kind::BOLT && shot.owner == ship.id).count();
            let Some(body) = stage.body(ship.id).copied() else { continue };
            if !wants || !ship.is_alive() || ship.cooldown > 0 || flying >= MAX_BOLTS {
                continue;
            }
            ship.cooldown = COOLDOWN;
            let offsets: &[f32] = if ship.twin { &[-7.0, 7.0] } else { &[0.0] };
            for offset in offsets {
                let bolt = Body { velocity_x: BOLT_SPEED, ..Body::at(body.x + 18.0, body.y + offset) };
                stage.shoot(kind::BOLT, ship.id, &bolt);
            }
        }
    }
}
