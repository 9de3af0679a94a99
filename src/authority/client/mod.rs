//! The client: a clock, the prediction of its own player, and the scene of everything else.

mod arrival;
mod clock;
mod event;
mod history;
mod pace;
mod pings;
mod playout;
mod scene;
mod smoothing;
mod stepping;
mod track;
mod traffic;
mod trail;

pub use event::{ClientEvent, ClientStats, OverReason};
pub use history::PredictionStats;
pub use scene::Seen;
pub use track::Drawing;

use super::config::{AuthorityConfigError, ClientConfig, Wire, check_rates};
use super::dialect::{ClientLink, Delivered, NumberedInput, SpeaksToServer};
use super::record::{Record, Shown};
use super::server::Shot;
use super::world::{Body, Command, World};
use crate::channel::entropy::Entropy;
use crate::protocol::time::{Span, Time};
use arrival::{ARRIVAL_RATE, ByArrival, arrival_millis};
use clock::ServerClock;
use core::time::Duration;
use history::History;
use pace::Pace;
use pings::Pings;
use playout::Playout;
use scene::Scene;
use std::collections::VecDeque;
use std::net::SocketAddr;

/// The most events that wait for the game; the oldest gives way.
const MAX_EVENTS: usize = 1_024;

/// A DISCONNECT is believed after this long without a new snapshot: it is empty, so anybody could have written it.
const BELIEVED_AFTER: Span = Span::from_millis(500);

/// On R-Type a request that five resends did not bring an answer to is given up.
const RTYPE_PATIENCE: Span = Span::from_millis(600);

/// How often a client says that it leaves: on R-Type once and five times more, unless the ACK comes.
const FAREWELLS: u8 = 3;
const FAREWELLS_RTYPE: u8 = 6;

/// A client that was away for longer than this heard nothing in that time, and does not blame the server.
const MAX_GAP: Span = Span::from_millis(250);

/// The life of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Nobody has answered.
    Asking,
    /// There is an answer, which our next packet proves that we received.
    Proving {
        /// When we ask again, if the server is not heard of before.
        until: Time,
    },
    /// The server talks to us.
    Playing {
        since: Time,
    },
    Over(OverReason),
}

/// The newest state of our own entity that the server has sent.
#[derive(Clone, Copy, Debug)]
struct Baseline {
    frame: u64,
    applied: Option<u32>,
    body: Body,
}

/// A client of a [`Server`](super::Server): predicts its own player and interpolates everybody else.
///
/// It is a [`Protocol`](crate::Protocol) and has neither a socket nor a clock. Its memory is taken at the start.
#[derive(Debug)]
pub struct Client {
    server: SocketAddr,
    config: ClientConfig,
    frame_rate: u16,
    phase: Phase,
    id: Option<u8>,
    link: ClientLink,
    began: Time,
    /// When the first of the requests that are not answered yet was sent.
    asking_since: Option<Time>,
    advanced_at: Option<Time>,
    heard_at: Time,
    join_due: Time,
    alive_due: Time,
    /// When the server said that it ends the connection, and whether it said that we were kicked.
    said_leave: Option<Time>,
    bye: Option<bool>,
    farewells: u8,
    farewell_due: Time,
    has_terms: bool,
    clock: ServerClock,
    pings: Pings,
    pace: Option<Pace>,
    /// The number of an input is its step less this: 0 where numbers are frames.
    base: u64,
    history: History,
    baseline: Option<Baseline>,
    playout: Playout,
    scene: Scene,
    /// The own player and the time of arrival, on a wire without frames.
    by_arrival: Option<Box<ByArrival>>,
    newest_frame: u64,
    inputs_due: u64,
    inputs: Vec<NumberedInput>,
    shown: Vec<Shown>,
    events: VecDeque<ClientEvent>,
    stats: ClientStats,
}

