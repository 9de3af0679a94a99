//! A snapshot of bytes, whose fields are the regions of its layout.

use super::layout::{Format, Layout, Region};
use rebout::fields::Scalar;
use rebout::{Fields, Visitor};
use std::sync::Arc;

/// The bytes of a state, aligned for every width of a number.
#[derive(Clone, Debug)]
pub struct State {
    words: Vec<u64>,
    layout: Arc<Layout>,
}

impl State {
    /// A state of zeros.
    #[must_use]
    pub fn new(layout: Arc<Layout>) -> Self {
        Self { words: vec![0; layout.bytes().div_ceil(8)], layout }
    }

    /// The bytes.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.layout.bytes()]
    }

    /// The bytes, to be written.
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.words)[..self.layout.bytes()]
    }
}

impl Fields for State {
    fn visit<V: Visitor>(&self, visitor: &mut V) {
        let bytes = self.bytes();
        for region in self.layout.regions() {
            if region.is_compared {
                visitor.field(&region.name, &View { region, bytes: &bytes[region.range()] });
            } else {
                visitor.skipped(&region.name);
            }
        }
    }
}

/// A region of a state.
struct View<'a> {
    region: &'a Region,
    bytes: &'a [u8],
}

impl Fields for View<'_> {
    #[inline]
    fn visit<V: Visitor>(&self, visitor: &mut V) {
        let Format { width, is_signed, .. } = self.region.format;
        match (width, is_signed) {
            (1, false) => self.show::<u8, V>(visitor),
            (2, false) => self.show::<u16, V>(visitor),
            (4, false) => self.show::<u32, V>(visitor),
            (_, false) => self.show::<u64, V>(visitor),
            (1, true) => self.show::<i8, V>(visitor),
            (2, true) => self.show::<i16, V>(visitor),
            (4, true) => self.show::<i32, V>(visitor),
            (_, true) => self.show::<i64, V>(visitor),
        }
    }
}

impl View<'_> {
    /// Shows the numbers, as a value or as an array: so does a field of such a type in Rust, with the same checksum.
    #[inline]
    fn show<T: Scalar + bytemuck::Pod, V: Visitor>(&self, visitor: &mut V) {
        // A region that is not aligned is copied, which takes longer and gives the same.
        match bytemuck::try_cast_slice::<u8, T>(self.bytes) {
            Ok(numbers) => self.pass(numbers, visitor),
            Err(_) => {
                let numbers: Vec<T> =
                    self.bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect();
                self.pass(&numbers, visitor);
            }
        }
    }

    #[inline]
    fn pass<T: Scalar, V: Visitor>(&self, numbers: &[T], visitor: &mut V) {
        match (self.region.format.base, numbers) {
            (Some(base), _) => visitor.addressed(base, &Numbers(numbers)),
            (None, [value]) => value.visit(visitor),
            (None, _) => visitor.numbers(numbers),
        }
    }
}

/// Numbers without the length that a slice has.
struct Numbers<'a, T>(&'a [T]);

impl<T: Scalar> Fields for Numbers<'_, T> {
    #[inline]
    fn visit<V: Visitor>(&self, visitor: &mut V) {
        visitor.numbers(self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rebout::{checksum, diff, fields};

    #[derive(Clone, Copy)]
    struct Same {
        frame: u32,
        at: [i16; 3],
        hp: i8,
        memory: [u8; 100],
        wide: [u64; 9],
    }
    fields!(Same { frame, at, hp, memory, wide });

    /// The regions of `Same`, one after the other from `start` on.
    fn layout(start: usize) -> Arc<Layout> {
        let mut at = start;
        let rows =
            [("frame", 4, 1, false), ("at", 2, 3, true), ("hp", 1, 1, true), ("memory", 1, 100, false)];
        let regions =
            rows.into_iter().chain([("wide", 8, 9, false)]).map(|(name, width, count, is_signed)| {
                let offset = at;
                at += width * count;
                let format = Format { width, is_signed, base: None };
                Region { name: name.to_owned(), offset, count, format, is_compared: true }
            });
        let mut regions: Vec<_> = regions.collect();
        let format = Format { width: 1, is_signed: false, base: None };
        let start =
            Region { name: "start".into(), offset: 0, count: start.max(1), format, is_compared: false };
        if start.offset + start.count <= regions[0].offset {
            regions.insert(0, start);
        }
        Arc::new(Layout::new(at, regions).unwrap())
    }

    fn filled(same: &Same, start: usize) -> State {
        let mut state = State::new(layout(start));
        let numbers =
            [same.frame.to_ne_bytes().to_vec(), same.at.iter().flat_map(|n| n.to_ne_bytes()).collect()];
        let rest = [
            vec![same.hp as u8],
            same.memory.to_vec(),
            same.wide.iter().flat_map(|n| n.to_ne_bytes()).collect(),
        ];
        let bytes: Vec<u8> = numbers.into_iter().chain(rest).flatten().collect();
        state.bytes_mut()[start..].copy_from_slice(&bytes);
        state
    }

    #[test]
    fn checksum_is_that_of_the_same_fields_in_rust() {
        let memory = std::array::from_fn(|at| (at * 7) as u8);
        let wide = std::array::from_fn(|at| (at as u64) << 40 | 3);
        let same = Same { frame: 9, at: [-1, 2, i16::MIN], hp: -5, memory, wide };
        for start in 0..9 {
            assert_eq!(checksum(&filled(&same, start)), checksum(&same), "regions begin at {start}");
        }
    }

    #[test]
    fn difference_names_the_region_and_its_number() {
        let same = Same { frame: 9, at: [0; 3], hp: 3, memory: [0; 100], wide: [0; 9] };
        let mut other = same;
        (other.at[2], other.hp, other.memory[17]) = (-7, -1, 200);
        let found = diff(&filled(&same, 3), &filled(&other, 3));
        let texts: Vec<_> = found.iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["at[2]: 0 / -7", "hp: 3 / -1", "memory[17]: 0 / 200"]);
    }

    #[test]
    fn bytes_without_a_name_are_shown_by_their_place() {
        let layout = Arc::new(Layout::new(40, Vec::new()).unwrap());
        let (one, mut two) = (State::new(layout.clone()), State::new(layout));
        two.bytes_mut()[0x12] = 5;
        assert_eq!(diff(&one, &two)[0].to_string(), "state[0x12]: 0 / 5");
    }
}
