//! Everything that one picture shows, made from what a client knows: bodies, boards, and hits at the time of the picture.

use crate::game::{Phase, kind};
use rebout::Frame;
use rebout::authority::{Client, ClientEvent, FrameTime, Wire};
use std::collections::BTreeMap;

/// Frames that a burst is seen, and that something that was hit is bright.
pub const BURST_FRAMES: u16 = 36;
const FLASH_FRAMES: u16 = 5;
/// Frames that a ship blinks after it was hit.
const BLINK_FRAMES: u16 = 150;

/// A hit that render time has not reached after this many frames is shown all the same.
const MAX_WAIT_FRAMES: f64 = 60.0;

/// Sounds that a frame asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Sound {
    Bolt,
    Pellet,
    Clang,
    Boom,
    LostLife,
    Pickup,
    Cleared,
}

/// A body as it is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Actor {
    pub id: u8,
    pub kind: u8,
    pub x: f32,
    pub y: f32,
    /// Units a second, up and down.
    pub climb: f32,
    /// Bright from a hit.
    pub is_hit: bool,
    /// Frames until it can be hit again.
    pub blinks: u16,
}

/// A projectile as it is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flying {
    pub kind: u8,
    pub x: f32,
    pub y: f32,
}

/// Something bursts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Burst {
    pub x: f32,
    pub y: f32,
    pub age: u16,
    /// The radius of what it was.
    pub size: f32,
    pub dice: u32,
}

/// One picture of the field, and the numbers around it.
#[derive(Clone, Debug)]
pub struct Scene {
    pub age: u32,
    pub own: Option<u8>,
    /// Every ship by id, ours included: the place in the list is the colour.
    pub ships: Vec<u8>,
    pub actors: Vec<Actor>,
    pub shots: Vec<Flying>,
    pub bursts: Vec<Burst>,
    /// Where the last update has everything, and where it is drawn.
    pub raw: Vec<[(f32, f32); 2]>,
    pub score: u32,
    pub level: u16,
    pub phase: Phase,
    /// Frames since the phase began, as this client has seen it.
    pub phase_age: u32,
    lives: BTreeMap<u8, u8>,
    pub sounds: Vec<Sound>,
    waiting: Vec<(Frame, u8, u8)>,
    flashes: BTreeMap<u8, (u16, u16)>,
}

impl Default for Scene {
    fn default() -> Self {
        Self {
            age: 0,
            own: None,
            ships: Vec::new(),
            actors: Vec::new(),
            shots: Vec::new(),
            bursts: Vec::new(),
            raw: Vec::new(),
            score: 0,
            level: 1,
            phase: Phase::Waiting,
            phase_age: 0,
            lives: BTreeMap::new(),
            sounds: Vec::new(),
            waiting: Vec::new(),
            flashes: BTreeMap::new(),
        }
    }
}

impl Scene {
    /// The lives of a ship; `None` before they were told.
    pub fn lives_of(&self, ship: u8) -> Option<u8> {
        self.lives.get(&ship).copied()
    }

    /// Our own ship.
    pub fn own_ship(&self) -> Option<&Actor> {
        self.actors.iter().find(|actor| Some(actor.id) == self.own && actor.kind == kind::SHIP)
    }

    /// The colour of a ship: its place among all ships.
    pub fn seat(&self, ship: u8) -> usize {
        self.ships.iter().position(|id| *id == ship).unwrap_or(0)
    }

    /// Takes in an event. A hit waits until the picture shows its time.
    pub fn event(&mut self, event: &ClientEvent) {
        match event {
            ClientEvent::Joined { id } => self.own = Some(*id),
            ClientEvent::Hit { id, damage, frame } => self.waiting.push((*frame, *id, *damage)),
            ClientEvent::Gone { id, .. } => {
                self.lives.remove(id);
            }
            _ => {}
        }
    }

    /// Makes the picture of this frame.
    pub fn frame(&mut self, client: &Client<impl Wire>) {
        self.age += 1;
        self.sounds.clear();
        self.bursts.iter_mut().for_each(|burst| burst.age += 1);
        self.bursts.retain(|burst| burst.age < BURST_FRAMES);
        self.flashes.values_mut().for_each(|(flash, blink)| {
            (*flash, *blink) = (flash.saturating_sub(1), blink.saturating_sub(1));
        });
        self.flashes.retain(|_, (flash, blink)| *flash > 0 || *blink > 0);
        let render = client.render_frame().unwrap_or_default();
        self.show_hits(render);
        self.read_boards(client);
        self.place_actors(client);
        self.place_shots(client, render);
    }

