//! A simulated internet: two players behind routers, a rendezvous and a relay.

use core::time::Duration;
use rebout::RelayPolicy;
use rebout::lab::link::{Chance, LinkConfig};
use rebout::lab::nat::{NatConfig, NatTraversal, Progress};
use rebout::lab::seal::Seal;
use rebout::lab::sim::{Clock, Entry, EntryKind, Machine, NatKind, World};
use rebout::rendezvous::{RendezvousConfig, RendezvousServer, TurnService};
use rebout::{Answer, Offer, Randomness};
use rebout::{Config, Invite, Lobby, Protocol};
use std::net::SocketAddr;

use super::player::Player;
use turn_relay::{Port, RelayServer, SECRET};

pub(crate) const HOST: usize = 0;
pub(crate) const JOINER: usize = 1;
pub(crate) const RENDEZVOUS: usize = 2;
/// The relay itself, and the first of its ports.
pub(crate) const RELAY: usize = 3;
const RELAY_PORTS: u16 = 8;

/// The name of both players.
pub(crate) const NAME: &[u8] = b"Ada Lovelace";

pub(crate) fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

pub(crate) fn at(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

pub(crate) fn rendezvous_addr() -> SocketAddr {
    at("198.51.100.1:3479")
}

pub(crate) fn relay_addr() -> SocketAddr {
    at("198.51.100.2:3478")
}

/// How a player's machine is connected to the internet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Router {
    /// Without one.
    Open,
    /// A NAT with one outside port for the machine, which lets in what was written to.
    Cone,
    /// A NAT with another outside port for each destination.
    Symmetric,
    /// A firewall that passes the rendezvous and the relay alone.
    Blocked,
}

pub(crate) const ROUTERS: [Router; 4] = [Router::Open, Router::Cone, Router::Symmetric, Router::Blocked];

/// Anything with an address in the internet.
#[allow(clippy::large_enum_variant)]
pub(crate) enum Node {
    Player(Player),
    Rendezvous(RendezvousServer),
    Relay(Port),
    /// Somebody else, who may lie.
    Other(Box<dyn Protocol>),
}

impl Node {
    fn protocol(&mut self) -> &mut dyn Protocol {
        match self {
            Self::Player(player) => player,
            Self::Rendezvous(server) => server,
            Self::Relay(port) => port,
            Self::Other(other) => &mut **other,
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
            Self::Player(player) => player.poll_timeout(),
            Self::Rendezvous(server) => server.poll_timeout(),
            Self::Relay(port) => port.poll_timeout(),
            Self::Other(other) => other.poll_timeout(),
        }
    }

    fn wants_attention(&self, now: Duration) -> bool {
        matches!(self, Self::Player(player) if player.wants_attention(now))
    }
}

impl Machine for Node {
    fn next_frame_at(&self) -> Option<Duration> {
        match self {
            Self::Player(player) => player.next_frame_at(),
            _ => None,
        }
    }

    fn frame(&mut self, now: Duration) {
        if let Self::Player(player) = self {
            player.frame(now);
        }
    }
}

/// The plan of an internet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) routers: [Router; 2],
    pub(crate) relays: [RelayPolicy; 2],
    /// Whether the rendezvous has a relay to offer.
    pub(crate) has_relay: bool,
    /// Whether the players send each other texts instead of meeting at the rendezvous.
    pub(crate) manual: bool,
    /// Whether both players are behind the host's router.
    pub(crate) same_router: bool,
    /// Whether the invite has the address of the host's machine beside the rendezvous.
    pub(crate) invites_to_lan: bool,
    /// Whether the first of two addresses of the rendezvous leads nowhere.
    pub(crate) first_server_is_dead: bool,
    /// One way, between any two machines.
    pub(crate) latency_millis: u64,
    /// Whether the joiner wants a data channel, as a page in a browser does.
    pub(crate) by_channel: bool,
    /// When the joiner starts.
    pub(crate) joins_at_millis: u64,
    /// The secret that the rendezvous shares with the relay, or believes to share.
    pub(crate) secret: &'static [u8],
    /// Loss on the line of each player, each way.
    pub(crate) loss_percent: u32,
    /// Whether the match waits for 30 s through an outage.
    pub(crate) waits: bool,
    pub(crate) frames: u32,
    pub(crate) seed: u64,
}

impl Plan {
    pub(crate) fn new(host: Router, joiner: Router) -> Self {
        Self {
            routers: [host, joiner],
            relays: [RelayPolicy::Allow; 2],
            has_relay: true,
            manual: false,
            same_router: false,
            invites_to_lan: false,
            first_server_is_dead: false,
            latency_millis: 20,
            by_channel: false,
            joins_at_millis: 500,
            secret: SECRET,
            loss_percent: 0,
            waits: false,
            frames: 600,
            seed: 7,
        }
    }
}

impl Plan {
    /// The address of a player's machine.
    pub(crate) fn inside(&self, id: usize) -> SocketAddr {
        match self.routers[id] {
            Router::Open | Router::Blocked => at(&format!("203.0.113.{}:70{id}0", 1 + id)),
            _ if self.same_router => at(&format!("192.168.1.{}:70{id}0", 2 + id)),
            _ => at(&format!("192.168.{}.2:70{id}0", 1 + id)),
        }
    }
}

