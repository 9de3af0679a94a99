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
/// memory is allocated at the start.
///
/// A whole game, both sides of it, by invite over UDP in one process:
///
/// ```
/// # #[cfg(all(feature = "seal", feature = "udp"))] {
/// use rebout::authority::{Body, ClientConfig, ClientEvent, Command, GameWire, Server, ServerConfig, Stage, World};
/// use rebout::{ConnectOptions, Connection};
/// use std::{error::Error, thread, time::Duration};
///
/// /// Whoever touches the coin gets a point, and the coin goes elsewhere.
/// #[derive(Default)]
/// struct Coins { coin: Option<u8>, points: u8 }
///
/// impl World for Coins {
///     fn walk(&self, body: &mut Body, command: Command) {     // server and client: the same rule
///         (body.velocity_x, body.velocity_y) = (command.x * 30.0, command.y * 30.0);   // units a second
///         body.x = (body.x + body.velocity_x / 60.0).clamp(0.0, 100.0);
///         body.y = (body.y + body.velocity_y / 60.0).clamp(0.0, 100.0);
///     }
///     fn enter(&mut self, id: u8) -> (u8, Body) {              // a player: kind and first body
///         (0, Body::at(f32::from(id % 10) * 10.0, 50.0))
///     }
///     fn step(&mut self, stage: &mut Stage<'_>) {              // the server alone, after everybody has walked
///         let coin = *self.coin.get_or_insert_with(|| stage.spawn(1, Body::at(50.0, 50.0)).unwrap_or(0));
///         let Some(at) = stage.body(coin).copied() else { return };
///         let taken = stage.entities().find(|(_, kind, body)| *kind == 0 && body.distance(&at) < 2.0);
///         if let Some((id, ..)) = taken {
///             self.points += 1;
///             stage.tell(&[id, self.points]);                  // reliable, in order
///             stage.body_mut(coin).into_iter().for_each(|body| body.x = (at.x + 37.0) % 100.0);
///         }
///     }
/// }
///
/// fn serve(mut net: Connection) -> Result<(), Box<dyn Error + Send + Sync>> {
///     let (mut server, mut world) = (Server::<GameWire>::new(ServerConfig::new(1))?, Coins::default());
///     while world.points < 2 {
///         let due = server.next_frame_at();
///         net.run_until(&mut server, due)?;                    // moves datagrams while it waits
///         server.advance(net.now(), &mut world);               // one frame; every third is broadcast
///         net.flush(&mut server)?;
///     }
///     server.shutdown(net.now(), &mut world);                  // everybody is told
///     net.close(&mut server, Duration::from_secs(1))?;
///     Ok(())
/// }
///
/// let host = Connection::host(&ConnectOptions::new().guests(32))?;   // as many as the server has seats
/// let invite = host.share().to_owned();                        // for the players, and nobody else
/// let serving = thread::spawn(|| serve(host));
/// let mut net = Connection::join(&ConnectOptions::new(), &invite)?;
/// let (mut client, mut points) = (net.client::<GameWire>(ClientConfig::new(2))?, 0);
/// while client.over().is_none() {
///     let due = client.next_frame_at();
///     net.run_until(&mut client, due)?;
///     while let Some(event) = client.poll_event() {            // a death before the snapshot that shows it
///         if let ClientEvent::Told { told, .. } = event { points = told.bytes()[1] }
///     }
///     let coin = client.others().find(|seen| seen.kind == 1).map(|seen| seen.body).unwrap_or_default();
///     let me = client.own().unwrap_or_default();
///     let command = Command::new((coin.x - me.x) / 10.0, (coin.y - me.y) / 10.0, 0);
///     client.advance(net.now(), &Coins::default(), command);   // reconciles, predicts, interpolates
///     net.flush(&mut client)?;                                 // then draw own(), others(), shots(..)
/// }
/// assert_eq!((points, serving.join().unwrap().is_ok()), (2, true));
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
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
    /// A server without clients.
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
