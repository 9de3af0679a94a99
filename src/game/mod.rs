//! The types of a simulation: the traits that a game implements, and the types in its state. This module uses no other one.
//!
//! | file | |
//! |---|---|
//! | `mod`, `state_error` | [`Game`], [`Save`], [`Player`]; the error of a game that cannot save or restore |
//! | `fields` | [`Fields`]: one description of a state for its checksum, its dump and the difference of two states |
//! | `frame`, `frame_rate`, `input` | the number of a frame, frames a second, the inputs of both players |
//! | `cue`, `marks` | effects that survive a rollback; the phases of a step |
//! | `hash`, `rng`, `math`, `pages` | the checksum, random numbers, fixed-point numbers, large memory saved by page |
//! | `text` | text from outside, made safe to print |

mod cue;
pub mod fields;
mod frame;
mod frame_rate;
pub(crate) mod hash;
mod input;
pub(crate) mod marks;
#[cfg(feature = "fixed")]
pub mod math;
mod pages;
mod rng;
mod state_error;
pub(crate) mod text;

pub use cue::{Cue, CueChange, CueEvent, CueId, Cues};
pub use fields::diff::{Difference, diff};
pub use fields::leaves::OwnedLeaf;
pub use fields::traits::{Fields, Visitor};
pub use fields::visitors::checksum;
pub use fields::walk::{Leaf, walk};
pub use frame::Frame;
pub use frame_rate::FrameRate;
pub use hash::SimHash;
pub(crate) use input::MAX_PADS;
pub use input::{Buttons, Input, Inputs, MAX_AXES};
pub use pages::Pages;
pub use rng::Rng;
pub use state_error::StateError;
pub use text::{is_disruptive, shown};

use core::fmt;

/// A seat in the match. A *peer* is a machine; a *player* sits at one.
///
/// ```
/// use rebout::Player;
///
/// let mut scores = [0; 2];
/// scores[Player::Two.index()] += 1;
/// for player in Player::BOTH {
///     println!("{player} has {} points, {} has {}", scores[player.index()], player.other(), scores[player.other().index()]);
/// }
/// assert_eq!(scores, [0, 1]);
/// ```
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

/// Saves a game's state into a snapshot and restores it from one.
///
/// A `Copy` type with [`fields!`](crate::fields!) has this already: its snapshot is a copy of itself. A game with heap
/// memory, an emulator core behind a handle, or a proxy that borrows an engine's world implements it, and copies into
/// the slot that it is given without allocating.
///
/// ```
/// use rebout::{Save, StateError, fields};
///
/// #[derive(Clone)]
/// struct Bees { at: Vec<i32> }
/// fields!(Bees { at });
///
/// struct Swarm { bees: Bees, drawn: u32 }                      // `drawn` is no part of the simulation
///
/// impl Save for Swarm {
///     type Snapshot = Bees;
///
///     fn snapshot(&self) -> Bees {
///         self.bees.clone()
///     }
///     fn save(&self, slot: &mut Bees) -> Result<(), StateError> {
///         slot.at.clone_from(&self.bees.at);                   // into memory that is already allocated
///         Ok(())
///     }
///     fn restore(&mut self, snapshot: &Bees) -> Result<(), StateError> {
///         self.bees.at.clone_from(&snapshot.at);
///         Ok(())
///     }
/// }
///
/// let mut swarm = Swarm { bees: Bees { at: vec![1, 2] }, drawn: 0 };
/// let before = swarm.snapshot();
/// (swarm.bees.at[0], swarm.drawn) = (9, 1);
/// swarm.restore(&before)?;
/// assert_eq!((swarm.bees.at, swarm.drawn), (vec![1, 2], 1));
/// # Ok::<(), StateError>(())
/// ```
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
    ///
    /// It cannot fail. If the state cannot be saved now, return a snapshot of the right size: [`save`](Self::save) is called
    /// before one is restored, and fails then.
    fn snapshot(&self) -> Self::Snapshot;

    /// Overwrites `slot` with the current state.
    ///
    /// # Errors
    /// If the state cannot be saved. The match is then over on both machines.
    fn save(&self, slot: &mut Self::Snapshot) -> Result<(), StateError>;

    /// Sets the state back to the one in `snapshot`.
    ///
    /// # Errors
    /// If the state cannot be restored. The match is then over on both machines.
    fn restore(&mut self, snapshot: &Self::Snapshot) -> Result<(), StateError>;
}

