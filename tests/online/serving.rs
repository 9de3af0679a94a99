//! A server by invite and its clients, on both wires, in the simulated network and over UDP.

use crate::sim_network::{Shared, SimNetwork, SimSocket, TICK, addr, socket};
use core::time::Duration;
use rebout::authority::{
    Body, Client, ClientConfig, ClientEvent, Command, GameWire, LeftWhy, OverReason, RtypeWire, Server,
    ServerConfig, ServerEvent, Stage, Wire, World,
};
use rebout::lab::link::{Chance, LinkConfig};
use rebout::lab::sim::Recording;
use rebout::net::Datagrams;
use rebout::{ConnectOptions, Connection};
use std::net::SocketAddr;

/// Runs a test once on each wire.
macro_rules! for_wires {
    (|$wire:ident| $body:block) => {{
        {
            let $wire = GameWire;
            $body
        }
        let $wire = RtypeWire;
        $body
    }};
}
const PLAYER: u8 = 1;
const ROCK: u8 = 2;

/// Players walk among rocks, whose number a test chooses.
struct Field {
    rocks: u8,
}

impl World for Field {
    fn walk(&self, body: &mut Body, command: Command) {
        body.x += command.x;
    }

    fn enter(&mut self, id: u8) -> (u8, Body) {
        (PLAYER, Body::at(100.0, f32::from(id)))
    }

    fn step(&mut self, stage: &mut Stage<'_>) {
        while self.rocks > 0 {
            self.rocks -= 1;
            stage.spawn(ROCK, Body::at(7.0, f32::from(self.rocks)));
        }
    }
}

fn server_config(max_clients: u8) -> ServerConfig {
    let mut config = ServerConfig::new(3);
    config.max_clients = max_clients;
    config
}

/// Whether a wire is GAME.
fn is_game<W: Wire>(_: W) -> bool {
    core::any::TypeId::of::<W>() == core::any::TypeId::of::<GameWire>()
}

/// A server on its connection, and who came and went.
struct Host<D, W: Wire> {
    connection: Connection<D>,
    server: Server<W>,
    field: Field,
    joined: Vec<(u8, SocketAddr)>,
    left: Vec<(u8, LeftWhy)>,
}

impl<D: Datagrams, W: Wire> Host<D, W> {
    fn new(_: W, connection: Connection<D>, config: ServerConfig, rocks: u8) -> Self {
        let server = Server::new(config).unwrap();
        Self { connection, server, field: Field { rocks }, joined: Vec::new(), left: Vec::new() }
    }

    /// Runs what is due, and never waits.
    fn turn(&mut self) {
        let now = self.connection.poll(&mut self.server).unwrap();
        if now >= self.server.next_frame_at() {
            self.server.advance(now, &mut self.field);
            self.connection.flush(&mut self.server).unwrap();
        }
        while let Some(event) = self.server.poll_event() {
            match event {
                ServerEvent::Joined { id, addr } => self.joined.push((id, addr)),
                ServerEvent::Left { id, why } => self.left.push((id, why)),
                _ => {}
            }
        }
    }
}

/// A client that walks to the right.
struct Guest<D, W: Wire> {
    connection: Connection<D>,
    client: Client<W>,
    over: Option<OverReason>,
}

impl<D: Datagrams, W: Wire> Guest<D, W> {
    fn new(_: W, connection: Connection<D>, config: ClientConfig) -> Self {
        let client = connection.client(config).unwrap();
        Self { connection, client, over: None }
    }

    fn turn(&mut self) {
        let now = self.connection.poll(&mut self.client).unwrap();
        if now >= self.client.next_frame_at() {
            self.client.advance(now, &Field { rocks: 0 }, Command::new(1.0, 0.0, 0));
            self.connection.flush(&mut self.client).unwrap();
        }
        while let Some(event) = self.client.poll_event() {
            if let ClientEvent::Over(reason) = event {
                self.over = Some(reason);
            }
        }
    }

    fn sees(&self, kind: u8) -> usize {
        self.client.others().filter(|seen| seen.kind == kind).count()
    }

