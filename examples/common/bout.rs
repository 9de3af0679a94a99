//! A bout: two machines in a simulated network, and an oracle that knows what should have happened.
//!
//! Shared by the tests, `netlab` and `stress`. Every confirmed frame of both machines is compared with a direct
//! simulation of the true inputs.

use core::time::Duration;
use rebout::net::sim::{Clock, LinkConfig, Machine, World};
use rebout::{
    Advanced, Agreed, Buttons, Config, Cues, Event, Fields, Frame, Game, Inputs, Lobby, LobbyError, Player,
    Protocol, Save, Session, Stats, Visitor,
};
use std::collections::VecDeque;
use std::fmt;
use std::net::SocketAddr;

/// What a player holds, by the number of the frame that is being played.
pub(crate) type Script = fn(Player, u32, seed: u32) -> Buttons;

/// Buttons that change every fourth frame, as figures of other libraries are measured with.
pub(crate) fn every_fourth(player: Player, frame: u32, seed: u32) -> Buttons {
    let mixed =
        (frame / 4 + 1).wrapping_mul(0x9E37_79B9) ^ seed.wrapping_mul(0x85EB_CA6B) ^ player.index() as u32;
    Buttons((mixed.wrapping_mul(0xC2B2_AE35) >> 28) as u16)
}

/// A game, how it is built and what is done in it.
pub(crate) struct Play<G> {
    /// The first state, from a seed.
    pub(crate) build: fn(seed: u32) -> G,
    /// What the players do.
    pub(crate) script: Script,
}

impl<G> Copy for Play<G> {}
impl<G> Clone for Play<G> {
    fn clone(&self) -> Self {
        *self
    }
}

/// One machine: a lobby, then a session, and the game it plays.
pub(crate) struct Contestant<G: Game> {
    config: Config,
    target: Option<SocketAddr>,
    play: Play<G>,
    stage: Stage<G>,
    /// Frames confirmed here that the oracle has not looked at yet.
    confirmed: VecDeque<(Frame, Inputs, u64)>,
    /// Every event, in order.
    pub(crate) events: Vec<(Duration, Event)>,
    /// Why there was no match.
    pub(crate) error: Option<LobbyError>,
    /// When the match began here.
    pub(crate) started_at: Option<Duration>,
    /// Called after every frame that was due.
    pub(crate) watch: Option<Watch<G>>,
    /// What the player holds, instead of what the script says.
    pub(crate) hands: Option<Hands<G>>,
    /// Changes the game when it has been built, for a machine that is not like the other.
    pub(crate) tamper: Option<fn(&mut G, Player)>,
    /// Does not begin before this time, although all is agreed on: a machine that loads for longer.
    pub(crate) begin_at: Duration,
    /// Makes the game instead of [`Play::build`], which still makes the oracle's.
    pub(crate) make: Option<Make<G>>,
    /// What the program around the game does to it before a frame, knowing what is held now.
    pub(crate) before: Option<fn(&mut G, Frame, Buttons)>,
    /// Leaves at this time.
    pub(crate) leave_at: Option<Duration>,
    /// The least time from one frame to the next: a machine that cannot keep up.
    pub(crate) least_frame: Duration,
    last_frame_at: Duration,
}

/// What a player holds at a time.
pub(crate) type Hands<G> = Box<dyn FnMut(Duration, &Session<<G as Save>::Snapshot>) -> Buttons>;

/// Makes a game from the agreed seed, for the seat that its machine was given.
pub(crate) type Make<G> = Box<dyn FnOnce(u32, Player) -> G>;

/// Looks at a machine after every frame.
pub(crate) type Watch<G> = Box<dyn FnMut(Duration, Advanced, &Session<<G as Save>::Snapshot>, &G)>;

#[allow(clippy::large_enum_variant)]
enum Stage<G: Game> {
    Lobby(Option<Lobby>),
    Match(Session<G::Snapshot>, G),
}

