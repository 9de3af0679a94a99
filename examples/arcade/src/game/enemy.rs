//! Enemies: each flies a path that is a function of its age, and some shoot.

use super::{Arcade, FRAME_RATE, LEFT, MAX_ENEMIES, RIGHT, kind, place, put};
use rebout::authority::{Body, Stage};
use rebout::math::{Fx, Vec2, mul, sin};

/// Where enemies appear and where they are forgotten, beyond what is seen.
const ENTRY: i16 = RIGHT + 40;
const EXIT: i16 = LEFT - 50;

/// Where the boss stops.
const BOSS_X: i16 = RIGHT - 110;

/// Projectiles of enemies that may fly at once.
const MAX_PELLETS: usize = 14;

/// One enemy.
#[derive(Clone, Copy, Debug)]
pub struct Enemy {
    pub id: u8,
    pub kind: u8,
    pub health: u16,
    age: u16,
    x: Fx,
    y: Fx,
    /// Units a frame, to the left.
    speed: Fx,
    /// How far it swings up and down, and how much of a turn in a frame.
    swing: Fx,
    turn: u16,
    phase: u16,
    /// Frames between two shots; 0 never shoots.
    reload: u16,
}

impl Enemy {
    /// The points for it.
    #[must_use]
    pub const fn worth(&self) -> u32 {
        match self.kind {
            kind::DRONE => 50,
            kind::DART => 80,
            kind::WEAVER => 100,
            kind::TURRET => 200,
            kind::BOSS => 2_000,
            _ => 0,
        }
    }

    /// The place at its age.
    fn path(&self) -> (Fx, Fx) {
        let mut x = self.x - self.speed * i32::from(self.age);
        if self.kind == kind::BOSS {
            x = x.max(Fx::from_num(BOSS_X));
        }
        let angle = self.phase.wrapping_add(self.turn.wrapping_mul(self.age));
        let swing = match self.kind {
            // A zigzag is the straight part of a wave.
            kind::WEAVER => mul(triangle(angle), self.swing),
            _ => mul(sin(angle), self.swing),
        };
        (x, self.y + swing)
    }
}

/// A wave of straight lines between -1 and 1.
fn triangle(angle: u16) -> Fx {
    let quarter = i32::from(angle.wrapping_add(0x4000));
    let folded = if quarter < 0x8000 { quarter } else { 0x1_0000 - quarter };
    Fx::from_bits((folded - 0x4000) * 4)
}

/// The numbers of a kind, at a level.
fn nature(kind: u8, level: u16) -> (Fx, Fx, u16, u16, u16) {
    let level = i32::from(level.min(20));
    let fx = |hundredths: i32| Fx::from_num(hundredths) / 100;
    let quicker = |hundredths: i32, each: i32| fx(hundredths + each * level);
    match kind {
        kind::DRONE => (quicker(160, 8), fx(3_600), 620, 1, 0),
        kind::DART => (quicker(380, 16), fx(0), 0, 1, 0),
        kind::WEAVER => (quicker(170, 8), fx(6_000), 520, 2, (170 - 4 * level) as u16),
        kind::TURRET => (quicker(100, 4), fx(1_000), 300, (4 + level / 3) as u16, (110 - 3 * level) as u16),
        _ => (fx(120), fx(11_000), 170, (18 + 8 * level) as u16, (70 - 2 * level).max(30) as u16),
    }
}

impl Arcade {
    /// Brings in an enemy at a height, `behind` units after the first of its wave.
    pub(super) fn spawn_enemy(&mut self, stage: &mut Stage<'_>, kind: u8, y: i16, behind: i16, phase: u16) {
        if self.enemies.len() >= MAX_ENEMIES {
            return;
        }
        let (x, y) = (Fx::from_num(ENTRY + behind), Fx::from_num(y));
        let (speed, swing, turn, health, reload) = nature(kind, self.level.number);
        let Some(id) = stage.spawn(kind, Body::at(x.to_num(), y.to_num())) else { return };
        // A boss is as tough as there are ships to shoot it.
        let health = if kind == kind::BOSS { health * self.ships.len().max(1) as u16 } else { health };
        self.enemies.push(Enemy { id, kind, health, age: 0, x, y, speed, swing, turn, phase, reload });
    }

    pub(super) fn step_enemies(&mut self, stage: &mut Stage<'_>) {
        let mut pellets = stage.shots().filter(|shot| shot.kind == kind::PELLET).count();
        for at in 0..self.enemies.len() {
            let enemy = &mut self.enemies[at];
            enemy.age = enemy.age.saturating_add(1);
            let (x, y) = enemy.path();
            if let Some(body) = stage.body_mut(enemy.id) {
                put(body, x, y);
            }
            let seen = x < Fx::from_num(RIGHT);
            let due = enemy.reload > 0 && seen && enemy.age.is_multiple_of(enemy.reload);
            if due && pellets < MAX_PELLETS {
                pellets += self.shoot_at_ships(stage, at);
            }
        }
        let gone = |enemy: &Enemy| enemy.path().0 < Fx::from_num(EXIT);
        for enemy in self.enemies.iter().filter(|enemy| gone(enemy)) {
            stage.remove(enemy.id);
        }
        self.enemies.retain(|enemy| !gone(enemy));
    }

    /// Shoots at the nearest ship that lives; a boss to both sides of it too. Returns how many projectiles that are.
    fn shoot_at_ships(&mut self, stage: &mut Stage<'_>, at: usize) -> usize {
        let enemy = self.enemies[at];
        let (x, y) = enemy.path();
        let away = |(sx, sy): (Fx, Fx)| Vec2::new(sx.saturating_sub(x), sy.saturating_sub(y));
        let ships = self.ships.iter().filter(|ship| ship.is_alive());
        let nearest = ships
            .filter_map(|ship| stage.body(ship.id).map(|body| away(place(body))))
            .min_by_key(|away| away.length());
        let Some(aim) = nearest else { return 0 };
        let (aim, speed) = (aim.normalized(), f32::from(150 + 5 * self.level.number.min(16)));
        let spread: &[f32] = if enemy.kind == kind::BOSS { &[-0.25, 0.0, 0.25] } else { &[0.0] };
        let (ax, ay) = (aim.x.to_num::<f32>(), aim.y.to_num::<f32>());
        for side in spread {
            let (vx, vy) = ((ax - ay * side) * speed, (ay + ax * side) * speed);
            let pellet = Body { velocity_x: vx, velocity_y: vy, ..Body::at(x.to_num(), y.to_num()) };
            stage.shoot(kind::PELLET, enemy.id, &pellet);
        }
        spread.len()
    }

    /// Lets a pickup drift from where something was destroyed.
    pub(super) fn drop_pickup(&mut self, stage: &mut Stage<'_>, x: Fx, y: Fx) {
        let Some(id) = stage.spawn(kind::PICKUP, Body::at(x.to_num(), y.to_num())) else { return };
        let (speed, swing) = (Fx::from_num(1), Fx::from_num(12));
        let (kind, health) = (kind::PICKUP, 1);
        let turn = 65_536_u32.div_ceil(FRAME_RATE as u32) as u16;
        self.enemies.push(Enemy { id, kind, health, age: 0, x, y, speed, swing, turn, phase: 0, reload: 0 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zigzag_goes_from_end_to_end_in_straight_lines() {
        let points: Vec<f32> = (0..=8_u32).map(|n| triangle((n * 0x2000) as u16).to_num()).collect();
        assert_eq!(points, [0.0, 0.5, 1.0, 0.5, 0.0, -0.5, -1.0, -0.5, 0.0]);
    }
}
