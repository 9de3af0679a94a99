//! A match between two machines.

use super::config::{Config, ConfigError, MAX_DELAY_FRAMES, OnDesync};
use super::event::{Event, Reason};
use super::latch::Latch;
use super::lobby::{Agreed, Lobby, LobbyError};
use super::outbox::Outbox;
use super::pacing::Pacing;
use super::stats::Stats;
use crate::desync::{Archive, Checksums, Examiner};
use crate::peer::copies::Copies;
use crate::peer::desk::Desk;
use crate::peer::lead::FrameLead;
use crate::peer::link::Link;
use crate::peer::refusal::Refusals;
use crate::peer::silence::{Silence, SilenceLimits};
use crate::rollback::{Rollback, RollbackConfig};
use crate::wire::message::{MAX_USER, MAX_WINDOW_AND_DELAY, Ordered};
use crate::{CueEvent, Fields, Frame, Game, Inputs, Player};
use core::fmt;
use core::time::Duration;
use std::collections::VecDeque;
use std::net::SocketAddr;

/// How many events wait for the game; messages from the other side wait outside when it is full.
const EVENTS: usize = 64;

/// The host begins at most this much late: where nobody can play anyway, or where the handshake was held up and the
/// round trip is not what it took, there is no point in waiting for it.
const LONGEST_HEAD_START: Duration = Duration::from_millis(250);

/// How often each side reports what it has received.
pub(super) const REPORT_EVERY: Duration = Duration::from_secs(1);

/// A match, from the agreement to the verdict.
///
/// Generic over the *snapshot* of the game. The game is the embedder's, and is lent to [`advance`](Self::advance).
///
/// # Order of calls
/// Hand datagrams in and out through [`Protocol`](crate::Protocol) (a driver does that); when
/// [`next_frame_at`](Self::next_frame_at) has come, [`advance`](Self::advance); send what is ready; then look at
/// [`cues`](Self::cues), [`poll_event`](Self::poll_event) and the game, and draw.
#[derive(Clone, Debug)]
pub struct Session<S> {
    pub(super) local: Player,
    pub(super) agreed: Agreed,
    pub(super) frame: Duration,
    pub(super) on_desync: OnDesync,
    pub(super) rollback: Rollback<S>,
    pub(super) delay_frames: u32,
    /// What the other side was last told of it.
    pub(super) told_delay_frames: u32,
    /// The other side's input delay, as it announced it.
    pub(super) peer_delay_frames: u32,
    /// Another one that it announced, and the frame from which on that holds.
    pub(super) peer_delay_from: Option<(Frame, u32)>,
    pub(super) latch: Latch,
    pub(super) link: Link,
    pub(super) desk: Desk,
    pub(super) silence: Silence,
    pub(super) lead: FrameLead,
    pub(super) copies: Copies,
    pub(super) pacing: Pacing,
    pub(super) outbox: Outbox,
    pub(super) checksums: Checksums,
    pub(super) archive: Archive<S>,
    pub(super) examiner: Examiner<S>,
    pub(super) next_report: Duration,
    /// Input packets received, and the two counts of the peer's last report.
    pub(super) inputs_in: u32,
    pub(super) peer_report: Option<(u32, u32)>,
    pub(super) loss_in: Option<f32>,
    /// There is nothing to send before this time, but for inputs that are due; zero if that is not known.
    pub(super) idle_until: Duration,
    pub(super) stalled: bool,
    /// The match has ended because the other side's has: the game here is not finished.
    pub(super) followed: bool,
    /// The cues of frames that will never be certain have been taken back.
    pub(super) cues_closed: bool,
    /// A DISCONNECT came, and no new frame since.
    pub(super) farewell_heard: bool,
    pub(super) stage: Stage,
    /// What the other side says its last state is.
    pub(super) peer_verdict: Option<(u32, u32)>,
    pub(super) events: VecDeque<Event>,
    pub(super) conflict_told: bool,
    pub(super) desync_told: bool,
    pub(super) stats: Stats,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Playing,
    /// Our last state is certain; the other side's verdict is not here yet.
    Ending {
        frame: Frame,
        checksum: u32,
    },
    Over,
}

impl Lobby {
    /// Begins the match that was agreed on. `game` is in its first state, built from the agreed seed.
    ///
    /// The host begins half a round trip late, when the joiner learns that it may begin: so the opening does not
    /// roll back.
    ///
    /// # Errors
    /// If nothing was [agreed](Lobby::agreed) on.
    pub fn start<G: Game>(self, now: Duration, game: &G) -> Result<Session<G::Snapshot>, LobbyError> {
        let (link, agreed, config, desk, refused) = self.into_agreed()?;
        Ok(Session::new(now, game, link, agreed, &config, desk, refused))
    }
}

