//! Keys of one host, each for guests in one role: players and spectators.

use crate::net::{Machine, Net, addr, both_agreed, config, ms};
use core::time::Duration;
use rebout::lab::seal::{ByRole, MAX_KEYS, PeerRole, Seal, SealError, SealRefusal};
use rebout::{Lobby, MAX_DATAGRAM, Protocol, Randomness};
use std::collections::VecDeque;
use std::net::SocketAddr;

const SECOND: Duration = Duration::from_secs(1);

/// A host with a key for spectators beside that of its player.
fn broadcasting(spectators: u8) -> (Machine, [u8; 32]) {
    let mut host = Machine::host(0);
    let key = host.seal.add_access(PeerRole::Spectator, None, spectators).unwrap();
    (host, key)
}

/// Says what it is given to say, and notes what it hears.
#[derive(Default)]
struct Says {
    waiting: VecDeque<(SocketAddr, Vec<u8>)>,
    heard: Vec<(SocketAddr, Vec<u8>)>,
}

impl Protocol for Says {
    fn handle_datagram(&mut self, _: Duration, from: SocketAddr, datagram: &[u8]) {
        self.heard.push((from, datagram.to_vec()));
    }

    fn poll_transmit(&mut self, _: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        let (to, said) = self.waiting.pop_front()?;
        buf[..said.len()].copy_from_slice(&said);
        Some((to, said.len()))
    }

    fn poll_timeout(&self) -> Option<Duration> {
        None
    }
}

/// All that a bare player sends and is sent in a handshake with a host, as plain datagrams.
fn packets_of_a_player() -> Vec<Vec<u8>> {
    let (mut host, mut player) =
        (Lobby::host(config(90)).unwrap(), Lobby::join(config(91), addr(0)).unwrap());
    let (mut sent, mut buf) = (Vec::new(), [0; MAX_DATAGRAM]);
    for turn in 0..400 {
        let now = ms(turn * 10);
        while let Some((_, len)) = player.poll_transmit(now, &mut buf) {
            sent.push(buf[..len].to_vec());
            host.handle_datagram(now, addr(1), &buf[..len]);
        }
        while let Some((_, len)) = host.poll_transmit(now, &mut buf) {
            sent.push(buf[..len].to_vec());
            player.handle_datagram(now, addr(0), &buf[..len]);
        }
    }
    assert!(matches!(host.agreed(), Ok(Some(_))) && sent.len() > 8);
    sent
}

#[test]
fn spectator_that_speaks_as_a_player_is_not_heard() {
    let (host, key) = broadcasting(2);
    let play = host.seal.public_key().unwrap();
    // Its lobby says HELLO, in the handshake and after it.
    let mut net = Net::new(vec![host, Machine::join(1, key, &[addr(0)])]);
    net.run(SECOND);
    let host = &net.machines[0];
    assert_eq!((host.seal.stats().connections, net.machines[1].seal.stats().connections), (1, 1));
    assert!(host.lobby.incoming().is_none() && host.lobby.refused().total() == 0);
    assert!(host.refused(SealRefusal::Unserved) > 0, "its HELLOs came");
    // So does everything else that a player sends.
    let (mut says, target) = (Says::default(), net.machines[1].seal.target().unwrap());
    for packet in packets_of_a_player() {
        says.waiting.push_back((target, packet.clone()));
        says.waiting.push_back((target, [&b"RBN1"[..], &packet[4..]].concat()));
    }
    let (said, before) = (says.waiting.len() as u64, net.machines[0].refused(SealRefusal::Unserved));
    let mut buf = [0; MAX_DATAGRAM];
    while let Some((_, len)) = net.machines[1].seal.around(&mut says).poll_transmit(net.now, &mut buf) {
        let now = net.now;
        net.machines[0].hand_in(now, addr(1), &buf[..len]);
    }
    assert_eq!(net.machines[0].refused(SealRefusal::Unserved), before + said);
    // A player is seated as if it were not there.
    net.machines.push(Machine::join(2, play, &[addr(0)]));
    let begun = net.now;
    assert!(net.run_until(SECOND, |net| net.machines[0].agreed() && net.machines[2].agreed()));
    assert!(net.now - begun <= ms(241), "{:?}", net.now - begun);
    assert_eq!(net.machines[0].lobby.agreed().unwrap().unwrap().user_data, [2]);
    assert_eq!(net.machines[0].lobby.refused().total(), 0);
    let data: Vec<_> = net.sent_by(0, 0xE4).into_iter().chain(net.sent_by(0, 0xE6)).collect();
    assert!(!data.is_empty() && data.iter().all(|flying| flying.to == addr(2)), "the spectator got no DATA");
}