impl<T: Copy + Fields> Save for T {
    type Snapshot = T;

    #[inline]
    fn snapshot(&self) -> T {
        *self
    }

    #[inline]
    fn save(&self, slot: &mut T) -> Result<(), StateError> {
        *slot = *self;
        Ok(())
    }

    #[inline]
    fn restore(&mut self, snapshot: &T) -> Result<(), StateError> {
        *self = *snapshot;
        Ok(())
    }
}

/// A snapshot of the current state, by a [`save`](Save::save) that may fail.
pub(crate) fn saved<G: Save>(game: &G) -> Result<G::Snapshot, StateError> {
    let mut slot = game.snapshot();
    game.save(&mut slot)?;
    Ok(slot)
}

/// A deterministic simulation for two players.
///
/// The step must be a pure function of the state and the inputs: the same on every machine, however often it is
/// run. It is not told whether an input is predicted, because a step that branched on that would desync.
///
/// ```
/// use rebout::{Buttons, Cue, Cues, Game, Input, Inputs, Player, fields};
///
/// const JUMP: Buttons = Buttons(1);
/// const LANDED: Cue = Cue(1);
///
/// #[derive(Clone, Copy)]
/// struct Jumpers { height: [i32; 2], speed: [i32; 2], frame: u32 }
/// fields!(Jumpers { height, speed, frame });                   // saving, restoring, checksums, names in reports
///
/// impl Game for Jumpers {
///     fn step(&mut self, inputs: Inputs, cues: &mut Cues) {
///         self.frame += 1;
///         for player in Player::BOTH {
///             let (height, speed) = (&mut self.height[player.index()], &mut self.speed[player.index()]);
///             if *height == 0 && inputs[player].holds(JUMP) {
///                 *speed = 8;
///             }
///             if *height > 0 || *speed > 0 {
///                 *height = (*height + *speed).max(0);
///                 *speed -= 1;
///                 if *height == 0 {
///                     *speed = 0;
///                     cues.emit(LANDED);                       // a sound, played once by the program
///                 }
///             }
///         }
///     }
///
///     fn finished(&self) -> bool {
///         self.frame == 3_600
///     }
/// }
///
/// let mut game = Jumpers { height: [0; 2], speed: [0; 2], frame: 0 };
/// game.step(Inputs([Input::from(JUMP), Input::NEUTRAL]), &mut Cues::new());
/// assert_eq!(game.height, [8, 0]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a game that the engine can run",
    label = "does not implement `Game`",
    note = "implement `rebout::Game`: one `fn step(&mut self, inputs: Inputs, cues: &mut Cues)`"
)]
pub trait Game: Save {
    /// Steps state `f` to state `f + 1`. Side effects are requested through `cues` and never carried out here, because
    /// a frame may be resimulated.
    ///
    /// The step must handle every pattern of the 16 buttons of each pad, and every value of the agreed axes: the input of one player
    /// comes from another machine.
    fn step(&mut self, inputs: Inputs, cues: &mut Cues);

    /// Whether the match is over in this state. It takes effect once all inputs up to this state are known.
    fn finished(&self) -> bool {
        false
    }

    /// Whether the next step must not be predicted: it loads a stage, changes the scene, or writes to a disk.
    ///
    /// The engine steps such a state once, when the inputs of both players are known, and never undoes the step. The players see a
    /// pause of about a round trip minus the input delay. The answer must be a function of the state. Autopsies, the sync test and
    /// replays step the state again.
    #[inline]
    fn barrier(&self) -> bool {
        false
    }
}
