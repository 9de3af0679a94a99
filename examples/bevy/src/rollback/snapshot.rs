//! A snapshot of a world: which entities there are, and the registered parts of the state.

use super::SimId;
use super::erased::Erased;
use super::parts::{Entities, Part};
use bevy_ecs::prelude::{Entity, World};
use rebout::{Fields, Visitor, fields};

/// An entity, and which of the registered components it has: a bit for each, in the order of registration.
struct Present {
    id: u32,
    components: u64,
}
fields!(Present { id, components });

/// The state of a world.
pub struct Snapshot {
    entities: Vec<Present>,
    parts: Vec<Box<dyn Part>>,
}

impl Snapshot {
    pub(super) fn of(registered: &[Box<dyn Part>]) -> Self {
        assert!(registered.len() <= 64, "a bit for each part");
        Self { entities: Vec::new(), parts: registered.iter().map(|part| part.empty()).collect() }
    }

    pub(super) fn save(&mut self, world: &World) {
        self.parts.iter_mut().for_each(|part| part.save(world));
        let parts = &self.parts;
        let present = |id: SimId| {
            let bit = |at: usize| u64::from(parts[at].has(id)) << at;
            Present { id: id.0, components: (0..parts.len()).map(bit).sum() }
        };
        self.entities.clear();
        self.entities.extend(entities(world).into_keys().map(present));
    }

    pub(super) fn restore(&self, world: &mut World) {
        let mut there = entities(world);
        there.retain(|id, entity| {
            let stays = self.entities.binary_search_by_key(&id.0, |present| present.id).is_ok();
            if !stays {
                world.despawn(*entity);
            }
            stays
        });
        for Present { id, .. } in &self.entities {
            there.entry(SimId(*id)).or_insert_with(|| world.spawn(SimId(*id)).id());
        }
        self.parts.iter().for_each(|part| part.restore(world, &there));
    }
}

fn entities(world: &World) -> Entities {
    let Some(mut query) = world.try_query::<(&SimId, Entity)>() else { return Entities::new() };
    query.iter(world).map(|(id, entity)| (*id, entity)).collect()
}

impl Fields for Snapshot {
    fn visit<V: Visitor>(&self, visitor: &mut V) {
        visitor.field("entities", &self.entities);
        for part in &self.parts {
            visitor.field(part.name(), &Erased(&**part));
        }
    }
}
