//! The lab: a simulated network for tests and measurements, and matches on it with an oracle.

mod bout;
mod contestant;
pub mod sim;

pub use bout::{Bout, Divergence, Flaw, Setup, addresses};
pub use contestant::{Contestant, Hands, Make, Play, Script, Watch, every_fourth};
