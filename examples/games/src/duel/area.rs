//! Boxes on the stage: what hits, what can be hit, and what cannot be walked through.

use super::action::Action;
use super::fighter::Fighter;
use super::moves::{Move, Reach};
use super::{Facing, Fx};

/// A box on the stage.
#[derive(Clone, Copy, Debug)]
pub struct Area {
    pub left: Fx,
    pub right: Fx,
    pub bottom: Fx,
    pub top: Fx,
}

impl Area {
    pub fn overlaps(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.bottom < other.top
            && other.bottom < self.top
    }

    /// The middle of what two boxes share: where the spark goes.
    pub fn meeting_point(&self, other: &Self) -> (Fx, Fx) {
        let middle = |a: Fx, b: Fx| (a + b) / 2;
        (
            middle(self.left.max(other.left), self.right.min(other.right)),
            middle(self.bottom.max(other.bottom), self.top.min(other.top)),
        )
    }

    fn ahead_of(fighter: &Fighter, reach: Reach) -> Self {
        let near = fighter.x + Fx::from_num(reach.near) * fighter.facing.sign();
        let far = fighter.x + Fx::from_num(reach.far) * fighter.facing.sign();
        let (left, right) = match fighter.facing {
            Facing::Right => (near, far),
            Facing::Left => (far, near),
        };
        Self {
            left,
            right,
            bottom: fighter.y + Fx::from_num(reach.low),
            top: fighter.y + Fx::from_num(reach.high),
        }
    }

    fn around(fighter: &Fighter, half_width: i16, low: i16, high: i16) -> Self {
        Self {
            left: fighter.x - Fx::from_num(half_width),
            right: fighter.x + Fx::from_num(half_width),
            bottom: fighter.y + Fx::from_num(low),
            top: fighter.y + Fx::from_num(high),
        }
    }
}

impl Fighter {
    /// The blow of this frame, if there is one.
    pub fn hit_area(&self) -> Option<(Move, Area)> {
        match self.action {
            Action::Attack(Move::Throw | Move::Fireball) => None,
            Action::Attack(attack) if self.data(attack).is_active(self.since) && !self.connected => {
                Some((attack, Area::ahead_of(self, self.data(attack).reach)))
            }
            _ => None,
        }
    }

    /// Where the fighter can be hit: the body, and the limb that it has put out.
    pub fn hurt_areas(&self) -> [Area; 2] {
        let build = self.character.build();
        let body = match self.action {
            Action::Air | Action::Attack(Move::AirLight | Move::AirHeavy) => {
                Area::around(self, build.half_width - 1, 14, build.stand_height - 4)
            }
            Action::Attack(Move::Heel) if self.airborne() => {
                Area::around(self, build.half_width - 1, 14, build.stand_height - 4)
            }
            // Under a fireball, whose lower edge is at 49.
            Action::Attack(Move::Charge) => Area::around(self, build.half_width + 3, 0, 48),
            Action::Launched => Area::around(self, 20, 6, 60),
            _ if self.crouching => Area::around(self, build.half_width + 1, 0, build.crouch_height),
            _ => Area::around(self, build.half_width, 0, build.stand_height),
        };
        let limb = match self.action {
            Action::Attack(attack) => {
                let data = self.data(attack);
                let out = self.since >= data.startup && self.since < data.startup + data.active + 4;
                // The fist itself may be struck, but not its very tip: the longer reach wins.
                let shorter = Reach { far: data.reach.far - 14, ..data.reach };
                out.then(|| Area::ahead_of(self, shorter))
            }
            _ => None,
        };
        [body, limb.unwrap_or(body)]
    }

    /// The area that the other fighter cannot walk through.
    pub fn push_area(&self) -> Area {
        if self.airborne() {
            Area::around(self, 12, 20, 70)
        } else {
            let build = self.character.build();
            let height = if self.crouching { build.crouch_height - 4 } else { build.stand_height - 10 };
            Area::around(self, build.half_width - 1, 0, height)
        }
    }
}
