//! The entities of a world by their ids, and when an id is free again.

use crate::Frame;
use crate::authority::ids::Ids;
use crate::authority::{Body, ahead};

/// Ids are 1 to 255; a player has the id of the client.
const IDS: usize = 256;

/// Strides that lead through all 255 ids: they have no factor in common with it.
const STRIDES: [u64; 12] = [1, 7, 19, 37, 52, 74, 98, 121, 143, 181, 206, 232];

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Free,
    /// Taken by a player whose first body comes with the next frame.
    Reserved,
    /// There since this frame.
    Live {
        since: Frame,
    },
    /// Gone; the id waits until everybody has heard of it, which the mark of its GONE says.
    Unheard {
        mark: u64,
    },
    /// Everybody has heard of it. Snapshots may still be under way.
    Resting {
        until: Frame,
    },
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    state: State,
    kind: u8,
    body: Body,
}

/// A fixed table of entities.
#[derive(Clone, Debug)]
pub(super) struct Entities {
    slots: Box<[Slot; IDS]>,
    live: Ids,
    /// Those that are gone and not free yet.
    gone: Ids,
}

impl Entities {
    pub(super) fn new() -> Self {
        let free = Slot { state: State::Free, kind: 0, body: Body::at(0.0, 0.0) };
        Self { slots: Box::new([free; IDS]), live: Ids::NONE, gone: Ids::NONE }
    }

    pub(super) fn is_free(&self, id: u8) -> bool {
        id != 0 && self.slots[usize::from(id)].state == State::Free
    }

    /// The free id that a player gets whose address hashes to `hash`. Each address has an order of its own in which it
    /// looks: of those who found the same id and came too late, no two look for the same one next.
    pub(super) fn free_for_player(&self, hash: u64) -> Option<u8> {
        const COUNT: u64 = IDS as u64 - 1;
        let (start, stride) = (hash % COUNT, STRIDES[(hash >> 32) as usize % STRIDES.len()]);
        (0..COUNT).map(|n| (1 + (start + n * stride) % COUNT) as u8).find(|id| self.is_free(*id))
    }

    /// The free id of another entity, counting down.
    pub(super) fn free_from_above(&self) -> Option<u8> {
        (1..=u8::MAX).rev().find(|id| self.is_free(*id))
    }

    /// Takes an id for a player who enters with the next frame.
    pub(super) fn reserve(&mut self, id: u8) {
        self.slots[usize::from(id)].state = State::Reserved;
    }

    /// Gives back an id that no client was told of.
    pub(super) fn release(&mut self, id: u8) {
        self.slots[usize::from(id)].state = State::Free;
    }

    pub(super) fn place(&mut self, id: u8, kind: u8, body: Body, frame: Frame) {
        self.slots[usize::from(id)] = Slot { state: State::Live { since: frame }, kind, body };
        self.live.insert(id);
    }

    /// Takes an entity away; `mark` is that of its GONE.
    pub(super) fn remove(&mut self, id: u8, mark: u64) {
        self.slots[usize::from(id)].state = State::Unheard { mark };
        self.live.remove(id);
        self.gone.insert(id);
    }

    pub(super) fn body_mut(&mut self, id: u8) -> Option<&mut Body> {
        let slot = &mut self.slots[usize::from(id)];
        matches!(slot.state, State::Live { .. }).then_some(&mut slot.body)
    }

    pub(super) fn get(&self, id: u8) -> Option<(u8, Frame, &Body)> {
        let slot = &self.slots[usize::from(id)];
        match slot.state {
            State::Live { since } => Some((slot.kind, since, &slot.body)),
            _ => None,
        }
    }

    /// Every entity: id, kind, since when, body; by id.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u8, u8, Frame, &Body)> {
        self.live.iter().filter_map(|id| self.get(id).map(|(kind, since, body)| (id, kind, since, body)))
    }

    /// Frees the ids whose GONE everybody has acknowledged for a second. `heard` is the mark that all have reached.
    pub(super) fn free_up(&mut self, frame: Frame, frame_rate: u16, heard: u64) {
        for id in self.gone.iter() {
            let slot = &mut self.slots[usize::from(id)];
            match slot.state {
                State::Unheard { mark } if mark <= heard => {
                    slot.state = State::Resting { until: frame.plus(frame_rate.into()) };
                }
                State::Resting { until } if ahead(frame.0, until.0) >= 0 => {
                    slot.state = State::Free;
                    self.gone.remove(id);
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_is_free_a_second_after_all_clients_know_its_end() {
        let mut entities = Entities::new();
        assert_eq!(entities.free_from_above(), Some(255));
        entities.place(255, 0, Body::at(0.0, 0.0), Frame(1));
        assert_eq!((entities.free_from_above(), entities.free_for_player(254)), (Some(254), Some(1)));
        entities.remove(255, 10);
        entities.free_up(Frame(100), 60, 9);
        assert!(!entities.is_free(255), "somebody has not heard it");
        entities.free_up(Frame(101), 60, 10);
        entities.free_up(Frame(160), 60, 10);
        assert!(!entities.is_free(255), "not a second yet");
        entities.free_up(Frame(161), 60, 10);
        assert!(entities.is_free(255));
    }

    #[test]
    fn every_address_finds_the_last_free_id() {
        let mut entities = Entities::new();
        (1..=u8::MAX)
            .filter(|id| *id != 77)
            .for_each(|id| entities.place(id, 0, Body::at(0.0, 0.0), Frame(1)));
        for stride in 0..STRIDES.len() as u64 {
            assert_eq!(entities.free_for_player(stride << 32 | 5), Some(77), "stride {stride}");
        }
        entities.place(77, 0, Body::at(0.0, 0.0), Frame(1));
        assert_eq!(entities.free_for_player(5), None);
    }

    #[test]
    fn reserved_and_gone_ids_are_taken_and_have_no_body() {
        let mut entities = Entities::new();
        entities.reserve(5);
        assert!(!entities.is_free(5) && entities.get(5).is_none() && entities.body_mut(5).is_none());
        entities.release(5);
        assert!(entities.is_free(5));
        entities.place(5, 3, Body::at(1.0, 2.0), Frame(40));
        assert_eq!(entities.iter().collect::<Vec<_>>(), [(5, 3, Frame(40), &Body::at(1.0, 2.0))]);
        assert!(entities.body_mut(5).is_some());
        entities.remove(5, 1);
        assert!(entities.body_mut(5).is_none() && entities.iter().next().is_none());
        assert!(!entities.is_free(0), "no entity has the id 0");
    }

    #[test]
    fn addresses_that_missed_the_same_id_look_for_different_ones() {
        let mut entities = Entities::new();
        let offers = |entities: &Entities| {
            let hashes = (0..STRIDES.len() as u64).map(|stride| stride << 32 | (260 - stride));
            hashes.filter_map(|hash| entities.free_for_player(hash)).collect::<Vec<u8>>()
        };
        assert_eq!(offers(&entities), [6; STRIDES.len()]);
        entities.reserve(6);
        let mut next = offers(&entities);
        next.sort_unstable();
        next.dedup();
        assert_eq!(next.len(), STRIDES.len());
    }
}
