//! The records of fixed length in GAME packets: player inputs and entity states.

use core::fmt;

mod sealed {
    pub trait Record: Copy + PartialEq + core::fmt::Debug {
        type Bytes: Copy + AsRef<[u8]>;
        fn read(bytes: &Self::Bytes) -> Self;
        fn write(&self) -> Self::Bytes;
        fn check(&self) -> Result<(), super::ValueError>;
    }
}
pub(super) use sealed::Record as RecordCodec;

/// A record of fixed length in a GAME packet: [`PlayerInput`] or [`EntityState`].
pub trait Record: sealed::Record {}
impl<T: sealed::Record> Record for T {}

/// One input of a client: a direction and actions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlayerInput {
    /// The client's sequence number of this input.
    pub sequence: u32,
    /// The horizontal direction, from -1 to 1.
    pub move_x: f32,
    /// The vertical direction, from -1 to 1.
    pub move_y: f32,
    /// The actions, one bit for each.
    pub actions: u8,
}

/// One entity of a snapshot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EntityState {
    /// The number of the entity.
    pub id: u8,
    /// Horizontal position.
    pub x: f32,
    /// Vertical position.
    pub y: f32,
    /// Horizontal velocity.
    pub velocity_x: f32,
    /// Vertical velocity.
    pub velocity_y: f32,
    /// Health.
    pub health: f32,
}

pub(super) const INPUT_LEN: usize = 13;
pub(super) const ENTITY_LEN: usize = 21;

impl RecordCodec for PlayerInput {
    type Bytes = [u8; INPUT_LEN];

    fn read(bytes: &Self::Bytes) -> Self {
        let [s0, s1, s2, s3, x0, x1, x2, x3, y0, y1, y2, y3, actions] = *bytes;
        Self {
            sequence: u32::from_be_bytes([s0, s1, s2, s3]),
            move_x: f32::from_be_bytes([x0, x1, x2, x3]),
            move_y: f32::from_be_bytes([y0, y1, y2, y3]),
            actions,
        }
    }

    fn write(&self) -> Self::Bytes {
        let [s0, s1, s2, s3] = self.sequence.to_be_bytes();
        let [x0, x1, x2, x3] = self.move_x.to_be_bytes();
        let [y0, y1, y2, y3] = self.move_y.to_be_bytes();
        [s0, s1, s2, s3, x0, x1, x2, x3, y0, y1, y2, y3, self.actions]
    }

    fn check(&self) -> Result<(), ValueError> {
        within_one("move x", self.move_x)?;
        within_one("move y", self.move_y)
    }
}

impl RecordCodec for EntityState {
    type Bytes = [u8; ENTITY_LEN];

    fn read(bytes: &Self::Bytes) -> Self {
        let [id, floats @ ..] = *bytes;
        let mut values = [0.0; 5];
        for (value, bytes) in values.iter_mut().zip(floats.as_chunks().0) {
            *value = f32::from_be_bytes(*bytes);
        }
        let [x, y, velocity_x, velocity_y, health] = values;
        Self { id, x, y, velocity_x, velocity_y, health }
    }

    fn write(&self) -> Self::Bytes {
        let mut bytes = [self.id; ENTITY_LEN];
        let values = [self.x, self.y, self.velocity_x, self.velocity_y, self.health];
        for (slot, value) in bytes[1..].as_chunks_mut().0.iter_mut().zip(values) {
            *slot = value.to_be_bytes();
        }
        bytes
    }

    fn check(&self) -> Result<(), ValueError> {
        finite("position x", self.x)?;
        finite("position y", self.y)?;
        finite("velocity x", self.velocity_x)?;
        finite("velocity y", self.velocity_y)?;
        finite("health", self.health)
    }
}

/// A server checks two of these for each client in every frame. A value that is not finite is not within one either.
#[inline]
fn within_one(field: &'static str, value: f32) -> Result<(), ValueError> {
    if (-1.0..=1.0).contains(&value) {
        return Ok(());
    }
    finite(field, value)?;
    Err(ValueError::Move { field, bits: value.to_bits() })
}

fn finite(field: &'static str, value: f32) -> Result<(), ValueError> {
    if value.is_finite() { Ok(()) } else { Err(ValueError::NotFinite { field, bits: value.to_bits() }) }
}

/// A list of records, borrowed from the checked bytes of a datagram or from a slice to be sent.
///
/// ```
/// use rebout::wire::control::{Entries, PlayerInput};
///
/// let inputs = [PlayerInput { sequence: 7, move_x: 1.0, move_y: 0.0, actions: 1 }];
/// let entries = Entries::from(&inputs[..]);
/// assert_eq!(entries.iter().next(), Some(inputs[0]));
/// ```
#[derive(Clone, Copy)]
pub struct Entries<'a, T: Record>(Source<'a, T>);

#[derive(Clone, Copy)]
enum Source<'a, T: Record> {
    Values(&'a [T]),
    /// Received bytes; every record has passed its check.
    Bytes(&'a [T::Bytes]),
}

impl<'a, T: Record> Entries<'a, T> {
    /// A list over received bytes, if every record passes its check.
    pub(super) fn checked(bytes: &'a [T::Bytes]) -> Result<Self, ValueError> {
        let entries = Self(Source::Bytes(bytes));
        entries.check()?;
        Ok(entries)
    }

    pub(super) fn check(&self) -> Result<(), ValueError> {
        self.iter().try_for_each(|record| record.check())
    }

    /// How many records there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        match self.0 {
            Source::Values(values) => values.len(),
            Source::Bytes(bytes) => bytes.len(),
        }
    }

    /// Whether there is no record.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The record at `index`.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<T> {
        match self.0 {
            Source::Values(values) => values.get(index).copied(),
            Source::Bytes(bytes) => bytes.get(index).map(T::read),
        }
    }

    /// All records in order.
    pub fn iter(&self) -> impl Iterator<Item = T> + use<'a, T> {
        let entries = *self;
        (0..entries.len()).filter_map(move |index| entries.get(index))
    }
}

impl<'a, T: Record> From<&'a [T]> for Entries<'a, T> {
    fn from(values: &'a [T]) -> Self {
        Self(Source::Values(values))
    }
}

impl<T: Record> PartialEq for Entries<'_, T> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl<T: Record> fmt::Debug for Entries<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// A number in a packet that is not finite or out of range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ValueError {
    /// A value is infinite or not a number.
    NotFinite {
        /// The name of the field.
        field: &'static str,
        /// The bits of the `f32`.
        bits: u32,
    },
    /// A direction is outside -1..=1.
    Move {
        /// The name of the field.
        field: &'static str,
        /// The bits of the `f32`.
        bits: u32,
    },
    /// A timestamp is infinite or not a number.
    Timestamp {
        /// The bits of the `f64`.
        bits: u64,
    },
}

impl ValueError {
    /// A short name of the broken rule. Names never change.
    #[must_use]
    pub const fn rule(&self) -> &'static str {
        match self {
            Self::NotFinite { .. } | Self::Timestamp { .. } => "game-not-finite",
            Self::Move { .. } => "game-move",
        }
    }
}

impl fmt::Display for ValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFinite { field, bits } => {
                write!(f, "{field} is {} ({bits:#010x}), not a finite number", f32::from_bits(*bits))
            }
            Self::Move { field, bits } => {
                write!(f, "{field} is {}, outside -1..=1", f32::from_bits(*bits))
            }
            Self::Timestamp { bits } => {
                write!(f, "the timestamp is {} ({bits:#018x}), not a finite number", f64::from_bits(*bits))
            }
        }
    }
}

impl std::error::Error for ValueError {}
