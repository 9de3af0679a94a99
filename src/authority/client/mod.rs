//! The client: predicts its own player, and draws everybody else between two snapshots.
//!
//! | file | |
//! |---|---|
//! | `mod.rs`, `traffic.rs` | [`Client`]: its calls, and its datagrams |
//! | `lifecycle.rs`, `schedule.rs` | the phases of a connection, and when something is to be sent |
//! | `view.rs` | the seam to the two views: `by_frames.rs` on the server's frames, `by_arrival.rs` without frames |
//! | `steps.rs`, `pace.rs`, `clock.rs` | when the own player steps: towards the server's time and a lead |
//! | `own.rs`, `smoothing.rs` | the own player: its predicted body, and corrections that are shown gradually |
//! | `history.rs`, `trail.rs` | the prediction: by replay, or compared with where the player has been |
//! | `playout.rs`, `track.rs`, `scene.rs` | the others: render time, samples, and everything that is drawn |
//! | `event.rs` | events and statistics for the game |

mod by_arrival;
mod by_frames;
mod clock;
mod event;
mod history;
mod lifecycle;
mod own;
mod pace;
mod playout;
mod scene;
mod schedule;
mod smoothing;
mod steps;
mod track;
mod traffic;
mod trail;
mod view;

pub(crate) use by_arrival::ByArrival;
pub(crate) use by_frames::ByFrames;
pub use event::{ClientEvent, ClientStats, OverReason, PredictionStats};
pub use scene::Seen;
pub use track::Drawing;
pub(crate) use view::View;

use super::dialect::{ClientEnd, Delivered, NumberedInput, Wire};
use super::server::Shot;
use super::{
    AuthorityConfigError, Body, ClientConfig, Command, FrameTime, Record, Shown, World, check_rates,
};
use crate::Frame;
use crate::channel::entropy::Entropy;
use crate::protocol::time::Time;
use crate::protocol::trace;
use clock::nanos;
use core::time::Duration;
use event::Events;
use lifecycle::{Lifecycle, Phase};
use schedule::Schedule;
use std::net::SocketAddr;

/// A client of a [`Server`](super::Server): predicts its own player and interpolates everybody else.
///
/// `W` is the format of its datagrams. It is a [`Protocol`](crate::Protocol) and has neither a socket nor a clock. Its
/// memory is taken at the start.
#[derive(Debug)]
pub struct Client<W: Wire> {
    server: SocketAddr,
    link: W::ClientLink,
    view: W::View,
    lifecycle: Lifecycle,
    schedule: Schedule,
    /// The inputs of the packet that is written, and the entities of the one that is taken in.
    inputs: Vec<NumberedInput>,
    shown: Vec<Shown>,
    events: Events,
    stats: ClientStats,
}

impl<W: Wire> Client<W> {
    /// A client that asks `server` for a seat.
    ///
    /// # Errors
    /// If the config cannot be used.
    pub fn join(config: ClientConfig, server: SocketAddr) -> Result<Self, AuthorityConfigError> {
        config.check()?;
        Ok(Self {
            server,
            link: W::ClientLink::new(&config, &mut Entropy::new(config.entropy)),
            view: W::View::new(&config),
            lifecycle: Lifecycle::new(&config),
            schedule: Schedule::new(),
            inputs: Vec::with_capacity(16),
            shown: Vec::with_capacity(256),
            events: Events::new(),
            stats: ClientStats::default(),
        })
    }

    // Commands.

    /// Runs the client up to `now`: reconciles with the newest snapshot, takes the steps that are due with `command`, and moves
    /// the time at which others are drawn. Call it once for each picture, and send at once.
    pub fn advance<G: World>(&mut self, now: Duration, world: &G, command: Command) {
        let now = Time::from(now);
        if let Some(reason) = self.lifecycle.pass(now, W::ANSWER_WITHIN) {
            self.end(reason);
        }
        if let Phase::Playing { since } = self.lifecycle.phase() {
            let steps = self.view.advance((now, since), &mut self.link, world, command);
            self.stats.steps += u64::from(steps);
        }
    }

    /// Leaves the game. Keep sending while [`lingers`](crate::Protocol::lingers) is true.
    pub fn leave(&mut self, now: Duration) {
        if self.over().is_none() {
            if self.id().is_some() {
                self.schedule.begin_farewell(Time::from(now), W::FAREWELLS);
            }
            self.end(OverReason::Left);
        }
    }

    /// The next event, in order.
    pub fn poll_event(&mut self) -> Option<ClientEvent> {
        self.events.poll()
    }

