//! One picture of the stage: backdrop, shadows, fighters, fireballs and sparks.

use rebout::Player;

use super::camera::{Camera, Covered};
use super::figure::{self, Joints, Look};
use super::{backdrop, sparks};
use crate::netgraph::Moved;
use crate::scene::Scene;
use games::duel::Action;
use stage::{Canvas, at, rgb};

/// Paints everything that is on the stage. `moved` are the marks where a rollback has just put a fighter elsewhere, and
/// nobody's head or feet are behind `covered`.
pub fn paint(canvas: &mut dyn Canvas, scene: &Scene, moved: &[Moved], covered: Covered) {
    let camera = Camera::new(scene.camera_target, canvas.width(), canvas.height(), covered);
    if canvas.is_mono() {
        backdrop::paint_plain(canvas, &camera);
    } else {
        backdrop::paint(canvas, &camera, scene.duel.chance.state(), scene.age);
    }
    for player in Player::BOTH {
        paint_shadow(canvas, &camera, scene, player);
    }
    for mark in moved {
        paint_mark(canvas, &camera, scene, mark);
    }
    // Who strikes is in front.
    let struck = |player: Player| {
        matches!(
            scene.duel.fighter(player).action,
            Action::Hit | Action::Held | Action::Block | Action::Launched
        )
    };
    let order = if struck(Player::Two) { [Player::Two, Player::One] } else { Player::BOTH };
    for player in order {
        paint_fighter(canvas, &camera, scene, player);
    }
    for player in Player::BOTH {
        if let Some(ball) = scene.duel.fighter(player).projectile {
            sparks::paint_ball(canvas, &camera, &ball, scene.outfit(player).glow, scene.age);
        }
    }
    for spark in &scene.sparks {
        sparks::paint(canvas, &camera, spark, scene.outfit(spark.shown.player).glow);
    }
    let glare = scene.glare();
    if glare > 0.0 {
        let (width, height) = (canvas.width(), canvas.height());
        canvas.rect(at(0.0, 0.0), width, height, rgb(0xFF_FF_FF).faded(glare));
    }
}

fn paint_shadow(canvas: &mut dyn Canvas, camera: &Camera, scene: &Scene, player: Player) {
    let fighter = scene.duel.fighter(player);
    let (x, y) = (fighter.x.to_num::<f32>(), fighter.y.to_num::<f32>());
    let small = 1.0 - (y / 150.0).min(0.6);
    let lying = matches!(fighter.action, Action::Down | Action::Launched);
    let half = if lying { 40.0 } else { 22.0 } * small;
    let center = camera.project(at(x, -1.0));
    for (grow, dark) in [(1.25, 0.14), (0.95, 0.26)] {
        let (wide, flat) = (half * grow * camera.scale(), 4.2 * grow * camera.scale());
        let rim: [_; 20] = core::array::from_fn(|corner| {
            let (sine, cosine) = (corner as f32 / 20.0 * core::f32::consts::TAU).sin_cos();
            center.plus(cosine * wide, sine * flat)
        });
        canvas.polygon(&rim, rgb(0).faded(dark * small));
    }
}

fn paint_fighter(canvas: &mut dyn Canvas, camera: &Camera, scene: &Scene, player: Player) {
    let fighter = scene.duel.fighter(player);
    let view = &scene.sides[player.index()];
    let side = fighter.facing.sign() as f32;
    let mut place = at(fighter.x.to_num(), fighter.y.to_num());
    // A struck body trembles while time stands still.
    if fighter.hitstop > 0 && matches!(fighter.action, Action::Hit | Action::Launched) {
        place.x += if scene.age.is_multiple_of(2) { 1.6 } else { -1.6 };
    }
    let joints = Joints::of(&view.pose, fighter.character, place, side, fighter.airborne());
    let mut outfit = *scene.outfit(player);
    if canvas.is_mono() {
        // Dark cloth would be as black as the stage; the two still differ.
        outfit.cloth = outfit.cloth.lighter(0.5);
    }
    let look = Look {
        character: fighter.character,
        outfit,
        side,
        flash: scene.flash(player),
        age: scene.age as f32 + player.index() as f32 * 40.0,
        drift: view.drift,
    };
    figure::paint(canvas, camera, &joints, &look);
}

/// A shade where a fighter was shown, and an arrow on the floor from there to where it truly is.
fn paint_mark(canvas: &mut dyn Canvas, camera: &Camera, scene: &Scene, mark: &Moved) {
    let fighter = scene.duel.fighter(mark.player);
    let pose = &scene.sides[mark.player.index()].pose;
    let joints =
        Joints::of(pose, fighter.character, mark.from, fighter.facing.sign() as f32, fighter.airborne());
    let opacity = 0.34 - mark.age as f32 / 60.0;
    if opacity > 0.0 {
        figure::paint_shade(canvas, camera, &joints, scene.outfit(mark.player).glow.faded(opacity));
    }
    let color = scene.outfit(mark.player).glow.faded(0.9 - mark.age as f32 / 34.0);
    let (from, to) = (camera.project(mark.from), camera.project(mark.to));
    let lift = 3.0 * camera.scale();
    let thick = (1.6 * camera.scale()).max(0.7);
    canvas.line(from.plus(0.0, lift), to.plus(0.0, lift), thick, color);
    canvas.disc(to.plus(0.0, lift), thick * 1.8, color);
    canvas.line(from.plus(0.0, lift - thick * 3.0), from.plus(0.0, lift + thick * 3.0), thick * 0.7, color);
}
