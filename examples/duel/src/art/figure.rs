//! A fighter's body: the skeleton that a pose bends, and the limbs drawn over it.

use super::camera::Camera;
use super::pose::Pose;
use games::duel::Character;
use stage::{Canvas, Color, Point, at, rgb};

const SPINE: f32 = 31.0;
const NECK: f32 = 12.0;
const UPPER_ARM: f32 = 17.0;
const FOREARM: f32 = 17.0;
const THIGH: f32 = 24.0;
const SHIN: f32 = 23.0;
const HEAD_RADIUS: f32 = 8.8;
const FOOT: f32 = 9.0;
const FOOT_RADIUS: f32 = 3.6;
/// The hips of a fighter in the air, above its feet.
const AIR_HIPS: f32 = 44.0;
/// The same once it is flung on its back: it must not fall through the floor when it lands.
const LYING_HIPS: f32 = 16.0;

/// The joints of a body on the stage, y upward.
#[derive(Clone, Copy, Debug)]
pub struct Joints {
    pub hips: Point,
    pub chest: Point,
    pub head: Point,
    /// Shoulder, elbow, hand.
    pub near_arm: [Point; 3],
    pub far_arm: [Point; 3],
    /// Hip, knee, ankle, toe.
    pub near_leg: [Point; 4],
    pub far_leg: [Point; 4],
}

impl Joints {
    /// Bends the skeleton of a fighter into `pose`, standing at `place` (between its feet) and looking to `side` (1 right,
    /// -1 left).
    pub fn of(pose: &Pose, character: Character, place: Point, side: f32, airborne: bool) -> Self {
        let chest = along(at(0.0, 0.0), 180.0 - pose.spine, SPINE);
        let head = along(chest, 180.0 - (pose.spine + pose.head) / 2.0, NECK);
        let arm = |shoulder: Point, [upper, fore]: [f32; 2]| {
            let elbow = along(shoulder, upper, UPPER_ARM);
            [shoulder, elbow, along(elbow, fore, FOREARM)]
        };
        let leg = |hip: Point, [thigh, shin]: [f32; 2]| {
            let knee = along(hip, thigh, THIGH);
            let ankle = along(knee, shin, SHIN);
            // A foot is square to its shin, but never points into the floor it stands on.
            [hip, knee, ankle, along(ankle, (shin + 84.0).clamp(66.0, 200.0), FOOT)]
        };
        let mut joints = Self {
            hips: at(0.0, 0.0),
            chest,
            head,
            near_arm: arm(chest.plus(-3.0, -3.0), pose.near_arm),
            far_arm: arm(chest.plus(4.0, -3.0), pose.far_arm),
            near_leg: leg(at(-2.5, 0.0), pose.near_leg),
            far_leg: leg(at(2.5, 0.0), pose.far_leg),
        };
        let size = Physique::of(character).size;
        joints.each(|point| turned(at(point.x * size, point.y * size), pose.turn));
        let lowest = joints.lowest();
        // On the ground the lowest part rests on it; in the air the hips lead.
        let upright = pose.turn.to_radians().cos().max(0.0);
        let hips = LYING_HIPS + (AIR_HIPS * size - LYING_HIPS) * upright;
        let raise = if airborne { hips.max(-lowest) } else { -lowest + pose.lift };
        joints.each(|point| at(place.x + point.x * side, place.y + point.y + raise));
        joints
    }

    fn each(&mut self, change: impl Fn(Point) -> Point) {
        let limbs = self.near_arm.iter_mut().chain(&mut self.far_arm);
        let legs = self.near_leg.iter_mut().chain(&mut self.far_leg);
        let body = [&mut self.hips, &mut self.chest, &mut self.head];
        body.into_iter().chain(limbs).chain(legs).for_each(|point| *point = change(*point));
    }

    fn lowest(&self) -> f32 {
        let feet = self.near_leg[1..].iter().chain(&self.far_leg[1..]).map(|point| point.y - FOOT_RADIUS);
        let body = [self.hips.y - 8.0, self.chest.y - 8.5, self.head.y - HEAD_RADIUS];
        feet.chain(body).fold(f32::INFINITY, f32::min)
    }
}

