//! The entities of an R-Type connection in the order of sequence numbers: a DESTROY may overtake its SPAWN.

/// Ids of entities and of projectiles; others are acknowledged and left alone.
pub(super) const IDS: usize = 512;

/// The newest numbers that told of an id; 0 is never a whole number.
#[derive(Clone, Copy, Debug, Default)]
struct Life {
    spawned: u64,
    gone: u64,
    updated: u64,
}

/// Every id, in a fixed table.
#[derive(Clone, Debug)]
pub(super) struct Lives {
    lives: Vec<Life>,
}

/// The result of a SPAWN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spawned {
    /// A later life of the id is known.
    Stale,
    New,
    /// Its DESTROY was here before it.
    AndGone,
}

impl Lives {
    pub(super) fn new() -> Self {
        Self { lives: vec![Life::default(); IDS] }
    }

    pub(super) fn spawn(&mut self, id: u16, number: u64) -> Spawned {
        let Some(life) = self.lives.get_mut(usize::from(id)) else { return Spawned::Stale };
        if number <= life.spawned {
            return Spawned::Stale;
        }
        life.spawned = number;
        life.updated = life.updated.max(number);
        if life.gone > number { Spawned::AndGone } else { Spawned::New }
    }

    /// Whether a DESTROY ends the life that is known.
    pub(super) fn destroy(&mut self, id: u16, number: u64) -> bool {
        let Some(life) = self.lives.get_mut(usize::from(id)) else { return false };
        let ends = life.is_there() && life.spawned < number;
        life.gone = life.gone.max(number);
        ends
    }

    /// Whether an update is newer than all before it, and of an entity that is there.
    pub(super) fn update(&mut self, id: u16, number: u64) -> bool {
        let Some(life) = self.lives.get_mut(usize::from(id)) else { return false };
        let newer = number > life.updated;
        life.updated = life.updated.max(number);
        newer && life.is_there()
    }
}

impl Life {
    fn is_there(&self) -> bool {
        self.spawned > self.gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn destroy_that_overtakes_its_spawn_ends_it_all_the_same() {
        let mut lives = Lives::new();
        assert!(!lives.destroy(300, 70_005));
        assert!(!lives.update(300, 70_004), "not here yet");
        assert_eq!(lives.spawn(300, 70_001), Spawned::AndGone);
        assert!(!lives.update(300, 70_004));
        assert_eq!(lives.spawn(300, 70_010), Spawned::New);
        assert_eq!(lives.spawn(300, 70_001), Spawned::Stale);
        assert!(!lives.destroy(300, 70_005), "that was the life before");
        assert!(lives.update(300, 70_012) && !lives.update(300, 70_011), "by number");
        assert!(lives.destroy(300, 70_020) && !lives.destroy(300, 70_020));
        assert_eq!(lives.spawn(512, 1), Spawned::Stale, "no such id");
    }

    #[test]
    fn packets_about_an_earlier_entity_are_stale() {
        let mut lives = Lives::new();
        assert_eq!(lives.spawn(5, 100), Spawned::New);
        assert_eq!(lives.spawn(5, 100), Spawned::Stale, "a copy");
        assert!(!lives.update(5, 99), "from before the spawn");
        assert!(lives.update(5, 101));
        let mut lives = Lives::new();
        assert!(!lives.destroy(5, 20) && !lives.destroy(5, 10));
        assert_eq!(lives.spawn(5, 15), Spawned::AndGone, "the newest end counts");
    }
}
