//! A walk over the leaves of a state, each with its path.

use super::{Fields, Scalar, Visitor};
use core::fmt::{self, Display};
use core::ops::Range;

/// One step of a [`Path`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Segment<'a> {
    /// A field of a struct, tuple or variant.
    Field(&'a str),
    /// An item of an array or slice.
    Index(u32),
    /// An item of memory that has [addresses](Visitor::addressed).
    Address(u32),
}

/// The path of a leaf within a state: `fighters[1].velocity.x`, or `ram[0x7e0012]` for an item with an address.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Path {
    /// The names of all fields, one after the other, so that a walk does not allocate for each.
    names: String,
    steps: Vec<Step>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Step {
    /// With the length of the name.
    Field(usize),
    Index(u32),
    Address(u32),
}

impl Path {
    /// The steps from the state to the leaf.
    pub fn segments(&self) -> impl Iterator<Item = Segment<'_>> {
        let mut names = self.names.as_str();
        self.steps.iter().map(move |step| match *step {
            Step::Field(len) => {
                let (name, rest) = names.split_at(len);
                names = rest;
                Segment::Field(name)
            }
            Step::Index(index) => Segment::Index(index),
            Step::Address(address) => Segment::Address(address),
        })
    }

    fn push(&mut self, segment: Segment<'_>) {
        self.steps.push(match segment {
            Segment::Field(name) => {
                self.names.push_str(name);
                Step::Field(name.len())
            }
            Segment::Index(index) => Step::Index(index),
            Segment::Address(address) => Step::Address(address),
        });
    }

    fn pop(&mut self) {
        if let Some(Step::Field(len)) = self.steps.pop() {
            self.names.truncate(self.names.len() - len);
        }
    }
}

impl Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, segment) in self.segments().enumerate() {
            match segment {
                Segment::Field(name) if position == 0 => f.write_str(name)?,
                Segment::Field(name) => write!(f, ".{name}")?,
                Segment::Index(index) => write!(f, "[{index}]")?,
                Segment::Address(address) => write!(f, "[{address:#x}]")?,
            }
        }
        Ok(())
    }
}

/// A value that has no parts, and its path. Prints as `path = 0x00012000`.
pub struct Leaf<'a> {
    /// The path of the leaf.
    pub path: &'a Path,
    /// The words of the value, low first.
    pub words: &'a [u32],
    /// The value as its type prints it: a fixed-point number as a decimal, an enum by its variant.
    pub shown: &'a dyn Display,
}

impl Display for Leaf<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = 0x", self.path)?;
        self.words.iter().rev().try_for_each(|word| write!(f, "{word:08x}"))
    }
}

/// Shows every leaf of a state to `look`, in declared order.
///
/// ```
/// use rebout::{fields, walk};
///
/// struct Fighter { hp: i16, at: (i32, i32) }
/// fields!(Fighter { hp, at });
/// struct Duel { fighters: [Fighter; 2] }
/// fields!(Duel { fighters });
///
/// let fighter = |x| Fighter { hp: -1, at: (x, 0x12000) };
/// let mut lines = Vec::new();
/// walk(&Duel { fighters: [fighter(1), fighter(2)] }, |leaf| lines.push(leaf.to_string()));
/// assert_eq!(lines[0], "fighters[0].hp = 0xffffffff");
/// assert_eq!(lines[5], "fighters[1].at.1 = 0x00012000");
/// ```
pub fn walk<T: Fields + ?Sized>(state: &T, look: impl FnMut(&Leaf<'_>)) {
    walk_slice(state, 0..usize::MAX, look);
}

/// Shows the leaves of a state between two positions, counted in declared order. Returns whether there are no more of them.
///
/// The leaves before the slice cost a count, those of an array of numbers nothing, and those after it nothing.
pub(crate) fn walk_slice<T: Fields + ?Sized>(
    state: &T,
    slice: Range<usize>,
    mut look: impl FnMut(&Leaf<'_>),
) -> bool {
    let end = slice.end;
    let mut walk = Walk { path: Path::default(), base: None, at: 0, slice, look: &mut look };
    state.visit(&mut walk);
    walk.at < end
}

/// How many leaves a state has.
pub(crate) fn count<S: Fields + ?Sized>(state: &S) -> usize {
    let mut count = Count(0);
    state.visit(&mut count);
    count.0
}

/// Counts leaves, and those of an array of numbers at once.
struct Count(usize);

impl Visitor for Count {
    fn leaf(&mut self, _: &[u32], _: &dyn Display) {
        self.0 += 1;
    }

    fn numbers<T: Scalar>(&mut self, numbers: &[T]) {
        self.0 += numbers.len();
    }
}

struct Walk<'a> {
    path: Path,
    /// The address of the first item, if the items of the value that is visited have addresses.
    base: Option<u32>,
    /// The position of the next leaf; any from the end of the slice on, once that is reached.
    at: usize,
    slice: Range<usize>,
    look: &'a mut dyn FnMut(&Leaf<'_>),
}

impl Walk<'_> {
    fn below<T: Fields + ?Sized>(&mut self, segment: Segment<'_>, value: &T) {
        if self.at >= self.slice.end {
            return;
        }
        if self.at < self.slice.start {
            let after = self.at + count(value);
            if after <= self.slice.start {
                self.at = after;
                return;
            }
        }
        self.path.push(segment);
        let base = self.base.take();
        value.visit(self);
        self.base = base;
        self.path.pop();
    }
}

