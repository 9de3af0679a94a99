//! The projectiles in flight. Each is a straight line from a place at a frame, so nothing is sent while it flies.

use crate::authority::record::Course;

/// The most projectiles in flight.
pub(crate) const MAX_SHOTS: usize = 256;

/// A projectile in flight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Flight {
    pub(crate) kind: u8,
    pub(crate) owner: u8,
    pub(crate) course: Course,
}

/// The table of projectiles, by id.
#[derive(Clone, Debug)]
pub(super) struct Shots {
    flights: Box<[Option<Flight>; MAX_SHOTS]>,
    /// Where to look for a free id: the one that has rested longest.
    next: u8,
}

impl Shots {
    pub(super) fn new() -> Self {
        Self { flights: Box::new([None; MAX_SHOTS]), next: 0 }
    }

    pub(super) fn add(&mut self, flight: Flight) -> Option<u8> {
        let next = self.next;
        let id = (0..=u8::MAX).map(|n| next.wrapping_add(n)).find(|id| self.get(*id).is_none())?;
        self.flights[usize::from(id)] = Some(flight);
        self.next = id.wrapping_add(1);
        Some(id)
    }

    pub(super) fn get(&self, id: u8) -> Option<&Flight> {
        self.flights[usize::from(id)].as_ref()
    }

    pub(super) fn get_mut(&mut self, id: u8) -> Option<&mut Flight> {
        self.flights[usize::from(id)].as_mut()
    }

    pub(super) fn remove(&mut self, id: u8) -> Option<Flight> {
        self.flights[usize::from(id)].take()
    }

    /// Every projectile, by id.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u8, &Flight)> {
        (0..=u8::MAX).filter_map(|id| self.get(id).map(|flight| (id, flight)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_rests_while_others_are_free() {
        let course = Course { frame: crate::Frame(1), x: 0.0, y: 0.0, velocity_x: 0.0, velocity_y: 0.0 };
        let flight = Flight { kind: 1, owner: 2, course };
        let mut shots = Shots::new();
        assert_eq!(shots.add(flight), Some(0));
        assert_eq!(shots.remove(0), Some(flight));
        for id in (1..=u8::MAX).chain([0]) {
            assert_eq!(shots.add(flight), Some(id));
        }
        assert_eq!((shots.add(flight), shots.iter().count()), (None, 256));
        assert_eq!((shots.remove(9), shots.remove(9)), (Some(flight), None));
        assert_eq!(shots.add(flight), Some(9));
    }
}
