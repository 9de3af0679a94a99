//! An online match with one owner, from the invite to the verdict.

#[cfg(not(target_family = "wasm"))]
mod audience;
mod coming_back;
mod keeping;
#[cfg(target_family = "wasm")]
mod no_audience;
#[cfg(target_family = "wasm")]
use no_audience as audience;
mod now;
mod options;
mod rejoin;
mod returning;
mod turn;
#[cfg(not(target_family = "wasm"))]
mod watch;

pub use now::{Finish, Now};
pub use options::Options;
#[cfg(not(target_family = "wasm"))]
pub use watch::Watch;

use crate::net::{Datagrams, Usual};
use crate::replay::Winner;
use crate::{
    Advanced, Agreed, ConfigError, ConnectError, Connection, CueEvent, Fields, Game, Hint, Input, Lobby,
    PeerInfo, Player, Reason, SendError, Session, Stats,
};
use audience::Audience;
use core::time::Duration;
use keeping::Keeping;
use options::Match;
#[cfg(feature = "lab")]
pub(crate) use rejoin::Beside;
use rejoin::Rejoin;
use returning::Returning;
use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::path::Path;

/// How long the last messages may take after a match.
const LINGER: Duration = Duration::from_secs(2);
/// How long a joiner waits for the host to agree to another match.
const REMATCH_TIMEOUT: Duration = Duration::from_secs(60);

/// An online match with one owner: the connection, the lobby, the session, the recording and the desync reports.
///
/// The program owns the game and lends it for each frame. [`wait`](Self::wait) returns the next thing to do; an engine that owns its
/// loop calls [`poll`](Self::poll) instead. `docs/EMBEDDING.md` is a tutorial.
///
/// ```
/// use rebout::{Buttons, Cues, Finish, Game, Inputs, Now, Online, Options, Player, fields};
/// use std::{error::Error, thread};
///
/// #[derive(Clone, Copy)]
/// struct Count { presses: [u32; 2], frames: u32 }
/// fields!(Count { presses, frames });
///
/// impl Game for Count {
///     fn step(&mut self, inputs: Inputs, _: &mut Cues) {
///         self.frames += 1;
///         for player in Player::BOTH {
///             self.presses[player.index()] += u32::from(inputs[player].holds(Buttons(1)));
///         }
///     }
///     fn finished(&self) -> bool { self.frames == 60 }
/// }
///
/// fn play(mut online: Online<Count>) -> Result<Finish, Box<dyn Error + Send + Sync>> {
///     let mut game = Count { presses: [0; 2], frames: 0 };
///     loop {
///         match online.wait()? {
///             Now::Begin { .. } => online.start(&game),      // a game with a seed is built here
///             Now::Frame => { online.advance(&mut game, Buttons(1)); }
///             Now::Finished(finish) => return Ok(finish),
///             _ => {}                                        // draw the progress, show an event
///         }
///     }
/// }
///
/// let host = Online::host(Options::new(7, 1).name("Ada"))?;  // encrypted, by invite
/// let invite = host.share().to_owned();                      // for the other player, and nobody else
/// let other = thread::spawn(move || play(Online::join(Options::new(7, 1).name("Bob"), &invite)?));
/// assert!(matches!(play(host).map_err(|error| error.to_string())?, Finish::Played(_)));
/// # other.join().unwrap().unwrap();
/// # Ok::<(), Box<dyn Error>>(())
/// ```
#[derive(Debug)]
pub struct Online<S, D = Usual> {
    connection: Connection<D>,
    options: Match,
    stage: Stage<S>,
    /// The time of the last turn.
    now: Duration,
    keeping: Keeping,
    audience: Audience,
    notices: VecDeque<String>,
    hinted: Option<Hint>,
    /// Matches so far.
    matches: u64,
    rejoin: Rejoin,
}

#[derive(Debug)]
// There is one of these, and it moves a few times in a match.
#[allow(clippy::large_enum_variant)]
enum Stage<S> {
    Meeting(Lobby),
    /// This machine steps the log of a match that it was in before.
    Returning(Box<Returning>),
    Playing(Session<S>),
    /// The last messages are on their way, at most until this time.
    Closing(Session<S>, Finish, Duration),
    /// With the session of the match, if there was one.
    Over(Finish, Option<Session<S>>),
}

