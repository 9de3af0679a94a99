//! Rebout: a deterministic rollback peer-to-peer engine for two-player fighting and arcade games.

#![forbid(unsafe_code)]

mod cue;
mod desync;
pub mod fields;
mod frame;
mod game;
mod hash;
mod protocol;
mod ring;
mod rng;

pub mod math;
pub mod net;
mod peer;
pub mod replay;
pub mod rollback;
mod session;
pub mod wire;

pub use cue::{Cue, CueChange, CueEvent, CueId, Cues};
pub use desync::{
    Autopsy, AutopsyVerdict, Bundle, BundleError, FieldDifference, JsonError, OwnedLeaf, Rerun,
};
pub use fields::{Difference, Fields, Leaf, Visitor, checksum, diff, walk};
pub use frame::Frame;
pub use game::{Buttons, Game, Inputs, Player, Save};
pub use hash::SimHash;
pub use peer::refusal::{Refusal, Refusals};
pub use protocol::{MAX_DATAGRAM, Protocol};
pub use ring::FrameRing;
pub use rng::Rng;
pub use rollback::Prediction;
pub use session::{
    Advanced, Agreed, Config, ConfigError, DelayAdvice, Desync, Event, Incoming, Lobby, LobbyError,
    MAX_DELAY_FRAMES, Mismatch, OnDesync, Reason, SendError, Session, Stats, SyncReport, SyncTest,
    SyncTestError, Verdict, advise_delay,
};
