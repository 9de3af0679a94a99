//! The data channel to one peer: SCTP in DTLS on the paths that ICE has found. A browser has nothing else.
//!
//! `is` finds the path, `dimpl` is the DTLS, `sctp-proto` the SCTP: the parts of str0m, without its media and its second ICE agent, so
//! that relays, limits on checks and new searches are those of every other peer. The certificate of the other side has to
//! have the fingerprint that its signal has named. Before that nothing from inside is looked at.

mod association;
mod certificate;
#[cfg(test)]
mod tests;

pub(super) use certificate::Certificate;

use super::origin::{Origin, Point};
use crate::protocol::time::{Span, Time};
use association::Sctp;
use certificate::fingerprint;
use dimpl::{Config, Dtls, DtlsCertificate, Output};
use std::collections::VecDeque;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

/// First bytes of DTLS records (RFC 9443).
pub(super) const DTLS: core::ops::RangeInclusive<u8> = 20..=63;
/// The network of made-up addresses: beside `100::/64`, which discards everything.
const PREFIX: [u16; 4] = [0x0100, 0, 0, 3];
/// The longest datagram of the handshake.
const MTU: usize = 1_200;
/// Messages that wait for the seal, and datagrams that wait for a path.
const MAX_WAITING: usize = 64;
/// DTLS wants a buffer for one datagram.
const BUFFER: usize = 4 * 1024;

/// Whether an address is that of a tunnel.
#[inline]
pub(super) fn is_tunnel(addr: SocketAddr) -> bool {
    matches!(addr.ip(), IpAddr::V6(ip) if ip.segments()[..4] == PREFIX)
}

/// The tunnel to one peer.
pub(super) struct Tunnel {
    addr: SocketAddr,
    origin: Origin,
    dtls: Dtls,
    sctp: Sctp,
    is_client: bool,
    /// The fingerprint that the other side's certificate has to have.
    theirs: [u8; 32],
    state: State,
    /// Whether its owner was told that it is open.
    told: bool,
    messages: VecDeque<Vec<u8>>,
    datagrams: VecDeque<Vec<u8>>,
    deadline: Time,
    refused: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// DTLS has no keys, or its peer is not known.
    Unproven,
    /// The certificate is the one of the signal.
    Proven,
    Connected,
    Failed,
}

impl core::fmt::Debug for Tunnel {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Tunnel").field("addr", &self.addr).field("state", &self.state).finish_non_exhaustive()
    }
}

impl Tunnel {
    /// The tunnel with this number to the peer with this fingerprint. The client begins.
    pub(super) fn new(
        now: Time,
        origin: Origin,
        number: u64,
        own: &Certificate,
        theirs: [u8; 32],
        is_client: bool,
    ) -> Option<Self> {
        let provider = dimpl::crypto::rust_crypto::default_provider();
        // ICE has proven the addresses, so that DTLS needs no cookie.
        let config = Config::builder().with_crypto_provider(provider).use_server_cookie(false).mtu(MTU);
        let certificate = DtlsCertificate { certificate: own.der.clone(), private_key: own.key.clone() };
        let mut dtls = Dtls::new_12(Arc::new(config.build().ok()?), certificate, origin.ice(now));
        dtls.set_active(is_client);
        let [a, b, c, d] = PREFIX;
        let part = |at: u32| (number >> at) as u16;
        let ip = Ipv6Addr::new(a, b, c, d, part(48), part(32), part(16), part(0));
        Some(Self {
            addr: SocketAddr::from((ip, 1)),
            origin,
            dtls,
            sctp: Sctp::new(),
            is_client,
            theirs,
            state: State::Unproven,
            told: false,
            messages: VecDeque::new(),
            datagrams: VecDeque::new(),
            deadline: Time::ZERO,
            refused: 0,
        })
    }

    /// The address under which the seal knows the other end.
    pub(super) fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Whether it has just opened: once.
    pub(super) fn take_opened(&mut self) -> bool {
        let is_open = self.state == State::Connected && self.sctp.is_open();
        is_open && !core::mem::replace(&mut self.told, true)
    }

