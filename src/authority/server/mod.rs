//! The server: seats by proof, one input a player and frame, one step, snapshots and reliable records to all.

mod access;
mod entities;
mod event;
mod guesses;
mod input_buffer;
mod log;
mod seat;
mod seats;
mod sequenced;
pub(crate) mod shots;
mod stage;
mod traffic;
mod trial;

pub use event::{LeftWhy, ServerEvent, ServerStats};
pub use input_buffer::InputStats;
pub use stage::{Shot, Stage};

use super::config::{AuthorityConfigError, ServerConfig, Wire};
use super::dialect::{Lost, NumberedInput, Parts, ServerLink, SpeaksToClient};
use super::record::{FIRST_SHOT, Record, Shown, Terms};
use super::world::{Body, World};
use crate::channel::entropy::Entropy;
use crate::protocol::time::{Span, Time};
use access::Access;
use core::time::Duration;
use entities::Entities;
use log::{Log, To};
use seats::Seats;
use shots::Shots;
use std::collections::VecDeque;

/// A server that was away for longer than this makes nothing up: the time in between never was.
const MAX_CATCH_UP: Span = Span::from_millis(250);

/// The most events that wait for the owner.
const MAX_EVENTS: usize = 1_024;

/// The most entities a second that a client is told of where each is a packet of its own.
const MAX_UPDATES_A_SECOND: u16 = 300;

/// A server: steps a [`World`] for many players and sends them snapshots and reliable records.
///
/// It is a [`Protocol`](crate::Protocol) and has neither a socket nor a clock. Its memory is taken at the start.
#[derive(Debug)]
pub struct Server {
    config: ServerConfig,
    frame: u64,
    frame_span: Span,
    next_frame_at: Option<Time>,
    advanced_at: Time,
    access: Access,
    seats: Seats,
    entities: Entities,
    shots: Shots,
    log: Log,
    /// The entities of the last broadcast, and its datagrams.
    shown: Vec<Shown>,
    parts: Parts,
    inputs: Vec<NumberedInput>,
    events: VecDeque<ServerEvent>,
    stats: ServerStats,
    /// Clients that wait for their first body.
    entering: VecDeque<u8>,
}

impl Server {
    /// A server with nobody on it.
    ///
    /// # Errors
    /// If the config cannot be used.
    pub fn new(config: ServerConfig) -> Result<Self, AuthorityConfigError> {
        config.check()?;
        let mut entropy = Entropy::new(config.entropy);
        let spread = (entropy.next_u64(), entropy.next_u64());
        Ok(Self {
            frame: u64::from(config.first_frame),
            frame_span: Span::from(Duration::from_secs(1)) / u32::from(config.frame_rate),
            next_frame_at: None,
            advanced_at: Time::ZERO,
            access: Access::new(&config, entropy),
            seats: Seats::new(&config, spread),
            entities: Entities::new(),
            shots: Shots::new(),
            log: Log::new(),
            shown: Vec::with_capacity(512),
            parts: Parts::new(),
            inputs: Vec::with_capacity(256),
            events: VecDeque::with_capacity(MAX_EVENTS),
            stats: ServerStats::default(),
            entering: VecDeque::with_capacity(256),
            config,
        })
    }

    // Commands.

    /// Steps one frame: applies one input of each player, moves the players by the rule, steps the world, and queues the
    /// datagrams of the frame. Call it when [`next_frame_at`](Self::next_frame_at) has come, and send at once.
    pub fn advance<W: World>(&mut self, now: Duration, world: &mut W) {
        let now = Time::from(now);
        self.keep_time(now);
        self.frame += 1;
        self.stats.frames += 1;
        self.remove_the_silent(now, world);
        while let Some(id) = self.entering.pop_front() {
            let (kind, body) = world.enter(id);
            self.entities.place(id, kind, body, self.frame);
            let place = Some((body.x, body.y));
            self.log.push(To::All, Record::Spawn { id, kind, frame: self.frame, place });
        }
        for seat in self.seats.all_mut().iter_mut().filter(|seat| seat.is_playing()) {
            seat.command = seat.inputs.take(self.frame, self.config.hold_frames);
            if let Some(body) = self.entities.body_mut(seat.id) {
                world.walk(body, seat.command);
            }
        }
        world.step(&mut Stage {
            frame: self.frame,
            frame_rate: self.config.frame_rate,
            wire: self.config.wire,
            seats: self.seats.all_mut(),
            entities: &mut self.entities,
            shots: &mut self.shots,
            log: &mut self.log,
        });
        self.queue_records(now, world);
        if self.frame.is_multiple_of(u64::from(self.config.frame_rate / self.config.broadcast_rate)) {
            self.begin_broadcast();
        }
        let heard = self.seats.heard_by_all().unwrap_or(self.log.newest());
        self.entities.free_up(self.frame, self.config.frame_rate, heard);
    }

    /// Removes a client, which is told that it was kicked. `false` if there is none of that id.
    pub fn kick<W: World>(&mut self, now: Duration, world: &mut W, id: u8) -> bool {
        let Some(at) = self.seats.of_id(id) else { return false };
        self.remove(Time::from(now), world, at, LeftWhy::Kicked);
        true
    }

    /// Removes every client and tells all of them that the server shuts down. Keep sending while
    /// [`lingers`](crate::Protocol::lingers) is true.
    pub fn shutdown<W: World>(&mut self, now: Duration, world: &mut W) {
        for at in 0..self.seats.all().len() {
            if self.seats.all()[at].is_playing() {
                self.remove(Time::from(now), world, at, LeftWhy::Shutdown);
            }
        }
    }

    /// The next event, in order.
    pub fn poll_event(&mut self) -> Option<ServerEvent> {
        self.events.pop_front()
    }

