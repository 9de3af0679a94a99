//! Explosions. A spark is a function of its number and its age: nothing is stored for its parts.

use super::camera::Camera;
use super::{GOLD, RED};
use crate::scene::{BURST_FRAMES, Burst};
use stage::{Canvas, Color, rgb};

const WHITE: Color = rgb(0xFF_FF_FF);
const SMOKE: Color = rgb(0x6A_5C_70);

pub(super) fn paint(canvas: &mut dyn Canvas, camera: &Camera, burst: &Burst) {
    let (center, scale) = (camera.project(burst.x, burst.y), camera.scale());
    let life = f32::from(burst.age) / f32::from(BURST_FRAMES);
    let out = 1.0 - (1.0 - life).powi(3);
    let size = burst.size * scale;
    let mut dice = burst.dice;
    let mut roll = || {
        dice ^= dice << 13;
        dice ^= dice >> 17;
        dice ^= dice << 5;
        (dice >> 8 & 0xFFFF) as f32 / 65_535.0
    };
    let flash = (1.0 - life * 3.0).max(0.0);
    canvas.disc(center, size * (1.2 + 2.2 * flash), GOLD.faded(0.35 * flash));
    for puff in 0..9_u8 {
        let angle = (f32::from(puff) + roll()) / 9.0 * core::f32::consts::TAU;
        let (sine, cosine) = angle.sin_cos();
        let far = size * (0.35 + 0.95 * roll()) * out;
        let place = center.plus(cosine * far, sine * far);
        let radius = size * (0.35 + 0.35 * roll()) * (1.0 - life * 0.55);
        let color = if life < 0.35 { GOLD.mix(RED, life * 2.6) } else { RED.mix(SMOKE, (life - 0.35) * 2.4) };
        canvas.disc(place, radius, color.faded((1.0 - life) * 0.8));
    }
    for _ in 0..(10 + burst.size as u32 / 3) {
        let (sine, cosine) = (roll() * core::f32::consts::TAU).sin_cos();
        let reach = size * (1.2 + 2.6 * roll());
        let point = |share: f32| center.plus(cosine * reach * share, sine * reach * share);
        let width = (1.4 * (1.0 - life) * scale).max(0.3);
        canvas.capsule(
            point(out * 0.75),
            point(out),
            [width * 0.3, width],
            GOLD.lighter(0.4).faded(1.0 - life),
        );
    }
    canvas.disc(center, size * (1.0 - life * 2.6).max(0.0), WHITE.faded(0.9));
}
