//! The trait that a game implements for both sides: the rule by which a player's body moves, and the world around it.

use super::server::Stage;

/// The position, velocity and health of an entity: the contents of a snapshot.
///
/// The five numbers travel as `f32`. A client predicts exactly only from numbers that survive the wire, so a game that
/// computes with others converts them to values that fit an `f32` before it stores them here.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Body {
    /// Horizontal position, in units of the game.
    pub x: f32,
    /// Vertical position.
    pub y: f32,
    /// Horizontal velocity, in units a second: clients extrapolate with it.
    pub velocity_x: f32,
    /// Vertical velocity.
    pub velocity_y: f32,
    /// Health; its scale is the game's.
    pub health: f32,
}

impl Body {
    /// A body at rest at a position, with a health of 1.
    #[must_use]
    pub const fn at(x: f32, y: f32) -> Self {
        Self { x, y, velocity_x: 0.0, velocity_y: 0.0, health: 1.0 }
    }

    /// Whether every number is finite. A body that is not finite is never sent.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        [self.x, self.y, self.velocity_x, self.velocity_y, self.health].iter().all(|value| value.is_finite())
    }

    /// The distance between two positions.
    #[must_use]
    pub fn distance(&self, other: &Self) -> f32 {
        let (x, y) = (self.x - other.x, self.y - other.y);
        (x * x + y * y).sqrt()
    }

    /// The body after `seconds` at its velocity.
    pub(crate) fn extrapolated(mut self, seconds: f32) -> Self {
        self.x += self.velocity_x * seconds;
        self.y += self.velocity_y * seconds;
        self
    }

    /// The body at part `t` of the way to `other`. Health is no motion and stays that of `self`.
    pub(crate) fn towards(self, other: &Self, t: f32) -> Self {
        let mix = |from: f32, to: f32| from + (to - from) * t;
        Self {
            x: mix(self.x, other.x),
            y: mix(self.y, other.y),
            velocity_x: mix(self.velocity_x, other.velocity_x),
            velocity_y: mix(self.velocity_y, other.velocity_y),
            health: self.health,
        }
    }
}

/// The input of a player for one frame: a direction and eight actions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Command {
    /// The horizontal direction, from -1 to 1.
    pub x: f32,
    /// The vertical direction, from -1 to 1.
    pub y: f32,
    /// The actions, one bit for each.
    pub actions: u8,
}

impl Command {
    /// No direction and no action.
    pub const NEUTRAL: Self = Self { x: 0.0, y: 0.0, actions: 0 };

    /// A command that fits the wire: each direction is limited to -1..=1, and one that is not a number becomes 0.
    #[must_use]
    pub fn new(x: f32, y: f32, actions: u8) -> Self {
        let limited = |value: f32| if value.is_nan() { 0.0 } else { value.clamp(-1.0, 1.0) };
        Self { x: limited(x), y: limited(y), actions }
    }

    /// The command that the rule is given: the direction is at most 1 long, so that diagonal movement is not faster.
    ///
    /// Both sides call this once on the bytes of the wire. A second call may round differently.
    #[must_use]
    pub(crate) fn limited(self) -> Self {
        let length = (self.x * self.x + self.y * self.y).sqrt();
        if length > 1.0 { Self { x: self.x / length, y: self.y / length, ..self } } else { self }
    }

    /// Whether all actions of `mask` are asked for.
    #[must_use]
    pub const fn holds(self, mask: u8) -> bool {
        self.actions & mask == mask
    }
}

/// How well a player sees an entity: how often snapshots show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sight {
    /// In every snapshot.
    Near,
    /// In every fourth snapshot.
    Far,
    /// In none.
    Hidden,
}

/// A game with a server that decides.
///
/// The server steps the world; a client has only [`walk`](Self::walk), with which it predicts its own player. `self` is
/// the whole world on a server, and on a client whatever the rule needs: the level, or nothing.
pub trait World {
    /// Moves a player's body by one frame. Server and client run the same code, so it depends on nothing but its arguments
    /// and on what is alike on both sides. Addition, multiplication, division and square roots of `f32` are alike
    /// everywhere; sines and powers are not.
    fn walk(&self, body: &mut Body, command: Command);

    /// The kind and the first body of the player who takes seat `id`. Server only.
    fn enter(&mut self, id: u8) -> (u8, Body);

    /// Steps the rest of the world by one frame, after every player was moved. Server only.
    fn step(&mut self, stage: &mut Stage<'_>);

    /// How well the player `viewer` sees an entity. Each pair is asked for in every fourth broadcast. Everybody sees their own
    /// player, and a client without delta snapshots sees everything. Server only.
    fn sight(&self, viewer: (u8, &Body), entity: (u8, &Body)) -> Sight {
        let _ = (viewer, entity);
        Sight::Near
    }

    /// A player has left; the entity of that id is gone after this call. Server only.
    fn leave(&mut self, id: u8) {
        let _ = id;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn direction_longer_than_one_is_normalized() {
        let diagonal = Command::new(1.0, -1.0, 3).limited();
        assert!((diagonal.x.hypot(diagonal.y) - 1.0).abs() < 1e-6, "{diagonal:?}");
        assert_eq!(diagonal.actions, 3);
        assert_eq!(Command::new(0.3, 0.4, 0).limited(), Command { x: 0.3, y: 0.4, actions: 0 });
    }

    #[test]
    fn command_always_fits_the_wire() {
        for (given, kept) in [(f32::NAN, 0.0), (f32::INFINITY, 1.0), (-7.0, -1.0), (0.25, 0.25)] {
            assert!((Command::new(given, 0.0, 0).x - kept).abs() < f32::EPSILON, "{given}");
        }
    }

    #[test]
    fn body_between_two_has_the_health_of_the_first() {
        let [from, to] = [0.0, 4.0].map(|n| Body { x: n, y: -n, velocity_x: n, velocity_y: n, health: n });
        let between = Body { x: 1.0, y: -1.0, velocity_x: 1.0, velocity_y: 1.0, health: 0.0 };
        assert_eq!(from.towards(&to, 0.25), between);
        assert_eq!(between.extrapolated(2.0), Body { x: 3.0, y: 1.0, ..between });
    }

    #[test]
    fn command_holds_a_mask_only_as_a_whole() {
        let command = Command::new(0.0, 0.0, 0b110);
        assert!(command.holds(0b110) && command.holds(0b010) && !command.holds(0b011));
    }

    #[test]
    fn body_is_finite_if_every_number_is() {
        let body = Body::at(0.0, 0.0);
        assert!(body.is_finite());
        for value in [f32::NAN, f32::INFINITY] {
            let others = [
                Body { x: value, ..body },
                Body { y: value, ..body },
                Body { velocity_x: value, ..body },
                Body { velocity_y: value, ..body },
                Body { health: value, ..body },
            ];
            assert!(others.iter().all(|other| !other.is_finite()));
        }
    }
}
