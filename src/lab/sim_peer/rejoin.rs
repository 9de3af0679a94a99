//! A machine whose program can be killed, and the other one, which waits for it: the part of a machine that survives.

use super::{SimPeer, Stage};
use crate::connect::seal::{Randomness, Seal, public_rejoin_key};
use crate::lab::oracle::digest;
use crate::replay::{
    End, Header, Outcome, Recorder, Recording, Remembered, Resumption, StreamRecorder, Winner,
};
use crate::{Config, Cues, Event, Frame, Game, Lobby, Player, Session};
use std::net::SocketAddr;
use std::time::Duration;

/// Later than any simulated match.
const NEVER: Duration = Duration::from_secs(1_000_000);

/// Makes a game again, from the agreed seed and the seat of its machine.
pub type Remake<G> = Box<dyn Fn(u32, Player) -> G>;

/// The secret by which a machine comes back.
#[derive(Clone)]
pub struct SimTicket {
    /// The private key that the other machine admits.
    pub key: [u8; 32],
    /// The token of the match.
    pub token: u64,
    /// The address at which the other machine was last seen.
    pub peer: SocketAddr,
}

/// All that a machine keeps for a match in which a program may be killed.
pub(super) struct Rejoin<G> {
    config: Config,
    remake: Remake<G>,
    /// The match so far.
    replay: Recorder,
    key: Option<[u8; 32]>,
    /// The first frame that the oracle was not told of.
    next: Frame,
    /// The other machine is silent, and this one waits for it in a lobby.
    awaits: bool,
    lobby: Option<Lobby>,
    /// This machine was killed: its recording of the match, and the token, which the lobby of the rejoin replaces.
    own: Option<Recording>,
    token: u64,
    failure: Option<String>,
}

impl<G: Game> Rejoin<G> {
    fn begun(&mut self, seal: &Seal, session: &Session<G::Snapshot>) {
        self.replay = Recorder::new(session.agreed().seed);
        self.replay.set_first_state(session.agreed().first_state.clone());
        self.key = seal.rejoin_key(session.peer());
    }

    fn record(&mut self, frame: Frame, inputs: crate::Inputs) {
        if self.replay.record(frame, inputs).is_err() {
            self.failure = Some(format!("frame {frame} was confirmed out of order"));
        }
        self.next = frame.next();
    }

    pub(super) fn lobby_mut(&mut self) -> Option<&mut Lobby> {
        self.lobby.as_mut()
    }

    /// Whether the log is under way to the machine that comes back: the session sends nothing then.
    pub(super) fn hands_over(&self) -> bool {
        self.lobby.as_ref().is_some_and(|lobby| lobby.first_state_progress().is_some())
    }

    pub(super) fn poll_timeout(&self) -> Option<Duration> {
        self.lobby.as_ref().and_then(crate::Protocol::poll_timeout)
    }

    /// Follows the match of this machine: opens the lobby of a machine that is gone, and goes on with it.
    pub(super) fn advanced(
        &mut self,
        now: Duration,
        seal: &mut Seal,
        session: &mut Session<G::Snapshot>,
        game: &mut G,
    ) {
        session.confirmed().for_each(|(frame, inputs)| self.record(frame, inputs));
        let Some(key) = self.key.filter(|_| self.awaits && !session.ended()) else { return };
        if let Some(lobby) = &mut self.lobby
            && let Some(guest) = lobby.incoming().filter(|_| session.is_at_rest())
        {
            let replay = self.replay.replay();
            match Resumption::log_for(&guest.user_data, session, game, &self.config, replay) {
                Some(log) => lobby.accept_with(log),
                None => lobby.decline(),
            }
        }
        match self.lobby.as_ref().map(Lobby::agreed) {
            Some(Ok(None)) => {}
            Some(Ok(Some(_))) => {
                if let Some(lobby) = self.lobby.take()
                    && session.rejoin(now, game, lobby).is_ok()
                {
                    seal.dismiss_rejoiner(key);
                    (self.awaits, self.key) = (false, seal.rejoin_key(session.peer()));
                }
            }
            None | Some(Err(_)) => {
                self.lobby = Lobby::host(Resumption::host_config(session, &self.config)).ok();
                if self.lobby.is_some() {
                    let _ = seal.admit_rejoiner(key);
                }
            }
        }
    }

