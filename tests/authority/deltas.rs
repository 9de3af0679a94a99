//! Delta snapshots: the same views as with whole ones, whatever the network does, for less.

use crate::lab::{ClientNode, Field, Lab, Node, client_addr, ms, server_addr};
use rebout::authority::{
    Body, Client, ClientConfig, Command, GameWire, Server, ServerConfig, ServerEvent, Sight, Stage, World,
};
use rebout::lab::link::{Chance, LinkConfig};
use rebout::lab::sim::Machine;
use rebout::wire::control::{ControlPacket, ControlPayload, EntityState};
use rebout::{MAX_DATAGRAM, Protocol, Refusal};
use std::net::SocketAddr;
use std::time::Duration;
use support::repeats;

const PLAYERS: usize = 12;

/// 30 % of the datagrams are lost, 20 % come twice, and they overtake each other by up to 60 ms.
fn worst_link() -> LinkConfig {
    LinkConfig {
        jitter: ms(60),
        loss: Chance::percent(30),
        duplicate: Chance::percent(20),
        ..LinkConfig::new(ms(50))
    }
}

/// Every body that a client has of the newest snapshots is one that the server had, bit for bit, in the last two seconds.
fn raw_bodies_are_the_servers(lab: &Lab, client: &ClientNode<GameWire>) -> usize {
    let history = &lab.server().history;
    let recent = &history[history.len().saturating_sub(120)..];
    let mut compared = 0;
    for (id, ..) in lab.server().server.entities() {
        let Some(raw) = client.client.raw(id) else { continue };
        let is_known = recent.iter().flatten().any(|(known, body)| *known == id && body == raw);
        assert!(is_known, "entity {id} was never at {raw:?}");
        compared += 1;
    }
    compared
}

/// Plays for ten seconds and lets everybody stand then; returns the bytes of snapshots.
fn views_equal(seed: u64, deltas: bool) -> u64 {
    let mut config = ServerConfig::new(seed);
    config.max_clients = PLAYERS as u8;
    let mut lab = Lab::with_server(GameWire, seed, worst_link(), config);
    let clients: Vec<usize> = (0..PLAYERS as u64)
        .map(|n| lab.client_with(ms(n * 50), |config| config.delta_snapshots = deltas))
        .collect();
    for at in 20..130_u64 {
        if at == 100 {
            clients.iter().for_each(|at| lab.client_mut(*at).input_source = |_, _| Command::NEUTRAL);
        }
        lab.run_until(ms(at * 100));
        for client in &clients {
            let compared = raw_bodies_are_the_servers(&lab, lab.client_at(*client));
            assert!(compared == PLAYERS || at < 40, "{compared} of {PLAYERS} at {at}");
        }
    }
    let server = &lab.server().server;
    for client in &clients {
        let client = &lab.client_at(*client).client;
        for (id, _, body) in server.entities() {
            assert_eq!(client.raw(id), Some(body), "entity {id}");
        }
        assert_eq!(client.predicted(), client.id().and_then(|id| server.body(id)));
        assert_eq!(client.stats().refused.of(Refusal::NoBaseline), 0);
        let stats = client.stats();
        assert!(
            stats.prediction.compared > 100 && stats.prediction.exact * 10 > stats.prediction.compared * 9
        );
    }
    server.stats().snapshot_bytes_out
}

#[test]
fn views_equal_the_world_at_30_percent_loss_with_and_without() {
    for seed in 1..=repeats(4) {
        let [whole, delta] = [false, true].map(|deltas| views_equal(seed, deltas));
        println!("seed {seed}: {whole} bytes of whole snapshots, {delta} of deltas");
        assert!(delta * 2 < whole, "{delta} of {whole}");
    }
}

/// A server that was written before there were deltas: the message that asks for them is an event that it does not know.
struct Older {
    server: Server<GameWire>,
    field: Field,
    asked: u32,
}