impl<S: Fields> Online<S> {
    /// Hosts a match on UDP, encrypted and by invite unless the options differ. [`share`](Self::share) is the text for the
    /// other player.
    ///
    /// # Errors
    /// As [`Connection::host`], and a config that is not valid.
    #[cfg(feature = "udp")]
    pub fn host(options: Options) -> Result<Self, ConnectError> {
        let connection = Connection::host(&options.connect)?;
        Self::on(options.measured(), connection)
    }

    /// Joins a match on UDP. `text` is the host's invite, its offer, or its address.
    ///
    /// # Errors
    /// As [`Connection::join`], and a config that is not valid.
    #[cfg(feature = "udp")]
    pub fn join(options: Options, text: &str) -> Result<Self, ConnectError> {
        let connection = Connection::join(&options.connect, text)?;
        Self::on(options.measured(), connection)
    }
}

impl<S: Fields, D: Datagrams> Online<S, D> {
    /// A match on a connection of your own, on any transport.
    ///
    /// # Errors
    /// If the config is not valid.
    pub fn on(options: Options, mut connection: Connection<D>) -> Result<Self, ConnectError> {
        let options = options.into_match();
        let audience = Audience::open(options.spectators.clone(), &mut connection)?;
        let lobby = connection.lobby(options.config.clone());
        let lobby = lobby.map_err(|error| ConnectError::Text { why: error.to_string() })?;
        Ok(Self {
            now: connection.now(),
            connection,
            options,
            stage: Stage::Meeting(lobby),
            keeping: Keeping::default(),
            audience,
            notices: VecDeque::new(),
            hinted: None,
            matches: 0,
            rejoin: Rejoin::default(),
        })
    }

    // The loop.

    /// Sends and receives until there is something to do, and returns it. While no match runs it returns at least every 16 ms, so
    /// that the program can draw.
    ///
    /// # Errors
    /// A broken transport.
    #[inline]
    pub fn wait(&mut self) -> io::Result<Now> {
        self.turn(true)
    }

    /// Sends and receives without blocking, and returns the next thing to do. Call it until it returns
    /// [`Now::Idle`], [`Now::Connecting`], [`Now::Guest`] or [`Now::Finished`]; then draw.
    ///
    /// # Errors
    /// A broken transport.
    #[inline]
    pub fn poll(&mut self) -> io::Result<Now> {
        self.turn(false)
    }

    // Commands.

    /// Decides about the [guest](Now::Guest) that waits.
    pub fn answer(&mut self, accepts: bool) {
        match &mut self.stage {
            Stage::Meeting(lobby) if accepts => lobby.accept(),
            Stage::Meeting(lobby) => lobby.decline(),
            _ => {}
        }
    }

    /// Begins the match after [`Now::Begin`]. `game` is in its first state, built from the seed. Without an agreement it does
    /// nothing.
    pub fn start<G: Game<Snapshot = S>>(&mut self, game: &G) {
        let Stage::Meeting(lobby) = &self.stage else { return };
        let Ok(Some(agreed)) = lobby.agreed() else { return };
        self.notices.extend(self.keeping.begin(&self.options, agreed));
        self.notices.extend(self.audience.begin(self.connection.now(), &self.options, agreed));
        self.matches += 1;
        let over = Stage::Over(Finish::Ended(Reason::LeftHere), None);
        if let Stage::Meeting(lobby) = core::mem::replace(&mut self.stage, over) {
            if let Some(resumption) = self.rejoin.take_resumption() {
                self.stage = Stage::Returning(Box::new(Returning::new(lobby, resumption)));
                return;
            }
            match lobby.start(self.connection.now(), game) {
                Ok(session) => {
                    self.keep_ticket(&session);
                    self.stage = Stage::Playing(session);
                }
                Err(error) => self.stage = Stage::Over(Finish::Refused(error), None),
            }
        }
    }

