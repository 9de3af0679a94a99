//! The types that an embedder holds: first a lobby, then a session.
//!
//! [`Session`] is made of parts. Each owns its state and offers a few calls; the files that make a session of them use
//! these calls and never the state inside.
//!
//! | file | |
//! |---|---|
//! | `mod` | [`Session`]: its parts, and the calls of the game |
//! | `play`, `incoming`, `outgoing`, `traffic` | the work: a frame, a packet that came, a packet to send, the session as a [`Protocol`](crate::Protocol) |
//! | `simulation`, `latch` | the engine with the local player's inputs; presses during a stall |
//! | `input_stream`, `outbox`, `measures` | input packets both ways; the last one sent; the RTT and the loss that they measure |
//! | `pace`, `frame_clock`, `lateness` | when frames are due; the clock that is trimmed; the age of the peer's inputs |
//! | `delay` | the input delay on a link that changes |
//! | `liveness`, `parting`, `ending` | silence and farewell of the peer; our own after a desync; the last states and the verdict |
//! | `pause`, `pause_agreement` | pauses: their calls, frames and packets; the frame and the moment that both machines agree on |
//! | `rejoining` | a match that goes on after one of its machines was started again |
//! | `clock_check` | whether the game gives one clock to all calls |
//! | `peer`, `desync` | the remote machine; checksums and the autopsy |
//! | `lobby` | the handshake before a match |
//! | `event`, `event_queue`, `stats` | events, their queue, and statistics |
//! | `config`, `config_error`, `advice` | the settings, their limits, and a delay to suggest |
//! | `offline` | a match at one machine |

mod advice;
mod clock_check;
mod config;
mod config_error;
mod delay;
pub(crate) mod desync;
mod ending;
mod event;
mod event_queue;
mod first_state;
mod frame_clock;
mod incoming;
mod input_stream;
mod latch;
mod lateness;
mod liveness;
mod lobby;
mod measures;
mod offline;
mod outbox;
mod outgoing;
mod pace;
mod parting;
mod pause;
mod pause_agreement;
pub(crate) mod peer;
mod play;
mod rejoining;
mod simulation;
mod stats;
mod traffic;

pub use advice::{DelayAdvice, advise_delay};
pub use config::{Config, GameConfig, LobbyConfig, OnDesync, RollbackConfig, Timeouts};
pub use config_error::ConfigError;
pub use desync::{Autopsy, AutopsyVerdict, FieldDifference, PhaseDifference};
pub use event::{Desync, Event, Reason, SendError, Verdict};
pub use first_state::FirstState;
pub use lobby::{Agreed, Incoming, Lobby, LobbyError, Mismatch, Progress};
pub use offline::Offline;
pub use pause_agreement::Paused;
pub use play::Advanced;
pub(crate) use rejoining::{ResumeAt, USER_DATA_LEN, hash_of_frames};
pub use stats::Stats;

use crate::protocol::time::{Span, Time};
use crate::session::desync::Watch;
use crate::session::peer::handshake_responder::HandshakeResponder;
use crate::session::peer::link::Link;
use crate::wire::message::{LeavingWhy, MAX_USER, Ordered};
use crate::wire::rbn1::Flags;
use crate::{CueEvent, Fields, Frame, Game, Inputs, Player};
use clock_check::ClockCheck;
use core::time::Duration;
use delay::DelayControl;
use ending::Ending;
use event_queue::EventQueue;
use input_stream::InputStream;
use liveness::Liveness;
use lobby::Handover;
use pace::Pace;
use parting::Parting;
use pause_agreement::Pause;
use simulation::Simulation;
use std::net::SocketAddr;
use traffic::Traffic;