impl<S: Fields> Session<S> {
    fn new<G: Game<Snapshot = S>>(
        now: Duration,
        game: &G,
        link: Link,
        agreed: Agreed,
        config: &Config,
        desk: Desk,
        refused: Refusals,
    ) -> Self {
        let frame = config.frame_length();
        let half_trip = (agreed.round_trip.unwrap_or_default() / 2).min(LONGEST_HEAD_START);
        let first_due = if agreed.is_host { now + half_trip } else { now };
        let limits = SilenceLimits {
            interrupted: config.interrupted_after,
            lost: config.lost_after,
            no_progress: config.no_progress_after,
        };
        let rollback_config = RollbackConfig {
            window: u32::from(config.window_frames),
            prediction: config.prediction,
            cue_moves_within: config.cue_moves_within,
        };
        Self {
            local: agreed.seat,
            frame,
            on_desync: config.on_desync,
            rollback: Rollback::new(rollback_config, game),
            delay_frames: u32::from(agreed.delay_frames),
            told_delay_frames: u32::from(agreed.announced_delay_frames),
            peer_delay_frames: u32::from(agreed.peer_delay_frames),
            peer_delay_from: None,
            latch: Latch::new(config.kept_buttons),
            link,
            desk,
            silence: Silence::new(now, limits),
            lead: FrameLead::default(),
            copies: Copies::new(frame),
            pacing: Pacing::new(first_due, frame),
            outbox: Outbox::new(),
            checksums: Checksums::new(agreed.cadence_frames),
            archive: Archive::new(agreed.cadence_frames, || game.snapshot()),
            examiner: Examiner::new(agreed.seat),
            next_report: now + REPORT_EVERY,
            inputs_in: 0,
            peer_report: None,
            loss_in: None,
            idle_until: Duration::ZERO,
            stalled: false,
            followed: false,
            cues_closed: false,
            farewell_heard: false,
            stage: Stage::Playing,
            peer_verdict: None,
            events: VecDeque::with_capacity(EVENTS),
            conflict_told: false,
            desync_told: false,
            stats: Stats { refused, ..Stats::default() },
            agreed,
        }
    }

    /// When the next frame is due.
    #[inline]
    #[must_use]
    pub fn next_frame_at(&self) -> Duration {
        self.pacing.due()
    }

    /// Whether a frame is due at `now`: whether [`advance`](Self::advance) has something to do.
    ///
    /// So it is after the last frame, until the other side has said how the match ended or is given up.
    #[inline]
    #[must_use]
    pub fn frame_due(&self, now: Duration) -> bool {
        self.pacing.is_due(now) && self.stage != Stage::Over
    }

    /// How far the time between the last frame and the next has gone, from 0 to 1, for drawing in between.
    #[must_use]
    pub fn phase(&self, now: Duration) -> f32 {
        self.pacing.phase(now)
    }

    pub(super) fn tell(&mut self, event: Event) {
        if self.stage == Stage::Over {
            return;
        }
        // What ends the match is always told; a game that never asks for the rest does not make it grow.
        let last = matches!(event, Event::Ended(_) | Event::Disconnected { .. });
        if last || self.events.len() < EVENTS - 1 {
            self.events.push_back(event);
        }
    }

    /// Whether there is room for another message of the game's own.
    pub(super) fn has_room_for_message(&self) -> bool {
        // Room is left for what the session itself has to say, each of which is said once or alternately.
        self.events.len() < EVENTS / 2
    }

    /// Something may be due to be sent sooner than was thought.
    #[inline]
    pub(super) fn stir(&mut self) {
        self.idle_until = Duration::ZERO;
    }

    /// Leaves the match, and tells the other side.
    pub fn leave(&mut self) {
        self.stir();
        if self.stage != Stage::Over {
            self.link.say_farewell();
            self.disconnect(Reason::LeftHere);
        }
    }

    /// Sends a message of the game's own: at most 1,024 bytes, delivered once and in order.
    ///
    /// # Errors
    /// If it is too long, if twelve messages are under way already, or if the match is over.
    pub fn send(&mut self, now: Duration, message: &[u8]) -> Result<(), SendError> {
        if self.stage == Stage::Over {
            return Err(SendError::Over);
        }
        if message.len() > MAX_USER {
            return Err(SendError::TooLong { len: message.len() });
        }
        self.stir();
        self.link.reliable.send(now, Ordered::User(message)).map_err(|_| SendError::QueueFull)
    }

