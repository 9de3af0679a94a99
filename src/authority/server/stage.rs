//! The stage: everything that a world can read and change in one frame of the server.

use super::entities::Entities;
use super::log::{Log, To};
use super::shots::{Flight, Shots};
use crate::Frame;
use crate::authority::{Body, Command, Course, Record, Told};

/// A projectile as it is in a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Shot {
    /// Its number while it flies.
    pub id: u8,
    /// The kind, whose meaning is the game's.
    pub kind: u8,
    /// The id of the entity that shot it.
    pub owner: u8,
    /// Horizontal position.
    pub x: f32,
    /// Vertical position.
    pub y: f32,
    /// The line on which it flies.
    pub course: Course,
}

impl Shot {
    pub(crate) fn at(id: u8, flight: &Flight, (x, y): (f32, f32)) -> Self {
        Self { id, kind: flight.kind, owner: flight.owner, x, y, course: flight.course }
    }
}

/// The arguments of [`World::step`](crate::authority::World::step): the players' commands, the entities, the projectiles,
/// and the messages to the clients.
#[derive(Debug)]
pub struct Stage<'a> {
    pub(super) frame: Frame,
    pub(super) frame_rate: u16,
    pub(super) players: &'a [(u8, Command)],
    pub(super) has_messages: bool,
    pub(super) entities: &'a mut Entities,
    pub(super) shots: &'a mut Shots,
    pub(super) log: &'a mut Log,
}

impl Stage<'_> {
    /// The frame that is being stepped.
    #[must_use]
    pub fn frame(&self) -> Frame {
        self.frame
    }

    /// Frames a second.
    #[must_use]
    pub fn frame_rate(&self) -> u16 {
        self.frame_rate
    }

    /// The id of each player and the command that was applied in this frame.
    pub fn players(&self) -> impl Iterator<Item = (u8, Command)> {
        self.players.iter().copied()
    }

    /// The body of an entity.
    #[must_use]
    pub fn body(&self, id: u8) -> Option<&Body> {
        self.entities.get(id).map(|(_, _, body)| body)
    }

    /// The body of an entity, to be changed.
    pub fn body_mut(&mut self, id: u8) -> Option<&mut Body> {
        self.entities.body_mut(id)
    }

    /// The kind of an entity.
    #[must_use]
    pub fn kind(&self, id: u8) -> Option<u8> {
        self.entities.get(id).map(|(kind, ..)| kind)
    }

    /// The id, the kind and the body of every entity, players included, by id.
    pub fn entities(&self) -> impl Iterator<Item = (u8, u8, &Body)> {
        self.entities.iter().map(|(id, kind, _, body)| (id, kind, body))
    }

    /// Makes an entity that is no player, and returns its id; `None` if no id is free.
    pub fn spawn(&mut self, kind: u8, body: Body) -> Option<u8> {
        let id = self.entities.free_from_above()?;
        self.entities.place(id, kind, body, self.frame);
        let place = Some((body.x, body.y));
        self.log.push(To::All, Record::Spawn { id, kind, frame: self.frame, place });
        Some(id)
    }

    /// Takes away an entity that is no player. `false` if there is none of that id.
    pub fn remove(&mut self, id: u8) -> bool {
        let is_player = self.players.iter().any(|(player, _)| *player == id);
        if is_player || self.entities.get(id).is_none() {
            return false;
        }
        let mark = self.log.push(To::All, Record::Gone { id, frame: self.frame, player: false });
        self.entities.remove(id, mark);
        true
    }

    /// Shoots a projectile of a kind, from `body`'s place with its velocity; `None` if 256 are in flight.
    pub fn shoot(&mut self, kind: u8, owner: u8, body: &Body) -> Option<u8> {
        let course = Course::of(self.frame, body);
        if !course.is_finite() {
            return None;
        }
        let id = self.shots.add(Flight { kind, owner, course })?;
        self.log.push(To::All, Record::Shot { id, kind, owner, course });
        Some(id)
    }

    /// Gives a projectile another course from here on: `body`'s place and velocity. `false` if it is not in flight.
    pub fn bounce(&mut self, id: u8, body: &Body) -> bool {
        let course = Course::of(self.frame, body);
        let Some(flight) = self.shots.get_mut(id).filter(|_| course.is_finite()) else { return false };
        flight.course = course;
        self.log.push(To::All, Record::Bounce { id, course });
        true
    }

    /// Takes a projectile away. `false` if it is not in flight.
    pub fn end_shot(&mut self, id: u8) -> bool {
        let ended = self.shots.remove(id).is_some();
        if ended {
            self.log.push(To::All, Record::ShotEnd { id, frame: self.frame });
        }
        ended
    }

    /// A projectile as it is in this frame.
    #[must_use]
    pub fn shot(&self, id: u8) -> Option<Shot> {
        self.shots.get(id).map(|flight| self.shot_of(id, flight))
    }

    /// Every projectile as it is in this frame, by id.
    pub fn shots(&self) -> impl Iterator<Item = Shot> {
        self.shots.iter().map(|(id, flight)| self.shot_of(id, flight))
    }

    fn shot_of(&self, id: u8, flight: &Flight) -> Shot {
        Shot::at(id, flight, flight.course.at(self.frame.into(), self.frame_rate))
    }

    /// Tells all clients that an entity was hit, reliably. The scale of the damage is the game's; health is not changed.
    pub fn hit(&mut self, id: u8, damage: u8) {
        self.log.push(To::All, Record::Hit { id, damage, frame: self.frame });
    }

    /// Tells all clients a message, reliably and in order. `false` if it is longer than
    /// [`MAX_TOLD`](crate::authority::MAX_TOLD), or if the wire is R-Type, which has none.
    pub fn tell(&mut self, bytes: &[u8]) -> bool {
        self.tell_to(To::All, bytes)
    }

    /// Tells one client a message.
    pub fn tell_one(&mut self, id: u8, bytes: &[u8]) -> bool {
        self.tell_to(To::Only(id), bytes)
    }

    fn tell_to(&mut self, to: To, bytes: &[u8]) -> bool {
        let Some(told) = Told::new(bytes).filter(|_| self.has_messages) else { return false };
        self.log.push(to, Record::Told { frame: self.frame, told });
        true
    }
}
