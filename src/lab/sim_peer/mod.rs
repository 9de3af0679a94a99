//! One machine of a simulated match: a lobby, then a session, and the game it plays.

mod driven;
mod layers;
#[cfg(feature = "seal")]
mod rejoin;
#[cfg(feature = "seal")]
mod watching;

use super::{Overheard, Play};
#[cfg(feature = "nat")]
use crate::Protocol;
#[cfg(feature = "nat")]
use crate::connect::nat::NatTraversal;
#[cfg(feature = "seal")]
use crate::connect::seal::Seal;
use crate::{
    Advanced, Agreed, Config, Event, Frame, Game, Input, Inputs, Lobby, LobbyError, Player, Refusals, Save,
    Session, Stats,
};
use std::collections::VecDeque;
use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

#[cfg(feature = "seal")]
pub use rejoin::{Remake, SimTicket};
#[cfg(feature = "seal")]
pub use watching::WatchKeys;

/// The confirmed frames for which memory is allocated at the start; the oracle takes them out every 500 ms.
const CONFIRMED_FRAMES: usize = 256;

/// One machine: a lobby, then a session, and the game it plays.
pub struct SimPeer<G: Game> {
    /// The config and the target that the lobby was made from, for [`anew`](Self::anew).
    entry: Option<(Config, Option<SocketAddr>)>,
    play: Play<G>,
    stage: Stage<G>,
    /// Frames confirmed here that the oracle has not looked at yet.
    pub(super) confirmed: VecDeque<(Frame, Inputs, Option<u64>)>,
    /// Every event, in order.
    pub events: Vec<(Duration, Event)>,
    /// The reason why there was no match.
    pub error: Option<LobbyError>,
    /// The local time at which the match began here.
    pub started_at: Option<Duration>,
    /// Called after every frame that was due.
    pub watch: Option<Watch<G>>,
    /// Returns the buttons of the player, instead of the script.
    pub input_source: Option<InputSource<G>>,
    /// Changes the game right after it was built, for a machine that differs from the other.
    pub tamper: Option<fn(&mut G, Player)>,
    /// The match does not begin here before this time, like on a machine that loads for longer.
    pub begin_at: Duration,
    /// Makes the game instead of [`Play::build`], which still makes the oracle's.
    pub make: Option<Make<G>>,
    /// Changes the game before every frame, like the program around it might; it is given the buttons of this frame.
    pub before: Option<fn(&mut G, Frame, Input)>,
    /// The local time at which the player leaves.
    pub leave_at: Option<Duration>,
    /// The machine neither sends nor receives, like a program that is not started yet or was killed.
    pub asleep: bool,
    /// The newest numbers in the machine's traffic, after [`SimMatch::eavesdrop`](super::SimMatch::eavesdrop).
    pub overheard: Option<Overheard>,
    /// The seal around the lobby and the match. A bare link has none.
    #[cfg(feature = "seal")]
    pub seal: Option<Seal>,
    /// The NAT traversal around the seal. It needs one.
    #[cfg(feature = "nat")]
    pub nat: Option<NatTraversal>,
    /// What survives the program, in a match in which one may be killed.
    #[cfg(feature = "seal")]
    rejoin: Option<Box<rejoin::Rejoin<G>>>,
    /// The spectators of the match.
    #[cfg(feature = "seal")]
    audience: Option<Box<watching::Audience>>,
    /// The spectator that this machine is, instead of a player's.
    #[cfg(feature = "seal")]
    spectator: Option<Box<crate::Spectator>>,
    /// The server that this machine is, instead of a player's.
    #[cfg(feature = "nat")]
    server: Option<Box<dyn Protocol>>,
    /// The seat of the machine, from the start of the match on.
    pub(super) seat: Option<Player>,
    /// The shortest time from one frame to the next, for a machine that cannot keep up.
    pub min_frame_length: Duration,
    /// A mistake of the program: its times of frames are ahead of those of its datagrams by this much.
    pub frames_ahead_by: Duration,
    last_frame_at: Duration,
}

/// Returns the input that a player gives at a local time, in the game that the machine shows.
pub type InputSource<G> = Box<dyn FnMut(Duration, &Session<<G as Save>::Snapshot>, &G) -> Input>;

/// Makes a game from the agreed seed and the seat of its machine.
pub type Make<G> = Box<dyn FnOnce(u32, Player) -> G>;

/// Looks at a machine after every frame.
pub type Watch<G> = Box<dyn FnMut(Duration, Advanced, &Session<<G as Save>::Snapshot>, &G)>;

#[allow(clippy::large_enum_variant)]
enum Stage<G: Game> {
    Lobby(Option<Lobby>),
    Match(Session<G::Snapshot>, G),
}

impl<G: Game> SimPeer<G> {
    /// A host, or a joiner if there is a target.
    pub fn new(config: Config, target: Option<SocketAddr>, play: Play<G>) -> Self {
        let lobby = match target {
            None => Lobby::host(config.clone()),
            Some(target) => Lobby::join(config.clone(), target),
        };
        Self { entry: Some((config, target)), ..Self::in_stage(lobby, play) }
    }

    /// A machine in a lobby that the caller made.
    pub fn in_lobby(lobby: Lobby, play: Play<G>) -> Self {
        Self::in_stage(Ok(lobby), play)
    }

    /// A server in the network of a match, which plays nothing.
    #[cfg(feature = "nat")]
    pub(in crate::lab) fn server(server: Box<dyn Protocol>, play: Play<G>) -> Self {
        let peer = Self::in_stage(Err(LobbyError::NotAgreed), play);
        Self { error: None, server: Some(server), ..peer }
    }