impl Client {
    /// A client that asks `server` for a seat.
    ///
    /// # Errors
    /// If the config cannot be used.
    pub fn join(config: ClientConfig, server: SocketAddr) -> Result<Self, AuthorityConfigError> {
        config.check()?;
        let mut entropy = Entropy::new(config.entropy);
        let first = entropy.next_u64() as u16;
        Ok(Self {
            server,
            frame_rate: config.frame_rate,
            phase: Phase::Asking,
            id: None,
            link: ClientLink::new(&config, first),
            began: Time::NEVER,
            asking_since: None,
            advanced_at: None,
            heard_at: Time::ZERO,
            join_due: Time::ZERO,
            alive_due: Time::NEVER,
            said_leave: None,
            bye: None,
            farewells: 0,
            farewell_due: Time::NEVER,
            has_terms: false,
            clock: ServerClock::new(config.frame_rate, config.broadcast_rate),
            pings: Pings::new(entropy.next_u64()),
            pace: None,
            base: 0,
            history: History::new(),
            baseline: None,
            playout: Playout::new(config.broadcast_rate),
            scene: Scene::new(config.wire == Wire::Rtype),
            by_arrival: (config.wire == Wire::Rtype).then(|| Box::new(ByArrival::new(config.broadcast_rate))),
            newest_frame: 0,
            inputs_due: 0,
            inputs: Vec::with_capacity(16),
            shown: Vec::with_capacity(256),
            events: VecDeque::with_capacity(MAX_EVENTS),
            stats: ClientStats::default(),
            config,
        })
    }

    // Commands.

    /// Runs the client up to `now`: reconciles with the newest snapshot, takes the steps that are due with `command`, and moves
    /// the time at which others are drawn. Call it once for each picture, and send at once.
    pub fn advance<W: World>(&mut self, now: Duration, world: &W, command: Command) {
        let now = Time::from(now);
        self.keep_watch(now);
        if self.by_arrival.is_some() {
            return self.advance_by_arrival(now, world, command);
        }
        if !matches!(self.phase, Phase::Playing { .. }) || !self.clock.is_ready() {
            return;
        }
        self.begin_stepping(now);
        self.reconcile(world);
        self.clock.smooth_lead(self.link.recent_loss_run());
        self.take_steps(now, world, command);
        let arrival = self.clock.arrival_line(now);
        self.playout.advance(nanos(now), arrival, self.clock.arrival_jitter());
    }

    /// Leaves the game. Keep sending while [`lingers`](crate::Protocol::lingers) is true.
    pub fn leave(&mut self, now: Duration) {
        if !matches!(self.phase, Phase::Over(_)) {
            if self.id.is_some() {
                let farewells = if self.by_arrival.is_some() { FAREWELLS_RTYPE } else { FAREWELLS };
                (self.farewells, self.farewell_due) = (farewells, Time::from(now));
            }
            self.end(OverReason::Left);
        }
    }

    /// The next event, in order.
    pub fn poll_event(&mut self) -> Option<ClientEvent> {
        self.events.pop_front()
    }

    // Getters.

    /// When to call [`advance`](Self::advance) if nothing else calls for a picture before: when the next step is due.
    #[must_use]
    pub fn next_frame_at(&self) -> Duration {
        let Some(advanced_at) = self.advanced_at else { return Duration::ZERO };
        match &self.pace {
            Some(pace) if !matches!(self.phase, Phase::Over(_)) => {
                let due = Duration::from_nanos(u64::try_from(pace.next_at()).unwrap_or(0));
                due.max(advanced_at.into())
            }
            _ => Duration::from(advanced_at) + Duration::from_secs(1) / u32::from(self.frame_rate),
        }
    }

    /// Our id; `None` before the server has given us one.
    #[must_use]
    pub fn id(&self) -> Option<u8> {
        self.id
    }

    /// The reason why the connection is over; `None` while it is not.
    #[must_use]
    pub fn over(&self) -> Option<OverReason> {
        match self.phase {
            Phase::Over(reason) => Some(reason),
            _ => None,
        }
    }

    /// Frames a second.
    #[must_use]
    pub fn frame_rate(&self) -> u16 {
        self.frame_rate
    }

