//! The parts of a client on a wire without frames: its time is the time of arrival.

use super::pace::Pace;
use super::track::Track;
use super::trail::Trail;
use super::{Baseline, Client, Phase, nanos};
use crate::authority::world::{Body, Command, World};
use crate::protocol::time::{Span, Time};

/// The scene's unit of time is a millisecond where it is the time of arrival.
pub(super) const ARRIVAL_RATE: u16 = 1_000;

/// A longer pause between two updates of an entity is one in which it stood, and no interval.
const MAX_INTERVAL_MILLIS: u64 = 500;

/// An entity that stood is taken to have begun to move this long before its next update.
const BEGAN_BEFORE_MILLIS: u64 = 50;

/// The mean interval between two updates of an entity, and the mean deviation from it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Intervals {
    mean: f32,
    deviation: f32,
}

impl Intervals {
    /// The weight of a new interval.
    const WEIGHT: f32 = 1.0 / 64.0;

    fn add(&mut self, millis: u64) {
        let away = millis as f32 - self.mean;
        self.mean += away * Self::WEIGHT;
        self.deviation += (away.abs() - self.deviation) * Self::WEIGHT;
    }

    /// The jitter that makes the delay of render time one and a half intervals and three deviations.
    fn jitter(&self, broadcast_rate: u16) -> i64 {
        let surplus = (self.mean - 1e3 / f32::from(broadcast_rate)).max(0.0);
        ((self.deviation + surplus / 2.0) * 1e6) as i64
    }
}

/// The state of a client on such a wire.
#[derive(Clone, Debug)]
pub(super) struct ByArrival {
    pub(super) trail: Trail,
    pub(super) intervals: Intervals,
    pub(super) round_trip: Span,
    pub(super) seed: u32,
}

impl ByArrival {
    pub(super) fn new(broadcast_rate: u16) -> Self {
        let intervals = Intervals { mean: 1e3 / f32::from(broadcast_rate), deviation: 0.0 };
        Self { trail: Trail::new(), intervals, round_trip: Span::ZERO, seed: 0 }
    }
}

/// The time of arrival, as the scene counts it.
pub(super) fn arrival_millis(now: Time) -> u64 {
    now.since(Time::ZERO).nanos() / 1_000_000
}

/// A command that survives the wire: three directions in each axis, and one action.
fn rounded(command: Command) -> Command {
    let Command { x, y, actions } = Command::new(command.x, command.y, command.actions);
    Command { x: x.round(), y: y.round(), actions: actions & 1 }
}

/// Inserts an update into a track, with the velocity that it shows.
pub(super) fn insert(track: &mut Track, intervals: &mut Intervals, now: u64, mut body: Body) {
    if let Some((at, last)) = track.newest().copied() {
        let passed = now.saturating_sub(at);
        let moved = last.x.to_bits() != body.x.to_bits() || last.y.to_bits() != body.y.to_bits();
        if passed > MAX_INTERVAL_MILLIS && moved {
            track.insert(now - BEGAN_BEFORE_MILLIS, last);
        } else if moved {
            intervals.add(passed);
        }
        let seconds = passed.clamp(1, MAX_INTERVAL_MILLIS) as f32 / 1e3;
        (body.velocity_x, body.velocity_y) = ((body.x - last.x) / seconds, (body.y - last.y) / seconds);
    }
    track.insert(now, body);
}

impl Client {
    /// Runs the client up to `now`, as [`advance`](Self::advance) does.
    pub(super) fn advance_by_arrival<W: World>(&mut self, now: Time, world: &W, command: Command) {
        let Some(mine) = &mut self.by_arrival else { return };
        if !matches!(self.phase, Phase::Playing { .. }) {
            return;
        }
        if let Some(Baseline { body, .. }) = self.baseline.take() {
            mine.trail.compare(&body);
        }
        if mine.trail.predicted().is_some() {
            let frame_nanos = self.clock.frame_nanos();
            let pace = self.pace.get_or_insert_with(|| Pace::begin(nanos(now), nanos(now), frame_nanos));
            let steps = pace.advance(nanos(now), nanos(now));
            for _ in 0..steps {
                pace.take_step();
                mine.trail.step(world, rounded(command));
            }
            self.inputs_due = (self.inputs_due + steps).min(MAX_INPUTS_DUE);
            self.stats.steps += steps;
        }
        let jitter = mine.intervals.jitter(self.config.broadcast_rate);
        self.playout.advance(nanos(now), nanos(now), jitter);
    }

