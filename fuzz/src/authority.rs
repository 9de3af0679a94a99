//! What the two authority targets share: a server and two clients in the simulated network of `tests/authority`, and an attacker.

use crate::attack::{MAX_ATTACKS, SEEN, damage, stranger};
use crate::bytes::Bytes;
use crate::memory::Kept;
use lab::{Format, Lab, Named, SERVER, client_addr, server_addr};
use rebout::authority::{Body, ServerEvent};
use rebout::lab::link::LinkConfig;
use rebout::lab::sim::{EntryKind, Recording};
use rebout::wire::control::{ControlPacket, ControlPayload};
use rebout::wire::rtype::{RtypePacket, RtypePayload};
use std::net::SocketAddr;
use std::time::Duration;

#[allow(dead_code, unused_imports, unused_macros)]
#[path = "../../tests/authority/lab.rs"]
mod lab;

const MAX_KEPT: i64 = 8 << 20;
/// The most datagrams of a machine in a second: snapshots or updates for two, acks, and what is repeated.
const MAX_PER_SECOND: u64 = 3_000;
/// The client that is attacked, or in whose name the server is.
const CLIENT: usize = 1;
/// An ACK and a WELCOME on R-Type.
const WELCOME_LEN: u64 = 15;

struct Attack<W: Named> {
    lab: Lab<W>,
    victim: usize,
    /// The bytes that may go to strangers: 16 for 15 on GAME, an ACK and a WELCOME for a HELLO on R-Type.
    allowed: u64,
}

impl<W: Named> Attack<W> {
    fn new(wire: W, victim: usize) -> Self {
        let mut lab = Lab::speaking(wire, 1, LinkConfig::new(Duration::from_millis(10)));
        lab.server_mut().keeps_history = false;
        for client in [lab.client(Duration::ZERO), lab.client(Duration::ZERO)] {
            lab.client_mut(client).keeps = false;
        }
        lab.world.network_mut().record(Recording::Full);
        Self { lab, victim, allowed: 0 }
    }

    fn peer(&self) -> SocketAddr {
        if self.victim == SERVER { client_addr(CLIENT) } else { server_addr() }
    }

    fn here(&self) -> SocketAddr {
        if self.victim == SERVER { server_addr() } else { client_addr(CLIENT) }
    }

    /// The datagrams from one address to another, the newest first.
    fn said(&self, from: SocketAddr, to: SocketAddr) -> impl Iterator<Item = &[u8]> {
        let entries = self.lab.world.network().transcript().entries().iter().rev();
        entries
            .filter(move |entry| entry.kind == EntryKind::Sent && entry.from == from && entry.to == to)
            .map(|entry| &entry.datagram[..])
    }

    fn refused(&self) -> u64 {
        match self.victim {
            SERVER => self.lab.server().server.stats().refused.total(),
            client => self.lab.client_at(client).client.stats().refused.total(),
        }
    }

    /// Gives a datagram the next number of its true sender, with an offset.
    fn renumber(&self, wire: W, datagram: &mut [u8], bytes: &mut Bytes<'_>) {
        let (place, newest) = match wire.format() {
            Format::Game => (4..6, self.said(self.peer(), self.here()).find_map(|one| one.get(4..6))),
            Format::Rtype => (2..4, self.said(self.peer(), self.here()).find_map(|one| one.get(2..4))),
        };
        let Some(newest) = newest.and_then(|bytes| bytes.try_into().ok()).map(u16::from_be_bytes) else {
            return;
        };
        let next = newest.wrapping_add(1).wrapping_add_signed((bytes.u8() as i8).into());
        if let Some(number) = datagram.get_mut(place) {
            number.copy_from_slice(&next.to_be_bytes());
        }
    }