impl<G: Game> Contestant<G> {
    /// A host, or a joiner if it has a target.
    pub(crate) fn new(config: Config, target: Option<SocketAddr>, play: Play<G>) -> Self {
        let lobby = match target {
            None => Lobby::host(config.clone()),
            Some(target) => Lobby::join(config.clone(), target),
        };
        let (lobby, error) = match lobby {
            Ok(lobby) => (Some(lobby), None),
            Err(error) => (None, Some(error)),
        };
        Self {
            config,
            target,
            play,
            stage: Stage::Lobby(lobby),
            confirmed: VecDeque::with_capacity(256),
            events: Vec::new(),
            error,
            started_at: None,
            watch: None,
            hands: None,
            tamper: None,
            begin_at: Duration::ZERO,
            make: None,
            before: None,
            leave_at: None,
            least_frame: Duration::ZERO,
            last_frame_at: Duration::ZERO,
        }
    }

    /// The same machine, started anew.
    pub(crate) fn anew(&self) -> Self {
        let config = Config { entropy: self.config.entropy ^ 0x5EED, ..self.config.clone() };
        Self::new(config, self.target, self.play)
    }

    /// The match, once it has begun.
    pub(crate) fn session(&self) -> Option<&Session<G::Snapshot>> {
        match &self.stage {
            Stage::Lobby(_) => None,
            Stage::Match(session, _) => Some(session),
        }
    }

    /// The match, to be acted on.
    pub(crate) fn session_mut(&mut self) -> Option<&mut Session<G::Snapshot>> {
        match &mut self.stage {
            Stage::Lobby(_) => None,
            Stage::Match(session, _) => Some(session),
        }
    }

    /// The lobby, before the match.
    pub(crate) fn lobby_mut(&mut self) -> Option<&mut Lobby> {
        match &mut self.stage {
            Stage::Lobby(lobby) => lobby.as_mut(),
            Stage::Match(..) => None,
        }
    }

    /// The game, once it has begun.
    pub(crate) fn game(&self) -> Option<&G> {
        match &self.stage {
            Stage::Lobby(_) => None,
            Stage::Match(_, game) => Some(game),
        }
    }

    /// Takes the game out of a match, which is over by that.
    pub(crate) fn take_game(&mut self) -> Option<G> {
        match std::mem::replace(&mut self.stage, Stage::Lobby(None)) {
            Stage::Lobby(_) => None,
            Stage::Match(_, game) => Some(game),
        }
    }

    /// What was agreed on.
    pub(crate) fn agreed(&self) -> Option<&Agreed> {
        self.session().map(Session::agreed)
    }

    /// The figures of the match.
    pub(crate) fn stats(&self) -> Stats {
        self.session().map(Session::stats).unwrap_or_default()
    }

    /// Whether the match is over here.
    pub(crate) fn ended(&self) -> bool {
        self.error.is_some() || self.session().is_some_and(Session::ended)
    }

    fn begin(&mut self, now: Duration) {
        let Stage::Lobby(lobby) = &mut self.stage else { return };
        let agreed = match lobby.as_ref().map(Lobby::agreed) {
            Some(Ok(Some(agreed))) => agreed.clone(),
            Some(Err(error)) => {
                self.error = Some(error);
                return;
            }
            _ => return,
        };
        let mut game = match self.make.take() {
            None => (self.play.build)(agreed.seed),
            Some(make) => make(agreed.seed, agreed.seat),
        };
        if let Some(tamper) = self.tamper {
            tamper(&mut game, agreed.seat);
        }
        if let Some(Ok(session)) = lobby.take().map(|lobby| lobby.start(now, &game)) {
            self.stage = Stage::Match(session, game);
            self.started_at = Some(now);
        }
    }
}

impl<G: Game> Protocol for Contestant<G> {
    fn handle_datagram(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        match &mut self.stage {
            Stage::Lobby(Some(lobby)) => lobby.handle_datagram(now, from, datagram),
            Stage::Lobby(None) => {}
            Stage::Match(session, _) => {
                session.handle_datagram(now, from, datagram);
                // The last word may come in a datagram, and no frame after it.
                if session.ended() {
                    self.events.extend(std::iter::from_fn(|| session.poll_event()).map(|event| (now, event)));
                }
            }
        }
    }

    fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        match &mut self.stage {
            Stage::Lobby(lobby) => lobby.as_mut()?.poll_transmit(now, buf),
            Stage::Match(session, _) => session.poll_transmit(now, buf),
        }
    }

    fn poll_timeout(&self) -> Option<Duration> {
        match &self.stage {
            Stage::Lobby(lobby) => lobby.as_ref()?.poll_timeout(),
            Stage::Match(session, _) => session.poll_timeout(),
        }
    }

    fn wants_attention(&self, now: Duration) -> bool {
        match &self.stage {
            Stage::Lobby(lobby) => {
                let wants = lobby.as_ref().is_some_and(|lobby| lobby.wants_attention(now));
                wants && self.error.is_none() && now >= self.begin_at
            }
            Stage::Match(session, _) => {
                session.wants_attention(now) && now >= self.last_frame_at + self.least_frame
            }
        }
    }

    fn lingers(&self) -> bool {
        self.session().is_some_and(Protocol::lingers)
    }
}

