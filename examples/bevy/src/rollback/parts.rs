//! The parts of a snapshot: all rows of one component, or one resource.

use super::SimId;
use super::erased::{ErasedFields, ErasedVisitor, Known};
use bevy_ecs::component::{Component, Mutable};
use bevy_ecs::prelude::{Entity, Resource, World};
use rebout::{Fields, Visitor};
use std::collections::BTreeMap;

/// The entities of a world by their ids.
pub(super) type Entities = BTreeMap<SimId, Entity>;

/// A registered kind of state, with the values that were saved of it.
pub(super) trait Part: ErasedFields + Send + Sync {
    fn name(&self) -> &'static str;
    /// The same kind, without values.
    fn empty(&self) -> Box<dyn Part>;
    fn save(&mut self, world: &World);
    fn restore(&self, world: &mut World, entities: &Entities);
    /// Whether an entity has a value here.
    fn has(&self, id: SimId) -> bool;
}

/// All components of one type, in the order of their entities' ids.
pub(super) struct Rows<T> {
    name: &'static str,
    rows: Vec<(SimId, T)>,
}

impl<T> Rows<T> {
    pub(super) fn new(name: &'static str) -> Self {
        Self { name, rows: Vec::new() }
    }

    fn get(&self, id: SimId) -> Option<&T> {
        let at = self.rows.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        Some(&self.rows[at].1)
    }
}

/// `position[7].x` is that of the entity with id 7. Who has the component is shown beside the entities.
impl<T: Fields> Fields for Rows<T> {
    fn visit<V: Visitor>(&self, visitor: &mut V) {
        for (SimId(id), value) in &self.rows {
            visitor.item(*id as usize, value);
        }
    }
}

impl<T: Fields> ErasedFields for Rows<T> {
    fn visit_erased(&self, visitor: &mut dyn ErasedVisitor) {
        Known(self).visit_erased(visitor);
    }
}

impl<T: Component<Mutability = Mutable> + Fields + Clone> Part for Rows<T> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn empty(&self) -> Box<dyn Part> {
        Box::new(Self::new(self.name))
    }

    fn save(&mut self, world: &World) {
        self.rows.clear();
        if let Some(mut query) = world.try_query::<(&SimId, &T)>() {
            self.rows.extend(query.iter(world).map(|(id, value)| (*id, value.clone())));
        }
        self.rows.sort_by_key(|(id, _)| *id);
    }

    fn restore(&self, world: &mut World, entities: &Entities) {
        for (id, entity) in entities {
            let mut entity = world.entity_mut(*entity);
            match (self.get(*id), entity.get_mut::<T>()) {
                // In place, which moves the entity to no other table.
                (Some(value), Some(mut slot)) => slot.clone_from(value),
                (Some(value), None) => {
                    entity.insert(value.clone());
                }
                (None, Some(_)) => {
                    entity.remove::<T>();
                }
                (None, None) => {}
            }
        }
    }

    fn has(&self, id: SimId) -> bool {
        self.get(id).is_some()
    }
}

/// One resource; none if the world has none.
pub(super) struct ResourcePart<T> {
    name: &'static str,
    value: Option<T>,
}

impl<T> ResourcePart<T> {
    pub(super) fn new(name: &'static str) -> Self {
        Self { name, value: None }
    }
}

impl<T: Fields> ErasedFields for ResourcePart<T> {
    fn visit_erased(&self, visitor: &mut dyn ErasedVisitor) {
        Known(&self.value).visit_erased(visitor);
    }
}

impl<T: Resource + Fields + Clone> Part for ResourcePart<T> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn empty(&self) -> Box<dyn Part> {
        Box::new(Self::new(self.name))
    }

    fn save(&mut self, world: &World) {
        self.value = world.get_resource::<T>().cloned();
    }

    fn restore(&self, world: &mut World, _: &Entities) {
        match &self.value {
            Some(value) => world.insert_resource(value.clone()),
            None => {
                world.remove_resource::<T>();
            }
        }
    }

    fn has(&self, _: SimId) -> bool {
        false
    }
}
