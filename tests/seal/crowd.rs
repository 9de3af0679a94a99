//! A host and its guests in the simulated network, with protocols other than a lobby behind their seals.

use core::time::Duration;
use rebout::Protocol;
use rebout::Randomness;
use rebout::authority::{
    Body, Client, ClientConfig, ClientEvent, Command, GameWire, Server, ServerConfig, Stage, Wire, World,
};
use rebout::lab::link::LinkConfig;
use rebout::lab::seal::Seal;
use rebout::lab::sim::{self, Clock, Machine};
use std::collections::VecDeque;
use std::net::SocketAddr;

pub(crate) fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// The host's address.
pub(crate) fn host_addr() -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 1], 7_000))
}

/// The address of a guest: a machine of its own for each.
pub(crate) fn guest_addr(number: usize) -> SocketAddr {
    SocketAddr::from(([10, 0, 1 + (number / 250) as u8, (number % 250) as u8 + 1], 9_000))
}

/// A protocol from outside the crate, which has nothing but the calls that a driver needs: a host that sends every datagram back,
/// or a guest that sends one from time to time.
pub(crate) struct Echo {
    host: Option<SocketAddr>,
    every: Duration,
    next: Duration,
    pub(crate) heard: Vec<Vec<u8>>,
    answers: VecDeque<(SocketAddr, Vec<u8>)>,
}

impl Echo {
    pub(crate) fn host() -> Self {
        Self { host: None, every: ms(0), next: ms(0), heard: Vec::new(), answers: VecDeque::new() }
    }

    pub(crate) fn guest(host: SocketAddr, every: Duration) -> Self {
        Self { host: Some(host), every, ..Self::host() }
    }
}

impl Protocol for Echo {
    fn handle_datagram(&mut self, _: Duration, from: SocketAddr, datagram: &[u8]) {
        self.heard.push(datagram.to_vec());
        if self.host.is_none() {
            self.answers.push_back((from, datagram.to_vec()));
        }
    }

    fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        let (to, said) = match self.host {
            Some(host) if now >= self.next => {
                self.next = now + self.every;
                (host, b"marco".to_vec())
            }
            _ => self.answers.pop_front()?,
        };
        buf[..said.len()].copy_from_slice(&said);
        Some((to, said.len()))
    }

    fn poll_timeout(&self) -> Option<Duration> {
        self.host.map(|_| self.next)
    }
}

/// Players stand where they enter.
pub(crate) struct Field;

impl World for Field {
    fn walk(&self, _: &mut Body, _: Command) {}

    fn enter(&mut self, id: u8) -> (u8, Body) {
        (7, Body::at(f32::from(id), 0.0))
    }

    fn step(&mut self, _: &mut Stage<'_>) {}

    fn leave(&mut self, _: u8) {}
}

#[allow(clippy::large_enum_variant)]
pub(crate) enum Inner<W: Wire = GameWire> {
    Echo(Echo),
    Server(Server<W>),
    Client(Client<W>),
    /// A rendezvous, which no seal is around.
    #[cfg(feature = "nat")]
    Rendezvous(rebout::rendezvous::RendezvousServer),
}

#[cfg(feature = "nat")]
pub(crate) type Paths = rebout::lab::nat::NatTraversal;
#[cfg(not(feature = "nat"))]
pub(crate) enum Paths {}

/// A machine: its seal, perhaps its search for paths, and the protocol inside both.
pub(crate) struct Node<W: Wire = GameWire> {
    pub(crate) seal: Seal,
    pub(crate) paths: Option<Paths>,
    pub(crate) inner: Inner<W>,
    /// When its client got a seat.
    pub(crate) seated_at: Option<Duration>,
}

fn around<P: Protocol, R>(
    seal: &mut Seal,
    paths: &mut Option<Paths>,
    inner: &mut P,
    call: impl FnOnce(&mut dyn Protocol) -> R,
) -> R {
    match paths {
        #[cfg(feature = "nat")]
        Some(paths) => call(&mut paths.around(seal, inner)),
        _ => call(&mut seal.around(inner)),
    }
}

impl<W: Wire> Node<W> {
    pub(crate) fn new(seal: Seal, inner: Inner<W>) -> Self {
        Self { seal, paths: None, inner, seated_at: None }
    }

    fn outside<R>(&mut self, call: impl FnOnce(&mut dyn Protocol) -> R) -> R {
        let Self { seal, paths, inner, .. } = self;
        match inner {
            Inner::Echo(echo) => around(seal, paths, echo, call),
            Inner::Server(server) => around(seal, paths, server, call),
            Inner::Client(client) => around(seal, paths, client, call),
            #[cfg(feature = "nat")]
            Inner::Rendezvous(server) => call(server),
        }
    }

