//! Rejoining: the match goes on at the frame that both machines have for certain, after one of them was started again.
//!
//! The machine that has waited hosts a lobby beside its session, with the log of the match as the first state; the one that comes
//! back joins it, and steps the log. Both then stand at one frame, and a countdown runs like after a pause.

use super::Session;
use super::config::Config;
use super::event::Event;
use super::lobby::{Agreed, Handover, Lobby, LobbyError};
use crate::channel::keyed_hash::keyed_hash;
use crate::protocol::time::Time;
use crate::session::first_state::FirstState;
use crate::wire::message::{MAX_FIRST_STATE, MAX_USER_DATA};
use crate::{Fields, Frame, Game, Input, Inputs, Player, checksum};
use core::mem;
use core::time::Duration;

/// The part of a log that a session begins from.
pub(crate) struct ResumeAt<'a> {
    pub(crate) frame: Frame,
    /// The confirmed inputs before the frame, at least the newest ones.
    pub(crate) past: &'a [Inputs],
    /// The inputs of this machine's player that the other machine has beyond the frame.
    pub(crate) own: &'a [Input],
    /// The first state of the match.
    pub(crate) first_state: FirstState,
    /// Whether nothing here confirms the log.
    pub(crate) is_unconfirmed: bool,
}

/// The longest user data of a HELLO, in bytes.
pub(crate) const USER_DATA_LEN: usize = MAX_USER_DATA;

/// The hash of the first frames of the match with this token. Both machines know the key: it compares, and proves nothing to anybody else.
pub(crate) fn hash_of_frames(token: u64, inputs: impl Iterator<Item = Inputs>) -> u64 {
    let bytes: Vec<u8> =
        inputs.flat_map(|inputs| inputs.0).flat_map(|input| input.bits().to_be_bytes()).collect();
    keyed_hash((token, bytes.len() as u64), &bytes)
}

impl Config {
    /// The config of a lobby in which the machines of the match with this token meet again. Nobody else fits: the token is part of the
    /// content hash.
    pub(crate) fn to_rejoin(&self, token: u64) -> Self {
        let mut config = self.clone();
        config.game.content_hash = keyed_hash((token, self.game.content_hash), b"rebout rejoin");
        config.lobby.first_state = FirstState::default();
        config.lobby.first_state_limit = MAX_FIRST_STATE;
        config.lobby.ask_before_accepting = false;
        config
    }
}

impl<S: Fields> Session<S> {
    /// The state of the [settled](Self::settled) frame, if it is kept: the game is in it if nothing is predicted.
    pub(crate) fn settled_checksum<G: Game<Snapshot = S>>(&self, game: &G) -> Option<u32> {
        if self.settled() == self.current() {
            return Some(checksum(&game.snapshot()));
        }
        self.simulation.engine().snapshot(self.settled()).map(checksum)
    }

    /// The other player's inputs from the settled frame on, which are not stepped yet.
    pub(crate) fn others_ahead(&self) -> Vec<Input> {
        let (settled, known) = (self.settled(), self.simulation.known());
        self.simulation.engine().inputs(self.local().other(), settled, known.max(settled)).1.collect()
    }

    /// Whether the settled frame stays as it is while the other machine is gone: the frame for which a log is made. Otherwise frames
    /// that are known are stepped soon, or a countdown ends.
    #[cfg(any(feature = "lab", feature = "seal"))]
    pub(crate) fn is_at_rest(&self) -> bool {
        if self.pause.holds(self.simulation.current()) {
            return self.pause.resumes_at().is_none();
        }
        self.simulation.known() <= self.settled()
    }

    /// Goes on with the machine that has come back through `lobby`, whose config is that of
    /// [`Resumption::host_config`](crate::replay::Resumption::host_config). Predicted frames are undone, and the match stands at the settled
    /// one until a countdown is over ([`Event::Rejoined`]). `game` is as the last `advance` left it.
    ///
    /// # Errors
    /// If the lobby has not agreed, the match is over, or it has gone on since the log was made.
    pub fn rejoin<G: Game<Snapshot = S>>(
        &mut self,
        now: Duration,
        game: &mut G,
        lobby: Lobby,
    ) -> Result<(), LobbyError> {
        let mut handover = lobby.hand_over()?;
        let log = &handover.agreed.first_state;
        if !self.ending.is_playing() || log.get(4..8) != Some(&self.settled().0.to_be_bytes()[..]) {
            return Err(LobbyError::NotAgreed);
        }
        self.agreed.keep_in(&mut handover.agreed);
        if let Err(error) = self.simulation.undo_predicted(game) {
            self.state_failed(error);
            return Ok(());
        }
        let (frame, own_end, by) = (self.settled(), self.simulation.own_end(), self.local().other());
        let mut anew = Self::new(now.into(), game, handover);
        mem::swap(&mut anew.simulation, &mut self.simulation);
        mem::swap(&mut anew.watch, &mut self.watch);
        mem::swap(&mut anew.events, &mut self.events);
        mem::swap(&mut anew.liveness, &mut self.liveness);
        anew.ending = self.ending;
        *self = anew;
        self.liveness.returned(now.into());
        self.stream.resume_at(frame, own_end);
        self.stand(now.into(), by);
        Ok(())
    }

    /// Stands at the settled frame until `by`, whose machine was started again, resumes.
    fn stand(&mut self, now: Time, by: Player) {
        let frame = self.settled();
        self.watch.resume_at(frame, self.simulation.engine().saves_every());
        self.pause.stand(now, frame, by);
        self.traffic.stir();
        self.events.tell(Event::Rejoined { player: by, frame });
    }
}

impl Lobby {
    /// Goes on with a match that was agreed on again. `game` is in the state of the frame.
    ///
    /// # Errors
    /// If nothing was agreed on.
    pub(crate) fn resume<G: Game>(
        self,
        now: Duration,
        game: &G,
        at: ResumeAt<'_>,
    ) -> Result<Session<G::Snapshot>, LobbyError> {
        let mut handover: Handover = self.hand_over()?;
        handover.agreed.first_state = at.first_state;
        let mut session = Session::new(now.into(), game, handover);
        if at.is_unconfirmed {
            session.ending.take_their_log();
        }
        session.simulation.resume_at(at.frame, at.past, at.own);
        let own_end = session.simulation.own_end();
        session.stream.resume_at(own_end, own_end);
        let local = session.local();
        session.stand(now.into(), local);
        session.resume(now);
        Ok(session)
    }
}

impl Agreed {
    /// Keeps the first state and the user data of the match in terms that were agreed on again. The first state of a rejoin is
    /// the log, and its user data has a claim in front of the name.
    fn keep_in(&self, again: &mut Self) {
        again.first_state.clone_from(&self.first_state);
        again.user_data.clone_from(&self.user_data);
    }
}
