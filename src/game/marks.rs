//! Marks: the phases of a step as a game names them, recorded only while an autopsy or a test looks at the step.

use super::fields::count;
use super::fields::leaves::{Look, legible};
use crate::{Fields, checksum};

/// The most marks of one step that are recorded.
pub(crate) const MAX_MARKS: usize = 128;

/// The most bytes of a name that are kept.
pub(crate) const MAX_MARK_NAME: usize = 64;

/// The end of a phase: its name, and the value that the game marked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) name: String,
    pub(crate) checksum: u32,
    /// How many leaves the value has.
    pub(crate) leaves: u32,
}

impl Mark {
    pub(crate) fn new<T: Fields + ?Sized>(name: &str, value: &T) -> Self {
        Self { name: legible(name, MAX_MARK_NAME), checksum: checksum(value), leaves: leaves_of(value) }
    }
}

/// How many leaves a value has, as the peer is told it.
pub(crate) fn leaves_of<T: Fields + ?Sized>(value: &T) -> u32 {
    u32::try_from(count(value)).unwrap_or(u32::MAX)
}

/// The marks of one step, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Marks {
    list: Vec<Mark>,
    wanted: Option<Wanted>,
}

/// A mark whose value is visited. The other marks of the step are only counted then.
#[derive(Clone, Debug)]
struct Wanted {
    index: usize,
    passed: usize,
    look: Look,
    /// How many leaves of the value are visited in this step.
    leaves: usize,
}

impl Marks {
    /// Looks at the next leaves of the value of one mark.
    pub(crate) fn looking_at(index: usize, look: Look, leaves: usize) -> Self {
        Self { list: Vec::new(), wanted: Some(Wanted { index, passed: 0, look, leaves }) }
    }

    #[cold]
    #[inline(never)]
    pub(super) fn take<T: Fields + ?Sized>(&mut self, name: &str, value: &T) {
        match &mut self.wanted {
            Some(wanted) => {
                if wanted.passed == wanted.index {
                    wanted.look.go_on(value, wanted.leaves);
                }
                wanted.passed += 1;
            }
            None if self.list.len() >= MAX_MARKS => {}
            None => self.list.push(Mark::new(name, value)),
        }
    }

    #[inline]
    pub(super) fn list(&mut self) -> &mut Vec<Mark> {
        &mut self.list
    }

    /// The marks of the step. The next step restarts.
    pub(crate) fn take_list(&mut self) -> Vec<Mark> {
        core::mem::take(&mut self.list)
    }

    /// The look that was to continue; `None` if the step made no such mark.
    pub(crate) fn into_look(self) -> Option<Look> {
        self.wanted.filter(|wanted| wanted.passed > wanted.index).map(|wanted| wanted.look)
    }
}