    /// Messages and datagrams of the other side that were of no use.
    pub(super) fn take_refused(&mut self) -> u64 {
        core::mem::take(&mut self.refused) + core::mem::take(&mut self.sctp.refused)
    }

    /// Takes a datagram of DTLS.
    pub(super) fn handle(&mut self, now: Time, datagram: &[u8]) {
        if self.state == State::Failed {
            self.refused += 1;
            return;
        }
        let at = self.origin.ice(now);
        if self.dtls.handle_timeout(at).and_then(|()| self.dtls.handle_packet(datagram)).is_err() {
            self.fail();
        }
        self.pump(now);
    }

    /// Sends a message, if there is a data channel.
    pub(super) fn send(&mut self, now: Time, message: &[u8]) -> bool {
        let is_sent = self.state == State::Connected && self.sctp.send(message);
        if is_sent {
            self.pump(now);
        }
        is_sent
    }

    /// Lets time pass. The handshake begins with the first call.
    pub(super) fn run(&mut self, now: Time) {
        if self.deadline > now || self.state == State::Failed {
            return;
        }
        let at = self.origin.ice(now);
        if self.dtls.handle_timeout(at).is_err() {
            self.fail();
        }
        self.sctp.run(at);
        self.pump(now);
    }

    pub(super) fn deadline(&self) -> Time {
        if self.state == State::Failed { Time::NEVER } else { self.deadline }
    }

    /// The next message for the seal.
    pub(super) fn pop_message(&mut self) -> Option<Vec<u8>> {
        self.messages.pop_front()
    }

    /// The next datagram for the path in use.
    pub(super) fn pop_datagram(&mut self) -> Option<Vec<u8>> {
        self.datagrams.pop_front()
    }

    // Internal.

    fn fail(&mut self) {
        self.state = State::Failed;
        self.messages.clear();
    }

    /// Moves everything between DTLS and SCTP until nothing is left to move.
    fn pump(&mut self, now: Time) {
        let at = self.origin.ice(now);
        let mut next = self.poll_dtls(at);
        while self.state == State::Connected {
            self.sctp.run(at);
            let (messages, refused) = (&mut self.messages, &mut self.refused);
            self.sctp.read(|message| match messages.len() < MAX_WAITING {
                true => messages.push_back(message),
                false => *refused += 1,
            });
            if self.sctp.is_lost() {
                self.fail();
                break;
            }
            let Some(packets) = self.sctp.poll_transmit(at) else { break };
            if packets.iter().any(|packet| self.dtls.send_application_data(packet).is_err()) {
                self.fail();
                break;
            }
            next = self.poll_dtls(at);
        }
        let next = next.into_iter().chain(self.sctp.timeout()).min();
        let next = next.map_or(Time::NEVER, |at| self.origin.since(at));
        self.deadline = next.max(now + Span::from_millis(1));
    }

    /// Takes everything that DTLS has, and returns when it is to be called again.
    fn poll_dtls(&mut self, at: Point) -> Option<Point> {
        let mut buf = [0; BUFFER];
        loop {
            match self.dtls.poll_output(&mut buf) {
                Output::Packet(packet) => {
                    if self.datagrams.len() == MAX_WAITING {
                        self.datagrams.pop_front();
                    }
                    self.datagrams.push_back(packet.to_vec());
                }
                Output::PeerCert(der) => {
                    if fingerprint(der) != self.theirs {
                        self.fail();
                        return None;
                    }
                    self.state = State::Proven;
                }
                Output::Connected if self.state == State::Proven => {
                    self.state = State::Connected;
                    if self.is_client {
                        self.sctp.connect();
                    }
                }
                Output::ApplicationData(packet) if self.state == State::Connected => {
                    self.sctp.handle(at, packet);
                }
                Output::Timeout(next) => return Some(next),
                Output::Connected | Output::CloseNotify | Output::BufferTooSmall { .. } => {
                    self.fail();
                    return None;
                }
                _ => self.refused += 1,
            }
        }
    }
}
