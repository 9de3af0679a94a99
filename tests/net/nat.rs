//! The NATs of the simulated network: mappings, filtering, and expired mappings.

use rebout::lab::link::LinkConfig;
use rebout::lab::sim::{Clock, EntryKind, NatKind, Network, Recording};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

const KINDS: [NatKind; 3] = [NatKind::FullCone, NatKind::PortRestricted, NatKind::Symmetric];
const INSIDE_PORT: u16 = 5000;

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// A server outside.
fn server(n: u8) -> SocketAddr {
    SocketAddr::from(([203, 0, 113, n], 7000))
}

fn inside(n: u8) -> SocketAddr {
    SocketAddr::from(([192, 168, 0, n], INSIDE_PORT))
}

fn outside() -> IpAddr {
    IpAddr::from([198, 51, 100, 1])
}

/// Endpoints 0 and 1 behind one NAT; 2 and 3 outside, the servers. All are 10 ms from each other.
fn network_with_nat(kind: NatKind, seed: u64) -> (Network, usize) {
    let mut network = Network::new(seed);
    network.set_default_link(LinkConfig::new(ms(10)));
    network.record(Recording::Full);
    let nat = network.add_nat(outside(), kind);
    for n in 0..2 {
        let endpoint = network.add(inside(n + 1));
        network.place_behind(endpoint, nat);
    }
    network.add(server(1));
    network.add(server(2));
    (network, nat)
}

/// Sends a datagram, and answers who got it and from whom.
fn reaches(network: &mut Network, now: Duration, from: usize, to: SocketAddr) -> Option<(usize, SocketAddr)> {
    network.send(now, from, to, b"datagram");
    let delivery = network.deliver(now + ms(10))?;
    assert_eq!((delivery.at, delivery.datagram), (now + ms(10), &b"datagram"[..]));
    Some((delivery.to, delivery.from))
}

#[test]
fn cone_nat_maps_one_address_for_all_and_keeps_the_port() {
    for kind in [NatKind::FullCone, NatKind::PortRestricted] {
        let (mut network, _) = network_with_nat(kind, 1);
        let mine = SocketAddr::new(outside(), INSIDE_PORT);
        assert_eq!(reaches(&mut network, ms(0), 0, server(1)), Some((2, mine)));
        assert_eq!(reaches(&mut network, ms(20), 0, server(2)), Some((3, mine)));
        // The other endpoint has the same port inside, which is taken outside.
        let (to, theirs) = reaches(&mut network, ms(40), 1, server(1)).unwrap();
        assert_eq!((to, theirs.ip()), (2, outside()));
        assert_ne!(theirs, mine);
        assert_eq!(reaches(&mut network, ms(60), 1, server(2)), Some((3, theirs)));
        assert_eq!((network.find(mine), network.find(theirs)), (Some(0), Some(1)));
    }
}

#[test]
fn symmetric_nat_maps_and_filters_by_destination() {
    let (mut network, _) = network_with_nat(NatKind::Symmetric, 1);
    let shown = [1, 2].map(|n| reaches(&mut network, ms(20 * u64::from(n)), 0, server(n)).unwrap().1);
    assert_ne!(shown[0], shown[1]);
    assert_eq!(reaches(&mut network, ms(60), 0, server(1)).unwrap().1, shown[0], "the same as before");
    assert_eq!(reaches(&mut network, ms(80), 2, shown[0]), Some((0, server(1))));
    assert_eq!(reaches(&mut network, ms(100), 3, shown[1]), Some((0, server(2))));
    assert_eq!(reaches(&mut network, ms(120), 2, shown[1]), None);
    assert_eq!(reaches(&mut network, ms(140), 3, shown[0]), None);
    assert_eq!((network.stats().filtered, network.stats().unmapped), (2, 0));
}

#[test]
fn port_restricted_cone_filters_by_address_and_port() {
    let (mut network, _) = network_with_nat(NatKind::PortRestricted, 1);
    let other_port = SocketAddr::new(server(1).ip(), 7001);
    let neighbour = network.add(other_port);
    let mine = reaches(&mut network, ms(0), 0, server(1)).unwrap().1;
    assert_eq!(reaches(&mut network, ms(20), 2, mine), Some((0, server(1))));
    assert_eq!(reaches(&mut network, ms(40), neighbour, mine), None, "the right address and another port");
    assert_eq!(reaches(&mut network, ms(60), 3, mine), None);
    assert_eq!((network.stats().filtered, network.stats().unmapped), (2, 0));
    // Sending opens the way, from that moment on.
    network.send(ms(75), 3, mine, b"under way while the way opens");
    network.send(ms(80), 0, server(2), b"open");
    let mut got = Vec::new();
    while let Some(delivery) = network.deliver(ms(90)) {
        got.push(delivery.to);
    }
    assert_eq!(got, [0, 3]);
}

