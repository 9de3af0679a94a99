//! The relay of this machine: the allocation in use, a fresh one that may take its place, and the distance.

use super::probe::{Probe, Seen};
use super::relay::{Allocation, Heard, State};
use crate::rendezvous::Credentials;
use core::time::Duration;
use std::net::{IpAddr, SocketAddr};

/// The relay of this machine.
#[derive(Debug, Default)]
pub(super) struct Relaying {
    credentials: Option<Credentials>,
    current: Option<Allocation>,
    /// One that is asked for because the old one may belong to a port that a router has given up.
    fresh: Option<Allocation>,
    probe: Option<Probe>,
    /// Whether the relay answered nothing when it was last asked.
    lost: bool,
    /// Our address on the relay when time last passed.
    known: Option<SocketAddr>,
    /// How far away the relay is.
    pub(super) round_trip: Option<Duration>,
}

/// The meaning of a datagram of the relay.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Relayed {
    /// None of the relay's.
    Nothing,
    /// A message of the relay itself.
    Own,
    /// Where it sees this machine.
    Seen(SocketAddr),
    /// A datagram of this peer, at these bytes.
    From(SocketAddr, core::ops::Range<usize>),
}

impl Relaying {
    pub(super) fn set_credentials(&mut self, credentials: Credentials) {
        self.credentials = Some(credentials);
    }

    /// Whether this is the address of the relay.
    #[inline]
    pub(super) fn is_server(&self, addr: SocketAddr) -> bool {
        self.current.as_ref().is_some_and(|one| one.server() == addr)
            || self.fresh.as_ref().is_some_and(|one| one.server() == addr)
    }

    pub(super) fn server(&self) -> Option<SocketAddr> {
        self.credentials.as_ref().map(|credentials| credentials.server)
    }

    /// Our address on the relay.
    pub(super) fn relayed(&self) -> Option<SocketAddr> {
        self.current.as_ref().and_then(Allocation::relayed)
    }

    /// Whether the relay has neither answered nor refused yet.
    pub(super) fn is_asking(&self) -> bool {
        self.current.as_ref().is_some_and(|one| one.state() == State::Asking)
    }

    /// Whether a fresh allocation is being asked for.
    pub(super) fn is_refreshing(&self) -> bool {
        self.fresh.as_ref().is_some_and(|one| one.state() == State::Asking)
    }

    /// Whether the relay answers no more.
    pub(super) fn is_lost(&self) -> bool {
        self.lost
    }

    /// Asks the relay for an allocation, if there is none.
    pub(super) fn ask(&mut self, now: Duration, id: [u8; 12]) {
        let failed = self.current.as_ref().is_none_or(|one| one.state() == State::Failed);
        if failed && let Some(credentials) = &self.credentials {
            self.current = Some(Allocation::new(credentials));
            self.look(now, id);
        }
    }

    /// Asks the relay where it sees this machine.
    pub(super) fn look(&mut self, now: Duration, id: [u8; 12]) {
        if let Some(server) = self.server() {
            self.probe = Some(Probe::new(now, server, id));
        }
    }

    /// Asks the relay for a second allocation. A relay has one for each port that it sees: it refuses as long as the old
    /// one is good.
    pub(super) fn refresh(&mut self) {
        if !self.is_refreshing()
            && let Some(credentials) = &self.credentials
        {
            self.fresh = Some(Allocation::new(credentials));
        }
    }

    /// Gives the allocation back, if there is one. Returns the message to the relay.
    pub(super) fn release(&mut self, now: Duration) -> Option<(SocketAddr, Vec<u8>)> {
        self.fresh = None;
        let mut allocation = self.current.take()?;
        Some((allocation.server(), allocation.delete(now)?))
    }

    /// Takes a datagram that came from the relay's address.
    pub(super) fn handle(&mut self, now: Duration, datagram: &[u8]) -> Relayed {
        for allocation in self.current.iter_mut().chain(&mut self.fresh) {
            match allocation.handle(now, datagram) {
                Heard::Nothing => {}
                Heard::Own => {
                    self.lost = false;
                    return Relayed::Own;
                }
                Heard::From(peer, range) => return Relayed::From(peer, range),
            }
        }
        match self.probe.as_mut().and_then(|probe| probe.handle(now, datagram)) {
            Some(Seen { addr, round_trip }) => {
                self.round_trip = Some(self.round_trip.map_or(round_trip, |before| before.min(round_trip)));
                self.probe = None;
                Relayed::Seen(addr)
            }
            None => Relayed::Nothing,
        }
    }

    /// Lets time pass. `true` if our address on the relay is another one than before.
    pub(super) fn run(&mut self, now: Duration) -> bool {
        for allocation in self.current.iter_mut().chain(&mut self.fresh) {
            allocation.run(now);
        }
        match self.fresh.as_ref().map(|one| (one.state(), one.has_answered())) {
            Some((State::Made(_), _)) => self.current = self.fresh.take(),
            // It has refused, because the old one is good, or answers nothing.
            Some((State::Failed, answered)) => (self.fresh, self.lost) = (None, !answered),
            _ => {}
        }
        let relayed = self.relayed();
        core::mem::replace(&mut self.known, relayed) != relayed
    }

    pub(super) fn deadline(&self) -> Option<Duration> {
        let allocations = self.current.iter().chain(&self.fresh).filter_map(Allocation::deadline);
        allocations.chain(self.probe.as_ref().and_then(Probe::deadline)).min()
    }

    /// The next message to the relay.
    pub(super) fn poll_transmit(&mut self, now: Duration) -> Option<(SocketAddr, Vec<u8>)> {
        if let Some(probe) = &mut self.probe
            && let Some(request) = probe.poll_transmit(now)
        {
            return Some((probe.server, request.to_vec()));
        }
        let mut allocations = self.current.iter_mut().chain(&mut self.fresh);
        allocations.find_map(|one| one.poll_transmit(now).map(|message| (one.server(), message)))
    }

    pub(super) fn permit(&mut self, now: Duration, ip: IpAddr, named_by: SocketAddr) {
        if let Some(allocation) = &mut self.current {
            allocation.permit(now, ip, named_by);
        }
    }

    pub(super) fn bind(&mut self, now: Duration, peer: SocketAddr) {
        if let Some(allocation) = &mut self.current {
            allocation.bind(now, peer);
        }
    }

    /// Writes the datagram to the relay that brings `datagram` to `peer`.
    pub(super) fn wrap(
        &mut self,
        now: Duration,
        peer: SocketAddr,
        datagram: &[u8],
        buf: &mut [u8],
    ) -> Option<(SocketAddr, usize)> {
        let allocation = self.current.as_mut()?;
        let len = allocation.wrap(now, peer, datagram, buf)?;
        Some((allocation.server(), len))
    }
}
