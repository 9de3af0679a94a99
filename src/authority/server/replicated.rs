//! The part of the world that clients see: entities, projectiles, and the log of what clients are told about them.

use super::entities::Entities;
use super::log::{Log, To};
use super::shots::Shots;
use super::stage::Stage;
use crate::Frame;
use crate::authority::{Body, Command, Course, Record, Sight, World};
use std::collections::VecDeque;

/// Entities, projectiles and the log. All memory is taken at the start.
#[derive(Debug)]
pub(super) struct Replicated {
    entities: Entities,
    shots: Shots,
    log: Log,
    /// Players who wait for their first body.
    entering: VecDeque<u8>,
    frame_rate: u16,
}

impl Replicated {
    pub(super) fn new(frame_rate: u16) -> Self {
        Self {
            entities: Entities::new(),
            shots: Shots::new(),
            log: Log::new(),
            entering: VecDeque::with_capacity(256),
            frame_rate,
        }
    }

    pub(super) fn entities(&self) -> &Entities {
        &self.entities
    }

    pub(super) fn log(&self) -> &Log {
        &self.log
    }

    /// The place of each projectile in a frame, by id.
    pub(super) fn shots_at(&self, frame: Frame) -> impl Iterator<Item = (u8, (f32, f32))> {
        let rate = self.frame_rate;
        self.shots.iter().map(move |(id, flight)| (id, flight.course.at(frame.into(), rate)))
    }

    /// Takes an id for a player, who enters with the next frame.
    pub(super) fn admit(&mut self, id: u8) {
        self.entities.reserve(id);
        self.entering.push_back(id);
    }

    /// Lets the players in who wait for their first body.
    pub(super) fn enter<G: World>(&mut self, world: &mut G, frame: Frame) {
        while let Some(id) = self.entering.pop_front() {
            let (kind, body) = world.enter(id);
            self.entities.place(id, kind, body, frame);
            let place = Some((body.x, body.y));
            self.log.push(To::All, Record::Spawn { id, kind, frame, place });
        }
    }

    /// Takes a player out of the world.
    pub(super) fn leave<G: World>(&mut self, world: &mut G, id: u8, frame: Frame) {
        if self.entities.get(id).is_some() {
            world.leave(id);
            let mark = self.log.push(To::All, Record::Gone { id, frame, player: true });
            self.entities.remove(id, mark);
        } else {
            self.entities.release(id);
        }
        self.entering.retain(|waiting| *waiting != id);
    }

    /// Moves a player by the rule.
    pub(super) fn walk<G: World>(&mut self, world: &G, id: u8, command: Command) {
        if let Some(body) = self.entities.body_mut(id) {
            world.walk(body, command);
        }
    }

    /// How well a player sees an entity; its own player well, and everything before it has one.
    pub(super) fn sight<G: World>(&self, world: &G, viewer: u8, id: u8) -> Sight {
        match (self.body(viewer), self.body(id)) {
            (Some(own), Some(body)) if viewer != id => world.sight((viewer, own), (id, body)),
            _ => Sight::Near,
        }
    }

    /// Everything that a world can read and change in a frame.
    pub(super) fn stage<'a>(
        &'a mut self,
        frame: Frame,
        players: &'a [(u8, Command)],
        has_messages: bool,
    ) -> Stage<'a> {
        let Self { entities, shots, log, frame_rate, .. } = self;
        Stage { frame, frame_rate: *frame_rate, players, has_messages, entities, shots, log }
    }

    /// Frees the ids whose end everybody has acknowledged for a second. `heard` is the mark that all have reached, if anybody
    /// is here.
    pub(super) fn free_up(&mut self, frame: Frame, heard: Option<u64>) {
        let heard = heard.unwrap_or(self.log.newest());
        self.entities.free_up(frame, self.frame_rate, heard);
    }

    /// The records that tell a newcomer of everything that is there. `told` is the course as its wire tells it.
    pub(super) fn records(&self, told: impl Fn(Course, u16) -> Course) -> impl Iterator<Item = Record> {
        let spawns = self.entities.iter().map(|(id, kind, frame, body)| Record::Spawn {
            id,
            kind,
            frame,
            place: Some((body.x, body.y)),
        });
        let shots = self.shots.iter().map(move |(id, flight)| Record::Shot {
            id,
            kind: flight.kind,
            owner: flight.owner,
            course: told(flight.course, self.frame_rate),
        });
        spawns.chain(shots)
    }

    pub(super) fn body(&self, id: u8) -> Option<&Body> {
        self.entities.get(id).map(|(_, _, body)| body)
    }
}
