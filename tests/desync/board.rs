//! The game of matches with a list of numbers as their state. One type, because each type builds a session, a network and an
//! oracle of its own, which takes seconds.

use rebout::{Cues, Game, Inputs, Save, StateError, fields};

#[derive(Clone)]
pub(crate) struct Cells {
    pub(crate) frame: u32,
    pub(crate) cells: Vec<u32>,
}
fields!(Cells { frame, cells });

/// A board of cells, of which some are spoilt in one step.
pub(crate) struct Board {
    pub(crate) state: Cells,
    /// The frame that they are spoilt in, and how many.
    pub(crate) spoils: Option<(u32, usize)>,
}

impl Board {
    pub(crate) fn new(cells: usize) -> Self {
        Self { state: Cells { frame: 0, cells: vec![0; cells] }, spoils: None }
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
    fn step(&mut self, inputs: Inputs, _: &mut Cues) {
        self.state.frame += 1;
        let at = self.state.frame as usize % self.state.cells.len();
        self.state.cells[at] += inputs.0.iter().map(|input| u32::from(input.buttons().0)).sum::<u32>() + 1;
        if let Some((frame, count)) = self.spoils
            && frame == self.state.frame
        {
            self.state.cells.iter_mut().take(count).for_each(|cell| *cell ^= 0x100);
        }
    }
}
