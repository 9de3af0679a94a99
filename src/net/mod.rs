//! Input and output: the only module with sockets, clocks, files and threads. The relay of the lab is the one exception.
//!
//! | file | |
//! |---|---|
//! | `driver`, `datagrams` | [`Driver`]: runs a [`Protocol`](crate::Protocol) on any transport, [`Datagrams`] |
//! | `udp`, `socket`, `sleep` | the transport on UDP |
//! | `stream` | streams with TLS beside the UDP socket, with the feature `tls` |
//! | `router` | the router of this machine, and the thread that talks to it, with the feature `nat` |
//! | `memory`, `opaque` | the transport inside a process; addresses for peers that have only an id |
//! | `stopwatch` | the clock that measures what steps and saves cost |
//! | `addresses`, `system` | this machine's own addresses; names of machines, a point of the clock |
//! | `append`, `folder`, `dated`, `private`, `ticket` | files: appended to, in folders, named by the time, with keys, to come back into a match |
//!
//! | item | purpose |
//! |---|---|
//! | [`Driver`] | a game on any transport: drives a [`Protocol`](crate::Protocol) over [`Datagrams`] |
//! | [`Memory`] | a match inside a process; [`opaque_addr`] for transports whose peers have no addresses |
//! | `udp::UdpDriver` | a game: drives a [`Protocol`](crate::Protocol) over one UDP socket; needs the feature `udp` |
//! | [`stopwatch()`] | a clock for [`RollbackConfig::stopwatch`](crate::RollbackConfig::stopwatch) |
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
#[cfg(all(feature = "nat", feature = "udp"))]
pub(crate) mod router;
#[cfg(feature = "udp")]
pub(crate) mod sleep;
#[cfg(feature = "udp")]
pub(crate) mod socket;
mod stopwatch;
#[cfg(feature = "tls")]
pub(crate) mod stream;
#[cfg(feature = "seal")]
pub(crate) mod system;
#[cfg(feature = "seal")]
pub(crate) mod ticket;
#[cfg(feature = "udp")]
pub mod udp;

#[cfg(feature = "udp")]
pub use addresses::local_addresses;
pub use datagrams::{Datagrams, Received};
pub use driver::Driver;
pub use memory::Memory;
pub use opaque::{opaque_addr, opaque_id};
pub use stopwatch::stopwatch;

/// The transport of a connection for which no other one is named.
#[cfg(all(feature = "seal", feature = "udp"))]
pub(crate) type Usual = udp::Udp;
#[cfg(all(feature = "seal", not(feature = "udp")))]
pub(crate) type Usual = Memory<fn() -> core::time::Duration>;
