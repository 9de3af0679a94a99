//! The rendezvous: a small server where a joiner finds a host that has no reachable port.
//!
//! [`RendezvousServer`] keeps rooms for hosts, hands signals to them and their answers back, and gives out TURN credentials. It is a
//! [`Protocol`](crate::Protocol); `examples/rendezvous/` runs it on a UDP socket. A [`Connection`](crate::Connection) is
//! the client of it, on both sides.
//!
//! Signals (INIT, RESP, and SIGNALs of a connection that exists) are opaque here: the server sees ciphertext. Registrations are signed by the key that the room is named
//! after, and no answer is longer than its request. `docs/PATHS.md` has the bytes, `docs/SECURITY.md` says what the server
//! learns and what a watcher can do.
//!
//! | file | has |
//! |---|---|
//! | `server/` | the server |
//! | `registration.rs` | the host's side: `claims.rs` the address that it signs for, `signed.rs` what it has signed, `standing.rs` what its owner is told, `answers.rs` its answers, `watch.rs` whether the server still has the room |
//! | `join_request.rs` | the joiner's side: a ticket, and signals for the host |
//! | `event.rs` | the news for either side |
//! | `exchange.rs` | one request that is sent until it is answered, on either side |
//! | `identity.rs`, `identity_keys.rs`, `credentials.rs` | the key of a room; TURN credentials of a shared secret |
//!
//! ```
//! # #[cfg(feature = "udp")] {
//! use rebout::net::udp::UdpDriver;
//! use rebout::rendezvous::{RendezvousConfig, RendezvousServer};
//! use rebout::{ConnectOptions, Connection, Randomness};
//! use std::time::Duration;
//!
//! let mut server = RendezvousServer::new(RendezvousConfig::default(), Randomness::System).unwrap();
//! let mut udp = UdpDriver::bind("127.0.0.1:0".parse()?)?;
//! let mut host = Connection::host(&ConnectOptions::new().rendezvous(&udp.local_addr().to_string()))?;
//! let mut lobby = host.lobby(rebout::Config::new(7))?;
//! while server.rooms() == 0 {
//!     host.poll(&mut lobby)?;
//!     let deadline = udp.now() + Duration::from_millis(1);
//!     udp.run_until(&mut server, deadline)?;
//! }
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answers;
mod claims;
pub(crate) mod credentials;
pub(crate) mod event;
mod exchange;
mod identity;
mod identity_keys;
pub(crate) mod join_request;
pub(crate) mod registration;
#[cfg(all(feature = "nat", not(target_family = "wasm")))]
mod server;
mod signed;
mod standing;
mod watch;

#[cfg(all(feature = "nat", not(target_family = "wasm")))]
pub use crate::protocol::stream_addr::stream_addr;
pub(crate) use crate::wire::rendezvous::Denial;
pub(crate) use credentials::Credentials;
pub(crate) use event::RendezvousEvent;
pub(crate) use join_request::JoinRequest;
pub(crate) use registration::Registration;
#[cfg(all(feature = "nat", not(target_family = "wasm")))]
pub use server::{Meeting, RendezvousConfig, RendezvousServer, RendezvousStats, RoomRefusal, TurnService};
