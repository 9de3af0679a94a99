//! The five bits of an INPUT.

/// The input of a client: up, down, left, right, shoot. Opposite directions together are neutral.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct InputFlags(pub u8);

impl InputFlags {
    /// Up: towards smaller y.
    pub const UP: Self = Self(0x01);
    /// Down: towards larger y.
    pub const DOWN: Self = Self(0x02);
    /// Left: towards smaller x.
    pub const LEFT: Self = Self(0x04);
    /// Right: towards larger x.
    pub const RIGHT: Self = Self(0x08);
    /// Shoot.
    pub const SHOOT: Self = Self(0x10);

    const ALL: u8 = 0x1F;

    /// The bits of a direction, -1, 0 or 1 in each axis, and of shooting.
    #[must_use]
    pub const fn new(x: i8, y: i8, shoots: bool) -> Self {
        let horizontal = if x < 0 {
            Self::LEFT.0
        } else if x > 0 {
            Self::RIGHT.0
        } else {
            0
        };
        let vertical = if y < 0 {
            Self::UP.0
        } else if y > 0 {
            Self::DOWN.0
        } else {
            0
        };
        Self(horizontal | vertical | if shoots { Self::SHOOT.0 } else { 0 })
    }

    /// Whether all bits of `flags` are set.
    #[must_use]
    pub const fn has(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// The horizontal and the vertical direction, each -1, 0 or 1.
    #[must_use]
    pub const fn direction(self) -> (i8, i8) {
        (
            self.has(Self::RIGHT) as i8 - self.has(Self::LEFT) as i8,
            self.has(Self::DOWN) as i8 - self.has(Self::UP) as i8,
        )
    }

    /// The reserved bits, if one of them is set.
    pub(super) const fn check(self) -> Result<(), u8> {
        if self.0 & !Self::ALL == 0 { Ok(()) } else { Err(self.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opposite_directions_are_neutral_and_every_direction_survives() {
        assert_eq!(InputFlags(0x03).direction(), (0, 0));
        assert_eq!(InputFlags(0x0C).direction(), (0, 0));
        assert_eq!(InputFlags(0x0B).direction(), (1, 0));
        for (x, y) in [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 0), (0, 1), (1, -1), (1, 0), (1, 1)] {
            let flags = InputFlags::new(x, y, x == y);
            assert_eq!((flags.direction(), flags.has(InputFlags::SHOOT)), ((x, y), x == y));
        }
    }
}
