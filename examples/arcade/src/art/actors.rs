//! Ships, enemies, pickups and projectiles.

use super::camera::Camera;
use super::{CYAN, GOLD, LIVERIES, RED};
use crate::game::kind;
use crate::scene::{Actor, Flying, Scene};
use stage::{Canvas, Color, Point, rgb};

const WHITE: Color = rgb(0xFF_FF_FF);
const STEEL: Color = rgb(0x8C_98_AC);

/// A pen at a place, in units.
struct Pen<'a> {
    canvas: &'a mut dyn Canvas,
    center: Point,
    scale: f32,
    /// Everything is bright for a moment after a hit.
    is_hit: bool,
    /// How far the upper half leans, as a ship banks.
    bank: f32,
}

impl Pen<'_> {
    fn at(&self, x: f32, y: f32) -> Point {
        self.center.plus(x * self.scale, (y + self.bank * y.abs() * 0.15) * self.scale)
    }

    fn color(&self, color: Color) -> Color {
        if self.is_hit { color.lighter(0.65) } else { color }
    }

    fn shape<const N: usize>(&mut self, corners: [(f32, f32); N], color: Color) {
        let corners = corners.map(|(x, y)| self.at(x, y));
        let color = self.color(color);
        self.canvas.polygon(&corners, color);
    }

    fn disc(&mut self, x: f32, y: f32, radius: f32, color: Color) {
        let (place, color) = (self.at(x, y), self.color(color));
        self.canvas.disc(place, radius * self.scale, color);
    }

    fn bar(&mut self, from: (f32, f32), to: (f32, f32), radii: [f32; 2], color: Color) {
        let (from, to, color) = (self.at(from.0, from.1), self.at(to.0, to.1), self.color(color));
        self.canvas.capsule(from, to, radii.map(|radius| radius * self.scale), color);
    }
}

pub(super) fn paint(canvas: &mut dyn Canvas, camera: &Camera, scene: &Scene, actor: &Actor) {
    let center = camera.project(actor.x, actor.y);
    let bank = if actor.kind == kind::SHIP { (actor.climb / 165.0).clamp(-1.0, 1.0) } else { 0.0 };
    let mut pen = Pen { canvas, center, scale: camera.scale(), is_hit: actor.is_hit, bank };
    let beat = scene.age.wrapping_add(u32::from(actor.id) * 7) as f32;
    match actor.kind {
        kind::SHIP => paint_ship(&mut pen, scene, actor, beat),
        kind::DRONE => paint_drone(&mut pen, beat),
        kind::DART => paint_dart(&mut pen, beat),
        kind::WEAVER => paint_weaver(&mut pen, beat),
        kind::TURRET => paint_turret(&mut pen, beat),
        kind::BOSS => paint_boss(&mut pen, beat),
        kind::PICKUP => paint_pickup(&mut pen, beat),
        _ => {}
    }
}

fn paint_ship(pen: &mut Pen<'_>, scene: &Scene, actor: &Actor, beat: f32) {
    let livery = LIVERIES[scene.seat(actor.id) % LIVERIES.len()];
    let lives = scene.lives_of(actor.id);
    let is_wreck = lives == Some(0);
    if actor.blinks > 0 && !is_wreck && (scene.age / 4).is_multiple_of(2) {
        pen.disc(0.0, 0.0, 21.0, CYAN.faded(0.16));
        return;
    }
    let hull = if is_wreck { STEEL.darker(0.55) } else { rgb(0xDC_E6_F4) };
    let paint = if is_wreck { STEEL.darker(0.7) } else { livery };
    if !is_wreck {
        let flame = 9.0 + 3.5 * (beat * 0.9).sin() + 2.0 * (beat * 2.3).sin();
        pen.bar((-15.0, 0.0), (-17.0 - flame, 0.0), [4.6, 0.6], rgb(0xFF_7A_2C).faded(0.8));
        pen.bar((-15.0, 0.0), (-16.0 - flame * 0.55, 0.0), [2.6, 0.4], rgb(0xFF_F0_B0));
    }
    // Fins, the body, the nose, the canopy.
    pen.shape([(-16.0, -11.0), (-9.0, -11.0), (3.0, -3.0), (-14.0, -2.0)], paint.darker(0.15));
    pen.shape([(-16.0, 11.0), (-14.0, 2.0), (3.0, 3.0), (-9.0, 11.0)], paint.darker(0.35));
    pen.shape([(-17.0, -4.0), (6.0, -5.5), (21.0, 0.0), (6.0, 5.5), (-17.0, 4.0)], hull);
    pen.shape([(-17.0, 0.0), (21.0, 0.0), (6.0, 5.5), (-17.0, 4.0)], hull.darker(0.25));
    pen.bar((-12.0, -1.5), (2.0, -1.5), [1.6, 1.0], paint);
    pen.bar((4.0, -2.2), (11.0, -1.0), [2.6, 1.2], rgb(0x1C_3C_6A));
    pen.disc(6.0, -3.0, 1.0, WHITE.faded(0.8));
    if Some(actor.id) == scene.own && !is_wreck {
        pen.shape([(-4.0, -19.0), (4.0, -19.0), (0.0, -14.5)], livery.lighter(0.4));
    }
}

