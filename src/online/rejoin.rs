//! Coming back into a match, and waiting for the other machine to come back.
//!
//! Both machines keep a ticket while they play. When the other one falls silent, this one admits its holder and hosts a lobby beside
//! the session, with the log of the match as its first state.

use super::options::Match;
#[cfg(feature = "udp")]
use crate::Invite;
use crate::net::ticket::{SpectatorKeys, Ticket};
use crate::net::{Datagrams, dated};
use crate::protocol::{Authenticated, ConnectionStep, PeerRole};
use crate::replay::{Recording, Remembered, Replay, Resumption, ResumptionError};
use crate::{Config, ConnectError, Connection, Fields, Game, Lobby, Protocol, Session};
use core::fmt;
use core::time::Duration;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// The address of the other machine is looked at again after this many frames: a path may change.
const LOOK_EVERY_FRAMES: u32 = 256;

/// The clocks of a machine may have been set by this much between two of its programs.
const MAX_CLOCK_SECS: u64 = 120;

const NO_RECORDING: &str = "This machine has no recording of the match: it resumes from the log of the other one, which nothing here confirms.";

/// The part of an online match that survives the end of a program.
#[derive(Debug, Default)]
pub(super) struct Rejoin {
    kept: Option<Kept>,
    /// The key by which the other machine has come back: it may need the room of that key again, to find another path.
    came_by: Option<Key>,
    /// The other machine may come back: it is silent.
    awaits: bool,
    /// The lobby in which it does.
    lobby: Option<Lobby>,
    /// The ticket by which this machine comes back, and the log that it got.
    returning: Option<Returns>,
    resumption: Option<Resumption>,
}

/// The ticket of this machine, its file, and the key by which the other machine comes back.
#[derive(Debug)]
struct Kept {
    key: Key,
    ticket: Ticket,
    path: PathBuf,
}

/// A key of the match, which is never printed.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Key([u8; 32]);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key")
    }
}

impl Rejoin {
    /// A machine that comes back.
    pub(super) fn with(returns: Returns) -> Self {
        Self { returning: Some(returns), ..Self::default() }
    }

    /// The log that this machine steps, once.
    pub(super) fn take_resumption(&mut self) -> Option<Resumption> {
        self.resumption.take()
    }

    /// Keeps a ticket of the match that begins or goes on; returns a notice if that fails.
    pub(super) fn keep<S: Fields, D: Datagrams>(
        &mut self,
        options: &Match,
        connection: &Connection<D>,
        session: &Session<S>,
        (recording, spectators): (Option<&Path>, Option<SpectatorKeys>),
    ) -> Option<String> {
        let began_secs = self.began_secs();
        self.forget();
        if let Some(returns) = self.returning.take() {
            dated::remove(&returns.file);
        }
        let folder = options.rejoin_in.as_ref()?;
        let agreed = session.agreed();
        // Without encryption nobody could prove that it was here.
        let key = connection.rejoin_key(session.peer())?;
        let ticket = Ticket {
            invite: connection.rejoin_text(key, session.peer())?,
            token: agreed.token,
            seed: agreed.seed,
            port: connection.port(),
            began_secs,
            relay: connection.relay_word().to_owned(),
            spectators,
            recording: recording.and_then(Ticket::recording_at),
        };
        match ticket.write_in(folder) {
            Ok(path) => {
                self.kept = Some(Kept { key: Key(key), ticket, path });
                None
            }
            Err(error) => Some(format!("No file to come back by is in {}: {error}", folder.display())),
        }
    }

    fn began_secs(&self) -> u64 {
        let returning = self.returning.as_ref().map(|returns| &returns.ticket);
        let before = returning.or(self.kept.as_ref().map(|kept| &kept.ticket));
        before.map_or_else(dated::secs, |ticket| ticket.began_secs)
    }

    /// Whether the ticket is looked at again in this frame.
    pub(super) fn looks<S: Fields>(session: &Session<S>) -> bool {
        session.current().0.is_multiple_of(LOOK_EVERY_FRAMES)
    }

