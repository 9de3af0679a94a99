//! One machine of a bout: a lobby, then a session, and the game it plays.

use super::sim::Machine;
use crate::{
    Advanced, Agreed, Buttons, Config, Event, Fields, Frame, Game, Inputs, Lobby, LobbyError, Player,
    Protocol, Save, Session, Stats, Visitor,
};
use std::collections::VecDeque;
use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

/// What a player holds, by the number of the frame that is being played.
pub type Script = fn(Player, u32, seed: u32) -> Buttons;

/// Buttons that change every fourth frame, as figures of other libraries are measured with.
pub fn every_fourth(player: Player, frame: u32, seed: u32) -> Buttons {
    let mixed =
        (frame / 4 + 1).wrapping_mul(0x9E37_79B9) ^ seed.wrapping_mul(0x85EB_CA6B) ^ player.index() as u32;
    Buttons((mixed.wrapping_mul(0xC2B2_AE35) >> 28) as u16)
}

/// A game, how it is built and what is done in it.
pub struct Play<G> {
    /// The first state, from a seed.
    pub build: fn(seed: u32) -> G,
    /// What the players do.
    pub script: Script,
}

impl<G> Copy for Play<G> {}
impl<G> Clone for Play<G> {
    fn clone(&self) -> Self {
        *self
    }
}

/// One machine: a lobby, then a session, and the game it plays.
pub struct Contestant<G: Game> {
    config: Config,
    target: Option<SocketAddr>,
    play: Play<G>,
    stage: Stage<G>,
    /// Frames confirmed here that the oracle has not looked at yet.
    pub(super) confirmed: VecDeque<(Frame, Inputs, u64)>,
    /// Every event, in order.
    pub events: Vec<(Duration, Event)>,
    /// Why there was no match.
    pub error: Option<LobbyError>,
    /// When the match began here.
    pub started_at: Option<Duration>,
    /// Called after every frame that was due.
    pub watch: Option<Watch<G>>,
    /// What the player holds, instead of what the script says.
    pub hands: Option<Hands<G>>,
    /// Changes the game when it has been built, for a machine that is not like the other.
    pub tamper: Option<fn(&mut G, Player)>,
    /// Does not begin before this time, although all is agreed on: a machine that loads for longer.
    pub begin_at: Duration,
    /// Makes the game instead of [`Play::build`], which still makes the oracle's.
    pub make: Option<Make<G>>,
    /// What the program around the game does to it before a frame, knowing what is held now.
    pub before: Option<fn(&mut G, Frame, Buttons)>,
    /// Leaves at this time.
    pub leave_at: Option<Duration>,
    /// The least time from one frame to the next: a machine that cannot keep up.
    pub least_frame: Duration,
    last_frame_at: Duration,
}

/// What a player holds at a time.
pub type Hands<G> = Box<dyn FnMut(Duration, &Session<<G as Save>::Snapshot>) -> Buttons>;

/// Makes a game from the agreed seed, for the seat that its machine was given.
pub type Make<G> = Box<dyn FnOnce(u32, Player) -> G>;

/// Looks at a machine after every frame.
pub type Watch<G> = Box<dyn FnMut(Duration, Advanced, &Session<<G as Save>::Snapshot>, &G)>;

#[allow(clippy::large_enum_variant)]
enum Stage<G: Game> {
    Lobby(Option<Lobby>),
    Match(Session<G::Snapshot>, G),
}

impl<G: Game> Contestant<G> {
    /// A host, or a joiner if it has a target.
    pub fn new(config: Config, target: Option<SocketAddr>, play: Play<G>) -> Self {
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
    pub fn anew(&self) -> Self {
        let entropy = self.config.entropy.map(|entropy| entropy ^ 0x5EED);
        let config = Config { entropy, ..self.config.clone() };
        Self::new(config, self.target, self.play)
    }

    /// The match, once it has begun.
    pub fn session(&self) -> Option<&Session<G::Snapshot>> {
        match &self.stage {
            Stage::Lobby(_) => None,
            Stage::Match(session, _) => Some(session),
        }
    }

    /// The match, to be acted on.
    pub fn session_mut(&mut self) -> Option<&mut Session<G::Snapshot>> {
        match &mut self.stage {
            Stage::Lobby(_) => None,
            Stage::Match(session, _) => Some(session),
        }
    }

    /// The lobby, before the match.
    pub fn lobby_mut(&mut self) -> Option<&mut Lobby> {
        match &mut self.stage {
            Stage::Lobby(lobby) => lobby.as_mut(),
            Stage::Match(..) => None,
        }
    }

    /// The game, once it has begun.
    pub fn game(&self) -> Option<&G> {
        match &self.stage {
            Stage::Lobby(_) => None,
            Stage::Match(_, game) => Some(game),
        }
    }

    /// Takes the game out of a match, which is over by that.
    pub fn take_game(&mut self) -> Option<G> {
        match std::mem::replace(&mut self.stage, Stage::Lobby(None)) {
            Stage::Lobby(_) => None,
            Stage::Match(_, game) => Some(game),
        }
    }

    /// What was agreed on.
    pub fn agreed(&self) -> Option<&Agreed> {
        self.session().map(Session::agreed)
    }

    /// The figures of the match.
    pub fn stats(&self) -> Stats {
        self.session().map(Session::stats).unwrap_or_default()
    }

    /// Whether the match is over here.
    pub fn ended(&self) -> bool {
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
pub(super) fn digest<S: Fields>(state: &S) -> u64 {
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
