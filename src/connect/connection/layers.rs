//! The layers between a protocol and the transport: nothing, the encryption, or the encryption and the paths.

use super::ConnectError;
use super::paths::Paths;
use super::peer::{ConnectionStats, Hint, PeerInfo};
use crate::connect::seal::{Seal, SealRefusal};
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

    pub(super) fn paths(&self) -> Option<&Paths> {
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

    pub(super) fn take_answer(&mut self, now: Duration, text: &str) -> Result<(), ConnectError> {
        match self {
            Self::Reached(seal, paths) => paths.take_answer(now, seal, text),
            _ => Err(ConnectError::Options { why: "this machine has made no offer" }),
        }
    }

    /// Whether the text of manual signalling is not written yet.
    pub(super) fn owes_text(&self) -> bool {
        self.paths().is_some_and(Paths::owes_text)
    }

    /// The text of manual signalling, once it is written.
    pub(super) fn take_text(&mut self, now: Duration) -> Option<String> {
        match self {
            Self::Reached(seal, paths) => paths.take_text(now, seal),
            Self::Bare { .. } | Self::Sealed(_) => None,
        }
    }

    pub(super) fn hint(&self) -> Option<Hint> {
        match self {
            Self::Bare { encrypted, .. } => (*encrypted > 0).then_some(Hint::Encrypted),
            Self::Sealed(seal) | Self::Reached(seal, _) => {
                let came = |refusal| seal.stats().refused.of(refusal) > 0;
                let hints = [
                    (SealRefusal::Bare, Hint::Bare),
                    (SealRefusal::OtherVersion, Hint::OtherVersion),
                    (SealRefusal::BadMac, Hint::OtherInvite),
                ];
                hints.into_iter().find(|(refusal, _)| came(*refusal)).map(|(_, hint)| hint)
            }
        }
    }

    /// The likely cause if a joiner gets no answer.
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
            player: seal.player(addr),
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
            stats.refused = seal.refused.total();
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

#[cfg(test)]
mod tests {
    use super::*;

    const BARE: Layers = Layers::Bare { is_trusted: false, encrypted: 0 };

    /// A protocol that notes what it is handed, and has an answer to every question.
    #[derive(Default)]
    struct Inner {
        heard: Vec<u8>,
    }

    impl Protocol for Inner {
        fn handle_datagram(&mut self, _: Duration, _: SocketAddr, datagram: &[u8]) {
            self.heard.extend(datagram);
        }

        fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
            buf[0] = now.as_secs() as u8;
            Some((([192, 0, 2, 1], 7).into(), 1))
        }

        fn poll_timeout(&self) -> Option<Duration> {
            Some(Duration::from_secs(9))
        }

        fn wants_attention(&self, now: Duration) -> bool {
            now >= Duration::from_secs(3)
        }

        fn lingers(&self) -> bool {
            true
        }
    }

    #[test]
    fn bare_layer_hands_every_call_on() {
        let (mut inner, mut encrypted) = (Inner::default(), 0);
        let mut bare = Bare { inner: &mut inner, encrypted: &mut encrypted };
        let (from, mut buf) = (([192, 0, 2, 1], 7).into(), [0]);
        for first in [0xDF, 0xE0, 0xE7, 0xE8] {
            bare.handle_datagram(Duration::ZERO, from, &[first]);
        }
        bare.handle_datagram(Duration::ZERO, from, &[]);
        assert_eq!(bare.poll_transmit(Duration::from_secs(5), &mut buf), Some((from, 1)));
        assert_eq!((buf, bare.poll_timeout()), ([5], Some(Duration::from_secs(9))));
        assert!(
            !bare.wants_attention(Duration::from_secs(2)) && bare.wants_attention(Duration::from_secs(3))
        );
        assert!(bare.lingers());
        assert_eq!((inner.heard, encrypted), (vec![0xDF, 0xE0, 0xE7, 0xE8], 2));
    }

    #[test]
    fn bare_peer_has_its_address_in_one_form() {
        let mapped = "[::ffff:192.0.2.1]:7".parse().unwrap();
        assert_eq!(BARE.peer(mapped).addr, Some(([192, 0, 2, 1], 7).into()));
    }

    #[test]
    fn advice_goes_by_the_hint_before_the_layers() {
        let advises = |hint, text: &str| {
            let advice = BARE.advice(hint, false);
            assert!(advice.contains(text), "{advice}");
        };
        advises(Some(Hint::OtherVersion), "both need the same version");
        advises(Some(Hint::Bare), "does not encrypt");
        advises(Some(Hint::Encrypted), "join it by its invite");
        advises(None, "and bare too?");
        let trusted = Layers::Bare { is_trusted: true, encrypted: 0 };
        assert_eq!(trusted.advice(None, false), "Is the host waiting there?");
    }
}