impl<G: Game> Machine for Contestant<G> {
    fn next_frame_at(&self) -> Option<Duration> {
        let session = match &self.stage {
            Stage::Match(session, _) => session,
            // Only to begin late: otherwise the lobby itself says when it is done.
            Stage::Lobby(Some(lobby)) => {
                let agreed = self.begin_at > Duration::ZERO && matches!(lobby.agreed(), Ok(Some(_)));
                return agreed.then_some(self.begin_at);
            }
            Stage::Lobby(None) => return None,
        };
        // A match that is over still hears what ends it; nothing is due then.
        (!session.ended()).then(|| session.next_frame_at().max(self.last_frame_at + self.least_frame))
    }

    fn frame(&mut self, now: Duration) {
        if matches!(self.stage, Stage::Lobby(_)) {
            self.begin(now);
            return;
        }
        let (play, events, confirmed) = (&self.play, &mut self.events, &mut self.confirmed);
        let Stage::Match(session, game) = &mut self.stage else { return };
        self.last_frame_at = now;
        if self.leave_at.is_some_and(|at| now >= at) {
            session.leave();
        }
        let buttons = match &mut self.hands {
            Some(hands) => hands(now, session),
            None => (play.script)(session.local(), session.current().0, session.agreed().seed),
        };
        if let Some(before) = self.before {
            before(game, session.current(), buttons);
        }
        let advanced = session.advance(now, game, buttons);
        for (frame, inputs) in session.confirmed() {
            let after = frame.next();
            let digest = match session.snapshot(after) {
                Some(snapshot) if after < session.current() => digest(snapshot),
                _ => digest(&game.snapshot()),
            };
            confirmed.push_back((frame, inputs, digest));
        }
        while let Some(event) = session.poll_event() {
            events.push((now, event));
        }
        if let Some(watch) = &mut self.watch {
            watch(now, advanced, session, game);
        }
    }
}

/// A stronger digest than the checksum that travels: a difference must not hide from the oracle.
fn digest<S: Fields>(state: &S) -> u64 {
    struct Digest(u64);
    impl Visitor for Digest {
        fn leaf(&mut self, words: &[u32], _: &dyn fmt::Display) {
            for word in words {
                self.0 = (self.0.rotate_left(5) ^ u64::from(*word)).wrapping_mul(0x517C_C1B7_2722_0A95);
            }
        }
        fn bytes(&mut self, bytes: &[u8]) {
            for byte in bytes {
                self.leaf(&[u32::from(*byte)], &"");
            }
        }
    }
    let mut digest = Digest(0);
    state.visit(&mut digest);
    digest.0
}

/// A frame that came out differently from the direct simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Divergence {
    /// The frame.
    pub(crate) frame: Frame,
    /// Whose.
    pub(crate) player: Player,
    /// Whether it was given other inputs, or came to another state on the same inputs.
    pub(crate) inputs_differ: bool,
}

/// What is wrong with a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// The machines came to different states.
    Diverged(Divergence),
    /// A machine reported that they do.
    Reported(Event),
    /// The match was over before the run was.
    Over(Option<Event>),
    /// It proved nothing: the machines never met, or never confirmed a frame.
    NoMatch,
    /// It proved nothing: no input was predicted wrongly, so nothing was mended.
    NoMisprediction,
    /// It proved nothing: the inputs hardly changed the state.
    NoInfluence {
        /// After how many frames it was another than with nobody playing.
        frames: u64,
    },
}

