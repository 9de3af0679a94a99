//! A seal connects any protocol: one without an opening message, and a server and client of either wire.

use crate::crowd::{Echo, HOST, Inner, Node, Way, client, guest_addr, host_addr, ms, seals, server, world};
use core::time::Duration;
use rebout::authority::{GameWire, RtypeWire, Wire};
use rebout::lab::link::LinkConfig;
use rebout::lab::sim::{Clock, EntryKind, Recording, World};

const GUEST: usize = 1;

/// A host and one guest by address or invite.
fn pair<W: Wire>(
    way: Way,
    host: Inner<W>,
    guest: impl FnOnce(std::net::SocketAddr) -> Inner<W>,
) -> World<Node<W>> {
    let (seal, join) = seals(way);
    let mut world = world(LinkConfig::new(ms(40)), Node::new(seal, host));
    world.network_mut().record(Recording::Full);
    let seal = join(1);
    let inner = guest(seal.target().unwrap());
    world.add(guest_addr(1), Clock::default(), ms(0), Node::new(seal, inner));
    world
}

fn assert_sealed(world: &World<Node<impl Wire>>) {
    let sent = world.network().transcript().entries().iter().filter(|entry| entry.kind == EntryKind::Sent);
    for entry in sent.filter(|entry| entry.from == guest_addr(1) || entry.from == host_addr()) {
        assert!(rebout::lab::wire::seal::is_sealed(&entry.datagram) || entry.datagram[0] <= 3, "{entry:?}");
    }
}

/// The guest's datagrams come back, and no other reached either protocol: least of all an empty one.
fn assert_echoes(world: &World<Node>, at_least: usize) {
    let [host, guest] = [HOST, GUEST].map(|id| &world.machine(id).echo().heard);
    assert!(guest.len() >= at_least, "{} came back", guest.len());
    assert!(host.iter().chain(guest).all(|said| said == b"marco"), "{host:?}");
}

#[test]
fn protocol_without_an_opening_message_connects() {
    for way in [Way::Invite, Way::Open] {
        let mut world = pair(way, Inner::Echo(Echo::host()), |to| Inner::Echo(Echo::guest(to, ms(50))));
        world.run_until(ms(1_000));
        assert_echoes(&world, 14);
        assert_sealed(&world);
    }
}

/// The host forgets a guest of which it opens nothing for two seconds.
#[test]
fn guest_that_says_nothing_for_seconds_stays_connected() {
    for way in [Way::Invite, Way::Open] {
        let every = Duration::from_secs(3);
        let mut world = pair(way, Inner::Echo(Echo::host()), |to| Inner::Echo(Echo::guest(to, every)));
        world.run_until(ms(250));
        assert_eq!(
            world.machine(HOST).seal.stats().connections,
            1,
            "confirmed by the first packet after the RESP"
        );
        world.run_until(ms(3_200));
        assert_echoes(&world, 1);
        assert_eq!(world.machine(HOST).seal.stats().handshakes, 1);
    }
}

fn assert_plays(world: &World<Node<impl Wire>>, within: Duration) {
    let client = world.machine(GUEST);
    assert_eq!(world.machine(HOST).server().clients(), 1);
    assert!(client.seated_at.is_some_and(|at| at <= within), "{:?}", client.seated_at);
    assert!(client.client().id().is_some() && client.client().over().is_none());
    assert_sealed(world);
}

#[test]
fn authority_client_joins_through_a_seal() {
    fn joins<W: Wire + Copy>(wire: W, way: Way) {
        let mut world = pair(way, server(wire, 4), |to| client(wire, 1, to));
        world.run_until(ms(2_000));
        assert_plays(&world, ms(1_500));
        let stats = world.machine(HOST).seal.stats();
        assert_eq!((stats.handshakes, stats.connections), (1, 1), "{way:?} {wire:?}");
    }
    for way in [Way::Invite, Way::Open] {
        joins(GameWire, way);
        joins(RtypeWire, way);
    }
}

