//! The view on a wire without frames: its time is the time of arrival.

use super::ClientStats;
use super::clock::{duration, nanos};
use super::own::Own;
use super::playout::Playout;
use super::scene::Scene;
use super::steps::Steps;
use super::track::Track;
use super::trail::Trail;
use super::view::View;
use crate::Frame;
use crate::authority::dialect::{ClientEnd, NumberedInput};
use crate::authority::{Body, ClientConfig, Command, FrameTime, Record, Shown, Terms, World};
use crate::channel::refusal::Refusal;
use crate::protocol::time::{Span, Time};

/// A longer pause between two updates of an entity is one in which it stood, and no interval.
const MAX_INTERVAL: Span = Span::from_millis(500);

/// An entity that stood is taken to have begun to move this long before its next update.
const BEGAN_BEFORE_NANOS: i64 = 50_000_000;

/// The mean interval between two updates of an entity, and the mean deviation from it, in milliseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Intervals {
    mean: f32,
    deviation: f32,
}

impl Intervals {
    /// The weight of a new interval.
    const WEIGHT: f32 = 1.0 / 64.0;

    fn add(&mut self, interval: Span) {
        let away = interval.seconds() * 1e3 - self.mean;
        self.mean += away * Self::WEIGHT;
        self.deviation += (away.abs() - self.deviation) * Self::WEIGHT;
    }

    /// The jitter that makes the delay of render time one and a half intervals and three deviations.
    fn jitter(&self, broadcast_rate: u16) -> i64 {
        let surplus = (self.mean - 1e3 / f32::from(broadcast_rate)).max(0.0);
        ((self.deviation + surplus / 2.0) * 1e6) as i64
    }
}

/// The most inputs that wait to be sent.
const MAX_INPUTS_DUE: u32 = 32;

#[derive(Clone, Debug)]
pub(crate) struct ByArrival {
    frame_nanos: i64,
    broadcast_rate: u16,
    steps: Steps,
    trail: Trail,
    /// The newest update of our own entity.
    baseline: Option<Body>,
    intervals: Intervals,
    round_trip: Span,
    playout: Playout,
    scene: Scene,
}

/// A command that survives the wire: three directions in each axis, and one action.
fn rounded(command: Command) -> Command {
    let Command { x, y, actions } = Command::new(command.x, command.y, command.actions);
    Command { x: x.round(), y: y.round(), actions: actions & 1 }
}

/// Inserts an update into a track, with the velocity that it shows.
pub(super) fn insert(track: &mut Track, intervals: &mut Intervals, now: Time, mut body: Body) {
    if let Some((at, last)) = track.newest().copied() {
        let passed = now.since(at);
        let moved = last.x.to_bits() != body.x.to_bits() || last.y.to_bits() != body.y.to_bits();
        if passed > MAX_INTERVAL && moved {
            track.insert(now.shifted(-BEGAN_BEFORE_NANOS), last);
        } else if moved {
            intervals.add(passed);
        }
        let seconds = passed.clamp(Span::from_millis(1), MAX_INTERVAL).seconds();
        (body.velocity_x, body.velocity_y) = ((body.x - last.x) / seconds, (body.y - last.y) / seconds);
    }
    track.insert(now, body);
}

impl View for ByArrival {
    type Stamp = ();

    fn new(config: &ClientConfig) -> Self {
        Self {
            frame_nanos: 1_000_000_000 / i64::from(config.frame_rate),
            broadcast_rate: config.broadcast_rate,
            steps: Steps::new(config.frame_rate),
            trail: Trail::new(),
            baseline: None,
            intervals: Intervals { mean: 1e3 / f32::from(config.broadcast_rate), deviation: 0.0 },
            round_trip: Span::ZERO,
            playout: Playout::new(config.broadcast_rate),
            scene: Scene::new(true),
        }
    }

    /// The rates are those of the config.
    fn set_terms(&mut self, _: &Terms, _: Frame) {}

    fn round_trip(&mut self, sample: Span) -> bool {
        self.round_trip = sample;
        true
    }

    fn entities(&mut self, now: Time, own: Option<u8>, (): (), shown: &[Shown]) -> Result<(), Refusal> {
        for shown in shown {
            if Some(shown.id) == own.map(u16::from) {
                self.baseline = Some(shown.body);
            }
            self.scene.updated(now, shown, &mut self.intervals);
        }
        Ok(())
    }

    /// Events have frames of our own clock.
    fn arrival_frame(&self, now: Time) -> Frame {
        Frame((nanos(now) / self.frame_nanos) as u32)
    }

    /// The own player begins where the server has spawned it.
    fn record(&mut self, now: Time, own: Option<u8>, record: &Record) {
        self.scene.record(now, record);
        if let Record::Spawn { id, place: Some((x, y)), .. } = *record
            && own == Some(id)
            && self.trail.own().predicted().is_none()
        {
            let age = self.round_trip.nanos() as f32 / self.frame_nanos as f32;
            self.trail.begin(Body::at(x, y), age);
        }
    }

    fn advance<L: ClientEnd, G: World>(
        &mut self,
        (now, _): (Time, Time),
        _: &mut L,
        world: &G,
        command: Command,
    ) -> u32 {
        if let Some(body) = self.baseline.take() {
            self.trail.compare(&body);
        }
        let now = nanos(now);
        let mut steps = 0;
        if self.trail.own().predicted().is_some() {
            if !self.steps.have_begun() {
                self.steps.begin(now, now, self.frame_nanos);
            }
            let (trail, command) = (&mut self.trail, rounded(command));
            steps = self.steps.take(now, now, |_| trail.step(world, command));
            let due = self.steps.inputs_due();
            *due = (*due).min(MAX_INPUTS_DUE);
        }
        self.playout.advance(now, now, self.intervals.jitter(self.broadcast_rate));
        steps
    }