impl Flaw {
    /// Whether the machines, or what they say of each other, differ.
    pub(crate) fn is_divergence(&self) -> bool {
        matches!(self, Self::Diverged(_) | Self::Reported(_))
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Diverged(Divergence { frame, player, inputs_differ }) => {
                let what = if *inputs_differ { "the inputs" } else { "the state" };
                write!(
                    f,
                    "{what} of frame {frame} differ at the machine of {player} from the direct simulation"
                )
            }
            Self::Reported(event) => write!(f, "a machine reported {event:?}"),
            Self::Over(event) => write!(f, "the match was over early: {event:?}"),
            Self::NoMatch => f.write_str("there was no match"),
            Self::NoMisprediction => f.write_str("nothing was mispredicted on a link with latency"),
            Self::NoInfluence { frames } => write!(f, "inputs changed the state of {frames} frames only"),
        }
    }
}

/// How two machines are brought together.
#[derive(Clone)]
pub(crate) struct Setup {
    /// From which everything random is drawn.
    pub(crate) seed: u64,
    /// The way from the first machine to the second, and back.
    pub(crate) links: [LinkConfig; 2],
    /// Both machines' configs; the first hosts.
    pub(crate) configs: [Config; 2],
    /// Both machines' clocks.
    pub(crate) clocks: [Clock; 2],
}

impl Setup {
    /// Two machines of the same kind on a link that is the same both ways. Delay 0, window 8.
    pub(crate) fn new(seed: u64, link: LinkConfig) -> Self {
        let config = |side: u64| {
            let mut config = Config::new(0xB0);
            config.entropy = seed.wrapping_mul(2).wrapping_add(side).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            config.delay_frames = Some(0);
            config.seed = Some(seed as u32 | 1);
            config
        };
        Self {
            seed,
            links: [link; 2],
            configs: [config(0), config(1)],
            clocks: [Clock::default(), Clock::default()],
        }
    }

    /// Changes both configs.
    #[must_use]
    pub(crate) fn configure(mut self, change: impl Fn(&mut Config)) -> Self {
        self.configs.iter_mut().for_each(change);
        self
    }
}

/// The addresses of the two machines.
pub(crate) fn addresses() -> [SocketAddr; 2] {
    [SocketAddr::from(([192, 0, 2, 1], 7001)), SocketAddr::from(([192, 0, 2, 2], 7002))]
}

/// Two machines, the network between them, and the oracle.
pub(crate) struct Bout<G: Game> {
    /// The simulation.
    pub(crate) world: World<Contestant<G>>,
    direct: Option<G>,
    build: fn(u32) -> G,
    /// Makes the oracle's game instead of [`Play::build`].
    pub(crate) make_direct: Option<Box<dyn FnOnce(u32) -> G>>,
    checked: Frame,
    /// The same game with nobody playing it; not beside an oracle of one's own making.
    idle: Option<G>,
    influenced: u64,
    divergence: Option<Divergence>,
    /// The true inputs of every checked frame, if they are wanted.
    record: Option<Vec<Inputs>>,
}

impl<G: Game> Bout<G> {
    /// Brings two machines together; nothing has happened yet.
    pub(crate) fn new(setup: Setup, play: Play<G>) -> Self {
        let mut world = World::new(setup.seed);
        let addresses = addresses();
        let [host, join] = setup.configs;
        let [one, two] = setup.clocks;
        let start = world.draw(Duration::from_millis(17));
        world.add(addresses[0], one, start, Contestant::new(host, None, play));
        let start = world.draw(Duration::from_millis(17));
        world.add(addresses[1], two, start, Contestant::new(join, Some(addresses[0]), play));
        world.network_mut().set_link(0, 1, setup.links[0]);
        world.network_mut().set_link(1, 0, setup.links[1]);
        world.network_mut().reserve(512);
        Self {
            world,
            direct: None,
            build: play.build,
            make_direct: None,
            checked: Frame::ZERO,
            idle: None,
            influenced: 0,
            divergence: None,
            record: None,
        }
    }

    /// A machine.
    pub(crate) fn machine(&self, id: usize) -> &Contestant<G> {
        self.world.machine(id)
    }

    /// Runs for `time` of virtual time, and checks every frame that both have confirmed.
    pub(crate) fn run_for(&mut self, time: Duration) {
        let end = self.world.now() + time;
        while self.world.now() < end {
            // In short stretches, so that what waits for the oracle stays small.
            let stretch = (self.world.now() + Duration::from_millis(500)).min(end);
            self.world.run_until(stretch);
            self.check();
        }
    }

    /// Runs until `done` says so, or `limit` of virtual time is over. Whether it was done.
    pub(crate) fn run_until(&mut self, limit: Duration, done: impl Fn(&Self) -> bool) -> bool {
        let end = self.world.now() + limit;
        while self.world.now() < end {
            if done(self) {
                return true;
            }
            self.run_for(Duration::from_millis(100));
        }
        done(self)
    }

