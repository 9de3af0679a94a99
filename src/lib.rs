//! Rebout: a deterministic rollback peer-to-peer engine for two-player fighting and arcade games.

#![forbid(unsafe_code)]

mod frame;
mod game;
mod protocol;

pub mod net;
pub mod wire;

pub use frame::Frame;
pub use game::{Buttons, Inputs, Player};
pub use protocol::{MAX_DATAGRAM, Protocol};
