//! Two lobbies agree on a connection, whatever the access, and failures say what is wrong.

use crate::sim_network::{Silent, SimNetwork, addr, meet, pair, socket};
use core::time::Duration;
use rebout::net::{Datagrams, Memory};
use rebout::{Config, ConnectError, ConnectOptions, Connection, Hint, Lobby, LobbyError, Protocol};
use std::net::SocketAddr;
use std::time::Instant;

const LIMIT: Duration = Duration::from_secs(30);

fn config() -> Config {
    Config::new(0xB0).with(|config| config.rollback.delay_frames = Some(1))
}

fn lobbies<D: rebout::net::Datagrams>(connections: &[Connection<D>; 2]) -> [Lobby; 2] {
    connections.each_ref().map(|connection| connection.lobby(config()).unwrap())
}

fn local() -> ConnectOptions {
    ConnectOptions::new().bind("127.0.0.1:0".parse().unwrap())
}

/// Runs two connections in this thread until both lobbies have agreed.
fn agree<D: rebout::net::Datagrams>(connections: &mut [Connection<D>; 2]) -> [Lobby; 2] {
    let mut lobbies = lobbies(connections);
    while lobbies.iter().any(|lobby| lobby.agreed().unwrap().is_none()) {
        for (connection, lobby) in connections.iter_mut().zip(&mut lobbies) {
            let deadline = connection.now() + Duration::from_millis(1);
            connection.run_until(lobby, deadline).unwrap();
        }
    }
    lobbies
}

#[test]
fn invited_machines_meet_on_udp_and_are_verified() {
    for options in [local(), ConnectOptions::new()] {
        let host = Connection::host(&options).unwrap();
        assert!(host.share().starts_with("rebout:2:") && host.is_encrypted());
        let joiner = Connection::join(&options, host.share()).unwrap();
        let mut connections = [host, joiner];
        let lobbies = agree(&mut connections);
        for (id, lobby) in lobbies.iter().enumerate() {
            let info = connections[id].peer(lobby.agreed().unwrap().unwrap().peer);
            assert!(info.is_verified && !info.is_relayed && info.code.is_none());
            let port = connections[1 - id].local_addr().port();
            assert_eq!(info.addr.map(|addr| addr.port()), Some(port), "the outer address");
            assert_eq!(connections[id].stats().connections, 1);
        }
    }
}

#[test]
fn open_host_is_joined_by_address_and_both_see_one_code() {
    let host = Connection::host(&local().open()).unwrap();
    let joiner = Connection::join(&local(), host.share()).unwrap();
    assert_eq!(host.share(), host.local_addr().to_string());
    let mut connections = [host, joiner];
    let mut lobbies = agree(&mut connections);
    let peers = lobbies.each_ref().map(|lobby| lobby.agreed().unwrap().unwrap().peer);
    let codes = loop {
        for (connection, lobby) in connections.iter_mut().zip(&mut lobbies) {
            let deadline = connection.now() + Duration::from_millis(1);
            connection.run_until(lobby, deadline).unwrap();
        }
        let codes = [0, 1].map(|id| connections[id].peer(peers[id]).code);
        if let [Some(one), Some(two)] = codes {
            break [one, two];
        }
    };
    assert_eq!(codes[0], codes[1]);
    assert!(!connections[0].peer(peers[0]).is_verified);
    assert!(connections[0].verify(peers[0]) && connections[0].peer(peers[0]).is_verified);
}

#[test]
fn bare_machines_meet_when_both_name_it() {
    let host = Connection::host(&local().bare()).unwrap();
    assert!(!host.is_encrypted());
    let joiner = Connection::join(&local().bare(), host.share()).unwrap();
    let mut connections = [host, joiner];
    let lobbies = agree(&mut connections);
    let info = connections[0].peer(lobbies[0].agreed().unwrap().unwrap().peer);
    assert_eq!((info.addr, info.is_verified), (Some(connections[1].local_addr()), false));
}

#[test]
fn transport_in_memory_is_encrypted_by_invite_or_trusted() {
    let begun = Instant::now();
    let open = |options: &ConnectOptions| {
        let [here, there] = Memory::pair(move || begun.elapsed());
        let address = here.local_addr();
        let host = Connection::host_on(options, here, &[address]).unwrap();
        let joiner = Connection::join_on(options, there, &[], host.share()).unwrap();
        [host, joiner]
    };
    let mut connections = open(&ConnectOptions::new());
    agree(&mut connections);
    assert!(connections[0].is_encrypted());
    let mut connections = open(&ConnectOptions::new().encrypted_by_transport());
    let lobbies = agree(&mut connections);
    let peer = lobbies[0].agreed().unwrap().unwrap().peer;
    assert!(!connections[0].is_encrypted() && connections[0].peer(peer).is_verified);
}

#[test]
fn simulated_network_runs_a_connection() {
    let sim = SimNetwork::new(2);
    let mut connections = pair(&sim, &[ConnectOptions::new(), ConnectOptions::new()]);
    let mut lobbies = lobbies(&connections);
    meet(&sim, &mut connections, &mut lobbies, LIMIT, || ()).unwrap();
    let agreed = lobbies[1].agreed().unwrap().expect("an agreement");
    assert_eq!(connections[1].peer(agreed.peer).addr, Some(addr(0)));
    assert!(sim.borrow().now() < Duration::from_secs(1));
}

#[test]
fn refused_datagrams_are_counted() {
    let sim = SimNetwork::new(2);
    let options = ConnectOptions::new();
    let mut host = Connection::host_on(&options, socket(&sim, 0), &[addr(0)]).unwrap();
    let mut stranger = socket(&sim, 1);
    (0..5).for_each(|_| stranger.send(addr(0), &[0xE5; 64]));
    sim.borrow_mut().pass(Duration::from_millis(20));
    host.poll(&mut Silent).unwrap();
    assert_eq!(host.stats().refused, 5);
}

