//! Connections through a rendezvous, and by offer and answer.

use crate::game::{Machine, SimOnline, options};
use crate::sim_network::{Silent, SimNetwork, SimSocket, TICK, addr, meet, pair, socket};
use core::time::Duration;
use rebout::Randomness;
use rebout::lab::sim::Recording;
use rebout::net::udp::UdpDriver;
use rebout::net::{Datagrams, Driver};
use rebout::rendezvous::{RendezvousConfig, RendezvousServer};
use rebout::{
    Config, ConnectError, ConnectOptions, Connection, Event, Invite, Lobby, LobbyError, Online, Protocol,
    RelayPolicy, Watch,
};

const LIMIT: Duration = Duration::from_secs(30);

fn config() -> Config {
    Config::new(0xB0).with(|config| config.rollback.delay_frames = Some(1))
}

fn server() -> RendezvousServer {
    RendezvousServer::new(RendezvousConfig::default(), Randomness::System).unwrap()
}

#[test]
fn two_programs_on_one_machine_meet_at_a_local_rendezvous() {
    for own in ["127.0.0.1:0", "[::]:0"] {
        let mut udp = UdpDriver::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let mut server = server();
        let options = ConnectOptions::new().bind(own.parse().unwrap());
        let host = Connection::host(&options.clone().rendezvous(&udp.local_addr().to_string())).unwrap();
        let joiner = Connection::join(&options, host.share()).unwrap();
        let mut connections = [host, joiner];
        let mut lobbies = connections.each_ref().map(|one| one.lobby(config()).unwrap());
        while lobbies.iter().any(|lobby| lobby.agreed().unwrap().is_none()) {
            assert_eq!(connections[1].failure(), None, "{own}");
            udp.poll(&mut server).unwrap();
            for (connection, lobby) in connections.iter_mut().zip(&mut lobbies) {
                let deadline = connection.now() + Duration::from_millis(1);
                connection.run_until(lobby, deadline).unwrap();
            }
        }
        let info = connections[0].peer(lobbies[0].agreed().unwrap().unwrap().peer);
        assert!(info.is_verified && !info.is_relayed && info.detour.is_none());
        assert_eq!(info.addr.map(|addr| addr.port()), Some(connections[1].local_addr().port()));
        assert!(connections[1].stats().searches > 0);
        assert_eq!(connections[1].progress(), "direct");
    }
}

#[test]
fn spectator_comes_through_the_rendezvous() {
    let (mut udp, mut server) = (UdpDriver::bind("127.0.0.1:0".parse().unwrap()).unwrap(), server());
    let options = ConnectOptions::new().bind("127.0.0.1:0".parse().unwrap());
    let at = options.clone().rendezvous(&udp.local_addr().to_string()).leave_addresses_out();
    let mut host = Connection::host(&at).unwrap();
    host.admit_spectators(1, [9; 32]).unwrap();
    let joiner = Connection::join(&options, &host.share_to_watch().unwrap()).unwrap();
    let (mut watch, mut lobby) = (Watch::on(joiner).unwrap(), host.lobby(config()).unwrap());
    let begun = std::time::Instant::now();
    while host.stats().connections == 0 {
        assert!(begun.elapsed() < LIMIT, "{}", watch.progress());
        udp.poll(&mut server).unwrap();
        let deadline = host.now() + Duration::from_millis(1);
        host.run_until(&mut lobby, deadline).unwrap();
        watch.poll().unwrap();
    }
    assert!(lobby.incoming().is_none(), "a lobby hears nothing of it");
    assert_eq!(host.progress(), "registered at the rendezvous, waiting for the other player");
}

/// A network whose third machine runs a rendezvous, and the two players' connections.
fn at_rendezvous() -> (crate::sim_network::Shared, [Connection<SimSocket>; 2], impl FnMut()) {
    let sim = SimNetwork::new(3);
    let host = ConnectOptions::new().rendezvous(&addr(2).to_string()).leave_addresses_out();
    let connections = pair(&sim, &[host, ConnectOptions::new()]);
    let (mut driver, mut server) = (Driver::new(socket(&sim, 2)), server());
    (sim, connections, move || {
        driver.poll(&mut server).unwrap();
    })
}

fn lobbies(connections: &[Connection<SimSocket>; 2]) -> [Lobby; 2] {
    connections.each_ref().map(|one| one.lobby(config()).unwrap())
}

