//! Sealed links: every datagram encrypted and authenticated, by a wrapper around any [`Protocol`](crate::Protocol).
//!
//! A [`Seal`] goes around a lobby and later around its session: `seal.around(&mut lobby)` is a [`Protocol`](crate::Protocol) that a driver
//! runs like any other. An attacker cannot read, forge, replay or change a packet of a sealed link; `docs/SECURITY.md`
//! lists what remains possible, and `docs/ENCRYPTION.md` specifies the packets.
//!
//! - **By invite** the joiner knows the host's public key ([`Seal::public_key`]). The key grants the right to join, and only
//!   the host has its private half.
//! - **By address** the joiner accepts the key that comes from there. Until both players have compared the
//!   [code](Seal::code), it may be that of a man in the middle.
//!
//! A seal has no clock and no socket: the packets of the protocol inside drive its handshake, which carries that protocol's
//! [opening message](crate::Protocol::opening). An [`Invite`](crate::Invite) is the line of text by which a joiner knows key and addresses of its host.
//!
//! # Files
//!
//! [`Seal`] and its associations are made of parts. Each owns its state and offers a few calls; the files that do the seal's work use
//! these calls and never the state inside.
//!
//! | file | |
//! |---|---|
//! | `sealed` | the seal around a protocol: each datagram in and out |
//! | `handshakes`, `signals` | REQUEST, RETRY, INIT and RESP as datagrams; INIT and RESP that a rendezvous or a person brings |
//! | `association`, `associations` | a handshake and the keys that came of it; all of them, by number and by inner address |
//! | `contact`, `paths`, `roam` | when a peer was heard; its outer addresses; the choice between several of them |
//! | `channel`, `code` | keys and counters of a connection; the code that two players compare |
//! | `player`, `introduction`, `players` | the key of a player; its proof on one connection; whom a seal lets in by it |
//! | `host`, `access`, `keys` | a host's keys; one key with its cookies, and the role that it admits guests in; the owner's calls for them |
//! | `rate_limiter`, `tickets`, `limits` | the order and the rate of handshakes with a key, by address and by signalling; their limits |
//! | `joiner` | a joiner's REQUESTs and INITs |
//! | `outbox`, `stats`, `key_log` | packets of the link itself and the next deadline; counts; keys for a log |
//! | `noise`, `primitives`, `cipher`, `mac`, `hash`, `padding`, `random` | the handshake by `snow`, what it runs on, ChaCha20-Poly1305, the mac before a Diffie-Hellman, named hashes, texts of one length, secrets |
//!
//! # Example
//!
//! ```
//! # #[cfg(feature = "seal")] {
//! use rebout::Randomness;
//! use rebout::lab::seal::Seal;
//! use rebout::{Config, Lobby, Protocol};
//! use std::time::Duration;
//!
//! let mut host = Seal::host(Randomness::System)?;
//! let key = host.public_key().unwrap();                       // goes into the invite
//! let mut joiner = Seal::join(Randomness::System, key, &["192.0.2.1:7000".parse()?])?;
//! let mut lobby = Lobby::join(Config::new(7), joiner.target().unwrap())?;
//!
//! let mut buf = [0; rebout::MAX_DATAGRAM];
//! let (to, len) = joiner.around(&mut lobby).poll_transmit(Duration::ZERO, &mut buf).unwrap();
//! assert_eq!((to, len, buf[0]), ("192.0.2.1:7000".parse()?, 32, 0xE0));     // a REQUEST
//! let mut waiting = Lobby::host(Config::new(7))?;
//! host.around(&mut waiting).handle_datagram(Duration::ZERO, "192.0.2.2:7000".parse()?, &buf[..len]);
//! assert!(host.around(&mut waiting).poll_transmit(Duration::ZERO, &mut buf).is_some());
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// Parts of an association.
mod channel;
mod code;
mod contact;
mod introduction;
mod paths;
mod roam;
// Parts of a seal.
mod access;
mod association;
mod associations;
mod host;
mod joiner;
mod key_log;
mod limits;
mod outbox;
mod players;
mod rate_limiter;
mod stats;
mod tickets;
// The seal's work.
mod handshakes;
mod keys;
mod rejoin;
mod sealed;
mod signals;
// Cryptography.
mod cipher;
mod hash;
mod mac;
mod noise;
mod padding;
mod player;
mod primitives;
mod random;

