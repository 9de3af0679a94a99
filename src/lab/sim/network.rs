//! Endpoints, a link for each ordered pair of them, and the datagrams in flight.

use super::Clock;
use super::losses::Losses;
use super::nat::{Dropped, Nat, NatKind};
use super::traffic::{NetworkStats, Traffic};
use super::transcript::{EntryKind, Recording, Transcript};
use crate::lab::link::{InFlight, Link, LinkConfig, Seeded, nanos};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// The number of datagrams that the socket of a paused machine holds; more are dropped. A default Linux socket buffer
/// holds about this many small datagrams.
const SOCKET_DATAGRAMS: u32 = 256;
/// The longest payload of UDP over IPv4.
const MAX_UDP_PAYLOAD: usize = 65_507;
/// The datagrams for which memory is allocated at the start: enough for a pair on all but the longest links.
const INITIAL_IN_FLIGHT: usize = 64;

/// A datagram that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery<'a> {
    /// The time of arrival.
    pub at: Duration,
    /// The endpoint that receives it.
    pub to: usize,
    /// The source address, which may be forged.
    pub from: SocketAddr,
    /// The bytes.
    pub datagram: &'a [u8],
}

/// The addresses and the receiving endpoint of a datagram in flight.
#[derive(Clone, Copy, Debug)]
struct Route {
    from: SocketAddr,
    to: SocketAddr,
    endpoint: u32,
    /// The NAT before the endpoint that the datagram has still to pass.
    nat: Option<u32>,
}

#[derive(Clone, Debug)]
struct Endpoint {
    addr: SocketAddr,
    /// The NAT that the endpoint is behind.
    nat: Option<usize>,
    /// The clock of the machine, for its pauses.
    clock: Clock,
    open_from: u64,
    open_until: u64,
    /// The end of a pause, and the number of datagrams that wait for it.
    waiting: (u64, u32),
    sent: Traffic,
    received: Traffic,
}

/// A simulated network. Endpoints are identified by the number that [`add`](Self::add) returned; any other number
/// panics.
#[derive(Clone, Debug)]
pub struct Network {
    seed: u64,
    default_link: LinkConfig,
    endpoints: Vec<Endpoint>,
    /// The links, by sender and then by receiver.
    links: Vec<Vec<Link>>,
    nats: Vec<Nat>,
    losses: Losses,
    in_flight: InFlight<Route>,
    stats: NetworkStats,
    transcript: Transcript,
}