    pub(super) fn heard(&mut self, seal: &mut Seal, event: &Event) {
        self.awaits = match event {
            Event::Interrupted { .. } => true,
            Event::Resumed | Event::Ended(_) | Event::Disconnected { .. } => false,
            _ => return,
        };
        self.lobby = None;
        if let Some(key) = self.key.filter(|_| !self.awaits) {
            seal.dismiss_rejoiner(key);
        }
    }

    /// The recording of the match so far, as a program that was killed leaves it.
    fn recording(&self, seed: u32) -> Option<Recording> {
        let replay = self.replay.replay();
        let first_state = replay.first_state.clone();
        let header = Header { first_state, ..Header::of_offline(&self.config, seed) };
        let mut recorder = StreamRecorder::new(&header, Vec::new()).ok()?;
        for (frame, inputs) in (0..).map(Frame).zip(&replay.inputs) {
            recorder.record(frame, *inputs).ok()?;
        }
        let end = End { outcome: Outcome::Local, winner: Winner::Undecided };
        Recording::open(recorder.finish(end).ok()?).ok()
    }
}

fn remembered(token: u64, own: Option<&Recording>) -> Remembered<'_> {
    let seed = own.map_or(0, |own| own.header().seed);
    Remembered { token, seed, most_frames: u32::MAX, own }
}

impl<G: Game> SimPeer<G> {
    /// Lets the program of this machine be [killed](Self::kill), and wait for another one that was. The link must be sealed.
    /// `remake` makes the game of a program that comes back.
    pub fn keep_ticket(&mut self, config: Config, remake: impl Fn(u32, Player) -> G + 'static) {
        self.rejoin = Some(Box::new(Rejoin {
            config,
            remake: Box::new(remake),
            replay: Recorder::new(1),
            key: None,
            next: Frame::ZERO,
            awaits: false,
            lobby: None,
            own: None,
            token: 0,
            failure: None,
        }));
    }

    /// The secret by which this machine would come back; `None` without a match or a key.
    pub fn ticket(&self) -> Option<SimTicket> {
        let (session, key) = (self.session()?, self.rejoin.as_ref()?.key?);
        let peer = self.seal.as_ref()?.outer_addr(session.peer())?;
        (!session.ended()).then(|| SimTicket { key, token: session.agreed().token, peer })
    }

    /// Kills the program. Another one comes back with nothing but the ticket and the recording, once the machine is not
    /// [asleep](Self::asleep) any more. Returns the ticket; `None` if there is none, and then nothing is killed.
    pub fn kill(&mut self, seed: u64) -> Option<SimTicket> {
        let (ticket, game_seed) = (self.ticket()?, self.agreed()?.seed);
        let rejoin = self.rejoin.as_mut()?;
        (rejoin.own, rejoin.lobby, rejoin.awaits) = (rejoin.recording(game_seed), None, false);
        rejoin.token = ticket.token;
        self.come_by(seed, &ticket);
        self.asleep = true;
        Some(ticket)
    }

    /// Meets the machine that waits, by a ticket.
    fn come_by(&mut self, seed: u64, ticket: &SimTicket) {
        let Some(rejoin) = &mut self.rejoin else { return };
        let key = public_rejoin_key(ticket.key);
        self.seal = Seal::join(Randomness::Seeded(seed), key, &[ticket.peer]).ok();
        let target = self.seal.as_ref().and_then(Seal::target).unwrap_or(ticket.peer);
        let remembered = remembered(ticket.token, rejoin.own.as_ref());
        let mut config = Resumption::join_config(&rejoin.config, &remembered);
        config.lobby.entropy = Some(seed);
        let lobby = Lobby::join(config, target);
        self.error = lobby.as_ref().err().cloned();
        self.stage = Stage::Lobby(lobby.ok());
    }

