//! Ways between two machines behind routers: a [`NatTraversal`] finds a path, and keeps another one warm.
//!
//! `NatTraversal` goes around a [`Seal`], never around a bare session: `nat.around(&mut seal, &mut lobby)` is a [`Protocol`] that a
//! driver runs like any other. It meets the other machine at a [rendezvous](crate::connect::rendezvous), checks every pair of
//! addresses by ICE (RFC 8445), and takes a TURN relay (RFC 8656) where nothing else works. Everything shares the one UDP
//! socket of the driver. `NatTraversal` believes nothing: it shows the seal each datagram with its path, and the seal alone decides,
//! by packets that it has opened, which path is used.
//!
//! ```
//! use rebout::lab::nat::{NatTraversal, NatConfig};
//! use rebout::Randomness;
//! use rebout::lab::seal::Seal;
//! use rebout::{Config, Invite, Lobby, Protocol};
//! use std::time::{Duration, Instant};
//!
//! let (server, mine) = ("192.0.2.1:3479".parse()?, "192.168.1.2:7000".parse()?);
//! let mut seal = Seal::host(Randomness::System)?;
//! let mut nat = NatTraversal::host(NatConfig::new(Instant::now(), [mine]), server, &seal.secret_key().unwrap())?;
//! let invite = Invite::with_rendezvous(seal.public_key().unwrap(), [], nat.rendezvous().unwrap())?;
//! let mut lobby = Lobby::host(Config::new(7))?;
//!
//! // The other player has the invite.
//! let mut their_reach = NatTraversal::join(NatConfig::new(Instant::now(), []), invite.rendezvous().unwrap())?;
//! let their_seal = Seal::join_by_signal(Randomness::System, *invite.key())?;
//! let their_lobby = Lobby::join(Config::new(7), their_seal.target().unwrap())?;
//!
//! let mut buf = [0; rebout::MAX_DATAGRAM];
//! let (to, _) = nat.around(&mut seal, &mut lobby).poll_transmit(Duration::ZERO, &mut buf).unwrap();
//! assert_eq!(to, server);
//! println!("{}", nat.progress());                          // words for a player
//! # let _ = (their_reach, their_lobby);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod allocation;
#[cfg(test)]
mod allocation_hostile;
mod budget;
mod candidate;
mod checks;
mod gathering;
mod layer;
mod manual;
mod observed;
mod origin;
mod paths;
mod probe;
mod progress;
mod relay;
mod report;
mod search;
mod signal;
mod signalling;
mod stats;
mod work;

pub use layer::NatLayer;
pub use origin::Origin;
pub use progress::{NoWay, Progress};
pub use stats::NatStats;

use crate::channel::entropy::Entropy;
use crate::connect::invite::Rendezvous;
use crate::connect::rendezvous::{JoinRequest, Registration};
use crate::connect::seal::{Randomness, Seal, SealError};
use crate::protocol::{Protocol, canonical};
use budget::Budget;
use core::time::Duration;
use gathering::Waiting;
use manual::Manual;
use observed::Observed;
use paths::PathTable;
use relay::Relay;
use search::Search;
use signalling::Signalling;
use std::collections::VecDeque;
use std::net::SocketAddr;

/// Peers that are searched for at once: at least, and at most.
const MIN_SEARCHES: usize = 8;
const MAX_SEARCHES: usize = 64;

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

/// The configuration of a [`NatTraversal`].
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
        }
    }
}

/// The paths of one machine to others.
#[derive(Debug)]
pub struct NatTraversal {
    policy: RelayPolicy,
    addresses: Vec<SocketAddr>,
    origin: Origin,
    random: Draws,
    signalling: Signalling,
    relay: Relay,
    observed: Observed,
    paths: PathTable,
    budget: Budget,
    searches: Vec<Search>,
    max_searches: usize,
    waiting: Waiting,
    manual: Manual,
    /// Datagrams of our own that wait.
    out: VecDeque<(SocketAddr, Vec<u8>)>,
    scratch: Box<[u8; layer::SCRATCH]>,
    /// Nothing is due before this time.
    deadline: Option<Duration>,
    progress: Progress,
    /// When the search began: a joiner's at its first turn, a host's with its guest's signal.
    since: Option<Duration>,
    found_after: Option<Duration>,
    stats: NatStats,
}

/// Random numbers that nobody can guess.
#[derive(Debug)]
struct Draws([Entropy; 4]);

