//! The data channel of one search: whether the peer is reached over one, and the tunnel once both certificates are known.

use super::origin::Origin;
use super::signal::{OwnPart, Signal};
use super::tunnel::{Certificate, Tunnel};
use crate::protocol::time::Time;
use std::sync::Arc;

/// The data channel of one search.
#[derive(Debug)]
pub(super) struct Channel {
    origin: Origin,
    /// The joiner waits for the DTLS handshake of the host, as a browser that offers does.
    is_joiner: bool,
    /// Ours, if a data channel is wanted, and the number of our part.
    own: Option<(Arc<Certificate>, u64)>,
    tunnel: Option<Box<Tunnel>>,
}

impl Channel {
    pub(super) fn new(origin: Origin, is_joiner: bool, part: &OwnPart) -> Self {
        let mut channel = Self { origin, is_joiner, own: None, tunnel: None };
        channel.renew(part);
        channel
    }

    /// A new search has a new tunnel.
    pub(super) fn renew(&mut self, part: &OwnPart) {
        self.own = part.certificate.clone().map(|certificate| (certificate, part.number));
        self.tunnel = None;
    }

    /// Whether the peer is reached over a data channel alone.
    pub(super) fn is_wanted(&self) -> bool {
        self.own.is_some()
    }

    /// The peer's signal has come: the handshake can begin.
    pub(super) fn begin(&mut self, now: Time, signal: &Signal) {
        if let (Some((own, number)), Some(theirs)) = (&self.own, signal.fingerprint) {
            let tunnel = Tunnel::new(now, self.origin, *number, own, theirs, !self.is_joiner);
            self.tunnel = tunnel.map(Box::new);
        }
    }

    pub(super) fn tunnel(&self) -> Option<&Tunnel> {
        self.tunnel.as_deref()
    }

    pub(super) fn tunnel_mut(&mut self) -> Option<&mut Tunnel> {
        self.tunnel.as_deref_mut()
    }

    /// When the tunnel wants to be run, if there is one.
    pub(super) fn deadline(&self) -> Time {
        self.tunnel().map_or(Time::NEVER, Tunnel::deadline)
    }
}
