//! Who hits whom: bolts hit enemies, pellets and enemies hit ships, ships take pickups.

use super::{Arcade, BOTTOM, LEFT, RIGHT, TOP, kind, place};
use rebout::authority::{Body, Shot, Stage};
use rebout::math::Fx;

/// A projectile hits what is this much further away than the radius.
const BOLT_REACH: i16 = 5;
const PELLET_REACH: i16 = 3;

/// The points of a pickup for a ship that has its second gun.
const PICKUP_WORTH: u32 = 250;

/// Whether two places are at most this far apart.
fn close(a: (Fx, Fx), b: (Fx, Fx), reach: i16) -> bool {
    let part = |a: Fx, b: Fx| i64::from(a.saturating_sub(b).to_bits());
    let (x, y, reach) = (part(a.0, b.0), part(a.1, b.1), i64::from(Fx::from_num(reach).to_bits()));
    x * x + y * y <= reach * reach
}

fn shot_place(shot: &Shot) -> (Fx, Fx) {
    place(&Body::at(shot.x, shot.y))
}

fn is_outside((x, y): (Fx, Fx)) -> bool {
    x < Fx::from_num(LEFT - 30)
        || x > Fx::from_num(RIGHT + 20)
        || y < Fx::from_num(TOP - 20)
        || y > Fx::from_num(BOTTOM + 20)
}

impl Arcade {
    pub(super) fn collide(&mut self, stage: &mut Stage<'_>) {
        let shots: Vec<Shot> = stage.shots().collect();
        for shot in shots {
            let at = shot_place(&shot);
            let hits = match shot.kind {
                kind::BOLT => self.bolt_hits(stage, at),
                _ => self.hit_a_ship(stage, at, kind::radius(kind::SHIP) + PELLET_REACH),
            };
            if hits || is_outside(at) {
                stage.end_shot(shot.id);
            }
        }
        for at in (0..self.enemies.len()).rev() {
            self.touch(stage, at);
        }
    }

    /// Whether a bolt hits an enemy, which is then hurt or destroyed.
    fn bolt_hits(&mut self, stage: &mut Stage<'_>, at: (Fx, Fx)) -> bool {
        let struck = self.enemies.iter().position(|enemy| {
            let reach = kind::radius(enemy.kind) + BOLT_REACH;
            kind::is_enemy(enemy.kind)
                && stage.body(enemy.id).is_some_and(|body| close(at, place(body), reach))
        });
        let Some(struck) = struck else { return false };
        let enemy = &mut self.enemies[struck];
        enemy.health = enemy.health.saturating_sub(1);
        if enemy.health > 0 {
            stage.hit(enemy.id, 1);
        } else {
            self.destroy(stage, struck);
        }
        true
    }

    fn destroy(&mut self, stage: &mut Stage<'_>, at: usize) {
        let enemy = self.enemies.remove(at);
        let where_it_was = stage.body(enemy.id).map(place);
        self.score = self.score.saturating_add(enemy.worth());
        stage.hit(enemy.id, kind::FATAL);
        stage.remove(enemy.id);
        if let (kind::TURRET, Some((x, y))) = (enemy.kind, where_it_was) {
            self.drop_pickup(stage, x, y);
        }
    }

    /// Whether something at a place hits a ship, which then loses a life.
    fn hit_a_ship(&mut self, stage: &mut Stage<'_>, at: (Fx, Fx), reach: i16) -> bool {
        let struck = self.ships.iter_mut().find(|ship| {
            ship.is_alive() && stage.body(ship.id).is_some_and(|body| close(at, place(body), reach))
        });
        let Some(ship) = struck else { return false };
        if ship.safe_frames == 0 {
            let damage = ship.lose_a_life();
            stage.hit(ship.id, damage);
        }
        true
    }

    /// An enemy rams a ship, or a ship takes a pickup.
    fn touch(&mut self, stage: &mut Stage<'_>, at: usize) {
        let enemy = self.enemies[at];
        let Some(there) = stage.body(enemy.id).map(place) else { return };
        let reach = kind::radius(enemy.kind) + kind::radius(kind::SHIP) - 3;
        if enemy.kind == kind::PICKUP {
            let taken = self.ships.iter_mut().find(|ship| {
                let near = stage.body(ship.id).is_some_and(|body| close(there, place(body), reach + 8));
                ship.is_alive() && near
            });
            let Some(ship) = taken else { return };
            let worth = if ship.twin { PICKUP_WORTH } else { 0 };
            ship.twin = true;
            self.score = self.score.saturating_add(worth);
            self.enemies.remove(at);
            stage.hit(enemy.id, 1);
            stage.remove(enemy.id);
        } else if self.hit_a_ship(stage, there, reach) && enemy.kind != kind::BOSS {
            self.destroy(stage, at);
        }
    }
}