#[test]
fn simulated_network_runs_a_connection_through_a_rendezvous() {
    let (sim, mut connections, serve) = at_rendezvous();
    let mut lobbies = lobbies(&connections);
    meet(&sim, &mut connections, &mut lobbies, LIMIT, serve).unwrap();
    let agreed = lobbies[1].agreed().unwrap().expect("an agreement");
    assert_eq!(connections[1].peer(agreed.peer).addr, Some(addr(0)));
    assert!(connections.iter().all(|one| one.stats().overhead_bytes > 0));
    let took = connections.each_ref().map(|one| one.stats().found_after.expect("a path was found"));
    assert!(took.iter().all(|took| *took > Duration::ZERO && *took < sim.borrow().now()), "{took:?}");
}

#[test]
fn failed_search_ends_the_wait_before_the_lobby_does() {
    let (sim, mut connections, serve) = at_rendezvous();
    sim.borrow_mut().network.cut_both(0, 1, Duration::ZERO, Duration::from_secs(60));
    let mut lobbies = lobbies(&connections);
    meet(&sim, &mut connections, &mut lobbies, LIMIT, serve).unwrap();
    assert_eq!(connections[1].stats().found_after, None);
    let error = connections[1].failure().expect("no path");
    assert!(matches!(error, ConnectError::NoPath { .. }));
    let (text, took) = (error.to_string(), sim.borrow().now());
    assert!(
        text.starts_with("No path between the two routers was found") && !text.contains("100:"),
        "{text}"
    );
    assert!(took < Duration::from_secs(10), "the lobby's own limit: {took:?}");
    assert_eq!(connections[0].failure(), None, "a host waits for the next guest");
}

#[test]
fn silent_rendezvous_and_silent_addresses_are_named() {
    let sim = SimNetwork::new(3);
    sim.borrow_mut().network.cut_both(0, 1, Duration::ZERO, Duration::from_secs(60));
    let host = ConnectOptions::new().rendezvous(&addr(2).to_string());
    let mut connections = pair(&sim, &[host, ConnectOptions::new()]);
    let mut lobbies = lobbies(&connections);
    meet(&sim, &mut connections, &mut lobbies, LIMIT, || ()).unwrap();
    let text = connections[1].failure().expect("a failure").to_string();
    assert!(text.starts_with("The rendezvous at 10.0.0.3:7000 does not answer. "), "{text}");
    assert!(text.ends_with(" The host did not answer at 10.0.0.1:7000 either."), "{text}");
}

#[test]
fn players_in_one_network_need_no_rendezvous() {
    let sim = SimNetwork::new(3);
    let host = ConnectOptions::new().rendezvous(&addr(2).to_string());
    let mut connections = pair(&sim, &[host, ConnectOptions::new()]);
    let mut lobbies = lobbies(&connections);
    meet(&sim, &mut connections, &mut lobbies, LIMIT, || ()).unwrap();
    let agreed = lobbies[1].agreed().unwrap().expect("an agreement");
    assert_eq!(connections[1].peer(agreed.peer).addr, Some(addr(0)));
    assert_eq!((connections[1].progress(), connections[1].failure()), ("direct".to_owned(), None));
    assert!(sim.borrow().now() < Duration::from_secs(1));
}

#[test]
fn addresses_are_left_out_where_they_are_hidden_or_not_wanted() {
    let sim = SimNetwork::new(3);
    let host = |options: ConnectOptions| {
        let options = options.rendezvous(&addr(2).to_string());
        let host = Connection::host_on(&options, socket(&sim, 0), &[addr(0)]).unwrap();
        host.share().parse::<Invite>().unwrap()
    };
    let open = host(ConnectOptions::new());
    assert_eq!(open.addresses(), [addr(0)]);
    let hidden = || ConnectOptions::new().relay(RelayPolicy::Only);
    for options in [hidden(), ConnectOptions::new().leave_addresses_out()] {
        assert!(host(options).addresses().is_empty());
    }
    let without = ConnectOptions::new().leave_addresses_out();
    assert!(Connection::host_on(&without, socket(&sim, 0), &[addr(0)]).is_err(), "it would have no way");
    // A joiner that hides sends nothing to the addresses.
    sim.borrow_mut().network.record(Recording::Full);
    let mut joiner = Connection::join_on(&hidden(), socket(&sim, 1), &[addr(1)], &open.to_string()).unwrap();
    let mut lobby = joiner.lobby(config()).unwrap();
    for _ in 0..20 {
        joiner.poll(&mut lobby).unwrap();
        sim.borrow_mut().pass(Duration::from_millis(100));
    }
    assert!(!joiner.no_answer(LIMIT).to_string().contains("10.0.0.1"), "they were not tried");
    let sim = sim.borrow();
    let mut sent = sim.network.transcript().entries().iter().filter(|entry| entry.from == addr(1)).peekable();
    assert!(sent.peek().is_some() && sent.all(|entry| entry.to == addr(2)));
}

