//! Replays: a match as its seed, its first state if the host gave one, and its inputs, from which every state can be recomputed.
//!
//! | item | purpose |
//! |---|---|
//! | [`StreamRecorder`] | records a match into a file of RPLK version 2 while it runs |
//! | [`Recording`] | an open file of either version, also one that was cut or damaged |
//! | [`Playback`], [`TakeOver`] | watches a recording with pause, speed and seek; continues it as a live match |
//! | [`Viewer`] | follows a recording that still grows |
//! | [`Recorder`], [`Replay`] | a match in memory, and its file of version 1 |
//! | [`Resumption`] | the log of a match that continues after one of its machines was restarted |
//! | [`utc`] | the date of a recording, for people |
//! | [`play`], [`verify`] | step a game through a replay; compare its states with known checksums |
//!
//! `docs/REPLAY.md` describes the files. The caller opens them and passes bytes, [`std::io::Read`] or [`std::io::Write`];
//! [`net::append`](crate::net::append) appends to a file without stopping the game.

pub(crate) mod bundle;
mod chunk;
mod codec;
mod cursor;
mod date;
mod error;
mod header;
mod loading;
mod playback;
mod record;
mod recorder;
mod recording;
mod resumption;
mod rplk;
mod stream;
mod take_over;
mod verify;
mod viewer;
mod whole;

pub use date::utc;
pub use error::{ReadError, WriteError};
pub use header::{Header, HeaderError, MAX_NAME};
pub use playback::{Playback, USUAL_SNAPSHOTS};
pub use record::{End, MatchEvent, Outcome, Winner};
pub use recorder::{RecordError, Recorder};
pub use recording::{Recording, Tail};
pub use resumption::{Remembered, Resumption, ResumptionError};
pub use rplk::{HEADER_LEN, MAX_FRAMES};
pub use stream::StreamRecorder;
pub use take_over::TakeOver;
pub use verify::{VerifyError, play, verify};
pub use viewer::{Viewer, Viewing};

use crate::{FirstState, Inputs};

/// A whole match: the seed and the bytes of its first state, and both players' inputs for every frame.
///
/// The file format, of a match without a first state, is RPLK version 1, little-endian: a header of 32 bytes, then 4 bytes a frame.
///
/// | offset | size | field |
/// |---|---|---|
/// | 0 | 4 | magic, `RPLK` |
/// | 4 | 1 | version, 1 |
/// | 5 | 1 | flags, 0 |
/// | 6 | 2 | header size, 32 |
/// | 8 | 4 | seed, not 0 |
/// | 12 | 4 | start frame, 0 |
/// | 16 | 4 | frame count, at most [`MAX_FRAMES`] |
/// | 20 | 4 | CRC-32 (IEEE) of everything after the header |
/// | 24 | 8 | reserved, 0 |
/// | 32 | 4 a frame | buttons of player one, buttons of player two |
///
/// ```
/// use rebout::replay::Replay;
/// use rebout::Buttons;
///
/// let replay = Replay { seed: 999, inputs: vec![[Buttons(1), Buttons(8)].into()], ..Replay::default() };
/// let mut file = Vec::new();
/// replay.write(&mut file)?;
/// assert_eq!(Replay::decode(&file)?, replay);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replay {
    /// The seed of the first state. A seed of 0 is invalid and cannot be written.
    pub seed: u32,
    /// The first state that the host gave to the joiner; empty without one.
    pub first_state: FirstState,
    /// The inputs of all frames, from frame 0 on.
    pub inputs: Vec<Inputs>,
}
