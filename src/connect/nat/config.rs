//! What the owner of a [`NatTraversal`](super::NatTraversal) chooses.

use super::Origin;
use crate::connect::invite::ServerName;
use crate::connect::seal::Randomness;
#[cfg(not(target_family = "wasm"))]
use crate::protocol::canonical;
use std::net::SocketAddr;

/// Whether a relay may carry a match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RelayPolicy {
    /// Where no direct path works, and as a reserve that is kept warm.
    #[default]
    Allow,
    /// Never: rather no match at all.
    Never,
    /// Always: the peer never learns an address of this machine. Only the rendezvous and the relay do.
    Only,
}

/// The configuration of a [`NatTraversal`](super::NatTraversal).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NatConfig {
    /// The point of the system's clock that stands for time zero.
    pub origin: Origin,
    /// The addresses of this machine's interfaces, with the port of the socket, and those that a router forwards. Five are
    /// used; `net::local_addresses` lists them.
    pub addresses: Vec<SocketAddr>,
    /// Whether a relay may carry the match.
    pub relay: RelayPolicy,
    /// The source of random bytes.
    pub randomness: Randomness,
    /// How many guests a host expects at once: one, unless something else is set. It searches for paths to eight peers at
    /// least and to 64 at most.
    pub guests: u8,
    /// The STUN server that manual signalling asks for the address outside of the router. A rendezvous answers STUN too.
    pub stun: Option<SocketAddr>,
    /// The name of the rendezvous. The room of a host is a function of it instead of the server's address.
    pub server_name: Option<ServerName>,
    /// Other addresses of the rendezvous, which are asked too if the first does not answer within a second. The first that answers is
    /// used.
    pub other_servers: Vec<SocketAddr>,
    /// Whether a joiner's host is a page in a browser, which is reached over a data channel alone. Needs the feature `webrtc`.
    pub by_channel: bool,
}

impl NatConfig {
    /// The configuration of a machine with these addresses, which may use a relay.
    #[cfg(not(target_family = "wasm"))]
    pub fn new(origin: impl Into<Origin>, addresses: impl IntoIterator<Item = SocketAddr>) -> Self {
        let addresses = addresses.into_iter().map(canonical).collect();
        Self {
            origin: origin.into(),
            addresses,
            relay: RelayPolicy::Allow,
            randomness: Randomness::System,
            guests: 1,
            stun: None,
            server_name: None,
            other_servers: Vec::new(),
            by_channel: false,
        }
    }
}