    /// Whether a datagram acknowledges a packet that the victim has not sent yet, and the client has its seat: before, such a datagram
    /// proves nothing and is not refused.
    fn acks_the_future(&self, wire: W, datagram: &[u8]) -> bool {
        let is_seated = self
            .lab
            .client_at(CLIENT)
            .client
            .id()
            .is_some_and(|id| self.lab.server().server.body(id).is_some());
        if !is_seated {
            return false;
        }
        let is_ahead = |ack: u16, newest: u16| (1..1_000).contains(&ack.wrapping_sub(newest));
        match wire.format() {
            Format::Game => {
                let Ok(packet) = ControlPacket::decode(datagram) else { return false };
                let is_plain = matches!(
                    packet.payload,
                    ControlPayload::Heartbeat | ControlPayload::Input(_) | ControlPayload::Ping(_)
                );
                let newest =
                    self.said(self.here(), self.peer()).find_map(|one| ControlPacket::decode(one).ok());
                is_plain && newest.is_some_and(|newest| is_ahead(packet.header.ack, newest.header.sequence))
            }
            Format::Rtype => {
                let Ok(RtypePacket { payload: RtypePayload::Ack(ack), .. }) = RtypePacket::decode(datagram)
                else {
                    return false;
                };
                let newest =
                    self.said(self.here(), self.peer()).find_map(|one| RtypePacket::decode(one).ok());
                newest.is_some_and(|newest| is_ahead(ack, newest.header.sequence))
            }
        }
    }

    fn hand_in(&mut self, from: SocketAddr, datagram: &[u8]) {
        use rebout::Protocol as _;
        let now = self.lab.world.local_now(self.victim);
        match self.victim {
            SERVER => self.lab.server_mut().server.handle_datagram(now, from, datagram),
            client => self.lab.client_mut(client).client.handle_datagram(now, from, datagram),
        }
    }

    fn check(&self, is_outside: bool) {
        let network = self.lab.world.network();
        let to_strangers = network.stats().unroutable.payload_bytes;
        assert!(
            to_strangers <= self.allowed,
            "{to_strangers} bytes to strangers, {} are allowed",
            self.allowed
        );
        let is_finite = |body: &Body| body.x.is_finite() && body.y.is_finite();
        for client in [1, 2] {
            let client = &self.lab.client_at(client).client;
            assert!(client.predicted().is_none_or(is_finite), "{:?}", client.predicted());
            assert!(client.others().all(|seen| is_finite(&seen.body)));
        }
        for id in 0..3 {
            let (sent, _) = self.lab.world.traffic(id);
            let limit = MAX_PER_SECOND * (self.lab.world.now().as_secs() + 1);
            assert!(sent.datagrams <= limit, "{id} sent {} datagrams", sent.datagrams);
        }
        if is_outside {
            let is_left =
                self.lab.server().events.iter().any(|event| matches!(event, ServerEvent::Left { .. }));
            assert!(!is_left, "a stranger made a player leave: {:?}", self.lab.server().events);
        }
    }
}

/// Attacks one side of the match on one wire.
pub(crate) fn attack<W: Named>(wire: W, victim: usize, bytes: &mut Bytes<'_>) {
    let mut attack = Attack::new(wire, victim);
    let kept = Kept::new(MAX_KEPT);
    let is_outside = bytes.flag();
    let mut until = Duration::from_millis(8) * u32::from(bytes.u8());
    attack.lab.run_until(until);
    for _ in 0..MAX_ATTACKS {
        if bytes.is_empty() {
            break;
        }
        let (peer, here) = (attack.peer(), attack.here());
        let mut seen: Vec<Vec<u8>> = attack.said(peer, here).take(SEEN / 2).map(<[u8]>::to_vec).collect();
        seen.extend(attack.said(here, peer).take(SEEN / 2).map(<[u8]>::to_vec));
        let mut datagram = seen.get(bytes.below(SEEN)).cloned().unwrap_or_default();
        damage(bytes, &mut datagram, &seen);
        if bytes.flag() {
            attack.renumber(wire, &mut datagram, bytes);
        }
        let from = if is_outside { stranger(bytes) } else { peer };
        if is_outside {
            attack.allowed += (datagram.len() as u64 + 1).max(WELCOME_LEN);
        }
        let (before, is_future) = (attack.refused(), attack.acks_the_future(wire, &datagram));
        attack.hand_in(from, &datagram);
        let refused = attack.refused() - before;
        assert!(!is_future || refused == 1, "an ack of the future was taken: {datagram:02X?}");
        assert!(!(is_outside && victim != SERVER) || refused == 1, "taken from {from}: {datagram:02X?}");
        until += bytes.wait().min(Duration::from_secs(2));
        attack.lab.run_until(until);
    }
    attack.lab.run_until(until + Duration::from_secs(1));
    attack.check(is_outside);
    kept.check();
}
