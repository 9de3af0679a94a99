//! The named difference of two states.

use super::{Fields, Path, walk};
use crate::shown;
use core::fmt;
use core::hash::{Hash, Hasher};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

/// A leaf in which two states differ. Prints as `fighters[1].hp: 75 / 100`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The path of the leaf: `fighters[1].velocity.x`.
    pub path: String,
    /// The value in the first state, as its type prints it; `None` if it has no such leaf.
    pub left: Option<String>,
    /// The value in the second state.
    pub right: Option<String>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = |side: &Option<String>| match side {
            Some(text) => shown(text).into_owned(),
            None => "(absent)".to_owned(),
        };
        write!(f, "{}: {} / {}", shown(&self.path), value(&self.left), value(&self.right))
    }
}

/// Every leaf in which two states differ, in declared order, with both values; leaves that only the second state has
/// come last.
///
/// The states may differ in shape: in a variant, or in the length of a list.
///
/// ```
/// use rebout::{diff, fields};
///
/// enum Action { Idle, Attack { since: u32 } }
/// fields!(enum Action { Idle, Attack { since } });
/// struct Fighter { hp: i32, action: Action }
/// fields!(Fighter { hp, action });
///
/// let left = Fighter { hp: 75, action: Action::Idle };
/// let right = Fighter { hp: 75, action: Action::Attack { since: 9 } };
/// let lines: Vec<String> = diff(&left, &right).iter().map(|d| d.to_string()).collect();
/// assert_eq!(lines, ["action: Idle / Attack", "action.since: (absent) / 9"]);
/// ```
#[must_use]
pub fn diff<T: Fields + ?Sized, U: Fields + ?Sized>(left: &T, right: &U) -> Vec<Difference> {
    // Index the leaves of the left state by a hash of their path. Paths and values are formatted only for leaves that
    // differ: a state can have a million of them.
    let mut words = FxHashMap::default();
    walk(left, |leaf| {
        words.insert(key(leaf.path), digest(leaf.words));
    });
    // Sort the leaves of the right state into equal ones and others.
    let mut same = FxHashSet::default();
    let mut theirs = Vec::new();
    walk(right, |leaf| {
        let key = key(leaf.path);
        if words.get(&key) == Some(&digest(leaf.words)) {
            same.insert(key);
        } else {
            theirs.push((key, leaf.path.to_string(), leaf.shown.to_string()));
        }
    });

    // List the left leaves that are not equal, then add the right values to them.
    let mut differences: Vec<Difference> = Vec::new();
    let mut position = FxHashMap::default();
    walk(left, |leaf| {
        let key = key(leaf.path);
        if !same.contains(&key) {
            position.insert(key, differences.len());
            let (path, left) = (leaf.path.to_string(), Some(leaf.shown.to_string()));
            differences.push(Difference { path, left, right: None });
        }
    });
    for (key, path, shown) in theirs {
        match position.get(&key) {
            Some(at) => differences[*at].right = Some(shown),
            None => differences.push(Difference { path, left: None, right: Some(shown) }),
        }
    }
    differences
}

fn key(path: &Path) -> u64 {
    let mut hasher = FxHasher::default();
    path.hash(&mut hasher);
    hasher.finish()
}

/// All words of a leaf in one number. A leaf has at most four.
fn digest(words: &[u32]) -> u128 {
    words.iter().rev().fold(0, |all, word| all << 32 | u128::from(*word))
}
