//! Sparks, dust and fireballs. A spark is a function of its number and its age: nothing is stored for its parts.

use super::camera::Camera;
use crate::scene::Spark;
use games::duel::Projectile;
use games::duel::effects::Effect;
use stage::{Canvas, Color, Point, at, rgb};

const WHITE: Color = rgb(0xFF_FF_FF);
const YELLOW: Color = rgb(0xFF_E0_6A);
const ORANGE: Color = rgb(0xFF_8A_2C);
const BLUE: Color = rgb(0x8C_D8_FF);
const DUST: Color = rgb(0xE8_D0_B0);

/// Paints a spark; `glow` is the colour of whoever made it.
pub fn paint(canvas: &mut dyn Canvas, camera: &Camera, spark: &Spark, glow: Color) {
    let place = camera.project(at(spark.shown.x as f32, spark.shown.y as f32));
    let scale = camera.scale();
    let life = spark.age as f32 / Spark::lasts(spark.shown.effect) as f32;
    let mut burst = Burst { canvas, place, scale, life, dice: spark.id.0.wrapping_mul(2_654_435_761) | 1 };
    match spark.shown.effect {
        Effect::HeavyHit => {
            burst.rays(14, 46.0, 4.2, ORANGE);
            burst.rays(9, 30.0, 5.0, YELLOW);
            burst.heart(15.0, WHITE);
            burst.ring(40.0, 3.0, YELLOW);
        }
        Effect::LightHit => {
            burst.rays(9, 28.0, 3.4, YELLOW);
            burst.heart(9.0, WHITE);
        }
        Effect::Block => {
            burst.ring(22.0, 3.4, BLUE);
            burst.rays(6, 20.0, 2.4, BLUE);
            burst.heart(6.0, WHITE);
        }
        Effect::Clash => {
            burst.ring(38.0, 5.0, BLUE);
            burst.ring(26.0, 4.0, ORANGE);
            burst.heart(16.0, WHITE);
        }
        Effect::Escape | Effect::Grab => {
            burst.ring(20.0, 2.6, WHITE);
            burst.rays(6, 18.0, 2.4, WHITE);
        }
        Effect::Cast => burst.ring(20.0, 3.0, glow),
        Effect::Land | Effect::Jump => burst.dust(5, 20.0),
        Effect::Slam => burst.dust(11, 40.0),
        _ => {}
    }
}

struct Burst<'a> {
    canvas: &'a mut dyn Canvas,
    place: Point,
    scale: f32,
    life: f32,
    dice: u32,
}

impl Burst<'_> {
    fn roll(&mut self) -> f32 {
        self.dice ^= self.dice << 13;
        self.dice ^= self.dice >> 17;
        self.dice ^= self.dice << 5;
        (self.dice >> 8 & 0xFFFF) as f32 / 65535.0
    }

    /// Needles that fly apart and burn down from behind.
    fn rays(&mut self, count: u32, far: f32, thick: f32, color: Color) {
        let out = 1.0 - (1.0 - self.life).powi(3);
        for ray in 0..count {
            let angle = (ray as f32 + self.roll() * 0.8) / count as f32 * core::f32::consts::TAU;
            let reach = far * (0.55 + 0.6 * self.roll()) * self.scale;
            let (sine, cosine) = angle.sin_cos();
            let point = |share: f32| self.place.plus(cosine * reach * share, sine * reach * share);
            let (tail, tip) = (point(out * out * 0.9), point(out));
            let width = thick * (1.0 - self.life) * self.scale / 2.0;
            self.canvas.capsule(tail, tip, [width, width * 0.3], color.faded(1.2 - self.life));
        }
    }

    fn heart(&mut self, radius: f32, color: Color) {
        let size = (1.0 - self.life * 2.2).max(0.0);
        if size > 0.0 {
            self.canvas.disc(self.place, radius * size * self.scale * 1.6, color.faded(0.35));
            self.canvas.disc(self.place, radius * size * self.scale, color);
        }
    }

    fn ring(&mut self, radius: f32, thick: f32, color: Color) {
        let size = (1.0 - (1.0 - self.life).powi(2)) * radius * self.scale;
        let width = (thick * (1.0 - self.life) * self.scale).max(0.2);
        const SIDES: u8 = 16;
        let corner = |side: u8| {
            let (sine, cosine) = (f32::from(side) / f32::from(SIDES) * core::f32::consts::TAU).sin_cos();
            self.place.plus(cosine * size, sine * size)
        };
        for side in 0..SIDES {
            self.canvas.line(corner(side), corner(side + 1), width, color.faded(1.0 - self.life));
        }
    }

    fn dust(&mut self, puffs: u32, spread: f32) {
        let out = 1.0 - (1.0 - self.life).powi(2);
        for puff in 0..puffs {
            let side = if puff % 2 == 0 { 1.0 } else { -1.0 };
            let far = (0.4 + self.roll()) * spread * out * self.scale;
            let up = self.roll() * 9.0 * out * self.scale;
            let radius = (2.5 + self.roll() * 4.0) * (0.5 + out) * self.scale;
            let center = self.place.plus(side * far, -up - radius * 0.4);
            self.canvas.disc(center, radius, DUST.faded(0.55 * (1.0 - self.life)));
        }
    }
}

/// A fireball: a bright heart in a flickering shell, with a tail.
pub fn paint_ball(canvas: &mut dyn Canvas, camera: &Camera, ball: &Projectile, glow: Color, age: u32) {
    let scale = camera.scale();
    let back = -ball.facing.sign() as f32;
    let place = camera.project(at(ball.x.to_num(), ball.y.to_num()));
    let flicker = (age as f32 * 0.9).sin();
    for link in (1..=5_u8).rev() {
        let link = f32::from(link);
        let wave = (age as f32 * 0.5 - link * 1.1).sin() * link * 1.1;
        let center = place.plus(back * link * 7.0 * scale, wave * scale);
        canvas.disc(center, (11.0 - link * 1.7) * scale, glow.faded(0.44 - link * 0.06));
    }
    canvas.disc(place, (17.0 + flicker * 1.5) * scale, glow.faded(0.25));
    canvas.disc(place, (11.5 + flicker) * scale, glow);
    canvas.disc(place.plus(-back * 1.5 * scale, 0.0), 7.4 * scale, glow.lighter(0.6));
    canvas.disc(place.plus(-back * 2.5 * scale, 0.0), 4.2 * scale, WHITE);
}
