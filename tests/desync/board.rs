//! The game of matches with a list of numbers as their state. One type, because each type builds a session, a network and an
//! oracle of its own, which takes seconds.

use rebout::{Cues, Fields, Game, Inputs, Save, StateError, Visitor};
use std::cell::Cell;

#[derive(Clone)]
pub(crate) struct Cells {
    pub(crate) frame: u32,
    pub(crate) cells: Vec<u32>,
}

impl Fields for Cells {
    fn visit<V: Visitor>(&self, visitor: &mut V) {
        visitor.field("frame", &self.frame);
        visitor.field("cells", &Numbered(&self.cells));
    }
}

/// The cells as a `Vec` shows them. Each tells when a walk over named leaves comes to it.
struct Numbered<'a>(&'a [u32]);
struct Number(u32, bool);

std::thread_local! {
    static WALKED: Cell<usize> = const { Cell::new(0) };
}

/// How many cells a walk has come to since the last call.
pub(crate) fn take_walked() -> usize {
    WALKED.take()
}

impl Fields for Numbered<'_> {
    fn visit<V: Visitor>(&self, visitor: &mut V) {
        visitor.field("len", &(self.0.len() as u32));
        let is_walk = core::any::type_name::<V>().contains("Walk");
        self.0.iter().enumerate().for_each(|(index, cell)| visitor.item(index, &Number(*cell, is_walk)));
    }
}

impl Fields for Number {
    fn visit<V: Visitor>(&self, visitor: &mut V) {
        // Only a walk that looks at the cell, and no count on the way to it.
        if self.1 && core::any::type_name::<V>().contains("Walk") {
            WALKED.set(WALKED.get() + 1);
        }
        self.0.visit(visitor);
    }
}

/// A board of cells, of which some are spoilt in one step.
pub(crate) struct Board {
    pub(crate) state: Cells,
    /// The frame that they are spoilt in, and how many.
    pub(crate) spoils: Option<(u32, usize)>,
    /// How the phases of a step are marked: in the second of four, cells are spoilt.
    pub(crate) marks: Marks,
}

/// How the phases of a step are marked. The faults have `spoils` for their frame.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Marks {
    /// Not at all.
    None,
    /// `clock`, `cells`, `presses`, `sum`.
    All,
    /// The second phase has another name in the frame of the fault.
    Renamed,
    /// The step ends after the first phase in the frame of the fault.
    Fewer,
    /// Cells are spoilt after the last phase.
    Late,
    /// 200 marks before the others, with long names that need escapes.
    Many,
}

impl Board {
    pub(crate) fn new(cells: usize) -> Self {
        Self { state: Cells { frame: 0, cells: vec![0; cells] }, spoils: None, marks: Marks::None }
    }
}

impl Save for Board {
    type Snapshot = Cells;

    fn snapshot(&self) -> Cells {
        self.state.clone()
    }

    fn save(&self, slot: &mut Cells) -> Result<(), StateError> {
        slot.clone_from(&self.state);
        Ok(())
    }

    fn restore(&mut self, snapshot: &Cells) -> Result<(), StateError> {
        self.state.clone_from(snapshot);
        Ok(())
    }
}

impl Game for Board {
    fn step(&mut self, inputs: Inputs, cues: &mut Cues) {
        let marks = self.marks;
        let mut mark = |name: &str, state: &Cells| {
            if marks != Marks::None {
                cues.phase(name, &Numbered(&state.cells));
            }
        };
        self.state.frame += 1;
        let spoilt = self.spoils.filter(|(frame, _)| *frame == self.state.frame).map(|(_, count)| count);
        if marks == Marks::Many {
            (0..200).for_each(|_| mark(&"\u{1b}[2Jé".repeat(20), &self.state));
        }
        mark("clock", &self.state);
        if spoilt.is_some() && marks == Marks::Fewer {
            return;
        }
        if let Some(count) = spoilt.filter(|_| marks != Marks::Late) {
            self.state.cells.iter_mut().take(count).for_each(|cell| *cell ^= 0x100);
        }
        mark(if spoilt.is_some() && marks == Marks::Renamed { "another" } else { "cells" }, &self.state);
        let at = self.state.frame as usize % self.state.cells.len();
        self.state.cells[at] += inputs.0.iter().map(|input| u32::from(input.buttons().0)).sum::<u32>() + 1;
        mark("presses", &self.state);
        mark("sum", &self.state);
        if let Some(count) = spoilt.filter(|_| marks == Marks::Late) {
            self.state.cells.iter_mut().take(count).for_each(|cell| *cell ^= 0x100);
        }
    }
}
