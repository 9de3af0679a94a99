//! The traits that an embedder implements, and the inputs that a step is given.

use core::fmt;
use core::ops::{Index, IndexMut};

use crate::{Cues, Fields};

/// The buttons that one player holds in one frame, one bit for each. The game decides what each bit means.
///
/// ```
/// use rebout::Buttons;
///
/// const LEFT: Buttons = Buttons(1);
/// const FIRE: Buttons = Buttons(8);
/// let held = LEFT | FIRE;
/// assert!(held.holds(FIRE));
/// assert!(!LEFT.holds(held));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Buttons(pub u16);

impl Buttons {
    /// No button held: the neutral input.
    pub const NONE: Self = Self(0);

    /// Whether every button of `wanted` is held.
    #[inline]
    #[must_use]
    pub const fn holds(self, wanted: Self) -> bool {
        self.0 & wanted.0 == wanted.0
    }
}

impl core::ops::BitOr for Buttons {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl core::ops::BitOrAssign for Buttons {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl core::ops::BitAnd for Buttons {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl core::ops::Not for Buttons {
    type Output = Self;
    fn not(self) -> Self {
        Self(!self.0)
    }
}

impl fmt::LowerHex for Buttons {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::LowerHex::fmt(&self.0, f)
    }
}

/// A seat in the match. A *peer* is a machine; a *player* sits at one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Player {
    /// The first seat.
    One,
    /// The second seat.
    Two,
}

impl Player {
    /// Both seats, in order.
    pub const BOTH: [Self; 2] = [Self::One, Self::Two];

    /// The other seat.
    #[inline]
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::One => Self::Two,
            Self::Two => Self::One,
        }
    }

    /// 0 for the first seat, 1 for the second.
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Player {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::One => "player one",
            Self::Two => "player two",
        })
    }
}

/// Both players' buttons for one frame.
///
/// ```
/// use rebout::{Buttons, Inputs, Player};
///
/// let inputs = Inputs([Buttons(1), Buttons(2)]);
/// assert_eq!(inputs[Player::Two], Buttons(2));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inputs(pub [Buttons; 2]);

impl Index<Player> for Inputs {
    type Output = Buttons;
    #[inline]
    fn index(&self, player: Player) -> &Buttons {
        &self.0[player.index()]
    }
}

impl IndexMut<Player> for Inputs {
    #[inline]
    fn index_mut(&mut self, player: Player) -> &mut Buttons {
        &mut self.0[player.index()]
    }
}

/// Saves a game's state into a snapshot and restores it from one.
///
/// A `Copy` type with [`fields!`](crate::fields!) has this already: its snapshot is a copy of itself. A game with heap
/// memory, an emulator core behind a handle, or a proxy that borrows an engine's world implements it, and copies into
/// the slot that it is given without allocating.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be saved and restored",
    label = "does not implement `Save`",
    note = "a `Copy` type needs nothing but `fields!({Self} {{ every, field }});`",
    note = "any other type implements `rebout::Save` with a snapshot type of its own"
)]
pub trait Save {
    /// The whole state of the simulation, and nothing else.
    type Snapshot: Fields;

    /// A new snapshot of the current state. Called to fill the slots when a match starts.
    fn snapshot(&self) -> Self::Snapshot;

    /// Overwrites `slot` with the current state.
    fn save(&self, slot: &mut Self::Snapshot);

    /// Sets the state back to the one in `snapshot`.
    fn restore(&mut self, snapshot: &Self::Snapshot);
}

impl<T: Copy + Fields> Save for T {
    type Snapshot = T;

    #[inline]
    fn snapshot(&self) -> T {
        *self
    }

    #[inline]
    fn save(&self, slot: &mut T) {
        *slot = *self;
    }

    #[inline]
    fn restore(&mut self, snapshot: &T) {
        *self = *snapshot;
    }
}

/// A deterministic simulation for two players.
///
/// The step must be a pure function of the state and the inputs: the same on every machine, however often it is
/// run. It is not told whether an input is predicted, because a step that branched on that would desync.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a game that the engine can run",
    label = "does not implement `Game`",
    note = "implement `rebout::Game`: one `fn step(&mut self, inputs: Inputs, cues: &mut Cues)`"
)]
pub trait Game: Save {
    /// Steps state `f` to state `f + 1`. Side effects are requested through `cues` and never carried out here, because
    /// a frame may be resimulated.
    ///
    /// The step must handle every pattern of the 16 bits: the buttons of one player come from another machine.
    fn step(&mut self, inputs: Inputs, cues: &mut Cues);

    /// Whether the match is over in this state. The engine acts on it only once the state is settled.
    fn finished(&self) -> bool {
        false
    }
}
