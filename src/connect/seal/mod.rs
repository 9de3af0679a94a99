//! Sealed links: every datagram encrypted and authenticated, by a wrapper around any [`Protocol`](crate::Protocol).
//!
//! A [`Seal`] goes around a lobby and later around its session: `seal.around(&mut lobby)` is a [`Protocol`](crate::Protocol) that a driver
//! runs like any other. A stranger can neither read, forge, replay nor change a packet of a sealed link; `docs/SECURITY.md`
//! says what is left to do for whom, and `docs/WIRE.md` has the bytes.
//!
//! - **By invite** the joiner knows the host's public key ([`Seal::public_key`]). Knowing it is the right to join, and nobody
//!   else can pose as the host.
//! - **By address** the joiner takes the key of whoever answers there. Until both players have compared the
//!   [code](Seal::code), somebody in between may have answered.
//!
//! A seal has no clock and no socket: the packets of the protocol inside drive its handshake, which carries that protocol's
//! [opening message](crate::Protocol::opening). An [`Invite`](crate::Invite) is the line of text by which a joiner knows key and addresses of its host.
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

mod association;
mod associations;
mod channel;
mod cipher;
mod code;
mod handshakes;
mod hash;
mod host;
mod joiner;
mod key_log;
mod limits;
mod mac;
mod noise;
mod outbox;
mod padding;
mod paths;
mod random;
mod rate_limiter;
mod roam;
mod sealed;
mod signals;
mod stats;
#[cfg(test)]
mod tests;
mod window;

pub use code::Code;
pub use key_log::{ConnectionKeys, NotLoggedKeys, OpenedPacket};
pub use paths::MAX_FALLBACKS;
pub use random::Randomness;
pub use sealed::Sealed;
pub use signals::Brought;
pub use stats::{SealRefusal, SealStats};

use crate::protocol::{MAX_DATAGRAM, Protocol, canonical};
use crate::wire::seal::{KEY_LEN, Pattern};
use association::Association;
use associations::Associations;
use core::fmt;
use core::time::Duration;
use host::{Access, Host};
use joiner::Join;
use key_log::KeyLog;
use limits::Limits;
use outbox::Outbox;
use random::{Random, Secret};
use roam::MAX_CANDIDATES;
use std::collections::VecDeque;
use std::net::SocketAddr;

/// The most addresses that a joiner sends a REQUEST to.
pub const MAX_ADDRESSES: usize = 8;

/// The keys and connections of one machine. It is not `Clone`: two copies would seal different packets alike.
pub struct Seal {
    random: Random,
    host: Option<Host>,
    join: Option<Join>,
    associations: Associations,
    limits: Limits,
    out: Outbox,
    /// Where copies of the packet that was sent last go: to the other addresses of a peer that may have moved.
    copies: Vec<SocketAddr>,
    copied: Box<[u8; MAX_DATAGRAM]>,
    copied_len: usize,
    /// Signals that were opened.
    signals: VecDeque<(SocketAddr, Vec<u8>)>,
    /// Whether a RESP waits for the inner protocol's answer.
    answering: bool,
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

    /// A host that accepts by invite, with the private key of an earlier seal: old invites stay valid. Who gets that key can
    /// read the opening messages of all their handshakes.
    ///
    /// # Errors
    /// If the operating system has no random bytes.
    pub fn host_with_key(randomness: Randomness, secret_key: [u8; KEY_LEN]) -> Result<Self, SealError> {
        Self::hosting(randomness, Pattern::Invite, Some(Secret(secret_key)), None)
    }

