//! A match between two machines.

use super::config::{Config, ConfigError, MAX_DELAY_FRAMES, OnDesync};
use super::event::{Desync, Event, Reason, Verdict};
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
use crate::peer::silence::{Silence, SilenceChange, SilenceLimits};
use crate::rollback::{self, Rollback, RollbackConfig};
use crate::wire::message::{MAX_USER, MAX_WINDOW_AND_DELAY, Ordered};
use crate::{Buttons, CueEvent, Fields, Frame, Game, Inputs, Player, checksum};
use core::fmt;
use core::time::Duration;
use std::collections::VecDeque;
use std::net::SocketAddr;

/// How many events wait for the game; messages from the other side wait outside when it is full.
const EVENTS: usize = 64;

/// A DISCONNECT is empty and can be forged: it is believed after this long without a new frame, or two round trips.
const FAREWELL_BELIEVED_AFTER: Duration = Duration::from_millis(500);

/// The host begins at most this much late: where nobody can play anyway, or where the handshake was held up and the
/// round trip is not what it took, there is no point in waiting for it.
const LONGEST_HEAD_START: Duration = Duration::from_millis(250);

/// Frames are numbered with 32 bits on the wire, from the middle of them on in the worst case.
const LAST_FRAME: Frame = Frame(u32::MAX / 2 - 1_000);

/// How often each side reports what it has received.
pub(super) const REPORT_EVERY: Duration = Duration::from_secs(1);