    /// Rewrites the ticket if the other machine has another address by now, or the invite to watch has changed.
    pub(super) fn look<S: Fields, D: Datagrams>(
        &mut self,
        options: &Match,
        connection: &Connection<D>,
        session: &Session<S>,
        spectators: Option<SpectatorKeys>,
    ) {
        let (Some(Kept { key, ticket, path }), Some(folder)) = (&mut self.kept, &options.rejoin_in) else {
            return;
        };
        let invite = connection.rejoin_text(key.0, session.peer());
        let invite = invite.unwrap_or_else(|| ticket.invite.clone());
        if invite == ticket.invite && spectators == ticket.spectators {
            return;
        }
        (ticket.invite, ticket.spectators) = (invite, spectators);
        // The old file stays good until the new one is there.
        if let Ok(new) = ticket.write_in(folder) {
            dated::remove(&core::mem::replace(path, new));
        }
    }

    /// Deletes the ticket: the match is over.
    pub(super) fn forget(&mut self) {
        if let Some(kept) = self.kept.take() {
            dated::remove(&kept.path);
        }
    }

    #[inline]
    pub(super) fn is_kept(&self) -> bool {
        self.kept.is_some()
    }

    /// The other machine is silent, or is back by itself.
    pub(super) fn set_awaits<D: Datagrams>(&mut self, awaits: bool, connection: &mut Connection<D>) {
        self.awaits = awaits && self.kept.is_some();
        self.lobby = None;
        if let Some(Kept { key, .. }) = &self.kept
            && !awaits
        {
            connection.dismiss_rejoiner(key.0);
            if self.came_by != Some(*key) {
                connection.close_rejoin_room(key.0);
            }
        }
    }

    #[inline]
    pub(super) fn awaits(&self) -> bool {
        self.awaits
    }

    /// The lobby in which the other machine comes back.
    pub(super) fn lobby_mut(&mut self) -> Option<&mut Lobby> {
        self.lobby.as_mut()
    }

    /// Opens the lobby, or goes on with the machine that has come back. Whether it has.
    pub(super) fn receive<G: Game, D: Datagrams>(
        &mut self,
        now: Duration,
        options: &Match,
        connection: &mut Connection<D>,
        session: &mut Session<G::Snapshot>,
        game: &mut G,
        replay: &Replay,
    ) -> bool {
        let Some(Kept { key, .. }) = self.kept.as_ref().filter(|_| !session.ended()) else { return false };
        if let Some(lobby) = &mut self.lobby
            && let Some(guest) = lobby.incoming().filter(|_| session.is_at_rest())
        {
            match Resumption::log_for(&guest.user_data, session, game, &options.config, replay) {
                Some(log) => lobby.accept_with(log),
                None => lobby.decline(),
            }
        }
        match self.lobby.as_ref().map(Lobby::agreed) {
            Some(Ok(None)) => false,
            Some(Ok(Some(_))) => match self.lobby.take().map(|lobby| session.rejoin(now, game, lobby)) {
                Some(Ok(())) => {
                    if let Some(before) = self.came_by.replace(*key) {
                        connection.close_rejoin_room(before.0);
                    }
                    connection.become_host();
                    true
                }
                _ => false,
            },
            None | Some(Err(_)) => {
                self.lobby = Lobby::host(Resumption::host_config(session, &options.config)).ok();
                if self.lobby.is_some() {
                    connection.admit_rejoiner(key.0);
                }
                false
            }
        }
    }

    /// Takes the log that the other machine has handed over out of the lobby, and compares it with this machine's recording. A notice
    /// follows if there is none. Does nothing unless this machine comes back, and only once.
    ///
    /// # Errors
    /// Why the match cannot continue.
    pub(super) fn take_log(
        &mut self,
        options: &Match,
        lobby: &mut Lobby,
    ) -> Result<Option<String>, ResumptionError> {
        let Some(returns) = self.returning.as_ref().filter(|_| self.resumption.is_none()) else {
            return Ok(None);
        };
        let Ok(Some(agreed)) = lobby.agreed() else { return Ok(None) };
        let log = agreed.first_state.clone();
        let resumption = Resumption::read(&log, &options.config, &returns.remembered(&options.config))?;
        lobby.set_first_state(resumption.recording().header().first_state.clone());
        self.resumption = Some(resumption);
        Ok(returns.own.is_none().then(|| NO_RECORDING.to_owned()))
    }
}

/// A machine that comes back: its ticket, the file of that, and its recording if it has one.
#[derive(Debug)]
pub(super) struct Returns {
    ticket: Ticket,
    file: PathBuf,
    own: Option<Recording>,
}

