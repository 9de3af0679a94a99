//! Bots play a level on both wires over a bad link, and see the same.

use arcade::game::{Arcade, Phase};
use arcade::play::bot;
use arcade::scene::{Scene, Sound};
use rebout::Protocol;
use rebout::authority::{Client, ClientConfig, GameWire, RtypeWire, Server, ServerConfig, ServerEvent, Wire};
use rebout::lab::link::{Chance, LinkConfig};
use rebout::lab::sim::{Clock, Machine, World};
use std::net::SocketAddr;
use std::time::Duration;
use support::repeats;

/// The server, or somebody who plays.
// There are five of these.
#[allow(clippy::large_enum_variant)]
enum Node<W: Wire> {
    Server { server: Server<W>, world: Arcade, left: usize },
    Player { client: Client<W>, scene: Scene, sounds: Vec<Sound>, hits: usize },
}

impl<W: Wire> Node<W> {
    fn protocol(&mut self) -> &mut dyn Protocol {
        match self {
            Self::Server { server, .. } => server,
            Self::Player { client, .. } => client,
        }
    }
}

impl<W: Wire> Protocol for Node<W> {
    fn handle_datagram(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        self.protocol().handle_datagram(now, from, datagram);
    }

    fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        self.protocol().poll_transmit(now, buf)
    }

    fn poll_timeout(&self) -> Option<Duration> {
        match self {
            Self::Server { server, .. } => server.poll_timeout(),
            Self::Player { client, .. } => client.poll_timeout(),
        }
    }
}

impl<W: Wire> Machine for Node<W> {
    fn next_frame_at(&self) -> Option<Duration> {
        Some(match self {
            Self::Server { server, .. } => server.next_frame_at(),
            Self::Player { client, .. } => client.next_frame_at(),
        })
    }

    fn frame(&mut self, now: Duration) {
        match self {
            Self::Server { server, world, left } => {
                server.advance(now, world);
                while let Some(event) = server.poll_event() {
                    *left += usize::from(matches!(event, ServerEvent::Left { .. }));
                }
            }
            Self::Player { client, scene, sounds, hits } => {
                client.advance(now, &Arcade::new(1), bot(scene));
                while let Some(event) = client.poll_event() {
                    *hits += usize::from(matches!(event, rebout::authority::ClientEvent::Hit { .. }));
                    scene.event(&event);
                }
                scene.frame(client);
                sounds.extend(&scene.sounds);
            }
        }
    }
}

fn lab<W: Wire>(seed: u64, players: u8, link: LinkConfig) -> World<Node<W>> {
    let addr = SocketAddr::from(([10, 0, 0, 1], 7_200));
    let mut lab = World::new(seed);
    let mut config = ServerConfig::new(seed);
    config.max_clients = 4;
    let server = Server::new(config).expect("a config");
    let world = Arcade::new(seed as u32);
    lab.add(
        addr,
        Clock::new(Duration::from_secs(3), 0),
        Duration::ZERO,
        Node::Server { server, world, left: 0 },
    );
    for n in 1..=players {
        let config = ClientConfig::new(seed << 8 | u64::from(n));
        let client = Client::join(config, addr).expect("a config");
        let player = Node::Player { client, scene: Scene::default(), sounds: Vec::new(), hits: 0 };
        let clock = Clock::new(Duration::from_millis(u64::from(n) * 7_919), 0);
        let start = Duration::from_millis(100 + 37 * u64::from(n));
        let endpoint = lab.add(SocketAddr::from(([10, 0, 1, n], 9_000)), clock, start, player);
        lab.network_mut().set_links(0, endpoint, link);
    }
    lab
}

fn world<W: Wire>(lab: &World<Node<W>>) -> (&Arcade, usize) {
    let Node::Server { world, left, .. } = lab.machine(0) else { panic!("no server") };
    (world, *left)
}

fn players<W: Wire>(lab: &World<Node<W>>) -> impl Iterator<Item = (&Client<W>, &Scene, &Vec<Sound>, usize)> {
    (1..).map_while(|n| (n < lab.network().endpoints()).then(|| lab.machine(n))).filter_map(|node| match node
    {
        Node::Player { client, scene, sounds, hits } => Some((client, scene, sounds, *hits)),
        Node::Server { .. } => None,
    })
}

/// 100 ms each way, jitter up to 20 ms, 5 % loss.
fn bad_link() -> LinkConfig {
    let (latency, jitter) = (Duration::from_millis(100), Duration::from_millis(20));
    LinkConfig { jitter, loss: Chance::percent(5), ..LinkConfig::new(latency) }
}

/// Runs until the world is in a phase. Returns the seconds that it took.
fn run_to<W: Wire>(lab: &mut World<Node<W>>, phase: Phase, seconds: u64) -> u64 {
    for second in 1..=seconds {
        lab.run_until(Duration::from_secs(second));
        if world(lab).0.phase() == phase {
            return second;
        }
    }
    panic!("no {phase:?} in {seconds} s: {:?}, {} points", world(lab).0.phase(), world(lab).0.score());
}

/// Runs until score and lives have been the same for 600 ms: shots that still fly may hit after the last enemy is gone,
/// and an update takes up to 120 ms and is repeated if it is lost.
fn settle<W: Wire>(lab: &mut World<Node<W>>) {
    let standing = |lab: &World<Node<W>>| {
        let (arcade, _) = world(lab);
        (arcade.score(), arcade.ships().iter().map(|ship| ship.lives).collect::<Vec<_>>())
    };
    let (mut before, mut since) = (standing(lab), lab.now());
    while lab.now() < since + Duration::from_millis(600) {
        let next = lab.now() + Duration::from_millis(50);
        lab.run_until(next);
        if standing(lab) != before {
            (before, since) = (standing(lab), lab.now());
        }
    }
}

