//! NAT traversal: [`NatTraversal`] finds a path between two machines behind routers, and keeps another one warm.
//!
//! It goes around a [`Seal`], never around a bare session: `nat.around(&mut seal, &mut lobby)` is a [`Protocol`] that a
//! driver runs like any other. It meets the other machine at a [rendezvous](crate::connect::rendezvous), checks every pair of
//! addresses by ICE (RFC 8445), and takes a TURN relay (RFC 8656) where nothing else works. Everything shares the one UDP
//! socket of the driver. No source address is trusted: the seal gets each datagram with its path, and the seal alone decides,
//! by packets that it has opened, which path is used.
//!
//! [`NatTraversal`] is made of parts. Each owns its state and offers a few calls; `layer` and `work` use these calls and never
//! the state inside.
//!
//! | file | has |
//! |---|---|
//! | `config.rs` | what the owner chooses |
//! | `layer.rs` | the way of each datagram in and out |
//! | `work.rs` | everything that is due at a time: it runs the parts |
//! | `endpoint.rs`, `observed.rs` | this machine: addresses, policy, random numbers; where servers have seen it |
//! | `relay.rs`, `allocation.rs`, `probe.rs` | the relay of this machine; one allocation, by `turn-client-proto`; a STUN question |
//! | `signalling.rs`, `route.rs`, `manual.rs`, `mapping.rs` | how the first signals travel: through a rendezvous, over UDP or a stream, or as texts of the players, with the mapped address that a STUN server sees |
//! | `port_mapping/` | a port that the router forwards, with the feature `udp` |
//! | `gathering.rs` | peers that wait for our signal until our candidates are gathered |
//! | `recovery.rs` | signals through the rendezvous: late candidates, and peers to which no path works any more |
//! | `searches.rs`, `budget.rs` | the searches for all peers; a rate limit on checks to machines that do not answer |
//! | `search.rs` | the search for one peer: `negotiation.rs` its signals, `carrier.rs` their way through the rendezvous, `nomination.rs` the path that the seal is told of, `fallbacks.rs` |
//! | `checks.rs`, `results.rs`, `origin.rs` | connectivity checks, by the ICE agent of `is`; their results; its clock |
//! | `channel.rs`, `tunnel/`, `web_signal.rs` | the data channel to a peer in a browser: DTLS and SCTP on its paths; its signals |
//! | `signal.rs`, `candidate.rs`, `paths.rs` | values: a signal and its bytes, addresses of either side, paths and made-up addresses for them |
//! | `outbox.rs` | datagrams that wait, and when something is due |
//! | `progress.rs`, `report.rs`, `stats.rs` | words for a player; counts |
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
//! let mut their_nat = NatTraversal::join(NatConfig::new(Instant::now(), []), invite.rendezvous().unwrap())?;
//! let their_seal = Seal::join_by_signal(Randomness::System, *invite.key())?;
//! let their_lobby = Lobby::join(Config::new(7), their_seal.target().unwrap())?;
//!
//! let mut buf = [0; rebout::MAX_DATAGRAM];
//! let (to, _) = nat.around(&mut seal, &mut lobby).poll_transmit(Duration::ZERO, &mut buf).unwrap();
//! assert_eq!(to, server);
//! println!("{}", nat.progress());                          // words for a player
//! # let _ = (their_nat, their_lobby);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod allocation;
mod budget;
mod candidate;
mod carrier;
mod channel;
mod channels;
mod checks;
mod config;
mod endpoint;
mod fallbacks;
mod gathering;
mod layer;
mod manual;
mod mapping;
mod negotiation;
mod nomination;
mod observed;
mod origin;
mod outbox;
mod paths;
#[cfg(feature = "udp")]
mod port_mapping;
mod probe;
mod progress;
mod recovery;
mod relay;
mod report;
mod results;
mod route;
mod search;
mod searches;
mod signal;
mod signalling;
mod stats;
#[cfg(feature = "webrtc")]
mod tunnel;
#[cfg(feature = "webrtc")]
mod web_signal;
mod work;

