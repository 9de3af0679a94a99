//! NAT traversal around a sealed protocol: the way of each datagram in and out.

use super::NatTraversal;
use super::allocation::Heard;
use super::paths::{Path, is_made_up};
use super::tunnel::{DTLS, Tunnel, is_tunnel};
use super::work::carry;
use crate::connect::seal::Seal;
use crate::protocol::stream_addr::{Notice, is_stream};
use crate::protocol::time::{Span, Time};
use crate::protocol::trace;
use crate::protocol::{MAX_DATAGRAM, Protocol};
use core::time::Duration;
use std::net::SocketAddr;

/// [`NatTraversal`] around a [`Seal`] around a [`Protocol`], as [`NatTraversal::around`] makes it.
#[derive(Debug)]
pub struct NatLayer<'a, P> {
    nat: &'a mut NatTraversal,
    seal: &'a mut Seal,
    inner: &'a mut P,
}

/// First bytes of STUN messages, of packets of a rendezvous, and of sealed packets that may bring a signal.
const STUN: core::ops::RangeInclusive<u8> = 0x00..=0x03;
const RENDEZVOUS: core::ops::RangeInclusive<u8> = 0xE8..=0xEF;
/// First bytes of data in a channel of a relay.
const CHANNEL: core::ops::RangeInclusive<u8> = 0x40..=0x4F;
/// A tunnel that wants to be run within this long is run at once.
const LOOK: Span = Span::from_millis(50);
const RESP: u8 = 0xE3;
const CONTROL: u8 = 0xE7;

/// Whether a relay sends datagrams with this first byte.
fn is_of_relay(first: u8) -> bool {
    STUN.contains(&first) || CHANNEL.contains(&first)
}

impl<P: Protocol> Protocol for NatLayer<'_, P> {
    fn handle_datagram(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        let now = Time::from(now);
        let first = datagram.first().copied().unwrap_or_default();
        if RENDEZVOUS.contains(&first) && self.nat.signalling.is_server(from) {
            self.nat.signalling.handle(now, from, datagram);
            self.nat.outbox.stir();
        } else if self.nat.relay.is_server(from) && is_of_relay(first) && self.relayed(now, from, datagram) {
            // The relay's own, or brought by it.
        } else if is_stream(from) {
            // Servers alone are reached over streams.
            self.noticed(from, datagram);
        } else if self.nat.endpoint.is_relay_only() {
            self.nat.stats.not_relayed += 1;
        } else {
            self.arrived(now, Path { relayed: false, remote: from }, datagram);
        }
    }

    fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        let at = Time::from(now);
        if self.nat.outbox.is_due(at) {
            self.nat.work(at, self.seal);
        }
        if let Some(own) = self.nat.outbox.pop(buf) {
            return Some(own);
        }
        let room = buf.len().min(MAX_DATAGRAM);
        loop {
            let (to, len) = self.seal.around(self.inner).poll_transmit(now, &mut buf[..room])?;
            if is_tunnel(to) {
                self.tunnel(at, to, &buf[..len]);
                if let Some(own) = self.nat.outbox.pop(buf) {
                    return Some(own);
                }
            } else if is_made_up(to) {
                if let Some(sent) = self.wrap(at, to, len, buf) {
                    return Some(sent);
                }
                self.nat.stats.unsent += 1;
            } else if self.nat.endpoint.is_relay_only() {
                self.nat.stats.not_relayed += 1;
            } else {
                return Some((to, len));
            }
        }
    }

    fn poll_timeout(&self) -> Option<Duration> {
        let timeouts = [self.inner.poll_timeout(), self.seal.poll_timeout(), self.nat.poll_timeout()];
        timeouts.into_iter().flatten().min()
    }

    fn wants_attention(&self, now: Duration) -> bool {
        self.inner.wants_attention(now)
    }

    fn lingers(&self) -> bool {
        self.inner.lingers()
    }
}

