//! How to connect: who may join, and how the machines reach each other.

use super::ConnectError;
use super::paths::RelayPolicy;
use crate::PlayerKey;
use crate::connect::seal::Randomness;
use core::fmt;
use core::time::Duration;
use std::net::{Ipv6Addr, SocketAddr};
use std::path::PathBuf;

/// Who may join a host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Access {
    /// The holder of its invite.
    #[default]
    Invited,
    /// The holder of its offer, who sends back an answer.
    Manual,
    /// Anyone who knows its address: the players compare a code.
    Open,
    /// Anyone who knows its address, without encryption.
    Bare,
    /// Whomever the transport brings, which encrypts and authenticates by itself.
    Trusted,
}

/// The source of a key.
#[derive(Clone, Default)]
pub(super) enum Key {
    #[default]
    New,
    Given([u8; 32]),
    Kept(PathBuf),
}

/// How to connect: who may join a host, and by which ways. Without any call a host is encrypted, takes the holder of its
/// invite, and puts the addresses of this machine into the invite.
///
/// ```
/// use rebout::ConnectOptions;
///
/// let options = ConnectOptions::new().port(7000).keep_key_in("host.key");
/// # let _ = options;
/// ```
#[derive(Clone)]
#[must_use]
pub struct ConnectOptions {
    pub(super) access: Access,
    pub(super) bind: SocketAddr,
    pub(super) public: Vec<SocketAddr>,
    pub(super) key: Key,
    /// Without one the player has no key.
    pub(super) player_key: Key,
    pub(super) only: Vec<PlayerKey>,
    pub(super) rendezvous: Option<String>,
    pub(super) leaves_addresses_out: bool,
    #[cfg(feature = "nat")]
    pub(super) stun: Option<String>,
    #[cfg(feature = "tls")]
    pub(super) authorities: Option<PathBuf>,
    pub(super) relay: RelayPolicy,
    /// The machine was in the match before, and comes back.
    #[cfg(feature = "nat")]
    pub(super) comes_back: bool,
    pub(super) randomness: Option<Randomness>,
    pub(super) key_log: Option<PathBuf>,
    pub(super) guests: u8,
    pub(super) valid_for: Option<Duration>,
    #[cfg(all(feature = "nat", feature = "udp"))]
    pub(super) maps_port: bool,
}

impl Default for ConnectOptions {
    fn default() -> Self {
        Self {
            access: Access::default(),
            bind: (Ipv6Addr::UNSPECIFIED, 0).into(),
            public: Vec::new(),
            key: Key::default(),
            player_key: Key::default(),
            only: Vec::new(),
            rendezvous: None,
            leaves_addresses_out: false,
            #[cfg(feature = "nat")]
            stun: None,
            #[cfg(feature = "tls")]
            authorities: None,
            relay: RelayPolicy::default(),
            #[cfg(feature = "nat")]
            comes_back: false,
            randomness: None,
            key_log: None,
            guests: 1,
            valid_for: None,
            #[cfg(all(feature = "nat", feature = "udp"))]
            maps_port: true,
        }
    }
}

/// Without the key.
impl fmt::Debug for ConnectOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("ConnectOptions");
        shown.field("access", &self.access).field("bind", &self.bind).field("public", &self.public);
        shown.field("rendezvous", &self.rendezvous).finish_non_exhaustive()
    }
}

impl ConnectOptions {
    /// Encrypted and by invite, at any free port.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets anyone who knows the host's address join. Every datagram is encrypted, but until both players have compared the
    /// [code](super::PeerInfo::code), a man in the middle may have answered. A joiner by address needs no such call.
    pub fn open(self) -> Self {
        Self { access: Access::Open, ..self }
    }

    /// Connects without encryption, for LANs, tests and the plain wire: anybody on the way can read and forge. Both sides
    /// have to name it.
    pub fn bare(self) -> Self {
        Self { access: Access::Bare, ..self }
    }

    /// Leaves the encryption to the transport, which authenticates the peer too: a browser's data channel, a platform's
    /// relay. It is an error on UDP.
    pub fn encrypted_by_transport(self) -> Self {
        Self { access: Access::Trusted, ..self }
    }

    /// Hosts without a rendezvous: the players send each other an offer and an answer. Two machines behind routers need a
    /// STUN server (`stun`) too. Needs the feature `nat`.
    pub fn manual_signalling(self) -> Self {
        Self { access: Access::Manual, ..self }
    }

    /// Binds this UDP port instead of any free one.
    pub fn port(self, port: u16) -> Self {
        Self { bind: SocketAddr::new(self.bind.ip(), port), ..self }
    }

    /// Binds this address instead of `[::]:0`, which serves IPv6 and IPv4 at every interface.
    pub fn bind(self, addr: SocketAddr) -> Self {
        Self { bind: addr, ..self }
    }

    /// Names an address under which others reach this machine, such as the one whose port a router forwards. It comes
    /// first in the invite. Port 0 stands for the port of the socket.
    pub fn public(mut self, addr: SocketAddr) -> Self {
        self.public.push(addr);
        self
    }

