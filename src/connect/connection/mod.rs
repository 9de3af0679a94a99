//! A connection to other machines: the transport, the encryption and the paths through routers, with one owner.
//!
//! | file | |
//! |---|---|
//! | `options`, `text` | the choices of an embedder; how a host is named in a text |
//! | `opening` | the layers that the options ask for, and the text for the other player |
//! | `invites` | the invites of a host, to play and to watch |
//! | `layers` | nothing, the encryption, or the encryption and the paths around a protocol |
//! | `paths`, `no_paths` | the paths through routers, with the feature `nat` and without |
//! | `ports`, `no_ports` | the port of a host that its router forwards, with the features `nat` and `udp` and without |
//! | `udp` | a connection on the UDP sockets of this machine |
//! | `watch` | the invite to watch, and the host of a spectator |
//! | `rejoin` | coming back to a match on another connection |
//! | `rest` | the protocol of a connection that has none |
//! | `peer`, `error` | the facts about a peer; why there is no connection |

mod error;
mod invites;
mod layers;
mod opening;
mod options;
mod peer;
mod player;
mod rejoin;
mod rest;
mod text;
#[cfg(feature = "udp")]
mod udp;
mod watch;

// A page has the paths of its browser, whatever else is built in.
#[cfg(not(any(feature = "nat", all(feature = "browser", target_family = "wasm"))))]
mod no_paths;
#[cfg(all(feature = "nat", not(all(feature = "browser", target_family = "wasm"))))]
mod paths;
#[cfg(all(feature = "browser", target_family = "wasm"))]
mod web_paths;
#[cfg(not(any(feature = "nat", all(feature = "browser", target_family = "wasm"))))]
use no_paths as paths;
#[cfg(all(feature = "browser", target_family = "wasm"))]
use web_paths as paths;

#[cfg(not(all(feature = "nat", feature = "udp")))]
mod no_ports;
#[cfg(all(feature = "nat", feature = "udp"))]
mod ports;
#[cfg(not(all(feature = "nat", feature = "udp")))]
use no_ports as ports;

pub use error::ConnectError;
pub use options::ConnectOptions;
pub use peer::{ConnectionStats, Hint, PeerInfo};
pub(crate) use rest::Rest;

use crate::connect::seal::Seal;
use crate::net::private::KeyLog;
use crate::net::{Datagrams, Driver, Usual};
use crate::{Config, Lobby, LobbyError, Protocol};
use core::time::Duration;
use invites::Invites;
use layers::{Layers, around};
use paths::Paths;
use ports::Ports;
use std::io;
use std::net::SocketAddr;

/// The longest wait of a joiner whose path has to be found first. A search that fails ends earlier.
const SEARCH_TIMEOUT: Duration = Duration::from_secs(25);
/// How often a host looks at the clock by which its invites expire.
const LOOK_AT_CLOCK: Duration = Duration::from_secs(1);
/// How long a joiner waits until the host has its answer, which people send each other.
const MANUAL_TIMEOUT: Duration = Duration::from_secs(900);

/// A connection to other machines that runs any [`Protocol`]: a [`Lobby`], then its [`Session`](crate::Session).
///
/// It owns a transport, the encryption of every datagram, and with the feature `nat` the search for a path through
/// routers. [`run_until`](Self::run_until), [`poll`](Self::poll), [`flush`](Self::flush) and [`close`](Self::close) are the
/// calls of [`Driver`]. [`ConnectOptions`] decides who may join: the holder of the host's invite unless something else is
/// named. `docs/CONNECTING.md` explains each way; [`Online`](crate::Online) runs a whole match on a connection.
///
/// ```
/// use rebout::{Config, ConnectOptions, Connection};
/// use std::time::Duration;
///
/// let mut host = Connection::host(&ConnectOptions::new())?;           // encrypted, by invite
/// let mut guest = Connection::join(&ConnectOptions::new(), host.share())?;
/// let mut lobbies = [host.lobby(Config::new(7))?, guest.lobby(Config::new(7))?];
/// while lobbies[0].agreed()?.is_none() || lobbies[1].agreed()?.is_none() {
///     let deadline = host.now() + Duration::from_millis(1);
///     host.run_until(&mut lobbies[0], deadline)?;
///     guest.poll(&mut lobbies[1])?;
/// }
/// let peer = lobbies[0].agreed()?.unwrap().peer;
/// assert!(host.peer(peer).is_verified);                               // by invite it is certain who is there
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Connection<D = Usual> {
    driver: Driver<D>,
    layers: Layers,
    role: Role,
    share: Share,
    invites: Option<Invites>,
    key_log: Option<KeyLog>,
    ports: Option<Ports>,
    /// When there is something to do besides the protocol: keys are logged, the text for the other player is not written yet, a
    /// router may have answered, or an invite may have expired.
    chores_at: Duration,
    /// The UDP port of this machine, 0 on other transports.
    port: u16,
}