fn along(from: Point, degrees: f32, length: f32) -> Point {
    let (sine, cosine) = degrees.to_radians().sin_cos();
    at(from.x + sine * length, from.y - cosine * length)
}

fn turned(point: Point, degrees: f32) -> Point {
    if degrees == 0.0 {
        return point;
    }
    // Positive turns ahead, as the spine does.
    let (sine, cosine) = (-degrees).to_radians().sin_cos();
    at(point.x * cosine - point.y * sine, point.x * sine + point.y * cosine)
}

/// The build of a body: how tall it is, and how thick its limbs are, as shares of the usual.
#[derive(Clone, Copy, Debug)]
struct Physique {
    size: f32,
    bulk: f32,
}

impl Physique {
    const fn of(character: Character) -> Self {
        match character {
            Character::Kaito => Self { size: 1.0, bulk: 1.0 },
            Character::Rai => Self { size: 1.08, bulk: 1.22 },
        }
    }
}

/// The colours of one fighter.
#[derive(Clone, Copy, Debug)]
pub struct Outfit {
    /// Its name in the settings.
    pub name: &'static str,
    pub cloth: Color,
    pub trim: Color,
    pub skin: Color,
    pub hair: Color,
    /// Fireballs and bars.
    pub glow: Color,
}

/// The outfits that a player can choose from; without a choice the fighters wear the first two.
pub const OUTFITS: [Outfit; 5] = [
    Outfit {
        name: "white",
        cloth: rgb(0xF2_EC_DC),
        trim: rgb(0xD0_2B_35),
        skin: rgb(0xE8_B0_88),
        hair: rgb(0x3A_22_1C),
        glow: rgb(0x54_C8_FF),
    },
    Outfit {
        name: "blue",
        cloth: rgb(0x2E_4C_9E),
        trim: rgb(0xF6_C2_3C),
        skin: rgb(0xB9_7A_52),
        hair: rgb(0x16_10_18),
        glow: rgb(0xFF_9A_3C),
    },
    Outfit {
        name: "black",
        cloth: rgb(0x2A_26_30),
        trim: rgb(0x8C_E0_8C),
        skin: rgb(0xD8_A0_78),
        hair: rgb(0xE8_E0_D0),
        glow: rgb(0x8C_F0_8C),
    },
    Outfit {
        name: "orange",
        cloth: rgb(0xE0_7A_2C),
        trim: rgb(0x2A_2E_6E),
        skin: rgb(0xE8_B0_88),
        hair: rgb(0x1C_14_20),
        glow: rgb(0xFF_E0_6A),
    },
    Outfit {
        name: "violet",
        cloth: rgb(0x7A_4A_B0),
        trim: rgb(0xF0_D8_F0),
        skin: rgb(0xB9_7A_52),
        hair: rgb(0x10_0C_18),
        glow: rgb(0xE4_7C_FF),
    },
];

/// How a figure is to be painted this frame.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    pub character: Character,
    pub outfit: Outfit,
    pub side: f32,
    /// 0 to 1: how white a blow has just made it.
    pub flash: f32,
    /// Drives what flutters.
    pub age: f32,
    /// How fast the body moves, for what trails behind it.
    pub drift: f32,
}

const OUTLINE: Color = rgb(0x17_0D_1F);

