//! The layers between a protocol and the transport: nothing, the encryption, or the encryption and the paths.

use super::ConnectError;
use super::paths::Paths;
use super::peer::{ConnectionStats, Hint, PeerInfo};
use crate::connect::seal::{ConnectionKeys, Seal, SealRefusal};
use crate::{Protocol, canonical};
use core::time::Duration;
use std::net::SocketAddr;

/// The first bytes of encrypted packets, by which a bare side recognises them.
const ENCRYPTED: core::ops::RangeInclusive<u8> = 0xE0..=0xE7;

/// The layers of a connection.
#[derive(Debug)]
pub(super) enum Layers {
    /// None: named bare, or encrypted by the transport.
    Bare {
        is_trusted: bool,
        /// Encrypted datagrams that came.
        encrypted: u64,
    },
    Sealed(Box<Seal>),
    Reached(Box<Seal>, Box<Paths>),
}

impl Layers {
    pub(super) fn seal(&self) -> Option<&Seal> {
        match self {
            Self::Bare { .. } => None,
            Self::Sealed(seal) | Self::Reached(seal, _) => Some(seal),
        }
    }

    pub(super) fn seal_mut(&mut self) -> Option<&mut Seal> {
        match self {
            Self::Bare { .. } => None,
            Self::Sealed(seal) | Self::Reached(seal, _) => Some(seal),
        }
    }

    fn paths(&self) -> Option<&Paths> {
        match self {
            Self::Bare { .. } | Self::Sealed(_) => None,
            Self::Reached(_, paths) => Some(paths),
        }
    }

    pub(super) fn paths_mut(&mut self) -> Option<&mut Paths> {
        match self {
            Self::Bare { .. } | Self::Sealed(_) => None,
            Self::Reached(_, paths) => Some(paths),
        }
    }

    pub(super) fn has_paths(&self) -> bool {
        self.paths().is_some()
    }

    pub(super) fn is_manual(&self) -> bool {
        self.paths().is_some_and(Paths::is_manual)
    }

    /// Notes how far the search is.
    #[inline]
    pub(super) fn look(&mut self, now: Duration) {
        if let Self::Reached(_, paths) = self {
            paths.look(now);
        }
    }

    /// Gives an address on a relay back; a message to the relay waits to be sent.
    pub(super) fn release(&mut self, now: Duration) {
        if let Some(paths) = self.paths_mut() {
            paths.release(now);
        }
    }

    pub(super) fn take_answer(&mut self, now: Duration, text: &str) -> Result<(), ConnectError> {
        match self {
            Self::Reached(seal, paths) => paths.take_answer(now, seal, text),
            _ => Err(ConnectError::Options { why: "this machine has made no offer" }),
        }
    }

    pub(super) fn take_logged_keys(&mut self) -> Option<ConnectionKeys> {
        self.seal_mut()?.take_logged_keys()
    }

    pub(super) fn progress(&self) -> Option<String> {
        self.paths().map(Paths::progress)
    }

    pub(super) fn failure(&self, now: Duration) -> Option<ConnectError> {
        self.paths()?.failure(now)
    }

    pub(super) fn hint(&self) -> Option<Hint> {
        match self {
            Self::Bare { encrypted, .. } => (*encrypted > 0).then_some(Hint::Encrypted),
            Self::Sealed(seal) | Self::Reached(seal, _) => {
                let came = |refusal| seal.stats().refused(refusal) > 0;
                let hints = [
                    (SealRefusal::Bare, Hint::Bare),
                    (SealRefusal::OtherVersion, Hint::OtherVersion),
                    (SealRefusal::BadMac, Hint::OtherInvite),
                ];
                hints.into_iter().find(|(refusal, _)| came(*refusal)).map(|(_, hint)| hint)
            }
        }
    }

    /// The likely cause if nobody answers a joiner.
    pub(super) fn advice(&self, hint: Option<Hint>, is_invited: bool) -> &'static str {
        match (self, hint) {
            (_, Some(Hint::OtherVersion)) => {
                "Something there encrypts in another way: both need the same version of the game."
            }
            // Anybody can send a bare packet: no text may talk a player out of the encryption of an invite.
            (_, Some(Hint::Bare)) if !is_invited => {
                "Something there does not encrypt: both sides have to name a bare connection."
            }
            (_, Some(Hint::Encrypted)) => {
                "Something there encrypts: join it by its invite, or by its address."
            }
            (Self::Bare { is_trusted: false, .. }, _) => {
                "Is the host waiting there, and bare too? An encrypted host ignores bare packets."
            }
            (Self::Bare { .. }, _) => "Is the host waiting there?",
            (Self::Reached(_, paths), _) if paths.is_manual() => "Has the host taken your answer?",
            (_, _) if is_invited => {
                "Is the host still waiting, with this invite? Does its router forward the port (UDP)?"
            }
            (_, _) => {
                "Is the host open at this address? Otherwise you need its invite. Does its router forward the port (UDP)?"
            }
        }
    }

    pub(super) fn peer(&self, addr: SocketAddr) -> PeerInfo {
        let Some(seal) = self.seal() else {
            let is_verified = matches!(self, Self::Bare { is_trusted: true, .. });
            return PeerInfo { addr: Some(canonical(addr)), is_verified, ..PeerInfo::default() };
        };
        let mut info = PeerInfo {
            addr: seal.outer_addr(addr),
            code: seal.code(addr),
            is_verified: seal.is_verified(addr),
            ..PeerInfo::default()
        };
        if let Some(paths) = self.paths() {
            paths.describe(seal, addr, &mut info);
        }
        info
    }

    pub(super) fn stats(&self) -> ConnectionStats {
        let mut stats = ConnectionStats::default();
        if let Some(seal) = self.seal().map(Seal::stats) {
            stats.connections = seal.connections;
            stats.handshakes = seal.handshakes;
            stats.refused = seal.refused_total();
        }
        if let Some(paths) = self.paths() {
            paths.count(&mut stats);
        }
        stats
    }
}

/// Runs a call of the driver on a protocol with the layers around it. The layers are told apart once for a call and not
/// for every datagram, so that a connection costs no more than its parts.
macro_rules! around {
    ($layers:expr, $inner:expr, $protocol:ident => $call:expr) => {
        match &mut $layers {
            Layers::Bare { encrypted, .. } => {
                let $protocol = &mut layers::Bare { inner: $inner, encrypted };
                $call
            }
            Layers::Sealed(seal) => {
                let $protocol = &mut seal.around($inner);
                $call
            }
            Layers::Reached(seal, paths) => {
                let $protocol = &mut paths.around(seal, $inner);
                $call
            }
        }
    };
}
pub(super) use around;

/// A protocol without encryption, which counts the encrypted datagrams that come.
pub(super) struct Bare<'a, P> {
    pub(super) inner: &'a mut P,
    pub(super) encrypted: &'a mut u64,
}

impl<P: Protocol> Protocol for Bare<'_, P> {
    fn handle_datagram(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        if datagram.first().is_some_and(|first| ENCRYPTED.contains(first)) {
            *self.encrypted += 1;
        }
        self.inner.handle_datagram(now, from, datagram);
    }

    fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        self.inner.poll_transmit(now, buf)
    }

    fn poll_timeout(&self) -> Option<Duration> {
        self.inner.poll_timeout()
    }

    fn wants_attention(&self, now: Duration) -> bool {
        self.inner.wants_attention(now)
    }

    fn lingers(&self) -> bool {
        self.inner.lingers()
    }
}