    fn in_stage(lobby: Result<Lobby, LobbyError>, play: Play<G>) -> Self {
        let (lobby, error) = match lobby {
            Ok(lobby) => (Some(lobby), None),
            Err(error) => (None, Some(error)),
        };
        Self {
            entry: None,
            play,
            stage: Stage::Lobby(lobby),
            confirmed: VecDeque::with_capacity(CONFIRMED_FRAMES),
            events: Vec::new(),
            error,
            started_at: None,
            watch: None,
            input_source: None,
            tamper: None,
            begin_at: Duration::ZERO,
            make: None,
            before: None,
            leave_at: None,
            asleep: false,
            overheard: None,
            #[cfg(feature = "seal")]
            seal: None,
            #[cfg(feature = "nat")]
            nat: None,
            #[cfg(feature = "seal")]
            rejoin: None,
            #[cfg(feature = "seal")]
            audience: None,
            #[cfg(feature = "seal")]
            spectator: None,
            #[cfg(feature = "nat")]
            server: None,
            seat: None,
            min_frame_length: Duration::ZERO,
            frames_ahead_by: Duration::ZERO,
            last_frame_at: Duration::ZERO,
        }
    }

    /// The same machine, started again with other randomness.
    ///
    /// # Panics
    ///
    /// When the caller made its lobby: then there is no config to make another one from.
    #[must_use]
    pub fn anew(&self) -> Self {
        let (config, target) = self.entry.as_ref().expect("the machine made its lobby itself");
        let entropy = config.lobby.entropy.map(|entropy| entropy ^ 0x5EED);
        Self::new(config.clone().with(|config| config.lobby.entropy = entropy), *target, self.play)
    }

    /// A copy of the machine.
    pub(super) fn fork(&self) -> Self
    where
        G: Clone,
        G::Snapshot: Clone,
    {
        let closures = self.watch.is_some() || self.input_source.is_some() || self.make.is_some();
        assert!(!closures, "the closures of a machine cannot be copied");
        assert!(self.is_bare(), "a seal cannot be copied");
        let mut confirmed = VecDeque::with_capacity(self.confirmed.capacity());
        confirmed.extend(&self.confirmed);
        Self {
            entry: self.entry.clone(),
            play: self.play,
            stage: match &self.stage {
                Stage::Lobby(lobby) => Stage::Lobby(lobby.clone()),
                Stage::Match(session, game) => Stage::Match(session.clone(), game.clone()),
            },
            confirmed,
            events: self.events.clone(),
            overheard: self.overheard.clone(),
            #[cfg(feature = "seal")]
            seal: None,
            #[cfg(feature = "nat")]
            nat: None,
            #[cfg(feature = "seal")]
            rejoin: None,
            #[cfg(feature = "seal")]
            audience: None,
            #[cfg(feature = "seal")]
            spectator: None,
            #[cfg(feature = "nat")]
            server: None,
            watch: None,
            input_source: None,
            make: None,
            ..*self
        }
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

    /// Takes the game out of the match, and ends the match by it.
    pub fn take_game(&mut self) -> Option<G> {
        match std::mem::replace(&mut self.stage, Stage::Lobby(None)) {
            Stage::Lobby(_) => None,
            Stage::Match(_, game) => Some(game),
        }
    }

    /// The dropped datagrams by reason.
    pub fn refused(&self) -> Refusals {
        match &self.stage {
            Stage::Lobby(lobby) => lobby.as_ref().map(|lobby| *lobby.refused()).unwrap_or_default(),
            Stage::Match(session, _) => session.stats().refused,
        }
    }

    /// Whether the machine has agreed on a match, in the lobby or since.
    pub fn has_agreed(&self) -> bool {
        match &self.stage {
            Stage::Lobby(lobby) => lobby.as_ref().is_some_and(|lobby| matches!(lobby.agreed(), Ok(Some(_)))),
            Stage::Match(..) => true,
        }
    }

    /// The terms that were agreed on, once the match has begun.
    pub fn agreed(&self) -> Option<&Agreed> {
        self.session().map(Session::agreed)
    }

    /// The statistics of the match; all zero before it.
    pub fn stats(&self) -> Stats {
        self.session().map(Session::stats).unwrap_or_default()
    }

    /// Whether the match is over here.
    pub fn ended(&self) -> bool {
        self.error.is_some() || self.session().is_some_and(Session::ended)
    }

    /// Whether nothing is sealed.
    pub fn is_bare(&self) -> bool {
        #[cfg(feature = "seal")]
        return self.seal.is_none();
        #[cfg(not(feature = "seal"))]
        return true;
    }

    fn begin(&mut self, now: Duration) {
        let Stage::Lobby(lobby) = &self.stage else { return };
        let agreed = match lobby.as_ref().map(Lobby::agreed) {
            Some(Ok(Some(agreed))) => agreed.clone(),
            Some(Err(error)) => {
                self.error = Some(error);
                return;
            }
            _ => return,
        };
        self.seat = Some(agreed.seat);
        #[cfg(feature = "seal")]
        if self.come_back(now) {
            return;
        }
        let Stage::Lobby(lobby) = &mut self.stage else { return };
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
            #[cfg(feature = "seal")]
            self.keep_match();
        }
    }
}

impl<G: Game> fmt::Debug for SimPeer<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stage = match &self.stage {
            Stage::Lobby(lobby) => format!("{:?}", lobby.as_ref().map(Lobby::agreed)),
            Stage::Match(session, _) => format!("frame {}", session.current()),
        };
        let refused: Vec<_> = self.refused().iter().collect();
        write!(f, "{stage}, {:?}, refused {refused:?}", self.events)
    }
}