    /// Meets the guest at a rendezvous, which takes both through their routers: `host:port`, or `host` alone for port 3479.
    /// A joiner finds it in the invite, by its name if that has a dot in it and by its address otherwise. The invite has the
    /// [named](Self::public) and the private addresses of this machine too: they are tried beside the rendezvous, and bring two players in one
    /// network together when it is down. Needs the feature `nat`.
    pub fn rendezvous(self, server: &str) -> Self {
        Self { rendezvous: Some(server.to_owned()), ..self }
    }

    /// Leaves the addresses of this machine out of an invite with a [rendezvous](Self::rendezvous): its readers learn none of
    /// them. A machine that is [hidden](crate::RelayPolicy::Only) needs no such call.
    #[cfg(feature = "nat")]
    pub fn leave_addresses_out(self) -> Self {
        Self { leaves_addresses_out: true, ..self }
    }

    /// Asks a STUN server for the address outside of the router, for [manual signalling](Self::manual_signalling): `host:port`, or
    /// `host` alone for port 3478. Every TURN server and every rendezvous answers STUN. The offer names it, so that a joiner asks
    /// it too. [`Connection::share`](super::Connection::share) waits for its answer.
    #[cfg(feature = "nat")]
    pub fn stun(self, server: &str) -> Self {
        Self { stun: Some(server.to_owned()), ..self }
    }

    /// Trusts the certificate authorities in this PEM file instead of those of Mozilla's list, where the rendezvous and the relay are
    /// reached over TLS: for servers with a certificate of your own, and for networks that read TLS and are allowed to.
    #[cfg(feature = "tls")]
    pub fn trust_authorities_in(self, path: impl Into<PathBuf>) -> Self {
        Self { authorities: Some(path.into()), ..self }
    }

    /// Hosts with the key of an earlier [connection](super::Connection::secret_key): its invites stay valid.
    pub fn key(self, secret_key: [u8; 32]) -> Self {
        Self { key: Key::Given(secret_key), ..self }
    }

    /// Hosts with the key in this file, which is made if it does not exist: old invites stay valid.
    pub fn keep_key_in(self, path: impl Into<PathBuf>) -> Self {
        Self { key: Key::Kept(path.into()), ..self }
    }

    /// Proves this private key to the other machine, which knows the player again by its public half
    /// ([`PeerInfo::player`](super::PeerInfo::player)). Only that machine learns it, and without encryption nobody does. A host by
    /// address shows its key to everybody who joins, and a joiner by address to whoever answers there.
    pub fn player_key(self, secret_key: [u8; 32]) -> Self {
        Self { player_key: Key::Given(secret_key), ..self }
    }

    /// As [`player_key`](Self::player_key), with the key in this file, which is made if it does not exist.
    pub fn keep_player_key_in(self, path: impl Into<PathBuf>) -> Self {
        Self { player_key: Key::Kept(path.into()), ..self }
    }

    /// Plays with this player only: a host lets in nobody else, and a joiner joins no other host. Several calls name several
    /// players. A peer that has proven such a key is verified without a code. Spectators are let in as before.
    pub fn only(mut self, player: PlayerKey) -> Self {
        self.only.push(player);
        self
    }

    /// Appends the keys of all connections to a file. Its readers can read and forge their packets: it is for a developer's
    /// own matches.
    pub fn log_keys_to(self, path: impl Into<PathBuf>) -> Self {
        Self { key_log: Some(path.into()), ..self }
    }

    /// Expects this many guests at once, such as the seats of an authority server, instead of one. The handshakes that a host
    /// works off in a second, and what it keeps of guests without a seat, grow with the number: name no more than may come. A
    /// search for paths reaches 64 at most.
    pub fn guests(self, guests: u8) -> Self {
        Self { guests, ..self }
    }

    /// Revokes the invites of this host after this time. Connected guests stay.
    pub fn invites_valid_for(self, valid_for: Duration) -> Self {
        Self { valid_for: Some(valid_for), ..self }
    }

    /// Takes random bytes from this source instead of the operating system: for a browser, and for simulations.
    pub fn randomness(self, randomness: Randomness) -> Self {
        Self { randomness: Some(randomness), ..self }
    }

    /// Whether a relay may carry the match.
    #[cfg(feature = "nat")]
    pub fn relay(self, relay: RelayPolicy) -> Self {
        Self { relay, ..self }
    }

    /// Whether a host asks its router to forward its UDP port, by PCP, NAT-PMP or UPnP-IGD: it does, unless this says `false`, it names
    /// a [public address](Self::public), or it is reached through a [relay only](RelayPolicy::Only). The router is asked in the
    /// background, and takes the port back at the end of the [connection](super::Connection::close). Only a host by invite or by
    /// offer asks, at a UDP socket of its own.
    #[cfg(all(feature = "nat", feature = "udp"))]
    pub fn port_mapping(self, maps_port: bool) -> Self {
        Self { maps_port, ..self }
    }

    /// Whether the peer must not learn an address of this machine.
    pub(super) fn hides(&self) -> bool {
        super::paths::hides(&self.relay)
    }

    pub(super) fn drawn(&self) -> Result<Randomness, ConnectError> {
        #[cfg(not(target_family = "wasm"))]
        return Ok(self.randomness.unwrap_or(Randomness::System));
        #[cfg(target_family = "wasm")]
        self.randomness.ok_or(ConnectError::Randomness)
    }
}