impl Returns {
    pub(super) fn new(ticket: Ticket, file: PathBuf) -> Self {
        let own = ticket.read_recording().and_then(|file| Recording::open(file).ok());
        Self { ticket, file, own }
    }

    /// The keys of the spectators that the earlier program had.
    pub(super) fn spectators(&self) -> Option<SpectatorKeys> {
        self.ticket.spectators.clone()
    }

    /// What this machine knows of the match now.
    pub(super) fn remembered(&self, config: &Config) -> Remembered<'_> {
        let Ticket { token, seed, began_secs, .. } = self.ticket;
        let secs = dated::secs().saturating_sub(began_secs).saturating_add(MAX_CLOCK_SECS);
        let frame = config.game.frame_rate.frame_length();
        let most_frames = Duration::from_secs(secs).div_duration_f64(frame).ceil() as u32;
        Remembered { token, seed, most_frames, own: self.own.as_ref() }
    }
}

/// The ticket in a file.
pub(super) fn read(path: &Path) -> Result<Ticket, ConnectError> {
    Ticket::read(path).map_err(|error| ConnectError::key_file(path, &error))
}

/// Whether the other machine can be asked for at a rendezvous.
#[cfg(feature = "udp")]
pub(super) fn meets(ticket: &Ticket) -> bool {
    let invite = ticket.invite.parse::<Invite>();
    invite.is_ok_and(|invite| invite.rendezvous().is_some() || invite.named_rendezvous().is_some())
}

/// A session, and beside it the lobby of a machine that comes back: told apart by the role that its key has proven.
pub(crate) struct Beside<'a, S> {
    pub(crate) session: &'a mut Session<S>,
    pub(crate) lobby: &'a mut Lobby,
}

impl<S: Fields> Beside<'_, S> {
    /// The session's own peer may be one that has come back before.
    fn is_rejoiner(&self, peer: SocketAddr) -> bool {
        peer != self.session.peer() && PeerRole::of_guest(peer) == PeerRole::Rejoiner
    }

    /// Whether the log is under way to the machine that comes back. The session then sends nothing: its own peer is gone, and on a
    /// narrow link inputs for it would keep the larger packets of the log out of the queue.
    fn hands_over(&self) -> bool {
        self.lobby.first_state_progress().is_some()
    }

    fn of(&mut self, peer: SocketAddr) -> Option<&mut dyn Authenticated> {
        if self.is_rejoiner(peer) { self.lobby.authenticated() } else { self.session.authenticated() }
    }
}

impl<S: Fields> Protocol for Beside<'_, S> {
    fn handle_datagram(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        match self.is_rejoiner(from) {
            true => self.lobby.handle_datagram(now, from, datagram),
            false => self.session.handle_datagram(now, from, datagram),
        }
    }

    fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        if self.hands_over() {
            return self.lobby.poll_transmit(now, buf);
        }
        self.session.poll_transmit(now, buf).or_else(|| self.lobby.poll_transmit(now, buf))
    }

    fn poll_timeout(&self) -> Option<Duration> {
        if self.hands_over() {
            return self.lobby.poll_timeout();
        }
        [self.session.poll_timeout(), self.lobby.poll_timeout()].into_iter().flatten().min()
    }

    fn wants_attention(&self, now: Duration) -> bool {
        self.session.wants_attention(now)
    }

    fn lingers(&self) -> bool {
        self.session.lingers()
    }

    fn opening(&mut self, now: Duration, peer: SocketAddr, buf: &mut [u8]) -> Option<usize> {
        self.session.opening(now, peer, buf)
    }

    fn authenticated(&mut self) -> Option<&mut dyn Authenticated> {
        Some(self)
    }
}

impl<S: Fields> Authenticated for Beside<'_, S> {
    fn connection(&mut self, now: Duration, peer: SocketAddr, step: ConnectionStep) {
        if let Some(inner) = self.of(peer) {
            inner.connection(now, peer, step);
        }
    }

    fn knows(&mut self, peer: SocketAddr) -> bool {
        self.of(peer).is_none_or(|inner| inner.knows(peer))
    }

    fn keeps(&mut self, peer: SocketAddr) -> bool {
        self.of(peer).is_none_or(|inner| inner.keeps(peer))
    }

    fn serves(&mut self, role: PeerRole) -> bool {
        role.plays() || role == PeerRole::Rejoiner
    }
}
