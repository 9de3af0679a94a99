//! From units of the field to pixels: the field as large as it fits, in the middle.

use super::INK;
use crate::game::{BOTTOM, LEFT, RIGHT, TOP};
use stage::{Canvas, Point, at};

/// The scale and the corner of the field.
#[derive(Clone, Copy, Debug)]
pub(super) struct Camera {
    scale: f32,
    corner: Point,
}

pub(super) const WIDTH: f32 = (RIGHT - LEFT) as f32;
pub(super) const HEIGHT: f32 = (BOTTOM - TOP) as f32;

impl Camera {
    pub(super) fn new(width: f32, height: f32) -> Self {
        let scale = (width / WIDTH).min(height / HEIGHT);
        Self { scale, corner: at((width - WIDTH * scale) / 2.0, (height - HEIGHT * scale) / 2.0) }
    }

    /// Pixels a unit.
    pub(super) fn scale(&self) -> f32 {
        self.scale
    }

    /// A place of the game.
    pub(super) fn project(&self, x: f32, y: f32) -> Point {
        self.field(x - f32::from(LEFT), y - f32::from(TOP))
    }

    /// A place counted from the corner of the field.
    pub(super) fn field(&self, x: f32, y: f32) -> Point {
        at(self.corner.x + x * self.scale, self.corner.y + y * self.scale)
    }

    /// Covers what is outside the field.
    pub(super) fn frame(&self, canvas: &mut dyn Canvas) {
        let (width, height) = (canvas.width(), canvas.height());
        let Point { x, y } = self.corner;
        if y >= 0.5 {
            canvas.rect(at(0.0, 0.0), width, y, INK);
            canvas.rect(at(0.0, height - y), width, y, INK);
        }
        if x >= 0.5 {
            canvas.rect(at(0.0, 0.0), x, height, INK);
            canvas.rect(at(width - x, 0.0), x, height, INK);
        }
    }
}
