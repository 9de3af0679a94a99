//! The simulated network as a transport: machines in one thread, whose waiting lets virtual time pass.

use core::time::Duration;
use rebout::lab::link::LinkConfig;
use rebout::lab::sim::Network;
use rebout::net::{Datagrams, Received};
use rebout::{ConnectOptions, Connection, Lobby, LobbyError, Protocol};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;

pub(crate) const TICK: Duration = Duration::from_millis(1);

pub(crate) struct SimNetwork {
    pub(crate) network: Network,
    now: Duration,
    inboxes: Vec<VecDeque<(SocketAddr, Vec<u8>)>>,
    /// The endpoint of each machine now.
    places: Vec<usize>,
}

/// One machine's socket in the simulated network.
pub(crate) struct SimSocket {
    sim: Rc<RefCell<SimNetwork>>,
    endpoint: usize,
}

pub(crate) type Shared = Rc<RefCell<SimNetwork>>;

pub(crate) fn addr(id: usize) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, id as u8 + 1], 7_000))
}

impl SimNetwork {
    /// A network of so many machines, 20 ms from each other.
    pub(crate) fn new(machines: usize) -> Shared {
        let mut network = Network::new(7);
        for id in 0..machines {
            network.add(addr(id));
            for other in 0..id {
                network.set_links(other, id, LinkConfig::new(Duration::from_millis(20)));
            }
        }
        let inboxes = vec![VecDeque::new(); machines];
        let places = (0..machines).collect();
        Rc::new(RefCell::new(Self { network, now: Duration::ZERO, inboxes, places }))
    }

    pub(crate) fn now(&self) -> Duration {
        self.now
    }

    /// A machine has the address of another endpoint from now on.
    pub(crate) fn move_machine(&mut self, machine: usize, endpoint: usize) {
        self.places[machine] = endpoint;
    }

    /// Drops the datagrams that wait for a machine.
    pub(crate) fn forget(&mut self, endpoint: usize) {
        self.inboxes[endpoint].clear();
    }

    pub(crate) fn pass(&mut self, time: Duration) {
        self.now += time;
        while let Some(delivery) = self.network.deliver(self.now) {
            let datagram = (delivery.from, delivery.datagram.to_vec());
            self.inboxes[delivery.to].push_back(datagram);
        }
    }
}

pub(crate) fn socket(sim: &Shared, endpoint: usize) -> SimSocket {
    SimSocket { sim: Rc::clone(sim), endpoint }
}

impl Datagrams for SimSocket {
    fn now(&self) -> Duration {
        self.sim.borrow().now
    }

    fn recv(&mut self, buf: &mut [u8]) -> io::Result<Received> {
        let mut sim = self.sim.borrow_mut();
        let place = sim.places[self.endpoint];
        let Some((from, datagram)) = sim.inboxes[place].pop_front() else { return Ok(Received::Empty) };
        buf[..datagram.len()].copy_from_slice(&datagram);
        Ok(Received::Datagram(from, datagram.len()))
    }

    fn send(&mut self, to: SocketAddr, datagram: &[u8]) {
        let mut sim = self.sim.borrow_mut();
        let now = sim.now;
        let place = sim.places[self.endpoint];
        sim.network.send(now, place, to, datagram);
    }

    fn wait(&mut self, at_most: Duration) -> io::Result<()> {
        self.sim.borrow_mut().pass(at_most.min(TICK));
        Ok(())
    }
}

/// A host and a joiner in the network, the joiner by what the host shares.
pub(crate) fn pair(sim: &Shared, options: &[ConnectOptions; 2]) -> [Connection<SimSocket>; 2] {
    let host = Connection::host_on(&options[0], socket(sim, 0), &[addr(0)]).unwrap();
    let joiner = Connection::join_on(&options[1], socket(sim, 1), &[addr(1)], host.share()).unwrap();
    [host, joiner]
}

/// Runs two lobbies until both have agreed or the joiner has failed, at most for `limit`; `others` run too.
pub(crate) fn meet(
    sim: &Shared,
    connections: &mut [Connection<SimSocket>; 2],
    lobbies: &mut [Lobby; 2],
    limit: Duration,
    mut others: impl FnMut(),
) -> Result<(), LobbyError> {
    let end = sim.borrow().now + limit;
    while sim.borrow().now < end {
        for (connection, lobby) in connections.iter_mut().zip(&mut *lobbies) {
            connection.poll(lobby).unwrap();
        }
        others();
        if lobbies[1].agreed()?.is_some() && lobbies[0].agreed()?.is_some() {
            return Ok(());
        }
        if connections[1].failure().is_some() {
            return Ok(());
        }
        sim.borrow_mut().pass(TICK);
    }
    Ok(())
}

/// A protocol that does nothing.
pub(crate) struct Silent;

impl Protocol for Silent {
    fn handle_datagram(&mut self, _: Duration, _: SocketAddr, _: &[u8]) {}

    fn poll_transmit(&mut self, _: Duration, _: &mut [u8]) -> Option<(SocketAddr, usize)> {
        None
    }

    fn poll_timeout(&self) -> Option<Duration> {
        None
    }
}