/// A match, from the agreement to the verdict.
///
/// Generic over the *snapshot* of the game. The program owns the game and lends it to [`advance`](Self::advance).
///
/// # Order of calls
/// Hand datagrams in and out through [`Protocol`](crate::Protocol) (a driver does that); when
/// [`next_frame_at`](Self::next_frame_at) has come, [`advance`](Self::advance); send what is ready; then look at
/// [`cues`](Self::cues), [`poll_event`](Self::poll_event) and the game, and draw.
///
/// ```
/// use rebout::net::{Driver, Memory};
/// use rebout::{Buttons, Config, Cues, Event, Game, Inputs, Lobby, Verdict, fields};
/// use std::{io, thread, time::{Duration, Instant}};
///
/// #[derive(Clone, Copy)]
/// struct Count { presses: u32, frames: u32 }
/// fields!(Count { presses, frames });
///
/// impl Game for Count {
///     fn step(&mut self, inputs: Inputs, _: &mut Cues) {
///         self.frames += 1;
///         self.presses += inputs.0.iter().filter(|input| input.holds(Buttons(1))).count() as u32;
///     }
///     fn finished(&self) -> bool { self.frames == 30 }
/// }
///
/// fn play<C: Fn() -> Duration + Clone>(end: Memory<C>, mut lobby: Lobby) -> io::Result<Verdict> {
///     let mut driver = Driver::new(end);
///     while lobby.agreed().map_err(io::Error::other)?.is_none() {
///         let deadline = driver.now() + Duration::from_millis(16);
///         driver.run_until(&mut lobby, deadline)?;
///     }
///     let mut game = Count { presses: 0, frames: 0 };          // a game with a seed takes the agreed one
///     let mut session = lobby.start(driver.now(), &game).map_err(io::Error::other)?;
///     loop {
///         let due = session.next_frame_at();
///         let now = driver.run_until(&mut session, due)?;      // moves datagrams while it waits
///         session.advance(now, &mut game, Buttons(1));
///         driver.flush(&mut session)?;                         // then draw
///         while let Some(event) = session.poll_event() {
///             if let Event::Ended(verdict) = event {
///                 driver.close(&mut session, Duration::from_secs(2))?;
///                 return Ok(verdict);
///             }
///         }
///     }
/// }
///
/// let begun = Instant::now();
/// let [here, there] = Memory::pair(move || begun.elapsed());
/// let host = Lobby::host(Config::new(7)).unwrap();
/// let joiner = Lobby::join(Config::new(7), here.local_addr()).unwrap();
/// let other = thread::spawn(move || play(there, joiner));
/// let verdict = play(here, host)?;
/// assert!(matches!(verdict, Verdict::Agreed { .. }));
/// assert_eq!(other.join().unwrap()?, verdict);
/// # Ok::<(), io::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Session<S> {
    agreed: Agreed,
    frame_length: Span,
    /// The control channel to the peer.
    link: Link,
    /// Answers strangers while the match is on.
    responder: HandshakeResponder,
    simulation: Simulation<S>,
    stream: InputStream,
    pace: Pace,
    delay: DelayControl,
    liveness: Liveness,
    parting: Parting,
    pause: Pause,
    clock_check: ClockCheck,
    watch: Watch<S>,
    ending: Ending,
    events: EventQueue,
    traffic: Traffic,
}

impl Lobby {
    /// Begins the match that was agreed on. `game` is in its first state, built from the agreed seed.
    ///
    /// The host begins half a round trip late, when the joiner learns that it may begin, so that the opening does not
    /// roll back.
    ///
    /// # Errors
    /// If nothing was [agreed](Lobby::agreed) on.
    pub fn start<G: Game>(self, now: Duration, game: &G) -> Result<Session<G::Snapshot>, LobbyError> {
        Ok(Session::new(now.into(), game, self.hand_over()?))
    }
}

impl<S: Fields> Session<S> {
    fn new<G: Game<Snapshot = S>>(now: Time, game: &G, handover: Handover) -> Self {
        let Handover { mut link, agreed, config, responder, refused } = handover;
        let frame_length = Span::from(config.game.frame_rate.frame_length());
        let format = agreed.input_format(config.game.wire_axes());
        if format.flags.has(Flags::TIME) {
            link.measured_by_inputs();
        }
        let stream = InputStream::new(now, frame_length, format, link.draw_seed());
        let simulation = Simulation::new(agreed.seat, &config, agreed.cadence_frames, game);
        let watch = Watch::new(
            agreed.seat,
            agreed.cadence_frames,
            agreed.on_desync(config.on_desync),
            simulation.engine().saves_every(),
            || game.snapshot(),
        );
        let added =
            if config.rollback.delay_frames.is_none() { config.rollback.added_delay_frames } else { 0 };
        let max_delay = agreed.delay_frames.saturating_add(added).min(config.max_delay_frames());
        Self {
            frame_length,
            responder,
            simulation,
            stream,
            pace: Pace::new(
                now,
                config.game.frame_rate,
                &agreed,
                config.timeouts.max_input_age.map(Span::from),
            ),
            delay: DelayControl::new(agreed.delay_frames, max_delay),
            liveness: Liveness::new(now, &config, link.is_sealed()),
            parting: Parting::default(),
            pause: Pause::new(
                agreed.seat,
                config.pauses,
                config.timeouts.max_pause.into(),
                config.timeouts.countdown.into(),
            ),
            clock_check: ClockCheck::default(),
            watch,
            ending: Ending::new(),
            events: EventQueue::new(),
            traffic: Traffic::new(refused),
            link,
            agreed,
        }
    }

    /// Leaves the match, and tells the other side. It is no forfeit if the other player has paused for longer than
    /// [`Timeouts::max_pause`].
    pub fn leave(&mut self) {
        self.traffic.stir();
        if !self.ending.is_over() {
            let is_overlong = self.pause.is_overlong(self.liveness.called_at(), self.local().other());
            self.say_farewell(if is_overlong { LeavingWhy::PausedTooLong } else { LeavingWhy::Left });
            self.disconnect(if is_overlong { Reason::PausedTooLong } else { Reason::LeftHere });
        }
    }

