//! The lab: simulated matches with an oracle, for the tests of a game and for measurements. Needs the feature `lab`.
//!
//! | file | |
//! |---|---|
//! | [`stress`] | a hunt for desyncs in a game: many matches on bad links, in one call |
//! | `sim_match`, `sim_peer`, `setup`, `oracle`, `flaw`, `overheard` | [`SimMatch`]: two machines that play one match, checked by an oracle |
//! | [`sim`] | the network below: seeded, in virtual time, with the real bytes and no socket |
//! | [`forge`] | forged and damaged datagrams |
//! | [`link`] | the impairments of a path, such as latency, jitter and loss |
//! | `relay` | a UDP relay that behaves like such a path, to play over it at home; needs the feature `udp` too |
//! | [`bundle`], [`text`], `html` | a desync bundle as an HTML page and as JSON; text and pages of reports |
//! | [`wire`] | encoding and decoding of the packets that the public `wire` does not have |
//! | `seal`, `nat`, `rendezvous`, `port_mapping` | the layers of a `Connection` and the port at the router, one by one |
//!
//! Everything but the relay runs in the calling thread, without a clock and without a disk, a thousand times faster than
//! real time. A run is a pure function of its seeds: the same on every machine, so that a failure can be played again.
//!
//! # A match with an oracle
//!
//! Both machines run the whole engine: the handshake, prediction, rollback, checksums. The oracle steps a third copy of
//! the game directly on the true inputs, and every confirmed frame is compared with it. [`SimMatch::flaw`] returns the first
//! thing that is wrong; a run without a misprediction, or whose inputs made no difference, is a flaw too, because it
//! proved nothing.
//!
//! ```
//! use rebout::lab::{SimMatch, Play, Setup, every_fourth};
//! use rebout::lab::link::{Chance, LinkConfig};
//! use rebout::{Cues, Game, Inputs, Player, fields};
//! use std::time::Duration;
//!
//! /// Two dots on a line.
//! #[derive(Clone, Copy)]
//! struct Dots { at: [i32; 2] }
//! fields!(Dots { at });
//!
//! impl Game for Dots {
//!     fn step(&mut self, inputs: Inputs, _: &mut Cues) {
//!         for player in Player::BOTH {
//!             self.at[player.index()] += i32::from(inputs[player].buttons().0) - 7;
//!         }
//!     }
//! }
//!
//! let mut link = LinkConfig::new(Duration::from_millis(50));
//! link.loss = Chance::percent(5);
//! let play = Play { build: |seed| Dots { at: [seed as i32, 0] }, script: every_fourth };
//! let mut sim = SimMatch::new(Setup::new(7, link), play);
//! assert!(sim.run_until_frame(600), "{sim:?}");
//! assert_eq!(sim.flaw(true), None);
//! assert!(sim.machine(0).stats().rollback.rollbacks > 50);
//! ```

pub mod bundle;
mod flaw;
pub mod forge;
mod html;
pub mod link;
mod oracle;
mod overheard;
#[cfg(all(feature = "nat", feature = "udp"))]
mod port_mapping;
#[cfg(feature = "udp")]
pub mod relay;
mod setup;
pub mod sim;
mod sim_match;
mod sim_peer;
pub mod stress;
pub mod text;
pub mod wire;

pub use flaw::{Divergence, Flaw};
pub use overheard::Overheard;
pub use setup::{HOST, JOINER, Play, Script, Setup, addresses, every_fourth};
pub use sim_match::{Said, SimMatch};
pub use sim_peer::{InputSource, Make, SimPeer, Watch};
#[cfg(feature = "seal")]
pub use sim_peer::{Remake, SimTicket, WatchKeys};

/// The encryption: a seal around any protocol, its counters, and the log of its keys.
#[cfg(feature = "seal")]
pub mod seal {
    pub use crate::connect::seal::{
        Brought, ConnectionKeys, MAX_ADDRESSES, MAX_FALLBACKS, MAX_KEYS, NotLoggedKeys, OpenedPacket, Seal,
        SealError, SealRefusal, SealRefusals, SealStats, Sealed,
    };
    pub use crate::protocol::{ByRole, PeerRole};
}

/// The search for paths through routers, around a seal and its protocol.
#[cfg(feature = "nat")]
pub mod nat {
    pub use crate::connect::nat::{
        NatConfig, NatLayer, NatStats, NatTraversal, NoWay, Origin, Progress, RelayOutcome,
    };
    #[cfg(feature = "udp")]
    pub use crate::lab::port_mapping::{PortMapping, RouterRequest};
    pub use crate::protocol::stream_addr::Notice;
}

/// The clients of a rendezvous: a host and a joiner.
#[cfg(feature = "nat")]
pub mod rendezvous {
    pub use crate::connect::rendezvous::credentials::Credentials;
    pub use crate::connect::rendezvous::event::RendezvousEvent;
    pub use crate::connect::rendezvous::join_request::JoinRequest;
    pub use crate::connect::rendezvous::registration::Registration;
    pub use crate::wire::rendezvous::{Denial, Room};
}
