//! Two players, spectators and hostile machines on a simulated network.

use core::time::Duration;
use games::duel::Duel;
use rebout::lab::link::{Chance, LinkConfig};
use rebout::lab::sim::{Clock, Machine, World};
use rebout::replay::{End, Header, Outcome, Recording, Viewer, Winner};
use rebout::{
    Broadcast, BroadcastConfig, BroadcastKey, Buttons, Config, Cues, Event, Game, Input, Inputs, Lobby,
    Player, Protocol, Session, Spectator, fields,
};
use std::net::SocketAddr;

pub(crate) const SECRET: [u8; 32] = [0x5A; 32];
pub(crate) const FRAME: Duration = Duration::from_nanos(16_666_667);

pub(crate) const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// The duel with an end of its own.
#[derive(Clone, Copy)]
pub(crate) struct Bout {
    pub(crate) duel: Duel,
    frame: u32,
    ends_at: u32,
}
fields!(Bout { duel, frame, ends_at });

impl Game for Bout {
    fn step(&mut self, inputs: Inputs, cues: &mut Cues) {
        self.duel.step(inputs, cues);
        self.frame += 1;
    }

    fn finished(&self) -> bool {
        self.frame >= self.ends_at
    }
}

pub(crate) fn bout(seed: u32, ends_at: u32) -> Bout {
    Bout { duel: Duel::new(seed), frame: 0, ends_at }
}

/// The buttons of a player, others every few frames.
pub(crate) fn held(player: Player, frame: u32) -> Input {
    let mixed = (frame / 7 + 1).wrapping_mul(0x9E37_79B9) ^ (player.index() as u32 + 1) << 20;
    Buttons((mixed.wrapping_mul(0xC2B2_AE35) >> 26) as u16).into()
}

pub(crate) fn key() -> BroadcastKey {
    Broadcast::new(BroadcastConfig::default(), &SECRET).key().unwrap()
}

pub(crate) fn link(latency_ms: u64, loss_percent: u32) -> LinkConfig {
    let mut link = LinkConfig::new(ms(latency_ms));
    link.loss = Chance::percent(loss_percent);
    link
}

/// A player's machine, which may have spectators.
pub(crate) struct PlayerNode {
    lobby: Option<Lobby>,
    pub(crate) session: Option<Session<Bout>>,
    pub(crate) game: Bout,
    pub(crate) broadcast: Option<Broadcast>,
    pub(crate) events: Vec<Event>,
    peer: SocketAddr,
}

/// A spectator, which may serve others.
pub(crate) struct WatcherNode {
    pub(crate) spectator: Spectator,
    pub(crate) relay: Option<Broadcast>,
    pub(crate) viewer: Option<Viewer<Bout>>,
    /// The bytes that the viewer has.
    shown: usize,
    ends_at: u32,
    every: Duration,
    next: Duration,
    /// The number of flipped bytes in what this machine passes on.
    pub(crate) flips: u32,
    /// When the viewer was live for the first time.
    pub(crate) live_at: Option<Duration>,
}

/// Datagrams to send.
pub(crate) type Out = Vec<(SocketAddr, Vec<u8>)>;

type Act = Box<dyn FnMut(Duration, &mut Out)>;
type Hears = Box<dyn FnMut(Duration, SocketAddr, &[u8], &mut Out)>;

/// A machine that does something of its own in every frame.
pub(crate) struct Rogue {
    act: Act,
    hears: Hears,
    out: Out,
    next: Duration,
}

#[allow(clippy::large_enum_variant)]
pub(crate) enum Node {
    Player(PlayerNode),
    Watcher(WatcherNode),
    Rogue(Rogue),
}