#[test]
fn mapping_is_open_from_the_moment_of_sending() {
    let (mut network, _) = network_with_nat(NatKind::PortRestricted, 1);
    let mine = network.map(ms(0), 0, server(1));
    network.send(ms(0), 3, mine, b"too early");
    network.send(ms(2), 3, mine, b"in time");
    // Sent before either is delivered, and after the first arrives.
    network.send(ms(11), 0, server(2), b"open");
    assert_eq!(network.deliver(ms(15)).unwrap().datagram, b"in time");
    assert_eq!(network.deliver(ms(15)), None);
    assert_eq!(network.stats().filtered, 1);
}

#[test]
fn full_cone_lets_in_everybody_once_it_has_a_mapping() {
    let (mut network, _) = network_with_nat(NatKind::FullCone, 1);
    let mine = SocketAddr::new(outside(), INSIDE_PORT);
    assert_eq!(reaches(&mut network, ms(0), 3, mine), None);
    assert_eq!((network.stats().filtered, network.stats().unmapped), (0, 1));
    assert_eq!(network.map(ms(20), 0, server(1)), mine);
    assert_eq!(reaches(&mut network, ms(20), 3, mine), Some((0, server(2))));
    assert_eq!(reaches(&mut network, ms(40), 2, SocketAddr::new(outside(), 1)), None);
    assert_eq!((network.stats().filtered, network.stats().unmapped), (0, 2));
}

#[test]
fn expired_mapping_gets_a_new_port() {
    for kind in KINDS {
        let (mut network, nat) = network_with_nat(kind, 1);
        let old = reaches(&mut network, ms(0), 0, server(1)).unwrap().1;
        network.forget(nat, ms(100));
        assert_eq!(reaches(&mut network, ms(99), 0, server(1)), Some((2, old)), "{kind:?}");
        // Until something is sent, nobody is let in: not at the old port, and the new one does not exist.
        assert_eq!(reaches(&mut network, ms(110), 2, old), None);
        let new = reaches(&mut network, ms(130), 0, server(1)).unwrap().1;
        assert_ne!((new.ip(), new.port()), (old.ip(), old.port()), "{kind:?}");
        assert_eq!(reaches(&mut network, ms(150), 2, new), Some((0, server(1))));
        assert_eq!(reaches(&mut network, ms(170), 2, old), None);
        assert_eq!(reaches(&mut network, ms(190), 0, server(1)), Some((2, new)));
        assert_eq!((network.stats().unmapped, network.stats().filtered), (2, 0));
        assert_eq!((network.find(old), network.find(new)), (Some(0), Some(0)));
        assert_eq!(network.addr(0), inside(1));
    }
}

#[test]
fn new_mapping_has_no_old_permissions() {
    let (mut network, nat) = network_with_nat(NatKind::PortRestricted, 1);
    reaches(&mut network, ms(0), 0, server(1));
    reaches(&mut network, ms(20), 0, server(2));
    network.forget(nat, ms(100));
    let new = reaches(&mut network, ms(100), 0, server(1)).unwrap().1;
    assert_eq!(reaches(&mut network, ms(120), 3, new), None);
    assert_eq!(network.stats().filtered, 1);
}

#[test]
fn datagrams_to_an_expired_mapping_are_dropped() {
    let (mut network, nat) = network_with_nat(NatKind::FullCone, 1);
    let old = network.map(ms(0), 0, server(1));
    network.forget(nat, ms(100));
    network.send(ms(80), 2, old, b"in time");
    network.send(ms(95), 2, old, b"too late");
    assert_eq!(network.deliver(ms(200)).unwrap().datagram, b"in time");
    assert_eq!(network.deliver(ms(200)), None);
    assert_eq!(network.stats().unmapped, 1);
}

#[test]
fn queued_datagrams_survive_an_expired_mapping() {
    let (mut network, nat) = network_with_nat(NatKind::PortRestricted, 1);
    let mine = network.map(ms(0), 0, server(1));
    network.set_clock(0, Clock::default().with_pause(ms(50), ms(100)));
    network.forget(nat, ms(100));
    network.send(ms(60), 2, mine, b"before");
    network.send(ms(95), 2, mine, b"after");
    let delivery = network.deliver(ms(300)).unwrap();
    assert_eq!((delivery.at, delivery.datagram), (ms(150), &b"before"[..]));
    assert_eq!(network.deliver(ms(300)), None);
}

#[test]
fn endpoints_behind_one_nat_need_their_private_addresses() {
    for kind in KINDS {
        let (mut network, _) = network_with_nat(kind, 1);
        assert_eq!(reaches(&mut network, ms(0), 0, inside(2)), Some((1, inside(1))));
        let shown = [0, 1].map(|endpoint| network.map(ms(0), endpoint, server(1)));
        // Both punch, and still the NAT sends nothing back inside.
        for now in [ms(20), ms(40)] {
            assert_eq!(reaches(&mut network, now, 0, shown[1]), None, "{kind:?}");
            assert_eq!(reaches(&mut network, now, 1, shown[0]), None, "{kind:?}");
        }
        assert_eq!(network.stats().filtered, 4);
        assert_eq!(reaches(&mut network, ms(60), 2, inside(1)), None);
        assert_eq!(network.stats().unroutable.datagrams, 1);
    }
}

