//! The scene: everything that is drawn of the server's world: entities by their samples, projectiles by their courses.

use super::by_arrival::{self, Intervals};
use super::track::{Drawing, Track};
use crate::authority::server::Shot;
use crate::authority::server::shots::{Flight, MAX_SHOTS};
use crate::authority::{Body, Course, FIRST_SHOT, Record, Shown};
use crate::protocol::time::{Span, Time};

const IDS: usize = 256;

/// On a server that sends no spawns, an entity that snapshots do not show for this long is gone.
const FORGOTTEN_AFTER: Span = Span::from_secs(1);

/// An entity as it is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Seen {
    /// Its id.
    pub id: u8,
    /// Its kind; 0 on a server that does not say.
    pub kind: u8,
    /// Its body at render time.
    pub body: Body,
    /// The source of `body`.
    pub drawing: Drawing,
}

/// The reliable records of an entity.
#[derive(Clone, Copy, Debug, Default)]
struct Told {
    kind: u8,
    spawned: Option<Time>,
    gone: Option<Time>,
}

/// A projectile, and when it ends if that is known.
#[derive(Clone, Copy, Debug)]
struct Flying {
    flight: Flight,
    /// When its course began.
    since: Time,
    /// The course before the last bounce, and since when: render time may not have reached the bounce yet.
    before: Option<(Flight, Time)>,
    spawned: Time,
    ended: Option<Time>,
}

/// Entities and projectiles, in fixed tables.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    tracks: Box<[Track; IDS]>,
    told: Box<[Told; IDS]>,
    shots: Box<[Option<Flying>; MAX_SHOTS]>,
    /// The samples of projectiles, on a wire that has no courses.
    shot_tracks: Vec<Track>,
    /// Whether the server sends spawns.
    told_of_spawns: bool,
    newest: Time,
}

impl Scene {
    /// An empty scene; `by_arrival` on a wire whose projectiles are entities.
    pub(super) fn new(by_arrival: bool) -> Self {
        Self {
            tracks: Box::new([Track::EMPTY; IDS]),
            told: Box::new([Told::default(); IDS]),
            shots: Box::new([None; MAX_SHOTS]),
            shot_tracks: if by_arrival { vec![Track::EMPTY; MAX_SHOTS] } else { Vec::new() },
            told_of_spawns: by_arrival,
            newest: Time::ZERO,
        }
    }

    /// The server sends spawns: an entity without one is not there.
    pub(super) fn expect_spawns(&mut self) {
        self.told_of_spawns = true;
    }

    /// Takes in the entities of a snapshot.
    pub(super) fn snapshot(&mut self, at: Time, shown: &[Shown]) {
        self.newest = self.newest.max(at);
        for Shown { id, body } in shown {
            let Some(told) = self.told.get(usize::from(*id)) else { continue };
            let before = told.spawned.is_some_and(|spawned| at < spawned);
            let after = told.gone.is_some_and(|gone| at >= gone);
            if !before && !after {
                self.tracks[usize::from(*id)].insert(at, *body);
            }
        }
    }

    /// Takes in the position of an entity or a projectile that arrives now.
    pub(super) fn updated(&mut self, arrived: Time, shown: &Shown, intervals: &mut Intervals) {
        let track = match shown.id.checked_sub(FIRST_SHOT) {
            None => &mut self.tracks[usize::from(shown.id)],
            Some(shot) => match self.shot_tracks.get_mut(usize::from(shot)) {
                Some(track) => track,
                None => return,
            },
        };
        by_arrival::insert(track, intervals, arrived, shown.body);
    }

    /// Takes in a reliable record of this time. Messages of the game are not for the scene.
    pub(super) fn record(&mut self, at: Time, record: &Record) {
        match *record {
            Record::Spawn { id, kind, place, .. } => {
                let track = &mut self.tracks[usize::from(id)];
                track.forget_before(at);
                if let Some((x, y)) = place {
                    track.insert(at, Body::at(x, y));
                }
                self.told[usize::from(id)] = Told { kind, spawned: Some(at), gone: None };
            }
            Record::Gone { id, .. } => self.told[usize::from(id)].gone = Some(at),
            Record::Shot { id, kind, owner, course } => {
                let flight = Flight { kind, owner, course };
                let flying = Flying { flight, since: at, before: None, spawned: at, ended: None };
                self.shots[usize::from(id)] = Some(flying);
                if let Some(track) = self.shot_tracks.get_mut(usize::from(id)) {
                    *track = Track::EMPTY;
                    track.insert(at, Body::at(course.x, course.y));
                }
            }
            Record::Bounce { id, course } => {
                if let Some(flying) = &mut self.shots[usize::from(id)] {
                    flying.before = Some((flying.flight, flying.since));
                    (flying.flight.course, flying.since) = (course, at);
                }
            }
            Record::ShotEnd { id, .. } => {
                if let Some(flying) = &mut self.shots[usize::from(id)] {
                    flying.ended = Some(at);
                }
            }
            Record::Hit { .. } | Record::Told { .. } | Record::Bye { .. } => {}
        }
    }