    /// The frame of the last step, which is ahead of the server; `None` before the first.
    #[must_use]
    pub fn frame(&self) -> Option<u64> {
        self.pace.map(|pace| pace.step())
    }

    /// The time in frames that the steps follow: the server's and the lead.
    #[must_use]
    pub fn simulated_frame(&self) -> Option<f64> {
        self.pace.as_ref().map(|pace| self.in_frames(pace.simulated()))
    }

    /// The server's time in frames, as far as it is known; never on R-Type, which does not tell it.
    #[must_use]
    pub fn server_frame(&self, now: Duration) -> Option<f64> {
        let ready = self.clock.is_ready() && !matches!(self.phase, Phase::Over(_));
        ready.then(|| self.in_frames(self.clock.server_time(Time::from(now))))
    }

    /// The time in frames at which others are drawn; it lies behind the server's.
    #[must_use]
    pub fn render_frame(&self) -> Option<f64> {
        self.playout.time().map(|time| self.in_frames(time))
    }

    /// The predicted body of our own player, exactly as the rule gave it.
    #[must_use]
    pub fn predicted(&self) -> Option<&Body> {
        match &self.by_arrival {
            Some(mine) => mine.trail.predicted(),
            None => self.history.predicted(),
        }
    }

    /// Our own player as it is to be drawn: between two steps, and with corrections shown gradually.
    #[must_use]
    pub fn own(&self) -> Option<Body> {
        let between = self.pace.as_ref().map_or(1.0, Pace::between_steps);
        match &self.by_arrival {
            Some(mine) => mine.trail.drawn(between),
            None => self.history.drawn(between),
        }
    }

    /// Everybody else as they are to be drawn, by id.
    pub fn others(&self) -> impl Iterator<Item = Seen> {
        let own = self.id;
        let render = self.render_frame();
        render
            .into_iter()
            .flat_map(move |render| self.scene.entities(self.scene_time(render), self.scene_rate()))
            .filter(move |seen| Some(seen.id) != own)
    }

    /// An entity as the newest snapshot has it, without prediction and interpolation: for comparison.
    #[must_use]
    pub fn raw(&self, id: u8) -> Option<&Body> {
        self.scene.newest(id)
    }

    /// Every projectile at a time in frames: [`render_frame`](Self::render_frame) shows them among the others.
    pub fn shots(&self, frame: f64) -> impl Iterator<Item = Shot> {
        self.scene.shots(self.scene_time(frame), self.scene_rate())
    }

    /// The statistics so far.
    #[must_use]
    pub fn stats(&self) -> ClientStats {
        let duration = |nanos: i64| Duration::from_nanos(u64::try_from(nanos).unwrap_or(0));
        ClientStats {
            prediction: self.by_arrival.as_ref().map_or(self.history.stats(), |mine| mine.trail.stats()),
            round_trip: duration(self.clock.mean_round_trip()),
            jitter: duration(self.clock.arrival_jitter()),
            delay: duration(self.playout.delay()),
            ..self.stats
        }
    }

    // Internal.

    /// The scene's units a second: frames, or milliseconds where its time is that of arrival.
    fn scene_rate(&self) -> u16 {
        if self.by_arrival.is_some() { ARRIVAL_RATE } else { self.frame_rate }
    }

    /// A time in frames, as the scene counts it.
    fn scene_time(&self, frame: f64) -> f64 {
        match &self.by_arrival {
            Some(_) => frame * self.clock.frame_nanos() as f64 / 1e6,
            None => frame,
        }
    }

    fn in_frames(&self, nanos: i64) -> f64 {
        nanos as f64 / self.clock.frame_nanos() as f64
    }

