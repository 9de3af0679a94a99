//! A bot: keeps out of the way of what comes, and lines up with the nearest target.

use crate::game::{BOTTOM, LEFT, TOP, kind};
use crate::scene::{Actor, Scene};
use rebout::authority::Command;

/// How far ahead and how close above or below something is a danger.
const AHEAD: f32 = 110.0;
const BESIDE: f32 = 30.0;

/// The command of a bot that sees the same picture as a player does.
pub fn bot(scene: &Scene) -> Command {
    let Some(own) = scene.own_ship() else { return Command::NEUTRAL };
    let seat = scene.seat(own.id) as f32;
    let home = f32::from(LEFT) + 70.0 + 30.0 * seat;
    let x = toward(own.x, home, 8.0);
    Command::new(x, dodge(scene, own).unwrap_or_else(|| line_up(scene, own, seat)), 1)
}

/// -1, 0 or 1 towards a place, with a margin in which it is near enough.
fn toward(from: f32, to: f32, margin: f32) -> f32 {
    if (to - from).abs() <= margin { 0.0 } else { (to - from).signum() }
}

/// Away from the nearest danger, if there is one.
fn dodge(scene: &Scene, own: &Actor) -> Option<f32> {
    let pellets =
        scene.shots.iter().filter(|shot| shot.kind == kind::PELLET).map(|shot| (shot.x, shot.y, 8.0));
    let bodies = scene.actors.iter().filter(|actor| kind::is_enemy(actor.kind));
    let bodies = bodies.map(|actor| (actor.x, actor.y, f32::from(kind::radius(actor.kind))));
    let near = |&(x, y, radius): &(f32, f32, f32)| {
        (-20.0..AHEAD).contains(&(x - own.x - radius)) && (y - own.y).abs() < BESIDE + radius
    };
    let (_, y, _) = pellets.chain(bodies).filter(near).min_by(|a, b| a.0.total_cmp(&b.0))?;
    // Out of a corner the way leads past the danger.
    let (top, bottom) = (f32::from(TOP) + 30.0, f32::from(BOTTOM) - 30.0);
    Some(match own.y {
        own if own < top => 1.0,
        own if own > bottom => -1.0,
        own => {
            if own >= y {
                1.0
            } else {
                -1.0
            }
        }
    })
}

/// Towards the height of a target in front; each bot of another one, so that they do not fly on top of each other.
fn line_up(scene: &Scene, own: &Actor, seat: f32) -> f32 {
    let ahead = scene
        .actors
        .iter()
        .filter(|actor| (kind::is_enemy(actor.kind) || actor.kind == kind::PICKUP) && actor.x > own.x + 30.0);
    let cost = |actor: &Actor| (actor.y - own.y).abs() + 0.3 * (actor.x - own.x);
    let target = ahead.min_by(|a, b| cost(a).total_cmp(&cost(b)));
    let middle = f32::from(TOP) + 110.0 + 46.0 * seat;
    let goal = target.map_or(middle, |actor| actor.y + (seat - 1.5) * 5.0);
    toward(own.y, goal, 5.0)
}