pub use code::Code;
pub use host::MAX_KEYS;
pub use key_log::{ConnectionKeys, NotLoggedKeys, OpenedPacket};
pub use paths::MAX_FALLBACKS;
pub use player::PlayerKey;
pub(crate) use players::TurnedAway;
pub(crate) use random::Random;
pub use random::Randomness;
pub(crate) use rejoin::public_rejoin_key;
pub use sealed::Sealed;
pub use signals::Brought;
pub use stats::{SealRefusal, SealRefusals, SealStats};

use crate::protocol::time::Time;
use crate::protocol::{MAX_DATAGRAM, PeerRole, Protocol, canonical};
use crate::wire::seal::{KEY_LEN, Pattern};
use access::Admission;
use association::Association;
use associations::Associations;
use core::fmt;
use core::time::Duration;
use host::Host;
use joiner::Joiner;
use key_log::KeyLog;
use outbox::Outbox;
use players::Players;
use random::Secret;
use signals::Signals;
use std::net::SocketAddr;

/// The most addresses that a joiner sends a REQUEST to.
pub const MAX_ADDRESSES: usize = 8;

/// The keys and connections of one machine. It is not `Clone`: two copies would seal different packets alike.
pub struct Seal {
    random: Random,
    host: Option<Host>,
    join: Option<Joiner>,
    associations: Associations,
    out: Outbox,
    signals: Signals,
    players: Players,
    scratch: Box<[u8; MAX_DATAGRAM]>,
    key_log: KeyLog,
    stats: SealStats,
}

impl Seal {
    /// A host that accepts by invite, with a key pair of its own.
    ///
    /// # Errors
    /// If the operating system has no random bytes.
    pub fn host(randomness: Randomness) -> Result<Self, SealError> {
        Self::hosting(randomness, Pattern::Invite, None, None)
    }

    /// A host that accepts by invite, with the private key of an earlier seal: old invites stay valid. An attacker who gets that
    /// key can read the opening messages of all their handshakes.
    ///
    /// # Errors
    /// If the operating system has no random bytes.
    pub fn host_with_key(randomness: Randomness, secret_key: [u8; KEY_LEN]) -> Result<Self, SealError> {
        Self::hosting(randomness, Pattern::Invite, Some(Secret(secret_key)), None)
    }

    /// A host that accepts every joiner at its address.
    ///
    /// # Errors
    /// If the operating system has no random bytes.
    pub fn host_open(randomness: Randomness) -> Result<Self, SealError> {
        Self::hosting(randomness, Pattern::Open, None, None)
    }

    /// A joiner by invite, at a host that has one or more addresses.
    ///
    /// # Errors
    /// If there is no address or more than [`MAX_ADDRESSES`], or the operating system has no random bytes.
    pub fn join(
        randomness: Randomness,
        host_key: [u8; KEY_LEN],
        addrs: &[SocketAddr],
    ) -> Result<Self, SealError> {
        let mut seal = Self::new(randomness)?;
        let addrs: Vec<SocketAddr> = addrs.iter().copied().map(canonical).collect();
        let inner_addr = match &addrs[..] {
            [] => return Err(SealError::NoAddress),
            [only] => *only,
            _ if addrs.len() > MAX_ADDRESSES => {
                return Err(SealError::TooManyAddresses { count: addrs.len() });
            }
            _ => seal.associations.make_up(PeerRole::Host),
        };
        seal.joining(Some(Secret(host_key)), addrs, inner_addr);
        Ok(seal)
    }

    /// A joiner by address. If two machines join each other, one of them becomes the host.
    ///
    /// # Errors
    /// If the operating system has no random bytes.
    pub fn join_open(randomness: Randomness, addr: SocketAddr) -> Result<Self, SealError> {
        let addr = canonical(addr);
        let mut seal = Self::hosting(randomness, Pattern::Open, None, Some(addr))?;
        seal.joining(None, vec![addr], addr);
        Ok(seal)
    }