impl PlayerNode {
    fn turn(&mut self, now: Duration) {
        let agreed = self.lobby.as_ref().and_then(|lobby| lobby.agreed().ok().flatten()).cloned();
        if let Some(agreed) = agreed {
            let lobby = self.lobby.take().unwrap();
            self.game = bout(agreed.seed, self.game.ends_at);
            self.session = Some(lobby.start(now, &self.game).unwrap());
            if let Some(broadcast) = &mut self.broadcast {
                let names = ["Ada".to_owned(), "Bob".to_owned()];
                let header = Header { names, ..Header::of_match(&config(0), &agreed) };
                assert!(broadcast.begin(now, &header));
            }
        }
        let Some(session) = &mut self.session else { return };
        while session.frame_due(now) && !session.ended() {
            let input = held(session.local(), session.current().0);
            session.advance(now, &mut self.game, input);
            if let Some(broadcast) = &mut self.broadcast {
                broadcast.record(now, session);
            }
        }
        while let Some(event) = session.poll_event() {
            if let Some(broadcast) = &mut self.broadcast {
                broadcast.hear(now, session.local(), &event);
                let outcome = match &event {
                    Event::Ended(verdict) => Some(Outcome::from(*verdict)),
                    Event::Disconnected { reason } => Some(Outcome::Disconnected(*reason)),
                    _ => None,
                };
                if let Some(outcome) = outcome {
                    broadcast.finish(now, End { outcome, winner: Winner::Draw });
                }
            }
            self.events.push(event);
        }
    }

    /// Whether the end of the match was told.
    fn is_told(&self) -> bool {
        matches!(self.events.last(), Some(Event::Ended(_) | Event::Disconnected { .. }))
    }

    fn protocol(&mut self) -> &mut dyn Protocol {
        match (&mut self.session, &mut self.lobby) {
            (Some(session), _) => session,
            (None, lobby) => lobby.as_mut().unwrap(),
        }
    }
}

impl WatcherNode {
    fn turn(&mut self, now: Duration) {
        let bytes = self.spectator.bytes();
        if self.viewer.is_none()
            && let Ok(recording) = Recording::open(bytes.to_vec())
        {
            self.shown = bytes.len();
            let game = bout(recording.header().seed, self.ends_at);
            self.viewer = Some(Viewer::new(game, recording));
        }
        if let Some(viewer) = &mut self.viewer {
            viewer.append(&bytes[self.shown..]);
            self.shown = bytes.len();
            viewer.advance(now, 5_000, |_, _, _| {});
            if viewer.state() == rebout::replay::Viewing::Live {
                self.live_at.get_or_insert(now);
            }
        }
        if let Some(relay) = &mut self.relay {
            relay.follow(&self.spectator);
        }
    }
}

impl Protocol for Node {
    fn handle_datagram(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        match self {
            Self::Player(player) if from == player.peer => {
                player.protocol().handle_datagram(now, from, datagram);
            }
            Self::Player(player) => {
                if let Some(broadcast) = &mut player.broadcast {
                    broadcast.handle_datagram(now, from, datagram);
                }
            }
            Self::Watcher(watcher) => match &mut watcher.relay {
                Some(relay) if from != watcher.spectator.parent() => {
                    relay.handle_datagram(now, from, datagram);
                }
                relay => {
                    watcher.spectator.handle_datagram(now, from, datagram);
                    relay.iter_mut().for_each(|relay| relay.follow(&watcher.spectator));
                }
            },
            Self::Rogue(rogue) => (rogue.hears)(now, from, datagram, &mut rogue.out),
        }
    }

    fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        match self {
            Self::Player(player) => player
                .protocol()
                .poll_transmit(now, buf)
                .or_else(|| player.broadcast.as_mut()?.poll_transmit(now, buf)),
            Self::Watcher(watcher) => watcher.spectator.poll_transmit(now, buf).or_else(|| {
                let (to, len) = watcher.relay.as_mut()?.poll_transmit(now, buf)?;
                // The last byte of a DATA.
                if watcher.flips > 0 && buf[0] == 0x11 {
                    watcher.flips -= 1;
                    buf[len - 1] ^= 0x10;
                }
                Some((to, len))
            }),
            Self::Rogue(rogue) => {
                let (to, datagram) = rogue.out.pop()?;
                buf[..datagram.len()].copy_from_slice(&datagram);
                Some((to, datagram.len()))
            }
        }
    }

    fn poll_timeout(&self) -> Option<Duration> {
        let least = |one: Option<Duration>, two: Option<Duration>| [one, two].into_iter().flatten().min();
        match self {
            Self::Player(player) => {
                let own = match (&player.session, &player.lobby) {
                    (Some(session), _) => session.poll_timeout(),
                    (None, lobby) => lobby.as_ref().and_then(Protocol::poll_timeout),
                };
                least(own, player.broadcast.as_ref().and_then(Protocol::poll_timeout))
            }
            Self::Watcher(watcher) => least(
                watcher.spectator.poll_timeout(),
                watcher.relay.as_ref().and_then(Protocol::poll_timeout),
            ),
            Self::Rogue(_) => None,
        }
    }

    fn wants_attention(&self, now: Duration) -> bool {
        match self {
            Self::Player(player) => {
                let has_ended = player.session.as_ref().is_some_and(Session::ended) && !player.is_told();
                has_ended
                    || player.session.as_ref().is_some_and(|session| session.wants_attention(now))
                    || player.lobby.as_ref().is_some_and(|lobby| lobby.agreed().is_ok_and(|a| a.is_some()))
            }
            _ => false,
        }
    }
}

impl Machine for Node {
    fn next_frame_at(&self) -> Option<Duration> {
        match self {
            Self::Player(player) => {
                player.session.as_ref().filter(|session| !session.ended()).map(Session::next_frame_at)
            }
            Self::Watcher(watcher) => Some(watcher.next),
            Self::Rogue(rogue) => Some(rogue.next),
        }
    }

    fn frame(&mut self, now: Duration) {
        match self {
            Self::Player(player) => player.turn(now),
            Self::Watcher(watcher) => {
                watcher.next = now + watcher.every;
                watcher.turn(now);
            }
            Self::Rogue(rogue) => {
                rogue.next = now + FRAME;
                (rogue.act)(now, &mut rogue.out);
            }
        }
    }
}

pub(crate) fn config(side: usize) -> Config {
    Config::new(0xB0).with(|config| {
        config.lobby.entropy = Some(0x1234_5678_9ABC_DEF0 ^ (side as u64 + 1) << 40);
        config.rollback.delay_frames = Some(2);
        config.lobby.seed = Some(77);
    })
}

/// Two players at the endpoints 0 and 1, of whom the first may have spectators.
pub(crate) struct Stage {
    pub(crate) world: World<Node>,
    ends_at: u32,
    next_addr: u16,
}

impl Stage {
    /// A match that ends at frame `ends_at`, of players 20 ms from each other.
    pub(crate) fn new(ends_at: u32, config_of: Option<BroadcastConfig>) -> Self {
        let mut world = World::new(7);
        world.network_mut().set_default_link(LinkConfig::new(ms(20)));
        let addrs: [SocketAddr; 2] = [([10, 0, 0, 1], 7_000).into(), ([10, 0, 0, 2], 7_000).into()];
        let broadcast = config_of.map(|config| Broadcast::new(config, &SECRET));
        let lobbies = [Lobby::host(config(0)).unwrap(), Lobby::join(config(1), addrs[0]).unwrap()];
        for ((lobby, broadcast), side) in lobbies.into_iter().zip([broadcast, None]).zip(0..2) {
            let player = PlayerNode {
                lobby: Some(lobby),
                session: None,
                game: bout(1, ends_at),
                broadcast,
                events: Vec::new(),
                peer: addrs[1 - side],
            };
            world.add(addrs[side], Clock::default(), Duration::ZERO, Node::Player(player));
        }
        Self { world, ends_at, next_addr: 1 }
    }

    pub(crate) fn host_addr(&self) -> SocketAddr {
        ([10, 0, 0, 1], 7_000).into()
    }

    fn fresh_addr(&mut self) -> SocketAddr {
        self.next_addr += 1;
        let [high, low] = self.next_addr.to_be_bytes();
        ([10, 1, high, low], 7_000).into()
    }

    /// Adds a spectator of the broadcast at `parent` now, over this link.
    pub(crate) fn watch(&mut self, parent: usize, relay: Option<BroadcastConfig>, link: LinkConfig) -> usize {
        self.watch_every(parent, relay, link, FRAME)
    }

