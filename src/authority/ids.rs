//! A set of entity ids.

use core::ops::{BitAnd, BitOr};

/// Ids 0 to 255, of which no entity has 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ids([u64; 4]);

impl Ids {
    pub(crate) const NONE: Self = Self([0; 4]);

    /// The ids that are `phase` modulo 4.
    pub(crate) fn of_phase(phase: u32) -> Self {
        Self([0x1111_1111_1111_1111 << (phase % 4); 4])
    }

    /// The set of these bits: bit k of word n is id 64 n + k.
    pub(crate) fn from_words(words: [u64; 4]) -> Self {
        Self(words)
    }

    pub(crate) fn words(&self) -> [u64; 4] {
        self.0
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        let [a, b, c, d] = self.0;
        a | b | c | d == 0
    }

    pub(crate) fn contains(&self, id: u8) -> bool {
        self.0[usize::from(id >> 6)] >> (id & 63) & 1 == 1
    }

    #[inline]
    pub(crate) fn insert(&mut self, id: u8) {
        self.0[usize::from(id >> 6)] |= 1 << (id & 63);
    }

    pub(crate) fn remove(&mut self, id: u8) {
        self.0[usize::from(id >> 6)] &= !(1 << (id & 63));
    }

    /// This set without the ids of another.
    #[inline]
    pub(crate) fn without(&self, other: &Self) -> Self {
        let ([a, b, c, d], [e, f, g, h]) = (self.0, other.0);
        Self([a & !e, b & !f, c & !g, d & !h])
    }

    /// The ids in order.
    #[inline]
    pub(crate) fn iter(&self) -> impl Iterator<Item = u8> + use<> {
        let (words, mut at) = (self.0, 0);
        let mut left = words[0];
        core::iter::from_fn(move || {
            while left == 0 {
                at += 1;
                left = *words.get(at)?;
            }
            let bit = left.trailing_zeros();
            left &= left - 1;
            Some((at as u32 * 64 + bit) as u8)
        })
    }

    pub(crate) fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }
}

impl FromIterator<u8> for Ids {
    fn from_iter<I: IntoIterator<Item = u8>>(ids: I) -> Self {
        let mut set = Self::NONE;
        ids.into_iter().for_each(|id| set.insert(id));
        set
    }
}

impl BitAnd for Ids {
    type Output = Self;

    #[inline]
    fn bitand(self, other: Self) -> Self {
        let ([a, b, c, d], [e, f, g, h]) = (self.0, other.0);
        Self([a & e, b & f, c & g, d & h])
    }
}

impl BitOr for Ids {
    type Output = Self;

    #[inline]
    fn bitor(self, other: Self) -> Self {
        let ([a, b, c, d], [e, f, g, h]) = (self.0, other.0);
        Self([a | e, b | f, c | g, d | h])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_hold_what_was_put_in() {
        let mut ids: Ids = [1, 63, 64, 255].into_iter().collect();
        assert_eq!(ids.iter().collect::<Vec<_>>(), [1, 63, 64, 255]);
        ids.remove(64);
        assert_eq!((ids.count(), ids.contains(64), ids.contains(255)), (3, false, true));
        let others: Ids = [1, 2].into_iter().collect();
        assert_eq!((ids & others).iter().collect::<Vec<_>>(), [1]);
        assert_eq!((ids | others).iter().collect::<Vec<_>>(), [1, 2, 63, 255]);
        assert_eq!(ids.without(&others).iter().collect::<Vec<_>>(), [63, 255]);
        assert!(Ids::NONE.is_empty() && !ids.is_empty() && Ids::NONE.iter().next().is_none());
    }

    #[test]
    fn phases_part_the_ids_in_four() {
        let phases = [0, 1, 2, 3].map(Ids::of_phase);
        let all = phases.into_iter().reduce(|all, phase| all | phase).unwrap();
        assert_eq!(all.count(), 256);
        assert!(phases[3].contains(7) && (phases[0] & phases[1]).is_empty());
    }
}