impl Protocol for Older {
    fn handle_datagram(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        let mut datagram = datagram.to_vec();
        if datagram.get(12) == Some(&8) && datagram.get(15) == Some(&4) {
            datagram[15] = 0x99;
            self.asked += 1;
        }
        self.server.handle_datagram(now, from, &datagram);
    }

    fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        let sent = self.server.poll_transmit(now, buf)?;
        assert!(buf[12] <= 9, "a packet of type {}", buf[12]);
        Some(sent)
    }

    fn poll_timeout(&self) -> Option<Duration> {
        self.server.poll_timeout()
    }
}

impl Machine for Older {
    fn next_frame_at(&self) -> Option<Duration> {
        Some(self.server.next_frame_at())
    }

    fn frame(&mut self, now: Duration) {
        self.server.advance(now, &mut self.field);
        while let Some(event) = self.server.poll_event() {
            assert!(!matches!(event, ServerEvent::Left { .. }), "{event:?}");
        }
        assert!(
            self.asked <= 1 || self.server.clients() == 0 || now < ms(60_000),
            "asked {} times",
            self.asked
        );
    }
}

#[test]
fn older_server_is_asked_once_and_plays_on() {
    let server = Server::new(ServerConfig::new(1)).expect("a config");
    let older = Older { server, field: Field::default(), asked: 0 };
    let mut lab: Lab = Lab::on(1, LinkConfig::new(ms(20)), Node::Other(Box::new(older)));
    let client = lab.client(ms(100));
    lab.run_until(ms(10_000));
    let stats = lab.client_at(client).client.stats();
    assert!(stats.snapshots > 150, "{stats:?}");
    assert_eq!((stats.refused.total(), stats.prediction.compared), (0, stats.prediction.exact));
}

/// Everybody walks in a circle of their own.
struct Ring;

impl World for Ring {
    fn walk(&self, body: &mut Body, command: Command) {
        (body.velocity_x, body.velocity_y) = (command.x * 12.0, command.y * 12.0);
        (body.x, body.y) = (body.x + body.velocity_x / 60.0, body.y + body.velocity_y / 60.0);
    }

    fn enter(&mut self, id: u8) -> (u8, Body) {
        (0, Body::at(f32::from(id), 5.0))
    }

    fn step(&mut self, _: &mut Stage<'_>) {}

    fn sight(&self, _: (u8, &Body), entity: (u8, &Body)) -> Sight {
        if entity.0.is_multiple_of(2) { Sight::Hidden } else { Sight::Far }
    }
}

/// A server and three clients of which one knows the format alone, without a network in between.
struct Room {
    server: Server<GameWire>,
    clients: Vec<Client<GameWire>>,
    now: Duration,
    /// The client that does not get its DELTAs.
    drops_delta_to: Option<usize>,
    /// The packet that client 1 seems to acknowledge.
    forged_ack: Option<[u8; 2]>,
}

impl Room {
    fn new() -> Self {
        let clients = [false, true, true].iter().zip(0_u64..).map(|(deltas, n)| {
            let mut config = ClientConfig::new(n);
            config.delta_snapshots = *deltas;
            Client::join(config, server_addr()).expect("a config")
        });
        let server = Server::new(ServerConfig::new(1)).expect("a config");
        Self { server, clients: clients.collect(), now: ms(1_000), drops_delta_to: None, forged_ack: None }
    }