/// The text for the other player. An invite or an offer is the right to join: `Debug` leaves it out.
struct Share(String);

opaque_debug!(Share);

/// The part of this machine in finding the other one.
#[derive(Clone, Debug)]
enum Role {
    Host,
    Join {
        /// The inner address of the host.
        target: SocketAddr,
        /// The outer addresses that are asked.
        at: Vec<SocketAddr>,
        /// Whether the key of the host is known, from its invite or its offer.
        is_invited: bool,
        /// Why the server that the invite names is not asked, if it is not.
        unfound: Option<String>,
        /// The key of the broadcast in an invite to watch.
        broadcast_key: Option<[u8; 32]>,
    },
}

impl<D: Datagrams> Connection<D> {
    // The calls of a driver.

    /// Receives and sends until `deadline`, or until the protocol [wants attention](Protocol::wants_attention), and
    /// sleeps in between. Returns the time.
    ///
    /// # Errors
    /// A broken transport, or a key log that cannot be written.
    #[inline]
    pub fn run_until<P: Protocol>(&mut self, protocol: &mut P, deadline: Duration) -> io::Result<Duration> {
        let now = around!(self.layers, protocol, around => self.driver.run_until(around, deadline))?;
        self.ran(now)
    }

    /// Receives waiting datagrams and sends those that are due. Never blocks. Returns the time.
    ///
    /// # Errors
    /// As [`run_until`](Self::run_until).
    #[inline]
    pub fn poll<P: Protocol>(&mut self, protocol: &mut P) -> io::Result<Duration> {
        let now = around!(self.layers, protocol, around => self.driver.poll(around))?;
        self.ran(now)
    }

    /// Receives and sends without a protocol until `deadline`, and sleeps in between: for a program that waits for its
    /// [text](Self::share), or for the player's. Peers are kept. Returns the time.
    ///
    /// # Errors
    /// As [`run_until`](Self::run_until).
    pub fn rest_until(&mut self, deadline: Duration) -> io::Result<Duration> {
        self.run_until(&mut Rest, deadline)
    }

    /// Sends the datagrams that are due, without receiving. Never blocks.
    ///
    /// # Errors
    /// None at present; datagrams that cannot be sent are lost.
    #[inline]
    pub fn flush<P: Protocol>(&mut self, protocol: &mut P) -> io::Result<()> {
        around!(self.layers, protocol, around => self.driver.flush(around))
    }

    /// Receives and sends for at most `linger`, until the protocol has nothing left to deliver, and gives an address on a
    /// relay and a port of the router back, for which it waits half a second at most. Returns whether everything was delivered. The connection can still be used afterwards.
    ///
    /// # Errors
    /// As [`run_until`](Self::run_until).
    pub fn close<P: Protocol>(&mut self, protocol: &mut P, linger: Duration) -> io::Result<bool> {
        if let Some(ports) = &mut self.ports {
            ports.release();
        }
        let closed = around!(self.layers, protocol, around => self.driver.close(around, linger))?;
        if let Some(paths) = self.layers.paths_mut() {
            paths.release(self.driver.now());
        }
        self.flush(protocol)?;
        if let Some(mut ports) = self.ports.take() {
            ports.wait(linger);
        }
        Ok(closed)
    }

    /// Notes that the protocol was run.
    #[inline]
    fn ran(&mut self, now: Duration) -> io::Result<Duration> {
        if now >= self.chores_at {
            self.do_chores(now)?;
        }
        Ok(now)
    }