    /// Whether its own player walks, both as predicted and as the server says.
    fn walks(&self) -> bool {
        let is_ahead = |body: &Body| body.x > 120.0;
        let raw = self.client.id().and_then(|id| self.client.raw(id));
        self.client.predicted().is_some_and(is_ahead) && raw.is_some_and(is_ahead)
    }
}

/// A server at machine 0 of a network, by invite, and clients at all others.
fn serve<W: Wire + Copy>(
    wire: W,
    sim: &Shared,
    config: ServerConfig,
    rocks: u8,
    guests: usize,
) -> (Host<SimSocket, W>, Vec<Guest<SimSocket, W>>) {
    let options = ConnectOptions::new().guests(config.max_clients);
    let connection = Connection::host_on(&options, socket(sim, 0), &[addr(0)]).unwrap();
    let invite = connection.share().to_owned();
    let guest = |id| Guest::new(wire, join(sim, id, &invite), ClientConfig::new(id as u64));
    (Host::new(wire, connection, config, rocks), (1..=guests).map(guest).collect())
}

fn join(sim: &Shared, id: usize, invite: &str) -> Connection<SimSocket> {
    Connection::join_on(&ConnectOptions::new(), socket(sim, id), &[addr(id)], invite).unwrap()
}

/// Runs everybody until `done`, which has to come within `seconds`.
fn run<W: Wire>(
    sim: &Shared,
    host: &mut Host<SimSocket, W>,
    guests: &mut [Guest<SimSocket, W>],
    seconds: u64,
    mut done: impl FnMut(&Host<SimSocket, W>, &[Guest<SimSocket, W>]) -> bool,
) {
    let end = sim.borrow().now() + Duration::from_secs(seconds);
    while !done(host, guests) {
        host.turn();
        guests.iter_mut().for_each(Guest::turn);
        sim.borrow_mut().pass(TICK);
        assert!(sim.borrow().now() < end, "{} of {} clients", host.server.clients(), guests.len());
    }
}

fn all_play<W: Wire>(_: &Host<SimSocket, W>, guests: &[Guest<SimSocket, W>]) -> bool {
    guests.iter().all(|guest| guest.walks() && guest.sees(PLAYER) == guests.len() - 1)
}

#[test]
fn invited_clients_play_and_nothing_is_sent_bare() {
    for_wires!(|wire| {
        let sim = SimNetwork::new(6);
        sim.borrow_mut().network.record(Recording::Full);
        let (mut host, mut guests) = serve(wire, &sim, server_config(32), 0, 5);
        run(&sim, &mut host, &mut guests, 3, all_play);
        for (_, inner) in &host.joined {
            let info = host.connection.peer(*inner);
            assert!(info.is_verified && (1..6).any(|id| info.addr == Some(addr(id))), "{info:?}");
        }
        assert_eq!((host.joined.len(), &host.left[..]), (5, &[][..]));
        let sim = sim.borrow();
        let sent = sim.network.transcript().entries();
        assert!(sent.len() > 500 && sent.iter().all(|entry| (0xE0..=0xE7).contains(&entry.datagram[0])));
    });
}

/// The connection has proven the address, so that a client is seated by its first packet on it.
#[test]
fn encrypted_client_is_seated_after_three_round_trips() {
    for_wires!(|wire| {
        let sim = SimNetwork::new(2);
        let (mut host, mut guests) = serve(wire, &sim, server_config(32), 0, 1);
        run(&sim, &mut host, &mut guests, 1, |host, _| host.server.clients() == 1);
        // REQUEST, RETRY, INIT, RESP and the request, 20 ms each.
        assert!(sim.borrow().now() < Duration::from_millis(110), "{:?}", sim.borrow().now());
    });
}

/// Guests have made-up addresses of one prefix. They do not share the seats of one source.
#[test]
fn encrypted_clients_fill_every_seat() {
    for_wires!(|wire| {
        let sim = SimNetwork::new(11);
        let config = server_config(10);
        assert!(config.max_clients_per_source < 10);
        let (mut host, mut guests) = serve(wire, &sim, config, 0, 10);
        run(&sim, &mut host, &mut guests, 4, all_play);
    });
}