#[cfg(not(feature = "webrtc"))]
mod no_tunnel;
#[cfg(not(feature = "webrtc"))]
use no_tunnel as tunnel;

pub use config::{NatConfig, RelayPolicy};
pub use layer::NatLayer;
pub use origin::Origin;
#[cfg(feature = "udp")]
pub(crate) use port_mapping::PortMapping;
pub use progress::{NoWay, Progress, RelayOutcome};
pub use stats::NatStats;

use crate::connect::invite::{Answer, Offer, Rendezvous, ServerName};
use crate::connect::rendezvous::{JoinRequest, Registration};
use crate::connect::seal::{Brought, Randomness, Seal, SealError, SealRefusal};
use crate::protocol::{Protocol, canonical};
use core::time::Duration;
use endpoint::Endpoint;
use gathering::Gathering;
use manual::Manual;
use outbox::Outbox;
use paths::{Path, PathTable};
use relay::Relay;
use report::Report;
use searches::Searches;
use signal::Signal;
use signalling::{Client, Signalling};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use tunnel::is_tunnel;

/// The inner address of a guest that has not answered yet.
const NOBODY: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0));

/// The paths of one machine to others.
#[derive(Debug)]
pub struct NatTraversal {
    endpoint: Endpoint,
    relay: Relay,
    signalling: Signalling,
    gathering: Gathering,
    manual: Manual,
    searches: Searches,
    paths: PathTable,
    outbox: Outbox,
    report: Report,
    stats: NatStats,
}

/// The path to one peer that the seal uses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathTo {
    /// The address at its other end.
    pub(crate) addr: SocketAddr,
    pub(crate) is_relayed: bool,
    /// Whether this machine reaches its relay over TLS.
    pub(crate) is_over_tls: bool,
    /// The most that the way through a relay can be longer.
    pub(crate) detour: Option<Duration>,
}

impl NatTraversal {
    /// A host that waits in its room at a rendezvous. The room is a function of `secret` and the server, or its name: a host that keeps
    /// the secret finds its room again, and old invites stay valid.
    ///
    /// # Errors
    /// If the operating system has no random bytes.
    pub fn host(config: NatConfig, server: SocketAddr, secret: &[u8; 32]) -> Result<Self, SealError> {
        let registration = registration(server, config.server_name.as_ref(), secret, config.randomness)?;
        Self::new(config, Signalling::new(Client::Host(Box::new(registration))), Manual::default())
    }

    /// A joiner that asks for its host at a rendezvous. Its seal is one [by signalling](Seal::join_by_signal).
    ///
    /// # Errors
    /// If the operating system has no random bytes.
    pub fn join(config: NatConfig, rendezvous: &Rendezvous) -> Result<Self, SealError> {
        let request = JoinRequest::new(rendezvous.server, rendezvous.room, config.randomness)?;
        Self::new(config, Signalling::new(Client::Joiner(Box::new(request))), Manual::default())
    }

    /// A host without a rendezvous: the players send each other two texts.
    ///
    /// # Errors
    /// If the operating system has no random bytes.
    pub fn host_manual(config: NatConfig) -> Result<Self, SealError> {
        let manual = Manual::host(config.stun.map(canonical));
        Self::new(config, Signalling::new(Client::Manual { is_host: true }), manual)
    }

    /// A joiner without a rendezvous, with the host's [offer](Self::offer). Its seal is one
    /// [by signalling](Seal::join_by_signal).
    ///
    /// # Errors
    /// If the operating system has no random bytes.
    pub fn join_manual(config: NatConfig, offer: &Offer) -> Result<Self, SealError> {
        let manual = Manual::joiner(offer, config.stun.map(canonical));
        Self::new(config, Signalling::new(Client::Manual { is_host: false }), manual)
    }

    /// The room that a secret gives at the rendezvous of this machine, or at the server with this name. `None` without a rendezvous.
    #[must_use]
    pub fn room_of(&self, secret: &[u8; 32], name: Option<&ServerName>) -> Option<Rendezvous> {
        let server = self.signalling.server()?;
        // Nothing is drawn.
        let room = registration(server, name, secret, Randomness::Given([0; 32])).ok()?.room();
        Some(Rendezvous { server, room })
    }

