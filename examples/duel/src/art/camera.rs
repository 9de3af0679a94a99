//! The camera: which part of the stage is seen.

use games::duel::Duel;
use stage::{Point, at};

/// How much of the stage the camera shows at least and at most, in units across.
const NEAREST: f32 = 372.0;
const FARTHEST: f32 = 500.0;
/// Room left and right of the fighters.
const MARGIN: f32 = 200.0;
/// Where the fighters' feet are, as a share of the canvas from above.
const FLOOR: f32 = 0.84;

/// Where the camera looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gaze {
    pub x: f32,
    /// Units across the canvas.
    pub span: f32,
    pub shake: Point,
}

impl Gaze {
    pub const fn wide() -> Self {
        Self { x: 0.0, span: 420.0, shake: at(0.0, 0.0) }
    }

    /// Follows both fighters, without haste.
    pub fn follow(&mut self, duel: &Duel) {
        let [one, two] = duel.fighters.map(|fighter| fighter.x.to_num::<f32>());
        let highest = duel.fighters.iter().map(|fighter| fighter.y.to_num::<f32>()).fold(0.0, f32::max);
        // Whoever jumps stays in the picture.
        let span = ((one - two).abs() + MARGIN).max(310.0 + highest * 1.35).clamp(NEAREST, FARTHEST);
        self.span += (span - self.span) * 0.08;
        // Nothing but the stage is ever seen.
        let room = (FARTHEST - self.span) / 2.0 + 6.0;
        let x = f32::midpoint(one, two).clamp(-room, room);
        self.x += (x - self.x) * 0.12;
    }
}

/// A gaze through a canvas: from the stage to pixels.
#[derive(Clone, Copy, Debug)]
pub struct Camera {
    gaze: Gaze,
    width: f32,
    height: f32,
    scale: f32,
}

impl Camera {
    pub fn new(gaze: Gaze, width: f32, height: f32) -> Self {
        // A narrow canvas shows less of the height instead of less of the fighters.
        Self { gaze, width, height, scale: width / gaze.span }
    }

    /// Pixels to a unit.
    pub fn scale(&self) -> f32 {
        self.scale
    }

    /// The row of pixels that the fighters stand on.
    pub fn floor(&self) -> f32 {
        self.height * FLOOR
    }

    /// The row where the floor meets the wall.
    pub fn horizon(&self) -> f32 {
        self.height * 0.71
    }

    pub fn project(&self, point: Point) -> Point {
        at(
            self.width / 2.0 + (point.x - self.gaze.x + self.gaze.shake.x) * self.scale,
            self.floor() - (point.y + self.gaze.shake.y) * self.scale,
        )
    }

    /// Where something far behind the stage is seen: it moves less than the stage does.
    pub fn project_far(&self, x: f32, depth: f32) -> f32 {
        let scale = self.width / FARTHEST;
        self.width / 2.0 + (x - (self.gaze.x - self.gaze.shake.x) * depth) * scale
    }
}