fn paint_drone(pen: &mut Pen<'_>, beat: f32) {
    let body = rgb(0xD8_4A_6A);
    for arm in 0..3_u8 {
        let angle = beat * 0.12 + f32::from(arm) * core::f32::consts::TAU / 3.0;
        let (sine, cosine) = angle.sin_cos();
        pen.bar((0.0, 0.0), (cosine * 12.0, sine * 12.0), [3.0, 1.4], STEEL);
        pen.disc(cosine * 12.0, sine * 12.0, 2.6, body.lighter(0.3));
    }
    pen.disc(0.0, 0.0, 8.5, body.darker(0.35));
    pen.disc(-1.0, -1.0, 7.0, body);
    pen.disc(-3.5, -1.5, 3.2, rgb(0xFF_F0_A0));
    pen.disc(-4.2, -1.8, 1.4, rgb(0x2A_08_10));
}

fn paint_dart(pen: &mut Pen<'_>, beat: f32) {
    let body = rgb(0xFF_A0_3C);
    let flame = 12.0 + 4.0 * (beat * 1.3).sin();
    pen.bar((12.0, 0.0), (12.0 + flame, 0.0), [3.4, 0.5], CYAN.faded(0.75));
    pen.shape([(-17.0, 0.0), (13.0, -8.5), (7.0, 0.0), (13.0, 8.5)], body.darker(0.3));
    pen.shape([(-17.0, 0.0), (13.0, -8.5), (7.0, 0.0)], body);
    pen.bar((-10.0, -0.8), (2.0, -0.8), [0.8, 1.6], rgb(0x40_18_08));
}

fn paint_weaver(pen: &mut Pen<'_>, beat: f32) {
    let body = rgb(0x6A_DC_9C);
    let flap = 8.0 + 5.0 * (beat * 0.3).sin();
    pen.shape([(-3.0, -2.0), (13.0, -flap - 6.0), (8.0, -1.0)], body.darker(0.3));
    pen.shape([(-3.0, 2.0), (8.0, 1.0), (13.0, flap + 6.0)], body.darker(0.45));
    pen.bar((-11.0, 0.0), (9.0, 0.0), [4.0, 6.5], body);
    pen.disc(-9.0, -2.2, 2.0, RED);
    pen.disc(-9.0, 2.2, 2.0, RED);
}

fn paint_turret(pen: &mut Pen<'_>, beat: f32) {
    let body = rgb(0x8C_84_C8);
    let glow = 0.5 + 0.5 * (beat * 0.1).sin();
    pen.bar((-4.0, 0.0), (-21.0, 0.0), [4.2, 3.2], STEEL.darker(0.25));
    pen.disc(-21.0, 0.0, 2.4, RED.faded(0.4 + 0.6 * glow));
    let corner = |n: u8| {
        let (sine, cosine) = (f32::from(n) * core::f32::consts::TAU / 8.0 + 0.39).sin_cos();
        (cosine * 16.0, sine * 16.0)
    };
    pen.shape(core::array::from_fn::<_, 8, _>(|n| corner(n as u8)), body.darker(0.4));
    pen.disc(-1.0, -1.5, 12.0, body.darker(0.1));
    pen.disc(-2.0, -2.5, 7.5, body.lighter(0.15));
    pen.disc(-3.0, -3.0, 3.6, rgb(0x20_14_40).mix(RED, glow * 0.7));
}

