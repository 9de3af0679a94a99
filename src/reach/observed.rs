//! The addresses of this machine as servers saw them. A NAT may show each server another one.

use crate::canonical;
use std::net::SocketAddr;

/// Where the rendezvous and the relay have seen this machine.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Observed {
    rendezvous: Option<SocketAddr>,
    relay: Option<SocketAddr>,
}

impl Observed {
    pub(super) fn rendezvous_saw(&mut self, addr: SocketAddr) {
        self.rendezvous = Some(canonical(addr));
    }

    /// The relay sees another address than before: the router has given this machine a new port, and what the rendezvous
    /// saw is old.
    pub(super) fn relay_saw(&mut self, addr: SocketAddr) {
        let addr = Some(canonical(addr));
        if self.relay.is_some() && self.relay != addr {
            self.rendezvous = None;
        }
        self.relay = addr;
    }

    /// Each address once.
    pub(super) fn addresses(&self) -> [Option<SocketAddr>; 2] {
        [self.rendezvous, self.relay.filter(|addr| Some(*addr) != self.rendezvous)]
    }
}
