//! Hit boxes over the stage: what strikes, what can be struck, and what cannot be walked through.

use rebout::Player;

use super::camera::{Camera, Covered};
use crate::picture::DrillView;
use crate::scene::Scene;
use games::duel::Area;
use stage::{Canvas, Color, at, rgb};

const STRIKES: Color = rgb(0xFF_3A_3A);
const STRUCK: Color = rgb(0x4A_E0_6A);
const SOLID: Color = rgb(0xFF_FF_FF);

/// Paints the boxes of both fighters, if they are wanted, where the stage under `covered` has them.
pub fn paint(canvas: &mut dyn Canvas, scene: &Scene, view: &DrillView, covered: Covered) {
    if !view.boxes {
        return;
    }
    let camera = Camera::new(scene.camera_target, canvas.width(), canvas.height(), covered);
    for player in Player::BOTH {
        let fighter = scene.duel.fighter(player);
        paint_box(canvas, &camera, &fighter.push_area(), SOLID, 0.0);
        for area in fighter.hurt_areas() {
            paint_box(canvas, &camera, &area, STRUCK, 0.14);
        }
        let ball = fighter.projectile.map(|ball| ball.area());
        let blow = fighter.hit_area().map(|(_, area)| area);
        for area in ball.into_iter().chain(blow) {
            paint_box(canvas, &camera, &area, STRIKES, 0.35);
        }
    }
}

fn paint_box(canvas: &mut dyn Canvas, camera: &Camera, area: &Area, color: Color, filled: f32) {
    let corner = camera.project(at(area.left.to_num(), area.top.to_num()));
    let end = camera.project(at(area.right.to_num(), area.bottom.to_num()));
    let (wide, tall) = (end.x - corner.x, end.y - corner.y);
    // A terminal has no room for an edge thinner than a pixel.
    let edge = (camera.scale() * 0.7).max(0.6);
    if filled > 0.0 {
        canvas.rect(corner, wide, tall, color.faded(filled));
    }
    let color = color.faded(0.85);
    canvas.rect(corner, wide, edge, color);
    canvas.rect(corner.plus(0.0, tall - edge), wide, edge, color);
    canvas.rect(corner, edge, tall, color);
    canvas.rect(corner.plus(wide - edge, 0.0), edge, tall, color);
}