    // Getters.

    /// When the next frame is due.
    #[must_use]
    pub fn next_frame_at(&self) -> Duration {
        self.next_frame_at.unwrap_or(Time::ZERO).into()
    }

    /// The number of the frame that was stepped last.
    #[must_use]
    pub fn frame(&self) -> u64 {
        self.frame
    }

    /// The number of seated clients.
    #[must_use]
    pub fn clients(&self) -> usize {
        self.seats.all().iter().filter(|seat| seat.is_playing()).count()
    }

    /// The id, the kind and the body of every entity, by id.
    pub fn entities(&self) -> impl Iterator<Item = (u8, u8, &Body)> {
        self.entities.iter().map(|(id, kind, _, body)| (id, kind, body))
    }

    /// The body of an entity.
    #[must_use]
    pub fn body(&self, id: u8) -> Option<&Body> {
        self.entities.get(id).map(|(_, _, body)| body)
    }

    /// The input statistics of a client.
    #[must_use]
    pub fn input_stats(&self, id: u8) -> Option<InputStats> {
        self.seats.of_id(id).map(|at| self.seats.all()[at].inputs.stats())
    }

    /// The statistics so far.
    #[must_use]
    pub fn stats(&self) -> &ServerStats {
        &self.stats
    }

    // Internal.

    fn keep_time(&mut self, now: Time) {
        let due = self.next_frame_at.unwrap_or(now);
        let due = if now.since(due) > MAX_CATCH_UP { now } else { due };
        self.next_frame_at = Some(due + self.frame_span);
        // A server that was stopped heard nobody in that time, and does not blame them.
        let away = now.since(self.advanced_at);
        if away > MAX_CATCH_UP && self.stats.frames > 0 {
            self.seats.all_mut().iter_mut().for_each(|seat| seat.heard_at = seat.heard_at + away);
        }
        self.advanced_at = now;
    }

    fn terms(&self) -> Terms {
        Terms {
            frame_rate: self.config.frame_rate,
            broadcast_rate: self.config.broadcast_rate,
            seed: self.config.seed,
        }
    }

    fn remove_the_silent<W: World>(&mut self, now: Time, world: &mut W) {
        let timeout = Span::from(self.config.timeout);
        for at in 0..self.seats.all().len() {
            let seat = &self.seats.all()[at];
            if !seat.is_playing() {
                continue;
            }
            if seat.has_left(now) {
                self.remove(now, world, at, LeftWhy::Left);
            } else if let Some(lost) = seat.link.lost(now) {
                let why = match lost {
                    Lost::Unanswered => LeftWhy::Unanswered,
                    Lost::Rejected => LeftWhy::Rejected,
                };
                self.remove(now, world, at, why);
            } else if now.since(seat.heard_at) > timeout {
                self.remove(now, world, at, LeftWhy::Silent);
            }
        }
    }

    fn remove<W: World>(&mut self, now: Time, world: &mut W, at: usize, why: LeftWhy) {
        let seat = &mut self.seats.all_mut()[at];
        let (id, frame) = (seat.id, self.frame);
        match why {
            LeftWhy::Left => seat.clear(),
            _ => {
                let kicked = why != LeftWhy::Shutdown;
                if why != LeftWhy::Silent {
                    seat.link.queue_records(now, [(u64::MAX, &Record::Bye { kicked })].into_iter());
                }
                seat.begin_leaving(now);
            }
        }
        self.seats.freed(at);
        if self.entities.get(id).is_some() {
            world.leave(id);
            let mark = self.log.push(To::All, Record::Gone { id, frame, player: true });
            self.entities.remove(id, mark);
        } else {
            self.entities.release(id);
        }
        self.entering.retain(|waiting| *waiting != id);
        self.tell(ServerEvent::Left { id, why });
    }

    fn tell(&mut self, event: ServerEvent) {
        if self.events.len() < MAX_EVENTS {
            self.events.push_back(event);
        }
    }

    /// Packs new records of the log into each client's messages, and removes clients that are too far behind.
    fn queue_records<W: World>(&mut self, now: Time, world: &mut W) {
        for at in 0..self.seats.all().len() {
            let seat = &mut self.seats.all_mut()[at];
            if !seat.is_playing() {
                continue;
            }
            if seat.read_log(now, &self.log) {
                if self.seats.all()[at].has_due(now) {
                    self.seats.make_ready(at);
                }
            } else {
                self.remove(now, world, at, LeftWhy::Behind);
            }
        }
    }

    fn begin_broadcast(&mut self) {
        self.shown.clear();
        for (id, _, _, body) in self.entities.iter() {
            if body.is_finite() {
                self.shown.push(Shown { id: id.into(), body: *body });
            } else {
                self.stats.bodies_not_finite += 1;
            }
        }
        let wire = self.config.wire;
        if wire == Wire::Rtype {
            self.show_shots();
        }
        ServerLink::prepare_broadcast(wire, self.frame, &self.shown, &mut self.parts);
        let budget = usize::from((MAX_UPDATES_A_SECOND / self.config.broadcast_rate).max(1));
        for at in 0..self.seats.all().len() {
            let seat = &mut self.seats.all_mut()[at];
            if seat.is_playing() {
                seat.begin_broadcast(&self.parts, budget);
                self.seats.make_ready(at);
            }
        }
    }

    /// Shows projectiles as entities, for a wire without courses.
    fn show_shots(&mut self) {
        let (frame, rate) = (self.frame as f64, self.config.frame_rate);
        self.shown.extend(self.shots.iter().map(|(id, flight)| {
            let (x, y) = flight.course.at(frame, rate);
            Shown { id: FIRST_SHOT + u16::from(id), body: Body::at(x, y) }
        }));
    }
}