#[test]
fn four_bots_on_a_bad_link_see_the_same_score() {
    fn played<W: Wire>(wire: &str) {
        for seed in 1..=repeats(4) {
            let mut lab = lab::<W>(seed, 4, bad_link());
            let took = run_to(&mut lab, Phase::Cleared, 180);
            settle(&mut lab);
            let (world, left) = world(&lab);
            assert_eq!((left, world.level()), (0, 1), "{wire}, seed {seed}");
            assert!(world.score() > 3_000, "{}", world.score());
            let (mut corrected, mut compared, mut exact, mut hits) = (0, 0, 0, Vec::new());
            for (client, scene, sounds, heard) in players(&lab) {
                assert_eq!(scene.score, world.score(), "{wire}, seed {seed}");
                assert_eq!((scene.phase, scene.ships.len()), (Phase::Cleared, 4));
                for ship in world.ships() {
                    assert_eq!(scene.lives_of(ship.id), Some(ship.lives), "{wire}, seed {seed}");
                }
                assert!(sounds.contains(&Sound::Boom) && sounds.contains(&Sound::Cleared));
                let stats = client.stats().prediction;
                corrected = corrected.max(stats.max_correction);
                (compared, exact) = (compared + stats.compared, exact + stats.exact);
                hits.push(heard);
            }
            println!(
                "{wire}, seed {seed}: a level in {took} s, {} points; own ships corrected by at most {corrected} units, \
                 {exact} of {compared} updates corrected nothing",
                world.score()
            );
            assert!(hits.windows(2).all(|pair| pair[0] == pair[1]), "everybody hears every hit: {hits:?}");
            assert!(corrected <= 9, "{wire}, seed {seed}: {corrected} units");
        }
    }
    played::<RtypeWire>("R-Type");
    played::<GameWire>("GAME");
}

#[test]
fn next_level_is_harder_and_a_lost_game_starts_again() {
    let mut lab = lab::<RtypeWire>(5, 4, LinkConfig::new(Duration::from_millis(20)));
    let cleared = run_to(&mut lab, Phase::Cleared, 180);
    lab.run_until(Duration::from_secs(cleared + 5));
    assert_eq!(world(&lab).0.level(), 2);
    // Nobody shoots or evades any more: the game is lost, and begins anew.
    let Node::Server { world: arcade, .. } = lab.machine(0) else { panic!("no server") };
    let score = arcade.score();
    for n in 1..=3 {
        lab.stop(n);
    }
    let over = run_to(&mut lab, Phase::Over, 1_000);
    assert!(world(&lab).0.score() >= score);
    lab.run_until(Duration::from_secs(over + 6));
    assert_eq!((world(&lab).0.level(), world(&lab).0.phase()), (1, Phase::Intro));
    assert_eq!(world(&lab).0.ships().len(), 1, "the three that stopped were removed");
}

#[test]
fn same_commands_lead_to_the_same_game() {
    let end = |seed| {
        let mut lab = lab::<GameWire>(seed, 2, LinkConfig::new(Duration::from_millis(10)));
        lab.run_until(Duration::from_secs(10));
        let (world, _) = world(&lab);
        (world.score(), world.ships().iter().map(|ship| ship.lives).collect::<Vec<_>>(), format!("{world:?}"))
    };
    let once = end(3);
    assert_eq!(once, end(3));
    assert_ne!(once.2, end(4).2);
}

/// Everything that a server shows of its world.
fn shown<W: Wire>(lab: &World<Node<W>>) -> Vec<(u8, u8, f32, f32)> {
    let Node::Server { server, .. } = lab.machine(0) else { panic!("no server") };
    server.entities().map(|(id, kind, body)| (id, kind, body.x, body.y)).collect()
}

fn game_rests<W: Wire>() {
    let mut lab = lab::<W>(5, 2, LinkConfig::new(Duration::from_millis(20)));
    run_to(&mut lab, Phase::Waves, 20);
    let mut now = lab.now();
    let mut run = |lab: &mut World<Node<W>>, millis| {
        now += Duration::from_millis(millis);
        lab.run_until(now);
    };
    run(&mut lab, 3_000);
    let rest = |lab: &mut World<Node<W>>, rests| {
        let Node::Server { world, .. } = lab.machine_mut(0) else { panic!("no server") };
        world.set_resting(rests);
    };
    rest(&mut lab, true);
    run(&mut lab, 500);
    let flying = |lab: &World<Node<W>>| {
        let (client, scene, ..) = players(lab).next().expect("a player");
        let _ = client;
        scene.shots.iter().map(|shot| (shot.x.round(), shot.y.round())).collect::<Vec<_>>()
    };
    let (before, shots, score) = (shown(&lab), flying(&lab), world(&lab).0.score());
    assert!(before.len() > 5 && !shots.is_empty(), "{before:?}");
    run(&mut lab, 20_000);
    assert_eq!((shown(&lab), flying(&lab), world(&lab).0.score()), (before.clone(), shots, score));
    assert_eq!(world(&lab).1, 0, "nobody is lost by a rest");
    rest(&mut lab, false);
    run(&mut lab, 2_000);
    assert_ne!(shown(&lab), before, "it goes on");
}

#[test]
fn paused_game_does_not_move() {
    game_rests::<GameWire>();
    game_rests::<RtypeWire>();
}
