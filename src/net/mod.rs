//! The outside: the only room with a socket, a clock, a disk or a thread, and a simulated network beside it.
//!
//! | what | for |
//! |---|---|
//! | [`udp::UdpDriver`] | a game: drives a [`Protocol`](crate::Protocol) over one UDP socket |
//! | [`relay::Relay`] | feeling a bad link at home: a real UDP relay that delays, drops and damages |
//! | [`sim::Network`], [`sim::World`] | tests and laboratories: virtual time, seeded, no socket at all |
//! | [`local_addresses`] | telling a host's player which address to give to the other |
//! | [`folder`] | writing a desync bundle to the disk, and reading it back |

mod addresses;
pub mod folder;
pub mod relay;
pub mod sim;
mod sleep;
mod socket;
pub mod udp;

pub use addresses::local_addresses;
