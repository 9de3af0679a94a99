//! The stage behind the fighters: sky, sun, hills, a gate with lanterns, and a wooden floor.

use super::camera::Camera;
use stage::{Canvas, Color, Point, at, rgb};

/// The light of one time of day.
struct Light {
    sky: [Color; 3],
    sun: Color,
    hills: [Color; 2],
    wood: Color,
    floor: [Color; 2],
    lantern: Color,
    stars: bool,
}

const SUNSET: Light = Light {
    sky: [rgb(0x2B_1B_4E), rgb(0xB4_3E_62), rgb(0xFF_A8_5C)],
    sun: rgb(0xFF_E2_A0),
    hills: [rgb(0x8A_38_5E), rgb(0x54_24_4C)],
    wood: rgb(0x2C_12_2A),
    floor: [rgb(0x8E_4A_3C), rgb(0x3C_1A_26)],
    lantern: rgb(0xFF_C4_66),
    stars: false,
};

const NIGHT: Light = Light {
    sky: [rgb(0x0A_0E_2A), rgb(0x1C_2A_5A), rgb(0x3E_54_8C)],
    sun: rgb(0xE8_EE_FF),
    hills: [rgb(0x22_30_5E), rgb(0x16_1E_42)],
    wood: rgb(0x0C_0E_22),
    floor: [rgb(0x3C_46_6C), rgb(0x16_1A_34)],
    lantern: rgb(0xFF_9E_54),
    stars: true,
};

const DAWN: Light = Light {
    sky: [rgb(0x3A_6E_A8), rgb(0xA8_B8_D0), rgb(0xFF_D8_B8)],
    sun: rgb(0xFF_F4_DC),
    hills: [rgb(0x8C_8E_B4), rgb(0x56_64_8C)],
    wood: rgb(0x30_2A_44),
    floor: [rgb(0xA0_80_6C), rgb(0x4E_3C_46)],
    lantern: rgb(0xFF_B4_6C),
    stars: false,
};

const FAR_HILLS: [f32; 13] = [0.10, 0.22, 0.16, 0.30, 0.44, 0.30, 0.20, 0.28, 0.18, 0.26, 0.38, 0.22, 0.14];
const NEAR_HILLS: [f32; 13] = [0.16, 0.08, 0.14, 0.10, 0.06, 0.12, 0.18, 0.10, 0.07, 0.14, 0.09, 0.13, 0.18];

/// Paints the stage. `chance` picks the light, `age` makes the lanterns sway.
pub fn paint(canvas: &mut dyn Canvas, camera: &Camera, chance: u32, age: u32) {
    let light = match chance % 3 {
        1 => &NIGHT,
        2 => &DAWN,
        _ => &SUNSET,
    };
    let (width, height, horizon) = (canvas.width(), canvas.height(), camera.horizon());
    let middle = horizon * 0.58;
    // A little longer than itself: where two of them meet within a row of pixels nothing else must shine through.
    canvas.gradient(at(0.0, 0.0), width, middle + 2.0, light.sky[0], light.sky[1]);
    canvas.gradient(at(0.0, middle), width, horizon - middle + 2.0, light.sky[1], light.sky[2]);
    if light.stars {
        paint_stars(canvas, horizon);
    }
    paint_sun(canvas, camera, light);
    paint_hills(canvas, camera, &FAR_HILLS, 0.25, horizon * 0.62, light.hills[0]);
    paint_hills(canvas, camera, &NEAR_HILLS, 0.4, horizon * 0.9, light.hills[1]);
    paint_floor(canvas, camera, light, height);
    paint_gate(canvas, camera, light, age);
}

/// Paints nothing but the floor, for a canvas without colours.
pub fn paint_plain(canvas: &mut dyn Canvas, camera: &Camera) {
    let (width, height) = (canvas.width(), canvas.height());
    canvas.rect(at(0.0, 0.0), width, height, rgb(0));
    let below = camera.floor() + 1.0;
    canvas.rect(at(0.0, below), width, height - below, rgb(0x50_50_50));
}

fn paint_stars(canvas: &mut dyn Canvas, horizon: f32) {
    let size = (canvas.width() / 960.0).max(0.35);
    let mut dice = 0x9E37_79B9_u32;
    for _ in 0..46 {
        dice ^= dice << 13;
        dice ^= dice >> 17;
        dice ^= dice << 5;
        let x = (dice & 0x3FF) as f32 / 1023.0 * canvas.width();
        let y = (dice >> 10 & 0x3FF) as f32 / 1023.0 * horizon * 0.7;
        let bright = 0.3 + (dice >> 20 & 7) as f32 / 10.0;
        canvas.disc(at(x, y), size * (0.8 + bright), rgb(0xFF_FF_FF).faded(bright));
    }
}