    #[cold]
    fn do_chores(&mut self, now: Duration) -> io::Result<()> {
        if let Some(here) = self.ports.as_mut().and_then(Ports::poll) {
            self.take_addresses(&here);
        }
        self.ports.take_if(|ports| ports.is_over());
        if !self.ports.as_ref().is_some_and(|ports| ports.delays_offer(now))
            && let Some(text) = self.layers.take_text(now)
        {
            self.share = Share(text);
        }
        if let (Some(invites), Some(seal)) = (&mut self.invites, self.layers.seal_mut())
            && invites.expire(seal)
        {
            self.share = Share(invites.play());
        }
        if let Some(log) = &mut self.key_log {
            while let Some(keys) = self.layers.seal_mut().and_then(Seal::take_logged_keys) {
                log.add(&keys)?;
            }
        }
        self.plan_chores(now);
        Ok(())
    }

    fn plan_chores(&mut self, now: Duration) {
        self.chores_at = if self.key_log.is_some() || self.layers.owes_text() {
            Duration::ZERO
        } else if self.ports.is_some() {
            now.saturating_add(ports::LOOK_EVERY)
        } else if self.invites.as_ref().is_some_and(Invites::may_expire) {
            now.saturating_add(LOOK_AT_CLOCK)
        } else {
            Duration::MAX
        };
    }

    // Commands.

    /// The lobby for this connection: it waits for a guest, or joins the host that the connection was made for.
    ///
    /// # Errors
    /// If the config is not valid, or this machine has joined to watch.
    pub fn lobby(&self, mut config: Config) -> Result<Lobby, LobbyError> {
        match &self.role {
            Role::Host => Lobby::host(config),
            Role::Join { broadcast_key: Some(_), .. } => Err(LobbyError::Watching),
            Role::Join { target, .. } => {
                let timeouts = &mut config.timeouts;
                timeouts.join_timeout = self.join_timeout(timeouts.join_timeout);
                Lobby::join(config, *target)
            }
        }
    }

    /// The client for this connection, which joins the [server](crate::authority::Server) at its host.
    ///
    /// # Errors
    /// If the config is not valid, or if this machine hosts.
    #[cfg(feature = "authority")]
    pub fn client<W: crate::authority::Wire>(
        &self,
        mut config: crate::authority::ClientConfig,
    ) -> Result<crate::authority::Client<W>, crate::authority::AuthorityConfigError> {
        let Role::Join { target, broadcast_key: None, .. } = &self.role else {
            return Err(crate::authority::AuthorityConfigError::NoServer);
        };
        config.join_timeout = self.join_timeout(config.join_timeout);
        crate::authority::Client::join(config, *target)
    }

    /// How long a joiner waits: longer than it wants to if a path has to be found first.
    fn join_timeout(&self, wanted: Duration) -> Duration {
        if self.layers.paths().is_some_and(Paths::is_manual) && self.stats().found_after.is_none() {
            wanted.max(MANUAL_TIMEOUT)
        } else if self.layers.paths().is_some() {
            wanted.max(SEARCH_TIMEOUT)
        } else {
            wanted
        }
    }

    /// Takes the answer of the other player to the offer of this host.
    ///
    /// # Errors
    /// If the text is no answer, answers another offer, or this host has made none.
    pub fn take_answer(&mut self, text: &str) -> Result<(), ConnectError> {
        let now = self.driver.now();
        self.layers.take_answer(now, text)
    }

    /// Makes one more invite to play, for a single guest: once that one is connected, the invite is revoked. A host has at
    /// most 16 invites at once; those that were used up or revoked do not count.
    ///
    /// # Errors
    /// If this machine does not host by invite, or has too many invites.
    pub fn invite_one(&mut self) -> Result<String, ConnectError> {
        let is_host = self.is_host();
        match (&mut self.invites, self.layers.seal_mut()) {
            (Some(invites), Some(seal)) if is_host => {
                let invite = invites.issue_for_one(seal);
                self.chores_at = Duration::ZERO;
                invite
            }
            _ => Err(ConnectError::Options { why: "only a host by invite makes invites" }),
        }
    }