impl Visitor for Walk<'_> {
    fn leaf(&mut self, words: &[u32], shown: &dyn Display) {
        if self.slice.contains(&self.at) {
            (self.look)(&Leaf { path: &self.path, words, shown });
        }
        self.at = self.at.saturating_add(1);
    }

    fn numbers<T: Scalar>(&mut self, numbers: &[T]) {
        let skipped = self.slice.start.saturating_sub(self.at).min(numbers.len());
        self.at += skipped;
        for (index, number) in numbers.iter().enumerate().skip(skipped) {
            if self.at >= self.slice.end {
                return;
            }
            self.item(index, number);
        }
    }

    fn field<T: Fields + ?Sized>(&mut self, name: &str, value: &T) {
        self.below(Segment::Field(name), value);
    }

    fn item<T: Fields + ?Sized>(&mut self, index: usize, value: &T) {
        let index = index as u32;
        let segment = match self.base {
            None => Segment::Index(index),
            Some(base) => Segment::Address(base.wrapping_add(index)),
        };
        self.below(segment, value);
    }

    fn addressed<T: Fields + ?Sized>(&mut self, base: u32, items: &T) {
        let outer = self.base.replace(base);
        items.visit(self);
        self.base = outer;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{checksum, diff};

    /// Memory as a core describes it: names and addresses are known at run time only.
    struct Region {
        name: String,
        base: u32,
        bytes: Vec<u8>,
    }

    impl Fields for Region {
        fn visit<V: Visitor>(&self, visitor: &mut V) {
            visitor.addressed(self.base, &self.bytes);
        }
    }

    struct Core {
        frame: u32,
        regions: Vec<Region>,
        stack: [[u16; 2]; 2],
    }

    impl Fields for Core {
        fn visit<V: Visitor>(&self, visitor: &mut V) {
            visitor.field("frame", &self.frame);
            for region in &self.regions {
                visitor.field(&region.name, region);
            }
            visitor.field("stack", &self.stack);
        }
    }

    fn core() -> Core {
        let region = |name: &str, base, len| Region { name: name.to_owned(), base, bytes: vec![0; len] };
        Core {
            frame: 1,
            regions: vec![region("wram", 0x7e_0000, 100), region("sram", 0, 3)],
            stack: [[0; 2]; 2],
        }
    }

    fn paths(core: &Core) -> Vec<String> {
        let mut paths = Vec::new();
        walk(core, |leaf| paths.push(leaf.path.to_string()));
        paths
    }

    #[test]
    fn names_and_addresses_are_those_of_run_time() {
        let (here, mut there) = (core(), core());
        there.regions[0].bytes[0x12] = 7;
        there.regions[1].bytes[2] = 8;
        there.stack[1][0] = 9;
        let lines: Vec<String> = diff(&here, &there).iter().map(ToString::to_string).collect();
        assert_eq!(lines, ["wram[0x7e0012]: 0 / 7", "sram[0x2]: 0 / 8", "stack[1][0]: 0 / 9"]);
        assert_eq!(paths(&here)[..3], ["frame", "wram.len", "wram[0x7e0000]"]);
        assert_eq!(paths(&here).len(), 1 + 101 + 4 + 4);
    }

    /// Memory with addresses, and a list beside it without a name of its own.
    struct Beside;

    impl Fields for Beside {
        fn visit<V: Visitor>(&self, visitor: &mut V) {
            visitor.addressed(0x10, &[0_u8; 2]);
            [0_u8; 2].visit(visitor);
        }
    }

    #[test]
    fn items_beside_addressed_memory_are_numbered() {
        let mut paths = Vec::new();
        walk(&Beside, |leaf| paths.push(leaf.path.to_string()));
        assert_eq!(paths, ["[0x10]", "[0x11]", "[0]", "[1]"]);
    }

    /// Otherwise a game could not begin to name its memory without another checksum.
    #[test]
    fn addresses_do_not_change_the_checksum() {
        let core = core();
        let plain = (core.frame, core.regions[0].bytes.clone(), core.regions[1].bytes.clone(), core.stack);
        assert_eq!(checksum(&core), checksum(&plain));
    }

    #[test]
    fn slices_of_every_size_show_each_leaf_once() {
        let state = (core(), vec![(1_u32, [2_u16; 3]); 9], Some(4_u8), [[5_u8; 70]; 2]);
        let mut whole = Vec::new();
        walk(&state, |leaf| whole.push(leaf.to_string()));
        assert_eq!(count(&state), whole.len());
        for size in [1, 2, 3, 7, 50, whole.len() - 1, whole.len(), whole.len() + 1] {
            let (mut shown, mut start) = (Vec::new(), 0);
            loop {
                let before = shown.len();
                let is_all = walk_slice(&state, start..start + size, |leaf| shown.push(leaf.to_string()));
                assert!(shown.len() - before <= size);
                if is_all {
                    break;
                }
                start += size;
            }
            assert_eq!(shown, whole, "slices of {size}");
        }
    }

    #[test]
    fn segments_give_back_the_names_and_numbers() {
        let mut path = Path::default();
        path.push(Segment::Field("ab"));
        path.push(Segment::Index(3));
        path.push(Segment::Field("c"));
        path.push(Segment::Address(u32::MAX));
        let all = [Segment::Field("ab"), Segment::Index(3), Segment::Field("c"), Segment::Address(u32::MAX)];
        assert_eq!(path.segments().collect::<Vec<_>>(), all);
        assert_eq!(path.to_string(), "ab[3].c[0xffffffff]");
        path.pop();
        path.pop();
        assert_eq!(path.segments().collect::<Vec<_>>(), all[..2]);
    }
}