#[test]
fn spectators_and_players_reach_the_protocol_of_their_role() {
    let (mut host, key) = broadcasting(2);
    let play = host.seal.public_key().unwrap();
    let [mut players, mut spectators] = [Says::default(), Says::default()];
    let mut guests = [play, key].map(|key| {
        let seal = Seal::join(Randomness::Seeded(7), key, &[addr(0)]).unwrap();
        (seal, Says::default())
    });
    let mut buf = [0; MAX_DATAGRAM];
    for turn in 0..60 {
        let now = ms(turn * 20);
        for (id, (seal, says)) in guests.iter_mut().enumerate() {
            says.waiting.push_back((addr(0), vec![id as u8; 20 + id]));
            while let Some((_, len)) = seal.around(says).poll_transmit(now, &mut buf) {
                let mut both =
                    ByRole { others: &mut players, role: PeerRole::Spectator, side: &mut spectators };
                host.seal.around(&mut both).handle_datagram(now, addr(1 + id), &buf[..len]);
            }
        }
        for protocol in [&mut players, &mut spectators] {
            let answers =
                protocol.heard.last().map(|(from, _)| (*from, vec![protocol.heard.len() as u8; 30]));
            protocol.waiting.extend(answers);
        }
        let mut both = ByRole { others: &mut players, role: PeerRole::Spectator, side: &mut spectators };
        while let Some((to, len)) = host.seal.around(&mut both).poll_transmit(now, &mut buf) {
            let id = usize::from(to == addr(2));
            let (seal, says) = &mut guests[id];
            seal.around(says).handle_datagram(now, addr(0), &buf[..len]);
        }
    }
    for (id, protocol) in [&players, &spectators].into_iter().enumerate() {
        let lens: Vec<_> = protocol.heard.iter().map(|(_, said)| said.len()).collect();
        assert!(lens.len() > 40 && lens.iter().all(|len| *len == 20 + id), "{id}: {lens:?}");
        assert!(guests[id].1.heard.len() > 40, "and answers came back");
    }
    assert_ne!(players.heard[0].0, spectators.heard[0].0);
    assert_eq!(host.seal.stats().connections, 2, "the same nonce with another key is another guest");
}

