//! A core as a game: the frame is the step, and the save state with the named memory is the snapshot.

mod snapshot;

pub use snapshot::Snapshot;

use std::cell::Cell;
use std::ops::Range;

use rebout::{Cues, Game, Inputs, Player, Save, StateError};

use crate::ffi::{Core, Frontend};

/// How the states of a core are taken, alike on both machines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The buttons that the core gets to see.
    pub buttons: u16,
    /// Bytes of the save state that are set to 0, because they mean nothing and differ.
    pub ignored: Vec<Range<usize>>,
    /// Every step ends with a save, for a core whose save changes it.
    pub saves_in_step: bool,
    /// The match is over after so many frames.
    pub frames: Option<u32>,
}

impl Default for Rules {
    fn default() -> Self {
        Self { buttons: u16::MAX, ignored: Vec::new(), saves_in_step: false, frames: None }
    }
}

/// A core with its content and a count of frames.
#[derive(Debug)]
pub struct Machine {
    core: Core,
    rules: Rules,
    frame: u32,
    /// The size of a state. Some cores save a whole state to tell it, so that it is asked for again only if it is too small.
    size: Cell<usize>,
    /// The state at the end of the last step, if every step ends with a save.
    saved: Result<Vec<u8>, StateError>,
}

impl Machine {
    pub fn new(core: Core, rules: Rules) -> Self {
        let size = Cell::new(core.state_size());
        let mut machine = Self { core, rules, frame: 0, size, saved: Ok(Vec::new()) };
        machine.save_in_step();
        machine
    }

    pub fn core(&self) -> &Core {
        &self.core
    }

    pub fn frontend(&self) -> &Frontend {
        self.core.frontend()
    }

    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Takes other rules, before a match.
    pub fn set_rules(&mut self, rules: Rules) {
        self.rules = rules;
        self.save_in_step();
    }

    /// The number of frames that were stepped.
    pub fn frame(&self) -> u32 {
        self.frame
    }

    /// The save state.
    ///
    /// # Errors
    /// If the core does not save it.
    pub fn state(&self) -> Result<Vec<u8>, StateError> {
        let mut state = Vec::new();
        self.serialize(&mut state)?;
        Ok(state)
    }

    /// Begins a match from a save state.
    ///
    /// # Errors
    /// If the core does not take it.
    pub fn begin(&mut self, state: &[u8]) -> Result<(), StateError> {
        self.unserialize(state)?;
        self.frame = 0;
        self.save_in_step();
        Ok(())
    }

    /// Runs a frame.
    pub fn run(&mut self, pads: [u16; 4], is_shown: bool) {
        self.core.run(pads.map(|held| held & self.rules.buttons), is_shown);
        self.frame = self.frame.saturating_add(1);
        self.save_in_step();
    }

    fn save_in_step(&mut self) {
        if self.rules.saves_in_step {
            let mut state = std::mem::replace(&mut self.saved, Ok(Vec::new())).unwrap_or_default();
            self.saved = self.serialize(&mut state).map(|()| state);
        }
    }

    /// Saves into a slot, which grows with the state.
    fn serialize(&self, slot: &mut Vec<u8>) -> Result<(), StateError> {
        let mut is_saved = self.fill(slot);
        if !is_saved && self.core.state_size() != self.size.get() {
            self.size.set(self.core.state_size());
            is_saved = self.size.get() <= crate::ffi::MAX_STATE && self.fill(slot);
        }
        let size = self.size.get();
        if size == 0 || size > crate::ffi::MAX_STATE {
            let limit = crate::ffi::MAX_STATE >> 20;
            return Err(StateError::new(format!(
                "the state of the core has grown to {size} bytes, and the cabinet handles {limit} MiB"
            )));
        }
        if !is_saved {
            return Err(StateError::new(format!("the core did not save its state of {size} bytes")));
        }
        for range in &self.rules.ignored {
            let range = range.start.min(size)..range.end.min(size);
            slot[range].fill(0);
        }
        Ok(())
    }

    /// Saves into a slot of the size that is known; whether the core could. A core may leave bytes unwritten, which are then 0.
    fn fill(&self, slot: &mut Vec<u8>) -> bool {
        slot.clear();
        slot.resize(self.size.get(), 0);
        self.core.serialize(slot)
    }

    fn unserialize(&mut self, state: &[u8]) -> Result<(), StateError> {
        if self.core.unserialize(state) {
            return Ok(());
        }
        let (len, size) = (state.len(), self.core.state_size());
        let sizes = if len == size { String::new() } else { format!("; a state of its own has {size}") };
        Err(StateError::new(format!("the core did not take back a state of {len} bytes{sizes}")))
    }
}

impl Save for Machine {
    type Snapshot = Snapshot;

    fn snapshot(&self) -> Snapshot {
        let mut slot = Snapshot::of(self.core.regions());
        // A failure comes again with the first frame, and ends the match with its words.
        let _ = self.save(&mut slot);
        slot
    }

    fn save(&self, slot: &mut Snapshot) -> Result<(), StateError> {
        slot.frame = self.frame;
        if self.rules.saves_in_step {
            slot.state.clone_from(self.saved.as_ref().map_err(Clone::clone)?);
        } else {
            self.serialize(&mut slot.state)?;
        }
        // After the save: some cores run on until they can be saved.
        for (region, memory) in self.core.regions().iter().zip(&mut slot.regions) {
            self.core.read(region, &mut memory.bytes);
        }
        Ok(())
    }

    fn restore(&mut self, snapshot: &Snapshot) -> Result<(), StateError> {
        self.unserialize(&snapshot.state)?;
        self.frame = snapshot.frame;
        if let (true, Ok(saved)) = (self.rules.saves_in_step, &mut self.saved) {
            saved.clone_from(&snapshot.state);
        }
        Ok(())
    }
}

impl Game for Machine {
    fn step(&mut self, inputs: Inputs, cues: &mut Cues) {
        self.run(ports(inputs), cues.is_shown());
    }

    fn finished(&self) -> bool {
        self.rules.frames.is_some_and(|frames| self.frame >= frames)
    }
}

/// The buttons of each port: the first pads of both players, then the second ones.
fn ports(inputs: Inputs) -> [u16; 4] {
    let pad = |player: Player, pad| inputs[player].pad(pad).0;
    [pad(Player::One, 0), pad(Player::Two, 0), pad(Player::One, 1), pad(Player::Two, 1)]
}
