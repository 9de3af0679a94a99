//! A server and clients in the simulated network. The server keeps every body of every frame.

use rebout::authority::{
    Body, Client, ClientConfig, ClientEvent, Command, Drawing, GameWire, RtypeWire, Server, ServerConfig,
    ServerEvent, Stage, Wire, World,
};
use rebout::lab::link::{Chance, LinkConfig};
use rebout::lab::sim::{self, Clock, Machine};
use rebout::{Frame, Protocol};
use std::net::SocketAddr;
use std::time::Duration;

/// A frame of 60 Hz as server and client count it.
pub(crate) const FRAME: Duration = Duration::from_nanos(16_666_666);

/// Units a frame: 12 a second.
pub(crate) const SPEED: f32 = 0.2;
pub(crate) const WIDTH: f32 = 200.0;
pub(crate) const HEIGHT: f32 = 120.0;

pub(crate) fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A wire by its name, for what a test expects of one and not of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Game,
    Rtype,
}

/// A wire that tests name by a value.
pub(crate) trait Named: Wire + Copy {
    fn format(self) -> Format;
}

impl Named for GameWire {
    fn format(self) -> Format {
        Format::Game
    }
}

impl Named for RtypeWire {
    fn format(self) -> Format {
        Format::Rtype
    }
}

/// Runs a test once on each wire, for what they have in common.
macro_rules! for_wires {
    (|$wire:ident| $body:block) => {{
        {
            let $wire = rebout::authority::GameWire;
            $body
        }
        let $wire = rebout::authority::RtypeWire;
        $body
    }};
}
pub(crate) use for_wires;

/// Players walk; nothing else happens unless a test wants it.
#[derive(Default)]
pub(crate) struct Field {
    pub(crate) extra: Vec<Extra>,
    pub(crate) entered: u32,
    pub(crate) left: Vec<u8>,
}

/// An addition of a test to a frame of the world; frame 0 is every frame.
pub(crate) type Extra = (u32, Step);

/// A part of a step of the world.
pub(crate) type Step = fn(&mut Stage<'_>);

impl World for Field {
    fn walk(&self, body: &mut Body, command: Command) {
        body.x = (body.x + command.x * SPEED).clamp(0.0, WIDTH);
        body.y = (body.y + command.y * SPEED).clamp(0.0, HEIGHT);
        (body.velocity_x, body.velocity_y) = (command.x * SPEED * 60.0, command.y * SPEED * 60.0);
    }

    fn enter(&mut self, id: u8) -> (u8, Body) {
        self.entered += 1;
        (7, Body::at(100.0 + f32::from(id % 16), 60.0))
    }

    fn step(&mut self, stage: &mut Stage<'_>) {
        let Frame(now) = stage.frame();
        for (_, extra) in self.extra.iter().filter(|(frame, _)| *frame == 0 || *frame == now) {
            extra(stage);
        }
    }

    fn leave(&mut self, id: u8) {
        self.left.push(id);
    }
}

/// The server, its world, and what was in every frame.
pub(crate) struct ServerNode<W: Wire> {
    pub(crate) server: Server<W>,
    pub(crate) field: Field,
    /// The bodies of a frame, by the frame.
    pub(crate) history: Vec<Vec<(u8, Body)>>,
    pub(crate) first: Option<(Frame, Duration)>,
    pub(crate) events: Vec<ServerEvent>,
    pub(crate) keeps_history: bool,
}

impl<W: Wire> ServerNode<W> {
    pub(crate) fn new(config: ServerConfig) -> Self {
        let (history, events) = (Vec::new(), Vec::new());
        let server = Server::new(config).expect("a config");
        Self { server, field: Field::default(), history, first: None, events, keeps_history: true }
    }

    pub(crate) fn body(&self, frame: Frame, id: u8) -> Option<Body> {
        let (first, _) = self.first?;
        let bodies = self.history.get(frame.0.wrapping_sub(first.0) as usize)?;
        bodies.iter().find(|(known, _)| *known == id).map(|(_, body)| *body)
    }

    /// The server's time in frames at a moment of its own clock.
    pub(crate) fn time_at(&self, local: Duration) -> f64 {
        let (first, at) = self.first.expect("a frame");
        f64::from(first.0) + (local.as_secs_f64() - at.as_secs_f64()) / FRAME.as_secs_f64()
    }
}

/// One picture that a client drew of another entity.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Picture {
    pub(crate) id: u8,
    pub(crate) render: f64,
    pub(crate) body: Body,
    pub(crate) drawing: Drawing,
}