#[test]
fn silent_rendezvous_is_named_and_no_made_up_address() {
    let sim = SimNetwork::new(3);
    let host = ConnectOptions::new().rendezvous(&addr(2).to_string()).leave_addresses_out();
    let mut connections = pair(&sim, &[host, ConnectOptions::new()]);
    let mut lobbies = lobbies(&connections);
    let silent = "The rendezvous at 10.0.0.3:7000 does not answer.";
    while !connections[1].progress().starts_with(silent) {
        meet(&sim, &mut connections, &mut lobbies, TICK, || ()).unwrap();
    }
    let given_up = sim.borrow().now();
    meet(&sim, &mut connections, &mut lobbies, LIMIT, || ()).unwrap();
    assert!(sim.borrow().now() >= given_up + Duration::from_secs(3) - TICK, "it may still answer");
    let text = connections[1].failure().expect("a failure").to_string();
    assert!(text.starts_with("The rendezvous at 10.0.0.3:7000 does not answer."), "{text}");
    assert!(!connections[1].no_answer(LIMIT).to_string().contains("100:"));
}

#[test]
fn joiner_waits_for_a_search_and_for_people() {
    let (_, [_, searching], _) = at_rendezvous();
    let [_, manual] =
        pair(&SimNetwork::new(2), &[ConnectOptions::new().manual_signalling(), ConnectOptions::new()]);
    for (connection, wanted, secs) in
        [(&searching, 10, 25), (&manual, 10, 900), (&searching, 60, 60), (&manual, 1_000, 1_000)]
    {
        let config = config().with(|config| config.timeouts.join_timeout = Duration::from_secs(wanted));
        let (mut lobby, timeout) = (connection.lobby(config).unwrap(), Duration::from_secs(secs));
        let mut at = |time| {
            lobby.poll_transmit(time, &mut [0; 1_200]);
            lobby.agreed().map(|_| ())
        };
        assert_eq!((at(Duration::ZERO), at(timeout - TICK)), (Ok(()), Ok(())), "{secs} s");
        assert!(matches!(at(timeout), Err(LobbyError::TimedOut { after, .. }) if after == timeout));
    }
}

#[test]
fn offer_and_answer_connect_without_a_server() {
    let sim = SimNetwork::new(2);
    let manual = ConnectOptions::new().manual_signalling();
    let mut connections = pair(&sim, &[manual, ConnectOptions::new()]);
    let mut lobbies = lobbies(&connections);
    let [offer, answer] = connections.each_ref().map(|one| one.share().to_owned());
    // People take their time.
    meet(&sim, &mut connections, &mut lobbies, Duration::from_secs(60), || ()).unwrap();
    assert!(lobbies[1].agreed().unwrap().is_none());
    assert!(connections[1].no_answer(LIMIT).to_string().ends_with("Has the host taken your answer?"));
    let [host, joiner] = &mut connections;
    let mut refused = |text: &str| host.take_answer(text).unwrap_err().to_string();
    assert!(refused(&offer).starts_with("this is an offer"));
    assert!(refused("hello").starts_with("not an answer"), "{}", refused("hello"));
    assert!(refused(&answer[..40]).starts_with("the answer "), "{}", refused(&answer[..40]));
    assert!(joiner.take_answer(&answer).is_err(), "a joiner has made no offer");
    let other =
        Connection::host_on(&ConnectOptions::new().manual_signalling(), socket(&sim, 0), &[addr(0)]).unwrap();
    let to_other =
        Connection::join_on(&ConnectOptions::new(), socket(&sim, 1), &[addr(1)], other.share()).unwrap();
    assert!(refused(to_other.share()).starts_with("this answers another offer"));
    host.take_answer(&answer).unwrap();
    meet(&sim, &mut connections, &mut lobbies, LIMIT, || ()).unwrap();
    assert!(lobbies[1].agreed().unwrap().is_some());
}

