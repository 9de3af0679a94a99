//! The side of this machine in a match against another one, and the way back into it.

use std::path::{Path, PathBuf};

use rebout::ConnectOptions;

use super::machine::Machine;
use super::meet::Role;
use super::online::{config, play};
use super::rules::Preferences;
use super::{Ending, Failure, InputSource};
use crate::opponents::Opponents;
use crate::view::Screen;

/// The side of this machine in a match.
pub struct Seat {
    pub source: InputSource,
    pub preferences: Preferences,
    /// Where the match is recorded, if it is.
    pub record: Option<PathBuf>,
    /// The net graph is open from the beginning.
    pub net: bool,
    /// Nobody is there to be asked.
    pub unattended: bool,
    /// What the fighters wear.
    pub outfits: [usize; 2],
    pub timings: bool,
    /// Sounds come from the steps themselves, past the ledger of cues.
    pub without_cues: bool,
    /// The players of earlier matches.
    pub opponents: Opponents,
    /// The invite by which this machine joins, if it does.
    pub invite: Option<String>,
}

/// Goes back into the match of a file that was kept when the program ended.
///
/// # Errors
/// If there is no such match any more, in words for the player.
pub fn rejoin(screen: &Screen, seat: Seat, file: &Path, connect: ConnectOptions) -> Result<Ending, Failure> {
    let (rules, record) = (seat.preferences.rules, seat.record.as_deref());
    let machine = Machine::rejoin(file, config(&seat), rules, record, connect).map_err(Failure::of)?;
    play(screen, seat, machine, &Role::Join, None)
}