/// How long a player takes to be seated while `flood` spectators come each millisecond, and as many REQUESTs of others.
fn seated_after(flood: usize) -> Duration {
    let (host, key) = broadcasting(4);
    let play = host.seal.public_key().unwrap();
    let mut net = Net::new(vec![host]);
    net.machines.extend((0..flood).map(|id| Machine::join(10 + id, key, &[addr(0)])));
    let mut requests: Vec<Vec<u8>> = Vec::new();
    for turn in 0..3_000_usize {
        // Each spectator begins again as soon as it is confirmed, with a nonce of its own and from another address.
        for at in 1..=flood {
            if net.machines[at].seal.stats().connections > 0 || turn % 1_000 == at * 10 {
                net.machines[at] = Machine::join(10 + turn * flood + at, key, &[addr(0)]);
            }
        }
        requests.extend(net.sent.drain(..).map(|flying| flying.datagram).filter(|packet| packet[0] == 0xE0));
        for (at, request) in requests.iter().rev().take(flood / 40).enumerate() {
            let from = SocketAddr::from(([198, 51, (turn % 250) as u8, at as u8], 9));
            net.machines[0].hand_in(net.now, from, request);
        }
        net.step();
    }
    if flood > 0 {
        let stats = net.machines[0].seal.stats();
        let limited = stats.refused.of(SealRefusal::Limited);
        assert!(limited > 0, "{stats:?}");
        assert!(stats.handshakes <= 4 * 3 + 4, "four a second: {stats:?}");
    }
    net.machines.push(Machine::join(1, play, &[addr(0)]));
    let (begun, player) = (net.now, net.machines.len() - 1);
    while !(net.machines[0].agreed() && net.machines[player].agreed()) && net.now - begun < 5 * SECOND {
        for (at, request) in requests.iter().rev().take(flood).enumerate() {
            let from = SocketAddr::from(([203, 0, 113, at as u8], 9));
            net.machines[0].hand_in(net.now, from, request);
        }
        net.step();
    }
    net.now - begun
}

#[test]
fn flood_of_spectators_delays_no_player() {
    assert_eq!(seated_after(100), seated_after(0));
}

#[test]
fn flood_of_spectators_by_signalling_keeps_no_player_out() {
    let (mut host, key) = broadcasting(4);
    let ticket = host.seal.renew_ticket().unwrap();
    let mut come = |now, key, seed: u64| {
        let mut joiner = Seal::join_by_signal(Randomness::Seeded(seed), key).unwrap();
        host.seal.handle_signal(now, &joiner.write_init(now, ticket, b"candidates").unwrap())
    };
    let taken = (0..2_000).filter(|seed| come(ms(*seed * 5), key, 10 + seed).is_ok()).count();
    assert!((16..=19).contains(&taken), "half-open spectators are bounded: {taken}");
    let play = Machine::host(0).seal.public_key().unwrap();
    assert!(come(ms(10_000), play, 9_000).is_ok());
}

#[test]
fn init_for_one_key_with_the_mac_of_another_does_not_open() {
    // Who has both invites can make such a packet: the mac of the player's key around a handshake with the spectators'. By signalling,
    // where no cookie is needed, the prologue and the mac are all that is checked.
    let (mut host, key) = broadcasting(2);
    let (play, ticket) = (host.seal.public_key().unwrap(), host.seal.renew_ticket().unwrap());
    let init = |key, seed| {
        let mut joiner = Seal::join_by_signal(Randomness::Seeded(seed), key).unwrap();
        joiner.write_init(ms(0), ticket, b"x").unwrap()
    };
    let mut mixed = init(key, 5);
    let len = mixed.len();
    // The same nonce, number and ticket as an INIT to the other key, whose mac covers other bytes.
    mixed[len - 8..].copy_from_slice(&init(play, 5)[len - 8..]);
    assert_eq!(host.seal.handle_signal(ms(0), &mixed), Err(SealRefusal::BadMac));
    assert!(host.seal.handle_signal(ms(0), &init(key, 5)).is_ok());
    assert!(host.seal.handle_signal(ms(0), &init(play, 5)).is_ok(), "another guest");
}

#[test]
fn revoked_key_admits_nobody_and_its_guests_stay() {
    let (host, watch) = broadcasting(2);
    let play = host.seal.public_key().unwrap();
    let mut net = Net::new(vec![host, Machine::join(1, play, &[addr(0)])]);
    assert!(net.run_until(SECOND, both_agreed));
    assert!(net.machines[0].seal.revoke(&play) && !net.machines[0].seal.revoke(&play));
    assert_eq!(net.machines[0].seal.public_key(), None);
    net.machines.push(Machine::join(2, play, &[addr(0)]));
    net.machines.push(Machine::join(3, watch, &[addr(0)]));
    let before = net.machines[0].refused(SealRefusal::BadMac);
    net.run(3 * SECOND);
    let host = &net.machines[0];
    assert!(host.refused(SealRefusal::BadMac) > before);
    assert_eq!((host.seal.stats().connections, net.machines[2].seal.stats().connections), (2, 0));
    let peer = host.lobby.agreed().unwrap().unwrap().peer;
    assert!(host.seal.silent_for(net.now, peer).unwrap() < 2 * SECOND, "the guest that was there is heard");
    // The room gets another key.
    let renewed = net.machines[0].seal.add_access(PeerRole::Player, None, 1).unwrap();
    assert_ne!(renewed, play);
    net.machines[0].lobby = Lobby::host(config(0)).unwrap();
    net.machines[2] = Machine::join(4, renewed, &[addr(0)]);
    assert!(net.run_until(SECOND, |net| net.machines[2].agreed()));
}