#[test]
fn rematch_after_manual_signalling_waits_a_minute() {
    let manual = ConnectOptions::new().manual_signalling();
    let mut pair = SimOnline::connected([options("Ada"), options("Bob")], &manual);
    let answer = pair.machines[1].online.share().to_owned();
    pair.machines[0].online.take_answer(&answer).unwrap();
    pair.run_to_the_end();
    pair.machines[1].finish = None;
    assert!(pair.machines[1].online.rematch());
    pair.run(|machines| machines[1].finish.is_some());
    let text = pair.machines[1].finish.as_ref().unwrap().to_string();
    assert!(text.starts_with("No answer by the host within 60 s. The other player has left"), "{text}");
}

#[test]
fn manual_offer_and_answer_have_their_own_errors() {
    let sim = SimNetwork::new(1);
    let host =
        Connection::host_on(&ConnectOptions::new().manual_signalling(), socket(&sim, 0), &[addr(0)]).unwrap();
    let join = |text: &str| {
        let joined = Connection::join_on(&ConnectOptions::new(), socket(&sim, 0), &[addr(0)], text);
        joined.map(|one| one.share().to_owned())
    };
    let offer = host.share();
    let mut wrong = offer.to_owned();
    wrong.replace_range(40..41, if &offer[40..41] == "7" { "8" } else { "7" });
    let text = join(&wrong).unwrap_err().to_string();
    assert_eq!(text, "the offer has a typing error: its checksum is wrong");
    let answer = join(offer).unwrap();
    assert!(join(&answer).unwrap_err().to_string().starts_with("this is an answer to an offer"));
}

#[test]
fn named_address_of_a_joiner_is_a_candidate() {
    let sim = SimNetwork::new(2);
    sim.borrow_mut().network.record(Recording::Full);
    let public = "203.0.113.9:9".parse().unwrap();
    let options = [ConnectOptions::new().manual_signalling(), ConnectOptions::new().public(public)];
    let mut connections = pair(&sim, &options);
    let mut lobbies = lobbies(&connections);
    let answer = connections[1].share().to_owned();
    connections[0].take_answer(&answer).unwrap();
    meet(&sim, &mut connections, &mut lobbies, LIMIT, || ()).unwrap();
    let sim = sim.borrow();
    let mut sent = sim.network.transcript().entries().iter();
    assert!(sent.any(|entry| entry.from == addr(0) && entry.to == public), "the host has checked it");
}

#[test]
fn refused_datagrams_of_both_layers_are_counted() {
    let (sim, mut connections, _) = at_rendezvous();
    let mut stranger = socket(&sim, 2);
    let refused = |connections: &mut [Connection<SimSocket>; 2]| {
        connections[0].poll(&mut Silent).unwrap();
        connections[0].stats().refused
    };
    let before = refused(&mut connections);
    (0..5).for_each(|_| stranger.send(addr(0), &[0xE5; 64]));
    sim.borrow_mut().pass(Duration::from_millis(40));
    assert_eq!(refused(&mut connections) - before, 5);
}

#[test]
fn closing_gives_everything_back_and_can_be_repeated() {
    let (_, mut connections, _) = at_rendezvous();
    for _ in 0..2 {
        assert!(connections[0].close(&mut Silent, Duration::from_millis(5)).unwrap());
    }
}

