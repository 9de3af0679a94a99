//! A simulated network: seeded, in virtual time, with the real bytes of the wire and no socket.
//!
//! - [`LinkConfig`] describes one direction of a path: latency, jitter, loss, corruption, bandwidth; [`Link`] applies
//!   it to datagrams. [`LinkConfig::presets`] has the links of real players.
//! - [`Network`] is a set of endpoints with a link for each ordered pair, and has partitions, rebound addresses and
//!   injected datagrams.
//! - [`World`] runs machines on a network, each with its own [`Clock`], from event to event.
//!
//! Everything is a pure function of the seed and of the calls: two runs with one seed give the same [`Transcript`].
//! After warm-up nothing here allocates.
//!
//! ```
//! use rebout::net::sim::{LinkConfig, Network};
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

mod chance;
mod clock;
mod in_flight;
mod link;
mod network;
mod presets;
mod seeded;
mod transcript;
mod world;

pub use chance::{BadChance, Chance};
pub use clock::{Clock, Pause};
pub use link::{Arrival, Bandwidth, Burst, HEADER_BYTES, Link, LinkConfig, LinkStats, Passage};
pub use network::{Delivery, Network, NetworkStats, Traffic};
pub use transcript::{Entry, EntryKind, Recording, Transcript};
pub use world::{Machine, Mail, World};

pub(crate) use in_flight::InFlight;

use std::time::Duration;

/// Converts a time to nanoseconds, the unit inside the simulator. They compare faster than a `Duration`, which has two
/// fields.
pub(crate) fn nanos(time: Duration) -> u64 {
    time.as_secs().saturating_mul(1_000_000_000).saturating_add(u64::from(time.subsec_nanos()))
}