    /// Opens [one more room](Self::room_of) at the rendezvous of this machine, host or joiner. Its guests are admitted by the keys of the
    /// seal. `false` without a rendezvous.
    pub fn open_room(&mut self, secret: &[u8; 32], name: Option<&ServerName>) -> bool {
        let Some(server) = self.signalling.server() else { return false };
        let Ok(room) = registration(server, name, secret, self.endpoint.draw_source()) else { return false };
        self.signalling.open_room(room);
        self.outbox.stir();
        true
    }

    /// Registers a room that was [opened](Self::open_room) no longer.
    pub fn close_room(&mut self, room: &[u8; 16]) {
        self.signalling.close_room(room);
    }

    /// Searches for the host at this inner address no longer, and posts nothing more to its room: it has come back as a guest.
    pub(crate) fn forget_host(&mut self, inner: SocketAddr) {
        self.searches.remove(inner);
        self.signalling.settle();
    }

    fn new(config: NatConfig, mut signalling: Signalling, manual: Manual) -> Result<Self, SealError> {
        signalling.set_others(config.other_servers.iter().copied().map(canonical).collect());
        Ok(Self {
            searches: Searches::new(config.guests),
            endpoint: Endpoint::new(config, signalling.server())?,
            relay: Relay::new(),
            report: Report::new(signalling.first_progress()),
            signalling,
            gathering: Gathering::default(),
            manual,
            paths: PathTable::default(),
            outbox: Outbox::new(),
            stats: NatStats::default(),
        })
    }

    // Commands.