    /// One frame; `look` sees every datagram of the server and the number of its client.
    fn frame(&mut self, mut look: impl FnMut(&Server<GameWire>, usize, &[u8])) {
        self.now += Duration::from_nanos(16_666_666);
        let (now, mut buf) = (self.now, [0; MAX_DATAGRAM]);
        for (n, client) in self.clients.iter_mut().enumerate() {
            let turn = (now.as_millis() / 300) as f32 + n as f32;
            client.advance(now, &Ring, Command::new((turn % 3.0) - 1.0, 0.5, 0));
            while client.poll_event().is_some() {}
            while let Some((_, len)) = client.poll_transmit(now, &mut buf) {
                if let Some(ack) = self.forged_ack.filter(|_| n == 1) {
                    buf[6..8].copy_from_slice(&ack);
                }
                self.server.handle_datagram(now, client_addr(n), &buf[..len]);
            }
        }
        self.server.advance(now, &mut Ring);
        while let Some((to, len)) = self.server.poll_transmit(now, &mut buf) {
            let n = (0..self.clients.len()).find(|n| client_addr(*n) == to).expect("a client");
            look(&self.server, n, &buf[..len]);
            if buf[12] != 10 || self.drops_delta_to != Some(n) {
                self.clients[n].handle_datagram(now, server_addr(), &buf[..len]);
            }
        }
    }
}

#[test]
fn clients_of_the_document_get_the_bytes_of_the_document() {
    let (mut room, mut snapshots, mut deltas) = (Room::new(), 0, 0);
    for _ in 0..600 {
        room.frame(|server, client, datagram| {
            let packet = ControlPacket::decode(datagram).expect("a packet");
            match packet.payload {
                ControlPayload::Snapshot(snapshot) if client == 0 => {
                    let shown: Vec<EntityState> = snapshot.entities.iter().collect();
                    let there = server.entities().map(|(id, _, body)| {
                        let Body { x, y, velocity_x, velocity_y, health } = *body;
                        EntityState { id, x, y, velocity_x, velocity_y, health }
                    });
                    assert_eq!((snapshot.tick, shown), (server.frame().0, there.collect()), "everything");
                    snapshots += 1;
                }
                ControlPayload::Delta(_) => {
                    assert_ne!(client, 0, "a client that did not ask");
                    deltas += 1;
                }
                _ => {}
            }
        });
    }
    assert!(snapshots > 180 && deltas > 300, "{snapshots} snapshots, {deltas} deltas");
}

#[test]
fn hidden_players_are_in_no_delta_and_the_own_one_in_each() {
    let mut room = Room::new();
    (0..300).for_each(|_| room.frame(|_, _, _| {}));
    let ids: Vec<u8> = room.server.entities().map(|(id, ..)| id).collect();
    let before: Vec<Vec<Option<Body>>> =
        room.clients.iter().map(|client| ids.iter().map(|id| client.raw(*id).copied()).collect()).collect();
    (0..300).for_each(|_| room.frame(|_, _, _| {}));
    for (n, client) in room.clients.iter().enumerate() {
        let own = client.id().expect("a seat");
        for (id, before) in ids.iter().zip(&before[n]) {
            let moved = client.raw(*id).copied() != *before;
            assert_eq!(
                moved,
                n == 0 || *id == own || id % 2 == 1,
                "entity {id} at client {n}, which is {own}"
            );
        }
        assert_eq!(client.stats().prediction.compared, client.stats().prediction.exact);
    }
}

#[test]
fn client_recovers_from_a_forged_ack_within_a_second() {
    let mut room = Room::new();
    (0..300).for_each(|_| room.frame(|_, _, _| {}));
    // Somebody on the path takes a DELTA away and acknowledges it in the client's name.
    let mut taken = None;
    while taken.is_none() {
        room.drops_delta_to = Some(1);
        room.frame(|_, client, datagram| {
            if client == 1 && datagram[12] == 10 {
                taken = Some([datagram[4], datagram[5]]);
            }
        });
    }
    (room.drops_delta_to, room.forged_ack) = (None, taken);
    room.frame(|_, _, _| {});
    room.forged_ack = None;
    let snapshots = room.clients[1].stats().snapshots;
    (0..60).for_each(|_| room.frame(|_, _, _| {}));
    let stats = room.clients[1].stats();
    let unread = stats.refused.of(Refusal::NoBaseline);
    assert!((1..20).contains(&unread), "{unread} deltas without a baseline");
    (0..60).for_each(|_| room.frame(|_, _, _| {}));
    let after = room.clients[1].stats();
    assert_eq!(after.refused.of(Refusal::NoBaseline), unread, "whole snapshots have come");
    assert!(after.snapshots > snapshots + 20, "{} snapshots", after.snapshots - snapshots);
    assert!(room.clients.iter().all(|client| client.over().is_none()));
}