    pub(crate) fn echo(&self) -> &Echo {
        let Inner::Echo(echo) = &self.inner else { panic!("no echo") };
        echo
    }

    pub(crate) fn server(&self) -> &Server<W> {
        let Inner::Server(server) = &self.inner else { panic!("no server") };
        server
    }

    pub(crate) fn client(&self) -> &Client<W> {
        let Inner::Client(client) = &self.inner else { panic!("no client") };
        client
    }
}

impl<W: Wire> Protocol for Node<W> {
    fn handle_datagram(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        self.outside(|protocol| protocol.handle_datagram(now, from, datagram));
    }

    fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        self.outside(|protocol| protocol.poll_transmit(now, buf))
    }

    fn poll_timeout(&self) -> Option<Duration> {
        let inner = match &self.inner {
            Inner::Echo(echo) => echo.poll_timeout(),
            Inner::Server(server) => server.poll_timeout(),
            Inner::Client(client) => client.poll_timeout(),
            #[cfg(feature = "nat")]
            Inner::Rendezvous(server) => return server.poll_timeout(),
        };
        let paths = self.paths.as_ref().and_then(Paths::poll_timeout);
        [inner, self.seal.poll_timeout(), paths].into_iter().flatten().min()
    }
}

#[cfg(not(feature = "nat"))]
impl Paths {
    fn poll_timeout(&self) -> Option<Duration> {
        match *self {}
    }
}

impl<W: Wire> Machine for Node<W> {
    fn next_frame_at(&self) -> Option<Duration> {
        match &self.inner {
            Inner::Echo(_) => None,
            Inner::Server(server) => Some(server.next_frame_at()),
            Inner::Client(client) => Some(client.next_frame_at()),
            #[cfg(feature = "nat")]
            Inner::Rendezvous(_) => None,
        }
    }

    fn frame(&mut self, now: Duration) {
        match &mut self.inner {
            Inner::Echo(_) => {}
            #[cfg(feature = "nat")]
            Inner::Rendezvous(_) => {}
            Inner::Server(server) => {
                server.advance(now, &mut Field);
                while server.poll_event().is_some() {}
            }
            Inner::Client(client) => {
                client.advance(now, &Field, Command::default());
                while let Some(event) = client.poll_event() {
                    if matches!(event, ClientEvent::Joined { .. }) {
                        self.seated_at = Some(now);
                    }
                }
            }
        }
    }
}

/// How a guest knows its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Invite,
    Open,
}

/// The seal of a host, and that of a guest.
pub(crate) fn seals(way: Way) -> (Seal, impl Fn(usize) -> Seal) {
    let host = match way {
        Way::Invite => Seal::host(Randomness::Seeded(1)).unwrap(),
        Way::Open => Seal::host_open(Randomness::Seeded(1)).unwrap(),
    };
    let key = host.public_key();
    let guest = move |number: usize| {
        let randomness = Randomness::Seeded(100 + number as u64);
        match key {
            Some(key) => Seal::join(randomness, key, &[host_addr()]).unwrap(),
            None => Seal::join_open(randomness, host_addr()).unwrap(),
        }
    };
    (host, guest)
}

/// A server for `seats` clients that may all be of one source: the inner addresses of a seal are made up.
pub(crate) fn server<W: Wire>(_: W, seats: u8) -> Inner<W> {
    let mut config = ServerConfig::new(5);
    // Few frames: these tests are about who gets in.
    (config.frame_rate, config.broadcast_rate) = (20, 2);
    (config.max_clients, config.max_clients_per_source) = (seats, seats);
    Inner::Server(Server::new(config).unwrap())
}

pub(crate) fn client<W: Wire>(_: W, number: usize, target: SocketAddr) -> Inner<W> {
    let mut config = ClientConfig::new(1_000 + number as u64);
    (config.frame_rate, config.broadcast_rate, config.timeout) = (20, 2, ms(30_000));
    Inner::Client(Client::join(config, target).unwrap())
}

pub(crate) const HOST: usize = 0;

/// A world with a host at endpoint 0.
pub(crate) fn world<W: Wire>(link: LinkConfig, host: Node<W>) -> sim::World<Node<W>> {
    let mut world = sim::World::new(7);
    world.network_mut().set_default_link(link);
    world.add(host_addr(), Clock::default(), ms(0), host);
    world
}