    /// The oldest input that is due: one a packet.
    fn next_inputs(&mut self, _: u32, into: &mut Vec<NumberedInput>) -> bool {
        let due = self.steps.inputs_due();
        let Some(age) = due.checked_sub(1) else { return false };
        *due = age;
        into.clear();
        into.push(self.trail.command(age.into()));
        true
    }

    /// The wire does not carry it.
    fn server_frame(&self, _: Time) -> Option<FrameTime> {
        None
    }

    fn render_time(&self) -> Option<Time> {
        self.playout.time().map(|nanos| Time::ZERO.shifted(nanos))
    }

    fn frame_nanos(&self) -> i64 {
        self.frame_nanos
    }

    fn own(&self) -> &Own {
        self.trail.own()
    }

    fn fill(&self, stats: &mut ClientStats) {
        stats.prediction = self.trail.own().stats();
        stats.round_trip = self.round_trip.into();
        stats.delay = duration(self.playout.delay());
    }

    fn steps(&self) -> &Steps {
        &self.steps
    }

    fn scene(&self) -> &Scene {
        &self.scene
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entity_that_stood_does_not_move_before_its_update() {
        let (mut track, mut intervals) = (Track::EMPTY, Intervals::default());
        let ms = |ms| Time::ZERO + Span::from_millis(ms);
        let place = |track: &Track, at: u64| track.at(ms(at)).unwrap().0.x;
        insert(&mut track, &mut intervals, ms(0), Body::at(10.0, 0.0));
        insert(&mut track, &mut intervals, ms(5_000), Body::at(20.0, 0.0));
        for (at, expected) in [(2_500, 10.0), (4_950, 10.0), (4_975, 15.0), (5_000, 20.0)] {
            assert!((place(&track, at) - expected).abs() < 1e-3, "{} at {at}", place(&track, at));
        }
        assert!(intervals.mean.abs() < 1e-6, "a pause is no interval: {}", intervals.mean);
        let (_, moved) = track.newest().copied().unwrap();
        assert!((moved.velocity_x - 20.0).abs() < 1e-3, "within half a second: {}", moved.velocity_x);
        insert(&mut track, &mut intervals, ms(5_064), Body::at(20.0, 0.0));
        assert!(intervals.mean.abs() < 1e-6, "it stood");
        insert(&mut track, &mut intervals, ms(5_128), Body::at(26.4, 0.0));
        assert!((intervals.mean - 1.0).abs() < 1e-3, "a 64th of 64 ms: {}", intervals.mean);
        let mut standing = intervals;
        insert(&mut track.clone(), &mut standing, ms(5_192), Body::at(26.4, 9.0));
        assert!(standing.mean > intervals.mean + 0.5, "it moved up");
        let (_, newest) = track.newest().copied().unwrap();
        assert!((newest.velocity_x - 100.0).abs() < 1e-3, "{}", newest.velocity_x);
    }

    #[test]
    fn delay_covers_longer_intervals_and_their_deviation() {
        let jitter = |mean, deviation| Intervals { mean, deviation }.jitter(20);
        assert_eq!([jitter(50.0, 0.0), jitter(40.0, 0.0), jitter(80.0, 4.0)], [0, 0, 19_000_000]);
        let mut intervals = Intervals { mean: 50.0, deviation: 0.0 };
        (0..500).for_each(|n| intervals.add(Span::from_millis(if n % 2 == 0 { 40 } else { 60 })));
        assert!(
            (intervals.mean - 50.0).abs() < 1.0 && (intervals.deviation - 10.0).abs() < 1.0,
            "{intervals:?}"
        );
    }

    #[test]
    fn commands_survive_the_wire() {
        let command = rounded(Command { x: 0.6, y: -0.4, actions: 7 });
        assert_eq!(command, Command { x: 1.0, y: 0.0, actions: 1 });
        let command = rounded(Command { x: f32::NAN, y: -9.0, actions: 6 });
        assert_eq!(command, Command { x: 0.0, y: -1.0, actions: 0 });
    }

    #[test]
    fn first_updates_are_as_old_as_the_round_trip() {
        let mut view = ByArrival::new(&ClientConfig::new(1));
        let spawn = |x, y| Record::Spawn { id: 3, kind: 0, frame: Frame(0), place: Some((x, y)) };
        view.round_trip(Span::from_millis(500));
        view.record(Time::ZERO, Some(3), &spawn(100.0, 50.0));
        (0..60).for_each(|_| view.trail.step(&Line, Command::new(1.0, 0.0, 0)));
        // 30 frames ago it was at 130.
        view.trail.compare(&Body::at(130.0, 53.0));
        let body = *view.own().predicted().unwrap();
        assert!((body.x - 160.0).abs() < 1e-3 && (body.y - 53.0).abs() < 1e-3, "{body:?}");
        view.record(Time::ZERO, Some(3), &spawn(0.0, 0.0));
        assert_eq!(view.own().predicted(), Some(&body), "it is there already");
    }

    struct Line;

    impl World for Line {
        fn walk(&self, body: &mut Body, command: Command) {
            body.x += command.x;
        }
        fn enter(&mut self, _: u8) -> (u8, Body) {
            (0, Body::at(0.0, 0.0))
        }
        fn step(&mut self, _: &mut crate::authority::Stage<'_>) {}
    }
}