    /// Plays the frame that is due after [`Now::Frame`]: rolls back if needed, steps, sends the input, and records confirmed frames.
    /// `input` is the local player's input now. Read [`cues`](Self::cues) afterwards.
    #[inline]
    pub fn advance<G: Game<Snapshot = S>>(&mut self, game: &mut G, input: impl Into<Input>) -> Advanced {
        let Stage::Playing(session) = &mut self.stage else { return self.catch_up(game) };
        let advanced = session.advance(self.now, game, input);
        // Sending has no errors; a broken transport shows when it receives.
        let _ = self.connection.flush(session);
        if let Some(notice) = self.keeping.advanced(session) {
            self.notices.push_back(notice);
        }
        self.audience.advanced(self.now, session);
        if self.rejoin.is_kept() {
            self.look_after_rejoin(game);
        }
        advanced
    }

    /// Steps the game ahead of the match, passes it to `draw`, and restores it: see [`Session::look_ahead`]. Without a match `draw`
    /// gets the game as it is.
    pub fn look_ahead<G: Game<Snapshot = S>>(&mut self, game: &mut G, draw: impl FnOnce(&mut G)) {
        match &mut self.stage {
            Stage::Playing(session) => session.look_ahead(game, draw),
            _ => draw(game),
        }
    }

    /// Sends a message of the game's own, such as chat: at most 1,024 bytes, delivered once and in order.
    ///
    /// # Errors
    /// If the message is too long, if twelve messages are unacknowledged, or if no match runs.
    pub fn send(&mut self, message: &[u8]) -> Result<(), SendError> {
        match &mut self.stage {
            Stage::Playing(session) => {
                session.send(self.now, message)?;
                self.audience.message(self.now, session.local(), message);
                Ok(())
            }
            _ => Err(SendError::Over),
        }
    }

    /// Asks to pause the match: see [`Session::pause`]. Frames remain due during a pause, and [`advance`](Self::advance) returns
    /// [`Advanced::Paused`]. `false` without a match.
    pub fn pause(&mut self) -> bool {
        let Stage::Playing(session) = &mut self.stage else { return false };
        session.pause(self.now)
    }

    /// Ends the pause after a countdown: see [`Session::resume`]. `false` without a match.
    pub fn resume(&mut self) -> bool {
        let Stage::Playing(session) = &mut self.stage else { return false };
        session.resume(self.now)
    }

    /// Changes the input delay of this machine from the next frame on. Without a match it does nothing.
    ///
    /// # Errors
    /// If the delay is more than 24, or more than 30 together with the window.
    pub fn set_delay(&mut self, delay_frames: u8) -> Result<(), ConfigError> {
        let Stage::Playing(session) = &mut self.stage else { return Ok(()) };
        session.set_delay(self.now, delay_frames)?;
        self.keeping.delay(session.local(), delay_frames);
        self.audience.delay(self.now, session.local(), delay_frames);
        Ok(())
    }

    /// Sets the winner, for the recording.
    pub fn set_winner(&mut self, winner: Winner) {
        self.keeping.set_winner(winner);
    }

    /// Records that both players see the same code. `false` if there is none yet.
    pub fn verify(&mut self) -> bool {
        self.peer_addr().is_some_and(|peer| self.connection.verify(peer))
    }

    /// Takes the answer of the other player to the offer of this host.
    ///
    /// # Errors
    /// If the text is no answer, answers another offer, or this host has made none.
    pub fn take_answer(&mut self, text: &str) -> Result<(), ConnectError> {
        self.connection.take_answer(text)
    }

    // Getters.

    /// The text for the other player: see [`Connection::share`].
    #[must_use]
    pub fn share(&self) -> &str {
        self.connection.share()
    }

    /// The text for spectators, who can watch with it and not play; `None` unless the options [allow](Options::spectators) them.
    #[must_use]
    pub fn share_to_watch(&self) -> Option<String> {
        self.connection.share_to_watch()
    }

    /// The counters of the broadcast to spectators, if there is one.
    #[cfg(not(target_family = "wasm"))]
    #[must_use]
    pub fn spectators(&self) -> Option<crate::BroadcastStats> {
        self.audience.stats()
    }

