//! The scene: everything that is drawn of the server's world: entities by their samples, projectiles by their courses.

use super::arrival::{self, Intervals};
use super::track::{Drawing, Track};
use crate::authority::record::{Course, FIRST_SHOT, Record, Shown};
use crate::authority::server::Shot;
use crate::authority::server::shots::{Flight, MAX_SHOTS};
use crate::authority::world::Body;

const IDS: usize = 256;

/// On a server that tells of no spawns, an entity that snapshots do not show for this long is gone.
const FORGOTTEN_AFTER_SECONDS: u64 = 1;

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
    spawned: Option<u64>,
    gone: Option<u64>,
}

/// A projectile, and when it ends if that is known.
#[derive(Clone, Copy, Debug)]
struct Flying {
    flight: Flight,
    /// The course before the last bounce: render time may not have reached the bounce yet.
    before: Option<Flight>,
    spawned: u64,
    ended: Option<u64>,
}

/// Entities and projectiles, in fixed tables.
#[derive(Clone, Debug)]
pub(super) struct Scene {
    tracks: Box<[Track; IDS]>,
    told: Box<[Told; IDS]>,
    shots: Box<[Option<Flying>; MAX_SHOTS]>,
    /// The samples of projectiles, on a wire that has no courses.
    shot_tracks: Vec<Track>,
    /// Whether the server tells of spawns.
    pub(super) told_of_spawns: bool,
    newest_frame: u64,
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
            newest_frame: 0,
        }
    }

    /// Takes in the entities of a snapshot.
    pub(super) fn snapshot(&mut self, frame: u64, shown: &[Shown]) {
        self.newest_frame = self.newest_frame.max(frame);
        for Shown { id, body } in shown {
            let Some(told) = self.told.get(usize::from(*id)) else { continue };
            let before = told.spawned.is_some_and(|spawned| frame < spawned);
            let after = told.gone.is_some_and(|gone| frame >= gone);
            if !before && !after {
                self.tracks[usize::from(*id)].insert(frame, *body);
            }
        }
    }

    /// Takes in the position of an entity or a projectile that arrives now.
    pub(super) fn updated(&mut self, arrived: u64, shown: &Shown, intervals: &mut Intervals) {
        let track = match shown.id.checked_sub(FIRST_SHOT) {
            None => &mut self.tracks[usize::from(shown.id)],
            Some(shot) => match self.shot_tracks.get_mut(usize::from(shot)) {
                Some(track) => track,
                None => return,
            },
        };
        arrival::insert(track, intervals, arrived, shown.body);
    }

    /// Takes in a reliable record. Messages of the game are not for the scene.
    pub(super) fn record(&mut self, record: &Record) {
        match *record {
            Record::Spawn { id, kind, frame, place } => {
                let track = &mut self.tracks[usize::from(id)];
                track.forget_before(frame);
                if let Some((x, y)) = place {
                    track.insert(frame, Body::at(x, y));
                }
                self.told[usize::from(id)] = Told { kind, spawned: Some(frame), gone: None };
            }
            Record::Gone { id, frame, .. } => self.told[usize::from(id)].gone = Some(frame),
            Record::Shot { id, kind, owner, course } => {
                let flight = Flight { kind, owner, course };
                let flying = Flying { flight, before: None, spawned: course.frame, ended: None };
                self.shots[usize::from(id)] = Some(flying);
                if let Some(track) = self.shot_tracks.get_mut(usize::from(id)) {
                    *track = Track::EMPTY;
                    track.insert(course.frame, Body::at(course.x, course.y));
                }
            }
            Record::Bounce { id, course } => {
                if let Some(flying) = &mut self.shots[usize::from(id)] {
                    flying.before = Some(flying.flight);
                    flying.flight.course = course;
                }
            }
            Record::ShotEnd { id, frame } => {
                if let Some(flying) = &mut self.shots[usize::from(id)] {
                    flying.ended = Some(frame);
                }
            }
            Record::Hit { .. } | Record::Told { .. } | Record::Bye { .. } => {}
        }
    }

    /// The body of an entity in the newest snapshot that shows it.
    pub(super) fn newest(&self, id: u8) -> Option<&Body> {
        self.tracks[usize::from(id)].newest().map(|(_, body)| body)
    }

    fn is_there(&self, id: u8, render: f64, frame_rate: u16) -> bool {
        let told = &self.told[usize::from(id)];
        match told.spawned {
            Some(spawned) => render >= spawned as f64 && told.gone.is_none_or(|gone| render < gone as f64),
            None if self.told_of_spawns => false,
            None => {
                let newest = self.tracks[usize::from(id)].newest().map_or(0, |(frame, _)| *frame);
                let frames = FORGOTTEN_AFTER_SECONDS * u64::from(frame_rate);
                self.newest_frame < newest + frames
            }
        }
    }

    /// Every entity that is there at a time in frames, by id.
    pub(super) fn entities(&self, render: f64, frame_rate: u16) -> impl Iterator<Item = Seen> {
        (0..=u8::MAX).filter(move |id| self.is_there(*id, render, frame_rate)).filter_map(move |id| {
            let (body, drawing) = self.tracks[usize::from(id)].at(render, frame_rate)?;
            Some(Seen { id, kind: self.told[usize::from(id)].kind, body, drawing })
        })
    }

    /// Every projectile that is in flight at a time in frames, by id.
    pub(super) fn shots(&self, frame: f64, frame_rate: u16) -> impl Iterator<Item = Shot> {
        (0..=u8::MAX).filter_map(move |id| {
            let flying = self.shots[usize::from(id)].as_ref()?;
            let ended = flying.ended.is_some_and(|ended| frame >= ended as f64);
            if ended || frame < flying.spawned as f64 {
                return None;
            }
            if let Some((body, _)) =
                self.shot_tracks.get(usize::from(id)).and_then(|track| track.at(frame, frame_rate))
            {
                return Some(tracked(id, flying, &body));
            }
            let before = flying.before.filter(|_| frame < flying.flight.course.frame as f64);
            Some(Shot::at(id, &before.unwrap_or(flying.flight), frame, frame_rate))
        })
    }
}

/// A projectile whose course is not known, where its samples show it.
fn tracked(id: u8, flying: &Flying, body: &Body) -> Shot {
    let Flight { kind, owner, course } = flying.flight;
    let Body { x, y, velocity_x, velocity_y, .. } = *body;
    let course = Course { frame: course.frame, x, y, velocity_x, velocity_y };
    Shot { id, kind, owner, x, y, course }
}
