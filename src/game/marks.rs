//! Marks: the phases of a step as a game names them, recorded only while an autopsy or a test looks at the step.

use super::fields::leaves::{self, Detail, Part, count, legible};
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
        Self { name: legible(name, MAX_MARK_NAME), checksum: checksum(value), leaves: count(value) }
    }
}

/// The marks of one step, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Marks {
    list: Vec<Mark>,
    wanted: Option<Wanted>,
    detail: Option<Detail>,
}

/// The mark whose value is looked at, and the parts of it.
#[derive(Clone, Debug)]
struct Wanted {
    index: usize,
    parts: Vec<Part>,
    levels: u8,
}

impl Marks {
    /// Looks at some parts of the value of one mark.
    pub(crate) fn looking_at(index: usize, parts: &[Part], levels: u8) -> Self {
        Self { wanted: Some(Wanted { index, parts: parts.to_vec(), levels }), ..Self::default() }
    }

    #[cold]
    #[inline(never)]
    pub(super) fn take<T: Fields + ?Sized>(&mut self, name: &str, value: &T) {
        if self.list.len() >= MAX_MARKS {
            return;
        }
        if let Some(wanted) = self.wanted.as_ref().filter(|wanted| wanted.index == self.list.len()) {
            self.detail = Some(leaves::detail(value, &wanted.parts, wanted.levels));
        }
        self.list.push(Mark::new(name, value));
    }

    #[inline]
    pub(super) fn list(&mut self) -> &mut Vec<Mark> {
        &mut self.list
    }

    /// The marks of the step. The next step begins anew.
    pub(crate) fn take_list(&mut self) -> Vec<Mark> {
        core::mem::take(&mut self.list)
    }

    /// The detail that was looked for; `None` if the step made no such mark.
    pub(crate) fn into_detail(self) -> Option<Detail> {
        self.detail
    }
}