    /// Whether every spectator has received everything. With a delay the end of a match is sent that much later: keep calling
    /// [`wait`](Self::wait) until then.
    #[cfg(not(target_family = "wasm"))]
    #[must_use]
    pub fn spectators_have_all(&self) -> bool {
        self.audience.is_received()
    }

    /// The progress of the connection, as a text for a player.
    #[must_use]
    pub fn progress(&self) -> String {
        if let Stage::Returning(returning) = &self.stage {
            return returning.progress();
        }
        let code = self.peer().code.filter(|_| !self.peer().is_verified);
        match code {
            Some(code) => format!("compare this code with the other player: {code}"),
            None => self.transfer().unwrap_or_else(|| self.connection.progress()),
        }
    }

    /// The progress of the first state, as a text for a player.
    fn transfer(&self) -> Option<String> {
        let Stage::Meeting(lobby) = &self.stage else { return None };
        let way = if self.connection.is_host() { "sending" } else { "receiving" };
        Some(now::transfer(way, lobby.first_state_progress()?, self.now))
    }

    /// The changes to cues in the last [`advance`](Self::advance).
    #[must_use]
    pub fn cues(&self) -> &[CueEvent] {
        self.session().map_or(&[], Session::cues)
    }

    /// The previous state, with every correction, and the phase from 0 to 1 between the last frame and the next, for interpolation
    /// on a faster display. `None` without a match, before its second frame, and with sparse saving.
    #[must_use]
    pub fn previous(&self) -> Option<(&S, f32)> {
        let session = self.session()?;
        let before = session.current().checked_sub(1)?;
        Some((session.snapshot(before)?, session.phase(self.connection.now())))
    }

    /// The terms of the match, once both machines have agreed.
    #[must_use]
    pub fn agreed(&self) -> Option<&Agreed> {
        match &self.stage {
            Stage::Meeting(lobby) => lobby.agreed().ok().flatten(),
            Stage::Returning(returning) => returning.lobby().agreed().ok().flatten(),
            _ => self.session().map(Session::agreed),
        }
    }

    /// The names of the two players by seat, with control characters escaped; the local player's own as it was given.
    #[must_use]
    pub fn names(&self) -> Option<[String; 2]> {
        self.agreed().map(|agreed| self.options.names(agreed))
    }

    /// The seat of the player at this machine, once both machines have agreed.
    #[must_use]
    pub fn local(&self) -> Option<Player> {
        self.agreed().map(|agreed| agreed.seat)
    }

    /// The facts about the other machine: its address, its code, its path.
    #[must_use]
    pub fn peer(&self) -> PeerInfo {
        self.peer_addr().map_or_else(PeerInfo::default, |addr| self.connection.peer(addr))
    }

    fn peer_addr(&self) -> Option<SocketAddr> {
        match &self.stage {
            Stage::Meeting(lobby) => lobby.peer(),
            Stage::Returning(returning) => returning.lobby().peer(),
            _ => self.session().map(Session::peer),
        }
    }

    /// The statistics of the match so far.
    #[must_use]
    pub fn stats(&self) -> Option<Stats> {
        self.session().map(Session::stats)
    }

    /// The session, for calls that `Online` does not repeat. It remains after [`Now::Finished`], until a
    /// [`rematch`](Self::rematch).
    #[must_use]
    pub fn session(&self) -> Option<&Session<S>> {
        match &self.stage {
            Stage::Playing(session) | Stage::Closing(session, ..) => Some(session),
            Stage::Over(_, session) => session.as_ref(),
            Stage::Meeting(_) | Stage::Returning(_) => None,
        }
    }

    /// The recording of this match or of the last one. `None` if it is not recorded, or had no frame.
    #[must_use]
    pub fn recording(&self) -> Option<&Path> {
        self.keeping.path()
    }

    /// The connection.
    #[must_use]
    pub fn connection(&self) -> &Connection<D> {
        &self.connection
    }

    /// The connection, mutably, for example to replace its socket.
    pub fn connection_mut(&mut self) -> &mut Connection<D> {
        &mut self.connection
    }
}