/// What [`Session::advance`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advanced {
    /// It stepped a frame.
    Stepped,
    /// The frame waits for the other side. Presses are kept.
    Stalled,
    /// No frame is due yet.
    NotDue,
    /// The match is over.
    Ended,
}

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
    delay_frames: u32,
    /// The other side's input delay, as it announced it.
    pub(super) peer_delay_frames: u32,
    latch: Latch,
    pub(super) link: Link,
    pub(super) desk: Desk,
    pub(super) silence: Silence,
    pub(super) lead: FrameLead,
    pub(super) copies: Copies,
    pub(super) pacing: Pacing,
    pub(super) outbox: Outbox,
    pub(super) checksums: Checksums,
    archive: Archive<S>,
    pub(super) examiner: Examiner<S>,
    pub(super) next_report: Duration,
    /// Input packets received, and the two counts of the peer's last report.
    pub(super) inputs_in: u32,
    pub(super) peer_report: Option<(u32, u32)>,
    pub(super) loss_in: Option<f32>,
    /// There is nothing to send before this time, but for inputs that are due; zero if that is not known.
    pub(super) idle_until: Duration,
    stalled: bool,
    /// A DISCONNECT came, and no new frame since.
    pub(super) farewell_heard: bool,
    pub(super) stage: Stage,
    /// What the other side says its last state is.
    pub(super) peer_verdict: Option<(u32, u32)>,
    pub(super) events: VecDeque<Event>,
    pub(super) conflict_told: bool,
    desync_told: bool,
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
        mut link: Link,
        agreed: Agreed,
        config: &Config,
        desk: Desk,
        refused: Refusals,
    ) -> Self {
        let frame = config.frame();
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
        if agreed.delay_frames != agreed.announced_delay_frames {
            let delay = Ordered::Delay { from_frame: agreed.first_frame, delay_frames: agreed.delay_frames };
            // The queue is empty: nothing has been sent yet.
            let _ = link.reliable.send(now, delay);
        }
        Self {
            local: agreed.seat,
            frame,
            on_desync: config.on_desync,
            rollback: Rollback::new(rollback_config, game),
            delay_frames: u32::from(agreed.delay_frames),
            peer_delay_frames: u32::from(agreed.peer_delay_frames),
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

    /// Plays a frame if one is due: mends what was predicted wrongly, steps, and queues what to send.
    ///
    /// `buttons` is what the local player holds now.
    #[inline]
    pub fn advance<G: Game<Snapshot = S>>(
        &mut self,
        now: Duration,
        game: &mut G,
        buttons: Buttons,
    ) -> Advanced {
        self.silence.pass(now);
        self.look_after();
        self.rollback.forget_last();
        if !self.pacing.is_due(now) && self.stage == Stage::Playing {
            return Advanced::NotDue;
        }
        if self.examiner.is_active() && self.stage != Stage::Over {
            self.stir();
            self.examine(now, game);
        }
        if self.stage != Stage::Playing {
            // Nothing is stepped any more, but the verdict may take a few frames.
            self.pacing.stalled(now);
            return Advanced::Ended;
        }
        let remote = self.local.other();
        if self.rollback.is_waiting_for(remote) && !self.owes_lockstep_input() {
            self.latch.keep(now, buttons);
        } else {
            let taken = self.latch.take(now, buttons);
            if !self.rollback.press(self.local, self.delay_frames, taken) {
                self.latch.keep(now, taken);
            }
        }
        let stepped_frame = self.rollback.current();
        let advanced = match self.rollback.advance(game) {
            rollback::Advance::Stepped => {
                self.stepped(now, stepped_frame, remote);
                Advanced::Stepped
            }
            rollback::Advance::Stalled => {
                self.stalled = true;
                self.stats.stalled_frames += 1;
                self.pacing.stalled(now);
                self.outbox.due = true;
                Advanced::Stalled
            }
            rollback::Advance::Ended => Advanced::Ended,
        };
        self.take_checksums(now);
        self.archive_settled();
        if let Some(end) = self.rollback.ended() {
            self.begin_to_end(now, end);
            return Advanced::Ended;
        }
        if stepped_frame >= LAST_FRAME {
            self.disconnect(Reason::FrameLimit);
        }
        advanced
    }

    /// In lockstep the other side waits for this very input, so that it is given although the frame waits too: once,
    /// when the frame is due for the first time. What is pressed after that is for the next frame.
    fn owes_lockstep_input(&self) -> bool {
        let given = self.rollback.next_input(self.local);
        self.rollback.window() == 0 && given <= self.rollback.current().plus(self.delay_frames)
    }

    #[inline]
    fn stepped(&mut self, now: Duration, frame: Frame, remote: Player) {
        self.stalled = false;
        self.stats.frames += 1;
        let known = self.rollback.next_input(remote);
        if known > Frame::ZERO {
            self.lead.stepped(frame.0.wrapping_sub(known.0).wrapping_add(1).cast_signed());
        }
        self.pacing.stepped(now, self.lead.frames());
        if !self.copies.skips(frame) {
            self.outbox.due = true;
        }
    }

    /// Hashes what has become certain, and compares what can be compared.
    #[inline]
    fn take_checksums(&mut self, now: Duration) {
        while self.checksums.next() <= self.rollback.settled()
            && let Some(snapshot) = self.rollback.snapshot(self.checksums.next())
        {
            self.checksums.record(checksum(snapshot));
        }
        while let Some(comparison) = self.checksums.compare() {
            if !comparison.matches() && !self.desync_told {
                self.desync_told = true;
                let last_match = self.checksums.newest_match();
                let (frame, ours, theirs) = (comparison.frame, comparison.ours, comparison.theirs);
                self.tell(Event::Desync(Desync { frame, ours, theirs, last_match }));
                if self.on_desync != OnDesync::GoOn {
                    self.stir();
                    self.examiner.begin(now, frame, last_match, &mut self.archive);
                }
            }
        }
    }

    /// Lets the frames that are certain leave for the archive.
    #[inline]
    fn archive_settled(&mut self) {
        let settled = self.rollback.newly_settled();
        for frame in settled.start.until(settled.end) {
            if let Some(inputs) = self.rollback.settled_inputs(frame) {
                self.archive.settled(frame, inputs);
            }
            if self.archive.wants(frame)
                && let Some(snapshot) = self.rollback.release_snapshot(frame)
            {
                self.archive.swap(frame, snapshot);
            }
        }
    }

    /// Goes on with the autopsy, and tells the game when it is done.
    fn examine<G: Game<Snapshot = S>>(&mut self, now: Duration, game: &mut G) {
        let settled = self.rollback.settled();
        let last = self.rollback.ended().and_then(|end| Some((end, self.rollback.snapshot(end)?)));
        let Some(autopsy) = self.examiner.work(now, settled, game, &mut self.archive, last) else { return };
        self.tell(Event::Autopsy(Box::new(autopsy)));
        if self.stage != Stage::Playing {
            self.compare_verdicts(now);
        } else if self.on_desync == OnDesync::Stop {
            self.link.say_farewell();
            self.disconnect(Reason::Desync);
        }
    }

    /// Our last state is certain: the other side is told, until it has acknowledged.
    fn begin_to_end(&mut self, now: Duration, end: Frame) {
        let Some(snapshot) = self.rollback.snapshot(end) else { return };
        let checksum = checksum(snapshot);
        self.stage = Stage::Ending { frame: end, checksum };
        self.stir();
        self.outbox.due = true;
        let frame = self.agreed.first_frame.wrapping_add(end.0);
        if self.link.reliable.send(now, Ordered::Verdict { frame, checksum }).is_err() {
            self.disconnect(Reason::ProtocolViolation);
            return;
        }
        self.compare_verdicts(now);
    }

    /// Ends the match once both verdicts are here, and it is known what to make of a difference.
    pub(super) fn compare_verdicts(&mut self, now: Duration) {
        let (Stage::Ending { frame, .. }, Some((their_frame, _))) = (self.stage, self.peer_verdict) else {
            return;
        };
        let verdict = self.verdict();
        if let Some(Verdict::Differs { .. }) = verdict
            && their_frame == self.agreed.first_frame.wrapping_add(frame.0)
            && self.on_desync != OnDesync::GoOn
        {
            self.examiner.begin(now, frame, self.checksums.newest_match(), &mut self.archive);
        }
        if let Some(verdict) = verdict
            && !self.examiner.is_active()
        {
            self.tell(Event::Ended(verdict));
            self.stage = Stage::Over;
        }
    }

    /// What is to be said of the last state, once it is certain here.
    fn verdict(&self) -> Option<Verdict> {
        let Stage::Ending { frame, checksum } = self.stage else { return None };
        Some(match self.peer_verdict {
            None => Verdict::Unconfirmed { frame, checksum },
            Some((at, theirs))
                if at == self.agreed.first_frame.wrapping_add(frame.0) && theirs == checksum =>
            {
                Verdict::Agreed { frame, checksum }
            }
            Some((_, theirs)) => Verdict::Differs { frame, ours: checksum, theirs },
        })
    }

    /// What time alone brings: interruption, loss, a farewell that is believed by now.
    #[inline]
    pub(super) fn look_after(&mut self) {
        if self.stage == Stage::Over {
            return;
        }
        if let Some(change) = self.silence.change() {
            match change {
                SilenceChange::Interrupted { disconnect_at } => {
                    self.tell(Event::Interrupted { disconnect_at });
                }
                SilenceChange::Resumed => self.tell(Event::Resumed),
                SilenceChange::Lost => self.give_up(Reason::TimedOut),
                SilenceChange::NoProgress => self.give_up(Reason::NoProgress),
            }
        }
        if self.farewell_heard {
            let rtt = self.link.rtt.smoothed().unwrap_or_default();
            let ending = matches!(self.stage, Stage::Ending { .. });
            if ending || self.silence.stuck() >= FAREWELL_BELIEVED_AFTER.max(rtt * 2) {
                self.disconnect(Reason::Left);
            }
        }
    }

    /// The match is over here, and the other side may still hear it: where only one way is cut, it would wait on.
    fn give_up(&mut self, reason: Reason) {
        self.link.say_farewell();
        self.disconnect(reason);
    }

    /// The match is over without the other side's verdict.
    pub(super) fn disconnect(&mut self, reason: Reason) {
        if self.stage == Stage::Over {
            return;
        }
        self.stir();
        if self.examiner.is_active() {
            let autopsy = self.examiner.conclude(&self.archive);
            self.tell(Event::Autopsy(Box::new(autopsy)));
        }
        let event = self.verdict().map_or(Event::Disconnected { reason }, Event::Ended);
        self.tell(event);
        self.stage = Stage::Over;
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
    /// If it is too long, or if twelve messages are under way already.
    pub fn send(&mut self, now: Duration, message: &[u8]) -> Result<(), SendError> {
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
        if u32::from(delay_frames) != self.delay_frames {
            self.delay_frames = u32::from(delay_frames);
            self.stir();
            let from = self.rollback.current().plus(self.delay_frames);
            let from_frame = self.agreed.first_frame.wrapping_add(from.0);
            // If the queue is full the other side's pacing is off by the difference, and nothing else.
            let _ = self.link.reliable.send(now, Ordered::Delay { from_frame, delay_frames });
        }
        Ok(())
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
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { len } => write!(f, "a message of {len} bytes is more than {MAX_USER}"),
            Self::QueueFull => f.write_str("too many messages are under way"),
        }
    }
}

impl core::error::Error for SendError {}