/// The rendezvous of a plan, at its start.
fn server(plan: Plan, seed: u64) -> RendezvousServer {
    let turn = TurnService { server: relay_addr(), secret: plan.secret.to_vec() };
    let config = RendezvousConfig { turn: plan.has_relay.then_some(turn), ..RendezvousConfig::default() };
    RendezvousServer::new(config, Randomness::Seeded(seed)).unwrap()
}

pub(crate) struct Internet {
    pub(crate) world: World<Node>,
    /// The NAT of each player, if there is one.
    pub(crate) nats: [Option<usize>; 2],
    pub(crate) relay: RelayServer,
    /// The host's invite, if they meet at the rendezvous.
    pub(crate) invite: Option<Invite>,
    /// The joiner's answer, if they meet by manual signalling.
    pub(crate) answer: Option<Answer>,
}

impl Internet {
    pub(crate) fn new(plan: Plan) -> Self {
        Self::with_rendezvous(plan, Node::Rendezvous)
    }

    /// An internet whose rendezvous is something made of the true server.
    pub(crate) fn with_rendezvous(plan: Plan, rendezvous: impl FnOnce(RendezvousServer) -> Node) -> Self {
        let mut world = World::new(plan.seed);
        world.network_mut().set_default_link(LinkConfig::new(ms(plan.latency_millis)));
        let inside = |id| plan.inside(id);
        let config = |id: usize| {
            let mut config = NatConfig::new(std::time::Instant::now(), [inside(id)]);
            config.relay = plan.relays[id];
            config.by_channel = plan.by_channel && id == JOINER;
            config.randomness = Randomness::Seeded(plan.seed << 8 | id as u64);
            config.other_servers = plan.first_server_is_dead.then(rendezvous_addr).into_iter().collect();
            config
        };
        let game = |id: u64| {
            Config::new(0xB0).with(|config| {
                config.lobby.entropy = Some(plan.seed ^ id << 20 | 1);
                config.timeouts.join_timeout = match (plan.manual, plan.loss_percent) {
                    (true, _) => ms(600_000),
                    (false, 0) => ms(10_000),
                    // As a `Connection` has it.
                    (false, _) => ms(25_000),
                };
                if plan.waits {
                    config.timeouts.lost_after = ms(30_000);
                    config.timeouts.no_progress_after = ms(30_000);
                }
                config.lobby.user_data = NAME.to_vec();
            })
        };
        let mut seal = Seal::host(Randomness::Seeded(plan.seed ^ 0x5EA1)).unwrap();
        let key = seal.public_key().unwrap();
        let mut joining = Seal::join_by_signal(Randomness::Seeded(plan.seed ^ 0x701), key).unwrap();
        let (nats, invite, answer) = if plan.manual {
            let mut host = NatTraversal::host_manual(config(HOST)).unwrap();
            let offer: Offer = host.offer(ms(0), &mut seal).unwrap().to_string().parse().unwrap();
            assert_eq!(*offer.key(), key);
            let joiner = NatTraversal::join_manual(config(JOINER), &offer).unwrap();
            ([host, joiner], None, true)
        } else {
            let dead = plan.first_server_is_dead.then(|| at("198.51.100.9:3479"));
            let server = dead.unwrap_or_else(rendezvous_addr);
            let host = NatTraversal::host(config(HOST), server, &[7; 32]).unwrap();
            let lan = plan.invites_to_lan.then(|| inside(HOST));
            let invite = Invite::with_rendezvous(key, lan, host.rendezvous().unwrap()).unwrap();
            joining.ask_at(invite.addresses()).unwrap();
            let joiner = NatTraversal::join(config(JOINER), invite.rendezvous().unwrap()).unwrap();
            ([host, joiner], Some(invite), false)
        };
        let [nat, mut joining_nat] = nats;
        let answer =
            answer.then(|| joining_nat.answer(ms(0), &mut joining).unwrap().to_string().parse().unwrap());
        let host = Player::new(nat, seal, Lobby::host(game(0)).unwrap(), plan.frames);
        let lobby = Lobby::join(game(1), joining.target().unwrap()).unwrap();
        let joiner = Player::new(joining_nat, joining, lobby, plan.frames);
        for (id, player) in [host, joiner].into_iter().enumerate() {
            let start = ms(id as u64 * plan.joins_at_millis);
            world.add(inside(id), Clock::default(), start, Node::Player(player));
        }
        world.add(rendezvous_addr(), Clock::default(), ms(0), rendezvous(server(plan, plan.seed ^ 0x3E7)));
        let relay = RelayServer::new(relay_addr(), RELAY_PORTS);
        for port in relay.ports() {
            world.add(port.addr(), Clock::default(), ms(0), Node::Relay(port));
        }
        let mut internet = Self { world, nats: [None; 2], relay, invite, answer };
        for id in 0..2 {
            internet.connect(id, plan);
            let loss = Chance::percent(plan.loss_percent);
            let line = LinkConfig { loss, ..LinkConfig::new(ms(plan.latency_millis)) };
            for other in (0..internet.world.network().endpoints()).filter(|other| *other != id) {
                internet.set_line(id, other, line);
            }
        }
        internet
    }

