//! Rooms of a rendezvous, and paths through NATs.

use super::{traced, values};
use rebout::lab::nat::{NatConfig, NatTraversal};
use rebout::lab::rendezvous::Registration;
use rebout::lab::seal::Seal;
use rebout::rendezvous::{RendezvousConfig, RendezvousServer};
use rebout::{Config, Invite, Lobby, Protocol, Randomness};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

fn addr(n: u8) -> SocketAddr {
    ([192, 0, 2, n], 7).into()
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Lets a host at `from` and its server exchange datagrams for a while.
fn exchange(server: &mut RendezvousServer, host: &mut Registration, from: SocketAddr, time: [u64; 2]) {
    let mut buf = [0; 1_200];
    for now in (time[0]..time[1]).step_by(100).map(ms) {
        while let Some((_, len)) = host.poll_transmit(now, &mut buf) {
            server.handle_datagram(now, from, &buf[..len]);
            while let Some((to, len)) = server.poll_transmit(now, &mut buf) {
                if to == from {
                    host.handle_datagram(now, addr(100), &buf[..len]);
                }
            }
        }
    }
}

#[test]
fn rooms_and_refusals_of_a_rendezvous_are_told() {
    let told = traced(|| {
        let mut server = RendezvousServer::new(RendezvousConfig::default(), Randomness::Seeded(1)).unwrap();
        let mut host = Registration::new(addr(100), &[7; 32], Randomness::Seeded(2)).unwrap();
        host.set_ticket(1);
        exchange(&mut server, &mut host, addr(1), [0, 1_000]);
        server.handle_datagram(ms(1_000), addr(66), b"junk");
        // The host has another address, and nobody answers at the old one.
        host.refresh();
        exchange(&mut server, &mut host, addr(2), [1_000, 9_000]);
        server.poll_transmit(ms(99_000), &mut [0; 1_200]);
    });
    let changes = ["opened", "taken over by another address", "expired"];
    assert_eq!(values(&told, "room", "change"), changes, "{told:?}");
    let rooms = values(&told, "room", "room");
    assert!(rooms[0].len() == 8 && rooms.iter().all(|room| *room == rooms[0]), "{rooms:?}");
    let reasons = values(&told, "datagram refused", "reason");
    assert_eq!(reasons[0], "it is no packet of a rendezvous");
    assert!(reasons[1..].iter().all(|why| *why == "another address has the room"), "{reasons:?}");
    assert!(reasons.len() > 2);
}

#[test]
fn room_closed_for_another_network_is_told() {
    let told = traced(|| {
        let config = RendezvousConfig { max_rooms: 2, ..RendezvousConfig::default() };
        let mut server = RendezvousServer::new(config, Randomness::Seeded(1)).unwrap();
        for n in 0..3_u8 {
            let secret = [n + 1; 32];
            let mut host = Registration::new(addr(100), &secret, Randomness::Seeded(n.into())).unwrap();
            host.set_ticket(1);
            // The first two share a network, and the third has one of its own.
            let from = ([if n < 2 { 192 } else { 203 }, 0, 2, n + 1], 7).into();
            exchange(&mut server, &mut host, from, [0, 1_000]);
        }
    });
    let changes = ["opened", "opened", "closed for another network", "opened"];
    assert_eq!(values(&told, "room", "change"), changes, "{told:?}");
}

#[test]
fn exhausted_signature_checks_are_told() {
    let told = traced(|| {
        let config = RendezvousConfig { max_signatures_per_second: 0, ..RendezvousConfig::default() };
        let mut server = RendezvousServer::new(config, Randomness::Seeded(1)).unwrap();
        let mut host = Registration::new(addr(100), &[7; 32], Randomness::Seeded(2)).unwrap();
        host.set_ticket(1);
        exchange(&mut server, &mut host, addr(1), [0, 1_000]);
    });
    assert_eq!(values(&told, "budget exhausted", "budget")[0], "signature checks");
    assert_eq!(values(&told, "datagram refused", "reason")[0], "too many requests in this second");
}

#[test]
fn path_that_was_found_is_told_on_both_machines() {
    let told = traced(|| {
        let config = |n| NatConfig::new(Instant::now(), [addr(n)]);
        let mut seal = Seal::host(Randomness::Seeded(1)).unwrap();
        let mut host = NatTraversal::host_manual(config(1)).unwrap();
        let offer = host.offer(ms(0), &mut seal).unwrap();
        let mut joiner = NatTraversal::join_manual(config(2), &offer).unwrap();
        let mut joining = Seal::join_by_signal(Randomness::Seeded(2), *offer.key()).unwrap();
        let answer = joiner.answer(ms(0), &mut joining).unwrap();
        host.take_answer(ms(0), &mut seal, &answer).unwrap();
        let mut lobbies = [
            Lobby::host(Config::new(7)).unwrap(),
            Lobby::join(Config::new(7), joining.target().unwrap()).unwrap(),
        ];
        let [hosts, joins] = &mut lobbies;
        let (mut machines, mut buf) = ([(host, seal, hosts), (joiner, joining, joins)], [0; 1_264]);
        for now in (0..2_000).step_by(5).map(ms) {
            for id in 0..2 {
                loop {
                    let (nat, seal, lobby) = &mut machines[id];
                    let Some((_, len)) = nat.around(seal, *lobby).poll_transmit(now, &mut buf) else {
                        break;
                    };
                    let (nat, seal, lobby) = &mut machines[1 - id];
                    nat.around(seal, *lobby).handle_datagram(now, addr(1 + id as u8), &buf[..len]);
                }
            }
        }
    });
    let mut found = values(&told, "path found", "addr");
    found.sort_unstable();
    found.dedup();
    assert_eq!(found, ["192.0.2.1:7", "192.0.2.2:7"]);
    assert!(values(&told, "path found", "relayed").iter().all(|relayed| *relayed == "false"));
}

#[test]
fn search_without_a_path_is_told_once() {
    let told = traced(|| {
        let key = Seal::host(Randomness::Seeded(1)).unwrap().public_key().unwrap();
        let host = NatTraversal::host(NatConfig::new(Instant::now(), []), addr(100), &[7; 32]).unwrap();
        let invite = Invite::with_rendezvous(key, [], host.rendezvous().unwrap()).unwrap();
        let config = NatConfig::new(Instant::now(), [addr(1)]);
        let mut nat = NatTraversal::join(config, invite.rendezvous().unwrap()).unwrap();
        let mut seal = Seal::join_by_signal(Randomness::Seeded(2), key).unwrap();
        let mut lobby = Lobby::join(Config::new(7), seal.target().unwrap()).unwrap();
        for now in (0..9_000).step_by(50).map(ms) {
            while nat.around(&mut seal, &mut lobby).poll_transmit(now, &mut [0; 1_264]).is_some() {}
        }
    });
    let why = values(&told, "no path", "why");
    assert!(why.len() == 1 && why[0].starts_with("The rendezvous at 192.0.2.100:7 does not"), "{why:?}");
}