    fn new(randomness: Randomness) -> Result<Self, SealError> {
        Ok(Self {
            random: Random::new(randomness).ok_or(SealError::NoRandomness)?,
            host: None,
            join: None,
            associations: Associations::new(),
            out: Outbox::new(),
            signals: Signals::default(),
            players: Players::default(),
            scratch: Box::new([0; MAX_DATAGRAM]),
            key_log: KeyLog::default(),
            stats: SealStats::default(),
        })
    }

    fn hosting(
        randomness: Randomness,
        pattern: Pattern,
        secret: Option<Secret>,
        only: Option<SocketAddr>,
    ) -> Result<Self, SealError> {
        let mut seal = Self::new(randomness)?;
        let secret = secret.unwrap_or_else(|| seal.random.next_secret());
        let admission = Admission { pattern, role: PeerRole::Player, only, is_for_one: false };
        seal.host.get_or_insert_default().add(admission, secret, &mut seal.random);
        Ok(seal)
    }

    fn joining(&mut self, host_key: Option<Secret>, addrs: Vec<SocketAddr>, inner_addr: SocketAddr) {
        let (nonce, index) = (self.random.next_u64(), self.random.next_u64() as u16);
        self.join = Some(Joiner::new(host_key, addrs, inner_addr, nonce, index));
    }

    /// This seal around a protocol: a protocol whose every datagram is sealed. Borrow it again for each call.
    #[inline]
    pub fn around<'a, P: Protocol>(&'a mut self, inner: &'a mut P) -> Sealed<'a, P> {
        Sealed { seal: self, inner }
    }

    /// When the seal itself has something to send, apart from the protocol inside it.
    #[inline]
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Duration> {
        self.out.deadline()
    }

    /// The address for the lobby to join: the one that was asked for, or a made-up one for an invite with several.
    #[must_use]
    pub fn target(&self) -> Option<SocketAddr> {
        self.join.as_ref().map(Joiner::inner_addr)
    }

    /// The address that packets to the peer at this inner address go to; `None` before there is a path.
    #[must_use]
    pub fn outer_addr(&self, inner_addr: SocketAddr) -> Option<SocketAddr> {
        self.newest(inner_addr)?.paths().outer_addr()
    }

    /// The code of a connection by address, once both sides have sent their part of it: for the players to compare.
    #[must_use]
    pub fn code(&self, inner_addr: SocketAddr) -> Option<Code> {
        self.newest(inner_addr)?.comparison().code()
    }

    /// Whether it is certain who is at the other end: by invite always, by address once [`verify`](Self::verify) was called.
    #[must_use]
    pub fn is_verified(&self, inner_addr: SocketAddr) -> bool {
        self.newest(inner_addr).is_some_and(|association| association.comparison().is_verified())
    }

    /// The player says that the code is the same at the other end. `false` if there is no code yet.
    pub fn verify(&mut self, inner_addr: SocketAddr) -> bool {
        self.newest_mut(inner_addr).is_some_and(|association| association.comparison_mut().verify())
    }

    fn newest(&self, inner_addr: SocketAddr) -> Option<&Association> {
        self.associations.towards(inner_addr).and_then(|at| self.associations.get(at))
    }

    fn newest_mut(&mut self, inner_addr: SocketAddr) -> Option<&mut Association> {
        self.associations.towards(inner_addr).and_then(|at| self.associations.get_mut(at))
    }

    /// A path to the peer at `inner_addr` was checked, by credentials of its signal, and is the best one now.
    ///
    /// The first one is used at once: the opening message of a joiner by signalling goes out on it. A later one takes over when it has
    /// answered a challenge, and until then it gets copies.
    pub fn offer_path(
        &mut self,
        now: Duration,
        inner_addr: SocketAddr,
        path: SocketAddr,
        round_trip: Duration,
    ) {
        let Some(association) = self.newest_mut(inner_addr) else { return };
        let is_first = association.paths().outer_addr().is_none();
        association.offer_path(now.into(), path, round_trip.into());
        self.out.stir();
        // An answer of an address that is asked too comes too late.
        if let Some(join) = self.join.as_mut().filter(|_| is_first) {
            join.abandon();
        }
    }

