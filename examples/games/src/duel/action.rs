//! The actions of a fighter, and the direction in which it looks.

use rebout::fields;

use super::moves::Move;

/// Which way a fighter looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Facing {
    Left,
    Right,
}
fields!(
    enum Facing {
        Left,
        Right,
    }
);

impl Facing {
    pub const fn sign(self) -> i32 {
        match self {
            Self::Left => -1,
            Self::Right => 1,
        }
    }

    pub const fn opposite(self) -> Self {
        match self {
            Self::Left => Self::Right,
            Self::Right => Self::Left,
        }
    }
}

/// The action of a fighter; `Fighter::since` counts its frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Stand,
    WalkForward,
    WalkBack,
    Crouch,
    /// The guard is up because a blow is on its way.
    Guard,
    JumpSquat,
    Air,
    Land,
    Attack(Move),
    /// Has the other by the collar.
    Holding,
    /// Is held by the other.
    Held,
    /// Stunned by a block.
    Block,
    /// Stunned by a hit.
    Hit,
    /// Knocked off the feet.
    Launched,
    Down,
    Rise,
    Victory,
    Defeat,
}
fields!(
    enum Action {
        Stand,
        WalkForward,
        WalkBack,
        Crouch,
        Guard,
        JumpSquat,
        Air,
        Land,
        Attack(attack),
        Holding,
        Held,
        Block,
        Hit,
        Launched,
        Down,
        Rise,
        Victory,
        Defeat,
    }
);
