//! A rendezvous server, hosts and joiners as machines of the simulated network.

use rebout::Protocol;
use rebout::Randomness;
use rebout::lab::link::LinkConfig;
use rebout::lab::rendezvous::{JoinRequest, Registration, RendezvousEvent, Room};
use rebout::lab::sim::{Clock, Machine, World};
use rebout::rendezvous::{RendezvousConfig, RendezvousServer, TurnService};
use std::net::SocketAddr;
use std::time::Duration;

pub(crate) const LATENCY: Duration = ms(20);

pub(crate) const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

pub(crate) const fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

pub(crate) fn server_addr() -> SocketAddr {
    ([203, 0, 113, 1], 3479).into()
}

pub(crate) fn addr(id: u8) -> SocketAddr {
    ([192, 0, 2, id], 7_000).into()
}

/// The INIT of a joiner, and the RESP that a host gives to it.
pub(crate) fn init(id: u8) -> Vec<u8> {
    [vec![0xE2, 1, 3], vec![id; 330]].concat()
}

pub(crate) fn resp(init: &[u8]) -> Vec<u8> {
    [vec![0xE3], init[24..].to_vec()].concat()
}

/// A sealed SIGNAL of a connection that exists.
pub(crate) fn signal(id: u8) -> Vec<u8> {
    [vec![0xE7, 0, 1, 0, 0, 0, id, 7], vec![id; 272]].concat()
}

pub(crate) fn config() -> RendezvousConfig {
    let turn = TurnService { server: "203.0.113.1:3478".parse().unwrap(), secret: b"north".to_vec() };
    RendezvousConfig { turn: Some(turn), unix_at_zero: 1_700_000_000, ..RendezvousConfig::default() }
}

/// A host that answers every INIT, unless it is told to be silent.
pub(crate) struct Host {
    pub(crate) registration: Registration,
    pub(crate) events: Vec<RendezvousEvent>,
    pub(crate) tickets: u64,
    pub(crate) is_silent: bool,
}

impl Host {
    pub(crate) fn observed(&self) -> Option<SocketAddr> {
        self.events.iter().rev().find_map(|event| match event {
            RendezvousEvent::Registered { observed, .. } => Some(*observed),
            _ => None,
        })
    }

    pub(crate) fn delivered(&self) -> Vec<&[u8]> {
        let mut found = Vec::new();
        for event in &self.events {
            if let RendezvousEvent::Delivered { signal: init, .. } = event {
                found.push(&**init);
            }
        }
        found
    }
}

/// A joiner that posts its INIT as soon as it has a ticket, and again with every new one.
pub(crate) struct Joiner {
    pub(crate) post: JoinRequest,
    pub(crate) init: Vec<u8>,
    /// Each with the time at which it was told.
    pub(crate) events: Vec<(Duration, RendezvousEvent)>,
}

impl Joiner {
    pub(crate) fn answered_at(&self) -> Option<Duration> {
        let wanted = RendezvousEvent::Answered { signal: resp(&self.init) };
        self.events.iter().find(|(_, event)| *event == wanted).map(|(at, _)| *at)
    }

    pub(crate) fn ticket(&self) -> Option<u64> {
        self.events.iter().rev().find_map(|(_, event)| match event {
            RendezvousEvent::Ticket { ticket, .. } => Some(*ticket),
            _ => None,
        })
    }
}

// There are a few of these.
#[allow(clippy::large_enum_variant)]
pub(crate) enum Party {
    Server(RendezvousServer),
    Host(Host),
    Joiner(Joiner),
}

impl Party {
    pub(crate) fn server(config: RendezvousConfig, seed: u64) -> Self {
        Self::Server(RendezvousServer::new(config, Randomness::Seeded(seed)).unwrap())
    }

    pub(crate) fn host(id: u8) -> Self {
        let randomness = Randomness::Seeded(id.into());
        let registration = Registration::new(server_addr(), &[id; 32], randomness).unwrap();
        Self::Host(Host { registration, events: Vec::new(), tickets: 0, is_silent: false })
    }

    pub(crate) fn joiner(id: u8, room: Room) -> Self {
        let post = JoinRequest::new(server_addr(), room, Randomness::Seeded(id.into())).unwrap();
        Self::Joiner(Joiner { post, init: init(id), events: Vec::new() })
    }