    /// Sets both directions between two machines, unless a firewall is between them.
    pub(crate) fn set_line(&mut self, one: usize, two: usize, line: LinkConfig) {
        self.world.network_mut().set_links(one, two, line);
    }

    /// Puts a player behind its router.
    fn connect(&mut self, id: usize, plan: Plan) {
        let network = self.world.network_mut();
        let outside = at(&format!("203.0.113.{}:1", 1 + id)).ip();
        let nat = match plan.routers[id] {
            Router::Open => return,
            Router::Blocked => {
                for other in (0..network.endpoints()).filter(|other| ![id, RENDEZVOUS, RELAY].contains(other))
                {
                    network.set_down(id, other, true);
                    network.set_down(other, id, true);
                }
                return;
            }
            _ if plan.same_router && id == JOINER => self.nats[HOST].unwrap(),
            Router::Cone => network.add_nat(outside, NatKind::PortRestricted),
            Router::Symmetric => network.add_nat(outside, NatKind::Symmetric),
        };
        network.place_behind(id, nat);
        self.nats[id] = Some(nat);
    }

    /// The rendezvous loses everything that it knows.
    pub(crate) fn restart_rendezvous(&mut self, plan: Plan) {
        let seed = plan.seed ^ self.world.now().as_nanos() as u64;
        self.world.restart(RENDEZVOUS, Node::Rendezvous(server(plan, seed)));
    }

    pub(crate) fn player(&self, id: usize) -> &Player {
        match self.world.machine(id) {
            Node::Player(player) => player,
            _ => panic!("no player"),
        }
    }

    /// The address of a player as the rendezvous sees it.
    pub(crate) fn outside(&mut self, id: usize) -> SocketAddr {
        let now = self.world.now();
        self.world.network_mut().map(now, id, rendezvous_addr())
    }

    /// The datagrams that a player has sent since the network records, by the true time.
    pub(crate) fn said(&self, id: usize) -> impl Iterator<Item = &Entry> {
        let network = self.world.network();
        let sent = network.transcript().entries().iter().filter(|entry| entry.kind == EntryKind::Sent);
        sent.filter(move |entry| network.find(entry.from) == Some(id))
    }

    /// How many requests of a machine have asked the relay to end an allocation: REFRESH with a lifetime of 0.
    pub(crate) fn given_back(&self, id: usize) -> usize {
        let ends = |bytes: &[u8]| {
            bytes.starts_with(&[0x00, 0x04])
                && bytes.windows(8).any(|part| part == [0, 0x0D, 0, 4, 0, 0, 0, 0])
        };
        self.said(id).filter(|entry| ends(&entry.datagram)).count()
    }

    /// The host's player pastes the joiner's answer.
    pub(crate) fn take_answer(&mut self) {
        let (now, answer) = (self.world.now(), self.answer.clone().unwrap());
        let Node::Player(host) = self.world.machine_mut(HOST) else { panic!("no player") };
        let (nat, seal) = host.layers();
        nat.take_answer(now, seal, &answer).unwrap();
    }

    /// Runs until both players are in their match.
    pub(crate) fn begin(&mut self) {
        let began =
            |internet: &Self| [HOST, JOINER].iter().all(|id| internet.player(*id).began_at().is_some());
        assert!(self.run_until(ms(15_000), began), "no match. {}", self.report());
    }

    pub(crate) fn run_for(&mut self, time: Duration) {
        let end = self.world.now() + time;
        self.world.run_until(end);
    }

    /// Runs until `done`, at most for `limit`. Looks every 5 ms.
    pub(crate) fn run_until(&mut self, limit: Duration, done: impl Fn(&Self) -> bool) -> bool {
        let end = self.world.now() + limit;
        while self.world.now() < end && !done(self) {
            self.run_for(ms(5));
        }
        done(self)
    }

    /// Plays until both machines have agreed on the last state. Returns the progress of both in the match.
    pub(crate) fn play(&mut self, plan: Plan) -> [Progress; 2] {
        self.begin();
        self.run_for(ms(2_000));
        let progress = [HOST, JOINER].map(|id| self.player(id).progress());
        let limit = ms(u64::from(plan.frames) * 17 + 8_000);
        let over = |internet: &Self| [HOST, JOINER].iter().all(|id| internet.player(*id).verdict().is_some());
        assert!(self.run_until(limit, over), "{plan:?}: no verdict. {}", self.report());
        assert_eq!(self.player(HOST).verdict(), self.player(JOINER).verdict());
        progress
    }

    pub(crate) fn report(&self) -> String {
        let one = |id: usize| {
            let player = self.player(id);
            format!(
                "\n{id}: {:?}\n  events {:?}\n  error {:?}\n  {:?}\n  {:?}",
                player.told,
                player.peer.events,
                player.peer.error,
                player.nat().stats(),
                player.seal().stats()
            )
        };
        format!("at {:?}: {}{}\n{:?}", self.world.now(), one(0), one(1), self.world.network().stats())
    }
}