/// A protocol that has always something left to deliver.
struct Unfinished;

impl Protocol for Unfinished {
    fn handle_datagram(&mut self, _: Duration, _: SocketAddr, _: &[u8]) {}

    fn poll_transmit(&mut self, _: Duration, _: &mut [u8]) -> Option<(SocketAddr, usize)> {
        None
    }

    fn poll_timeout(&self) -> Option<Duration> {
        None
    }

    fn lingers(&self) -> bool {
        true
    }
}

#[test]
fn close_says_whether_everything_was_delivered() {
    for options in [ConnectOptions::new(), ConnectOptions::new().bare()] {
        let sim = SimNetwork::new(1);
        let mut host = Connection::host_on(&options, socket(&sim, 0), &[addr(0)]).unwrap();
        assert!(host.close(&mut Silent, Duration::from_secs(2)).unwrap());
        assert_eq!(sim.borrow().now(), Duration::ZERO);
        assert!(!host.close(&mut Unfinished, Duration::from_secs(2)).unwrap());
        assert_eq!(sim.borrow().now(), Duration::from_secs(2));
    }
}

#[test]
fn host_takes_the_handshakes_of_the_guests_it_expects() {
    for (guests, handshakes) in [(1, 16), (20, 20)] {
        let sim = SimNetwork::new(22);
        let options = ConnectOptions::new().guests(guests);
        let mut host = Connection::host_on(&options, socket(&sim, 0), &[addr(0)]).unwrap();
        let mut joiners: Vec<_> = (1..22)
            .map(|id| {
                let options = ConnectOptions::new();
                let joiner =
                    Connection::join_on(&options, socket(&sim, id), &[addr(id)], host.share()).unwrap();
                let lobby = joiner.lobby(config()).unwrap();
                (joiner, lobby)
            })
            .collect();
        for _ in 0..500 {
            for (connection, lobby) in &mut joiners {
                connection.poll(lobby).unwrap();
            }
            host.poll(&mut Silent).unwrap();
            sim.borrow_mut().pass(crate::sim_network::TICK);
        }
        assert_eq!(host.stats().handshakes, handshakes, "in half a second");
    }
}

/// The text that a joiner with `options` gets who calls a host with others, and the hint at either machine.
fn fails(host: &ConnectOptions, joiner: &ConnectOptions, text: Option<&str>) -> (String, [Option<Hint>; 2]) {
    let sim = SimNetwork::new(2);
    let host = Connection::host_on(host, socket(&sim, 0), &[addr(0)]).unwrap();
    let address = addr(0).to_string();
    let joiner = Connection::join_on(joiner, socket(&sim, 1), &[addr(1)], text.unwrap_or(&address)).unwrap();
    let mut connections = [host, joiner];
    let mut lobbies = lobbies(&connections);
    let error = meet(&sim, &mut connections, &mut lobbies, LIMIT, || ()).unwrap_err();
    let LobbyError::TimedOut { after, .. } = error else { panic!("{error}") };
    let error = connections[1].no_answer(after);
    assert!(matches!(error, ConnectError::NoAnswer { .. }));
    (error.to_string(), connections.each_ref().map(Connection::hint))
}

#[test]
fn wrong_invite_times_out_and_the_host_is_told() {
    let old =
        Connection::host_on(&ConnectOptions::new(), socket(&SimNetwork::new(1), 0), &[addr(0)]).unwrap();
    let (text, hints) = fails(&ConnectOptions::new(), &ConnectOptions::new(), Some(old.share()));
    assert_eq!(hints, [Some(Hint::OtherInvite), None]);
    assert_eq!(
        text,
        "No answer at 10.0.0.1:7000 within 10 s. Is the host still waiting, with this invite? Does its router forward the \
         port (UDP)?"
    );
}

/// Anybody can send bare packets, and must not talk a player out of the encryption of an invite.
#[test]
fn bare_packets_change_no_advice_to_an_invited_joiner() {
    let host =
        Connection::host_on(&ConnectOptions::new(), socket(&SimNetwork::new(1), 0), &[addr(0)]).unwrap();
    for (text, advises_bare) in [(host.share(), false), (&*addr(0).to_string(), true)] {
        let sim = SimNetwork::new(2);
        let bare = ConnectOptions::new().bare();
        let bare = Connection::join_on(&bare, socket(&sim, 0), &[addr(0)], &addr(1).to_string()).unwrap();
        let joiner = Connection::join_on(&ConnectOptions::new(), socket(&sim, 1), &[addr(1)], text).unwrap();
        let mut connections = [bare, joiner];
        let mut lobbies = lobbies(&connections);
        meet(&sim, &mut connections, &mut lobbies, Duration::from_secs(2), || ()).unwrap();
        assert_eq!(connections[1].hint(), Some(Hint::Bare));
        let advice = connections[1].no_answer(LIMIT).to_string();
        assert_eq!(advice.contains("does not encrypt"), advises_bare, "{advice}");
    }
}

#[test]
fn bare_and_encrypted_sides_learn_of_each_other() {
    let (invited, bare) = (ConnectOptions::new(), ConnectOptions::new().bare());
    let (text, hints) = fails(&invited, &bare, None);
    assert_eq!(hints, [Some(Hint::Bare), None]);
    assert!(text.contains("An encrypted host ignores bare packets"), "{text}");
    let (text, hints) = fails(&bare, &invited, None);
    assert_eq!(hints, [Some(Hint::Encrypted), None]);
    assert!(text.contains("Otherwise you need its invite"), "{text}");
}
