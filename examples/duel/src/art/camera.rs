//! The camera: which part of the stage is seen.

use games::duel::{Action, Duel, Fighter};
use stage::{Point, at};

/// How much of the stage the camera shows at least, and at most for the sake of the fighters' distance, in units across.
const NEAREST: f32 = 372.0;
const FARTHEST: f32 = 500.0;
/// Room left and right of the fighters.
const MARGIN: f32 = 200.0;
/// How far from its middle the stage is shown, unless somebody lies beyond.
const EDGE: f32 = 256.0;
/// How far a body reaches to both sides of its place: on its feet, and lying on its back.
const STANDING_REACH: f32 = 34.0;
const LYING_REACH: f32 = 66.0;
/// How far a body on its feet reaches above them, with the room for a raised arm.
const STANDING_HEIGHT: f32 = 120.0;
/// Where the fighters' feet are, as a share of the canvas from above.
const FLOOR: f32 = 0.84;
/// Where the floor meets the wall, as a share of the height of the fighters' feet.
const HORIZON: f32 = 0.845;
/// Units of the backdrop across a canvas, and above the fighters' feet.
const BACKDROP_WIDTH: f32 = 500.0;
const BACKDROP_HEIGHT: f32 = 236.0;

/// Where the camera looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CameraTarget {
    pub x: f32,
    /// Units across the canvas.
    pub span: f32,
    /// Units above the floor that must be seen.
    pub height: f32,
    pub shake: Point,
}

impl CameraTarget {
    pub const fn wide() -> Self {
        Self { x: 0.0, span: 420.0, height: STANDING_HEIGHT, shake: at(0.0, 0.0) }
    }

    /// Follows both fighters, without haste.
    pub fn follow(&mut self, duel: &Duel) {
        let aim = Self::at(duel);
        self.span += (aim.span - self.span) * 0.08;
        // Up at once with who jumps, and down again slowly.
        let quickness = if aim.height > self.height { 0.35 } else { 0.05 };
        self.height += (aim.height - self.height) * quickness;
        self.x += (aim.x - self.x) * 0.12;
    }

    /// The camera_target that shows both fighters best.
    pub fn at(duel: &Duel) -> Self {
        let [one, two] = duel.fighters.map(|fighter| fighter.x.to_num::<f32>());
        let left = duel.fighters.iter().map(|fighter| reach(fighter)[0]).fold(f32::INFINITY, f32::min);
        let right = duel.fighters.iter().map(|fighter| reach(fighter)[1]).fold(f32::NEG_INFINITY, f32::max);
        let highest = duel.fighters.iter().map(|fighter| fighter.y.to_num::<f32>()).fold(0.0, f32::max);
        let span = ((one - two).abs() + MARGIN).clamp(NEAREST, FARTHEST).max(right - left);
        let room = (EDGE - span / 2.0).max(0.0);
        // Nothing but the stage is seen, as long as nobody lies half outside for that.
        let x = f32::midpoint(one, two).clamp(-room, room).max(right - span / 2.0).min(left + span / 2.0);
        Self { x, span, height: STANDING_HEIGHT + highest, shake: at(0.0, 0.0) }
    }
}

/// From where to where a fighter's body is.
fn reach(fighter: &Fighter) -> [f32; 2] {
    let lies = matches!(fighter.action, Action::Down | Action::Launched | Action::Rise);
    let reach = if lies { LYING_REACH } else { STANDING_REACH };
    let x = fighter.x.to_num::<f32>();
    [x - reach, x + reach]
}

/// The pixels of a canvas that words and bars cover.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Covered {
    pub above: f32,
    pub below: f32,
}

/// A camera_target through a canvas: from the stage to pixels.
#[derive(Clone, Copy, Debug)]
pub struct Camera {
    camera_target: CameraTarget,
    width: f32,
    floor: f32,
    scale: f32,
}

impl Camera {
    pub fn new(camera_target: CameraTarget, width: f32, height: f32, covered: Covered) -> Self {
        // Feet are above everything that lies over the floor, with a little room for their shadows.
        let floor = (height * FLOOR).min(height - covered.below - height * 0.02 - 1.0).max(1.0);
        // A low canvas shows more of the stage instead of less of the fighters.
        let tallest = (floor - covered.above).max(1.0) / camera_target.height;
        Self { camera_target, width, floor, scale: (width / camera_target.span).min(tallest) }
    }

    /// Pixels to a unit.
    pub fn scale(&self) -> f32 {
        self.scale
    }

    /// The row of pixels that the fighters stand on.
    pub fn floor(&self) -> f32 {
        self.floor
    }

    /// The row where the floor meets the wall.
    pub fn horizon(&self) -> f32 {
        self.floor * HORIZON
    }

    pub fn project(&self, point: Point) -> Point {
        at(
            self.width / 2.0 + (point.x - self.camera_target.x + self.camera_target.shake.x) * self.scale,
            self.floor - (point.y + self.camera_target.shake.y) * self.scale,
        )
    }

    /// Pixels to a unit of the backdrop, which is not nearer or farther at any camera_target.
    pub fn far_scale(&self) -> f32 {
        (self.width / BACKDROP_WIDTH).min(self.floor / BACKDROP_HEIGHT)
    }

    /// Where something far behind the stage is seen: it moves less than the stage does.
    pub fn project_far(&self, x: f32, depth: f32) -> f32 {
        self.width / 2.0
            + (x - (self.camera_target.x - self.camera_target.shake.x) * depth) * self.far_scale()
    }

    /// How many things, each `apart` units from the next at this scale, it takes from the middle to beyond either edge.
    pub fn count_to_edge(&self, apart: f32, scale: f32) -> i16 {
        (self.width / 2.0 / (apart * scale).max(0.01)) as i16 + 4
    }
}
