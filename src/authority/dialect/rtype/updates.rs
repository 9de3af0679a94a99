//! The entities whose positions a client is sent: those that have moved, its own ship first, then the longest unsent.

use crate::authority::dialect::Parts;

/// Ids of entities and of projectiles.
const IDS: usize = 512;

/// An entity that stands is sent this often again, because an update may be lost and nobody asks for it.
const COPIES: u8 = 8;

/// A client that has nothing to see hears a HEARTBEAT in every fifth broadcast.
const QUIET: u64 = 5;

/// The last position that was sent of an entity.
#[derive(Clone, Copy, Debug, Default)]
struct Sent {
    place: (u16, u16),
    /// The broadcast in which it was sent.
    at: u64,
    /// How often it was sent since the entity stands there.
    copies: u8,
}

/// The positions that one client was sent.
#[derive(Clone, Debug)]
pub(super) struct Updates {
    sent: Vec<Sent>,
    broadcasts: u64,
    /// The parts of the broadcast that are sent, after what they are ordered by.
    plan: Vec<(bool, u64, u16)>,
}

/// A part of a prepared broadcast: an entity and its position.
pub(super) fn put(id: u16, place: (u16, u16), parts: &mut Parts) {
    let [[i0, i1], [x0, x1], [y0, y1]] = [id, place.0, place.1].map(u16::to_be_bytes);
    parts.push(&[i0, i1, x0, x1, y0, y1]);
}

fn read(part: &[u8]) -> Option<(u16, (u16, u16))> {
    let [i0, i1, x0, x1, y0, y1] = *part else { return None };
    let [id, x, y] = [[i0, i1], [x0, x1], [y0, y1]].map(u16::from_be_bytes);
    Some((id, (x, y)))
}

impl Updates {
    pub(super) fn new() -> Self {
        Self { sent: vec![Sent::default(); IDS], broadcasts: 0, plan: Vec::with_capacity(IDS) }
    }

    /// Notes the position that an ENTITY_SPAWN tells.
    pub(super) fn spawned(&mut self, id: u16, place: (u16, u16)) {
        if let Some(sent) = self.sent.get_mut(usize::from(id)) {
            *sent = Sent { place, at: self.broadcasts, copies: 0 };
        }
    }

    /// Chooses at most `budget` entities. Returns the number of datagrams, which is one for a HEARTBEAT at times if nobody
    /// has moved.
    pub(super) fn plan(&mut self, parts: &Parts, own: u16, budget: usize) -> usize {
        self.broadcasts += 1;
        self.plan.clear();
        for at in 0..parts.len().min(IDS) {
            let Some((id, place)) = parts.get(at).and_then(read) else { continue };
            let Some(sent) = self.sent.get(usize::from(id)) else { continue };
            if sent.place != place || sent.copies < COPIES {
                self.plan.push((id != own, sent.at, at as u16));
            }
        }
        self.plan.sort_unstable();
        self.plan.truncate(budget);
        if self.plan.is_empty() {
            usize::from(self.broadcasts.is_multiple_of(QUIET))
        } else {
            self.plan.len()
        }
    }

    /// The id and position of the `at`-th datagram of the plan; `None` if it is the HEARTBEAT.
    pub(super) fn take(&mut self, parts: &Parts, at: usize) -> Option<(u16, (u16, u16))> {
        let (.., part) = self.plan.get(at)?;
        let (id, place) = parts.get(usize::from(*part)).and_then(read)?;
        let sent = self.sent.get_mut(usize::from(id))?;
        let copies = if sent.place == place { sent.copies + 1 } else { 0 };
        *sent = Sent { place, at: self.broadcasts, copies };
        Some((id, place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broadcast(updates: &mut Updates, entities: &[(u16, u16)], budget: usize) -> Vec<u16> {
        let mut parts = Parts::new();
        entities.iter().for_each(|(id, x)| put(*id, (*x, 0), &mut parts));
        let count = updates.plan(&parts, 7, budget);
        (0..count).filter_map(|at| updates.take(&parts, at).map(|(id, _)| id)).collect()
    }

    #[test]
    fn own_ship_goes_first_and_then_the_longest_unsent() {
        let mut updates = Updates::new();
        let mut seen = Vec::new();
        for n in 0..4 {
            let entities: Vec<(u16, u16)> = [1, 2, 3, 7, 300].map(|id| (id, n + 1)).into();
            seen.push(broadcast(&mut updates, &entities, 3));
        }
        assert_eq!(seen, [[7, 1, 2], [7, 3, 300], [7, 1, 2], [7, 3, 300]]);
    }

    #[test]
    fn resting_entity_is_sent_eight_times_until_it_moves() {
        let mut updates = Updates::new();
        updates.spawned(3, (5, 0));
        let mut sent = (0..50).map(|_| broadcast(&mut updates, &[(3, 5)], 10).len()).collect::<Vec<_>>();
        assert_eq!(sent.iter().sum::<usize>(), 8);
        sent = (0..50).map(|_| broadcast(&mut updates, &[(3, 6)], 10).len()).collect();
        assert_eq!(sent.iter().sum::<usize>(), 9);
        let mut parts = Parts::new();
        put(3, (6, 0), &mut parts);
        let quiet = (0..50).map(|_| updates.plan(&parts, 7, 10)).sum::<usize>();
        assert_eq!(quiet, 10, "heartbeats");
    }

    #[test]
    fn spawn_of_a_reused_id_is_repeated_as_the_first_was() {
        let mut updates = Updates::new();
        for _ in 0..2 {
            updates.spawned(3, (5, 0));
            let sent = (0..20).map(|_| broadcast(&mut updates, &[(3, 5)], 10).len()).sum::<usize>();
            assert_eq!(sent, 8);
        }
    }

    #[test]
    fn entity_that_moves_in_either_direction_is_sent() {
        let mut updates = Updates::new();
        let mut sent = |place| {
            let mut parts = Parts::new();
            put(3, place, &mut parts);
            let count = updates.plan(&parts, 7, 10);
            (0..count).filter_map(|at| updates.take(&parts, at)).collect::<Vec<_>>()
        };
        (0..20).for_each(|_| {
            sent((5, 6));
        });
        assert_eq!(sent((5, 6)), []);
        assert_eq!([sent((5, 7)), sent((6, 7))], [[(3, (5, 7))], [(3, (6, 7))]]);
    }
}