    /// Somebody with a ticket, who was not in the match.
    pub fn impostor(config: Config, ticket: &SimTicket, seed: u64, play: crate::lab::Play<G>) -> Self
    where
        G: 'static,
    {
        let mut impostor = Self::in_stage(Err(crate::LobbyError::NotAgreed), play);
        impostor.keep_ticket(config, move |seed, _| (play.build)(seed));
        impostor.come_by(seed, ticket);
        // That it is let in is enough to know.
        impostor.begin_at = NEVER;
        impostor
    }

    /// Why this machine could not go on with its match.
    pub fn not_resumed(&self) -> Option<&str> {
        self.rejoin.as_ref()?.failure.as_deref()
    }

    /// Begins to keep the match that has just begun.
    pub(super) fn keep_match(&mut self) {
        if let (Some(rejoin), Some(seal), Stage::Match(session, _)) =
            (&mut self.rejoin, &self.seal, &self.stage)
        {
            rejoin.begun(seal, session);
        }
    }

    /// Steps the log of the match in which this machine was, and goes on with it. `false` if it was in none.
    pub(super) fn come_back(&mut self, now: Duration) -> bool {
        let Some(rejoin) = self.rejoin.as_mut().filter(|rejoin| rejoin.own.is_some()) else { return false };
        let Stage::Lobby(lobby) = &mut self.stage else { return false };
        let (Some(own), Some(lobby)) = (rejoin.own.take(), lobby.take()) else { return false };
        let (key, failure) = match Self::resumed(rejoin, &mut self.confirmed, now, &own, lobby) {
            Ok((session, game)) => {
                let key = self.seal.as_ref().and_then(|seal| seal.rejoin_key(session.peer()));
                self.stage = Stage::Match(session, game);
                (key, None)
            }
            Err(why) => (None, Some(why)),
        };
        (rejoin.key, rejoin.failure) = (key, failure);
        true
    }

    #[allow(clippy::type_complexity)]
    fn resumed(
        rejoin: &mut Rejoin<G>,
        confirmed: &mut std::collections::VecDeque<(Frame, crate::Inputs, Option<u64>)>,
        now: Duration,
        own: &Recording,
        mut lobby: Lobby,
    ) -> Result<(Session<G::Snapshot>, G), String> {
        let agreed = lobby.agreed().ok().flatten().ok_or("nothing was agreed on")?;
        let seat = agreed.seat;
        let seed = own.header().seed;
        let log = Resumption::read(&agreed.first_state, &rejoin.config, &remembered(rejoin.token, Some(own)));
        let log = log.map_err(|error| error.to_string())?;
        let first_state = log.recording().header().first_state.clone();
        lobby.set_first_state(first_state.clone());
        let mut game = (rejoin.remake)(seed, seat);
        // Frames that only the program that was killed knew never were.
        while confirmed.back().is_some_and(|(frame, ..)| *frame >= log.frame()) {
            confirmed.pop_back();
        }
        let known = rejoin.next.min(log.frame());
        rejoin.replay = Recorder::new(seed);
        rejoin.replay.set_first_state(first_state);
        let mut cues = Cues::unseen();
        for (frame, inputs) in (0..).map(Frame).zip(log.recording().inputs()) {
            cues.clear();
            game.step(inputs, &mut cues);
            rejoin.record(frame, inputs);
            if frame >= known {
                confirmed.push_back((frame, inputs, Some(digest(&game.snapshot()))));
            }
        }
        let resumed = log.resume(now, lobby, &game).map_err(|error| error.to_string())?;
        resumed.map(|session| (session, game)).map_err(|error| error.to_string())
    }
}