#[test]
fn encrypted_clients_join_over_a_lossy_link() {
    let link = LinkConfig {
        jitter: Duration::from_millis(10),
        loss: Chance::percent(10),
        ..LinkConfig::new(Duration::from_millis(60))
    };
    for_wires!(|wire| {
        let sim = SimNetwork::new(6);
        (1..6).for_each(|id| sim.borrow_mut().network.set_links(0, id, link));
        let (mut host, mut guests) = serve(wire, &sim, server_config(32), 0, 5);
        run(&sim, &mut host, &mut guests, 10, all_play);
    });
}

/// An encrypted packet carries 21 bytes less than a bare one.
#[test]
fn snapshots_of_many_entities_fit_encrypted_packets() {
    let sim = SimNetwork::new(2);
    let (mut host, mut guests) = serve(GameWire, &sim, server_config(32), 120, 1);
    run(&sim, &mut host, &mut guests, 3, |_, guests| guests[0].sees(ROCK) == 120 && guests[0].walks());
}

#[test]
fn full_server_says_so_on_an_encrypted_connection() {
    for_wires!(|wire| {
        let sim = SimNetwork::new(3);
        let (mut host, mut guests) = serve(wire, &sim, server_config(1), 0, 1);
        run(&sim, &mut host, &mut guests, 2, |host, _| host.server.clients() == 1);
        guests.push(Guest::new(wire, join(&sim, 2, host.connection.share()), ClientConfig::new(9)));
        run(&sim, &mut host, &mut guests, 2, |_, guests| guests[1].over.is_some());
        assert_eq!(guests[1].over, Some(OverReason::Full));
    });
}

#[test]
fn leaving_and_shutdown_are_told_over_encryption() {
    for_wires!(|wire| {
        let ended = if is_game(wire) { OverReason::Shutdown } else { OverReason::Ended };
        let sim = SimNetwork::new(3);
        let (mut host, mut guests) = serve(wire, &sim, server_config(4), 0, 2);
        run(&sim, &mut host, &mut guests, 3, all_play);
        let now = sim.borrow().now();
        guests[0].client.leave(now);
        run(&sim, &mut host, &mut guests, 2, |host, _| !host.left.is_empty());
        assert_eq!(host.left[0].1, LeftWhy::Left);
        // A new client on the old connection, without a trial: its request takes 20 ms.
        guests[0].client = guests[0].connection.client(ClientConfig::new(77)).unwrap();
        let asked = sim.borrow().now();
        run(&sim, &mut host, &mut guests, 1, |host, _| host.joined.len() == 3);
        assert!(sim.borrow().now() - asked < Duration::from_millis(25), "{wire:?}");
        run(&sim, &mut host, &mut guests, 2, all_play);
        let now = sim.borrow().now();
        host.server.shutdown(now, &mut host.field);
        run(&sim, &mut host, &mut guests, 2, |_, guests| {
            guests.iter().all(|guest| guest.over == Some(ended))
        });
    });
}

#[test]
fn bare_clients_play_where_both_sides_name_it() {
    for_wires!(|wire| {
        let sim = SimNetwork::new(3);
        sim.borrow_mut().network.record(Recording::Full);
        let bare = ConnectOptions::new().bare();
        let connection = Connection::host_on(&bare, socket(&sim, 0), &[addr(0)]).unwrap();
        let guest = |id| {
            let joined = Connection::join_on(&bare, socket(&sim, id), &[], &addr(0).to_string());
            Guest::new(wire, joined.unwrap(), ClientConfig::new(id as u64))
        };
        let mut guests: Vec<_> = (1..3).map(guest).collect();
        let mut host = Host::new(wire, connection, server_config(4), 0);
        run(&sim, &mut host, &mut guests, 3, all_play);
        let sim = sim.borrow();
        let mut sent = sim.network.transcript().entries().iter();
        assert!(sent.all(|entry| !is_game(wire) || entry.datagram.starts_with(b"GAME")));
    });
}