/// Paints the body, outline first, far side first.
pub fn paint(canvas: &mut dyn Canvas, camera: &Camera, joints: &Joints, look: &Look) {
    let bulk = Physique::of(look.character).bulk;
    let mut brush = Brush { canvas, camera, flash: look.flash, outline: true, bulk };
    let Outfit { cloth, trim, skin, hair, .. } = look.outfit;
    for outline in [true, false] {
        brush.outline = outline;
        if look.character == Character::Kaito {
            paint_band(&mut brush, joints, look);
        }
        paint_leg(&mut brush, &joints.far_leg, cloth.darker(0.3), skin.darker(0.1));
        paint_arm(&mut brush, &joints.far_arm, cloth.darker(0.3), skin.darker(0.1), trim.darker(0.3));
        paint_leg(&mut brush, &joints.near_leg, cloth.darker(0.1), skin);
        brush.limb(joints.hips, joints.chest.toward(joints.hips, 0.12), [8.2, 10.2], cloth.darker(0.04));
        brush.limb(joints.chest, joints.head, [4.2, 3.8], skin.darker(0.15));
        paint_head(&mut brush, joints, look, skin, hair);
        paint_belt(&mut brush, joints, look, trim);
        paint_arm(&mut brush, &joints.near_arm, cloth, skin, trim);
    }
}

/// Paints the body as a shade of one colour: where it was shown before a rollback put it elsewhere.
pub fn paint_shade(canvas: &mut dyn Canvas, camera: &Camera, joints: &Joints, color: Color) {
    let scale = camera.scale();
    let mut limb = |from: Point, to: Point, radius: f32| {
        canvas.capsule(camera.project(from), camera.project(to), [radius * scale; 2], color);
    };
    for [hip, knee, ankle, toe] in [joints.far_leg, joints.near_leg] {
        limb(hip, knee, 7.0);
        limb(knee, ankle, 5.0);
        limb(ankle, toe, 3.0);
    }
    for [shoulder, elbow, hand] in [joints.far_arm, joints.near_arm] {
        limb(shoulder, elbow, 5.0);
        limb(elbow, hand, 4.0);
    }
    limb(joints.hips, joints.chest, 9.0);
    limb(joints.head, joints.head, HEAD_RADIUS);
}

struct Brush<'a> {
    canvas: &'a mut dyn Canvas,
    camera: &'a Camera,
    flash: f32,
    outline: bool,
    /// How thick limbs are.
    bulk: f32,
}

impl Brush<'_> {
    fn limb(&mut self, from: Point, to: Point, radii: [f32; 2], color: Color) {
        let scale = self.camera.scale();
        let radii = radii.map(|radius| radius * self.bulk);
        let (from, to) = (self.camera.project(from), self.camera.project(to));
        if self.outline {
            let wider = radii.map(|radius| radius * scale + (1.3 * scale).min(2.6));
            self.canvas.capsule(from, to, wider, OUTLINE);
            return;
        }
        let color = color.lighter(self.flash);
        let radii = radii.map(|radius| radius * scale);
        self.canvas.capsule(from, to, radii, color);
        // Light from above: a thinner, brighter limb on the upper side.
        if scale > 1.2 {
            let up = -radii[0].min(radii[1]) * 0.34;
            let thin = radii.map(|radius| radius * 0.5);
            self.canvas.capsule(from.plus(0.0, up), to.plus(0.0, up), thin, color.lighter(0.12).faded(0.55));
        }
    }
}

fn paint_leg(brush: &mut Brush<'_>, [hip, knee, ankle, toe]: &[Point; 4], cloth: Color, skin: Color) {
    brush.limb(*hip, *knee, [8.4, 6.4], cloth);
    brush.limb(*knee, knee.toward(*ankle, 0.72), [6.4, 6.0], cloth.darker(0.06));
    brush.limb(knee.toward(*ankle, 0.8), *ankle, [3.6, 3.4], skin);
    brush.limb(*ankle, *toe, [FOOT_RADIUS, 2.6], skin);
}

fn paint_arm(
    brush: &mut Brush<'_>,
    [shoulder, elbow, hand]: &[Point; 3],
    cloth: Color,
    skin: Color,
    trim: Color,
) {
    brush.limb(*shoulder, shoulder.toward(*elbow, 0.75), [5.8, 5.4], cloth);
    brush.limb(shoulder.toward(*elbow, 0.8), *elbow, [4.2, 4.2], skin);
    brush.limb(*elbow, *hand, [4.2, 3.4], skin);
    brush.limb(elbow.toward(*hand, 0.72), elbow.toward(*hand, 0.84), [4.0, 4.0], trim);
    brush.limb(*hand, *hand, [4.7, 4.7], skin.lighter(0.06));
}

