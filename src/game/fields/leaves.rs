//! The leaves of a state by path and value, and the tables by which two machines find the few that differ.

use super::{Fields, Leaf, Path, Segment, walk_slice};
use crate::SimHash;
use crate::game::text::{cut, is_disruptive};

/// A leaf of a state, apart from the state: its path, its words and its value as text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OwnedLeaf {
    /// Where it is: `fighters[1].velocity.x`.
    pub path: String,
    /// Its words, low first; at most four.
    pub words: Vec<u32>,
    /// As its type prints it.
    pub shown: String,
}

/// The most words of a leaf that are kept.
pub(crate) const MAX_LEAF_WORDS: usize = 4;

/// The most bytes of a path or a value that are kept; a report is to be read.
pub(crate) const MAX_TEXT: usize = 200;

/// How many sums a table has.
pub(crate) const TABLE_SUMS: usize = 256;

/// The most leaves that a machine tells of.
pub(crate) const MAX_LEAVES: usize = 256;

/// The most buckets that are followed on one level.
pub(crate) const MAX_PARTS: usize = 8;

/// The most levels of tables.
pub(crate) const MAX_DEPTH: usize = 3;

impl OwnedLeaf {
    /// A leaf of a state here, as the peer would receive it, so that both machines report it alike.
    pub(crate) fn of(leaf: &Leaf<'_>) -> Self {
        let words = &leaf.words[..leaf.words.len().min(MAX_LEAF_WORDS)];
        Self::new(&leaf.path.to_string(), words, &leaf.shown.to_string())
    }

    /// A leaf whose texts may come from the peer.
    pub(crate) fn new(path: &str, words: &[u32], shown: &str) -> Self {
        Self { path: legible(path, MAX_TEXT), words: words.to_vec(), shown: legible(shown, MAX_TEXT) }
    }
}

/// A text of at most `max` bytes that is safe to print: what [`shown`](crate::shown) would escape is replaced, because
/// embedders print these texts as they are.
pub(crate) fn legible(text: &str, max: usize) -> String {
    let text: String = text.chars().map(|c| if is_disruptive(c) { '\u{FFFD}' } else { c }).collect();
    cut(&text, max).to_owned()
}

/// A table: for each bucket the sum of the digests of its leaves.
pub(crate) type Sums = [u32; TABLE_SUMS];

/// The leaves whose path hashes to `prefix` in the first `levels` times eight bits.
///
/// Leaves are grouped by the hash of their path and not by their position, so that states of different shape line up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) levels: u8,
    pub(crate) prefix: u32,
}

impl Part {
    pub(crate) const ALL: Self = Self { levels: 0, prefix: 0 };

    /// The leaves of this part that fall into a bucket of its table.
    pub(crate) fn bucket(self, index: usize) -> Self {
        Self { levels: self.levels + 1, prefix: self.prefix << 8 | index as u32 }
    }

    fn contains(self, key: u32) -> bool {
        self.levels == 0 || key >> (32 - 8 * u32::from(self.levels)) == self.prefix
    }

    fn index(self, key: u32) -> usize {
        (key >> (24 - 8 * u32::from(self.levels.min(3))) & 0xff) as usize
    }
}

/// How many levels of tables narrow this many leaves down to a few in each bucket.
pub(crate) fn levels_for(leaves: u32) -> u8 {
    match leaves {
        0..=256 => 0,
        257..=2_048 => 1,
        2_049..=524_288 => 2,
        _ => 3,
    }
}

/// The hash of a path, the same on every machine: FNV-1a over the bytes of its segments, then spread.
fn key(path: &Path) -> u32 {
    let mut hash = SimHash::new();
    let mut mix = |byte: u8| hash.word(u32::from(byte));
    for segment in path.segments() {
        match segment {
            Segment::Field(name) => name.bytes().chain([b'.']).for_each(&mut mix),
            Segment::Index(index) | Segment::Address(index) => {
                index.to_le_bytes().into_iter().chain([b'[']).for_each(&mut mix);
            }
        }
    }
    spread(hash.finish())
}

fn spread(mut hash: u32) -> u32 {
    hash = (hash ^ hash >> 16).wrapping_mul(0x85EB_CA6B);
    hash = (hash ^ hash >> 13).wrapping_mul(0xC2B2_AE35);
    hash ^ hash >> 16
}

fn digest(key: u32, leaf: &Leaf<'_>) -> u32 {
    leaf.words.iter().fold(key, |hash, word| spread(hash.rotate_left(7) ^ word).wrapping_add(0x9E37_79B9))
}

/// The first leaves of a state, at most [`MAX_LEAVES`].
pub(crate) fn first_leaves<S: Fields + ?Sized>(state: &S) -> Vec<OwnedLeaf> {
    let mut leaves = Vec::new();
    walk_slice(state, 0..MAX_LEAVES, |leaf| leaves.push(OwnedLeaf::of(leaf)));
    leaves
}

/// The part of a value that the peer is told of.
#[derive(Clone, Debug)]
pub(crate) enum Detail {
    /// The tables of some parts. A bucket whose sums differ holds a leaf that differs.
    Tables(Vec<Sums>),
    /// The leaves of some parts, after the last level of tables: in declared order, at most [`MAX_LEAVES`].
    Leaves(Vec<OwnedLeaf>),
}