fn paint_boss(pen: &mut Pen<'_>, beat: f32) {
    let (hull, dark) = (rgb(0x7A_8C_74), rgb(0x3A_44_40));
    let pulse = 0.5 + 0.5 * (beat * 0.08).sin();
    // A tail that sways, armour, jaws, and an eye that is the heart of it.
    for link in (0..6_u8).rev() {
        let link = f32::from(link);
        let sway = (beat * 0.06 - link * 0.7).sin() * (3.0 + link * 2.4);
        pen.disc(26.0 + link * 11.0, sway, 15.0 - link * 2.0, dark.mix(hull, link / 8.0));
    }
    pen.shape([(-30.0, -12.0), (-2.0, -46.0), (34.0, -38.0), (44.0, 0.0), (-8.0, 0.0)], hull.darker(0.1));
    pen.shape([(-30.0, 12.0), (-8.0, 0.0), (44.0, 0.0), (34.0, 38.0), (-2.0, 46.0)], hull.darker(0.4));
    for plate in 0..4_u8 {
        let x = 4.0 + f32::from(plate) * 9.5;
        pen.bar((x, -33.0 + f32::from(plate)), (x + 3.0, 33.0 - f32::from(plate)), [2.2, 2.2], dark);
    }
    let bite = 7.0 + 4.0 * (beat * 0.1).sin();
    pen.shape([(-52.0, -bite), (-22.0, -25.0), (-14.0, -6.0)], dark.lighter(0.2));
    pen.shape([(-52.0, bite), (-14.0, 6.0), (-22.0, 25.0)], dark.lighter(0.05));
    pen.disc(-8.0, 0.0, 19.0, dark.darker(0.3));
    pen.disc(-9.0, 0.0, 15.0, RED.darker(0.4));
    pen.disc(-10.0, 0.0, 9.0 + 3.0 * pulse, RED.mix(GOLD, pulse));
    pen.disc(-12.0, -2.0, 4.2, WHITE);
}

fn paint_pickup(pen: &mut Pen<'_>, beat: f32) {
    let pulse = 0.5 + 0.5 * (beat * 0.2).sin();
    pen.disc(0.0, 0.0, 14.0 + 2.0 * pulse, GOLD.faded(0.22));
    pen.disc(0.0, 0.0, 9.5, rgb(0x5A_3C_08));
    pen.disc(0.0, 0.0, 8.0, GOLD);
    pen.bar((-4.0, -3.0), (4.0, -3.0), [1.5, 1.5], rgb(0x5A_3C_08));
    pen.bar((-4.0, 3.0), (4.0, 3.0), [1.5, 1.5], rgb(0x5A_3C_08));
}

pub(super) fn paint_shot(canvas: &mut dyn Canvas, camera: &Camera, shot: &Flying, age: u32) {
    let (place, scale) = (camera.project(shot.x, shot.y), camera.scale());
    if shot.kind == kind::BOLT {
        let tail = place.plus(-26.0 * scale, 0.0);
        canvas.capsule(tail, place, [0.6 * scale, 5.0 * scale], CYAN.faded(0.25));
        canvas.capsule(place.plus(-13.0 * scale, 0.0), place, [1.2 * scale, 2.4 * scale], CYAN);
        canvas.capsule(place.plus(-5.0 * scale, 0.0), place, [(1.3 * scale).max(0.5); 2], WHITE);
    } else {
        let beat = (age as f32 * 0.4).sin();
        canvas.disc(place, (7.5 + beat) * scale, RED.faded(0.3));
        canvas.disc(place, (4.6 * scale).max(0.7), RED.mix(GOLD, 0.35));
        canvas.disc(place, (2.3 * scale).max(0.4), WHITE);
    }
}

/// Where the last update has everything: a cross, and a thread to where it is drawn.
pub(super) fn paint_raw(canvas: &mut dyn Canvas, camera: &Camera, scene: &Scene) {
    let (scale, color) = (camera.scale(), rgb(0xFF_FF_FF));
    let thin = (1.2 * scale).max(0.5);
    for [raw, drawn] in &scene.raw {
        let (raw, drawn) = (camera.project(raw.0, raw.1), camera.project(drawn.0, drawn.1));
        canvas.line(raw, drawn, thin, color.faded(0.45));
        let arm = (6.0 * scale).max(1.0);
        canvas.line(raw.plus(-arm, 0.0), raw.plus(arm, 0.0), thin, color.faded(0.9));
        canvas.line(raw.plus(0.0, -arm), raw.plus(0.0, arm), thin, color.faded(0.9));
    }
}