fn paint_head(brush: &mut Brush<'_>, joints: &Joints, look: &Look, skin: Color, hair: Color) {
    let head = joints.head;
    // The head's own axes: up from the chest, and ahead.
    let (up_x, up_y) = unit(joints.chest, head);
    let (ahead_x, ahead_y) = (up_y * look.side, -up_x * look.side);
    let spot =
        |ahead: f32, up: f32| at(head.x + ahead_x * ahead + up_x * up, head.y + ahead_y * ahead + up_y * up);
    match look.character {
        Character::Kaito => {
            brush.limb(spot(-2.0, 3.4), spot(-1.6, 1.0), [8.2, 8.6], hair);
            brush.limb(spot(1.4, -0.6), spot(1.6, -2.6), [7.4, 6.4], skin);
            brush.limb(spot(-1.5, 6.4), spot(3.8, 6.0), [4.0, 3.0], hair);
            if !brush.outline {
                brush.limb(spot(-7.0, 2.6), spot(7.4, 3.0), [1.7, 1.7], look.outfit.trim);
            }
        }
        // A shaved head with a knot of hair, and a beard.
        Character::Rai => {
            brush.limb(spot(-4.6, 9.2), spot(-7.4, 10.6), [3.0, 2.2], hair);
            brush.limb(spot(-0.6, 1.6), spot(0.8, -1.6), [7.2, 6.4], skin);
            brush.limb(spot(0.2, -5.8), spot(4.6, -5.2), [3.0, 2.4], hair);
            if !brush.outline {
                brush.limb(spot(-3.2, 7.4), spot(-4.4, 8.4), [1.5, 1.5], look.outfit.trim);
            }
        }
    }
    if !brush.outline {
        brush.limb(spot(5.4, 0.2), spot(5.6, -0.8), [0.9, 0.9], OUTLINE);
    }
}

/// The tails of the headband, fluttering behind.
fn paint_band(brush: &mut Brush<'_>, joints: &Joints, look: &Look) {
    let mut from = at(joints.head.x - look.side * 7.0, joints.head.y + 2.6);
    for link in 1..=3_u8 {
        let phase = look.age * 0.16 - f32::from(link) * 0.9;
        let lag = (look.drift * look.side).clamp(-4.0, 4.0);
        let to = from.plus(-look.side * (5.0 + lag.max(-1.0)), -1.4 + phase.sin() * 2.2 - lag * 0.2);
        brush.limb(from, to, [1.7, 1.5], look.outfit.trim);
        from = to;
    }
}

fn paint_belt(brush: &mut Brush<'_>, joints: &Joints, look: &Look, trim: Color) {
    let waist = joints.hips.toward(joints.chest, 0.16);
    let (along_x, along_y) = unit(joints.hips, joints.chest);
    let (across_x, across_y) = (along_y, -along_x);
    let spot = |across: f32| at(waist.x + across_x * across, waist.y + across_y * across);
    if !brush.outline {
        brush.limb(spot(-7.0), spot(7.0), [2.1, 2.1], trim);
    }
    let knot = spot(5.0 * look.side);
    let swing = (look.age * 0.1).sin() * 1.6 - look.drift.clamp(-4.0, 4.0) * 1.2;
    brush.limb(knot, knot.plus(swing, -9.0), [1.7, 1.4], trim.darker(0.08));
    // The lapels of the jacket.
    if !brush.outline {
        let chest = joints.chest.toward(joints.hips, 0.1);
        let collar = at(chest.x + across_x * 4.5 * look.side, chest.y + across_y * 4.5 * look.side);
        brush.limb(collar, spot(1.0 * look.side), [0.9, 0.9], look.outfit.cloth.darker(0.3));
    }
}

fn unit(from: Point, to: Point) -> (f32, f32) {
    let (x, y) = (to.x - from.x, to.y - from.y);
    let length = x.hypot(y).max(0.001);
    (x / length, y / length)
}
