//! What the embedder holds.

mod sync_test;

pub use sync_test::{SyncReport, SyncTest, SyncTestError};