impl Network {
    /// An empty network, whose random draws are a function of `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut network = Self {
            seed,
            default_link: LinkConfig::default(),
            endpoints: Vec::new(),
            links: Vec::new(),
            nats: Vec::new(),
            losses: Losses::default(),
            in_flight: InFlight::new(),
            stats: NetworkStats::default(),
            transcript: Transcript::default(),
        };
        network.reserve(INITIAL_IN_FLIGHT);
        network
    }

    // Commands.

    /// Allocates the memory for `datagrams` in flight at once, instead of when they are sent.
    pub fn reserve(&mut self, datagrams: usize) {
        let nowhere = SocketAddr::from(([0, 0, 0, 0], 0));
        self.in_flight.reserve(datagrams, Route { from: nowhere, to: nowhere, endpoint: 0, nat: None });
    }

    /// Sets how much of the traffic the transcript records from now on. The default is [`Recording::Digest`].
    pub fn record(&mut self, recording: Recording) {
        self.transcript.set_recording(recording);
    }

    /// Adds an endpoint with an address of its own, and returns its number. Numbers count up from 0.
    pub fn add(&mut self, addr: SocketAddr) -> usize {
        let id = self.endpoints.len();
        self.endpoints.push(Endpoint {
            addr,
            nat: None,
            clock: Clock::default(),
            open_from: 0,
            open_until: u64::MAX,
            waiting: (0, 0),
            sent: Traffic::default(),
            received: Traffic::default(),
        });
        // Each link has its own random stream, numbered by its two ends: a change to one link moves no draw of
        // another.
        let (seed, config) = (self.seed, self.default_link);
        let link = |from: usize, to: usize| {
            Link::on_stream(config, Seeded::stream(seed, 1 + ((from as u64) << 32 | to as u64)))
        };
        for (from, row) in self.links.iter_mut().enumerate() {
            row.push(link(from, id));
        }
        self.links.push((0..=id).map(|to| link(id, to)).collect());
        id
    }

    /// Configures the links of endpoints that are added from now on, to and from all others.
    pub fn set_default_link(&mut self, config: LinkConfig) {
        self.default_link = config;
    }

    /// Configures the link from one endpoint to another, one way.
    pub fn set_link(&mut self, from: usize, to: usize, config: LinkConfig) {
        self.links[from][to].set_config(config);
    }

    /// Configures the links between two endpoints, the same both ways.
    pub fn set_links(&mut self, one: usize, two: usize, config: LinkConfig) {
        self.set_link(one, two, config);
        self.set_link(two, one, config);
    }

    /// Cuts one direction from `start` up to `end`: datagrams sent in that time are lost.
    pub fn cut(&mut self, from: usize, to: usize, start: Duration, end: Duration) {
        self.links[from][to].cut(start, end);
    }

    /// Cuts both directions from `start` up to `end`.
    pub fn cut_both(&mut self, one: usize, two: usize, start: Duration, end: Duration) {
        self.cut(one, two, start, end);
        self.cut(two, one, start, end);
    }

    /// Takes one direction down, or up again, from this moment on.
    pub fn set_down(&mut self, from: usize, to: usize, down: bool) {
        self.links[from][to].set_down(down);
    }

    /// Loses the next `times` datagrams from an endpoint that `which` chooses, before its link sees them. The transcript
    /// has them as sent.
    pub fn lose(&mut self, from: usize, times: u32, which: impl Fn(&[u8]) -> bool + Send + Sync + 'static) {
        self.losses.add(from, times, which);
    }

    /// Cancels every [`lose`](Self::lose).
    pub fn lose_nothing(&mut self) {
        self.losses.clear();
    }

    /// Adds a NAT with this outside address, and returns its number. Numbers count up from 0.
    pub fn add_nat(&mut self, outside: IpAddr, kind: NatKind) -> usize {
        // Streams of links have numbers below 2^63.
        let stream = 1 << 63 | self.nats.len() as u64;
        self.nats.push(Nat::new(kind, outside, Seeded::stream(self.seed, stream)));
        self.nats.len() - 1
    }

    /// Puts an endpoint behind a NAT from now on. Its own address is then known inside only: endpoints behind the same NAT
    /// reach each other by it, and by no outside address.
    pub fn place_behind(&mut self, endpoint: usize, nat: usize) {
        self.endpoints[endpoint].nat = Some(nat);
    }

    /// Maps an endpoint behind a NAT as though it had sent a datagram to `toward`, and returns its outside address. A
    /// server at `toward` that tells who sent a datagram (STUN) would say the same.
    pub fn map(&mut self, now: Duration, endpoint: usize, toward: SocketAddr) -> SocketAddr {
        self.shown(nanos(now), endpoint, toward)
    }

    /// Lets a NAT forget all its mappings at `at`, like a router that was restarted. Endpoints behind it are given other
    /// outside ports by the next datagram that they send; until then, and at the old ports for ever, nothing reaches them.
    pub fn forget(&mut self, nat: usize, at: Duration) {
        self.nats[nat].forget(nanos(at));
    }

    /// Pauses an endpoint in the pauses of `clock`: arriving datagrams wait in its socket until that is full.
    pub fn set_clock(&mut self, endpoint: usize, clock: Clock) {
        self.endpoints[endpoint].clock = clock;
    }

    /// Opens an endpoint at `at`: nothing is delivered to it before.
    pub fn open_from(&mut self, endpoint: usize, at: Duration) {
        self.endpoints[endpoint].open_from = nanos(at);
    }

    /// Closes an endpoint at `at`: nothing is delivered to it from then on.
    pub fn close_from(&mut self, endpoint: usize, at: Duration) {
        self.endpoints[endpoint].open_until = nanos(at);
    }

    /// Opens an endpoint at `at`, for good, and replaces earlier openings and closings.
    pub fn reopen(&mut self, endpoint: usize, at: Duration) {
        let endpoint = &mut self.endpoints[endpoint];
        (endpoint.open_from, endpoint.open_until) = (nanos(at), u64::MAX);
    }

    /// Sends a datagram from an endpoint to an address. `now` must not run backwards.
    pub fn send(&mut self, now: Duration, from: usize, to: SocketAddr, datagram: &[u8]) {
        self.send_nanos(nanos(now), from, to, datagram);
    }

    /// Injects a datagram that arrives at `at` with source address `from`, without passing a link, like an attacker
    /// who forges addresses. A datagram longer than UDP allows is truncated.
    pub fn inject(&mut self, at: Duration, from: SocketAddr, to: SocketAddr, datagram: &[u8]) {
        self.stats.injected += 1;
        let datagram = &datagram[..datagram.len().min(MAX_UDP_PAYLOAD)];
        let Some((endpoint, nat)) = self.behind(to) else {
            self.stats.unroutable.add(datagram.len());
            return;
        };
        let route = Route { from, to, endpoint: endpoint as u32, nat };
        if self.in_flight.push(nanos(at), route, datagram).is_none() {
            self.stats.overflow += 1;
        }
    }

    // Polled by a driver of the network.

    /// When to call [`deliver`](Self::deliver) next; it may still return `None` then.
    #[must_use]
    pub fn next_delivery_at(&self) -> Option<Duration> {
        self.in_flight.next_at().map(Duration::from_nanos)
    }

    /// The next datagram that has arrived by `now`, in order of arrival.
    pub fn deliver(&mut self, now: Duration) -> Option<Delivery<'_>> {
        self.deliver_nanos(nanos(now))
    }

    // Getters.

    /// The address of an endpoint; behind a NAT, its inside address.
    #[must_use]
    pub fn addr(&self, endpoint: usize) -> SocketAddr {
        self.endpoints[endpoint].addr
    }

    /// The endpoint that has this address, or has or had it as the outside address of its NAT.
    #[must_use]
    pub fn find(&self, addr: SocketAddr) -> Option<usize> {
        let nat = || self.nats.iter().find(|nat| nat.outside() == addr.ip());
        let inside = || self.endpoints.iter().position(|endpoint| endpoint.addr == addr);
        self.public(addr).or_else(|| nat()?.owner(addr.port())).or_else(inside)
    }

    /// The number of endpoints.
    #[must_use]
    pub fn endpoints(&self) -> usize {
        self.endpoints.len()
    }

    /// The traffic that an endpoint has sent.
    #[must_use]
    pub fn sent(&self, endpoint: usize) -> Traffic {
        self.endpoints[endpoint].sent
    }

    /// The traffic that was delivered to an endpoint.
    #[must_use]
    pub fn received(&self, endpoint: usize) -> Traffic {
        self.endpoints[endpoint].received
    }

    /// The link from one endpoint to another.
    #[must_use]
    pub fn link(&self, from: usize, to: usize) -> &Link {
        &self.links[from][to]
    }

    /// The number of datagrams in flight.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// The datagrams dropped outside the links, by reason.
    #[must_use]
    pub fn stats(&self) -> &NetworkStats {
        &self.stats
    }

    /// Drops the datagrams that the transcript has recorded, and records no more.
    pub fn drop_recording(&mut self) {
        self.transcript.drop_entries();
    }

    /// The transcript of the traffic so far.
    #[must_use]
    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    // Internal.

    #[inline]
    pub(crate) fn next_nanos(&self) -> Option<u64> {
        self.in_flight.next_at()
    }

    pub(crate) fn send_nanos(&mut self, now: u64, from: usize, to: SocketAddr, datagram: &[u8]) {
        self.endpoints[from].sent.add(datagram.len());
        let neighbour = self.neighbour(from, to);
        let shown = if neighbour.is_some() { self.addr(from) } else { self.shown(now, from, to) };
        self.transcript.note(EntryKind::Sent, now, shown, to, datagram);
        let way = neighbour.map(|endpoint| (endpoint, None));
        let Some((endpoint, nat)) = way.or_else(|| self.behind(to)) else {
            self.stats.unroutable.add(datagram.len());
            return;
        };
        // Like many routers, a NAT does not send back inside what comes from inside.
        if nat.is_some() && nat == self.endpoints[from].nat.map(|nat| nat as u32) {
            self.stats.filtered += 1;
            self.transcript.note(EntryKind::Filtered, now, shown, to, datagram);
            return;
        }
        if self.losses.take(from, datagram) {
            self.stats.chosen += 1;
            return;
        }
        let route = Route { from: shown, to, endpoint: endpoint as u32, nat };
        for arrival in self.links[from][endpoint].pass(now, datagram.len()) {
            match self.in_flight.push(arrival.at_nanos(), route, datagram) {
                Some(bytes) => arrival.damage(bytes),
                None => self.stats.overflow += 1,
            }
        }
    }

    /// The source address outside of what an endpoint sends to `to`.
    fn shown(&mut self, now: u64, endpoint: usize, to: SocketAddr) -> SocketAddr {
        let Endpoint { addr, nat, .. } = self.endpoints[endpoint];
        nat.map_or(addr, |nat| self.nats[nat].pass_out(now, endpoint, addr.port(), to))
    }

    /// The endpoint with this address that is behind no NAT.
    fn public(&self, addr: SocketAddr) -> Option<usize> {
        self.endpoints.iter().position(|endpoint| endpoint.nat.is_none() && endpoint.addr == addr)
    }

    /// The endpoint with this address behind the same NAT.
    fn neighbour(&self, endpoint: usize, addr: SocketAddr) -> Option<usize> {
        let nat = self.endpoints[endpoint].nat?;
        self.endpoints.iter().position(|other| other.nat == Some(nat) && other.addr == addr)
    }

    /// The endpoint that a datagram from outside travels to, and the NAT that it has to pass. Whether the NAT lets it in
    /// is decided when it arrives there; one to a port without an owner travels over the link of any endpoint behind it.
    fn behind(&self, to: SocketAddr) -> Option<(usize, Option<u32>)> {
        if let Some(endpoint) = self.public(to) {
            return Some((endpoint, None));
        }
        let nat = self.nats.iter().position(|nat| nat.outside() == to.ip())?;
        let any = || self.endpoints.iter().position(|endpoint| endpoint.nat == Some(nat));
        let endpoint = self.nats[nat].owner(to.port()).or_else(any)?;
        Some((endpoint, Some(nat as u32)))
    }

    pub(crate) fn deliver_nanos(&mut self, now: u64) -> Option<Delivery<'_>> {
        loop {
            let (at, mut route) = self.in_flight.peek(now)?;
            if let Some(nat) = route.nat.take() {
                match self.nats[nat as usize].let_in(at, route.from, route.to.port()) {
                    Ok(endpoint) => route.endpoint = endpoint as u32,
                    Err(dropped) => {
                        self.drop_at_nat(at, route, dropped);
                        continue;
                    }
                }
            }
            let endpoint = &mut self.endpoints[route.endpoint as usize];
            if !(endpoint.open_from..endpoint.open_until).contains(&at) {
                self.stats.closed += 1;
                self.in_flight.pop();
                continue;
            }
            // Hold a datagram for a paused machine until the pause ends, while its socket has room.
            let runs_at = endpoint.clock.runs_nanos(at);
            if runs_at > at {
                if endpoint.waiting.0 != runs_at {
                    endpoint.waiting = (runs_at, 0);
                }
                if endpoint.waiting.1 < SOCKET_DATAGRAMS {
                    endpoint.waiting.1 += 1;
                    self.in_flight.postpone(runs_at, route);
                } else {
                    self.stats.socket_full += 1;
                    self.in_flight.pop();
                }
                continue;
            }
            let datagram = self.in_flight.pop()?;
            endpoint.received.add(datagram.len());
            self.transcript.note(EntryKind::Delivered, at, route.from, route.to, datagram);
            let (at, to) = (Duration::from_nanos(at), route.endpoint as usize);
            return Some(Delivery { at, to, from: route.from, datagram });
        }
    }
    fn drop_at_nat(&mut self, at: u64, route: Route, dropped: Dropped) {
        match dropped {
            Dropped::Unmapped => self.stats.unmapped += 1,
            Dropped::Filtered => self.stats.filtered += 1,
        }
        let datagram = self.in_flight.pop().unwrap_or_default();
        self.transcript.note(EntryKind::Filtered, at, route.from, route.to, datagram);
    }
}