/// The handshake was answered before its key was revoked; the first DATA comes after that.
#[test]
fn guest_whose_key_was_revoked_is_not_confirmed() {
    let host = Machine::host(0);
    let play = host.seal.public_key().unwrap();
    let mut net = Net::new(vec![host, Machine::join(1, play, &[addr(0)])]);
    net.filter = Box::new(|_, flying| flying.datagram[0] <= 0xE3);
    assert!(net.run_until(SECOND, |net| !net.sent_by(1, 0xE6).is_empty()));
    assert!(net.machines[0].seal.revoke(&play));
    // Before the host has anything to do.
    let (data, now) = (net.sent_by(1, 0xE6)[0].datagram.clone(), net.now);
    net.machines[0].hand_in(now, addr(1), &data);
    assert_eq!(net.machines[0].refused(SealRefusal::Unexpected), 1);
    net.filter = Box::new(|_, _| true);
    net.run(2 * SECOND);
    let host = &net.machines[0];
    assert_eq!((host.seal.stats().connections, host.lobby.incoming().is_none()), (0, true));
}

#[test]
fn queued_init_is_dropped_with_its_key() {
    let host = Machine::host(0);
    let play = host.seal.public_key().unwrap();
    let mut net = Net::new(vec![host]);
    // Two of one source are worked off in a second: the INIT of the third waits.
    net.machines.extend((1..=3).map(|id| Machine::join(id, play, &[addr(0)])));
    for (at, machine) in net.machines[1..].iter_mut().enumerate() {
        machine.addr = SocketAddr::from(([192, 0, 2, 77], 7_000 + at as u16));
    }
    assert!(net.run_until(SECOND, |net| net.machines[0].seal.stats().handshakes == 2));
    net.run(ms(20));
    assert!(net.machines[0].seal.revoke(&play));
    net.run(3 * SECOND);
    assert_eq!(net.machines[0].seal.stats().handshakes, 2);
}

#[test]
fn keys_are_bounded_distinct_and_name_a_role() {
    let mut seal = Seal::host(Randomness::Seeded(1)).unwrap();
    assert_eq!(seal.add_access(PeerRole::Spectator, None, 0), Err(SealError::NoGuests));
    let secret = seal.secret_key();
    assert_eq!(
        seal.add_access(PeerRole::Spectator, secret, 1),
        Err(SealError::TooManyKeys),
        "one role a key"
    );
    let mut keys: Vec<_> =
        (1..MAX_KEYS).map(|_| seal.add_access(PeerRole::Player, None, 1).unwrap()).collect();
    assert_eq!(seal.add_access(PeerRole::Player, None, 1), Err(SealError::TooManyKeys));
    assert!(seal.revoke(&keys[3]) && seal.add_access(PeerRole::Rejoiner, Some([5; 32]), 1).is_ok());
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), MAX_KEYS - 1);
    // A joiner can be joined by its peer that comes back.
    let mut joiner = Seal::join(Randomness::Seeded(1), keys[0], &[addr(0)]).unwrap();
    assert!(joiner.add_access(PeerRole::Rejoiner, None, 1).is_ok());
    assert_eq!(joiner.public_key(), None);
}
