//! Live spectators: the log of a match, sent while it is written.
//!
//! The log is the file of [`StreamRecorder`](crate::replay::StreamRecorder), byte by byte. Once a second its source signs a hash of
//! all bytes so far. A spectator takes bytes from anybody, and shows those alone that the source has signed; it can pass them on.
//!
//! | file | |
//! |---|---|
//! | `broadcast` | [`Broadcast`]: serves a log to spectators |
//! | `track`, `signing` | the log of a match at its source; hashes and signatures |
//! | `origin` | the log that is served: recorded here, or received |
//! | `audience`, `guest`, `sender` | the spectators, one of them, and the bytes on their way to it |
//! | `spectator`, `assembly` | [`Spectator`]: joins, acknowledges and verifies; the bytes so far |
//!
//! A browser has none of it: `ring` signs, and needs a C compiler, which targets of wasm rarely have.

mod assembly;
mod audience;
#[allow(clippy::module_inception)]
mod broadcast;
mod config;
mod guest;
mod origin;
mod sender;
mod signing;
mod spectator;
#[cfg(test)]
mod tests;
mod track;

pub use broadcast::Broadcast;
pub use config::{BroadcastConfig, BroadcastStats};
pub use signing::BroadcastKey;
pub use spectator::{Spectator, Watching};

pub use crate::wire::broadcast::Bye;
