//! Space behind the field: nebulae, a planet, three layers of stars, and rocks above and below, each at its own pace.

use super::camera::{Camera, HEIGHT, WIDTH};
use stage::{Canvas, Color, rgb};

/// Two colours of the sky and one of its nebulae; levels take turns.
const SKIES: [(u32, u32, u32); 4] = [
    (0x06_0A_24, 0x1C_10_38, 0x4A_2C_8C),
    (0x04_14_22, 0x08_2C_34, 0x1C_7C_7A),
    (0x1A_06_1C, 0x38_0C_20, 0x9C_2C_4A),
    (0x08_10_14, 0x22_22_10, 0x8C_6A_1C),
];

/// A number of its own for everything that is strewn.
fn dice(seed: u32) -> u32 {
    let mut mixed = seed.wrapping_add(1).wrapping_mul(0x9E37_79B9);
    mixed ^= mixed >> 15;
    mixed = mixed.wrapping_mul(0x85EB_CA6B);
    mixed ^ mixed >> 13
}

fn share(dice: u32) -> f32 {
    (dice & 0xFFFF) as f32 / 65_536.0
}

pub(super) fn paint(canvas: &mut dyn Canvas, camera: &Camera, age: u32, level: u16) {
    let (above, below, mist) = SKIES[usize::from(level.saturating_sub(1)) % SKIES.len()];
    let scale = camera.scale();
    canvas.gradient(camera.field(0.0, 0.0), WIDTH * scale, HEIGHT * scale, rgb(above), rgb(below));
    paint_nebulae(canvas, camera, age, rgb(mist));
    paint_planet(canvas, camera, age, rgb(mist));
    // Count, units a frame, radius, brightness.
    for (layer, (count, speed, radius, bright)) in
        (0..).zip([(70, 0.25, 0.7, 0.45), (45, 0.7, 1.0, 0.7), (22, 1.9, 1.3, 1.0)])
    {
        paint_stars(canvas, camera, age, layer, count, speed, radius, bright);
    }
    paint_rocks(canvas, camera, age, rgb(below).mix(rgb(mist), 0.45));
}

/// A place that drifts to the left and comes back on the right.
fn drift(start: f32, age: u32, speed: f32, wide: f32) -> f32 {
    (start * wide - age as f32 * speed).rem_euclid(wide)
}

fn paint_nebulae(canvas: &mut dyn Canvas, camera: &Camera, age: u32, mist: Color) {
    let scale = camera.scale();
    for cloud in 0..7_u32 {
        let (a, b) = (dice(cloud * 2 + 900), dice(cloud * 2 + 901));
        let x = drift(share(a), age, 0.12, WIDTH + 400.0) - 200.0;
        let y = share(b) * HEIGHT;
        // Many faint rings have no visible rim.
        for ring in 1..=7_u8 {
            let radius = (100.0 + share(a >> 8) * 80.0) * f32::from(ring) / 7.0 * scale;
            canvas.disc(camera.field(x, y), radius, mist.faded(0.022));
        }
    }
}

fn paint_planet(canvas: &mut dyn Canvas, camera: &Camera, age: u32, mist: Color) {
    let scale = camera.scale();
    let center = camera.field(drift(0.62, age, 0.06, WIDTH + 300.0) - 60.0, 92.0);
    let color = mist.lighter(0.25);
    canvas.disc(center, 47.0 * scale, color.faded(0.12));
    canvas.disc(center, 42.0 * scale, color.darker(0.45));
    canvas.disc(center.plus(-5.0 * scale, -5.0 * scale), 36.0 * scale, color.darker(0.25));
    canvas.disc(center.plus(-11.0 * scale, -11.0 * scale), 22.0 * scale, color.darker(0.05));
    let ring = |side: f32| center.plus(74.0 * side * scale, 13.0 * side * scale);
    canvas.line(ring(-1.0), ring(1.0), 2.2 * scale, color.lighter(0.3).faded(0.5));
}

#[allow(clippy::too_many_arguments)]
fn paint_stars(
    canvas: &mut dyn Canvas,
    camera: &Camera,
    age: u32,
    layer: u32,
    count: u32,
    speed: f32,
    radius: f32,
    bright: f32,
) {
    let scale = camera.scale();
    for star in 0..count {
        let (a, b) = (dice(layer * 1_000 + star * 2), dice(layer * 1_000 + star * 2 + 1));
        let (x, y) = (drift(share(a), age, speed, WIDTH), share(b) * HEIGHT);
        let twinkle = 0.75 + 0.25 * (age as f32 * 0.05 + star as f32).sin();
        let color = [rgb(0xFF_FF_FF), rgb(0xBC_D8_FF), rgb(0xFF_E4_B8)][(b >> 18) as usize % 3];
        let color = color.faded(bright * twinkle);
        let place = camera.field(x, y);
        if layer == 2 {
            // The nearest are streaks.
            canvas.capsule(place, place.plus(7.0 * scale, 0.0), [radius * scale * 0.7, 0.2], color);
        } else {
            canvas.disc(place, (radius * scale).max(0.35), color);
        }
    }
}

/// Jagged rocks along the upper and the lower edge, in two layers.
fn paint_rocks(canvas: &mut dyn Canvas, camera: &Camera, age: u32, color: Color) {
    for (layer, speed, tall, dark) in [(0_u32, 0.9, 26.0, 0.35), (1, 1.7, 15.0, 0.7)] {
        const STEP: f32 = 40.0;
        let passed = age as f32 * speed;
        let first = (passed / STEP).floor();
        let height = |n: f32| tall * (0.25 + 0.75 * share(dice(layer * 7_919 + n as u32)));
        for column in 0..=(WIDTH / STEP) as u32 {
            let n = first + column as f32;
            let (left, right) = (n * STEP - passed, (n + 1.0) * STEP - passed);
            let (here, next) = (height(n), height(n + 1.0));
            let color = color.darker(dark);
            let p = |x: f32, y: f32| camera.field(x.clamp(0.0, WIDTH), y);
            let low = [p(left, HEIGHT), p(left, HEIGHT - here), p(right, HEIGHT - next), p(right, HEIGHT)];
            canvas.polygon(&low, color);
            let (here, next) = (height(n + 5_000.0) * 0.7, height(n + 5_001.0) * 0.7);
            canvas.polygon(&[p(left, 0.0), p(right, 0.0), p(right, next), p(left, here)], color);
        }
    }
}
