//! What the embedder holds: first a lobby, then a session; and the sync test.

mod advice;
mod config;
mod duel;
mod ending;
mod event;
mod incoming;
mod latch;
mod lobby;
mod outbox;
mod outgoing;
mod pacing;
mod play;
mod stats;
mod sync_test;
mod traffic;

pub use advice::{DelayAdvice, advise_delay};
pub use config::{Config, ConfigError, MAX_DELAY_FRAMES, OnDesync};
pub use duel::{SendError, Session};
pub use event::{Desync, Event, Reason, Verdict};
pub use lobby::{Agreed, Incoming, Lobby, LobbyError, Mismatch};
pub use play::Advanced;
pub use stats::Stats;
pub use sync_test::{SyncReport, SyncTest, SyncTestError};