/// The client's first request is inside INIT: the answer to it is in the RESP, one round trip after the cookie's.
#[test]
fn request_of_a_client_travels_in_the_handshake() {
    let mut world = pair(Way::Invite, server(GameWire, 4), |to| client(GameWire, 1, to));
    world.run_until(ms(159));
    assert_eq!(world.machine(GUEST).client().id(), None);
    world.run_until(ms(165));
    assert!(world.machine(GUEST).client().id().is_some());
}

#[test]
fn client_of_a_server_that_starts_late_joins() {
    fn joins<W: Wire + Copy>(wire: W) {
        let (seal, join) = seals(Way::Invite);
        let mut world = world(LinkConfig::new(ms(40)), Node::new(seal, server(wire, 4)));
        world.network_mut().record(Recording::Full);
        let seal = join(1);
        let inner = client(wire, 1, seal.target().unwrap());
        world.add(guest_addr(1), Clock::default(), ms(0), Node::new(seal, inner));
        world.network_mut().set_down(GUEST, HOST, true);
        // Longer than a client of R-Type waits for an answer to a request that has left the machine.
        world.run_until(ms(2_000));
        world.network_mut().set_down(GUEST, HOST, false);
        world.run_until(ms(4_000));
        assert_plays(&world, ms(3_500));
    }
    joins(GameWire);
    joins(RtypeWire);
}

#[cfg(feature = "nat")]
mod manual {
    use super::*;
    use rebout::lab::nat::{NatConfig, NatTraversal};
    use rebout::lab::seal::Seal;
    use rebout::{Offer, Randomness};
    use std::net::SocketAddr;

    /// A host and one guest who send each other texts. The host takes the answer after a second.
    fn met<W: Wire>(host: Inner<W>, guest: impl FnOnce(SocketAddr) -> Inner<W>) -> World<Node<W>> {
        let config = |number: u64, addr: SocketAddr| {
            let mut config = NatConfig::new(std::time::Instant::now(), [addr]);
            config.randomness = Randomness::Seeded(number);
            config
        };
        let mut seal = Seal::host(Randomness::Seeded(1)).unwrap();
        let mut paths = NatTraversal::host_manual(config(3, host_addr())).unwrap();
        let offer: Offer = paths.offer(ms(0), &mut seal).unwrap();
        let node = Node { paths: Some(paths), ..Node::new(seal, host) };
        let mut world = world(LinkConfig::new(ms(40)), node);
        world.network_mut().record(Recording::Full);
        let mut seal = Seal::join_by_signal(Randomness::Seeded(2), *offer.key()).unwrap();
        let mut paths = NatTraversal::join_manual(config(4, guest_addr(1)), &offer).unwrap();
        let answer = paths.answer(ms(0), &mut seal).unwrap();
        let inner = guest(seal.target().unwrap());
        world.add(
            guest_addr(1),
            Clock::default(),
            ms(0),
            Node { paths: Some(paths), ..Node::new(seal, inner) },
        );
        world.run_until(ms(1_000));
        let Node { seal, paths, .. } = world.machine_mut(HOST);
        paths.as_mut().unwrap().take_answer(ms(1_000), seal, &answer).unwrap();
        world
    }

    #[test]
    fn protocol_without_an_opening_connects_manually() {
        for every in [ms(50), ms(4_000)] {
            let mut world = met(Inner::Echo(Echo::host()), |to| Inner::Echo(Echo::guest(to, every)));
            // The path is found after 1.8 s.
            world.run_until(ms(2_200));
            assert_eq!(world.machine(HOST).seal.stats().connections, 1, "confirmed on the first path");
            world.run_until(ms(4_200));
            assert_echoes(&world, 1);
            assert_sealed(&world);
        }
    }

    #[test]
    fn authority_client_joins_by_manual_signalling() {
        fn joins<W: Wire + Copy>(wire: W) {
            let mut world = met(server(wire, 4), |to| client(wire, 1, to));
            world.run_until(ms(5_000));
            assert_plays(&world, ms(4_500));
        }
        joins(GameWire);
        joins(RtypeWire);
    }
}
