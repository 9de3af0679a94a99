//! The server: seats by proof, one input a player and frame, one step, snapshots and reliable records to all.
//!
//! | file | |
//! |---|---|
//! | `mod.rs`, `traffic.rs` | [`Server`]: its calls, and its datagrams |
//! | `access.rs` | addresses without a seat: `trial.rs` before a seat, `guesses.rs` wrong proofs by source |
//! | `seats.rs`, `seat.rs` | the clients; `ready.rs` those that have something to send |
//! | `inputs.rs` | the inputs of a seat: `input_buffer.rs` by number, `sequenced.rs` by packet |
//! | `replicated.rs` | the world as clients see it: `entities.rs`, `shots.rs`, `log.rs` |
//! | `stage.rs` | the same for the world's step |
//! | `frame_clock.rs`, `broadcast.rs` | frames, and the snapshots that every client gets |
//! | `event.rs` | events and statistics for the owner |

mod access;
mod broadcast;
mod entities;
mod event;
mod frame_clock;
mod guesses;
mod input_buffer;
mod inputs;
mod log;
mod ready;
mod replicated;
mod seat;
mod seats;
mod sequenced;
pub(crate) mod shots;
mod stage;
mod traffic;
mod trial;

pub use event::{LeftWhy, ServerEvent, ServerStats};
pub(crate) use input_buffer::InputBuffer;
pub(crate) use inputs::InputQueue;
pub use inputs::InputStats;
pub(crate) use sequenced::Sequenced;
pub use stage::{Shot, Stage};

use super::dialect::Wire;
use super::{AuthorityConfigError, Body, Command, ServerConfig, Terms, World};
use crate::Frame;
use crate::channel::entropy::Entropy;
use crate::protocol::time::{Span, Time};
use crate::protocol::trace;
use access::Access;
use broadcast::Broadcast;
use core::time::Duration;
use frame_clock::FrameClock;
use replicated::Replicated;
use seats::Seats;
use std::collections::VecDeque;

/// The most events that wait for the owner.
const MAX_EVENTS: usize = 1_024;

/// A server: steps a [`World`] for many players and sends them snapshots and reliable records.
///
/// `W` is the format of its datagrams. It is a [`Protocol`](crate::Protocol) and has neither a socket nor a clock. Its
/// memory is taken at the start.
#[derive(Debug)]
pub struct Server<W: Wire> {
    config: ServerConfig,
    clock: FrameClock,
    access: Access,
    seats: Seats<W>,
    replicated: Replicated,
    broadcast: Broadcast<W::ServerLink>,
    /// The players of this frame and their commands.
    players: Vec<(u8, Command)>,
    events: VecDeque<ServerEvent>,
    stats: ServerStats,
}

impl<W: Wire> Server<W> {
    /// A server with nobody on it.
    ///
    /// # Errors
    /// If the config cannot be used.
    pub fn new(config: ServerConfig) -> Result<Self, AuthorityConfigError> {
        config.check()?;
        let mut entropy = Entropy::new(config.entropy);
        let spread = (entropy.next_u64(), entropy.next_u64());
        Ok(Self {
            clock: FrameClock::new(&config),
            access: Access::new(&config, entropy),
            seats: Seats::new(&config, spread),
            replicated: Replicated::new(config.frame_rate),
            broadcast: Broadcast::new(config.frame_rate, config.broadcast_rate),
            players: Vec::with_capacity(256),
            events: VecDeque::with_capacity(MAX_EVENTS),
            stats: ServerStats::default(),
            config,
        })
    }

    // Commands.

