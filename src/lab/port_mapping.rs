//! The client of port mapping, as a test drives it: its requests to a router, and the answers.

use crate::connect::nat::PortMapping as Client;
use crate::net::router::{Request, Route, RouterClient};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::time::Duration;

/// A port that a router is asked to forward, by PCP, NAT-PMP or UPnP-IGD.
#[derive(Debug)]
pub struct PortMapping(Client);

/// A request to a router.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouterRequest {
    /// Whether it goes over a TCP connection of its own, and not as a datagram.
    pub is_stream: bool,
    /// The router, or the group in which it is searched for.
    pub to: SocketAddrV4,
    /// The bytes.
    pub bytes: Vec<u8>,
}

impl PortMapping {
    /// A mapping of the UDP port of this machine at `own`, behind the router at `gateway`. `nonce` is random.
    #[must_use]
    pub fn new(own: Ipv4Addr, gateway: Ipv4Addr, port: u16, nonce: [u8; 12]) -> Self {
        Self(Client::new(Route { own, gateway, is_known: true }, port, nonce))
    }

    /// The next request that is due.
    pub fn poll(&mut self, now: Duration) -> Option<RouterRequest> {
        let (is_stream, to, bytes) = match self.0.poll(now)? {
            Request::Datagram(to, bytes) => (false, to, bytes),
            Request::Stream(to, bytes) => (true, to, bytes),
        };
        Some(RouterRequest { is_stream, to, bytes })
    }

    /// A datagram that came, or the answer on a stream, which is empty if there was none.
    pub fn handle(&mut self, now: Duration, from: SocketAddrV4, answer: &[u8]) {
        self.0.handle(now, from, answer);
    }

    /// Whether these first bytes of an answer on a stream are all of it.
    #[must_use]
    pub fn is_whole(&self, answer: &[u8]) -> bool {
        self.0.is_whole(answer)
    }

    /// When the next request is due. `None` at the end.
    #[must_use]
    pub fn deadline(&self) -> Option<Duration> {
        self.0.deadline().map(|(at, _)| at)
    }

    /// The forwarded address.
    #[must_use]
    pub fn outside(&self) -> Option<SocketAddr> {
        self.0.outside()
    }

    /// Gives the port back, and ends.
    pub fn release(&mut self, now: Duration) {
        self.0.release(now);
    }
}