/// Nobody answers a bare client at an encrypted server, and the host is told why.
#[test]
fn client_that_nobody_answers_gets_a_text_with_real_addresses() {
    for_wires!(|wire| {
        let sim = SimNetwork::new(2);
        let invite = Connection::host_on(&ConnectOptions::new(), socket(&sim, 0), &[addr(0)]).unwrap();
        let mut config = ClientConfig::new(1);
        config.join_timeout = Duration::from_secs(2);
        let mut guest = Guest::new(wire, join(&sim, 1, invite.share()), config);
        while guest.over.is_none() {
            guest.turn();
            sim.borrow_mut().pass(TICK);
            assert!(sim.borrow().now() < Duration::from_secs(3));
        }
        assert_eq!(guest.over, Some(OverReason::NoAnswer));
        assert!(sim.borrow().now() > Duration::from_secs(2), "the whole time, on R-Type too");
        let text = guest.connection.no_answer(Duration::from_secs(2)).to_string();
        assert!(text.starts_with("No answer at 10.0.0.1:7000 within 2 s."), "{text}");
    });
}

#[test]
fn server_by_invite_serves_several_clients_over_udp() {
    std::thread::scope(|scope| {
        scope.spawn(|| udp(GameWire));
        scope.spawn(|| udp(RtypeWire));
    });
}

fn udp<W: Wire + Copy>(wire: W) {
    let options = ConnectOptions::new().bind("127.0.0.1:0".parse().unwrap());
    let connection = Connection::host(&options).unwrap();
    let guest = |n| {
        let joined = Connection::join(&options, connection.share()).unwrap();
        Guest::new(wire, joined, ClientConfig::new(n))
    };
    let mut guests: Vec<_> = (1..=2).map(guest).collect();
    let mut host = Host::new(wire, connection, server_config(4), 0);
    while !guests.iter().all(|guest| guest.walks() && guest.sees(PLAYER) == 1) {
        host.turn();
        guests.iter_mut().for_each(Guest::turn);
        assert!(guests.iter().all(|guest| guest.over.is_none()));
        std::thread::yield_now();
    }
}

/// A client through a rendezvous waits for its path, on a wire that gives up after 600 ms otherwise.
#[cfg(feature = "nat")]
#[test]
fn clients_join_a_server_through_a_rendezvous() {
    use rebout::Randomness;
    use rebout::net::Driver;
    use rebout::rendezvous;
    for_wires!(|wire| {
        let sim = SimNetwork::new(4);
        let mut rendezvous =
            rendezvous::RendezvousServer::new(rendezvous::RendezvousConfig::default(), Randomness::System)
                .unwrap();
        let mut driver = Driver::new(socket(&sim, 3));
        let options = ConnectOptions::new().rendezvous(&addr(3).to_string());
        let connection = Connection::host_on(&options, socket(&sim, 0), &[addr(0)]).unwrap();
        let guest = |id| Guest::new(wire, join(&sim, id, connection.share()), ClientConfig::new(id as u64));
        let mut guests: Vec<_> = (1..3).map(guest).collect();
        let mut host = Host::new(wire, connection, server_config(4), 0);
        run(&sim, &mut host, &mut guests, 10, |host, guests| {
            driver.poll(&mut rendezvous).unwrap();
            all_play(host, guests)
        });
    });
}

/// People take their time to send each other two texts.
#[cfg(feature = "nat")]
#[test]
fn client_waits_until_its_manual_answer_is_taken() {
    let sim = SimNetwork::new(2);
    let options = ConnectOptions::new().manual_signalling();
    let connection = Connection::host_on(&options, socket(&sim, 0), &[addr(0)]).unwrap();
    let mut guests = vec![Guest::new(RtypeWire, join(&sim, 1, connection.share()), ClientConfig::new(1))];
    let mut host = Host::new(RtypeWire, connection, server_config(4), 0);
    for _ in 0..600 {
        guests[0].turn();
        sim.borrow_mut().pass(Duration::from_millis(50));
    }
    assert_eq!(guests[0].over, None, "after {:?}", sim.borrow().now());
    host.connection.take_answer(guests[0].connection.share()).unwrap();
    run(&sim, &mut host, &mut guests, 10, all_play);
}