    /// This traversal around a seal around a protocol. Borrow it again for each call.
    #[inline]
    pub fn around<'a, P: Protocol>(&'a mut self, seal: &'a mut Seal, inner: &'a mut P) -> NatLayer<'a, P> {
        NatLayer::new(self, seal, inner)
    }

    /// The offer of a host, for the joiner. `None` if this is no host with manual signalling, and while a STUN server has not
    /// answered, for three seconds at most.
    pub fn offer(&mut self, now: Duration, seal: &mut Seal) -> Option<Offer> {
        let key = seal.public_key().filter(|_| self.signalling.is_manual())?;
        if self.manual.awaited(now.into()).is_some() {
            return None;
        }
        let ticket = seal.renew_ticket()?;
        let search = self.begin_search(now.into(), NOBODY, false, false);
        let signal = search.negotiation().text();
        self.manual.offered(search);
        let stun = self.manual.stun().filter(|(_, has_answered)| *has_answered).map(|(server, _)| server);
        Some(Offer { key, ticket, stun, signal })
    }

    /// The answer of a joiner, for the host. `None` if this is no joiner with manual signalling, if its host's offer cannot be
    /// read, and while a STUN server has not answered, for three seconds at most.
    pub fn answer(&mut self, now: Duration, seal: &mut Seal) -> Option<Answer> {
        if self.manual.awaited(now.into()).is_some() {
            return None;
        }
        let (ticket, signal) = self.manual.offer()?.clone();
        let mut search = self.begin_search(now.into(), seal.target()?, true, false);
        let init = seal.write_init(now, ticket, &search.negotiation().text())?;
        self.admit(now.into(), &mut search, &signal);
        self.searches.replace(search);
        self.manual.wait(now.into());
        self.outbox.stir();
        Some(Answer { init })
    }

    /// Takes the joiner's answer.
    ///
    /// # Errors
    /// If it answers another offer, or none.
    pub fn take_answer(
        &mut self,
        now: Duration,
        seal: &mut Seal,
        answer: &Answer,
    ) -> Result<(), SealRefusal> {
        let Brought::Guest(inner) = seal.handle_signal(now, &answer.init)? else {
            return Err(SealRefusal::Unexpected);
        };
        let text = seal.take_signal_of(inner).unwrap_or_default();
        let signal = Signal::decode(&text).ok_or(SealRefusal::BadHandshake)?;
        let mut search = self.manual.take_offered().ok_or(SealRefusal::Unexpected)?;
        search.set_peer(now.into(), inner);
        self.admit(now.into(), &mut search, &signal);
        self.manual.set_resp(seal.answer_signal(now, inner, &search.negotiation().text()));
        self.report.begin_anew(now.into());
        self.searches.add(search);
        self.outbox.stir();
        Ok(())
    }

    /// The transport has streams: the rendezvous and the relay are reached over them where UDP brings no answer.
    pub fn allow_streams(&mut self) {
        self.signalling.allow_stream();
        self.relay.allow_stream();
    }

    /// The addresses of this machine's interfaces have changed: they are offered to the peer, and a host registers again.
    pub fn set_addresses(&mut self, addresses: impl IntoIterator<Item = SocketAddr>) {
        self.endpoint.set_addresses(addresses);
        self.signalling.refresh();
        self.outbox.stir();
    }

    /// Gives the allocation back to the relay, which would keep it for some minutes. For the end of a match: a message to the relay
    /// waits to be sent.
    pub fn close(&mut self, now: Duration) {
        self.release_relay(now.into());
    }

    // Getters.

    /// Whether this is a joiner whose host's offer can be read.
    pub(crate) fn can_answer(&self) -> bool {
        self.manual.offer().is_some()
    }

    /// When NAT traversal itself has something to send, apart from the seal and the protocol inside it.
    #[inline]
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Duration> {
        self.outbox.deadline()
    }

    /// A host expects this many spectators besides its other guests: none, unless this was called. It searches for paths to 64 at most.
    pub fn expect_spectators(&mut self, spectators: u8) {
        self.searches.expect_spectators(spectators);
    }

    /// The room of a host, for its [`Invite`](crate::Invite). `None` for a joiner.
    #[must_use]
    pub fn rendezvous(&self) -> Option<Rendezvous> {
        self.signalling.rendezvous()
    }

    /// The rendezvous of either side.
    pub(crate) fn server(&self) -> Option<SocketAddr> {
        self.signalling.server()
    }

    /// How far the machines are on the way to each other. A host with several guests is told of the newest.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.report.progress()
    }

    /// Since when there is no way.
    pub(crate) fn no_way_since(&self) -> Option<Duration> {
        self.report.no_way_since().map(Duration::from)
    }

    /// How long the first path took to find: for a joiner since it began to ask, for a host since its guest's signal came.
    #[must_use]
    pub fn found_after(&self) -> Option<Duration> {
        self.report.found_after().map(Duration::from)
    }

    /// The path to the peer at `inner`.
    pub(crate) fn path_to(&self, seal: &Seal, inner: SocketAddr) -> Option<PathTo> {
        let search = self.searches.of(inner);
        let path = self.path_in_use(seal, inner)?;
        let is_relayed = path.relayed || search.is_some_and(|search| search.is_relayed(path));
        let detour = search.filter(|_| is_relayed).and_then(|search| self.detour(search));
        let is_over_tls = path.relayed && self.relay.is_streamed();
        Some(PathTo { addr: path.remote, is_relayed, is_over_tls, detour })
    }

    /// The path that the seal uses to the peer at `inner`: of a data channel the one below it.
    fn path_in_use(&self, seal: &Seal, inner: SocketAddr) -> Option<Path> {
        let addr = seal.outer_addr(inner)?;
        match is_tunnel(addr) {
            true => self.searches.of(inner)?.nomination().path(),
            false => self.paths.path(addr),
        }
    }

    /// The counts so far.
    #[must_use]
    pub fn stats(&self) -> NatStats {
        NatStats { searches: self.endpoint.searches(), overhead_bytes: self.outbox.bytes(), ..self.stats }
    }
}

/// The registration of the room that a secret gives at a server.
fn registration(
    server: SocketAddr,
    name: Option<&ServerName>,
    secret: &[u8; 32],
    randomness: Randomness,
) -> Result<Registration, SealError> {
    match name {
        None => Registration::new(server, secret, randomness),
        Some(name) => Registration::named(server, (name.name(), name.port()), secret, randomness),
    }
}

#[cfg(test)]
mod allocation_hostile;
