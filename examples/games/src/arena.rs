//! The arena: dots that walk and shoot, and drones that wander, on a server in the middle. `examples/arena` plays it.

use rebout::Frame;
use rebout::authority::{Body, Command, Sight, Stage, World};
use std::time::Duration;

/// The size of the field.
pub const WIDTH: f32 = 78.0;
pub const HEIGHT: f32 = 22.0;
/// Units a second, and a second's part that a frame is.
const SPEED: f32 = 18.0;
const SHOT_SPEED: f32 = 36.0;
const FRAME: f32 = 1.0 / 60.0;
/// The action that shoots.
pub const SHOOT: u8 = 1;
const SHOT_FRAMES: u32 = 90;
const PAUSE_FRAMES: u32 = 20;
const RESPAWN_FRAMES: u32 = 120;

/// In a crowd, players further away than this are seen less often.
const SIGHT: f32 = 9.0;
/// More players than these are a crowd.
const CROWD: usize = 32;

const PLAYER: u8 = 1;
/// The kind of a drone.
pub const DRONE: u8 = 2;

/// The first byte of a message about a kill.
pub const KILLED: u8 = 1;

/// The world: who may shoot again when, and who comes back when. Bodies and shots are on the stage.
pub struct Arena {
    facing: [(f32, f32); 256],
    shoots_at: [Frame; 256],
    returns_at: [Option<Frame>; 256],
    players: usize,
}

impl Default for Arena {
    fn default() -> Self {
        Self::new()
    }
}

impl Arena {
    /// An empty arena.
    #[must_use]
    pub fn new() -> Self {
        Self { facing: [(1.0, 0.0); 256], shoots_at: [Frame::ZERO; 256], returns_at: [None; 256], players: 0 }
    }

    fn start(id: u8) -> Body {
        let n = f32::from(id);
        Body::at(4.0 + n * 13.7 % (WIDTH - 8.0), 3.0 + n * 7.3 % (HEIGHT - 6.0))
    }

    fn shots(&mut self, stage: &mut Stage<'_>) {
        for id in 0..=u8::MAX {
            let Some(shot) = stage.shot(id) else { continue };
            let struck = stage.entities().find(|(target, kind, body)| {
                let (x, y) = (body.x - shot.x, body.y - shot.y);
                *kind == PLAYER && *target != shot.owner && body.health > 0.0 && x * x + y * y < 1.0
            });
            if let Some((target, ..)) = struck {
                stage.end_shot(id);
                self.strike(stage, target, shot.owner);
            } else if stage.frame().since(shot.course.frame) > SHOT_FRAMES {
                stage.end_shot(id);
            } else if !(0.0..=WIDTH).contains(&shot.x) || !(0.0..=HEIGHT).contains(&shot.y) {
                let (vx, vy) = (shot.course.velocity_x, shot.course.velocity_y);
                let turn = |at: f32, most: f32, v: f32| if (0.0..=most).contains(&at) { v } else { -v };
                let at = Body::at(shot.x.clamp(0.0, WIDTH), shot.y.clamp(0.0, HEIGHT));
                let velocity_x = turn(shot.x, WIDTH, vx);
                stage.bounce(id, &Body { velocity_x, velocity_y: turn(shot.y, HEIGHT, vy), ..at });
            }
        }
    }

    fn strike(&mut self, stage: &mut Stage<'_>, target: u8, owner: u8) {
        let frame = stage.frame();
        let Some(body) = stage.body_mut(target) else { return };
        body.health -= 0.25;
        if body.health <= 0.0 {
            self.returns_at[usize::from(target)] = Some(frame.plus(RESPAWN_FRAMES));
            stage.tell(&[KILLED, owner, target]);
        }
    }
}

impl World for Arena {
    fn walk(&self, body: &mut Body, command: Command) {
        // The dead do not walk. Health is in every snapshot, so a client knows that as well as the server.
        let (x, y) = if body.health > 0.0 { (command.x * SPEED, command.y * SPEED) } else { (0.0, 0.0) };
        body.x = (body.x + x * FRAME).clamp(0.0, WIDTH);
        body.y = (body.y + y * FRAME).clamp(0.0, HEIGHT);
        (body.velocity_x, body.velocity_y) = (x, y);
    }

    fn enter(&mut self, id: u8) -> (u8, Body) {
        self.players += 1;
        (PLAYER, Self::start(id))
    }

    fn sight(&self, (_, viewer): (u8, &Body), (_, body): (u8, &Body)) -> Sight {
        let is_far = self.players > CROWD && viewer.distance(body) > SIGHT;
        if is_far { Sight::Far } else { Sight::Near }
    }

    fn step(&mut self, stage: &mut Stage<'_>) {
        let frame = stage.frame();
        if frame == Frame(1) {
            for n in 0..3_u8 {
                stage.spawn(DRONE, Body::at(20.0 * f32::from(n) + 9.0, 2.0));
            }
        }
        for id in 1..=u8::MAX {
            if stage.kind(id) == Some(DRONE)
                && let Some(body) = stage.body_mut(id)
            {
                let way = if (frame.0 / 120 + u32::from(id)).is_multiple_of(2) { 6.0 } else { -6.0 };
                body.y = (body.y + way * FRAME).clamp(1.0, HEIGHT - 1.0);
                body.velocity_y = way;
            }
            let n = usize::from(id);
            let Some(command) = stage.players().find(|(player, _)| *player == id).map(|(_, c)| c) else {
                continue;
            };
            let Some(body) = stage.body_mut(id) else { continue };
            if self.returns_at[n] == Some(frame) {
                *body = Self::start(id);
            }
            if command.x.abs() + command.y.abs() > 0.1 {
                self.facing[n] = (command.x, command.y);
            }
            if command.holds(SHOOT) && body.health > 0.0 && self.shoots_at[n] <= frame {
                self.shoots_at[n] = frame.plus(PAUSE_FRAMES);
                let (x, y) = self.facing[n];
                let length = (x * x + y * y).sqrt().max(0.01);
                let (velocity_x, velocity_y) = (x / length * SHOT_SPEED, y / length * SHOT_SPEED);
                let shot = Body { velocity_x, velocity_y, ..*body };
                stage.shoot(0, id, &shot);
            }
        }
        self.shots(stage);
    }

    fn leave(&mut self, id: u8) {
        self.players = self.players.saturating_sub(1);
        self.returns_at[usize::from(id)] = None;
    }
}

/// A bot that wanders and shoots.
#[must_use]
pub fn bot_command(seed: u64, now: Duration) -> Command {
    let turn = (now.as_millis() as u64 / 400).wrapping_add(seed).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    let way = |bits: u64| (bits % 3) as f32 - 1.0;
    Command::new(way(turn), way(turn / 3), (turn / 9 % 2) as u8 * SHOOT)
}