    /// A host that accepts whoever knows its address.
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
        seal.joining(Some(host_key), addrs)?;
        Ok(seal)
    }

    /// A joiner by address. If two machines join each other, one of them becomes the host.
    ///
    /// # Errors
    /// If the operating system has no random bytes.
    pub fn join_open(randomness: Randomness, addr: SocketAddr) -> Result<Self, SealError> {
        let mut seal = Self::hosting(randomness, Pattern::Open, None, Some(canonical(addr)))?;
        seal.joining(None, &[addr])?;
        Ok(seal)
    }

    fn new(randomness: Randomness) -> Result<Self, SealError> {
        Ok(Self {
            random: Random::new(randomness).ok_or(SealError::NoRandomness)?,
            host: None,
            join: None,
            associations: Associations::new(),
            limits: Limits::default(),
            out: Outbox::new(),
            copies: Vec::with_capacity(MAX_CANDIDATES),
            copied: Box::new([0; MAX_DATAGRAM]),
            copied_len: 0,
            signals: VecDeque::new(),
            answering: false,
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
        let access = Access::new(pattern, secret, &mut seal.random).ok_or(SealError::NoRandomness)?;
        seal.host = Some(Host::new(access, only));
        Ok(seal)
    }

    fn joining(&mut self, host_key: Option<[u8; KEY_LEN]>, addrs: &[SocketAddr]) -> Result<(), SealError> {
        let addrs: Vec<SocketAddr> = addrs.iter().copied().map(canonical).collect();
        let inner_addr = match &addrs[..] {
            [] => return Err(SealError::NoAddress),
            [only] => *only,
            _ if addrs.len() > MAX_ADDRESSES => {
                return Err(SealError::TooManyAddresses { count: addrs.len() });
            }
            _ => self.associations.make_up(),
        };
        let (nonce, index) = (self.random.next_u64(), self.random.next_u64() as u16);
        self.join = Some(Join::new(host_key.map(Secret), addrs, inner_addr, nonce, index));
        Ok(())
    }

    /// A host expects this many guests at once: one, unless this was called. The handshakes that it works off in a second, and
    /// the guests without a seat that it keeps, grow with the number. A joiner has no use for it.
    pub fn expect_guests(&mut self, guests: u8) {
        self.limits = Limits::of(guests);
        self.out.limits = self.limits;
        if let Some(host) = &mut self.host {
            host.expect(self.limits);
        }
    }

    /// This seal around a protocol: a protocol whose every datagram is sealed. Borrow it anew for each call.
    #[inline]
    pub fn around<'a, P: Protocol>(&'a mut self, inner: &'a mut P) -> Sealed<'a, P> {
        Sealed { seal: self, inner }
    }

    /// When the seal itself has something to send, whatever the protocol inside it has.
    #[inline]
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Duration> {
        self.out.deadline()
    }

    /// The public key of the invite; `None` if this seal accepts nobody by invite. It is a secret of those who may join.
    #[must_use]
    pub fn public_key(&self) -> Option<[u8; KEY_LEN]> {
        self.invite_access().map(|access| access.keys.public)
    }

    /// The private key of the invite, for a host that keeps it for later. `None` if this seal accepts nobody by invite.
    #[must_use]
    pub fn secret_key(&self) -> Option<[u8; KEY_LEN]> {
        self.invite_access().map(|access| access.keys.secret.0)
    }

    fn invite_access(&self) -> Option<&Access> {
        self.host.as_ref()?.accesses.iter().find(|access| access.pattern == Pattern::Invite)
    }

    /// The address for the lobby to join: the one that was asked for, or a made-up one for an invite with several.
    #[must_use]
    pub fn target(&self) -> Option<SocketAddr> {
        self.join.as_ref().map(|join| join.inner_addr)
    }

    /// The address that packets to the peer at this inner address go to; `None` before there is a path.
    #[must_use]
    pub fn outer_addr(&self, inner_addr: SocketAddr) -> Option<SocketAddr> {
        self.newest(inner_addr)
            .filter(|association| association.has_path())
            .map(|association| association.outer_addr)
    }

    /// The code of a connection by address, once both sides have sent their part of it: for the players to compare.
    #[must_use]
    pub fn code(&self, inner_addr: SocketAddr) -> Option<Code> {
        self.newest(inner_addr)?.comparison.code()
    }

    /// Whether it is certain who is at the other end: by invite always, by address once [`verify`](Self::verify) was called.
    #[must_use]
    pub fn is_verified(&self, inner_addr: SocketAddr) -> bool {
        self.newest(inner_addr).is_some_and(|association| association.verified)
    }

    /// The player says that the code is the same at the other end. `false` if there is no code yet.
    pub fn verify(&mut self, inner_addr: SocketAddr) -> bool {
        let at = self.associations.towards(inner_addr);
        let compared = at.and_then(|at| self.associations.get_mut(at));
        match compared.filter(|association| association.comparison.code().is_some()) {
            Some(association) => {
                association.verified = true;
                true
            }
            None => false,
        }
    }

    fn newest(&self, inner_addr: SocketAddr) -> Option<&Association> {
        self.associations.towards(inner_addr).and_then(|at| self.associations.get(at))
    }

    /// Logs the keys of connections from now on, for [`take_logged_keys`](Self::take_logged_keys). Who gets such a log can read
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

    /// Something may be due sooner than was known.
    fn stir(&mut self) {
        self.out.stir();
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
}

impl fmt::Display for SealError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRandomness => f.write_str("the operating system has no random bytes"),
            Self::NoAddress => f.write_str("there is no address to join"),
            Self::TooManyAddresses { count } => {
                write!(f, "{count} addresses to join are more than {MAX_ADDRESSES}")
            }
        }
    }
}

impl core::error::Error for SealError {}