fn paint_sun(canvas: &mut dyn Canvas, camera: &Camera, light: &Light) {
    let radius = canvas.height() * 0.13;
    let center = at(camera.project_far(-40.0, 0.1), camera.horizon() * 0.62);
    for halo in 0..4_u8 {
        let wider = 1.0 + f32::from(4 - halo) * 0.28;
        canvas.disc(center, radius * wider, light.sun.faded(0.10));
    }
    canvas.disc(center, radius, light.sun);
}

fn paint_hills(
    canvas: &mut dyn Canvas,
    camera: &Camera,
    ridge: &[f32; 13],
    depth: f32,
    tall: f32,
    color: Color,
) {
    let base = camera.horizon() + 2.0;
    // The ridge goes on behind both edges, however wide the canvas is.
    let place = |index: i16| {
        let height = ridge[(i32::from(index) + 6).rem_euclid(13) as usize];
        at(camera.project_far(f32::from(index) * 55.0, depth), base - height * tall)
    };
    let count = camera.count_to_edge(55.0, camera.far_scale());
    for index in 1 - count..=count {
        let (left, right) = (place(index - 1), place(index));
        // A little wider than itself: two smooth edges side by side would let the sky through.
        canvas
            .polygon(&[left, right, right.plus(1.0, 0.0), at(right.x + 1.0, base), at(left.x, base)], color);
    }
}

fn paint_floor(canvas: &mut dyn Canvas, camera: &Camera, light: &Light, height: f32) {
    let (width, horizon) = (canvas.width(), camera.horizon());
    canvas.gradient(at(0.0, horizon), width, height - horizon, light.floor[0], light.floor[1]);
    // Planks run away from us: every seam passes its place on the fighters' line and meets the others far behind.
    let deep = (height - horizon) / (camera.floor() - horizon);
    let seam_width = (height / 270.0).max(0.6);
    let count = camera.count_to_edge(46.0 * 0.52, camera.scale());
    for plank in -count..=count {
        let near = camera.project(at(f32::from(plank) * 46.0, 0.0)).x;
        let far = width / 2.0 + (near - width / 2.0) * 0.52;
        let front = far + (near - far) * deep;
        canvas.line(at(far, horizon), at(front, height), seam_width, light.floor[1].faded(0.6));
    }
    for step in 1..=4_u8 {
        let share = (f32::from(step) / 5.0).powf(1.7);
        let y = horizon + (height - horizon) * share;
        canvas.rect(at(0.0, y), width, seam_width * 0.8, light.floor[1].faded(0.35));
    }
    canvas.rect(at(0.0, horizon), width, (height / 180.0).max(1.0), light.wood);
}

fn paint_gate(canvas: &mut dyn Canvas, camera: &Camera, light: &Light, age: u32) {
    let depth = 0.7;
    let unit = camera.far_scale();
    let foot = camera.horizon() + 1.0;
    let spot = |x: f32, up: f32| at(camera.project_far(x, depth), foot - up * unit);
    let beam = |canvas: &mut dyn Canvas, left: Point, right: Point, thick: f32| {
        canvas.polygon(
            &[left, right, right.plus(-2.0 * unit, thick * unit), left.plus(2.0 * unit, thick * unit)],
            light.wood,
        );
    };
    for x in [-118.0, 118.0] {
        let top = spot(x, 128.0);
        canvas.rect(top.plus(-5.0 * unit, 0.0), 10.0 * unit, foot - top.y, light.wood);
        canvas.rect(spot(x, 8.0).plus(-7.5 * unit, 0.0), 15.0 * unit, 8.0 * unit, light.wood);
    }
    beam(canvas, spot(-172.0, 146.0), spot(0.0, 136.0), 11.0);
    beam(canvas, spot(0.0, 136.0), spot(172.0, 146.0), 11.0);
    beam(canvas, spot(-140.0, 112.0), spot(140.0, 112.0), 7.0);
    canvas.rect(spot(-5.0, 136.0), 10.0 * unit, 26.0 * unit, light.wood);
    // A low fence closes the yard.
    canvas.rect(at(0.0, foot - 15.0 * unit), canvas.width(), 3.0 * unit, light.wood);
    let count = camera.count_to_edge(34.0, unit);
    for post in -count..=count {
        let top = spot(f32::from(post) * 34.0, 19.0);
        canvas.rect(top.plus(-1.5 * unit, 0.0), 3.0 * unit, 19.0 * unit, light.wood);
    }
    for (index, x) in [-82.0, -46.0, 46.0, 82.0].into_iter().enumerate() {
        let sway = ((age as f32) * 0.03 + index as f32 * 1.7).sin() * 1.6;
        let hook = spot(x, 106.0);
        let heart = hook.plus(sway * unit, 15.0 * unit);
        canvas.line(hook, heart, unit.max(0.5), light.wood);
        canvas.disc(heart, 13.0 * unit, light.lantern.faded(0.16));
        canvas.capsule(
            heart.plus(0.0, -2.0 * unit),
            heart.plus(0.0, 2.0 * unit),
            [5.4 * unit; 2],
            light.lantern,
        );
    }
}
