//! Closing in the middle of a match, which blocks until the last messages are through.

use crate::game::{Machine, options};
use crate::sim_network::{SimNetwork, SimSocket, TICK, addr, socket};
use core::time::Duration;
use rebout::net::{Datagrams, Received};
use rebout::{ConnectOptions, Connection, Event, Finish, Online, Reason};
use std::cell::RefCell;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;

/// A socket whose waiting lets the other machine run too.
struct Beside {
    socket: SimSocket,
    other: Rc<RefCell<Machine>>,
}

impl Datagrams for Beside {
    fn now(&self) -> Duration {
        self.socket.now()
    }

    fn recv(&mut self, buf: &mut [u8]) -> io::Result<Received> {
        self.socket.recv(buf)
    }

    fn send(&mut self, to: SocketAddr, datagram: &[u8]) {
        self.socket.send(to, datagram);
    }

    fn wait(&mut self, at_most: Duration) -> io::Result<()> {
        self.other.borrow_mut().turn();
        self.socket.wait(at_most)
    }
}

#[test]
fn last_message_gets_through_on_close() {
    let sim = SimNetwork::new(2);
    let connect = ConnectOptions::new();
    let host = Connection::host_on(&connect, socket(&sim, 0), &[addr(0)]).unwrap();
    let invite = host.share().to_owned();
    let mut host = Machine::new(Online::on(options("Ada"), host).unwrap());
    host.last = 600;
    let host = Rc::new(RefCell::new(host));
    let beside = Beside { socket: socket(&sim, 1), other: Rc::clone(&host) };
    let joiner = Connection::join_on(&connect, beside, &[addr(1)], &invite).unwrap();
    let mut joiner = Machine::new(Online::on(options("Bob"), joiner).unwrap());
    joiner.last = 600;
    while joiner.game.as_ref().is_none_or(|game| game.state.frame < 20) {
        joiner.turn();
        host.borrow_mut().turn();
        sim.borrow_mut().pass(TICK);
    }
    joiner.online.send(b"good game").unwrap();
    // The first attempts to say so are lost.
    let now = sim.borrow().now();
    sim.borrow_mut().network.cut_both(0, 1, now, now + Duration::from_millis(300));
    joiner.online.close().unwrap();
    assert!(
        sim.borrow().now() < now + Duration::from_millis(1_500),
        "closed as soon as the other side knows"
    );
    let mut host = host.borrow_mut();
    while host.finish.is_none() {
        host.turn();
        sim.borrow_mut().pass(TICK);
    }
    assert!(host.events.contains(&Event::Message(b"good game".to_vec().into())), "{:?}", host.events);
    assert_eq!(host.finish, Some(Finish::Ended(Reason::Left)));
}
