//! Input and output: the only module with sockets, clocks, files and threads, and a simulated network.
//!
//! | item | purpose |
//! |---|---|
//! | [`udp::UdpDriver`] | a game: drives a [`Protocol`](crate::Protocol) over one UDP socket |
//! | [`relay::Relay`] | playing over a bad link at home: a UDP relay that delays, drops and corrupts |
//! | [`sim::Network`], [`sim::World`] | tests and experiments: virtual time, seeded, without a socket |
//! | [`local_addresses`] | showing a host the addresses that a guest may join |
//! | [`folder`] | writing a desync bundle to disk, and reading it back |

mod addresses;
pub mod folder;
pub mod relay;
pub mod sim;
mod sleep;
mod socket;
pub mod udp;

pub use addresses::local_addresses;
