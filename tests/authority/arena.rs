//! Bytes a second of snapshots in the arena of `examples/arena`, with its bots: whole, and as deltas.

use crate::lab::{bad_link, client_addr, ms, server_addr};
use games::arena::{Arena, bot_command};
use rebout::Protocol;
use rebout::authority::{Client, ClientConfig, GameWire, Server, ServerConfig};
use rebout::lab::link::LinkConfig;
use rebout::lab::sim::{self, Clock, Machine};
use std::net::SocketAddr;
use std::thread;
use std::time::Duration;
use support::repeats;

#[allow(clippy::large_enum_variant)]
enum Node {
    Server(Server<GameWire>, Arena),
    Bot(Client<GameWire>, Arena, u64),
}

impl Node {
    fn protocol(&mut self) -> &mut dyn Protocol {
        match self {
            Self::Server(server, _) => server,
            Self::Bot(client, ..) => client,
        }
    }
}

impl Protocol for Node {
    fn handle_datagram(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        self.protocol().handle_datagram(now, from, datagram);
    }

    fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        self.protocol().poll_transmit(now, buf)
    }

    fn poll_timeout(&self) -> Option<Duration> {
        match self {
            Self::Server(server, _) => server.poll_timeout(),
            Self::Bot(client, ..) => client.poll_timeout(),
        }
    }
}

impl Machine for Node {
    fn next_frame_at(&self) -> Option<Duration> {
        Some(match self {
            Self::Server(server, _) => server.next_frame_at(),
            Self::Bot(client, ..) => client.next_frame_at(),
        })
    }

    fn frame(&mut self, now: Duration) {
        match self {
            Self::Server(server, arena) => {
                server.advance(now, arena);
                while server.poll_event().is_some() {}
            }
            Self::Bot(client, arena, seed) => {
                client.advance(now, arena, bot_command(*seed, now));
                while client.poll_event().is_some() {}
            }
        }
    }
}

/// Bytes of snapshots a second and client.
fn bytes_a_second(players: u8, link: LinkConfig, deltas: bool) -> f64 {
    let mut config = ServerConfig::new(1);
    (config.max_clients, config.max_clients_per_source) = (players, players);
    let server = Node::Server(Server::new(config).expect("a config"), Arena::new());
    let mut world = sim::World::new(1);
    world.add(server_addr(), Clock::default(), Duration::ZERO, server);
    world.network_mut().set_default_link(link);
    for n in 1..=players {
        let mut config = ClientConfig::new(n.into());
        config.delta_snapshots = deltas;
        let client = Client::join(config, server_addr()).expect("a config");
        // A server tries 64 newcomers at once.
        let start = world.draw(ms(6_000));
        let seed = u64::from(n) * 7;
        world.add(client_addr(n.into()), Clock::default(), start, Node::Bot(client, Arena::new(), seed));
    }
    let sent = |world: &sim::World<Node>| match world.machine(0) {
        Node::Server(server, _) => (server.clients(), server.stats().snapshot_bytes_out),
        Node::Bot(..) => unreachable!(),
    };
    // All have joined for a second or more, and for six in a run of everything.
    let seconds = repeats(4_u64);
    let from = ms(6_000) + ms(1_500) * seconds as u32;
    world.run_until(from);
    let (clients, before) = sent(&world);
    assert!(clients >= usize::from(players) - 3, "{clients} of {players}");
    world.run_until(from + Duration::from_secs(seconds));
    (sent(&world).1 - before) as f64 / seconds as f64 / clients as f64
}

/// Compares whole snapshots with deltas on both links, or on the better one by default.
fn assert_share(players: u8, share: f64) {
    // Late acks make baselines older.
    let links = [("10 ms", LinkConfig::new(ms(10)), 1.0), ("100 ms, 5 % lost", bad_link(), 1.2)];
    for (name, link, allowance) in links.into_iter().take(repeats(4_u64).min(2) as usize) {
        let [whole, delta] = thread::scope(|scope| {
            let runs = [false, true].map(|deltas| scope.spawn(move || bytes_a_second(players, link, deltas)));
            runs.map(|run| run.join().expect("a figure"))
        });
        println!(
            "{players} players, {name}: {whole:.0} bytes/s a client, {delta:.0} as deltas, {:.3}",
            delta / whole
        );
        assert!(delta <= whole * share * allowance, "{delta} of {whole}");
    }
}

#[test]
fn deltas_are_never_larger_at_8_players() {
    assert_share(8, 1.0);
}

#[test]
fn deltas_are_a_third_at_64_players() {
    assert_share(64, 1.0 / 3.0);
}

#[test]
fn deltas_are_a_tenth_at_255_players() {
    assert_share(255, 0.1);
}
