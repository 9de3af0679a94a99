//! Input and output: the only module with sockets, clocks, files and threads.
//!
//! | item | purpose |
//! |---|---|
//! | [`Driver`] | a game on any transport: drives a [`Protocol`](crate::Protocol) over [`Datagrams`] |
//! | [`Memory`] | a match inside a process; [`opaque_addr`] for transports whose peers have no addresses |
//! | `udp::UdpDriver` | a game: drives a [`Protocol`](crate::Protocol) over one UDP socket; needs the feature `udp` |
//! | `local_addresses` | showing a host the addresses that a guest may join; needs the feature `udp` |
//! | [`append::FileAppender`] | recording a match: appends to a file from a thread of its own |
//! | [`folder`] | writing a desync bundle to disk, and reading it back |

#[cfg(feature = "udp")]
mod addresses;
pub mod append;
pub(crate) mod datagrams;
#[cfg(feature = "seal")]
pub(crate) mod dated;
mod driver;
pub mod folder;
mod memory;
mod opaque;
#[cfg(feature = "seal")]
pub(crate) mod private;
#[cfg(feature = "udp")]
pub(crate) mod sleep;
#[cfg(feature = "udp")]
pub(crate) mod socket;
#[cfg(feature = "seal")]
pub(crate) mod system;
#[cfg(feature = "udp")]
pub mod udp;

#[cfg(feature = "udp")]
pub use addresses::local_addresses;
pub use datagrams::{Datagrams, Received};
pub use driver::Driver;
pub use memory::Memory;
pub use opaque::{opaque_addr, opaque_id};

/// The transport of a connection for which no other one is named.
#[cfg(all(feature = "seal", feature = "udp"))]
pub(crate) type Usual = udp::Udp;
#[cfg(all(feature = "seal", not(feature = "udp")))]
pub(crate) type Usual = Memory<fn() -> core::time::Duration>;
