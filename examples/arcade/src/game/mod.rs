//! The rules of the game, in fixed point: ships, waves of enemies, shots both ways, lives, score and levels.
//!
//! The world is told to clients by nothing but spawns, positions, hits and ends: that is all that R-Type carries. The score, the
//! level and the lives of a ship are therefore positions too, of entities that are [boards](kind::SCORE).

mod collide;
mod enemy;
pub mod kind;
mod level;
mod ship;

pub use enemy::Enemy;
pub use level::{BOSS_FRAMES, CLEARED_FRAMES, INTRO_FRAMES, OVER_FRAMES, Phase};
pub use ship::{Ship, fly};

use level::Level;
use rebout::Rng;
use rebout::authority::{Body, Command, Stage, World};
use rebout::math::Fx;

/// The part of the plane that is seen. There is room around it for ships that enter, because R-Type has no negative numbers.
pub const LEFT: i16 = 100;
pub const RIGHT: i16 = 740;
pub const TOP: i16 = 40;
pub const BOTTOM: i16 = 400;

/// Frames a second.
pub const FRAME_RATE: i16 = 60;

/// The most enemies at once.
const MAX_ENEMIES: usize = 20;

/// The game as the server knows it. A client has an empty one: of a client's own ship only the motion is predicted.
#[derive(Clone, Debug)]
pub struct Arcade {
    rng: Rng,
    ships: Vec<Ship>,
    enemies: Vec<Enemy>,
    level: Level,
    score: u32,
    /// The boards of the score and of the level.
    boards: Option<[u8; 2]>,
    rest: Rest,
}

/// Whether the game is to rest, and the courses of the projectiles that it holds while it does.
#[derive(Clone, Debug, Default)]
struct Rest {
    is_wanted: bool,
    held: Option<Vec<(u8, Body)>>,
}

impl Arcade {
    /// A game that waits for players.
    #[must_use]
    pub fn new(seed: u32) -> Self {
        Self {
            rng: Rng::new(seed.max(1)).expect("not 0"),
            ships: Vec::new(),
            enemies: Vec::new(),
            level: Level::waiting(),
            score: 0,
            boards: None,
            rest: Rest::default(),
        }
    }

    /// Lets the game rest from its next step on, or go on. Nothing moves while it rests.
    pub fn set_resting(&mut self, rests: bool) {
        self.rest.is_wanted = rests;
    }

    /// Stops every projectile where it is, or lets it fly on: its course is a line in time, which does not rest.
    fn step_rest(&mut self, stage: &mut Stage<'_>) {
        match (self.rest.is_wanted, self.rest.held.take()) {
            (true, None) => {
                let at = |shot: rebout::authority::Shot| Body {
                    velocity_x: shot.course.velocity_x,
                    velocity_y: shot.course.velocity_y,
                    ..Body::at(shot.x, shot.y)
                };
                let held: Vec<(u8, Body)> = stage.shots().map(|shot| (shot.id, at(shot))).collect();
                for (id, body) in &held {
                    stage.bounce(*id, &Body::at(body.x, body.y));
                }
                self.rest.held = Some(held);
            }
            (true, held) => self.rest.held = held,
            (false, Some(held)) => {
                for (id, body) in held {
                    stage.bounce(id, &body);
                }
            }
            (false, None) => {}
        }
    }

    /// The points of all players together.
    #[must_use]
    pub fn score(&self) -> u32 {
        self.score
    }

    /// The number of the level, from 1.
    #[must_use]
    pub fn level(&self) -> u16 {
        self.level.number
    }

    /// The phase of the level.
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.level.phase
    }

    /// The ships, in the order in which they came.
    #[must_use]
    pub fn ships(&self) -> &[Ship] {
        &self.ships
    }

    fn new_game(&mut self, stage: &mut Stage<'_>) {
        self.score = 0;
        for enemy in self.enemies.drain(..) {
            stage.remove(enemy.id);
        }
        self.ships.iter_mut().for_each(Ship::refill);
        self.level = Level::first();
    }

    fn show_boards(&mut self, stage: &mut Stage<'_>) {
        if self.boards.is_none() {
            let score = stage.spawn(kind::SCORE, Body::at(0.0, 0.0));
            let level = stage.spawn(kind::LEVEL, Body::at(0.0, 0.0));
            self.boards = score.zip(level).map(<[u8; 2]>::from);
        }
        let Some([score, level]) = self.boards else { return };
        let put = |stage: &mut Stage<'_>, id: u8, x: u16, y: u16| {
            if let Some(body) = stage.body_mut(id) {
                (body.x, body.y) = (f32::from(x), f32::from(y));
            }
        };
        put(stage, score, (self.score >> 16) as u16, self.score as u16);
        put(stage, level, self.level.number, self.level.phase as u16);
        for ship in &mut self.ships {
            let board = *ship.board.get_or_insert_with(|| {
                stage.spawn(kind::LIVES, Body::at(f32::from(ship.id), 0.0)).unwrap_or(0)
            });
            put(stage, board, u16::from(ship.id), u16::from(ship.lives));
        }
    }
}

impl World for Arcade {
    fn walk(&self, body: &mut Body, command: Command) {
        fly(body, if self.rest.is_wanted { Command::NEUTRAL } else { command });
    }

    fn enter(&mut self, id: u8) -> (u8, Body) {
        // A board of somebody who has left with this id is not this one's.
        self.ships.retain(|ship| ship.id != id);
        let lane = self.ships.len() as i16 % 4;
        self.ships.push(Ship::new(id));
        (kind::SHIP, Body::at(f32::from(LEFT + 90), f32::from(TOP + 90 + 60 * lane)))
    }

    fn step(&mut self, stage: &mut Stage<'_>) {
        self.remove_boards_of_the_gone(stage);
        self.step_rest(stage);
        if self.rest.is_wanted {
            self.show_boards(stage);
            return;
        }
        if self.ships.is_empty() {
            self.level = Level::waiting();
        } else if self.level.phase == Phase::Waiting || self.level.is_over() {
            self.new_game(stage);
        }
        self.step_level(stage);
        self.step_ships(stage);
        self.step_enemies(stage);
        self.collide(stage);
        self.show_boards(stage);
    }

    fn leave(&mut self, id: u8) {
        if let Some(ship) = self.ships.iter_mut().find(|ship| ship.id == id) {
            ship.is_gone = true;
        }
    }
}

impl Arcade {
    fn remove_boards_of_the_gone(&mut self, stage: &mut Stage<'_>) {
        for ship in self.ships.iter().filter(|ship| ship.is_gone) {
            if let Some(board) = ship.board {
                stage.remove(board);
            }
        }
        self.ships.retain(|ship| !ship.is_gone);
    }
}

/// The place of a body, as the rules compute.
fn place(body: &Body) -> (Fx, Fx) {
    (Fx::saturating_from_num(body.x), Fx::saturating_from_num(body.y))
}

/// Moves a body to a place, rounded to what survives an `f32` and every wire.
fn put(body: &mut Body, x: Fx, y: Fx) {
    let rounded = |value: Fx| Fx::from_bits(value.to_bits() & !0xFF).to_num::<f32>();
    let rate = f32::from(FRAME_RATE);
    let (x, y) = (rounded(x), rounded(y));
    (body.velocity_x, body.velocity_y) = ((x - body.x) * rate, (y - body.y) * rate);
    (body.x, body.y) = (x, y);
}