    fn show_hits(&mut self, render: FrameTime) {
        let due = |frame| render.since(frame) >= 0.0 || render.since(frame) < -MAX_WAIT_FRAMES;
        let (now, later) = self.waiting.drain(..).partition(|(frame, ..)| due(*frame));
        self.waiting = later;
        let now: Vec<(Frame, u8, u8)> = now;
        for (_, id, damage) in now {
            let Some(actor) = self.actors.iter().find(|actor| actor.id == id).copied() else { continue };
            let is_ship = actor.kind == kind::SHIP;
            let flash = self.flashes.entry(id).or_default();
            *flash = (FLASH_FRAMES, if is_ship { BLINK_FRAMES } else { 0 });
            self.sounds.push(match (actor.kind, damage) {
                (kind::SHIP, _) => Sound::LostLife,
                (kind::PICKUP, _) => Sound::Pickup,
                (_, kind::FATAL) => Sound::Boom,
                _ => Sound::Clang,
            });
            if damage == kind::FATAL || is_ship {
                let size = f32::from(kind::radius(actor.kind));
                let dice = self.age.wrapping_mul(2_654_435_761) ^ u32::from(id);
                self.bursts.push(Burst { x: actor.x, y: actor.y, age: 0, size, dice: dice | 1 });
            }
        }
    }

    /// Boards are read from the last update: a number is not interpolated.
    fn read_boards(&mut self, client: &Client<impl Wire>) {
        self.phase_age += 1;
        self.lives.clear();
        for seen in client.others().filter(|seen| kind::is_board(seen.kind)) {
            let Some(raw) = client.raw(seen.id) else { continue };
            let (x, y) = (raw.x as u16, raw.y as u16);
            match seen.kind {
                kind::SCORE => self.score = u32::from(x) << 16 | u32::from(y),
                kind::LEVEL => {
                    let phase = Phase::from_board(y);
                    if phase != self.phase || x != self.level {
                        self.phase_age = 0;
                        if phase == Phase::Cleared {
                            self.sounds.push(Sound::Cleared);
                        }
                    }
                    (self.level, self.phase) = (x, phase);
                }
                _ => {
                    self.lives.insert(x as u8, y as u8);
                }
            }
        }
    }

    fn place_actors(&mut self, client: &Client<impl Wire>) {
        self.actors.clear();
        self.raw.clear();
        let flash = |id: u8| self.flashes.get(&id).copied().unwrap_or_default();
        let mut place = |id: u8, kind: u8, body: rebout::authority::Body| {
            let (hit, blinks) = flash(id);
            let is_hit = hit > 0;
            self.actors.push(Actor {
                id,
                kind,
                x: body.x,
                y: body.y,
                climb: body.velocity_y,
                is_hit,
                blinks,
            });
            if let Some(raw) = client.raw(id) {
                self.raw.push([(raw.x, raw.y), (body.x, body.y)]);
            }
        };
        for seen in client.others().filter(|seen| !kind::is_board(seen.kind)) {
            place(seen.id, seen.kind, seen.body);
        }
        if let (Some(own), Some(body)) = (client.id(), client.own()) {
            place(own, kind::SHIP, body);
        }
        self.ships =
            self.actors.iter().filter(|actor| actor.kind == kind::SHIP).map(|actor| actor.id).collect();
        self.ships.sort_unstable();
    }

    fn place_shots(&mut self, client: &Client<impl Wire>, render: FrameTime) {
        let before = [kind::BOLT, kind::PELLET].map(|kind| self.count(kind));
        self.shots.clear();
        self.shots.extend(client.shots(render).map(|shot| Flying { kind: shot.kind, x: shot.x, y: shot.y }));
        for (kind, before, sound) in
            [(kind::BOLT, before[0], Sound::Bolt), (kind::PELLET, before[1], Sound::Pellet)]
        {
            if self.count(kind) > before {
                self.sounds.push(sound);
            }
        }
    }

    fn count(&self, kind: u8) -> usize {
        self.shots.iter().filter(|shot| shot.kind == kind).count()
    }
}