/// The command of a client's n-th call.
pub(crate) type InputSource = fn(seed: u64, call: u64) -> Command;

/// A direction that changes a few times a second.
pub(crate) fn wanders(seed: u64, call: u64) -> Command {
    let mut mixed = ((seed << 20) ^ (call / 17)).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed ^= mixed >> 29;
    mixed = mixed.wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let step = |bits: u64| (bits % 5) as f32 / 2.0 - 1.0;
    Command::new(step(mixed >> 40), step(mixed >> 50), 0)
}

pub(crate) struct ClientNode<W: Wire> {
    pub(crate) client: Client<W>,
    pub(crate) seed: u64,
    pub(crate) input_source: InputSource,
    pub(crate) calls: u64,
    /// Every step with what was predicted for it at first.
    pub(crate) predicted: Vec<(Frame, Body)>,
    pub(crate) pictures: Vec<Picture>,
    /// Our time, the server's time as believed, simulated time; in frames.
    pub(crate) clock: Vec<(Duration, f64, f64)>,
    pub(crate) events: Vec<ClientEvent>,
    pub(crate) keeps: bool,
}

impl<W: Wire> ClientNode<W> {
    pub(crate) fn new(config: ClientConfig, server: SocketAddr, seed: u64) -> Self {
        Self {
            client: Client::join(config, server).expect("a config"),
            seed,
            input_source: wanders,
            calls: 0,
            predicted: Vec::new(),
            pictures: Vec::new(),
            clock: Vec::new(),
            events: Vec::new(),
            keeps: true,
        }
    }

    fn frame(&mut self, now: Duration) {
        let before = self.client.frame();
        self.client.advance(now, &Field::default(), (self.input_source)(self.seed, self.calls));
        self.calls += 1;
        while let Some(event) = self.client.poll_event() {
            if self.keeps {
                self.events.push(event);
            }
        }
        if !self.keeps {
            return;
        }
        if let (Some(frame), Some(body)) = (self.client.frame(), self.client.predicted())
            && before != Some(frame)
        {
            self.predicted.push((frame, *body));
        }
        if let (Some(server), Some(simulated)) =
            (self.client.server_frame(now), self.client.simulated_frame())
        {
            self.clock.push((now, server.since(Frame::ZERO), simulated.since(Frame::ZERO)));
        }
        if let Some(render) = self.client.render_frame() {
            self.pictures.extend(self.client.others().map(|seen| Picture {
                id: seen.id,
                render: render.since(Frame::ZERO),
                body: seen.body,
                drawing: seen.drawing,
            }));
        }
    }
}

/// A machine of these tests.
#[allow(clippy::large_enum_variant)]
pub(crate) enum Node<W: Wire> {
    Server(ServerNode<W>),
    Client(ClientNode<W>),
    Other(Box<dyn Machine>),
}

impl<W: Wire> Node<W> {
    fn protocol(&mut self) -> &mut dyn Protocol {
        match self {
            Self::Server(node) => &mut node.server,
            Self::Client(node) => &mut node.client,
            Self::Other(node) => &mut **node,
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
            Self::Server(node) => node.server.poll_timeout(),
            Self::Client(node) => node.client.poll_timeout(),
            Self::Other(node) => node.poll_timeout(),
        }
    }
}

impl<W: Wire> Machine for Node<W> {
    fn next_frame_at(&self) -> Option<Duration> {
        match self {
            Self::Server(node) => Some(node.server.next_frame_at()),
            Self::Client(node) => Some(node.client.next_frame_at()),
            Self::Other(node) => node.next_frame_at(),
        }
    }

