//! Connections in a network with a relay: the facts that a player is told about the path.

use super::internet::{HOST, Internet, JOINER, Node, Plan, Router, at, ms, relay_addr, rendezvous_addr};
use core::time::Duration;
use rebout::lab::sim::Recording;
use rebout::net::{Datagrams, Received};
use rebout::{
    Buttons, ConnectError, ConnectOptions, Connection, Cues, Game, Inputs, Now, Online, Options, Protocol,
    RelayPolicy, Session, fields,
};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Endless {
    frames: u32,
}
fields!(Endless { frames });

impl Game for Endless {
    fn step(&mut self, _: Inputs, _: &mut Cues) {
        self.frames += 1;
    }
}

/// Datagrams between a connection and the network.
#[derive(Default)]
pub(crate) struct Mail {
    pub(crate) now: Duration,
    pub(crate) inbox: VecDeque<(SocketAddr, Vec<u8>)>,
    pub(crate) outbox: VecDeque<(SocketAddr, Vec<u8>)>,
}

pub(crate) struct Mailbox(pub(crate) Rc<RefCell<Mail>>);

impl Datagrams for Mailbox {
    fn now(&self) -> Duration {
        self.0.borrow().now
    }

    fn recv(&mut self, buf: &mut [u8]) -> io::Result<Received> {
        let Some((from, datagram)) = self.0.borrow_mut().inbox.pop_front() else {
            return Ok(Received::Empty);
        };
        buf[..datagram.len()].copy_from_slice(&datagram);
        Ok(Received::Datagram(from, datagram.len()))
    }

    fn send(&mut self, to: SocketAddr, datagram: &[u8]) {
        self.0.borrow_mut().outbox.push_back((to, datagram.to_vec()));
    }

    fn wait(&mut self, _: Duration) -> io::Result<()> {
        Ok(())
    }
}

pub(crate) type Shared = Rc<RefCell<Online<Endless, Mailbox>>>;

/// A machine of the internet that plays an online match.
pub(crate) struct Machine {
    mail: Rc<RefCell<Mail>>,
    online: Shared,
    game: Endless,
}

impl Machine {
    pub(crate) fn new(mail: Rc<RefCell<Mail>>, online: Shared) -> Self {
        Self { mail, online, game: Endless { frames: 0 } }
    }
}

impl Machine {
    fn turn(&mut self) {
        let online = &mut *self.online.borrow_mut();
        loop {
            match online.poll().unwrap() {
                Now::Begin { .. } => online.start(&self.game),
                Now::Frame => drop(online.advance(&mut self.game, Buttons(1))),
                Now::Event(_) | Now::Notice(_) => {}
                _ => return,
            }
        }
    }
}

impl Protocol for Machine {
    fn handle_datagram(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        let mut mail = self.mail.borrow_mut();
        mail.now = now;
        mail.inbox.push_back((from, datagram.to_vec()));
    }

    fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        self.mail.borrow_mut().now = now;
        if self.mail.borrow().outbox.is_empty() {
            self.turn();
        }
        let (to, datagram) = self.mail.borrow_mut().outbox.pop_front()?;
        buf[..datagram.len()].copy_from_slice(&datagram);
        Some((to, datagram.len()))
    }

    fn poll_timeout(&self) -> Option<Duration> {
        Some(self.mail.borrow().now + ms(4))
    }
}

/// An internet whose players have connections, and the matches of both.
fn internet(plan: Plan) -> (Internet, [Shared; 2]) {
    let mut internet = Internet::new(plan);
    let mails = [HOST, JOINER].map(|_| Rc::new(RefCell::new(Mail::default())));
    let [here, there] = mails.each_ref().map(|mail| Mailbox(Rc::clone(mail)));
    let [host, options] = plan.relays.map(|relay| ConnectOptions::new().relay(relay));
    let host = host.rendezvous(&rendezvous_addr().to_string());
    let host = Connection::host_on(&host, here, &[at("192.168.1.2:7000")]).unwrap();
    let joiner = Connection::join_on(&options, there, &[at("192.168.2.2:7010")], host.share()).unwrap();
    let matches = [host, joiner]
        .map(|connection| Rc::new(RefCell::new(Online::on(Options::new(0xB0, 1), connection).unwrap())));
    for (id, mail) in mails.into_iter().enumerate() {
        let machine = Machine::new(mail, Rc::clone(&matches[id]));
        *internet.world.machine_mut(id) = Node::Other(Box::new(machine));
    }
    (internet, matches)
}

/// Whether both players are told this about the path to the other.
pub(crate) fn both(matches: &[Shared; 2], told: impl Fn(&Online<Endless, Mailbox>) -> bool) -> bool {
    matches.iter().all(|online| told(&online.borrow()))
}