    /// Sends a message of the game's own: at most 1,024 bytes, delivered once and in order.
    ///
    /// # Errors
    /// If it is too long, if twelve messages are in flight, or if the match is over.
    pub fn send(&mut self, now: Duration, message: &[u8]) -> Result<(), SendError> {
        if self.ending.is_over() {
            return Err(SendError::Over);
        }
        if message.len() > MAX_USER {
            return Err(SendError::TooLong { len: message.len() });
        }
        self.traffic.stir();
        self.link.send(now.into(), Ordered::User(message)).map_err(|_| SendError::QueueFull)
    }

    /// Changes the input delay from the next frame on. No input is lost, and no frame left without one. The session does not
    /// change a delay that was set here.
    ///
    /// # Errors
    /// If the delay is more than 24, or more than 30 together with the window.
    pub fn set_delay(&mut self, now: Duration, delay_frames: u8) -> Result<(), ConfigError> {
        Config::check_delay(self.simulation.engine().window() as u8, delay_frames)?;
        self.delay.choose(delay_frames);
        self.pace.set_delay(delay_frames);
        self.tell_delay(now.into());
        Ok(())
    }

    /// The next event for the game.
    #[inline]
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.poll()
    }

    /// When the next frame is due.
    #[inline]
    #[must_use]
    pub fn next_frame_at(&self) -> Duration {
        self.pace.due().into()
    }

    /// Whether a frame is due at `now`: whether [`advance`](Self::advance) has something to do.
    ///
    /// Frames are also due after the last one, until the other side's result has arrived or it has timed out.
    #[inline]
    #[must_use]
    pub fn frame_due(&self, now: Duration) -> bool {
        self.pace.is_due(now.into()) && !self.ending.is_over()
    }

    /// How far the time between the last frame and the next has gone, from 0 to 1, for drawing in between.
    #[must_use]
    pub fn phase(&self, now: Duration) -> f32 {
        self.pace.phase(now.into())
    }

    /// The changes to cues in the last [`advance`](Self::advance).
    #[inline]
    #[must_use]
    pub fn cues(&self) -> &[CueEvent] {
        self.simulation.engine().cues()
    }

    /// The frames that became certain in the last [`advance`](Self::advance), with their inputs: for a replay.
    pub fn confirmed(&self) -> impl Iterator<Item = (Frame, Inputs)> {
        self.simulation.engine().newly_confirmed()
    }

    /// Whether the match is over: the last event has been told, or waits to be polled.
    #[inline]
    #[must_use]
    pub fn ended(&self) -> bool {
        self.ending.is_over()
    }

    /// The terms that were agreed on in the lobby.
    #[must_use]
    pub fn agreed(&self) -> &Agreed {
        &self.agreed
    }

    /// The seat of the player at this machine.
    #[must_use]
    pub fn local(&self) -> Player {
        self.simulation.local()
    }

    /// The other machine.
    #[must_use]
    pub fn peer(&self) -> SocketAddr {
        self.link.addr()
    }

    /// The next frame to step; the game is in this state.
    #[inline]
    #[must_use]
    pub fn current(&self) -> Frame {
        self.simulation.current()
    }

    /// The newest frame whose state is confirmed: no later input can change it or an earlier one.
    #[inline]
    #[must_use]
    pub fn settled(&self) -> Frame {
        self.simulation.settled()
    }

    /// The snapshot of a frame, while it is kept: of every frame of the last few, or of few under [`Saving::Sparse`](crate::Saving::Sparse).
    /// Certain only up to [`settled`](Self::settled).
    #[must_use]
    pub fn snapshot(&self, frame: Frame) -> Option<&S> {
        self.simulation.engine().snapshot(frame).or_else(|| self.watch.state(frame))
    }

    /// Whether the snapshot of every frame is kept for a while.
    #[cfg(feature = "lab")]
    pub(crate) fn saves_every(&self) -> bool {
        self.simulation.engine().saves_every()
    }

    /// The input delay of this machine.
    #[must_use]
    pub fn delay_frames(&self) -> u8 {
        self.pace.delay_frames() as u8
    }

    /// Whether the match waits for the other side.
    #[inline]
    #[must_use]
    pub fn is_stalled(&self) -> bool {
        self.simulation.is_stalled()
    }

    /// The statistics of the match so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let (frames, stalled_frames) = self.simulation.frame_counts();
        let (input_age, input_excess) = self.pace.input_age(self.link.rtt());
        let mut stats = Stats {
            round_trip: self.link.rtt().smoothed().map(Duration::from),
            jitter: self.link.rtt().jitter().into(),
            loss_out: self.stream.loss_out(),
            loss_in: self.stream.loss_in(),
            frame_lead: self.pace.lead_frames(),
            input_age: input_age.into(),
            input_excess: input_excess.into(),
            trim_micros: self.pace.trim_micros(),
            frames,
            stalled_frames,
            predicted_frames: self.current().since(self.settled()),
            rollback: *self.simulation.engine().stats(),
            costs: self.simulation.engine().costs(),
            cues_left_out: self.simulation.engine().cues_left_out(),
            checksums_compared: self.watch.compared(),
            copies_out: self.stream.copies(),
            ..Stats::default()
        };
        self.traffic.fill(&mut stats);
        stats
    }
}