impl<'a, P: Protocol> NatLayer<'a, P> {
    #[inline]
    pub(super) fn new(nat: &'a mut NatTraversal, seal: &'a mut Seal, inner: &'a mut P) -> Self {
        Self { nat, seal, inner }
    }

    /// Takes a datagram from the relay's address: its own, or one that it relays. `false` if it is neither: a rendezvous that
    /// lies may name the peer's address as the relay's, and the peer's datagrams are then ordinary ones.
    fn relayed(&mut self, now: Time, from: SocketAddr, datagram: &[u8]) -> bool {
        match self.nat.relay.handle(now, from, datagram) {
            Heard::Nothing => return false,
            Heard::Own => self.nat.outbox.stir(),
            Heard::Seen(addr) => {
                self.nat.endpoint.relay_saw(addr);
                self.nat.outbox.stir();
            }
            Heard::From(remote, range) => {
                if let Some(inside) = datagram.get(range) {
                    self.arrived(now, Path { relayed: true, remote }, inside);
                }
            }
        }
        true
    }

    /// A stream has opened or ended.
    #[cold]
    fn noticed(&mut self, from: SocketAddr, datagram: &[u8]) {
        let Some(notice) = Notice::read(datagram) else { return self.refuse(from, "nothing of the server") };
        trace::stream(from, &notice);
        self.nat.signalling.notice(from, notice);
        self.nat.relay.notice(from, notice);
        self.nat.outbox.stir();
    }

    /// A datagram that came on a path: a check, or something for the seal.
    #[inline]
    fn arrived(&mut self, now: Time, path: Path, datagram: &[u8]) {
        let first = datagram.first().copied().unwrap_or_default();
        if STUN.contains(&first) {
            self.checked(now, path, datagram);
            return;
        }
        if DTLS.contains(&first) {
            self.tunnelled(now, path, datagram);
            return;
        }
        let seal = &*self.seal;
        let Some(addr) = self.nat.paths.addr(path, |addr| seal.is_path(addr)) else {
            self.refuse(path.remote, "no room for another path");
            return;
        };
        self.seal.around(self.inner).handle_datagram(now.into(), addr, datagram);
        if matches!(first, RESP | CONTROL) {
            self.nat.outbox.stir();
        }
    }

    /// A STUN message came on a path.
    #[cold]
    fn checked(&mut self, now: Time, path: Path, datagram: &[u8]) {
        if self.nat.searches.handle(now, path, datagram) {
            self.nat.outbox.stir();
        } else if let Some(mapped) =
            self.nat.manual.handle(now, path.remote, datagram).filter(|_| !path.relayed)
        {
            self.nat.endpoint.rendezvous_saw(mapped);
            self.nat.outbox.stir();
        } else {
            self.refuse(path.remote, "STUN");
        }
    }

    /// A datagram of DTLS came on a path: messages of a data channel for the seal, or its handshake.
    fn tunnelled(&mut self, now: Time, path: Path, datagram: &[u8]) {
        let NatTraversal { searches, relay, outbox, stats, .. } = &mut *self.nat;
        let Some(search) = searches.tunnelled(path) else { return self.refuse(path.remote, "DTLS") };
        let Some(tunnel) = search.channel_mut().tunnel_mut() else { return };
        tunnel.handle(now, datagram);
        let addr = tunnel.addr();
        while let Some(message) = search.channel_mut().tunnel_mut().and_then(Tunnel::pop_message) {
            self.seal.around(self.inner).handle_datagram(now.into(), addr, &message);
            if matches!(message.first(), Some(&(RESP | CONTROL))) {
                outbox.stir();
            }
        }
        stats.refused += carry(now, search, relay, outbox);
        if search.channel().deadline() <= now + LOOK {
            outbox.stir();
        }
    }