    /// Steps one frame: applies one input of each player, moves the players by the rule, steps the world, and queues the
    /// datagrams of the frame. Call it when [`next_frame_at`](Self::next_frame_at) has come, and send at once.
    pub fn advance<G: World>(&mut self, now: Duration, world: &mut G) {
        let now = Time::from(now);
        let frame = self.clock.begin_frame(now);
        self.stats.frames += 1;
        self.remove_lost(now, world);
        self.replicated.enter(world, frame);
        self.players.clear();
        for seat in self.seats.playing_mut() {
            let player = (seat.id(), seat.take_command(frame, self.config.hold_frames));
            self.replicated.walk(world, player.0, player.1);
            self.players.push(player);
        }
        world.step(&mut self.replicated.stage(frame, &self.players, W::HAS_MESSAGES));
        self.queue_records(now, world);
        if self.broadcast.is_due(frame) {
            self.stats.bodies_not_finite += self.broadcast.prepare(frame, &self.replicated);
            let (budget, replicated) = (self.broadcast.budget(), &self.replicated);
            self.seats.begin_broadcast(self.broadcast.prepared_mut(), budget, |viewer, id| {
                replicated.sight(world, viewer, id)
            });
        }
        self.replicated.free_up(frame, self.seats.heard_by_all());
    }

    /// Removes a client, which is told that it was kicked. `false` if there is none of that id.
    pub fn kick<G: World>(&mut self, now: Duration, world: &mut G, id: u8) -> bool {
        let Some(at) = self.seats.of_id(id) else { return false };
        self.remove(Time::from(now), world, at, LeftWhy::Kicked);
        true
    }

    /// Removes every client and tells all of them that the server shuts down. Keep sending while
    /// [`lingers`](crate::Protocol::lingers) is true.
    pub fn shutdown<G: World>(&mut self, now: Duration, world: &mut G) {
        while let Some(at) = self.seats.first_playing() {
            self.remove(Time::from(now), world, at, LeftWhy::Shutdown);
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
        self.clock.next_at().into()
    }

    /// The number of the frame that was stepped last.
    #[must_use]
    pub fn frame(&self) -> Frame {
        self.clock.frame()
    }

    /// The number of seated clients.
    #[must_use]
    pub fn clients(&self) -> usize {
        self.seats.playing().count()
    }

    /// The id, the kind and the body of every entity, by id.
    pub fn entities(&self) -> impl Iterator<Item = (u8, u8, &Body)> {
        self.replicated.entities().iter().map(|(id, kind, _, body)| (id, kind, body))
    }

    /// The body of an entity.
    #[must_use]
    pub fn body(&self, id: u8) -> Option<&Body> {
        self.replicated.body(id)
    }

    /// The input statistics of a client.
    #[must_use]
    pub fn input_stats(&self, id: u8) -> Option<InputStats> {
        self.seats.playing().find(|seat| seat.id() == id).map(seat::Seat::input_stats)
    }

    /// The statistics so far.
    #[must_use]
    pub fn stats(&self) -> &ServerStats {
        &self.stats
    }

    // Internal.

    /// Now, and the time spent listening.
    fn times(&self, now: Time) -> (Time, Time) {
        (now, self.clock.listened())
    }

    fn terms(&self) -> Terms {
        let ServerConfig { frame_rate, broadcast_rate, seed, .. } = self.config;
        Terms { frame_rate, broadcast_rate, seed }
    }

    fn remove_lost<G: World>(&mut self, now: Time, world: &mut G) {
        let (times, timeout, mut from) = (self.times(now), Span::from(self.config.timeout), 0);
        while let Some((at, why)) = self.seats.next_lost(from, times, timeout) {
            self.remove(now, world, at, why);
            from = at + 1;
        }
    }

    fn remove<G: World>(&mut self, now: Time, world: &mut G, at: usize, why: LeftWhy) {
        let id = self.seats.remove(now, at, why);
        self.replicated.leave(world, id, self.clock.frame());
        self.tell(ServerEvent::Left { id, why });
    }

    fn tell(&mut self, event: ServerEvent) {
        if self.events.len() < MAX_EVENTS {
            self.events.push_back(event);
            if self.events.len() == MAX_EVENTS {
                trace::queue_full("events of a server");
            }
        }
    }

    /// Packs new records of the log into each client's messages, and removes clients that are too far behind.
    fn queue_records<G: World>(&mut self, now: Time, world: &mut G) {
        let mut from = 0;
        while let Some(at) = self.seats.read_log(from, now, self.replicated.log()) {
            self.remove(now, world, at, LeftWhy::Behind);
            from = at + 1;
        }
    }
}
