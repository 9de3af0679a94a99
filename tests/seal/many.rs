//! Many guests of one host: all get in, and one that never answers keeps nobody waiting.

use crate::crowd::{HOST, Node, Way, client, guest_addr, ms, seals, server, world};
use core::time::Duration;
use rebout::authority::GameWire;
use rebout::lab::link::{Chance, LinkConfig};
use rebout::lab::sim::{Clock, World};

const GUESTS: usize = 255;

fn link(loss: u32) -> LinkConfig {
    LinkConfig { loss: Chance::percent(loss), jitter: ms(10), ..LinkConfig::new(ms(40)) }
}

/// A server that expects `expected` guests.
fn host(expected: u8, link: LinkConfig) -> (World<Node>, impl Fn(usize) -> Node) {
    let (mut seal, join) = seals(Way::Invite);
    seal.expect_guests(expected);
    let world = world(link, Node::new(seal, server(GameWire, 255)));
    let guest = move |number: usize| {
        let seal = join(number);
        let target = seal.target().unwrap();
        Node::new(seal, client(GameWire, number, target))
    };
    (world, guest)
}

/// When each guest got its seat, after it began to ask.
fn seated(world: &World<Node>, guests: usize) -> Vec<Option<Duration>> {
    (1..=guests).map(|id| world.machine(id).seated_at).collect()
}

/// All guests ask in the same moment.
#[test]
fn server_seats_255_sealed_clients_within_10_seconds() {
    let (mut world, guest) = host(255, link(3));
    for number in 1..=GUESTS {
        world.add(guest_addr(number), Clock::default(), ms(0), guest(number));
    }
    let all = |world: &World<Node>| seated(world, GUESTS).iter().all(Option::is_some);
    while world.now() < ms(10_000) && !all(&world) {
        let next = world.now() + ms(100);
        world.run_until(next);
    }
    assert!(all(&world), "{} after 10 s", seated(&world, GUESTS).iter().flatten().count());
    assert_eq!(world.machine(HOST).server().clients(), GUESTS);
    let stats = world.machine(HOST).seal.stats();
    assert_eq!(stats.connections, GUESTS as u64, "{stats:?}");
}

/// The first guest sends its INIT and nothing more. The others are seated as fast as without it.
#[test]
fn silent_guest_delays_nobody() {
    let times = [false, true].map(|is_silent| {
        let (mut world, guest) = host(16, LinkConfig::new(ms(40)));
        let starts = [if is_silent { 0 } else { 60_000 }, 20, 40, 60];
        for (number, start) in (1..).zip(starts) {
            world.add(guest_addr(number), Clock::default(), ms(start), guest(number));
        }
        world.run_until(ms(130));
        assert_eq!(world.machine(HOST).seal.stats().handshakes, u64::from(is_silent));
        world.network_mut().set_down(1, HOST, true);
        world.run_until(ms(3_000));
        assert_eq!(world.machine(HOST).seal.stats().connections, 3);
        seated(&world, 4)[1..].to_vec()
    });
    assert!(times[0].iter().all(Option::is_some), "{times:?}");
    assert_eq!(times[0], times[1]);
}

#[cfg(feature = "nat")]
mod at_a_rendezvous {
    use super::*;
    use crate::crowd::{Inner, host_addr};
    use rebout::Invite;
    use rebout::Randomness;
    use rebout::lab::nat::{NatConfig, NatTraversal};
    use rebout::lab::seal::Seal;
    use rebout::rendezvous::{RendezvousConfig, RendezvousServer};
    use std::net::SocketAddr;

    /// The address of a guest: a network of its own for each, because a rendezvous limits those.
    fn guest_addr(number: usize) -> SocketAddr {
        SocketAddr::from(([10, number as u8, 0, 2], 9_000))
    }

    fn config(number: u64, addr: SocketAddr, guests: u8) -> NatConfig {
        let mut config = NatConfig::new(std::time::Instant::now(), [addr]);
        (config.randomness, config.guests) = (Randomness::Seeded(number), guests);
        config
    }

    /// How many of `guests` are seated after a time at a host that expects so many.
    fn seated_of(guests: usize, expected: u8, time: Duration) -> usize {
        let rendezvous: SocketAddr = ([198, 51, 100, 1], 3_479).into();
        let mut seal = Seal::host(Randomness::Seeded(1)).unwrap();
        seal.expect_guests(expected);
        let paths = NatTraversal::host(config(3, host_addr(), expected), rendezvous, &[7; 32]).unwrap();
        let key = seal.public_key().unwrap();
        let invite = Invite::with_rendezvous(key, [], paths.rendezvous().unwrap()).unwrap();
        let node = Node { paths: Some(paths), ..Node::new(seal, server(GameWire, 255)) };
        let mut world = world(link(0), node);
        for number in 1..=guests {
            let seal = Seal::join_by_signal(Randomness::Seeded(100 + number as u64), key).unwrap();
            let (addr, target) = (guest_addr(number), seal.target().unwrap());
            let paths =
                NatTraversal::join(config(200 + number as u64, addr, 1), invite.rendezvous().unwrap());
            let inner = client(GameWire, number, target);
            let node = Node { paths: Some(paths.unwrap()), ..Node::new(seal, inner) };
            world.add(addr, Clock::default(), ms(500), node);
        }
        let server = RendezvousServer::new(RendezvousConfig::default(), Randomness::Seeded(9)).unwrap();
        let unused = Seal::host(Randomness::Seeded(10)).unwrap();
        world.add(rendezvous, Clock::default(), ms(0), Node::new(unused, Inner::Rendezvous(server)));
        world.run_until(time);
        seated(&world, guests).iter().flatten().count()
    }

    /// A rendezvous brings four new guests of a room in three seconds.
    #[test]
    fn server_seats_12_clients_from_a_rendezvous() {
        assert_eq!(seated_of(12, 12, ms(14_000)), 12);
        assert_eq!(seated_of(10, 1, ms(14_000)), 8, "a host of a match of two searches for eight");
    }
}
