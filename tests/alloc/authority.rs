//! A server with 64 clients takes its memory at the start, with shots, messages and a bad link.

use crate::counted;
use rebout::authority::{
    Body, Client, ClientConfig, Command, GameWire, RtypeWire, Server, ServerConfig, Stage, Wire, World,
};
use rebout::lab::link::{Chance, LinkConfig};
use rebout::lab::sim::{self, Clock, Machine};
use rebout::{Frame, Protocol};
use std::net::SocketAddr;
use std::time::Duration;

const CLIENTS: usize = 64;

struct Field;

impl World for Field {
    fn walk(&self, body: &mut Body, command: Command) {
        body.x += command.x;
    }

    fn enter(&mut self, id: u8) -> (u8, Body) {
        (0, Body::at(f32::from(id), 0.0))
    }

    fn step(&mut self, stage: &mut Stage<'_>) {
        let Frame(frame) = stage.frame();
        if frame.is_multiple_of(10) {
            stage.shoot(1, 1, &Body { velocity_x: 3.0, ..Body::at(0.0, 0.0) });
            stage.tell(&frame.to_be_bytes());
        }
        let old = stage.shots().find(|shot| shot.course.frame.0 + 60 < frame).map(|shot| shot.id);
        if let Some(old) = old {
            stage.end_shot(old);
        }
        if frame.is_multiple_of(60) {
            let thing = stage.entities().find(|(_, kind, _)| *kind == 5).map(|(id, ..)| id);
            thing.map(|id| stage.remove(id));
            stage.spawn(5, Body::at(1.0, 1.0));
        }
    }
}

#[allow(clippy::large_enum_variant)]
enum Node<W: Wire> {
    Server(Server<W>),
    Client(Client<W>, u32),
}

impl<W: Wire> Protocol for Node<W> {
    fn handle_datagram(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        match self {
            Self::Server(server) => server.handle_datagram(now, from, datagram),
            Self::Client(client, _) => client.handle_datagram(now, from, datagram),
        }
    }

    fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        match self {
            Self::Server(server) => server.poll_transmit(now, buf),
            Self::Client(client, _) => client.poll_transmit(now, buf),
        }
    }

    fn poll_timeout(&self) -> Option<Duration> {
        match self {
            Self::Server(server) => server.poll_timeout(),
            Self::Client(client, _) => client.poll_timeout(),
        }
    }
}

impl<W: Wire> Machine for Node<W> {
    fn next_frame_at(&self) -> Option<Duration> {
        Some(match self {
            Self::Server(server) => server.next_frame_at(),
            Self::Client(client, _) => client.next_frame_at(),
        })
    }

    fn frame(&mut self, now: Duration) {
        match self {
            Self::Server(server) => {
                server.advance(now, &mut Field);
                while server.poll_event().is_some() {}
            }
            Self::Client(client, calls) => {
                *calls += 1;
                client.advance(now, &Field, Command::new((*calls / 20 % 3) as f32 - 1.0, 0.0, 0));
                while client.poll_event().is_some() {}
                let drawn =
                    client.others().count() + client.shots(client.render_frame().unwrap_or_default()).count();
                std::hint::black_box(drawn);
            }
        }
    }
}

pub(crate) fn all() {
    served::<GameWire>("GAME", 8_192);
    // An R-Type client gets a datagram for each entity, and acknowledges most of what it gets.
    served::<RtypeWire>("R-Type", 65_536);
    println!("nothing is allocated once a server runs: ok");
}

/// Counts on a wire, in a network with room for this many datagrams.
fn served<W: Wire>(wire: &str, datagrams: usize) {
    let mut config = ServerConfig::new(1);
    config.max_clients = CLIENTS as u8;
    let server_addr = SocketAddr::from(([10, 0, 0, 1], 7000));
    let mut world = sim::World::new(1);
    let server = Node::Server(Server::<W>::new(config).expect("a config"));
    world.add(server_addr, Clock::default(), Duration::ZERO, server);
    world.network_mut().set_default_link(LinkConfig {
        jitter: Duration::from_millis(10),
        loss: Chance::percent(5),
        ..LinkConfig::new(Duration::from_millis(50))
    });
    for n in 0..CLIENTS {
        let start = world.draw(Duration::from_secs(1));
        let client = Client::join(ClientConfig::new(n as u64), server_addr).expect("a config");
        let addr = SocketAddr::from(([10, 0, 1, n as u8], 9000));
        world.add(addr, Clock::default(), start, Node::Client(client, n as u32));
    }
    world.network_mut().reserve(datagrams);
    world.run_until(Duration::from_secs(8));
    let frames = |world: &sim::World<Node<W>>| match world.machine(0) {
        Node::Server(server) => (server.frame().0, server.clients()),
        Node::Client(..) => (0, 0),
    };
    let before = frames(&world).0;
    let (calls, bytes, ()) = counted(|| world.run_until(Duration::from_secs(16)));
    let (after, clients) = frames(&world);
    println!("64 clients, {wire}, {} frames: {calls} allocations, {bytes} bytes", after - before);
    assert_eq!((calls, clients), (0, CLIENTS));
}
