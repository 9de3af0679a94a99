//! Bytes to packets and back. No clock, no state, no allocation; nothing here panics on what it is given.

mod bytes;
mod entries;
pub mod game;
pub mod rbn1;