    /// Changes the input delay from the next frame on. No input is lost, and no frame left without one.
    ///
    /// # Errors
    /// If the delay is more than 8, or more than 16 together with the window.
    pub fn set_delay(&mut self, now: Duration, delay_frames: u8) -> Result<(), ConfigError> {
        let window_frames = self.rollback.window() as u8;
        if delay_frames > MAX_DELAY_FRAMES {
            return Err(ConfigError::Delay { delay_frames });
        }
        if window_frames + delay_frames > MAX_WINDOW_AND_DELAY {
            return Err(ConfigError::WindowAndDelay { window_frames, delay_frames });
        }
        self.delay_frames = u32::from(delay_frames);
        self.tell_delay(now);
        Ok(())
    }

    /// Tells the other side of the delay, if there is room for that; otherwise it is told with a later frame.
    pub(super) fn tell_delay(&mut self, now: Duration) {
        let delay_frames = self.delay_frames as u8;
        if self.told_delay_frames == self.delay_frames || !self.link.reliable.has_room_for_session() {
            return;
        }
        let from = self.rollback.current().plus(self.delay_frames);
        let from_frame = self.agreed.first_frame.wrapping_add(from.0);
        if self.link.reliable.send(now, Ordered::Delay { from_frame, delay_frames }).is_ok() {
            self.told_delay_frames = self.delay_frames;
            self.stir();
        }
    }

    /// The next thing that the game should know.
    #[inline]
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// What the last [`advance`](Self::advance) did to cues.
    #[inline]
    #[must_use]
    pub fn cues(&self) -> &[CueEvent] {
        self.rollback.cues()
    }

    /// The frames that became certain in the last [`advance`](Self::advance), with their inputs: for a replay.
    pub fn confirmed(&self) -> impl Iterator<Item = (Frame, Inputs)> {
        let settled = self.rollback.newly_settled();
        settled.start.until(settled.end).filter_map(|f| Some((f, self.rollback.settled_inputs(f)?)))
    }

    /// Whether the match is over: the last event has been told, or waits to be polled.
    #[inline]
    #[must_use]
    pub fn ended(&self) -> bool {
        self.stage == Stage::Over
    }

    /// What was agreed on in the lobby.
    #[must_use]
    pub fn agreed(&self) -> &Agreed {
        &self.agreed
    }

    /// The seat of the player at this machine.
    #[must_use]
    pub fn local(&self) -> Player {
        self.local
    }

    /// The other machine.
    #[must_use]
    pub fn peer(&self) -> SocketAddr {
        self.link.addr
    }

    /// The next frame to step; the game is in this state.
    #[inline]
    #[must_use]
    pub fn current(&self) -> Frame {
        self.rollback.current()
    }

    /// The state of this frame is certain, and every one before it.
    #[inline]
    #[must_use]
    pub fn settled(&self) -> Frame {
        self.rollback.settled()
    }

    /// The snapshot of a frame, while it is kept. Certain only up to [`settled`](Self::settled).
    #[must_use]
    pub fn snapshot(&self, frame: Frame) -> Option<&S> {
        self.rollback.snapshot(frame).or_else(|| self.archive.state(frame))
    }

    /// The input delay of this machine.
    #[must_use]
    pub fn delay_frames(&self) -> u8 {
        self.delay_frames as u8
    }

    /// Whether the match waits for the other side.
    #[inline]
    #[must_use]
    pub fn is_stalled(&self) -> bool {
        self.stalled
    }

    /// Whether a stalled frame could be stepped by now.
    #[inline]
    pub(super) fn can_go_on(&self) -> bool {
        self.stalled && !self.rollback.is_waiting_for(self.local.other()) && self.stage == Stage::Playing
    }

    /// The figures of the match so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let part = |permille: u32| permille as f32 / 1_000.0;
        Stats {
            round_trip: self.link.rtt.smoothed(),
            jitter: self.link.rtt.jitter(),
            loss_out: self.copies.loss_permille().map(part),
            loss_in: self.loss_in,
            frame_lead: self.lead.frames().map_or(0.0, fixed::traits::LossyInto::lossy_into),
            trim_micros: self.pacing.trim_micros(),
            predicted_frames: self.rollback.current().since(self.rollback.settled()),
            rollback: *self.rollback.stats(),
            cues_left_out: self.rollback.cues_left_out(),
            checksums_compared: self.checksums.compared(),
            copies_out: self.outbox.copies,
            ..self.stats
        }
    }
}

/// Why a message was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendError {
    /// It does not fit a packet.
    TooLong {
        /// Its length.
        len: usize,
    },
    /// Too many are under way; the other side has to acknowledge some first.
    QueueFull,
    /// The match is over: nobody listens any more.
    Over,
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { len } => write!(f, "a message of {len} bytes is more than {MAX_USER}"),
            Self::QueueFull => f.write_str("too many messages are under way"),
            Self::Over => f.write_str("the match is over"),
        }
    }
}

impl core::error::Error for SendError {}