    /// The body of an entity in the newest snapshot that shows it.
    pub(super) fn newest(&self, id: u8) -> Option<&Body> {
        self.tracks[usize::from(id)].newest().map(|(_, body)| body)
    }

    fn is_there(&self, id: u8, render: Time) -> bool {
        let told = &self.told[usize::from(id)];
        match told.spawned {
            Some(spawned) => render >= spawned && told.gone.is_none_or(|gone| render < gone),
            None if self.told_of_spawns => false,
            None => {
                let newest = self.tracks[usize::from(id)].newest().map_or(Time::ZERO, |(at, _)| *at);
                self.newest < newest + FORGOTTEN_AFTER
            }
        }
    }

    /// Every entity that is there at render time, by id.
    pub(super) fn entities(&self, render: Time) -> impl Iterator<Item = Seen> {
        (0..=u8::MAX).filter(move |id| self.is_there(*id, render)).filter_map(move |id| {
            let (body, drawing) = self.tracks[usize::from(id)].at(render)?;
            Some(Seen { id, kind: self.told[usize::from(id)].kind, body, drawing })
        })
    }

    /// Every projectile that is in flight at a time, by id.
    pub(super) fn shots(&self, time: Time) -> impl Iterator<Item = Shot> {
        (0..=u8::MAX).filter_map(move |id| {
            let flying = self.shots[usize::from(id)].as_ref()?;
            if time < flying.spawned || flying.ended.is_some_and(|ended| time >= ended) {
                return None;
            }
            // On a wire without courses its samples show where it is.
            if let Some((body, _)) = self.shot_tracks.get(usize::from(id)).and_then(|track| track.at(time)) {
                let course = Course::of(flying.flight.course.frame, &body);
                return Some(Shot::at(id, &Flight { course, ..flying.flight }, (body.x, body.y)));
            }
            let before = flying.before.filter(|_| time < flying.since);
            let (flight, since) = before.unwrap_or((flying.flight, flying.since));
            Some(Shot::at(id, &flight, flight.course.after(time.since(since).seconds())))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Frame;

    /// The time of a frame of 20 ms.
    fn time(frame: f64) -> Time {
        Time::ZERO.shifted((frame * 20e6) as i64)
    }

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn at(x: f32) -> Body {
        Body::at(x, 0.0)
    }

    fn spawn(place: Option<(f32, f32)>) -> Record {
        Record::Spawn { id: 9, kind: 3, frame: Frame(0), place }
    }

    const GONE: Record = Record::Gone { id: 9, frame: Frame(0), player: false };

    fn shown(scene: &Scene, render: f64) -> Option<f32> {
        scene.entities(time(render)).find(|seen| seen.id == 9).map(|seen| seen.body.x)
    }

    #[test]
    fn reused_id_does_not_slide_from_its_former_owner() {
        let snapshot =
            |scene: &mut Scene, frame, x| scene.snapshot(time(frame), &[Shown { id: 9, body: at(x) }]);
        for late in [false, true] {
            let mut scene = Scene::new(false);
            scene.told_of_spawns = true;
            scene.record(time(10.0), &spawn(None));
            snapshot(&mut scene, 10.0, 100.0);
            snapshot(&mut scene, 13.0, 100.0);
            scene.record(time(16.0), &GONE);
            assert_eq!(shown(&scene, 15.5), Some(100.0));
            assert_eq!(shown(&scene, 16.0), None);
            scene.record(time(20.0), &spawn(None));
            snapshot(&mut scene, 22.0, 500.0);
            if late {
                // Snapshots of the former owner that were overtaken.
                snapshot(&mut scene, 14.0, 100.0);
                snapshot(&mut scene, 19.0, 100.0);
            }
            assert_eq!(
                [19.9, 20.0, 21.0, 22.0].map(|render| shown(&scene, render)),
                [None, Some(500.0), Some(500.0), Some(500.0)]
            );
        }
    }

    #[test]
    fn snapshot_of_the_frame_of_an_end_or_later_shows_nothing() {
        let mut scene = Scene::new(false);
        scene.record(time(10.0), &spawn(None));
        scene.record(time(16.0), &GONE);
        scene.snapshot(time(15.0), &[Shown { id: 9, body: at(1.0) }]);
        scene.snapshot(time(16.0), &[Shown { id: 9, body: at(2.0) }]);
        assert_eq!(scene.newest(9), Some(&at(1.0)));
        scene.record(time(20.0), &spawn(None));
        scene.snapshot(time(20.0), &[Shown { id: 9, body: at(3.0) }]);
        assert_eq!(scene.newest(9), Some(&at(3.0)), "the frame of the spawn counts");
    }

    #[test]
    fn reused_id_begins_at_its_place_on_a_wire_without_frames() {
        let mut scene = Scene::new(true);
        let mut intervals = Intervals::default();
        scene.record(ms(1_000), &spawn(Some((100.0, 0.0))));
        scene.updated(ms(1_050), &Shown { id: 9, body: at(110.0) }, &mut intervals);
        scene.record(ms(1_060), &GONE);
        scene.record(ms(1_100), &spawn(Some((500.0, 0.0))));
        scene.updated(ms(1_150), &Shown { id: 9, body: at(500.0) }, &mut intervals);
        for render in [1_100, 1_125, 1_150] {
            let (body, _) = scene.tracks[9].at(ms(render)).unwrap();
            assert!((body.x - 500.0).abs() < 1e-3, "{} at {render}", body.x);
        }
        // A projectile likewise.
        let course = |x| Course { frame: Frame(0), x, y: 0.0, velocity_x: 0.0, velocity_y: 0.0 };
        for (at, x) in [(2_000, 10.0), (2_100, 90.0)] {
            scene.record(ms(at), &Record::Shot { id: 4, kind: 1, owner: 0, course: course(x) });
        }
        let shot = scene.shots(ms(2_100)).find(|shot| shot.id == 4).unwrap();
        assert!((shot.x - 90.0).abs() < 1e-3, "{}", shot.x);
        assert_eq!(scene.shots(ms(2_050)).count(), 0, "before its spawn");
        scene.updated(ms(2_200), &Shown { id: FIRST_SHOT + 4, body: at(100.0) }, &mut intervals);
        let shot = scene.shots(ms(2_150)).next().unwrap();
        assert!((shot.x - 95.0).abs() < 1e-3 && (shot.course.x - 95.0).abs() < 1e-3, "{shot:?}");
        let flying = scene.shots(ms(2_200)).next().unwrap();
        assert!((flying.course.velocity_x - 100.0).abs() < 1e-3, "{flying:?}");
    }

    #[test]
    fn server_without_spawns_forgets_what_it_does_not_show() {
        let mut scene = Scene::new(false);
        scene.snapshot(time(100.0), &[Shown { id: 9, body: at(1.0) }]);
        scene.snapshot(time(149.0), &[]);
        assert_eq!(shown(&scene, 150.0), Some(1.0));
        scene.snapshot(time(150.0), &[]);
        assert_eq!(shown(&scene, 150.0), None);
    }

    #[test]
    fn overtaken_snapshot_brings_back_nothing_that_is_forgotten() {
        let mut scene = Scene::new(false);
        scene.snapshot(time(100.0), &[Shown { id: 9, body: at(1.0) }]);
        scene.snapshot(time(150.0), &[]);
        scene.snapshot(time(130.0), &[]);
        assert_eq!(shown(&scene, 150.0), None);
    }

    #[test]
    fn entity_waits_for_its_spawn_where_the_server_tells_of_them() {
        let mut scene = Scene::new(false);
        scene.told_of_spawns = true;
        scene.snapshot(time(100.0), &[Shown { id: 9, body: at(1.0) }]);
        assert_eq!(shown(&scene, 100.0), None);
        scene.record(time(99.0), &spawn(None));
        assert_eq!(shown(&scene, 100.0), Some(1.0));
    }

    #[test]
    fn shot_is_drawn_on_the_course_of_its_time() {
        let course = |x, velocity_x| Course { frame: Frame(0), x, y: 0.0, velocity_x, velocity_y: 0.0 };
        let mut scene = Scene::new(false);
        scene.record(time(5.0), &Record::Bounce { id: 4, course: course(0.0, 0.0) });
        assert_eq!(scene.shots(time(5.0)).count(), 0, "no such projectile");
        scene.record(time(60.0), &Record::Shot { id: 4, kind: 1, owner: 7, course: course(0.0, 50.0) });
        scene.record(time(120.0), &Record::Bounce { id: 4, course: course(60.0, -50.0) });
        scene.record(time(150.0), &Record::ShotEnd { id: 4, frame: Frame(0) });
        let x = |frame| scene.shots(time(frame)).next().map(|shot| shot.x.round() as i32);
        assert_eq!(
            [59.9, 60.0, 110.0, 120.0, 130.0, 149.9, 150.0].map(x),
            [None, Some(0), Some(50), Some(60), Some(50), Some(30), None]
        );
    }
}