    /// Takes in the entities of an update.
    pub(super) fn updated(&mut self, now: Time) {
        self.seated(now);
        self.stats.snapshots += 1;
        self.said_leave = None;
        let (Some(mine), arrived) = (&mut self.by_arrival, arrival_millis(now)) else { return };
        for shown in &self.shown {
            if Some(shown.id) == self.id.map(u16::from) {
                self.baseline = Some(Baseline { frame: arrived, applied: None, body: shown.body });
            }
            self.scene.updated(arrived, shown, &mut mine.intervals);
        }
    }

    /// Begins to predict where the server has spawned our own player.
    pub(super) fn spawned_at(&mut self, place: (f32, f32)) {
        let frame_nanos = self.clock.frame_nanos() as f32;
        if let Some(mine) = &mut self.by_arrival
            && mine.trail.predicted().is_none()
        {
            let age = mine.round_trip.nanos() as f32 / frame_nanos;
            mine.trail.begin(Body::at(place.0, place.1), age);
        }
    }

    /// Writes the oldest input that is due: one a packet.
    pub(super) fn next_input(&mut self) {
        if let Some(mine) = &self.by_arrival {
            self.inputs.clear();
            self.inputs.push(mine.trail.command(self.inputs_due - 1));
        }
    }
}

/// The most inputs that wait to be sent.
const MAX_INPUTS_DUE: u64 = 32;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Protocol;

    #[test]
    fn an_entity_that_stood_does_not_move_before_its_update() {
        let (mut track, mut intervals) = (Track::EMPTY, Intervals::default());
        let place = |track: &Track, at: f64| track.at(at, ARRIVAL_RATE).unwrap().0.x;
        insert(&mut track, &mut intervals, 0, Body::at(10.0, 0.0));
        insert(&mut track, &mut intervals, 5_000, Body::at(20.0, 0.0));
        for (at, expected) in [(2_500.0, 10.0), (4_950.0, 10.0), (4_975.0, 15.0), (5_000.0, 20.0)] {
            assert!((place(&track, at) - expected).abs() < 1e-3, "{} at {at}", place(&track, at));
        }
        assert!(intervals.mean.abs() < 1e-6, "a pause is no interval: {}", intervals.mean);
        let (_, moved) = track.newest().copied().unwrap();
        assert!((moved.velocity_x - 20.0).abs() < 1e-3, "within half a second: {}", moved.velocity_x);
        insert(&mut track, &mut intervals, 5_064, Body::at(20.0, 0.0));
        assert!(intervals.mean.abs() < 1e-6, "it stood");
        insert(&mut track, &mut intervals, 5_128, Body::at(26.4, 0.0));
        assert!((intervals.mean - 1.0).abs() < 1e-3, "a 64th of 64 ms: {}", intervals.mean);
        let mut standing = intervals;
        insert(&mut track.clone(), &mut standing, 5_192, Body::at(26.4, 9.0));
        assert!(standing.mean > intervals.mean + 0.5, "it moved up");
        let (_, newest) = track.newest().copied().unwrap();
        assert!((newest.velocity_x - 100.0).abs() < 1e-3, "{}", newest.velocity_x);
    }

    #[test]
    fn delay_covers_longer_intervals_and_their_deviation() {
        let jitter = |mean, deviation| Intervals { mean, deviation }.jitter(20);
        assert_eq!([jitter(50.0, 0.0), jitter(40.0, 0.0), jitter(80.0, 4.0)], [0, 0, 19_000_000]);
        let mut intervals = Intervals { mean: 50.0, deviation: 0.0 };
        (0..500).for_each(|n| intervals.add(if n % 2 == 0 { 40 } else { 60 }));
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
        let mut config = crate::authority::ClientConfig::new(1);
        config.wire = crate::authority::Wire::Rtype;
        let mut client = Client::join(config, ([192, 0, 2, 1], 7).into()).unwrap();
        // The ACK of the request comes after 500 ms.
        let (mut buf, ms) = ([0; 64], core::time::Duration::from_millis);
        client.advance(ms(0), &Line, Command::NEUTRAL);
        assert!(client.poll_transmit(ms(0), &mut buf).is_some());
        client.handle_datagram(ms(500), ([192, 0, 2, 1], 7).into(), &[1, 0, 0, 9, buf[2], buf[3]]);
        client.spawned_at((100.0, 50.0));
        let trail = &mut client.by_arrival.as_mut().unwrap().trail;
        (0..60).for_each(|_| trail.step(&Line, Command::new(1.0, 0.0, 0)));
        // 30 frames ago it was at 130.
        trail.compare(&Body::at(130.0, 53.0));
        let body = *trail.predicted().unwrap();
        assert!((body.x - 160.0).abs() < 1e-3 && (body.y - 53.0).abs() < 1e-3, "{body:?}");
        client.spawned_at((0.0, 0.0));
        assert_eq!(client.predicted(), Some(&body), "it is there already");
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
