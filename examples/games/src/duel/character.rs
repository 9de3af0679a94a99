//! The fighters that a player can choose from: a body, a speed and a move table each.
//!
//! The hard bot against itself, 1,000 matches of each pairing, half of them from each seat
//! (`cargo test --release -p games --test duel -- --ignored --nocapture balance`):
//!
//! | first | second | won | lost | drawn |
//! |---|---|---|---|---|
//! | Kaito | Rai | 544 | 456 | 0 |
//! | Kaito | Kaito | 485 | 515 | 0 |
//! | Rai | Rai | 518 | 482 | 0 |

use rebout::fields;

use super::moves::{Move, MoveData};
use super::{Fx, kaito, rai};

/// Who fights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Character {
    Kaito,
    Rai,
}
fields!(
    enum Character {
        Kaito,
        Rai,
    }
);

/// The body and the speed of a fighter. Sizes are in whole units, speeds in units a frame.
#[derive(Clone, Copy, Debug)]
pub struct Build {
    pub name: &'static str,
    pub walk_forward: Fx,
    pub walk_back: Fx,
    pub jump_speed: Fx,
    pub jump_drift: Fx,
    /// Half of the width of a standing fighter.
    pub half_width: i16,
    pub stand_height: i16,
    pub crouch_height: i16,
    /// The frames of the low special in which nothing can touch the fighter.
    pub safe_frames: u16,
}

impl Character {
    pub const ALL: [Self; 2] = [Self::Kaito, Self::Rai];

    pub const fn build(self) -> &'static Build {
        match self {
            Self::Kaito => &kaito::BUILD,
            Self::Rai => &rai::BUILD,
        }
    }

    pub const fn name(self) -> &'static str {
        self.build().name
    }

    /// The line of the move table.
    pub const fn data(self, attack: Move) -> &'static MoveData {
        match self {
            Self::Kaito => kaito::data(attack),
            Self::Rai => rai::data(attack),
        }
    }

    /// The move of the special button.
    pub const fn special(self) -> Move {
        match self {
            Self::Kaito => Move::Fireball,
            Self::Rai => Move::Charge,
        }
    }

    /// The move of the special button with a crouch.
    pub const fn low_special(self) -> Move {
        match self {
            Self::Kaito => Move::Rising,
            Self::Rai => Move::Heel,
        }
    }

    /// The next one in the list, and after the last the first.
    #[must_use]
    pub const fn next(self) -> Self {
        match self {
            Self::Kaito => Self::Rai,
            Self::Rai => Self::Kaito,
        }
    }
}
