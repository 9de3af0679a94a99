//! The outside: the only room with a socket and a clock, and a simulated network beside it.

pub mod sim;
pub mod udp;