    pub(crate) fn watch_every(
        &mut self,
        parent: usize,
        relay: Option<BroadcastConfig>,
        link: LinkConfig,
        every: Duration,
    ) -> usize {
        let (addr, now) = (self.fresh_addr(), self.world.now());
        let watcher = WatcherNode {
            spectator: Spectator::new(now, key(), self.world.network().addr(parent)),
            relay: relay.map(Broadcast::relay),
            viewer: None,
            shown: 0,
            ends_at: self.ends_at,
            every,
            next: now,
            flips: 0,
            live_at: None,
        };
        let id = self.world.add(addr, Clock::default(), now, Node::Watcher(watcher));
        self.world.network_mut().set_links(parent, id, link);
        id
    }

    /// Adds a machine that sends whatever `act` and `hears` tell it to.
    pub(crate) fn rogue(
        &mut self,
        act: impl FnMut(Duration, &mut Out) + 'static,
        hears: impl FnMut(Duration, SocketAddr, &[u8], &mut Out) + 'static,
    ) -> usize {
        let (addr, next) = (self.fresh_addr(), self.world.now());
        let rogue = Rogue { act: Box::new(act), hears: Box::new(hears), out: Vec::new(), next };
        self.world.add(addr, Clock::default(), next, Node::Rogue(rogue))
    }

    pub(crate) fn run_for(&mut self, time: Duration) {
        let until = self.world.now() + time;
        self.world.run_until(until);
    }

    /// Runs until `done`; `false` if that takes longer than `limit`.
    pub(crate) fn run_until(&mut self, limit: Duration, done: impl Fn(&Self) -> bool) -> bool {
        let until = self.world.now() + limit;
        while !done(self) {
            if self.world.now() >= until {
                return false;
            }
            self.run_for(ms(5));
        }
        true
    }

    pub(crate) fn player(&self, side: usize) -> &PlayerNode {
        match self.world.machine(side) {
            Node::Player(player) => player,
            _ => panic!("{side} is no player"),
        }
    }

    pub(crate) fn host_mut(&mut self) -> &mut PlayerNode {
        match self.world.machine_mut(0) {
            Node::Player(player) => player,
            _ => panic!("0 is no player"),
        }
    }

    pub(crate) fn broadcast(&self) -> &Broadcast {
        self.player(0).broadcast.as_ref().unwrap()
    }

    pub(crate) fn watcher(&self, id: usize) -> &WatcherNode {
        match self.world.machine(id) {
            Node::Watcher(watcher) => watcher,
            _ => panic!("{id} is no spectator"),
        }
    }

    pub(crate) fn watcher_mut(&mut self, id: usize) -> &mut WatcherNode {
        match self.world.machine_mut(id) {
            Node::Watcher(watcher) => watcher,
            _ => panic!("{id} is no spectator"),
        }
    }

    /// The frame up to which both players' inputs are certain at the host.
    pub(crate) fn settled(&self) -> u32 {
        self.player(0).session.as_ref().map_or(0, |session| session.settled().0)
    }

    /// The checksum of the verdict that both players agree on, once there is one.
    pub(crate) fn verdict(&self) -> Option<u32> {
        let of = |side: usize| {
            self.player(side).events.iter().find_map(|event| match event {
                Event::Ended(rebout::Verdict::Agreed { checksum, .. }) => Some(*checksum),
                _ => None,
            })
        };
        of(0).filter(|checksum| of(1) == Some(*checksum))
    }

    /// Whether a spectator has seen the match to its end, with every checksum that of the players.
    pub(crate) fn has_seen_the_end(&self, id: usize) -> bool {
        let Some(viewer) = &self.watcher(id).viewer else { return false };
        let agreed = viewer.end().is_some_and(|end| {
            Some(end.outcome) == self.verdict().map(|checksum| Outcome::Agreed { checksum })
        });
        agreed && viewer.behind_frames() == 0 && viewer.verified().is_ok_and(|compared| compared > 0)
    }
}