    fn frame(&mut self, now: Duration) {
        match self {
            Self::Server(node) => {
                node.server.advance(now, &mut node.field);
                node.first.get_or_insert((node.server.frame(), now));
                while let Some(event) = node.server.poll_event() {
                    node.events.push(event);
                }
                if node.keeps_history {
                    node.history.push(node.server.entities().map(|(id, _, body)| (id, *body)).collect());
                }
            }
            Self::Client(node) => node.frame(now),
            Self::Other(node) => node.frame(now),
        }
    }
}

/// One server at endpoint 0, and clients.
pub(crate) struct Lab<W: Wire = GameWire> {
    pub(crate) world: sim::World<Node<W>>,
    seed: u64,
    link: LinkConfig,
}

pub(crate) const SERVER: usize = 0;

pub(crate) fn server_addr() -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 1], 7000))
}

pub(crate) fn client_addr(n: usize) -> SocketAddr {
    SocketAddr::from(([10, 0, 1, n as u8], 9000))
}

/// 100 ms each way, jitter from 0 to 30 ms, 5 % loss.
pub(crate) fn bad_link() -> LinkConfig {
    LinkConfig { jitter: ms(30), loss: Chance::percent(5), ..LinkConfig::new(ms(100)) }
}

impl Lab {
    /// A server on GAME that starts at once; the link of every client is `link`.
    pub(crate) fn new(seed: u64, link: LinkConfig) -> Self {
        Self::speaking(GameWire, seed, link)
    }
}

impl<W: Wire> Lab<W> {
    /// The same on a wire of choice.
    pub(crate) fn speaking(wire: W, seed: u64, link: LinkConfig) -> Self {
        Self::with_server(wire, seed, link, ServerConfig::new(seed))
    }

    pub(crate) fn with_server(_: W, seed: u64, link: LinkConfig, config: ServerConfig) -> Self {
        Self::on(seed, link, Node::Server(ServerNode::new(config)))
    }

    pub(crate) fn on(seed: u64, link: LinkConfig, server: Node<W>) -> Self {
        let mut world = sim::World::new(seed);
        world.add(server_addr(), Clock::new(ms(3_000), 0), Duration::ZERO, server);
        Self { world, seed, link }
    }

    /// Adds a client that starts at `start`, and returns its endpoint.
    pub(crate) fn client(&mut self, start: Duration) -> usize {
        self.client_with(start, |_| {})
    }

    pub(crate) fn client_with(&mut self, start: Duration, change: impl FnOnce(&mut ClientConfig)) -> usize {
        let n = self.world.network().endpoints();
        let mut config = ClientConfig::new(self.seed << 16 | n as u64);
        change(&mut config);
        let node = ClientNode::new(config, server_addr(), self.seed << 8 | n as u64);
        self.machine(start, Node::Client(node))
    }

    pub(crate) fn machine(&mut self, start: Duration, node: Node<W>) -> usize {
        let n = self.world.network().endpoints();
        let start = start + self.world.draw(FRAME);
        let offset = self.world.draw(Duration::from_secs(100));
        let endpoint = self.world.add(client_addr(n), Clock::new(offset, 0), start, node);
        self.world.network_mut().set_links(SERVER, endpoint, self.link);
        endpoint
    }

    pub(crate) fn run_until(&mut self, until: Duration) {
        self.world.run_until(until);
    }

    pub(crate) fn server(&self) -> &ServerNode<W> {
        let Node::Server(node) = self.world.machine(SERVER) else { panic!("no server of ours") };
        node
    }

    pub(crate) fn server_mut(&mut self) -> &mut ServerNode<W> {
        let Node::Server(node) = self.world.machine_mut(SERVER) else { panic!("no server of ours") };
        node
    }

    pub(crate) fn client_at(&self, endpoint: usize) -> &ClientNode<W> {
        let Node::Client(node) = self.world.machine(endpoint) else { panic!("no client of ours") };
        node
    }

    pub(crate) fn client_mut(&mut self, endpoint: usize) -> &mut ClientNode<W> {
        let Node::Client(node) = self.world.machine_mut(endpoint) else { panic!("no client of ours") };
        node
    }

    /// The server's time in frames at a moment of a client's clock.
    pub(crate) fn server_time_at(&self, endpoint: usize, local: Duration) -> f64 {
        let truth = self.world.clock(endpoint).true_at(local);
        self.server().time_at(self.world.clock(SERVER).local(truth))
    }
}