    /// The checked paths to the peer at `inner_addr`, at most [`MAX_FALLBACKS`], that get copies after 300 ms without an opened
    /// packet. The seal decides by the packets that it opens which of them it takes.
    pub fn set_fallbacks(&mut self, inner_addr: SocketAddr, paths: &[SocketAddr]) {
        if let Some(association) = self.newest_mut(inner_addr) {
            association.paths_mut().set_fallbacks(paths);
            self.out.stir();
        }
    }

    /// Whether nothing was decrypted from the peer at `inner_addr` for so long that its fallbacks get copies.
    #[must_use]
    pub fn is_silent(&self, now: Duration, inner_addr: SocketAddr) -> bool {
        let silent_at = self.newest(inner_addr).map(|association| association.contact().silent_at());
        silent_at.is_some_and(|at| Time::from(now) >= at)
    }

    /// How long nothing was decrypted from the peer at `inner_addr`.
    #[must_use]
    pub fn silent_for(&self, now: Duration, inner_addr: SocketAddr) -> Option<Duration> {
        Some(Time::from(now).since(self.newest(inner_addr)?.contact().opened_at()).into())
    }

    /// How long nothing was decrypted from the peer at `inner_addr`, and the inner protocol has sent nothing to it.
    #[must_use]
    pub fn idle_for(&self, now: Duration, inner_addr: SocketAddr) -> Option<Duration> {
        Some(Time::from(now).since(self.newest(inner_addr)?.contact().idle_since()).into())
    }

    /// Whether a connection uses this path, or has it as a fallback.
    #[must_use]
    pub fn is_path(&self, addr: SocketAddr) -> bool {
        self.associations.iter().any(|association| association.paths().has(addr))
    }

    /// Logs the keys of connections from now on, for [`take_logged_keys`](Self::take_logged_keys). The readers of such a log can read
    /// and forge the packets of those connections: it is for a developer's own matches.
    pub fn log_keys(&mut self) {
        self.key_log.start();
    }

    /// The keys of the next connection that was made since [`log_keys`](Self::log_keys).
    pub fn take_logged_keys(&mut self) -> Option<ConnectionKeys> {
        self.key_log.take()
    }

    /// The counts so far.
    #[must_use]
    pub fn stats(&self) -> &SealStats {
        &self.stats
    }

    /// A number that no connection and no handshake has.
    fn free_index(&mut self) -> u16 {
        loop {
            let index = self.random.next_u64() as u16;
            let joining = self.join.as_ref().is_some_and(|join| join.uses(index));
            if !joining && self.associations.numbered(index).is_none() {
                return index;
            }
        }
    }
}

impl fmt::Debug for Seal {
    /// Neither keys nor the invite's public key, which is the right to join.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let associations = self.associations.len();
        f.debug_struct("Seal")
            .field("connections", &associations)
            .field("stats", &self.stats)
            .finish_non_exhaustive()
    }
}

/// Why there is no seal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SealError {
    /// The operating system has no random bytes.
    NoRandomness,
    /// There is no address to join.
    NoAddress,
    /// There are too many addresses to join.
    TooManyAddresses {
        /// How many.
        count: usize,
    },
    /// A host has [`MAX_KEYS`] keys already, or this one is one of them.
    TooManyKeys,
    /// No guest is expected in the role of a key.
    NoGuests,
}

impl fmt::Display for SealError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRandomness => f.write_str("the operating system has no random bytes"),
            Self::NoAddress => f.write_str("there is no address to join"),
            Self::TooManyAddresses { count } => {
                write!(f, "{count} addresses to join are more than {MAX_ADDRESSES}")
            }
            Self::TooManyKeys => write!(f, "a host has at most {MAX_KEYS} different keys"),
            Self::NoGuests => f.write_str("a key must admit at least one guest"),
        }
    }
}

impl core::error::Error for SealError {}

#[cfg(test)]
mod tests;