    /// Revokes an invite of this host; connected guests stay. [`share`](Self::share) and
    /// [`share_to_watch`](Self::share_to_watch) have no text once their invite is revoked. `false` if it is not a valid invite of this host.
    pub fn revoke(&mut self, invite: &str) -> bool {
        let (Some(invites), Some(seal)) = (&mut self.invites, self.layers.seal_mut()) else { return false };
        let is_revoked = invites.revoke(invite, seal);
        self.share = Share(invites.play());
        is_revoked
    }

    /// The player says that both machines show the same [code](PeerInfo::code). `false` if there is none yet.
    pub fn verify(&mut self, peer: SocketAddr) -> bool {
        self.layers.seal_mut().is_some_and(|seal| seal.verify(peer))
    }

    // Getters.

    /// The text for the other player, who passes it to `join`: the invite of a host or the offer of a host with manual signalling, else
    /// its address. For a joiner with manual signalling it is the answer, which the host takes; for any other joiner it is empty.
    /// An offer or an answer that waits for a STUN server (`ConnectOptions::stun`) is empty too, for three seconds at most in which
    /// the connection is run, and so is an offer that waits for the router. An invite without a rendezvous gets one more address when
    /// the router forwards the port (`ConnectOptions::port_mapping`); one that was sent before stays valid.
    ///
    /// An invite and an offer grant the right to join: keep them secret.
    #[must_use]
    pub fn share(&self) -> &str {
        &self.share.0
    }

    /// Whether this machine hosts.
    #[must_use]
    pub fn is_host(&self) -> bool {
        matches!(self.role, Role::Host)
    }

    /// The progress of the connection, as a text for a player.
    #[must_use]
    pub fn progress(&self) -> String {
        match (self.layers.paths().map(Paths::progress), &self.role) {
            (Some(progress), _) => progress,
            (None, Role::Host) => "waiting for the other player".to_owned(),
            (None, Role::Join { at, .. }) => format!("asking {}", text::list(at)),
        }
    }

    /// Why the other machine cannot be reached, once that is certain. A lobby need not wait any longer then. `None` for a host
    /// that waits for the next guest: one with manual signalling has made its offer for one.
    #[must_use]
    pub fn failure(&self) -> Option<ConnectError> {
        if let Some(error) = self.turned_away().filter(|_| !self.is_host()) {
            return Some(error);
        }
        let paths = self.layers.paths().filter(|paths| !self.is_host() || paths.is_manual())?;
        let failure = paths.failure(self.driver.now())?;
        Some(match &self.role {
            Role::Join { at, .. } if !at.is_empty() => ConnectError::neither(&failure.to_string(), at),
            _ => failure,
        })
    }

    /// The error for a joiner whose lobby has [timed out](LobbyError::TimedOut): it names outer addresses, and the likely
    /// cause.
    #[must_use]
    pub fn no_answer(&self, after: Duration) -> ConnectError {
        let (at, is_invited) = match &self.role {
            Role::Host => (Vec::new(), false),
            Role::Join { at, unfound: Some(why), .. } => return ConnectError::neither(why, at),
            Role::Join { at, is_invited, .. } => (at.clone(), *is_invited),
        };
        ConnectError::NoAnswer { at, after, advice: self.layers.advice(self.hint(), is_invited) }
    }

    /// A hint why there is no answer, or why a guest cannot join. It is based on unauthenticated datagrams.
    #[must_use]
    pub fn hint(&self) -> Option<Hint> {
        self.layers.hint()
    }

    /// The facts about the peer that the protocol knows by this address.
    #[must_use]
    pub fn peer(&self, addr: SocketAddr) -> PeerInfo {
        self.layers.peer(addr)
    }

    /// Whether every datagram is encrypted here.
    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        self.layers.seal().is_some()
    }

    /// The host's private key, for [`ConnectOptions::key`]. `None` for a joiner, and for a host that is open or bare.
    #[must_use]
    pub fn secret_key(&self) -> Option<[u8; 32]> {
        self.layers.seal().and_then(Seal::secret_key)
    }

    /// The counts so far.
    #[must_use]
    pub fn stats(&self) -> ConnectionStats {
        self.layers.stats()
    }

    /// The time now, on the transport's clock.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.driver.now()
    }

    /// The driver, with its transport.
    #[must_use]
    pub fn driver(&self) -> &Driver<D> {
        &self.driver
    }
}
