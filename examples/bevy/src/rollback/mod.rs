//! Rollback for a world: the registered components and resources are its state, and nothing else is.

mod erased;
mod parts;
mod snapshot;

pub use snapshot::Snapshot;

use bevy_ecs::component::{Component, Mutable};
use bevy_ecs::prelude::{Resource, World};
use bevy_ecs::schedule::{Schedule, ScheduleLabel};
use parts::{Part, ResourcePart, Rows};
use rebout::{Cue, Cues, Fields, Game, Inputs, Save, StateError, fields};
use std::borrow::BorrowMut;

/// The id of an entity of the simulation.
///
/// Bevy's own `Entity` is none: an entity that a rollback brings back has another one, and so has each machine. State
/// refers to entities by this, and systems whose order matters go through them in the order of this ([`in_order`]).
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SimId(pub u32);

/// The source of new ids. It is part of the state, so that a resimulation gives the same ids again.
#[derive(Resource, Clone, Copy, Debug, Default)]
pub struct SimIds {
    next: u32,
}
fields!(SimIds { next });

impl SimIds {
    /// An id that no entity of this match has had.
    pub fn take(&mut self) -> SimId {
        self.next += 1;
        SimId(self.next)
    }
}

/// Items in the order of their entities' ids. The order of a query depends on what was despawned and brought back.
pub fn in_order<T>(items: impl IntoIterator<Item = (SimId, T)>) -> Vec<(SimId, T)> {
    let mut items: Vec<_> = items.into_iter().collect();
    items.sort_by_key(|(id, _)| *id);
    items
}

/// The schedule that steps the simulation by one frame.
#[derive(ScheduleLabel, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Step;

/// Both players' inputs of the frame that is stepped.
#[derive(Resource, Clone, Copy, Debug, Default)]
pub struct FrameInputs(pub Inputs);

/// The cues that the frame requests.
#[derive(Resource, Clone, Debug, Default)]
pub struct FrameCues(pub Vec<Cue>);

/// The registered parts of the state, empty: each snapshot begins as a copy of them.
#[derive(Resource)]
struct Registry {
    parts: Vec<Box<dyn Part>>,
    finished: fn(&World) -> bool,
}

/// Registration of what a world's state is made of.
pub trait RollbackWorld {
    /// Begins: a schedule that steps, and when the match is over. Call it before the rest.
    fn roll_back(&mut self, step: Schedule, finished: fn(&World) -> bool) -> &mut Self;

    /// Makes a component of entities with a [`SimId`] part of the state, under this name in reports.
    fn roll_back_component<T>(&mut self, name: &'static str) -> &mut Self
    where
        T: Component<Mutability = Mutable> + Fields + Clone;

    /// Makes a resource part of the state, under this name in reports.
    fn roll_back_resource<T: Resource + Fields + Clone>(&mut self, name: &'static str) -> &mut Self;
}

impl RollbackWorld for World {
    fn roll_back(&mut self, mut step: Schedule, finished: fn(&World) -> bool) -> &mut Self {
        // Ambiguous systems would run in another order on another machine: every step is a chain.
        step.set_build_settings(bevy_ecs::schedule::ScheduleBuildSettings {
            ambiguity_detection: bevy_ecs::schedule::LogLevel::Error,
            ..Default::default()
        });
        self.add_schedule(step);
        self.register_component::<SimId>();
        self.insert_resource(Registry { parts: Vec::new(), finished });
        self.init_resource::<SimIds>();
        self.init_resource::<FrameInputs>();
        self.init_resource::<FrameCues>();
        self.roll_back_resource::<SimIds>("ids")
    }

    fn roll_back_component<T>(&mut self, name: &'static str) -> &mut Self
    where
        T: Component<Mutability = Mutable> + Fields + Clone,
    {
        self.register_component::<T>();
        self.resource_mut::<Registry>().parts.push(Box::new(Rows::<T>::new(name)));
        self
    }

    fn roll_back_resource<T: Resource + Fields + Clone>(&mut self, name: &'static str) -> &mut Self {
        self.resource_mut::<Registry>().parts.push(Box::new(ResourcePart::<T>::new(name)));
        self
    }
}

/// A world as a game: lent for a frame (`Rolled(&mut world)`), or owned, for a test.
pub struct Rolled<W>(pub W);

impl<W: BorrowMut<World>> Save for Rolled<W> {
    type Snapshot = Snapshot;

    fn snapshot(&self) -> Snapshot {
        let world: &World = self.0.borrow();
        let mut snapshot = Snapshot::of(&world.resource::<Registry>().parts);
        snapshot.save(world);
        snapshot
    }

    fn save(&self, slot: &mut Snapshot) -> Result<(), StateError> {
        slot.save(self.0.borrow());
        Ok(())
    }

    fn restore(&mut self, snapshot: &Snapshot) -> Result<(), StateError> {
        snapshot.restore(self.0.borrow_mut());
        Ok(())
    }
}

impl<W: BorrowMut<World>> Game for Rolled<W> {
    fn step(&mut self, inputs: Inputs, cues: &mut Cues) {
        let world: &mut World = self.0.borrow_mut();
        world.resource_mut::<FrameInputs>().0 = inputs;
        world.run_schedule(Step);
        world.resource_mut::<FrameCues>().0.drain(..).for_each(|cue| cues.emit(cue));
    }

    fn finished(&self) -> bool {
        let world: &World = self.0.borrow();
        (world.resource::<Registry>().finished)(world)
    }
}