    /// Puts a sealed packet at the front of `buf` into the data channel of its peer.
    fn tunnel(&mut self, now: Time, to: SocketAddr, packet: &[u8]) {
        let NatTraversal { searches, relay, outbox, stats, .. } = &mut *self.nat;
        let Some(search) = searches.of_tunnel(to) else {
            stats.unsent += 1;
            return;
        };
        let is_sent = search.channel_mut().tunnel_mut().is_some_and(|tunnel| tunnel.send(now, packet));
        stats.unsent += u64::from(!is_sent);
        stats.refused += carry(now, search, relay, outbox);
    }

    #[cold]
    fn refuse(&mut self, from: SocketAddr, what: &str) {
        self.nat.stats.refused += 1;
        trace::refused(from, &what, &"nat");
    }

    /// Puts a sealed packet at the front of `buf` into a datagram to the relay.
    #[cold]
    fn wrap(&mut self, now: Time, to: SocketAddr, len: usize, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        let path = self.nat.paths.path(to)?;
        self.nat.relay.wrap(now, path.remote, len, buf)
    }
}

#[cfg(test)]
mod tests {
    use super::super::manual::Manual;
    use super::super::signalling::{Client, Signalling};
    use super::super::{NatConfig, RelayPolicy};
    use super::*;
    use crate::connect::seal::Randomness;
    use crate::protocol::time::Span;
    use crate::{Config, Lobby};

    fn at(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    fn nat(relay: RelayPolicy) -> NatTraversal {
        let mut config = NatConfig::new(std::time::Instant::now(), [at("192.0.2.1:7000")]);
        (config.relay, config.randomness) = (relay, Randomness::Seeded(1));
        NatTraversal::new(config, Signalling::new(Client::Manual { is_host: false }), Manual::default())
            .unwrap()
    }

    #[test]
    fn packets_of_the_seal_leave_through_the_relay_only() {
        let host = at("192.0.2.2:7000");
        for (relay, sent) in [(RelayPolicy::Allow, true), (RelayPolicy::Only, false)] {
            let (mut nat, mut buf) = (nat(relay), [0; MAX_DATAGRAM]);
            // A seal that sends REQUESTs to an address by itself.
            let mut seal = Seal::join_open(Randomness::Seeded(2), host).unwrap();
            let mut lobby = Lobby::join(Config::new(7), seal.target().unwrap()).unwrap();
            let to =
                nat.around(&mut seal, &mut lobby).poll_transmit(Duration::ZERO, &mut buf).map(|(to, _)| to);
            assert_eq!(to, sent.then_some(host));
            assert_eq!(nat.stats.not_relayed > 0, !sent);
        }
    }

    #[test]
    fn control_packet_is_looked_at_without_delay() {
        let mut seal = Seal::host(Randomness::Seeded(2)).unwrap();
        let mut lobby = Lobby::host(Config::new(7)).unwrap();
        for (first, stirs) in [(RESP, true), (CONTROL, true), (0xE4, false)] {
            let mut nat = nat(RelayPolicy::Allow);
            nat.outbox.idle_until(Time::NEVER);
            let mut layer = nat.around(&mut seal, &mut lobby);
            layer.handle_datagram(Duration::ZERO, at("192.0.2.2:7000"), &[first; 60]);
            assert_eq!(nat.poll_timeout().is_some(), stirs, "{first:02X}");
        }
    }

    #[test]
    fn timeout_is_the_soonest_of_protocol_seal_and_paths() {
        let mut nat = nat(RelayPolicy::Allow);
        let mut seal = Seal::host(Randomness::Seeded(2)).unwrap();
        let mut lobby = Lobby::host(Config::new(7)).unwrap();
        let inner = [lobby.poll_timeout(), seal.poll_timeout()].into_iter().flatten().min();
        for millis in [1, 3_600_000] {
            nat.outbox.idle_until(Time::ZERO + Span::from_millis(millis));
            let own = Some(Duration::from_millis(millis));
            let soonest = inner.map_or(own, |inner| own.map(|own| own.min(inner)));
            assert_eq!(nat.around(&mut seal, &mut lobby).poll_timeout(), soonest);
        }
    }
}
