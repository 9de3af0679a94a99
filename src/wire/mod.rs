//! Bytes to packets and back. No clock, no state, no allocation; nothing here panics on what it is given.

pub mod rbn1;
