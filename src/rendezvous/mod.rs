//! The rendezvous: a small server where a joiner finds a host that has no reachable port.
//!
//! - [`Server`] keeps rooms for hosts, hands INITs to them and RESPs back, and gives out TURN credentials. It is a
//!   [`Protocol`](crate::Protocol); `examples/rendezvous.rs` runs it on a UDP socket.
//! - [`Registration`] is the host's side: it keeps the room open.
//! - [`Post`] is the joiner's side: it asks for the ticket of a room and posts the INIT.
//!
//! INIT and RESP are opaque here: the server sees ciphertext. Registrations are signed by the key that the room is named
//! after, and no answer is longer than its request. `docs/WIRE.md` has the bytes, `docs/SECURITY.md` says what the server
//! learns and what a watcher can do.
//!
//! ```
//! use rebout::Protocol;
//! use rebout::rendezvous::{HostEvent, JoinerEvent, Post, Registration, Server, ServerConfig};
//! use rebout::seal::Randomness;
//! use std::time::Duration;
//!
//! let (at, host, joiner) = ("192.0.2.1:3479".parse()?, "192.0.2.2:7000".parse()?, "192.0.2.3:7000".parse()?);
//! let mut server = Server::new(ServerConfig::default(), Randomness::System)?;
//! let mut registration = Registration::new(at, &[7; 32], Randomness::System)?;
//! let mut post = Post::new(at, registration.room(), Randomness::System)?;
//! registration.set_ticket(42);
//! let (now, mut buf) = (Duration::ZERO, [0; rebout::MAX_DATAGRAM]);
//! for _ in 0..4 {
//!     while let Some((_, len)) = registration.poll_transmit(now, &mut buf) {
//!         server.handle_datagram(now, host, &buf[..len]);
//!     }
//!     while let Some((_, len)) = post.poll_transmit(now, &mut buf) {
//!         server.handle_datagram(now, joiner, &buf[..len]);
//!     }
//!     while let Some((to, len)) = server.poll_transmit(now, &mut buf) {
//!         if to == host {
//!             registration.handle_datagram(now, at, &buf[..len]);
//!         } else {
//!             post.handle_datagram(now, at, &buf[..len]);
//!         }
//!     }
//! }
//! assert!(matches!(registration.poll_event(), Some(HostEvent::Registered { observed, .. }) if observed == host));
//! assert!(matches!(post.poll_event(), Some(JoinerEvent::Ticket { ticket: 42, .. })));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod claims;
mod credentials;
mod exchange;
mod identity;
mod post;
mod registration;
mod server;

pub use crate::wire::rendezvous::{Denial, Room};
pub use credentials::Credentials;
pub use post::{JoinerEvent, Post};
pub use registration::{HostEvent, Registration};
pub use server::{Meeting, RoomRefusal, Server, ServerConfig, ServerStats, TurnService};