/// The host comes back at another address: its room at the rendezvous is open again for those who watch.
#[test]
fn spectators_find_a_host_that_came_back_in_its_room() {
    const SERVER: usize = 2;
    const SPECTATOR: usize = 3;
    const ELSEWHERE: usize = 4;
    let folder = crate::folder::Folder::new("watched-room");
    let sim = SimNetwork::new(5);
    let (mut driver, mut server) = (Driver::new(socket(&sim, SERVER)), server());
    let at = ConnectOptions::new().rendezvous(&addr(SERVER).to_string()).leave_addresses_out();
    let options = |name: &str| {
        let config = config().with(|config| config.timeouts.countdown = Duration::from_millis(300));
        let options = rebout::Options::with_config(config).name(name).rejoin_in(folder.file(name));
        options.spectators(rebout::BroadcastConfig::default())
    };
    let connections = pair(&sim, &[at, ConnectOptions::new()]);
    let mut names = ["Ada", "Bob"].into_iter();
    let mut machines = connections.map(|connection| {
        let online = Online::on(options(names.next().unwrap()), connection).unwrap();
        Machine { last: 1_500, ..Machine::new(online) }
    });
    let invite = machines[0].online.share_to_watch().unwrap();
    let watch = || {
        let connect = ConnectOptions::new();
        Connection::join_on(&connect, socket(&sim, SPECTATOR), &[addr(SPECTATOR)], &invite).unwrap()
    };
    let mut spectator = Watch::on(watch()).unwrap();
    let mut run = |machines: &mut [Machine; 2],
                   spectator: &mut Watch<SimSocket>,
                   alone: bool,
                   done: &dyn Fn(&[Machine; 2], &Watch<SimSocket>) -> bool| {
        let end = sim.borrow().now() + Duration::from_secs(60);
        while !done(machines, spectator) {
            machines.iter_mut().skip(usize::from(alone)).for_each(Machine::turn);
            spectator.poll().unwrap();
            driver.poll(&mut server).unwrap();
            sim.borrow_mut().pass(TICK);
            let told = machines.each_ref().map(|one| (one.progress.clone(), one.finish.clone()));
            assert!(sim.borrow().now() < end, "{}, {told:?}", spectator.progress());
        }
    };
    run(&mut machines, &mut spectator, false, &|_, watch| !watch.spectator().bytes().is_empty());
    let ticket = rebout::Options::unfinished_in(folder.file("Ada")).unwrap();
    let silent = sim.borrow().now() + Duration::from_secs(4);
    run(&mut machines, &mut spectator, true, &|_, _| sim.borrow().now() >= silent);
    let online = Online::rejoin_on(options("Ada"), ticket, socket(&sim, ELSEWHERE), &[addr(ELSEWHERE)]);
    machines[0] = Machine { last: 1_500, ..Machine::new(online.unwrap()) };
    run(&mut machines, &mut spectator, false, &|machines, _| machines.iter().all(crate::rejoin::rejoined));
    assert_eq!(machines[0].online.share_to_watch(), Some(invite.clone()));
    spectator.move_to(watch()).unwrap();
    run(&mut machines, &mut spectator, false, &|_, watch| watch.spectator().match_number() == 2);
    assert_eq!(machines[0].online.spectators().unwrap().spectators, 1);
}

/// While the host is silent, the joiner waits for it in a room of their key.
#[test]
fn room_to_come_back_by_is_left_when_the_peer_is_heard() {
    const SERVER: usize = 2;
    let folder = crate::folder::Folder::new("left-room");
    let sim = SimNetwork::new(3);
    let (mut driver, mut server) = (Driver::new(socket(&sim, SERVER)), server());
    let at = ConnectOptions::new().rendezvous(&addr(SERVER).to_string()).leave_addresses_out();
    let mut names = ["Ada", "Bob"].into_iter();
    let mut machines = pair(&sim, &[at, ConnectOptions::new()]).map(|connection| {
        let name = names.next().unwrap();
        let options = rebout::Options::with_config(config()).name(name).rejoin_in(folder.file(name));
        Machine { last: u32::MAX, ..Machine::new(Online::on(options, connection).unwrap()) }
    });
    let mut run = |only: usize, done: &dyn Fn(&[Machine; 2], usize) -> bool| {
        let end = sim.borrow().now() + Duration::from_secs(90);
        while !done(&machines, server.rooms()) {
            machines.iter_mut().skip(only).for_each(Machine::turn);
            driver.poll(&mut server).unwrap();
            sim.borrow_mut().pass(TICK);
            assert!(sim.borrow().now() < end, "{} rooms", server.rooms());
        }
        server.rooms()
    };
    let before = run(0, &|machines, _| {
        machines.iter().all(|one| one.game.as_ref().is_some_and(|game| game.state.frame > 60))
    });
    run(1, &|_, rooms| rooms == before + 1);
    run(0, &|machines, _| machines[1].events.contains(&Event::Resumed));
    run(0, &|_, rooms| rooms == before);
    assert!(machines.iter().all(|one| one.finish.is_none()), "the match goes on");
}
