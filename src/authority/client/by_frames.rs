//! The view on a wire that carries frames: the own player is replayed exactly, the others are drawn on the server's clock.

use super::ClientStats;
use super::clock::{ServerClock, duration, nanos};
use super::history::History;
use super::own::Own;
use super::playout::Playout;
use super::scene::Scene;
use super::steps::Steps;
use super::view::View;
use crate::Frame;
use crate::authority::dialect::{ClientEnd, NumberedInput, Stamp};
use crate::authority::{Body, ClientConfig, Command, FrameTime, Record, Shown, Terms, World, ahead};
use crate::channel::refusal::Refusal;
use crate::protocol::time::{Span, Time};

/// A server that has not said its terms by now says none.
const TERMS_WITHIN: Span = Span::from_secs(1);

/// The number of inputs in a packet, and the number when losses come in bursts.
const REDUNDANCY: u32 = 4;
const MAX_REDUNDANCY: u32 = 8;

/// How inputs are numbered: by the frames that they ask for once the server has sent its terms, otherwise as a count that
/// begins after `base`.
#[derive(Clone, Copy, Debug, Default)]
struct Numbering {
    has_terms: bool,
    base: u32,
}

/// The newest state of our own entity that the server has sent.
#[derive(Clone, Copy, Debug)]
struct Baseline {
    frame: Frame,
    applied: Option<u32>,
    body: Body,
}

#[derive(Clone, Debug)]
pub(crate) struct ByFrames {
    clock: ServerClock,
    steps: Steps,
    numbering: Numbering,
    history: History,
    baseline: Option<Baseline>,
    held_by_server: u64,
    playout: Playout,
    scene: Scene,
}

impl ByFrames {
    /// The time of a frame on the server's count.
    fn time_of(&self, frame: Frame) -> Time {
        Time::ZERO.shifted(self.clock.time_of(frame))
    }

    /// Begins to step once the clock is there and it is known how inputs are numbered.
    fn begin_stepping(&mut self, (now, since): (Time, Time), link: &mut impl ClientEnd) {
        let decided = self.numbering.has_terms || now.since(since) > TERMS_WITHIN;
        if self.steps.have_begun() || !decided || self.baseline.is_none() {
            return;
        }
        let step = self.steps.begin(nanos(now), self.clock.target(now), self.clock.frame_nanos());
        self.history.begin_after(step);
        if self.numbering.has_terms {
            link.queue_numbered(now, step.next().0);
        } else {
            self.numbering.base = step.0;
        }
    }

    fn reconcile(&mut self, world: &impl World) {
        let Some(baseline) = self.baseline.take_if(|_| self.steps.have_begun()) else { return };
        let applied = if self.numbering.has_terms {
            // The server has stepped all frames up to this one, with our inputs or with what it held.
            baseline.frame
        } else {
            Frame(self.numbering.base.wrapping_add(baseline.applied.unwrap_or(0)))
        };
        self.history.reconcile(world, applied, baseline.body);
    }
}

impl View for ByFrames {
    type Stamp = Stamp;

    fn new(config: &ClientConfig) -> Self {
        Self {
            clock: ServerClock::new(config.frame_rate, config.broadcast_rate),
            steps: Steps::new(config.frame_rate),
            numbering: Numbering::default(),
            history: History::new(),
            baseline: None,
            held_by_server: 0,
            playout: Playout::new(config.broadcast_rate),
            scene: Scene::new(false),
        }
    }

    fn set_terms(&mut self, terms: &Terms, frame: Frame) {
        self.clock.reached(frame);
        self.clock.set_rates(terms.frame_rate, terms.broadcast_rate);
        self.playout.set_rate(terms.broadcast_rate);
        self.scene.expect_spawns();
        // Terms that come after a count has begun are too late to change how inputs are numbered.
        if !self.steps.have_begun() {
            self.numbering.has_terms = true;
            self.steps.set_rate(terms.frame_rate);
        }
    }

    fn round_trip(&mut self, sample: Span) -> bool {
        self.clock.round_trip(sample)
    }

    fn entities(
        &mut self,
        now: Time,
        own: Option<u8>,
        Stamp { frame, applied }: Stamp,
        shown: &[Shown],
    ) -> Result<(), Refusal> {
        if !self.clock.arrived(now, frame) {
            return Err(Refusal::OutOfPlace);
        }
        self.scene.snapshot(self.time_of(frame), shown);
        let own = shown.iter().find(|shown| Some(shown.id) == own.map(u16::from));
        let newer = self.baseline.is_none_or(|baseline| ahead(frame.0, baseline.frame.0) > 0);
        if let Some(own) = own
            && newer
        {
            self.baseline = Some(Baseline { frame, applied, body: own.body });
            let began = self.steps.have_begun() && self.numbering.has_terms;
            self.held_by_server += u64::from(began && applied.is_some_and(|number| number != frame.0));
        }
        Ok(())
    }

    /// Every record has a frame of its own.
    fn arrival_frame(&self, _: Time) -> Frame {
        Frame::ZERO
    }

    fn record(&mut self, _: Time, _: Option<u8>, record: &Record) {
        let at = self.time_of(record.frame().unwrap_or_default());
        self.scene.record(at, record);
    }

    fn advance<L: ClientEnd, G: World>(
        &mut self,
        times: (Time, Time),
        link: &mut L,
        world: &G,
        command: Command,
    ) -> u32 {
        if !self.clock.is_ready() {
            return 0;
        }
        let now = times.0;
        self.begin_stepping(times, link);
        self.reconcile(world);
        self.clock.smooth_lead(link.recent_loss_run());
        let command = Command::new(command.x, command.y, command.actions);
        let history = &mut self.history;
        let steps =
            self.steps.take(nanos(now), self.clock.target(now), |step| history.step(world, step, command));
        let arrival = self.clock.arrival_line(now);
        self.playout.advance(nanos(now), arrival, self.clock.arrival_jitter());
        steps
    }

    /// The inputs of all steps that are due, and those before them again.
    fn next_inputs(&mut self, loss_run: u32, into: &mut Vec<NumberedInput>) -> bool {
        let due = core::mem::take(self.steps.inputs_due());
        if due == 0 {
            return false;
        }
        let redundancy = match loss_run {
            0..2 => REDUNDANCY,
            run => (REDUNDANCY + run).min(MAX_REDUNDANCY),
        };
        self.history.newest(due - 1 + redundancy, self.numbering.base, into);
        true
    }

    fn server_frame(&self, now: Time) -> Option<FrameTime> {
        let time = self.clock.is_ready().then(|| self.clock.server_time(now))?;
        Some(FrameTime::of_nanos(time, self.clock.frame_nanos()))
    }

    fn render_time(&self) -> Option<Time> {
        self.playout.time().map(|nanos| Time::ZERO.shifted(nanos))
    }

    fn frame_nanos(&self) -> i64 {
        self.clock.frame_nanos()
    }

    fn own(&self) -> &Own {
        self.history.own()
    }

    fn fill(&self, stats: &mut ClientStats) {
        stats.prediction = self.history.own().stats();
        stats.held_by_server = self.held_by_server;
        stats.round_trip = duration(self.clock.mean_round_trip());
        stats.jitter = duration(self.clock.arrival_jitter());
        stats.delay = duration(self.playout.delay());
    }

    fn steps(&self) -> &Steps {
        &self.steps
    }

    fn scene(&self) -> &Scene {
        &self.scene
    }
}
