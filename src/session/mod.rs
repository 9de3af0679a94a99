//! What the embedder holds: first a lobby, then a session; and the sync test.

mod advice;
mod config;
mod duel;
mod event;
mod latch;
mod lobby;
mod outbox;
mod pacing;
mod stats;
mod sync_test;
mod traffic;

pub use advice::{DelayAdvice, advise_delay};
pub use config::{Config, ConfigError, MAX_DELAY_FRAMES, OnDesync};
pub use duel::{Advanced, SendError, Session};
pub use event::{Desync, Event, Reason, Verdict};
pub use lobby::{Agreed, Incoming, Lobby, LobbyError, Mismatch};
pub use stats::Stats;
pub use sync_test::{SyncReport, SyncTest, SyncTestError};
