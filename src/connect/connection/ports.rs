//! The port of a host that its router forwards, in the background.

use super::ConnectOptions;
use super::opening::Here;
use super::options::Access;
use crate::connect::nat::PortMapping;
use crate::net::router::{RouterThread, default_route};
use core::time::Duration;
use std::net::SocketAddr;

/// How often the result is looked at.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(100);
/// An offer waits this long for a router, because it cannot be changed later.
const OFFER_WAIT: Duration = Duration::from_secs(3);
/// The longest wait at the end until the router has taken its port back.
const RELEASE_WAIT: Duration = Duration::from_millis(500);

/// The forwarded port of one socket.
#[derive(Debug)]
pub(super) struct Ports {
    thread: RouterThread,
    here: Here,
    nonce: [u8; 12],
    since: Duration,
    /// The router has answered.
    is_settled: bool,
    /// The port is not forwarded, or not any more.
    is_over: bool,
}

impl Ports {
    /// Begins to ask the router for the port of a host at `bound`, unless the options or the network speak against it. `None` too
    /// if there is no random number or no thread: the host is reached as before.
    pub(super) fn open(
        options: &ConnectOptions,
        now: Duration,
        bound: SocketAddr,
        own: &[SocketAddr],
    ) -> Option<Self> {
        if !is_wanted(options) {
            return None;
        }
        let random = options.drawn().ok()?.generator(b"port mapping")?.next_32();
        Self::start(random.first_chunk().copied()?, now, bound, own)
    }

    fn start(nonce: [u8; 12], now: Duration, bound: SocketAddr, own: &[SocketAddr]) -> Option<Self> {
        let route = default_route(bound.ip())?;
        let thread = RouterThread::start(route.own, PortMapping::new(route, bound.port(), nonce)).ok()?;
        let here = Here::new(&[], own);
        Some(Self { thread, here, nonce, since: now, is_settled: false, is_over: false })
    }

    /// The host has a new socket: the port of the old one is given back.
    pub(super) fn moved(&self, now: Duration, bound: SocketAddr, own: &[SocketAddr]) -> Option<Self> {
        Self::start(self.nonce, now, bound, own)
    }

    /// Whether an offer waits for the router.
    pub(super) fn delays_offer(&self, now: Duration) -> bool {
        !self.is_settled && !self.is_over && now < self.since + OFFER_WAIT
    }

    /// This machine with the forwarded address, if that has changed.
    pub(super) fn poll(&mut self) -> Option<Here> {
        match self.thread.poll() {
            Ok(None) => None,
            Ok(Some(mapped)) => {
                self.is_settled = true;
                Some(self.here.with(mapped))
            }
            Err(_) => {
                self.is_over = true;
                None
            }
        }
    }

    /// Whether there will be no more news.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Begins to give the port back.
    pub(super) fn release(&mut self) {
        self.thread.stop();
    }

    /// Waits until the router has taken it back.
    pub(super) fn wait(&mut self, linger: Duration) {
        self.thread.wait(linger.min(RELEASE_WAIT));
    }
}

/// Whether a host with these options asks its router. One that accepts joiners by address is for a LAN. A player who has named a
/// public address has a router that forwards the port already.
fn is_wanted(options: &ConnectOptions) -> bool {
    let is_invited = matches!(options.access, Access::Invited | Access::Manual);
    options.maps_port && is_invited && !options.hides() && options.public.is_empty()
}

#[cfg(test)]
mod tests {
    use super::super::paths::RelayPolicy;
    use super::*;
    use crate::net::router::Route;
    use std::net::Ipv4Addr;

    #[test]
    fn host_by_invite_or_offer_alone_asks_its_router() {
        let new = ConnectOptions::new;
        let public = "203.0.113.9:7000".parse().unwrap();
        assert!(is_wanted(&new()) && is_wanted(&new().manual_signalling()));
        assert!(is_wanted(&new().rendezvous("192.0.2.1").relay(RelayPolicy::Never)));
        for options in [
            new().port_mapping(false),
            new().open(),
            new().bare(),
            new().public(public),
            new().rendezvous("192.0.2.1").relay(RelayPolicy::Only),
        ] {
            assert!(!is_wanted(&options), "{options:?}");
        }
    }

    #[test]
    fn socket_at_loopback_asks_no_router() {
        let bound = "127.0.0.1:7000".parse().unwrap();
        assert!(Ports::open(&ConnectOptions::new(), Duration::ZERO, bound, &[bound]).is_none());
    }

    /// The port of a socket at loopback, which no router forwards.
    fn asking() -> Ports {
        let route = Route { own: Ipv4Addr::LOCALHOST, gateway: Ipv4Addr::LOCALHOST, is_known: true };
        let thread = RouterThread::start(route.own, PortMapping::new(route, 7_000, [1; 12])).unwrap();
        let (here, since) = (Here::new(&[], &[]), Duration::from_secs(5));
        Ports { thread, here, nonce: [1; 12], since, is_settled: false, is_over: false }
    }

    #[test]
    fn offer_waits_three_seconds_for_a_router_that_has_not_answered() {
        let mut ports = asking();
        assert!(ports.delays_offer(Duration::from_millis(7_999)));
        assert!(!ports.delays_offer(Duration::from_secs(8)));
        ports.is_settled = true;
        assert!(!ports.delays_offer(Duration::from_secs(6)), "it has answered");
        (ports.is_settled, ports.is_over) = (false, true);
        assert!(!ports.delays_offer(Duration::from_secs(6)), "it will not answer");
    }

    #[test]
    fn released_port_brings_no_more_news() {
        let mut ports = asking();
        assert!(!ports.is_over());
        ports.release();
        ports.thread.wait(Duration::from_secs(20));
        assert!(ports.poll().is_none());
        assert!(ports.is_over() && !ports.is_settled);
    }
}
