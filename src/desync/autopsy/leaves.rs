//! The leaves of a state by path and value, and how two machines find the few that differ among a million.

use crate::fields::{Leaf, Path, Segment};
use crate::{Fields, walk};

/// A leaf that can travel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnedLeaf {
    /// Where it is: `fighters[1].velocity.x`.
    pub path: String,
    /// Its words, low first; at most four.
    pub words: Vec<u32>,
    /// As its type prints it.
    pub shown: String,
}

/// Texts are cut to this many bytes: a report is to be read.
pub(crate) const MOST_TEXT: usize = 200;

impl OwnedLeaf {
    /// The leaf as it travels, so that both machines tell it alike.
    pub(crate) fn of(leaf: &Leaf<'_>) -> Self {
        Self {
            path: legible(&leaf.path.to_string()),
            words: leaf.words.to_vec(),
            shown: legible(&leaf.shown.to_string()),
        }
    }
}

/// It is going to be printed on somebody's terminal: short, and without control characters.
pub(crate) fn legible(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { '\u{FFFD}' } else { c }).collect();
    text[..text.floor_char_boundary(MOST_TEXT)].to_owned()
}

/// How many buckets a table has; each level takes eight bits of a path's hash.
pub(crate) const BUCKETS: usize = 256;

/// A part of all leaves: those whose path hashes to `prefix` in its first `levels` times eight bits. By the hash of
/// the path and not by position, so that states of different shape still line up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) levels: u8,
    pub(crate) prefix: u32,
}

impl Part {
    pub(crate) const ALL: Self = Self { levels: 0, prefix: 0 };

    /// The part of this one that falls into a bucket.
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

/// How many levels of tables it takes until a bucket of so many leaves has but a few.
pub(crate) fn levels_for(leaves: u32) -> u8 {
    match leaves {
        0..=256 => 0,
        257..=2_048 => 1,
        2_049..=524_288 => 2,
        _ => 3,
    }
}

/// The same on every machine: FNV-1a over what the path is made of, then spread.
fn key(path: &Path) -> u32 {
    let mut hash = 2_166_136_261_u32;
    let mut mix = |byte: u8| hash = (hash ^ u32::from(byte)).wrapping_mul(16_777_619);
    for segment in path.segments() {
        match segment {
            Segment::Field(name) => name.bytes().chain([b'.']).for_each(&mut mix),
            Segment::Index(index) => index.to_le_bytes().into_iter().chain([b'[']).for_each(&mut mix),
        }
    }
    spread(hash)
}

fn spread(mut hash: u32) -> u32 {
    hash = (hash ^ hash >> 16).wrapping_mul(0x85EB_CA6B);
    hash = (hash ^ hash >> 13).wrapping_mul(0xC2B2_AE35);
    hash ^ hash >> 16
}

fn digest(key: u32, leaf: &Leaf<'_>) -> u32 {
    leaf.words.iter().fold(key, |hash, word| spread(hash.rotate_left(7) ^ word).wrapping_add(0x9E37_79B9))
}

/// How many leaves a state has.
pub(crate) fn count<S: Fields>(state: &S) -> u32 {
    let mut count = 0_u32;
    walk(state, |_| count = count.saturating_add(1));
    count
}

/// For each of `parts` a table of sums: a bucket whose sums differ holds a leaf that differs. One walk for all.
pub(crate) fn tables<S: Fields>(state: &S, parts: &[Part]) -> Vec<[u32; BUCKETS]> {
    let mut tables = vec![[0_u32; BUCKETS]; parts.len()];
    walk(state, |leaf| {
        let key = key(leaf.path);
        for (part, table) in parts.iter().zip(&mut tables) {
            if part.contains(key) {
                let sum = &mut table[part.index(key)];
                *sum = sum.wrapping_add(digest(key, leaf));
            }
        }
    });
    tables
}

/// The leaves of all `parts`, in declared order, at most `most`.
pub(crate) fn gather<S: Fields>(state: &S, parts: &[Part], most: usize) -> Vec<OwnedLeaf> {
    let mut leaves = Vec::new();
    walk(state, |leaf| {
        if leaves.len() < most {
            let key = key(leaf.path);
            if parts.iter().any(|part| part.contains(key)) {
                leaves.push(OwnedLeaf::of(leaf));
            }
        }
    });
    leaves
}
