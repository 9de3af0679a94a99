//! Records: everything that a server sends reliably and in order, without a word of any format.

use super::numbering::FrameTime;
use super::world::Body;
use crate::Frame;

/// The longest message of the game's own.
pub const MAX_TOLD: usize = 64;

/// A message of the game's own: up to [`MAX_TOLD`] bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Told {
    len: u8,
    bytes: [u8; MAX_TOLD],
}

impl Told {
    /// A copy of `bytes`; `None` if they are more than [`MAX_TOLD`].
    pub(crate) fn new(bytes: &[u8]) -> Option<Self> {
        let mut told = Self { len: u8::try_from(bytes.len()).ok()?, bytes: [0; MAX_TOLD] };
        told.bytes.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(told)
    }

    /// The bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

impl core::fmt::Debug for Told {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{:02X?}", self.bytes())
    }
}

/// The course of a projectile since its spawn or its last bounce: a straight line from a place at a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Course {
    /// The frame at which the projectile was at `x`, `y`.
    pub frame: Frame,
    /// Horizontal position at that frame.
    pub x: f32,
    /// Vertical position at that frame.
    pub y: f32,
    /// Horizontal velocity, in units a second.
    pub velocity_x: f32,
    /// Vertical velocity.
    pub velocity_y: f32,
}

impl Course {
    /// The line on which a body moves from its place at a frame.
    pub(crate) fn of(frame: Frame, body: &Body) -> Self {
        let Body { x, y, velocity_x, velocity_y, .. } = *body;
        Self { frame, x, y, velocity_x, velocity_y }
    }

    /// The position at a time, at this many frames a second.
    #[must_use]
    pub fn at(&self, time: FrameTime, frame_rate: u16) -> (f32, f32) {
        self.after((time.since(self.frame) / f64::from(frame_rate)) as f32)
    }

    /// The position this many seconds after `frame`.
    pub(crate) fn after(&self, seconds: f32) -> (f32, f32) {
        (self.x + self.velocity_x * seconds, self.y + self.velocity_y * seconds)
    }

    /// The same line from the place at another frame.
    pub(crate) fn moved_to(self, frame: Frame, frame_rate: u16) -> Self {
        let (x, y) = self.at(frame.into(), frame_rate);
        Self { frame, x, y, ..self }
    }

    pub(crate) fn is_finite(&self) -> bool {
        [self.x, self.y, self.velocity_x, self.velocity_y].iter().all(|value| value.is_finite())
    }
}

/// On a wire that has no projectiles, projectile n is the entity of this id and n more.
pub(crate) const FIRST_SHOT: u16 = 256;

/// One entity as a snapshot shows it, or a projectile where those are entities too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shown {
    pub(crate) id: u16,
    pub(crate) body: Body,
}

/// One thing that a server tells reliably. Frames are the server's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Record {
    /// There is an entity from this frame on, at this place as far as the wire carries it.
    Spawn { id: u8, kind: u8, frame: Frame, place: Option<(f32, f32)> },
    /// An entity is gone at this frame; `player` says on a server that it was one.
    Gone { id: u8, frame: Frame, player: bool },
    /// An entity was hit in this frame.
    Hit { id: u8, damage: u8, frame: Frame },
    /// There is a projectile.
    Shot { id: u8, kind: u8, owner: u8, course: Course },
    /// A projectile has taken another course.
    Bounce { id: u8, course: Course },
    /// A projectile is gone at this frame.
    ShotEnd { id: u8, frame: Frame },
    /// A message of the game's own.
    Told { frame: Frame, told: Told },
    /// The reason of the DISCONNECT that follows.
    Bye { kicked: bool },
}

impl Record {
    /// The frame of a record; the reason of a DISCONNECT has none.
    pub(crate) fn frame(&self) -> Option<Frame> {
        match *self {
            Self::Spawn { frame, .. }
            | Self::Gone { frame, .. }
            | Self::Hit { frame, .. }
            | Self::ShotEnd { frame, .. }
            | Self::Told { frame, .. } => Some(frame),
            Self::Shot { course, .. } | Self::Bounce { course, .. } => Some(course.frame),
            Self::Bye { .. } => None,
        }
    }
}

/// The terms of a server: its rates and its seed. They are the first message of every connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Frames a second.
    pub frame_rate: u16,
    /// Snapshots a second.
    pub broadcast_rate: u16,
    /// A number from which all clients may build the same level.
    pub seed: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn course_is_the_same_line_from_any_of_its_frames() {
        let course = Course { frame: Frame(60), x: 1.0, y: 2.0, velocity_x: 60.0, velocity_y: -30.0 };
        let moved = course.moved_to(Frame(90), 60);
        assert_eq!(moved, Course { frame: Frame(90), x: 31.0, y: -13.0, ..course });
        assert_eq!(
            (course.at(Frame(120).into(), 60), moved.at(Frame(120).into(), 60)),
            ((61.0, -28.0), (61.0, -28.0))
        );
        assert_eq!(course.at(Frame(61).into(), 20), (4.0, 0.5), "20 frames a second");
    }

    #[test]
    fn message_holds_up_to_64_bytes() {
        assert_eq!(Told::new(&[7; 64]).map(|told| told.bytes().len()), Some(64));
        assert_eq!((Told::new(&[7; 65]), Told::new(&[7; 300])), (None, None));
        assert_eq!(Told::new(b"ab").unwrap().bytes(), b"ab");
    }
}
