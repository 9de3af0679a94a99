//! The fireball.

use rebout::fields;

use super::area::Area;
use super::{Facing, Fx, STAGE_HALF_WIDTH};

const SPEED: Fx = Fx::lit("4.8");
const HEIGHT: Fx = Fx::lit("58");
const RADIUS: Fx = Fx::lit("9");
/// It burns out a little behind the edge of the stage.
const MARGIN: Fx = Fx::lit("40");

/// A fireball on its way.
#[derive(Clone, Copy, Debug)]
pub struct Projectile {
    pub x: Fx,
    pub y: Fx,
    pub facing: Facing,
    pub since: u16,
}
fields!(Projectile { x, y, facing, since });

impl Projectile {
    pub fn cast(x: Fx, facing: Facing) -> Self {
        Self { x, y: HEIGHT, facing, since: 0 }
    }

    /// One frame on; `None` once it has left the stage.
    pub fn moved(self) -> Option<Self> {
        let x = self.x + SPEED * self.facing.sign();
        let inside = x.abs() <= STAGE_HALF_WIDTH + MARGIN;
        inside.then_some(Self { x, since: self.since.saturating_add(1), ..self })
    }

    pub fn area(&self) -> Area {
        Area { left: self.x - RADIUS, right: self.x + RADIUS, bottom: self.y - RADIUS, top: self.y + RADIUS }
    }

    pub fn approaches(&self, x: Fx) -> bool {
        (x - self.x) * self.facing.sign() > Fx::ZERO
    }
}
