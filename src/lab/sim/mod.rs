//! A simulated network: seeded, in virtual time, with the real bytes of the wire and no socket.
//!
//! - [`Network`] is a set of endpoints with a [link](crate::lab::link) for each ordered pair, and has partitions,
//!   NATs and injected datagrams.
//! - [`World`] runs machines on a network, each with its own [`Clock`], from event to event.
//!
//! Everything is a pure function of the seed and of the calls: two runs with one seed give the same [`Transcript`].
//! After warm-up nothing here allocates.
//!
//! ```
//! use rebout::lab::sim::Network;
//! use rebout::lab::link::LinkConfig;
//! use std::time::Duration;
//!
//! let mut network = Network::new(7);
//! let one = network.add("10.0.0.1:7000".parse().unwrap());
//! let two = network.add("10.0.0.2:7000".parse().unwrap());
//! network.set_links(one, two, LinkConfig::new(Duration::from_millis(40)));
//!
//! network.send(Duration::ZERO, one, network.addr(two), b"hello");
//! assert_eq!(network.next_delivery_at(), Some(Duration::from_millis(40)));
//! assert!(network.deliver(Duration::from_millis(39)).is_none());
//! let delivery = network.deliver(Duration::from_millis(40)).unwrap();
//! assert_eq!((delivery.to, delivery.datagram), (two, &b"hello"[..]));
//! ```

mod clock;
mod losses;
mod nat;
mod network;
mod traffic;
mod transcript;
mod world;

pub use clock::{Clock, Pause};
pub use nat::NatKind;
pub use network::{Delivery, Network};
pub use traffic::{NetworkStats, Traffic};
pub use transcript::{Entry, EntryKind, Recording, Transcript};
pub use world::{Machine, Mail, World};