#[test]
fn relayed_peer_has_an_address_until_the_relay_is_lost() {
    let (mut internet, matches) = internet(Plan::new(Router::Symmetric, Router::Symmetric));
    let plays = |_: &Internet| both(&matches, |online| online.session().is_some());
    assert!(internet.run_until(ms(15_000), plays), "{:?}", matches[JOINER].borrow().progress());
    internet.run_for(ms(2_000));
    for online in &matches {
        let (peer, stats) = (online.borrow().peer(), online.borrow().connection().stats());
        assert!(peer.is_verified && peer.is_relayed && peer.addr.is_some(), "{peer:?}");
        // Each machine is 20 ms from the relay, and the relay 20 ms from the other: at most the whole way is a detour.
        assert!(peer.detour.is_some_and(|detour| detour > ms(0) && detour <= ms(90)), "{peer:?}");
        assert!(stats.found_after.is_some() && stats.allocations > 0, "{stats:?}");
    }
    internet.relay.kill();
    let lost = |_: &Internet| both(&matches, |online| online.peer().addr.is_none());
    assert!(internet.run_until(ms(8_000), lost), "{:?}", matches[HOST].borrow().peer());
    let words = "The relay that carried the match does not answer any more.";
    assert!(both(&matches, |online| online.connection().progress().starts_with(words)));
    assert!(both(&matches, |online| !online.peer().is_relayed && online.peer().detour.is_none()));
}

#[test]
fn relay_only_keeps_the_address_hidden_and_tells_the_detour() {
    let plan = Plan { relays: [RelayPolicy::Only; 2], ..Plan::new(Router::Cone, Router::Cone) };
    let (mut internet, matches) = internet(plan);
    internet.world.network_mut().record(Recording::Full);
    let told = |_: &Internet| both(&matches, |online| online.peer().detour.is_some());
    assert!(internet.run_until(ms(15_000), told), "{:?}", matches[JOINER].borrow().progress());
    let ips = [HOST, JOINER].map(|id| internet.outside(id).ip());
    for (id, online) in matches.iter().enumerate() {
        let peer = online.borrow().peer();
        assert!(peer.is_relayed && peer.addr.is_some_and(|addr| addr.ip() == relay_addr().ip()), "{peer:?}");
        let detour = peer.detour.unwrap().as_millis();
        let progress = online.borrow().connection().progress();
        assert_eq!(progress, format!("through the relay, at most {detour} ms longer"));
        assert!(
            internet.said(id).all(|entry| entry.to.ip() != ips[1 - id]),
            "nothing goes to the peer itself"
        );
    }
}

#[test]
fn relay_never_asks_no_relay_and_uses_none_of_the_peer() {
    for refuses in [HOST, JOINER] {
        let mut plan = Plan::new(Router::Symmetric, Router::Symmetric);
        plan.relays[refuses] = RelayPolicy::Never;
        let (mut internet, matches) = internet(plan);
        internet.world.network_mut().record(Recording::Full);
        let failed = |_: &Internet| matches[JOINER].borrow().connection().failure().is_some();
        assert!(internet.run_until(ms(15_000), failed), "{:?}", matches[JOINER].borrow().progress());
        let failure = matches[JOINER].borrow().connection().failure();
        assert!(matches!(failure, Some(ConnectError::NoPath { .. })), "{failure:?}");
        assert!(internet.said(refuses).all(|entry| entry.to.ip() != relay_addr().ip()));
        assert_eq!(matches[refuses].borrow().connection().stats().allocations, 0);
    }
}

#[test]
fn closing_ends_the_allocations_on_the_relay() {
    let (mut internet, matches) = internet(Plan::new(Router::Symmetric, Router::Symmetric));
    internet.world.network_mut().record(Recording::Full);
    let plays = |_: &Internet| both(&matches, |online| online.session().is_some());
    assert!(internet.run_until(ms(15_000), plays), "{:?}", matches[JOINER].borrow().progress());
    matches[HOST].borrow_mut().leave();
    internet.run_for(ms(3_000));
    assert!(both(&matches, |online| online.session().is_some_and(Session::ended)));
    assert_eq!([HOST, JOINER].map(|id| internet.given_back(id)), [0, 0], "there may be a rematch");
    for online in &matches {
        let options = ConnectOptions::new();
        let unused = Connection::host_on(&options, Mailbox(Rc::default()), &[at("192.168.3.2:7020")]);
        let unused = Online::on(Options::new(0xB0, 1), unused.unwrap()).unwrap();
        core::mem::replace(&mut *online.borrow_mut(), unused).close().unwrap();
    }
    internet.run_for(ms(100));
    assert_eq!([HOST, JOINER].map(|id| internet.given_back(id)), [1, 1]);
}

#[test]
fn direct_peer_is_found_through_two_routers() {
    let (mut internet, matches) =
        internet(Plan { has_relay: false, ..Plan::new(Router::Cone, Router::Cone) });
    let plays = |_: &Internet| both(&matches, |online| online.session().is_some());
    assert!(internet.run_until(ms(15_000), plays), "{:?}", matches[JOINER].borrow().progress());
    for (id, other) in [(HOST, JOINER), (JOINER, HOST)] {
        let peer = matches[id].borrow().peer();
        assert!(peer.is_verified && !peer.is_relayed && peer.detour.is_none(), "{peer:?}");
        assert_eq!(peer.addr, Some(internet.outside(other)), "the address outside of its router");
    }
}