    // Getters.

    /// When to call [`advance`](Self::advance) if nothing else calls for a picture before: when the next step is due.
    #[must_use]
    pub fn next_frame_at(&self) -> Duration {
        let Some(advanced_at) = self.lifecycle.advanced_at() else { return Duration::ZERO };
        let steps = self.view.steps();
        match steps.next_at().filter(|_| self.over().is_none()) {
            Some(due) => Duration::from_nanos(due).max(advanced_at.into()),
            None => Duration::from(advanced_at) + Duration::from_secs(1) / u32::from(steps.frame_rate()),
        }
    }

    /// Our id; `None` before the server has given us one.
    #[must_use]
    pub fn id(&self) -> Option<u8> {
        self.lifecycle.id()
    }

    /// The reason why the connection is over; `None` while it is not.
    #[must_use]
    pub fn over(&self) -> Option<OverReason> {
        match self.lifecycle.phase() {
            Phase::Over(reason) => Some(reason),
            _ => None,
        }
    }

    /// Frames a second.
    #[must_use]
    pub fn frame_rate(&self) -> u16 {
        self.view.steps().frame_rate()
    }

    /// The frame of the last step, which is ahead of the server; `None` before the first.
    #[must_use]
    pub fn frame(&self) -> Option<Frame> {
        self.view.steps().frame()
    }

    /// The time in frames that the steps follow: the server's and the lead.
    #[must_use]
    pub fn simulated_frame(&self) -> Option<FrameTime> {
        self.view.steps().simulated_frame()
    }

    /// The server's time in frames, as far as it is known; never on R-Type, which does not tell it.
    #[must_use]
    pub fn server_frame(&self, now: Duration) -> Option<FrameTime> {
        self.view.server_frame(Time::from(now)).filter(|_| self.over().is_none())
    }

    /// The time in frames at which others are drawn; it lies behind the server's.
    #[must_use]
    pub fn render_frame(&self) -> Option<FrameTime> {
        let time = self.view.render_time()?;
        Some(FrameTime::of_nanos(nanos(time), self.view.frame_nanos()))
    }

    /// The predicted body of our own player, exactly as the rule gave it.
    #[must_use]
    pub fn predicted(&self) -> Option<&Body> {
        self.view.own().predicted()
    }

    /// Our own player as it is to be drawn: between two steps, and with corrections shown gradually.
    #[must_use]
    pub fn own(&self) -> Option<Body> {
        self.view.own().drawn(self.view.steps().between())
    }

    /// Everybody else as they are to be drawn, by id.
    pub fn others(&self) -> impl Iterator<Item = Seen> {
        let render = self.view.render_time().into_iter();
        render.flat_map(|time| self.view.scene().entities(time)).filter(|seen| Some(seen.id) != self.id())
    }

    /// An entity as the newest snapshot has it, without prediction and interpolation: for comparison.
    #[must_use]
    pub fn raw(&self, id: u8) -> Option<&Body> {
        self.view.scene().newest(id)
    }

    /// Every projectile at a time in frames: [`render_frame`](Self::render_frame) shows them among the others.
    pub fn shots(&self, time: FrameTime) -> impl Iterator<Item = Shot> {
        let nanos = time.nanos(self.view.frame_nanos());
        self.view.scene().shots(Time::ZERO.shifted(nanos))
    }

    /// The statistics so far.
    #[must_use]
    pub fn stats(&self) -> ClientStats {
        let mut stats = self.stats;
        self.view.fill(&mut stats);
        stats
    }

    // Internal.

    fn end(&mut self, reason: OverReason) {
        trace::left(self.server, &reason);
        self.lifecycle.end(reason);
        self.events.tell(ClientEvent::Over(reason));
    }

    /// Takes in the messages that are here, before the snapshot that may have come with them.
    fn deliver(&mut self, now: Time) {
        let Self { link, view, lifecycle, events, .. } = self;
        link.deliver(view.arrival_frame(now), |delivered| match delivered {
            Delivered::Terms(terms, frame) => {
                if check_rates(terms.frame_rate, terms.broadcast_rate).is_ok() {
                    view.set_terms(&terms, frame);
                    events.tell(ClientEvent::Terms(terms));
                }
            }
            Delivered::Record(Record::Bye { kicked }) => lifecycle.told_bye(kicked),
            Delivered::Record(record) => {
                view.record(now, lifecycle.id(), &record);
                if let Some(event) = ClientEvent::of(&record) {
                    events.tell(event);
                }
            }
        });
    }
}