impl Draws {
    fn new(randomness: Randomness) -> Result<Self, SealError> {
        let bytes = randomness.bytes(b"nat").ok_or(SealError::NoRandomness)?;
        let seed = |at: usize| bytes[8 * at..].first_chunk().copied().map_or(0, u64::from_be_bytes);
        Ok(Self(core::array::from_fn(|at| Entropy::new(seed(at)))))
    }

    fn next_32(&mut self) -> [u8; 32] {
        let mut bytes = [0; 32];
        for (chunk, entropy) in bytes.chunks_mut(8).zip(&mut self.0) {
            chunk.copy_from_slice(&entropy.next_u64().to_be_bytes());
        }
        bytes
    }

    fn next_12(&mut self) -> [u8; 12] {
        self.next_32().first_chunk().copied().unwrap_or_default()
    }

    fn next_u64(&mut self) -> u64 {
        self.0[0].next_u64()
    }
}

impl NatTraversal {
    /// A host that waits in its room at a rendezvous. The room is a function of `secret` and the server: a host that keeps
    /// the secret finds its room again, and old invites stay valid.
    ///
    /// # Errors
    /// If the operating system has no random bytes.
    pub fn host(config: NatConfig, server: SocketAddr, secret: &[u8; 32]) -> Result<Self, SealError> {
        let registration = Registration::new(server, secret, config.randomness)?;
        Self::new(config, Signalling::host(registration))
    }

    /// A joiner that asks for its host at a rendezvous. Its seal is one [by signalling](Seal::join_by_signal).
    ///
    /// # Errors
    /// If the operating system has no random bytes.
    pub fn join(config: NatConfig, rendezvous: &Rendezvous) -> Result<Self, SealError> {
        let post = JoinRequest::new(rendezvous.server, rendezvous.room, config.randomness)?;
        Self::new(config, Signalling::join(post))
    }

    fn new(config: NatConfig, signalling: Signalling) -> Result<Self, SealError> {
        let progress = signalling.first_progress();
        Ok(Self {
            policy: config.relay,
            addresses: config.addresses.into_iter().map(canonical).collect(),
            origin: config.origin,
            random: Draws::new(config.randomness)?,
            signalling,
            relay: Relay::default(),
            observed: Observed::default(),
            paths: PathTable::default(),
            budget: Budget::default(),
            searches: Vec::new(),
            max_searches: usize::from(config.guests).clamp(MIN_SEARCHES, MAX_SEARCHES),
            waiting: Waiting::default(),
            manual: Manual::default(),
            out: VecDeque::new(),
            scratch: Box::new([0; layer::SCRATCH]),
            deadline: Some(Duration::ZERO),
            progress,
            since: None,
            found_after: None,
            stats: NatStats::default(),
        })
    }

    /// This traversal around a seal around a protocol. Borrow it anew for each call.
    #[inline]
    pub fn around<'a, P: Protocol>(&'a mut self, seal: &'a mut Seal, inner: &'a mut P) -> NatLayer<'a, P> {
        NatLayer { nat: self, seal, inner }
    }

    /// When NAT traversal itself has something to send, whatever the seal and the protocol inside it have.
    #[inline]
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Duration> {
        if self.out.is_empty() { self.deadline } else { Some(Duration::ZERO) }
    }

    /// The room of a host, for its [`Invite`](crate::Invite). `None` for a joiner.
    #[must_use]
    pub fn rendezvous(&self) -> Option<Rendezvous> {
        self.signalling.rendezvous()
    }

    /// The rendezvous of either side.
    #[cfg(feature = "udp")]
    pub(crate) fn server(&self) -> Option<SocketAddr> {
        self.signalling.server()
    }

    /// How far the machines are on the way to each other. A host with several guests is told of the newest.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.progress
    }

    /// How long the first path took to find: for a joiner since it began to ask, for a host since its guest's signal came.
    #[must_use]
    pub fn found_after(&self) -> Option<Duration> {
        self.found_after
    }

    /// The addresses of this machine's interfaces have changed: they are offered to the peer.
    pub fn set_addresses(&mut self, addresses: impl IntoIterator<Item = SocketAddr>) {
        self.addresses = addresses.into_iter().map(canonical).collect();
        self.stir();
    }

    /// The counts so far.
    #[must_use]
    pub fn stats(&self) -> &NatStats {
        &self.stats
    }
}