#[test]
fn two_port_restricted_cones_connect_when_both_have_sent() {
    let mut network = Network::new(1);
    network.set_default_link(LinkConfig::new(ms(10)));
    let nats = [1, 2].map(|n| network.add_nat(IpAddr::from([198, 51, 100, n]), NatKind::PortRestricted));
    for nat in nats {
        let endpoint = network.add(inside(nat as u8 + 1));
        network.place_behind(endpoint, nat);
    }
    let shown = [1, 2].map(|n| SocketAddr::from(([198, 51, 100, n], INSIDE_PORT)));
    assert_eq!(reaches(&mut network, ms(0), 0, shown[1]), None, "only one has sent");
    assert_eq!(reaches(&mut network, ms(20), 1, shown[0]), Some((0, shown[1])));
    assert_eq!(reaches(&mut network, ms(40), 0, shown[1]), Some((1, shown[0])));
    // One forgets: its new port is a stranger to the other, which tells nobody.
    network.forget(nats[0], ms(100));
    assert_eq!(reaches(&mut network, ms(100), 0, shown[1]), None);
    assert_eq!(reaches(&mut network, ms(120), 1, shown[0]), None);
    assert_eq!((network.stats().filtered, network.stats().unmapped), (1, 2));
}

#[test]
fn forged_sources_are_filtered_by_the_nat() {
    let (mut network, _) = network_with_nat(NatKind::PortRestricted, 1);
    let mine = network.map(ms(0), 0, server(1));
    network.inject(ms(5), server(2), mine, b"forged");
    network.inject(ms(6), server(1), mine, b"forged better");
    assert_eq!(network.deliver(ms(10)).unwrap().datagram, b"forged better");
    assert_eq!(network.deliver(ms(10)), None);
    assert_eq!(network.stats().filtered, 1);
}

/// The ports that a NAT gives out, and the transcript.
fn ports(seed: u64) -> (Vec<u16>, u64) {
    let (mut network, nat) = network_with_nat(NatKind::Symmetric, seed);
    let mut found = Vec::new();
    for n in 0..20 {
        let now = ms(40 * n);
        let shown = reaches(&mut network, now, 0, server(1 + n as u8 % 2)).unwrap().1;
        found.push(shown.port());
        reaches(&mut network, now + ms(20), 3, shown);
        network.forget(nat, now + ms(30));
    }
    (found, network.transcript().digest())
}

#[test]
fn ports_come_from_the_seed_and_are_never_given_out_twice() {
    let (found, digest) = ports(7);
    assert_eq!(ports(7), (found.clone(), digest));
    let (others, other_digest) = ports(8);
    assert_ne!(digest, other_digest);
    assert!(found[1..].iter().all(|port| !others[1..].contains(port)));
    let mut different = found.clone();
    different.sort_unstable();
    different.dedup();
    assert_eq!(different.len(), found.len());
    assert_eq!(found[0], INSIDE_PORT);
}

#[test]
fn transcript_has_nat_drops_and_mapped_addresses() {
    let digest = |kind: NatKind| {
        let (mut network, _) = network_with_nat(kind, 1);
        let mine = reaches(&mut network, ms(0), 0, server(1)).unwrap().1;
        reaches(&mut network, ms(20), 3, mine);
        let entries = network.transcript().entries().iter();
        let kinds: Vec<_> = entries.map(|entry| (entry.kind, entry.from, entry.to)).collect();
        let last = if kind == NatKind::FullCone { EntryKind::Delivered } else { EntryKind::Filtered };
        assert_eq!(
            kinds,
            [
                (EntryKind::Sent, mine, server(1)),
                (EntryKind::Delivered, mine, server(1)),
                (EntryKind::Sent, server(2), mine),
                (last, server(2), mine),
            ]
        );
        network.transcript().digest()
    };
    assert_ne!(digest(NatKind::FullCone), digest(NatKind::PortRestricted));
}

#[test]
fn nat_survives_a_flood_of_destinations() {
    for kind in KINDS {
        let (mut network, _) = network_with_nat(kind, 1);
        network.record(Recording::Off);
        for n in 0..50_000u32 {
            let to = SocketAddr::from(([100, 64, (n >> 8) as u8, n as u8], 1 + (n >> 16) as u16));
            network.send(ms(0), 0, to, b"flood");
        }
        assert_eq!(network.stats().unroutable.datagrams, 50_000);
        let mine = reaches(&mut network, ms(10), 0, server(1)).unwrap().1;
        assert_eq!(reaches(&mut network, ms(30), 2, mine), Some((0, server(1))), "{kind:?}");
    }
}