    fn tell(&mut self, event: ClientEvent) {
        if self.events.len() == MAX_EVENTS {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }

    fn end(&mut self, reason: OverReason) {
        self.phase = Phase::Over(reason);
        self.tell(ClientEvent::Over(reason));
    }

    /// Ends the connection if the server has been silent for too long, or has left.
    fn keep_watch(&mut self, now: Time) {
        let gap = self.advanced_at.map_or(Span::ZERO, |at| now.since(at));
        if self.advanced_at.is_none() {
            (self.began, self.heard_at) = (now, now);
        } else if gap > MAX_GAP {
            self.heard_at = self.heard_at + gap;
        }
        self.advanced_at = Some(now);
        let timeout = Span::from(self.config.timeout);
        let join_timeout = Span::from(self.config.join_timeout);
        let asking = self.asking_since.map_or(Span::ZERO, |since| now.since(since));
        match self.phase {
            Phase::Asking if self.by_arrival.is_some() && asking >= RTYPE_PATIENCE => {
                self.end(OverReason::NoAnswer);
            }
            Phase::Asking | Phase::Proving { .. } if now.since(self.began) > join_timeout => {
                self.end(OverReason::NoAnswer);
            }
            Phase::Playing { .. } if now.since(self.heard_at) > timeout => self.end(OverReason::Silent),
            Phase::Playing { .. } if self.said_leave.is_some_and(|at| now.since(at) > BELIEVED_AFTER) => {
                self.end(match self.bye {
                    None => OverReason::Ended,
                    Some(true) => OverReason::Kicked,
                    Some(false) => OverReason::Shutdown,
                });
            }
            _ => {}
        }
    }

    /// Takes in the messages that are here, before the snapshot that may have come with them.
    fn deliver(&mut self, now: Time) {
        let (own, frame_nanos) = (self.id, self.clock.frame_nanos());
        let near = if self.by_arrival.is_some() { arrival_millis(now) } else { self.newest_frame };
        // Events tell frames of the server, or of our own clock where the scene's time is that of arrival.
        let by_arrival = self.by_arrival.is_some();
        let in_frames = |at: u64| if by_arrival { at * 1_000_000 / frame_nanos.unsigned_abs() } else { at };
        let Self { link, scene, events, clock, playout, .. } = self;
        let (mut terms_heard, mut bye, mut spawned_at) = (None, None, None);
        link.deliver(near, |delivered| {
            let event = match delivered {
                Delivered::Terms(terms, frame)
                    if check_rates(terms.frame_rate, terms.broadcast_rate).is_ok() =>
                {
                    clock.set_rates(terms.frame_rate, terms.broadcast_rate);
                    playout.set_rate(terms.broadcast_rate);
                    terms_heard = Some((terms, frame));
                    ClientEvent::Terms(terms)
                }
                Delivered::Terms(..) => return,
                Delivered::Record(record) => {
                    scene.record(&record);
                    match record {
                        Record::Spawn { id, kind, frame, place } => {
                            spawned_at = place.filter(|_| own == Some(id)).or(spawned_at);
                            ClientEvent::Spawned { id, kind, frame: in_frames(frame) }
                        }
                        Record::Gone { id, frame, .. } => ClientEvent::Gone { id, frame: in_frames(frame) },
                        Record::Hit { id, damage, frame } => {
                            ClientEvent::Hit { id, damage, frame: in_frames(frame) }
                        }
                        Record::Told { frame, told } => ClientEvent::Told { frame, told },
                        Record::Bye { kicked } => {
                            bye = Some(kicked);
                            return;
                        }
                        _ => return,
                    }
                }
            };
            if events.len() == MAX_EVENTS {
                events.pop_front();
            }
            events.push_back(event);
        });
        self.bye = bye.or(self.bye);
        if let Some(place) = spawned_at {
            self.spawned_at(place);
        }
        // Terms that come after a count has begun are too late to change how inputs are numbered.
        if let (Some((terms, frame)), None) = (terms_heard, &self.pace) {
            (self.has_terms, self.frame_rate) = (true, terms.frame_rate);
            self.newest_frame = if self.newest_frame == 0 { u64::from(frame) } else { self.newest_frame };
        }
        self.scene.told_of_spawns |= terms_heard.is_some();
    }
}

fn nanos(now: Time) -> i64 {
    now.since(Time::ZERO).nanos() as i64
}