    fn digest(&mut self, now: Duration) {
        match self {
            Self::Server(_) => {}
            Self::Host(host) => {
                while let Some(event) = host.registration.poll_event() {
                    if let RendezvousEvent::Delivered { guest, signal: init } = &event
                        && !host.is_silent
                    {
                        assert!(host.registration.answer(*guest, &resp(init)));
                    }
                    host.events.push(event);
                }
                if host.registration.wants_ticket(now) {
                    host.tickets += 1;
                    host.registration.set_ticket(host.tickets);
                }
            }
            Self::Joiner(joiner) => {
                while let Some(event) = joiner.post.poll_event() {
                    match &event {
                        RendezvousEvent::Ticket { .. } => assert!(joiner.post.post(&joiner.init)),
                        RendezvousEvent::Answered { signal: found } if *found == resp(&joiner.init) => {
                            joiner.post.settle();
                        }
                        _ => {}
                    }
                    joiner.events.push((now, event));
                }
            }
        }
    }
}

impl Protocol for Party {
    fn handle_datagram(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        match self {
            Self::Server(server) => server.handle_datagram(now, from, datagram),
            Self::Host(host) => host.registration.handle_datagram(now, from, datagram),
            Self::Joiner(joiner) => joiner.post.handle_datagram(now, from, datagram),
        }
    }

    fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        self.digest(now);
        let sent = match self {
            Self::Server(server) => server.poll_transmit(now, buf),
            Self::Host(host) => host.registration.poll_transmit(now, buf),
            Self::Joiner(joiner) => joiner.post.poll_transmit(now, buf),
        };
        self.digest(now);
        sent
    }

    fn poll_timeout(&self) -> Option<Duration> {
        match self {
            Self::Server(server) => server.poll_timeout(),
            Self::Host(host) => host.registration.poll_timeout(),
            Self::Joiner(joiner) => joiner.post.poll_timeout(),
        }
    }
}

impl Machine for Party {
    fn next_frame_at(&self) -> Option<Duration> {
        None
    }

    fn frame(&mut self, _: Duration) {}
}

/// A world with a server, which is endpoint 0, and a host, which is endpoint 1 and registers at once.
pub(crate) struct Meeting {
    pub(crate) world: World<Party>,
}

impl Meeting {
    pub(crate) fn new(seed: u64, config: RendezvousConfig) -> Self {
        let mut world = World::new(seed);
        world.network_mut().set_default_link(LinkConfig::new(LATENCY));
        world.add(server_addr(), Clock::default(), ms(0), Party::server(config, seed));
        world.add(addr(1), Clock::default(), ms(0), Party::host(1));
        Self { world }
    }

    /// Adds a joiner of the host's room, who starts now.
    pub(crate) fn join(&mut self, id: u8) -> usize {
        let room = self.host().registration.room();
        self.join_room(id, room)
    }

    pub(crate) fn join_room(&mut self, id: u8, room: Room) -> usize {
        let now = self.world.now();
        self.world.add(addr(id), Clock::default(), now, Party::joiner(id, room))
    }

    pub(crate) fn run(&mut self, time: Duration) {
        let until = self.world.now() + time;
        self.world.run_until(until);
    }

    pub(crate) fn server(&self) -> &RendezvousServer {
        match self.world.machine(0) {
            Party::Server(server) => server,
            _ => panic!("endpoint 0 is the server"),
        }
    }

    pub(crate) fn server_mut(&mut self) -> &mut RendezvousServer {
        match self.world.machine_mut(0) {
            Party::Server(server) => server,
            _ => panic!("endpoint 0 is the server"),
        }
    }

    pub(crate) fn host(&self) -> &Host {
        match self.world.machine(1) {
            Party::Host(host) => host,
            _ => panic!("endpoint 1 is the host"),
        }
    }

    pub(crate) fn host_mut(&mut self) -> &mut Host {
        match self.world.machine_mut(1) {
            Party::Host(host) => host,
            _ => panic!("endpoint 1 is the host"),
        }
    }

    pub(crate) fn joiner(&self, endpoint: usize) -> &Joiner {
        match self.world.machine(endpoint) {
            Party::Joiner(joiner) => joiner,
            _ => panic!("this endpoint is a joiner"),
        }
    }
}