/// A look at some parts of a value, which may be large: it takes several calls, each for a number of leaves.
#[derive(Clone, Debug)]
pub(crate) struct Look {
    parts: Vec<Part>,
    found: Detail,
    /// How many leaves of the value were visited.
    done: usize,
    is_whole: bool,
}

impl Look {
    /// Looks for the tables of `parts`, or after this many `levels` for their leaves.
    pub(crate) fn new(parts: &[Part], levels: u8) -> Self {
        let has_tables = parts.first().is_some_and(|part| part.levels < levels);
        let found = if has_tables {
            Detail::Tables(vec![[0; TABLE_SUMS]; parts.len()])
        } else {
            Detail::Leaves(Vec::new())
        };
        // Without a part there is no leaf to tell: nothing differs after all, or the difference hides in a sum.
        Self { parts: parts.to_vec(), found, done: 0, is_whole: parts.is_empty() }
    }

    pub(crate) fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Whether every leaf that matters was visited.
    pub(crate) fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Looks at the next leaves of the value, which must be the same one each time.
    pub(crate) fn go_on<S: Fields + ?Sized>(&mut self, value: &S, leaves: usize) {
        if self.is_whole {
            return;
        }
        let Self { parts, found, done, .. } = self;
        let slice = *done..done.saturating_add(leaves);
        *done = slice.end;
        let is_whole = match found {
            Detail::Tables(tables) => walk_slice(value, slice, |leaf| {
                let key = key(leaf.path);
                for (part, table) in parts.iter().zip(&mut *tables) {
                    if part.contains(key) {
                        let sum = &mut table[part.index(key)];
                        *sum = sum.wrapping_add(digest(key, leaf));
                    }
                }
            }),
            Detail::Leaves(leaves) => {
                let is_whole = walk_slice(value, slice, |leaf| {
                    if leaves.len() < MAX_LEAVES {
                        let key = key(leaf.path);
                        if parts.iter().any(|part| part.contains(key)) {
                            leaves.push(OwnedLeaf::of(leaf));
                        }
                    }
                });
                is_whole || leaves.len() >= MAX_LEAVES
            }
        };
        self.is_whole = is_whole;
    }

    pub(crate) fn into_detail(self) -> Detail {
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fighter {
        hp: u8,
        at: [i32; 2],
    }
    crate::fields!(Fighter { hp, at });

    #[test]
    fn more_leaves_need_more_levels_of_tables() {
        let counts = [0, 256, 257, 2_048, 2_049, 524_288, 524_289, u32::MAX];
        assert_eq!(counts.map(levels_for), [0, 0, 1, 1, 2, 2, 3, 3]);
    }

    /// The detail of a state, visited this many leaves at a time.
    fn detail<S: Fields>(state: &S, parts: &[Part], levels: u8, at_a_time: usize) -> Detail {
        let mut look = Look::new(parts, levels);
        while !look.is_whole() {
            look.go_on(state, at_a_time);
        }
        look.into_detail()
    }

    fn gathered<S: Fields>(state: &S, parts: &[Part], at_a_time: usize) -> Vec<OwnedLeaf> {
        match detail(state, parts, 0, at_a_time) {
            Detail::Leaves(leaves) => leaves,
            Detail::Tables(_) => panic!("no tables on level 0"),
        }
    }

    #[test]
    fn at_most_256_leaves_are_told() {
        let state = vec![7_u32; 300];
        assert_eq!((first_leaves(&state).len(), gathered(&state, &[], 9).len()), (256, 0));
        for at_a_time in [1, 100, 1_000] {
            assert_eq!(gathered(&state, &[Part::ALL], at_a_time), first_leaves(&state));
        }
    }

    #[test]
    fn look_in_slices_finds_the_same() {
        let state: Vec<u16> = (0..5_000).collect();
        let sums = |part, at_a_time| match detail(&state, &[Part::ALL, part], 3, at_a_time) {
            Detail::Tables(tables) => tables,
            Detail::Leaves(_) => panic!("tables come first"),
        };
        let part = Part::ALL.bucket(7);
        let whole = (sums(part, usize::MAX), gathered(&state, &[part], usize::MAX));
        assert!(whole.1.len() > 3);
        for at_a_time in [1, 64, 4_999, 5_000, 5_001] {
            assert_eq!((sums(part, at_a_time), gathered(&state, &[part], at_a_time)), whole, "{at_a_time}");
        }
    }

    #[test]
    fn part_holds_the_leaves_of_its_bucket() {
        let part = Part::ALL.bucket(0xAB).bucket(0xCD);
        assert_eq!((part.levels, part.prefix), (2, 0xABCD));
        assert!(part.contains(0xABCD_1234) && !part.contains(0xABCE_1234));
        assert_eq!([Part::ALL, part].map(|part| part.index(0xABCD_1234)), [0xAB, 0x12]);
    }

    /// The peer sums up its own state, on whatever machine and with whatever build: the sums are part of the protocol.
    #[test]
    fn table_of_a_known_state_has_known_sums() {
        let state = Fighter { hp: 75, at: [-2, 3] };
        let Detail::Tables(tables) = detail(&state, &[Part::ALL], 1, 2) else { panic!("a table") };
        let [table] = &tables[..] else { panic!("one part, one table") };
        let filled: Vec<(usize, u32)> =
            table.iter().copied().enumerate().filter(|(_, sum)| *sum != 0).collect();
        assert_eq!(filled, [(56, 2_065_367_006), (133, 930_687_033), (203, 1_926_257_808)]);
    }
}
