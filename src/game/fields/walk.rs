//! A walk over the leaves of a state, each with its path.

use super::{Fields, Visitor};
use core::fmt::{self, Display};

/// One step of a [`Path`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Segment {
    /// A field of a struct, tuple or variant.
    Field(&'static str),
    /// An item of an array or slice.
    Index(u32),
}

/// The path of a leaf within a state: `fighters[1].velocity.x`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Path(Vec<Segment>);

impl Path {
    /// The steps from the state to the leaf.
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.0
    }
}

impl Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Field(name) if position == 0 => f.write_str(name)?,
                Segment::Field(name) => write!(f, ".{name}")?,
                Segment::Index(index) => write!(f, "[{index}]")?,
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
pub fn walk<T: Fields + ?Sized>(state: &T, mut look: impl FnMut(&Leaf<'_>)) {
    state.visit(&mut Walk { path: Path::default(), look: &mut look });
}

struct Walk<'a> {
    path: Path,
    look: &'a mut dyn FnMut(&Leaf<'_>),
}

impl Walk<'_> {
    fn below<T: Fields + ?Sized>(&mut self, segment: Segment, value: &T) {
        self.path.0.push(segment);
        value.visit(self);
        self.path.0.pop();
    }
}

impl Visitor for Walk<'_> {
    fn leaf(&mut self, words: &[u32], shown: &dyn Display) {
        (self.look)(&Leaf { path: &self.path, words, shown });
    }

    fn field<T: Fields + ?Sized>(&mut self, name: &'static str, value: &T) {
        self.below(Segment::Field(name), value);
    }

    fn item<T: Fields + ?Sized>(&mut self, index: usize, value: &T) {
        self.below(Segment::Index(index as u32), value);
    }
}
