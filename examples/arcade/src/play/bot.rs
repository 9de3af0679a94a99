//! A bot: looks for a height at which little comes towards it and a target is in front.

use crate::game::{BOTTOM, LEFT, TOP, kind};
use crate::scene::{Actor, Scene};
use rebout::authority::Command;

/// How far ahead something is a danger, and how far behind: what is drawn was there a moment ago.
const AHEAD: f32 = 210.0;
const BEHIND: f32 = 20.0;

/// How much room a bot wants above and below what comes, besides both radii.
const ROOM: f32 = 20.0;

/// The heights that are looked at lie this far apart.
const STEP: f32 = 18.0;

/// The command of a bot that sees the same picture as a player does.
pub fn bot(scene: &Scene) -> Command {
    let Some(own) = scene.own_ship() else { return Command::NEUTRAL };
    let seat = scene.seat(own.id) as f32;
    let x = toward(own.x, f32::from(LEFT) + 60.0 + 26.0 * seat, 10.0);
    let goal = goal(scene, own, seat);
    let dangers = dangers(scene, own);
    let heights = (-6..=6).map(|n: i8| own.y + f32::from(n) * STEP);
    let free = |y: &f32| (f32::from(TOP) + 20.0..f32::from(BOTTOM) - 20.0).contains(y);
    let cost = |y: f32| {
        let threat: f32 = dangers.iter().map(|danger| danger.at(y)).sum();
        threat * 6.0 + (y - goal).abs() + 0.4 * (y - own.y).abs()
    };
    let best = heights.filter(free).min_by(|a, b| cost(*a).total_cmp(&cost(*b)));
    Command::new(x, toward(own.y, best.unwrap_or(goal), 6.0), 1)
}

/// -1, 0 or 1 towards a place, with a margin in which it is near enough.
fn toward(from: f32, to: f32, margin: f32) -> f32 {
    if (to - from).abs() <= margin { 0.0 } else { (to - from).signum() }
}

/// Something that comes.
struct Danger {
    y: f32,
    room: f32,
    /// Less of it the further away it is.
    weight: f32,
}

impl Danger {
    fn at(&self, y: f32) -> f32 {
        (self.room - (y - self.y).abs()).max(0.0) * self.weight
    }
}

fn dangers(scene: &Scene, own: &Actor) -> Vec<Danger> {
    let pellets =
        scene.shots.iter().filter(|shot| shot.kind == kind::PELLET).map(|shot| (shot.x, shot.y, 4.0));
    let bodies = scene.actors.iter().filter(|actor| kind::is_enemy(actor.kind));
    let bodies = bodies.map(|actor| (actor.x, actor.y, f32::from(kind::radius(actor.kind))));
    pellets
        .chain(bodies)
        .filter_map(|(x, y, radius)| {
            let far = x - own.x - radius;
            let room = radius + f32::from(kind::radius(kind::SHIP)) + ROOM;
            (-BEHIND..AHEAD).contains(&far).then(|| Danger { y, room, weight: 1.1 - far.max(0.0) / AHEAD })
        })
        .collect()
}

/// The height of a target in front; each bot flies a little beside the others.
fn goal(scene: &Scene, own: &Actor, seat: f32) -> f32 {
    let is_target =
        |actor: &&Actor| (kind::is_enemy(actor.kind) || actor.kind == kind::PICKUP) && actor.x > own.x + 40.0;
    // Everybody has favourites among the targets, so that not all fly to the same one.
    let others = |actor: &Actor| usize::from(actor.id) % scene.ships.len().max(1) != seat as usize;
    let cost = |actor: &Actor| {
        (actor.y - own.y).abs() + 0.3 * (actor.x - own.x) + if others(actor) { 90.0 } else { 0.0 }
    };
    let target = scene.actors.iter().filter(is_target).min_by(|a, b| cost(a).total_cmp(&cost(b)));
    let middle = f32::from(TOP) + 110.0 + 46.0 * seat;
    target.map_or(middle, |actor| actor.y + (seat - 1.5) * f32::from(kind::radius(actor.kind)) * 0.4)
}
