//! Input and output: the only module with sockets, clocks, files and threads.
//!
//! | item | purpose |
//! |---|---|
//! | [`udp::UdpDriver`] | a game: drives a [`Protocol`](crate::Protocol) over one UDP socket |
//! | [`relay::Relay`] | playing over a bad link at home: a UDP relay that delays, drops and corrupts |
//! | [`link::Link`] | the impairments of a path: of the relay, and of the simulated network of the feature `lab` |
//! | [`local_addresses`] | showing a host the addresses that a guest may join |
//! | [`folder`] | writing a desync bundle to disk, and reading it back |

mod addresses;
pub mod folder;
pub mod link;
pub mod relay;
mod sleep;
mod socket;
pub mod udp;

pub use addresses::local_addresses;