    /// Runs until both machines have confirmed this frame.
    pub(crate) fn run_until_frame(&mut self, frame: u32) -> bool {
        self.run_until(Duration::from_secs(60 + u64::from(frame) / 10), |bout| bout.checked >= Frame(frame))
    }

    fn check(&mut self) {
        if self.direct.is_none()
            && let Some(seed) = self.machine(0).agreed().map(|agreed| agreed.seed)
        {
            (self.direct, self.idle) = match self.make_direct.take() {
                None => (Some((self.build)(seed)), Some((self.build)(seed))),
                Some(make) => (Some(make(seed)), None),
            };
        }
        let Some(direct) = &mut self.direct else { return };
        let mut cues = Cues::new();
        loop {
            let both = [0, 1].map(|id| self.world.machine(id).confirmed.front().copied());
            let [Some(one), Some(two)] = both else { return };
            let seats = [0, 1].map(|id| self.world.machine(id).session().map(Session::local));
            let mut truth = Inputs::default();
            for (seat, (_, inputs, _)) in seats.iter().zip([one, two]) {
                if let Some(player) = *seat {
                    truth[player] = inputs[player];
                }
            }
            cues.clear();
            direct.step(truth, &mut cues);
            if let Some(record) = &mut self.record {
                record.push(truth);
            }
            let expected = digest(&direct.snapshot());
            for ((frame, inputs, digest), seat) in [one, two].into_iter().zip(seats) {
                if self.divergence.is_none()
                    && (inputs != truth || digest != expected || frame != self.checked)
                {
                    let player = seat.unwrap_or(Player::One);
                    self.divergence = Some(Divergence { frame, player, inputs_differ: inputs != truth });
                }
            }
            if let Some(idle) = &mut self.idle {
                idle.step(Inputs::default(), &mut cues);
                self.influenced += u64::from(expected != digest(&idle.snapshot()));
            }
            self.checked = self.checked.next();
            for id in 0..2 {
                self.world.machine_mut(id).confirmed.pop_front();
            }
        }
    }

    /// Keeps the true inputs of every frame from here on.
    pub(crate) fn record(&mut self) {
        self.record.get_or_insert_default();
    }

    /// The true inputs that were kept.
    pub(crate) fn take_record(&mut self) -> Vec<Inputs> {
        self.record.take().unwrap_or_default()
    }

    /// How many frames both machines have confirmed and the oracle has checked.
    pub(crate) fn checked(&self) -> Frame {
        self.checked
    }

    /// The first frame that came out differently.
    pub(crate) fn divergence(&self) -> Option<Divergence> {
        self.divergence
    }

    /// After how many of the checked frames the state was another than it would be with nobody playing.
    pub(crate) fn influenced(&self) -> u64 {
        self.influenced
    }

    /// What is wrong with the run so far, the worst first; `latent` says that the link has latency, so that something
    /// must have been mispredicted.
    pub(crate) fn flaw(&self, latent: bool) -> Option<Flaw> {
        if let Some(divergence) = self.divergence {
            return Some(Flaw::Diverged(divergence));
        }
        let machines = [self.machine(0), self.machine(1)];
        let alarm = |event: &&Event| matches!(event, Event::Desync(_) | Event::InputConflict { .. });
        let mut told = machines.iter().flat_map(|machine| &machine.events).map(|(_, event)| event);
        if let Some(event) = told.find(alarm) {
            return Some(Flaw::Reported(event.clone()));
        }
        if self.checked == Frame::ZERO {
            return Some(Flaw::NoMatch);
        }
        if let Some(machine) = machines.iter().find(|machine| machine.ended()) {
            return Some(Flaw::Over(machine.events.last().map(|(_, event)| event.clone())));
        }
        if latent && machines.iter().any(|machine| machine.stats().rollback.rollbacks == 0) {
            return Some(Flaw::NoMisprediction);
        }
        if self.idle.is_some() && self.influenced < u64::from(self.checked.0) / 2 {
            return Some(Flaw::NoInfluence { frames: self.influenced });
        }
        None
    }

    /// The directly simulated game.
    pub(crate) fn direct(&self) -> Option<&G> {
        self.direct.as_ref()
    }
}
